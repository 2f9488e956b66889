"""When there are samples enough."""

import numpy as np
import pytest

from pgm_explainer.effects import Effects
from pgm_explainer.effects.estimate import are_precise, margin


def effects(effect, half_width):
    effect, half_width = np.array(effect, dtype=float), np.array(half_width, dtype=float)
    count = len(effect)
    strength = np.linspace(1, 0.1, count) if count else np.zeros(0)
    return Effects(
        np.arange(count),
        effect,
        effect - half_width,
        effect + half_width,
        strength,
        -np.ones(count),
        strength > 2,
    )


def test_the_widest_of_the_five_strongest_counts():
    widths = [0.01, 0.02, 0.05, 0.01, 0.01, 0.9, 0.9]
    assert margin(effects([0.3] * 7, widths)) == pytest.approx(0.05)
    assert margin(effects([], [])) == 0


def test_a_fifth_of_the_strongest_is_precise_enough():
    assert are_precise(effects([-0.4, 0.1], [0.079, 0.05]), True)
    assert not are_precise(effects([-0.4, 0.1], [0.081, 0.05]), True)
    assert not are_precise(effects([-0.4, 0.1], [0.05, 0.081]), True)


def test_one_point_of_a_probability_is_always_precise_enough():
    assert are_precise(effects([0.001], [0.009]), True)
    assert not are_precise(effects([0.001], [0.009]), False)


def test_equal_effects_are_precise():
    assert are_precise(effects([], []), True)
    assert are_precise(effects([0.0, 0.0], [0.0, 0.0]), False)
