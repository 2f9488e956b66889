"""Workers import what they work with, so it lies where they find it: on the path."""

import sys
from pathlib import Path

IMPORTABLE = str(Path(__file__).parents[1] / "importable")
if IMPORTABLE not in sys.path:
    sys.path.append(IMPORTABLE)
