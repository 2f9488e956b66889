from __future__ import annotations

import numpy as np
import pytest

from pgm_explainer import InputError, QueryError
from pgm_explainer.sampling import GRAPH, Variable

NODE = Variable(7, perturbable=True, levels=2)
GRADED = Variable(7, perturbable=True, levels=3)
BIT = Variable(7, perturbable=True, levels=1)
WHOLE = Variable(GRAPH, perturbable=False, levels=2)


@pytest.mark.parametrize(
    ("variable", "states"),
    [
        (NODE, ["original, kept", "original, changed", "perturbed, kept", "perturbed, changed"]),
        (BIT, ["original", "perturbed"]),
        (WHOLE, ["kept", "changed"]),
        (
            GRADED,
            [
                "original, kept",
                "original, changed 1",
                "original, changed 2",
                "perturbed, kept",
                "perturbed, changed 1",
                "perturbed, changed 2",
            ],
        ),
    ],
)
def test_states_count_up_by_perturbation_then_level(variable, states):
    assert list(variable.states) == states
    assert variable.cardinality == len(states)


@pytest.mark.parametrize("variable", [NODE, GRADED, BIT, WHOLE])
def test_the_name_of_a_state_matches_that_state_only(variable):
    for at, state in enumerate(variable.states):
        assert variable.matching(state).nonzero()[0].tolist() == [at]
        assert variable.matching(at).nonzero()[0].tolist() == [at]


@pytest.mark.parametrize(
    ("variable", "known", "states"),
    [
        (NODE, "original", [0, 1]),
        (NODE, "perturbed", [2, 3]),
        (NODE, "kept", [0, 2]),
        (NODE, "changed", [1, 3]),
        (NODE, "changed, original", [1]),
        (NODE, " kept ,perturbed", [2]),
        (NODE, ("original", "kept"), [0]),
        (NODE, {"perturbed"}, [2, 3]),
        (GRADED, "changed", [1, 2, 4, 5]),
        (GRADED, "changed 2", [2, 5]),
        (GRADED, "changed, changed 1", [1, 4]),
        (BIT, "perturbed", [1]),
        (WHOLE, "changed", [1]),
    ],
)
def test_knowing_part_of_a_variable_is_knowing_a_set_of_states(variable, known, states):
    assert variable.matching(known).nonzero()[0].tolist() == states


@pytest.mark.parametrize("variable", [NODE, GRADED, BIT, WHOLE])
def test_every_valid_word_matches_a_state(variable):
    for word in variable.words:
        assert 0 < variable.matching(word).sum() < variable.cardinality


@pytest.mark.parametrize(
    ("variable", "known"),
    [
        (NODE, "broken"),
        (NODE, ""),
        (NODE, "kept,"),
        (NODE, "changed 1"),
        (NODE, 4),
        (NODE, -1),
        (NODE, True),
        (NODE, 1.0),
        (NODE, None),
        (NODE, []),
        (NODE, "kept, changed"),
        (NODE, ("original", "perturbed")),
        (GRADED, "changed 3"),
        (GRADED, "changed 1, changed 2"),
        (BIT, "kept"),
        (WHOLE, "perturbed"),
    ],
)
def test_what_cannot_be_so_is_named(variable, known):
    with pytest.raises(QueryError) as error:
        variable.matching(known)
    bad_words = known.split(",") if isinstance(known, str) else [repr(known), str(known)]
    assert any(word.strip() in str(error.value) for word in bad_words)


def test_an_unknown_word_lists_the_valid_ones():
    with pytest.raises(QueryError, match="'original' or 'perturbed' or 'kept' or 'changed'"):
        NODE.matching("intact")


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"id": [1]}, "an integer, a string or a tuple"),
        ({"id": (1, [2])}, "an integer, a string or a tuple"),
        ({"perturbable": "yes"}, "perturbable must be True or False, not 'yes'"),
        ({"levels": 0}, "levels must be at least 1, not 0"),
        ({"levels": "two"}, "levels must be a whole number, not 'two'"),
        ({"levels": 2**40}, "at most"),
    ],
    ids=str,
)
def test_what_makes_no_variable_is_refused(given, named):
    with pytest.raises(InputError, match=named):
        Variable(**{"id": 0, "perturbable": True, "levels": 2, **given})


def test_levels_become_a_plain_number():
    assert type(Variable(0, True, np.int64(2)).levels) is int
