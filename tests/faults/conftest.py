"""What these tests and the processes they start import lies on the path."""

import sys
from pathlib import Path

for folder in (Path(__file__).parents[1] / "importable", Path(__file__).parent):
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
