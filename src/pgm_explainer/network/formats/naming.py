"""Conversion of names of variables and states to plain words, and back.

Other packages and file formats allow words of letters, digits and underscores. Node 304 becomes
``node_304``, the pair (2, 5) ``pair_2_5``, ``("author", 5)`` ``author_5``. Strings are kept, except
that characters other than letters and digits are replaced by their code, such as ``_x20_`` for a
space.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

from ...storage.checked import Checked, plain_name
from ...variables import Variable, VariableId

__all__ = ["NETWORK_NAME", "name_of", "state_words", "variable_with", "word_for", "words_for"]

NETWORK_NAME = "pgm_explainer"
"""The name of networks from this package; only in these are words converted back to names."""

_TEXT = r"(?:[A-Za-z0-9]|_x[0-9a-f]{1,6}_)+"
_NUMBER = r"(0|[1-9][0-9]{0,18})"
_LARGEST = 10**19
"""Larger numbers are written as JSON."""
_RARE = "_json"
_KEYWORDS = frozenset(
    ("network", "variable", "probability", "property", "type", "discrete", "default", "table")
)


def words_for(names: Iterable[VariableId]) -> dict[VariableId, str]:
    """Return a word for each name, unique even without regard to case.

    Examples:
        >>> words_for([304, (2, 5), ("author", 5), "graph", "Ann Lee"]).values()
        dict_values(['node_304', 'pair_2_5', 'author_5', 'graph', 'Ann_x20_Lee'])
        >>> words_for(["Ann", "ann"])
        {'Ann': '_x41_nn', 'ann': 'ann'}
    """
    words = {name: word_for(name) for name in names}
    if len({word.lower() for word in words.values()}) < len(words):  # pgmpy ignores case in BIF
        words = {name: re.sub("[A-Z]", _code, word) for name, word in words.items()}
    return words


def word_for(name: VariableId) -> str:
    """Return the word for a name; :func:`name_of` is the inverse."""
    match name:
        case int() if 0 <= name < _LARGEST:
            return f"node_{name}"
        case (int(u), int(v)) if 0 <= u < _LARGEST and 0 <= v < _LARGEST:
            return f"pair_{u}_{v}"
        case (str(kind), int(number)) if kind not in ("", "node") and 0 <= number < _LARGEST:
            return f"{_escape(kind)}_{number}"
        case str() if name:
            return _escape(name)
        case _:
            return _RARE + re.sub(r"[^A-Za-z0-9]", _code, json.dumps(plain_name(name)))


def _escape(text: str) -> str:
    """Encode all but letters and digits, and a first character that a word must not start with."""
    word = re.sub(r"^[0-9]|[^A-Za-z0-9]", _code, text)
    return re.sub("^.", _code, word) if word.lower() in _KEYWORDS else word


def _code(sign: re.Match[str]) -> str:
    return f"_x{ord(sign[0]):x}_"


def name_of(word: str) -> VariableId:
    """Return the name that a word stands for; other words are returned unchanged.

    Examples:
        >>> name_of("node_304"), name_of("author_5"), name_of("Ann_x20_Lee"), name_of("some_word")
        (304, ('author', 5), 'Ann Lee', 'some_word')
    """
    try:
        return _taken_apart(word)
    except (ValueError, RecursionError):  # not valid codes
        return word


def _taken_apart(word: str) -> VariableId:
    if found := re.fullmatch(f"node_{_NUMBER}", word):
        return int(found[1])
    if found := re.fullmatch(f"pair_{_NUMBER}_{_NUMBER}", word):
        return (int(found[1]), int(found[2]))
    if found := re.fullmatch(f"({_TEXT})_{_NUMBER}", word):
        return (_unescape(found[1]), int(found[2]))
    if re.fullmatch(_TEXT, word):
        return _unescape(word)
    if found := re.fullmatch(f"{_RARE}({_TEXT})", word):
        return Checked(json.loads(_unescape(found[1])), word).name()
    return word


def _unescape(text: str) -> str:
    return re.sub(r"_x([0-9a-f]+)_", lambda code: chr(int(code[1], 16)), text)


def state_words(variable: Variable) -> list[str]:
    """Return a word for each state of a variable.

    Examples:
        >>> state_words(Variable(7, perturbable=True, levels=2))
        ['original_kept', 'original_changed', 'perturbed_kept', 'perturbed_changed']
    """
    return [re.sub("[, ]+", "_", state) for state in variable.states]


def variable_with(name: VariableId, words: Sequence[str]) -> Variable | None:
    """Return the variable that has these states; None if there is none."""
    if len(words) < 2:
        return None
    whole = Variable(name, perturbable=False, levels=len(words))
    halved = Variable(name, perturbable=True, levels=len(words) // 2)
    for variable in (whole, halved):
        if state_words(variable) == list(words):
            return variable
    return None
