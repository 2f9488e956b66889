"""``python -m pgm_explainer_lab.attack --seed 7``: a full round, or some of its parts."""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

from .cases import Finding, part_named, run_cases

PARTS = ("calls", "files", "kills", "loads")


def main(words: list[str] | None = None) -> int:
    """Run the attacks; return 0 if nothing was found, and 1 otherwise."""
    parser = argparse.ArgumentParser(prog="python -m pgm_explainer_lab.attack", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="seed of the random cases")
    parser.add_argument("--parts", default=",".join(PARTS), help="default: all of them")
    parser.add_argument("--cases", type=int, help="cases of each part; default: a full round")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--only", nargs=2, metavar=("PART", "CASE"), help="repeat one case")
    options = parser.parse_args(words)
    if options.only:
        part, number = options.only[0], int(options.only[1])
        found = list(run_cases(_module(part), options.seed, range(number, number + 1)))
        print("\n".join(map(str, found)) or "nothing was found")
        return 1 if found else 0
    parts = options.parts.split(",")
    unknown = set(parts) - set(PARTS)
    if unknown:
        parser.error(f"unknown parts: {', '.join(sorted(unknown))}; choose from {', '.join(PARTS)}")
    findings = [found for part in parts for found in _attack(part, options)]
    print(f"{len(findings)} findings in all")
    return 1 if findings else 0


def _module(part: str) -> str:
    return f"{__package__}.{part}"


def _attack(part: str, options: Any) -> list[Finding]:
    count = options.cases or part_named(_module(part)).FULL
    started, findings = time.monotonic(), []
    numbers = range(options.first, options.first + count)
    for found in run_cases(_module(part), options.seed, numbers):
        print(found, flush=True)
        findings.append(found)
    minutes = (time.monotonic() - started) / 60
    print(f"{part}: {count} cases, {len(findings)} findings, {minutes:.1f} min", flush=True)
    return findings


if __name__ == "__main__":
    sys.exit(main())
