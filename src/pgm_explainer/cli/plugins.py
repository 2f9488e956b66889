"""Commands of other packages, from entry points of the group ``pgm_explainer.commands``."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Any

from ..errors import PGMExplainerError
from ..limits import brief

__all__ = ["installed_commands"]

_GROUP = "pgm_explainer.commands"
_OF_THE_LAB = ("demo", "reproduce", "bench")


def installed_commands(wanted: str | None) -> dict[str, Any]:
    """Return the commands of other packages, by name.

    Args:
        wanted: the command that was typed, if any. Import errors matter only for this command.

    Raises:
        PGMExplainerError: the package of the wanted command is not installed or is broken.
    """
    entries = sorted(entry_points(group=_GROUP), key=lambda entry: entry.name)
    loaded = {entry.name: _load(entry, entry.name == wanted) for entry in entries}
    found = {name: command for name, command in loaded.items() if command is not None}
    if wanted in _OF_THE_LAB and wanted not in found:
        raise PGMExplainerError(
            f"the command {brief(wanted)} needs the lab, which is not installed with this "
            f"package: in a clone of the repository, run pip install -e . -e lab"
        )
    return found


def _load(entry: EntryPoint, is_wanted: bool) -> Any:
    """Return the module of a command; None if it cannot be imported and is not wanted."""
    try:
        return entry.load()
    except ImportError as error:
        if not is_wanted:
            return None
        raise PGMExplainerError(
            f"the command {brief(entry.name)} cannot be loaded: {error}; reinstall its package, "
            f"{entry.module.partition('.')[0]}"
        ) from error
