"""``pgm-explainer bench [name …]``: measure, and print one table."""

from __future__ import annotations

import os
import platform
import sys
import warnings

from . import graphs, growth, load, memory, recovery, stock, structure, syn6
from .measure import processor

SUITES = {
    "stock": stock.rows,
    "syn6": syn6.rows,
    "structure": structure.rows,
    "recovery": recovery.rows,
    "growth": growth.rows,
    "graphs": graphs.rows,
    "memory": memory.rows,
    "load": load.rows,
}


def main(names: list[str]) -> int:
    unknown = set(names) - set(SUITES)
    if unknown:
        print(f"unknown suite: {', '.join(sorted(unknown))}; choose from {', '.join(SUITES)}")
        return 2
    warnings.simplefilter("ignore")  # warnings of other packages, and ours about small tables
    print(f"Python {platform.python_version()}, {processor()}, {os.cpu_count()} processors\n")
    print("| what | measured |\n|---|---|")
    for name in names or SUITES:
        for row in SUITES[name]():
            print(row, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
