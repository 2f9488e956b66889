"""The commands of the Makefile as nox sessions, each in a separate environment.

``nox -l`` lists them. ``nox -s wheel`` tests the wheel on every installed version of Python.
"""

from __future__ import annotations

import nox

PYTHONS = ["3.10", "3.11", "3.12", "3.13"]
MAKE = ("lint", "types", "tests", "docs", "bench")
"""The targets of the Makefile that share one environment."""

nox.options.sessions = ["lint", "types", "tests"]


def make(session: nox.Session, target: str) -> None:
    """Run a target of the Makefile, whose environment is that of the session."""
    session.run("make", target, f"VENV={session.virtualenv.location}", external=True)


for name in MAKE:
    nox.session(python="3.11", name=name)(lambda session, target=name: make(session, target))


@nox.session(python="3.10")
def tests_min(session: nox.Session) -> None:
    """The tests with the lowest versions that are promised."""
    python = f"PYTHON_MIN={session.virtualenv.bin}/python"
    session.run("make", "test-min", python, external=True)


@nox.session(python="3.11")
def dist(session: nox.Session) -> None:
    """Build the wheel and the source distribution, and check both."""
    make(session, "dist")


@nox.session(python=PYTHONS)
def wheel(session: nox.Session) -> None:
    """Install the wheel of ``dist/`` with each extra, and explain a prediction with it."""
    session.run("python", "packaging/smoke_wheel.py", "dist")
