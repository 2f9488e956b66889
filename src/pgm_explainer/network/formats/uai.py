"""UAI, the interchange format of Markov networks: numbers only.

A file has the word ``MARKOV``, the number of variables, their numbers of states, the number of
potentials, the variables of each potential, and then the potentials with the last variable changing
fastest. It has no names. Files from this package keep names and states in a comment at the end,
which other programs ignore; in others, variable 3 is called ``x3`` and has the states ``kept``,
``changed 1`` and so on. pyAgrum writes the numbers of a potential in a different order; its
files are recognised by their comments and refused.
"""

from __future__ import annotations

import json
import re
from math import isfinite, prod
from typing import NoReturn

import numpy as np

from ...errors import FileError, InputError
from ...limits import SHOWN, brief
from ...storage.checked import Checked, parse_json, plain_name
from ...storage.files import as_text
from ...variables import MOST_LEVELS, Variable
from ..clique_table import CliqueTable
from ..factors import MOST_CELLS
from ..markov_network import MarkovNetwork
from .tables import check_count

__all__ = ["network_from_uai", "network_to_uai"]

_NAMES = "# pgm_explainer "
_PYAGRUM = "# nbr Nodes"
_HINT = "delete the comment to read the network without names"
_MOST_SCOPE = 64


def network_to_uai(network: MarkovNetwork) -> str:
    """Return a network as UAI, with its names in a comment."""
    index = {variable.id: at for at, variable in enumerate(network.variables)}
    scopes = [[index[variable.id] for variable in table.variables] for table in network.tables]
    lines = [
        "MARKOV",
        str(len(network.variables)),
        " ".join(str(variable.cardinality) for variable in network.variables),
        str(len(scopes)),
        *(" ".join(map(str, (len(scope), *scope))) for scope in scopes),
    ]
    for table in network.tables:
        numbers = table.values.ravel().tolist()
        lines += ["", str(len(numbers)), " ".join(map(repr, numbers))]
    names = [
        [plain_name(variable.id), variable.perturbable, variable.levels]
        for variable in network.variables
    ]
    return "\n".join([*lines, "", f"{_NAMES}{json.dumps(names)}", ""])


def network_from_uai(document: bytes) -> MarkovNetwork:
    """Return the Markov network that a UAI document describes.

    Raises:
        FileError: the document is not UAI, or its numbers do not fit together.
    """
    text = as_text(document)
    if _PYAGRUM in text:
        raise FileError(
            "pyAgrum wrote this file, with the numbers of potentials in another order than the "
            "format says; load it with pyagrum.loadMRF and use MarkovNetwork.from_pyagrum"
        )
    numbers = _Numbers(re.sub(r"#[^\n]*", "", text))
    numbers.expect("MARKOV")
    count = numbers.whole("the number of variables", at_least=1)
    check_count(count)
    sizes = [numbers.whole("a number of states", at_least=2) for _ in range(count)]
    variables = _named(text, sizes)
    scopes = []
    for _ in range(numbers.whole("the number of potentials", at_least=1)):
        length = numbers.whole("the number of variables of a potential")
        if length > min(count, _MOST_SCOPE):
            numbers.refuse(f"at most {min(count, _MOST_SCOPE)} variables of a potential")
        scopes.append([numbers.whole("a variable", below=count) for _ in range(length)])
    tables = [numbers.table([variables[at] for at in scope]) for scope in scopes]
    numbers.end()
    try:
        alone = set(range(count)).difference(*scopes)
        tables += [CliqueTable.of([variables[at]], np.ones(sizes[at])) for at in sorted(alone)]
        network = MarkovNetwork(variables, tables)
        _ = network.partition
    except InputError as error:
        raise FileError(f"this is not a Markov network: {error}") from None
    return network


def _named(text: str, sizes: list[int]) -> list[Variable]:
    """Return the variables, with the names in the comment of this package if there is one."""
    found = re.search(f"^{_NAMES}(.*)$", text, re.MULTILINE)
    if found is None:
        return [Variable(f"x{at}", False, size) for at, size in enumerate(sizes)]
    names = Checked(parse_json(found[1], _HINT), "the comment")
    variables = []
    for entry in names.items(len(sizes)):
        name, perturbable, levels = entry.items(3)
        number = levels.whole_number(at_least=1)
        if number > MOST_LEVELS:
            levels.refuse(f"at most {MOST_LEVELS}")
        variables.append(Variable(name.name(), perturbable.flag(), number))
    if [variable.cardinality for variable in variables] != sizes:
        raise FileError(f"the comment has other numbers of states than the file; {_HINT}")
    return variables


class _Numbers:
    """The words of a document, read one after the other."""

    def __init__(self, text: str) -> None:
        self._words = re.finditer(r"\S+", text)
        self._last = ""

    def _next(self, expected: str) -> str:
        found = next(self._words, None)
        if found is None:
            raise FileError(f"the file ends where {expected} should be; it may be truncated")
        self._last = found[0]
        return self._last

    def refuse(self, expected: str) -> NoReturn:
        raise FileError(f"the file should have {expected}, not {brief(self._last[:SHOWN])}")

    def expect(self, word: str) -> None:
        if self._next(word) != word:
            self.refuse(repr(word))

    def whole(self, what: str, at_least: int = 0, below: int = 1 << 31) -> int:
        word = self._next(what)
        if not re.fullmatch("[0-9]{1,10}", word) or not at_least <= int(word) < below:
            self.refuse(f"{what} from {at_least} to {below - 1}")
        return int(word)

    def table(self, variables: list[Variable]) -> CliqueTable:
        """Read a potential: the number of its numbers, and these."""
        shape = [variable.cardinality for variable in variables]
        if self.whole("the number of entries of a potential") != prod(shape):
            self.refuse(f"{prod(shape):,} entries of the potential")
        if prod(shape) > MOST_CELLS:
            raise FileError(f"a potential has {prod(shape):,} entries, more than {MOST_CELLS:,}")
        values = np.array([self._number() for _ in range(prod(shape))]).reshape(shape)
        try:
            return CliqueTable.of(variables, values)
        except InputError as error:
            raise FileError(str(error)) from None

    def _number(self) -> float:
        word = self._next("a number of a potential")
        try:
            number = float(word) if len(word) <= SHOWN else np.nan
        except ValueError:
            number = np.nan
        if not isfinite(number):
            self.refuse("finite numbers in a potential")
        return number

    def end(self) -> None:
        if next(self._words, None) is not None:
            raise FileError("the file continues after the last potential")
