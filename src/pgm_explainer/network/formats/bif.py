"""BIF, the most common interchange format of Bayesian networks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, NamedTuple, NoReturn

from ...errors import FileError
from ...limits import brief
from ...storage.files import as_text
from ..bayesian_network import BayesianNetwork
from .naming import NETWORK_NAME
from .tables import WordTable, check_count, network_from_words, network_in_words

__all__ = ["network_from_bif", "network_to_bif"]


def network_to_bif(network: BayesianNetwork) -> str:
    """Return a network as BIF."""
    tables = {table.name: table for table in network_in_words(network)}
    blocks = [f"network {NETWORK_NAME} {{\n}}\n"]
    for table in tables.values():
        states = f"[ {len(table.states)} ] {{ {', '.join(table.states)} }}"
        blocks.append(f"variable {table.name} {{\n  type discrete {states};\n}}\n")
    for table in tables.values():
        given = f" | {', '.join(table.parents)}" if table.parents else ""
        configurations = product(*(tables[parent].states for parent in table.parents))
        rows = "".join(
            f"  {_row_label(configuration)} {', '.join(map(repr, numbers))};\n"
            for configuration, numbers in zip(configurations, _rows(table), strict=True)
        )
        blocks.append(f"probability ( {table.name}{given} ) {{\n{rows}}}\n")
    return "".join(blocks)


def _row_label(configuration: tuple[str, ...]) -> str:
    return f"( {', '.join(configuration)} )" if configuration else "table"


def _rows(table: WordTable) -> Iterator[list[float]]:
    states = len(table.states)
    for start in range(0, len(table.numbers), states):
        yield list(table.numbers[start : start + states])


def network_from_bif(document: bytes) -> BayesianNetwork:
    """Return the network that a BIF document describes.

    Raises:
        FileError: the document is not BIF, or not the network of an explanation.
    """
    tokens = _Tokens(as_text(document))
    name, states, tables = "", dict[str, list[str]](), dict[str, _Table]()
    while not tokens.at_end():
        match tokens.word():
            case "network":
                name = tokens.word()
                tokens.expect("{")
                tokens.words_until("}", ignoring=",;()[]")
            case "variable":
                variable = tokens.word()
                _add(states, variable, _read_states(tokens), tokens)
                check_count(len(states))
            case "probability":
                table = _read_probability(tokens)
                _add(tables, table.name, table, tokens)
            case other:
                tokens.refuse("'network', 'variable' or 'probability'", other)
    if not states or set(states) != set(tables):
        raise FileError(
            "a BIF file must have a 'probability' for each 'variable', and at least one variable"
        )
    ordered = [_in_order(tables[variable], states) for variable in states]
    return network_from_words(ordered, name)


@dataclass(frozen=True)
class _Table:
    """A ``probability`` block; the row of a variable without parents has an empty key."""

    name: str
    parents: list[str]
    rows: dict[tuple[str, ...], list[float]]


def _add(known: dict[str, Any], name: str, value: Any, tokens: _Tokens) -> None:
    if name in known:
        tokens.refuse("each variable once", name)
    known[name] = value


def _read_states(tokens: _Tokens) -> list[str]:
    """Read ``{ type discrete [ 2 ] { first, second }; property …; }``."""
    states: list[str] = []
    tokens.expect("{")
    while not tokens.take("}"):
        keyword = tokens.word()
        if keyword == "property":
            tokens.words_until(";")
        elif keyword == "type":
            tokens.expect("discrete", "[")
            count = tokens.word()
            tokens.expect("]", "{")
            states = tokens.words_until("}")
            tokens.expect(";")
            if str(len(states)) != count:
                tokens.refuse(f"{count} states", f"{len(states)} of them")
        else:
            tokens.refuse("'type' or 'property'", keyword)
    return states


def _read_probability(tokens: _Tokens) -> _Table:
    """Read ``( variable | parents ) { ( states ) numbers; … }``, or ``… { table numbers; }``."""
    tokens.expect("(")
    name, *parents = tokens.words_until(")", ignoring=",|") or tokens.refuse("a variable", ")")
    rows: dict[tuple[str, ...], list[float]] = {}
    tokens.expect("{")
    while not tokens.take("}"):
        configuration: tuple[str, ...] = ()
        if tokens.take("("):
            configuration = tuple(tokens.words_until(")"))
        elif (keyword := tokens.word()) == "property":
            tokens.words_until(";")
            continue
        elif keyword != "table" or parents:
            tokens.refuse("a row '( states of the parents ) numbers;' for each of them", keyword)
        if configuration in rows:
            tokens.refuse("each row once", ", ".join(configuration))
        rows[configuration] = tokens.numbers_until(";")
    return _Table(name, parents, rows)


def _in_order(table: _Table, states: dict[str, list[str]]) -> WordTable:
    """Return the rows of a table in the order of its parents' states."""
    for parent in table.parents:
        if parent not in states:
            raise FileError(
                f"a parent of {brief(table.name)} is {brief(parent)}, which is not a variable"
            )
    count = prod(len(states[parent]) for parent in table.parents)
    if count != len(table.rows):  # checked before enumerating the rows, which may be very many
        raise FileError(f"{brief(table.name)} should have {count} rows, not {len(table.rows)}")
    numbers: list[float] = []
    for configuration in product(*(states[parent] for parent in table.parents)):
        row = table.rows.get(configuration, [])
        if len(row) != len(states[table.name]):
            raise FileError(
                f"{brief(table.name)} should have a row ( {', '.join(configuration)} ) of "
                f"{len(states[table.name])} numbers, one for each of its states"
            )
        numbers += row
    return WordTable(table.name, states[table.name], table.parents, numbers)


class _Token(NamedTuple):
    text: str
    is_sign: bool
    start: int


_TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?(?:\*/|\Z)) | "(?P<quoted>[^"\n]*)"
    | (?P<sign>[{}()\[\],;|]) | (?P<bare>[^\s{}()\[\],;|"]+) | (?P<stray>")""",
    re.VERBOSE | re.DOTALL,
)


def _tokens(text: str) -> Iterator[_Token]:
    """Yield every word and symbol, without comments."""
    for found in _TOKEN.finditer(text):
        if found.lastgroup == "quoted":
            yield _Token(found["quoted"], False, found.start())
        elif found.lastgroup != "skip":
            yield _Token(found[0], found.lastgroup != "bare", found.start())


class _Tokens:
    """The words and symbols of a BIF text, consumed one by one."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _tokens(text)
        self._next = next(self._tokens, None)
        self._last = 0

    def at_end(self) -> bool:
        return self._next is None

    def _pop(self, expected: str) -> _Token:
        token = self._next
        if token is None:
            raise FileError(f"the text ends where {expected} should be; it may be truncated")
        self._next, self._last = next(self._tokens, None), token.start
        return token

    def refuse(self, expected: str, found: str) -> NoReturn:
        """Raise an error that says what was expected at the last token."""
        line = self._text.count("\n", 0, self._last) + 1
        raise FileError(f"line {line} should have {expected}, not {brief(found)}")

    def word(self) -> str:
        token = self._pop("a word")
        if token.is_sign:
            self.refuse("a word", token.text)
        return token.text

    def take(self, sign: str) -> bool:
        """Consume a symbol if it is next."""
        if self._next is None or not self._next.is_sign or self._next.text != sign:
            return False
        self._pop(sign)
        return True

    def expect(self, *texts: str) -> None:
        """Consume exactly these tokens."""
        for text in texts:
            token = self._pop(repr(text))
            if token.text != text:
                self.refuse(repr(text), token.text)

    def words_until(self, sign: str, ignoring: str = ",") -> list[str]:
        """Consume words up to and including a symbol."""
        words: list[str] = []
        while not self.take(sign):
            token = self._pop(repr(sign))
            if not token.is_sign:
                words.append(token.text)
            elif token.text not in ignoring:
                self.refuse(f"a word or {sign!r}", token.text)
        return words

    def numbers_until(self, sign: str) -> list[float]:
        words = self.words_until(sign)
        try:
            return [float(word) for word in words]
        except ValueError as error:
            return self.refuse("numbers", str(error))
