"""The paper's experiments, one command each: work that is done once, and pages that tell of it."""
