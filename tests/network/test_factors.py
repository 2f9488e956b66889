"""Variable elimination, against multiplying everything out."""

import numpy as np
import pytest

from pgm_explainer.network.factors import Factor, eliminate


def random_factors(seed, shape=(2, 3, 2, 4), scopes=((0,), (1, 0), (2, 1), (3, 0, 2), (2,))):
    rng = np.random.default_rng(seed)
    return [Factor(scope, rng.random([shape[v] for v in scope])) for scope in scopes]


def everything(factors, evidence, shape=(2, 3, 2, 4)):
    """The product over all variables, one axis each."""
    product = np.ones(shape)
    for index in np.ndindex(*shape):
        for factor in factors:
            product[index] *= factor.values[tuple(index[v] for v in factor.variables)]
        for variable, weights in evidence.items():
            product[index] *= weights[index[variable]]
    return product


@pytest.mark.parametrize("keep", [[], [0], [3], [2, 0], [0, 2], [3, 1, 0], [0, 1, 2, 3]])
@pytest.mark.parametrize(
    "evidence", [{}, {1: np.array([0.0, 1.0, 1.0])}, {0: np.array([1.0, 0.0]), 3: np.eye(4)[2]}]
)
def test_equals_summing_the_whole_product(keep, evidence):
    factors = random_factors(0)
    product = everything(factors, evidence)
    axes = [v for v in range(4) if v not in keep]
    summed = product.sum(axis=tuple(axes))  # axes of keep, ascending
    expected = summed.transpose(np.argsort(np.argsort(keep))) if keep else summed
    answer = eliminate(factors, keep, evidence)
    assert answer.shape == tuple((2, 3, 2, 4)[v] for v in keep)
    np.testing.assert_allclose(answer, expected, rtol=1e-12)


def test_axes_have_the_requested_order():
    factors = random_factors(1)
    one, other = eliminate(factors, [1, 3], {}), eliminate(factors, [3, 1], {})
    np.testing.assert_allclose(one, other.T, rtol=1e-12)


def test_weights_count_once_for_variables_in_many_factors():
    factors = random_factors(2)
    half = eliminate(factors, [], {0: np.array([0.5, 0.5])})
    assert half == pytest.approx(eliminate(factors, [], {}) / 2)


def test_weighting_a_factor_does_not_change_the_original():
    factor = Factor((4, 7), np.ones((2, 3)))
    weighted = factor.weighted(7, np.array([1.0, 0.0, 2.0]))
    assert weighted.values.tolist() == [[1, 0, 2], [1, 0, 2]]
    assert factor.values.tolist() == [[1, 1, 1], [1, 1, 1]]


def test_the_factors_handed_in_are_not_changed():
    factors = random_factors(3)
    before = [factor.values.copy() for factor in factors]
    eliminate(factors, [1], {0: np.array([1.0, 0.0])})
    assert all((f.values == values).all() for f, values in zip(factors, before, strict=True))


def test_many_unconnected_variables():
    factors = [Factor((v,), np.array([0.25, 0.75])) for v in range(200)]
    np.testing.assert_allclose(eliminate(factors, [199], {}), [0.25, 0.75])


def test_a_long_chain():
    step = np.array([[0.9, 0.1], [0.2, 0.8]])
    chain = [Factor((0,), np.array([1.0, 0.0]))]
    chain += [Factor((v, v + 1), step) for v in range(120)]
    expected = np.array([1.0, 0.0]) @ np.linalg.matrix_power(step, 120)
    np.testing.assert_allclose(eliminate(chain, [120], {}), expected, rtol=1e-9)


def test_a_hub_with_many_leaves():
    hub = [Factor((0,), np.array([0.5, 0.5]))]
    hub += [Factor((0, v), np.array([[0.9, 0.1], [0.2, 0.8]])) for v in range(1, 90)]
    seen = {v: np.array([1.0, 0.0]) for v in range(1, 90)}
    answer = eliminate(hub, [0], seen)
    np.testing.assert_allclose(answer, [0.5 * 0.9**89, 0.5 * 0.2**89], rtol=1e-9)
