"""Every name has a unique identifier that other packages accept and that can be converted back."""

import re

from hypothesis import given
from hypothesis import strategies as st

from pgm_explainer.network.formats.naming import (
    name_of,
    state_words,
    variable_with,
    word_for,
    words_for,
)
from pgm_explainer.sampling import Variable

plain = st.one_of(
    st.integers(), st.text(), st.sampled_from(["graph", "node", "table", "node_5", "pair_2_5", "5"])
)
names = st.recursive(
    plain, lambda parts: st.lists(parts, min_size=1, max_size=3).map(tuple), max_leaves=4
)


@given(names)
def test_identifiers_are_safe_and_reversible(name):
    word = word_for(name)
    assert re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", word)
    assert word not in ("network", "variable", "probability", "table", "type")
    assert name_of(word) == name
    assert type(name_of(word)) is type(name)


@given(st.lists(names, unique=True, max_size=8))
def test_identifiers_differ_ignoring_case(some):
    words = words_for([*some, "Some", "some"])
    assert len({word.lower() for word in words.values()}) == len(words)
    assert {name_of(word): word for word in words.values()} == words


@given(st.text())
def test_any_foreign_identifier_becomes_a_name(word):
    assert isinstance(name_of(word), (int, str, tuple))


def test_states_are_identifiers_too():
    for perturbable in (False, True):
        for levels in range(1 if perturbable else 2, 6):
            variable = Variable(7, perturbable, levels)
            words = state_words(variable)
            assert all(re.fullmatch("[a-z][a-z0-9_]*", word) for word in words)
            assert variable_with(7, words) == variable
    assert variable_with(7, ["yes", "no"]) is None
    assert variable_with(7, ["kept"]) is None
    assert variable_with(7, []) is None
