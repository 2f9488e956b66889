"""Names of nodes and targets as they are typed in a shell."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from shlex import quote

from ..errors import InputError
from ..limits import DIGITS, SHOWN, brief
from ..report.names import shorten
from ..sampling import VariableId

__all__ = ["find", "first_few", "read_targets", "spelled", "suggestion", "whole_number"]

_MOST_LISTED = 8
_DIGITS = f"[0-9]{{1,{DIGITS}}}"


def spelled(name: VariableId) -> str:
    """Return a name as it is typed.

    Examples:
        >>> spelled(304), spelled("Zoë"), spelled((2, 5)), spelled(("author", 5))
        ('304', 'Zoë', '2,5', 'author,5')
    """
    return ",".join(map(spelled, name)) if isinstance(name, tuple) else str(name)


def find(text: str, names: Iterable[VariableId], what: str) -> VariableId:
    """Return the name that was typed.

    Raises:
        InputError: there is no such name; the message lists similar or known names.

    Examples:
        >>> find("2, 5", [(1, 2), (2, 5)], "target")
        (2, 5)
    """
    by_text = {spelled(name): name for name in names}
    tidy = re.sub(r"\s*,\s*", ",", text.strip())
    for spelling in (text, tidy):
        if spelling in by_text:
            return by_text[spelling]
    raise InputError(f"there is no {what} {_quoted(text)}; {suggestion(text, list(by_text))}")


def whole_number(text: str) -> int | None:
    """Return the number that a text of digits represents; None for any other text.

    Examples:
        >>> whole_number("304"), whole_number("3.5"), whole_number("-1")
        (304, None, None)
    """
    return int(text) if re.fullmatch(_DIGITS, text) else None


def read_targets(
    texts: Sequence[str], task: str, num_nodes: int, names: Sequence[VariableId] | None
) -> list[int | tuple[int, int]]:
    """Return the numbers of the typed targets, in order and without duplicates.

    In a node task a target is a number, a name, a range ``300-310`` or ``all``; in an edge task a
    pair ``3,5``; of many graphs, the position of one.

    Examples:
        >>> read_targets(["2-4", "0", "3"], "node", 6, None)
        [2, 3, 4, 0]
        >>> read_targets(["Ann,Bob"], "edge", 2, ["Ann", "Bob"])
        [(0, 1)]
    """
    what = "graph" if task == "graph" else "node"
    number = _by_number(num_nodes, what) if names is None else _by_name(names)
    if task == "edge":
        return list(dict.fromkeys(_pair(text, number) for text in texts))
    numbers: dict[int, None] = {}
    for text in texts:
        every = text == "all"
        numbers.update(dict.fromkeys(range(num_nodes) if every else _nodes(text, number)))
    return list(numbers)


def _by_number(num_nodes: int, what: str) -> Callable[[str], int]:
    def number(text: str) -> int:
        found = whole_number(text.strip())
        if found is None or found >= num_nodes:
            raise InputError(
                f"there is no {what} {_quoted(text)}; "
                + ("the graph has nodes" if what == "node" else "there are graphs")
                + f" 0 to {num_nodes - 1}"
            )
        return found

    return number


def _by_name(names: Sequence[VariableId]) -> Callable[[str], int]:
    numbers = {spelled(name): at for at, name in enumerate(names)}

    def number(text: str) -> int:
        if text not in numbers:
            raise InputError(f"there is no node {_quoted(text)}; {suggestion(text, list(numbers))}")
        return numbers[text]

    return number


def _nodes(text: str, number: Callable[[str], int]) -> list[int]:
    """Return the node of a name or the nodes of a range; names with a dash take precedence."""
    bounds = re.fullmatch(f"({_DIGITS})-({_DIGITS})", text)
    try:
        return [number(text)]
    except InputError:
        if bounds is None:
            raise
    first, last = bounds.groups()
    if int(first) > int(last):
        raise InputError(f"the range {brief(text)} ends before it starts")
    number(last)  # checked first: a mistyped range could be huge
    return [number(str(each)) for each in range(int(first), int(last) + 1)]


def _pair(text: str, number: Callable[[str], int]) -> tuple[int, int]:
    """Return the two nodes of a pair, split at the first comma that ends a name."""
    commas = [at for at, letter in enumerate(text) if letter == ","]
    if not commas:
        raise InputError(f"the target of an edge task is a pair such as 3,5, not {brief(text)}")
    at = next((at for at in commas if _is_node(text[:at], number)), commas[0])
    return number(text[:at].strip()), number(text[at + 1 :].strip())


def _is_node(text: str, number: Callable[[str], int]) -> bool:
    try:
        number(text.strip())
    except InputError:
        return False
    return True


def _quoted(text: str) -> str:
    return repr(shorten(text, SHOWN))


def suggestion(text: str, known: Sequence[str]) -> str:
    """Return a hint about similar or known names."""
    close = get_close_matches(text, known, n=3)
    return (
        f"did you mean {' or '.join(map(quote, close))}?"
        if close
        else f"choose from {first_few(known)}"
    )


def first_few(known: Sequence[str]) -> str:
    """Return the first few names, as they are typed in a shell."""
    more = f" and {len(known) - _MOST_LISTED} more" if len(known) > _MOST_LISTED else ""
    return f"{', '.join(map(quote, known[:_MOST_LISTED]))}{more}"
