"""Commands that the lab adds to ``pgm-explainer``; see ``[project.entry-points]``."""
