"""``python -m pgm_explainer``: the command line."""

import sys

from .cli import main

sys.exit(main())
