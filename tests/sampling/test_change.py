from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgm_explainer import InputError
from pgm_explainer.choices import Description
from pgm_explainer.sampling import (
    CHANGES,
    Absolute,
    CustomChange,
    Deviation,
    Fall,
    Flip,
    LargeFall,
    LargeMove,
    Levels,
    TopDeviation,
    TopFraction,
    as_change,
)
from pgm_explainer.sampling.change import CHANGE_TYPES, check_change_fits


def probabilities(seed: int, samples: int = 20, nodes: int = 4, classes: int = 3):
    rng = np.random.default_rng(seed)
    before = rng.dirichlet(np.ones(classes), size=nodes)
    after = rng.dirichlet(np.ones(classes), size=(samples, nodes))
    return before, after


def grades_of(change, before, after, classes=None):
    classes = before.argmax(axis=-1) if classes is None else np.array(classes)
    return change.grade(change.severity(before, after, classes))


def slowly(before, after, classes, rule):
    """Grade one prediction at a time by ``rule(p before, p after, explained class)``."""
    return [
        [
            int(rule(old, new, explained))
            for old, new, explained in zip(before.tolist(), sample.tolist(), classes, strict=True)
        ]
        for sample in after
    ]


RULES = [
    (Fall(0.2), lambda old, new, best: old[best] - new[best] > 0.2),
    (Absolute(0.2), lambda old, new, best: abs(old[best] - new[best]) > 0.2),
    (Flip(), lambda old, new, best: any(p > new[best] for p in new)),
    (
        Levels((0.1, 0.2, 0.4)),
        lambda old, new, best: sum(old[best] - new[best] > t for t in (0.1, 0.2, 0.4)),
    ),
    (
        Deviation(0.2),
        lambda old, new, best: any(abs(a - b) > 0.2 for a, b in zip(old, new, strict=True)),
    ),
]


@pytest.mark.parametrize(("change", "rule"), RULES, ids=lambda each: getattr(each, "name", ""))
@given(st.integers(0, 10**6))
def test_an_indicator_grades_as_its_formula_says(change, rule, seed):
    before, after = probabilities(seed)
    grades = grades_of(change, before, after)
    assert grades.dtype == np.uint8
    assert grades.tolist() == slowly(before, after, before.argmax(axis=-1).tolist(), rule)
    assert grades.max(initial=0) < change.levels


@pytest.mark.parametrize(("change", "rule"), RULES, ids=lambda each: getattr(each, "name", ""))
@given(st.integers(0, 10**6), st.lists(st.integers(0, 2), min_size=4, max_size=4))
def test_an_indicator_is_about_the_explained_classes(change, rule, seed, classes):
    before, after = probabilities(seed)
    grades = grades_of(change, before, after, classes)
    assert grades.tolist() == slowly(before, after, classes, rule)


def test_the_top_fraction_is_about_the_explained_class():
    before = np.array([[0.5, 0.3, 0.2]])
    after = np.array([[[0.1, 0.3, 0.6]], [[0.5, 0.1, 0.4]], [[0.5, 0.3, 0.2]], [[0.6, 0.3, 0.1]]])
    for explained, expected in enumerate(([1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1])):
        grades = grades_of(TopFraction(0.25), before, after, [explained])
        assert grades[:, 0].tolist() == expected


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_prediction_that_stays_is_kept(change):
    before, _ = probabilities(0)
    after = np.stack([before] * 16)
    assert not grades_of(change, before, after).any()


@pytest.mark.parametrize("change", [Fall(), Levels(), TopFraction()])
def test_a_probability_that_rises_is_no_fall_but_an_absolute_change(change):
    before = np.array([[0.6, 0.4]])
    after = np.full((8, 1, 2), [0.9, 0.1])
    assert not grades_of(change, before, after).any()
    assert grades_of(Absolute(0.1), before, after).all()


def test_a_fall_of_exactly_the_threshold_is_kept():
    before = np.array([[0.75, 0.25]])
    after = np.array([[[0.5, 0.5]]])
    assert not grades_of(Fall(0.25), before, after).any()
    assert grades_of(Fall(0.2499), before, after).all()


def falls(values):
    """Severities of one prediction, as TopFraction grades them."""
    return np.array(values, dtype=np.float64)[:, None]


@given(st.permutations(range(40)), st.sampled_from([0.1, 0.125, 0.25, 0.5, 0.9]))
def test_the_top_fraction_is_the_samples_that_fell_most(order, fraction):
    severity = falls([(rank + 1) / 50 for rank in order])
    grades = TopFraction(fraction).grade(severity)[:, 0]
    assert grades.sum() == round(fraction * 40)
    assert severity[grades == 1].min() > severity[grades == 0].max()


@pytest.mark.parametrize(
    ("values", "fraction", "expected"),
    [
        ([0.4, 0.3, 0.3, 0.1], 0.25, [1, 0, 0, 0]),  # the tie is below the border
        ([0.4, 0.3, 0.3, 0.1], 0.5, [1, 1, 1, 0]),  # 3/4 and 1/4 are as close: the tie goes in
        ([0.4, 0.3, 0.3, 0.3, 0.3, 0.1], 0.34, [1, 0, 0, 0, 0, 0]),  # 1/6 is closer than 5/6
        ([0.3, 0.3, 0.3, 0.3], 0.25, [0, 0, 0, 0]),  # all or nothing: nothing is closer
        ([0.3, 0.3, 0.3, 0.3], 0.75, [1, 1, 1, 1]),
    ],
)
def test_ties_at_the_border_go_together_whichever_way_is_closer(values, fraction, expected):
    assert TopFraction(fraction).grade(falls(values))[:, 0].tolist() == expected


@pytest.mark.parametrize("value", [0.0, 1e-9, -0.2])
def test_constant_predictions_are_not_made_to_change(value):
    assert not TopFraction(0.5).grade(falls([value] * 10)).any()


def test_rounding_noise_does_not_make_a_top_fraction():
    noise = np.random.default_rng(0).normal(scale=1e-8, size=(100, 2))
    assert not TopFraction(0.125).grade(noise).any()


def test_only_falls_count_even_if_fewer_than_the_fraction():
    grades = TopFraction(0.5).grade(falls([0.3, 0.0, 0.0, -0.1, -0.2, 0.0]))
    assert grades[:, 0].tolist() == [1, 0, 0, 0, 0, 0]


def test_the_top_fraction_is_computed_per_prediction():
    severity = np.array([[0.1, 0.9], [0.2, 0.8], [0.3, 0.7], [0.4, 0.6]])
    assert TopFraction(0.25).grade(severity).tolist() == [[0, 1], [0, 0], [0, 0], [1, 0]]


@pytest.mark.parametrize(
    ("make", "bad"),
    [
        (Fall, 0),
        (Fall, 1.0),
        (Fall, -0.1),
        (Fall, float("nan")),
        (Fall, "0.1"),
        (Fall, None),
        (Fall, True),
        (Absolute, 2),
        (Deviation, 0),
        (Deviation, -1),
        (Deviation, float("nan")),
        (Deviation, float("inf")),
        (Deviation, "1"),
        (Deviation, True),
        (TopDeviation, 0),
        (TopDeviation, 1),
        (TopFraction, 0),
        (TopFraction, 1),
        (Levels, ()),
        (Levels, (0.3, 0.1)),
        (Levels, (0.1, 0.1)),
        (Levels, (0.1, 1.5)),
        (Levels, tuple(np.linspace(0.1, 0.8, 8).tolist())),
        (Levels, 0.1),
        (Levels, None),
    ],
)
def test_a_bad_threshold_is_named(make, bad):
    with pytest.raises(InputError) as error:
        make(bad)
    said = str(error.value)
    assert repr(bad) in said or any(repr(each) in said for each in bad)


@pytest.mark.parametrize("noise", [0, -1e-6, float("nan")])
def test_a_noise_level_that_is_not_above_zero_is_named(noise):
    with pytest.raises(InputError, match="noise"):
        TopFraction(0.5, noise=noise)


@pytest.mark.parametrize("threshold", [np.float32(0.5), np.float64(0.5)])
def test_numpy_numbers_are_numbers(threshold):
    assert Fall(threshold).grade(np.array([[0.75], [0.25]])).ravel().tolist() == [1, 0]


@pytest.mark.parametrize("threshold", [Fraction(1, 2), np.float16(0.5)], ids=repr)
def test_any_real_number_is_a_threshold(threshold):
    severity = np.array([[0.75], [0.25]])
    assert Fall(threshold).grade(severity).ravel().tolist() == [1, 0]
    assert Deviation(threshold).grade(severity).ravel().tolist() == [1, 0]
    assert Levels((threshold,)).grade(severity).ravel().tolist() == [1, 0]
    assert TopFraction(threshold).grade(severity).ravel().tolist() == [1, 0]


def test_a_deviation_counts_either_way_and_in_any_value():
    before = np.array([[10.0, -4.0]])
    after = np.array([[[10.5, -4]], [[9.5, -4]], [[10.0, -5.0]], [[10.0, -3.0]], [[10.2, -4.2]]])
    assert grades_of(Deviation(0.4), before, after)[:, 0].tolist() == [1, 1, 1, 1, 0]
    assert grades_of(TopDeviation(0.4), before, after)[:, 0].tolist() == [0, 0, 1, 1, 0]


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_the_top_deviation_does_not_depend_on_the_unit(scale):
    rng = np.random.default_rng(0)
    before, after = rng.normal(size=(3, 1)), rng.normal(size=(40, 3, 1))
    grades = grades_of(TopDeviation(0.5), before, after)
    assert grades.mean() == 0.5
    np.testing.assert_array_equal(
        grades_of(TopDeviation(0.5), scale * before, scale * after), grades
    )


@pytest.mark.parametrize("value", [1e-3, 5.0, 3e8])
def test_rounding_is_no_deviation(value):
    before = np.full((1, 1), value, dtype=np.float64)
    after = before * (1 + 1e-9 * np.random.default_rng(0).normal(size=(50, 1, 1)))
    assert not grades_of(TopDeviation(), before, after).any()


def test_a_number_is_the_threshold_of_a_fall_and_a_list_those_of_levels():
    assert as_change(0.2, "auto") == Fall(0.2)
    assert as_change([0.1, 0.3], "auto") == Levels((0.1, 0.3))


@pytest.mark.parametrize("bad", [1.5, 0, -0.1, True, [0.3, 0.1], [], [Fall()]])
def test_a_bad_threshold_is_refused(bad):
    with pytest.raises(InputError):
        as_change(bad, "auto")


def test_auto_is_a_large_fall_or_for_values_a_top_half():
    assert as_change("auto", "auto") == LargeFall()
    assert as_change("auto", "values") == TopDeviation(0.5)


def test_a_large_fall_is_relative_to_the_predictions_own_falls():
    falls = np.linspace(0, 1, 101)[:, None] * [0.01, 0.1, 1.0]
    graded = LargeFall(share=0.5, most=0.2).grade(falls)
    # Of falls up to m the 95th percentile is 0.95 m, half of which is the threshold, at most 0.2.
    for column, threshold in enumerate((0.00475, 0.0475, 0.2)):
        np.testing.assert_array_equal(graded[:, column], falls[:, column] > threshold + 1e-9)


def test_falls_within_rounding_are_never_large():
    rng = np.random.default_rng(0)
    assert not LargeFall().grade(1e-7 * rng.normal(size=(100, 3))).any()
    assert not LargeFall().grade(-rng.random((100, 3))).any()


def test_a_large_move_counts_either_way():
    before, classes = np.array([[0.5, 0.5]]), np.array([0])
    after = np.array([[[0.9, 0.1]], [[0.1, 0.9]], [[0.5, 0.5]]])
    severity = LargeMove().severity(before, after, classes)
    np.testing.assert_allclose(severity[:, 0], [0.4, 0.4, 0.0])
    assert LargeMove().grade(severity)[:, 0].tolist() == [1, 1, 0]
    assert LargeFall().grade(LargeFall().severity(before, after, classes))[:, 0].tolist() == [
        0,
        1,
        0,
    ]


def test_a_large_fall_of_one_prediction_does_not_depend_on_the_others():
    falls = np.random.default_rng(0).random((50, 4))
    np.testing.assert_array_equal(LargeFall().grade(falls)[:, :1], LargeFall().grade(falls[:, :1]))


@pytest.mark.parametrize("name", CHANGES)
def test_a_name_is_the_indicator_of_that_name(name):
    assert as_change(name, "auto") is CHANGES[name]
    assert as_change(name, "auto").name == name


@pytest.mark.parametrize(
    "change",
    [
        "large_fall",
        "fall",
        "flip",
        "absolute",
        "levels",
        "top_fraction",
        Fall(0.2),
        LargeFall(0.1),
        LargeMove(0.3),
    ],
    ids=str,
)
def test_a_change_of_probabilities_is_refused_for_values(change):
    with pytest.raises(InputError, match=r"applies to probabilities only.*Deviation"):
        check_change_fits(as_change(change), "values")


@pytest.mark.parametrize("change", [Deviation(3), TopDeviation(0.2)], ids=str)
@pytest.mark.parametrize("scores", ["values", "auto"])
def test_a_change_of_values_is_for_any_scores(change, scores):
    check_change_fits(change, scores)
    assert as_change(change, scores) is change


def test_a_function_may_grade_values():
    assert as_change(lambda before, after: after[..., 0] > 7, "values").levels == 2


def test_an_instance_is_taken_as_it_is():
    mine = Levels((0.2, 0.4))
    assert as_change(mine, "auto") is mine


@pytest.mark.parametrize("bad", ["drop", "", None, {0.1}])
def test_an_unknown_change_is_named(bad):
    with pytest.raises(InputError, match="change") as error:
        as_change(bad, "auto")
    assert repr(bad) in str(error.value)


@pytest.mark.parametrize(
    "forgotten", [Fall, Flip, Levels, Deviation, CustomChange], ids=lambda each: each.__name__
)
def test_a_class_instead_of_an_instance_is_refused_at_once(forgotten):
    with pytest.raises(InputError, match=forgotten.__name__):
        as_change(forgotten, "auto")


def test_a_function_may_grade_changes():
    def second_class_wins(before, after):
        return after.argmax(axis=-1) == 1

    before, after = probabilities(3)
    change = as_change(second_class_wins, "auto")
    assert change.name == "second_class_wins"
    assert change.levels == 2
    np.testing.assert_array_equal(grades_of(change, before, after), after.argmax(axis=-1) == 1)


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        (np.zeros(20), r"\(20,\)"),
        (np.zeros((4, 20)), r"\(4, 20\)"),
        (np.full((20, 4), 2), "to 2"),
        (np.full((20, 4), -1), "from -1"),
        (np.full((20, 4), np.nan), "nan"),
        (np.full((20, 4), 0.5), "0.5"),
        (None, "object"),
    ],
)
def test_a_function_with_a_bad_answer_is_an_error(answer, named):
    before, after = probabilities(0)
    with pytest.raises(InputError, match=named):
        grades_of(CustomChange(lambda before, after: answer), before, after)


def test_a_function_may_have_more_levels():
    before, after = probabilities(0)
    levels = np.arange(80).reshape(20, 4) % 4
    grades = grades_of(CustomChange(lambda before, after: levels, levels=4), before, after)
    np.testing.assert_array_equal(grades, levels)


@pytest.mark.parametrize("bad", [1, 0, 2.0, "2", 129])
def test_a_number_of_levels_that_cannot_be_stored_is_named(bad):
    with pytest.raises(InputError, match=f"{bad}"):
        CustomChange(lambda before, after: 0, levels=bad)


@pytest.mark.parametrize(
    "change",
    [Fall(0.2), Flip(), Absolute(0.1), TopFraction(0.5), Levels((0.1, 0.3)), Deviation(2.5)],
    ids=lambda change: change.name,
)
def test_a_description_gives_the_indicator_back(change):
    described = change.describe()
    assert CHANGE_TYPES[described.name](**described.parameters) == change


def test_a_user_defined_subclass_is_described_as_such():
    class Steep(Fall):
        def grade(self, severity):
            return super().grade(severity * 2)

    assert as_change(Steep(0.1)).describe() == Description("fall", own=True)
    assert Fall(0.1).describe() == Description("fall", {"threshold": 0.1})


@pytest.mark.parametrize("change", [TopFraction(0.3, noise=0.05), LargeFall(noise=0.01)])
def test_a_change_is_read_back_with_its_noise(on_a_path, change):
    first = on_a_path(change=change).explain(0)
    assert on_a_path(change=first.settings.sampling.change).explain(0) == first
