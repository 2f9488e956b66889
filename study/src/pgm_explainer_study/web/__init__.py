"""The pages that raters see, with a server and without one."""
