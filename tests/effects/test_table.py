"""The table of effects: a sequence, columns, names."""

from dataclasses import replace

import numpy as np
import pytest

from pgm_explainer import InputError
from pgm_explainer.effects import Effects, PairEffect
from pgm_explainer.effects.table import EFFECT_COLUMNS
from pgm_explainer.node_names import NodeNames


@pytest.fixture
def effects():
    return Effects(
        np.array([7, 2, 5]),
        np.array([-0.4, 0.2, 0.0]),
        np.array([-0.5, 0.1, -0.1]),
        np.array([-0.3, 0.3, 0.1]),
        np.array([1.0, 0.5, 0.0]),
        np.array([-2000.0, -9.0, 0.0]),
        np.array([True, True, False]),
        (PairEffect((7, 2), 0.1, 0.3, 0.2, 0.4, -8.0), PairEffect((7, 5), 0.1, 0.3, 0.2, 0.4, -8)),
    )


def test_it_is_a_sequence(effects):
    assert len(effects) == 3
    assert [each.node for each in effects] == [7, 2, 5]
    assert [each.effect for each in effects[1:]] == [0.2, 0.0]
    assert effects[-1].node == 5
    assert effects[0].p == 0
    assert effects[1].p == pytest.approx(np.exp(-9))
    with pytest.raises(IndexError):
        effects[3]


def test_rows_show_names_and_columns_stay_numbers(effects):
    named = replace(effects, names=NodeNames({7: "seven", 2: "two"}))
    assert named.parts == ["seven", "two", 5]
    assert named[0].node == "seven"
    assert named.columns["node"].tolist() == ["seven", "two", 5]
    assert effects.parts == [7, 2, 5]
    assert named.nodes.tolist() == [7, 2, 5]
    assert named.pair_parts == [("seven", "two"), ("seven", 5)]
    assert named["two"] == named[1]
    with pytest.raises(InputError, match=r"no row about 'six'; see the names"):
        named["six"]


def test_the_first_rows_are_shown(effects):
    named = replace(effects, names=NodeNames({7: "seven", 2: "two"}))
    assert repr(named).splitlines() == [
        "Effects of 3 parts, 2 significant",
        " part  effect   low  high  strength   log_p  significant",
        "seven    -0.4  -0.5  -0.3         1  -2e+03          yes",
        "  two     0.2   0.1   0.3       0.5      -9          yes",
        "    5       0  -0.1   0.1         0       0           no",
    ]
    many = Effects(np.arange(25), *(np.zeros(25) for _ in range(5)), np.zeros(25, dtype=bool))
    assert repr(many).splitlines()[-1] == "… and 15 more rows"
    assert len(repr(many).splitlines()) == 13


def test_columns_make_a_data_frame(effects):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(effects.columns)
    assert list(frame) == ["node", *EFFECT_COLUMNS[1:]]
    assert frame["node"].tolist() == [7, 2, 5]


def test_some_are_kept_with_the_pairs_among_them(effects):
    kept = effects.keeping(np.array([2]), np.array([7]))
    assert kept.nodes.tolist() == [7, 2]
    assert kept.left_out == 1
    assert [pair.nodes for pair in kept.pairs] == [(7, 2)]
    assert kept.keeping(np.array([7])).left_out == 2
    assert effects.keeping(effects.nodes) == effects


def test_equal_is_equal_in_every_column(effects):
    assert effects == replace(effects)
    for name in EFFECT_COLUMNS:
        column = getattr(effects, name).copy()
        column[0] = not column[0] if column.dtype == bool else column[0] + 1
        assert effects != replace(effects, **{name: column})
    assert effects != replace(effects, pairs=())
    assert effects != "effects"
