"""What is perturbed, from the command line: kinds of parts, or groups from a file."""

from __future__ import annotations

import csv
import io
from argparse import ArgumentTypeError
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import FileError, InputError
from ..limits import DIGITS, brief
from ..sampling import Groups, VariableId, as_parts
from ..storage.checked import parse_json
from ..storage.files import as_text, read_file
from .csv_graph import delimiter_of
from .names import find, spelled

__all__ = ["GroupsFile", "read_parts"]

_OF = ("nodes", "edges", "features")


@dataclass(frozen=True)
class GroupsFile:
    """Groups that were read from a file, whose nodes may be given by name.

    Attributes:
        path: the file.
        members: the members of each group.
        of: what the members are.
    """

    path: Path
    members: dict[str, list[Any]]
    of: str

    def groups(self, names: Sequence[VariableId] | None) -> Groups:
        """Return the groups, with nodes by number.

        Args:
            names: the names of the nodes, if they have any.

        Raises:
            InputError: a member does not exist.
        """
        numbers = {spelled(name): at for at, name in enumerate(names or ())}

        def number(member: Any) -> Any:
            if isinstance(member, list):
                return tuple(map(number, member))
            text = str(member)
            if self.of != "features" and text in numbers:
                return numbers[text]
            if self.of != "features" and names is not None and not isinstance(member, int):
                find(text, names, f"node in the groups of {self.path},")  # raises an error
            is_number = text.isdecimal() and len(text) <= DIGITS
            if isinstance(member, int) or not is_number or names is not None:
                return member
            return int(text)

        members = {name: list(map(number, each)) for name, each in self.members.items()}
        try:
            return Groups(members, of=self.of)
        except InputError as error:
            raise InputError(f"{self.path}: {error}") from None


def read_parts(text: str) -> Any:
    """Return the parts of ``--parts``: ``edges``, ``nodes,edges``, or a file of groups.

    Raises:
        ArgumentTypeError: there are no such parts, or the file is not one of groups.
    """
    path = Path(text)
    try:
        if path.suffix in (".json", ".csv", ".tsv"):
            return read_file(path, lambda document: _read(document, path))
        names = [name.strip() for name in text.split(",")]
        return as_parts(names[0] if len(names) == 1 else names)
    except (FileError, InputError) as error:
        raise ArgumentTypeError(str(error)) from None


def _read(document: bytes, path: Path) -> GroupsFile:
    text = as_text(document)
    if path.suffix != ".json":
        return GroupsFile(path, _from_table(text), "nodes")
    content = parse_json(text, "write it again")
    of = "nodes"
    if isinstance(content, dict) and set(content) == {"of", "groups"}:
        of, content = content["of"], content["groups"]
    if of not in _OF:
        raise FileError(f"'of' must be one of {', '.join(_OF)}, not {brief(of)}")
    fits = isinstance(content, dict) and all(isinstance(each, list) for each in content.values())
    if not fits:
        raise FileError(
            'the file must have a list of members for each group, such as {"ring": [0, 1, 2]}, or '
            '{"of": "edges", "groups": {"ring": [[0, 1], [1, 2]]}}'
        )
    return GroupsFile(path, content, of)


def _from_table(text: str) -> dict[str, list[Any]]:
    """Return groups of nodes from lines of a node and its group; the first may be a header."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter_of(text))
    try:
        lines = [line for line in reader if line]
    except csv.Error as error:
        raise FileError(f"line {reader.line_num}: {error}") from error
    found: dict[str, list[Any]] = {}
    for at, line in enumerate(lines):
        cells = [cell.strip() for cell in line]
        if len(cells) != 2 or not all(cells):
            raise FileError(f"line {at + 1}: each line must have a node and the name of its group")
        if at == 0 and cells == ["node", "group"]:
            continue
        found.setdefault(cells[1], []).append(cells[0])
    return found
