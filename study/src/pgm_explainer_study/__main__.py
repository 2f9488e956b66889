"""``python -m pgm_explainer_study``: the command ``study`` by itself."""

import argparse
import sys

from pgm_explainer import PGMExplainerError

from .command import configure, run


def main() -> int:
    """Run the command; errors are one line."""
    parser = argparse.ArgumentParser(
        "pgm-explainer study", formatter_class=argparse.RawTextHelpFormatter
    )
    configure(parser)
    try:
        run(parser.parse_args())
    except PGMExplainerError as error:
        print(f"pgm-explainer: error: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
