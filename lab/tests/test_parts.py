from __future__ import annotations

import numpy as np
import pytest
import torch

from pgm_explainer.sampling import Draws, Population
from pgm_explainer_lab.mutagenicity import ATOMS, Molecule
from pgm_explainer_lab.part_benchmarks.atoms import Distinct, auc, recall
from pgm_explainer_lab.part_benchmarks.molecules import GENERATED, _generated, functional_groups
from pgm_explainer_lab.part_benchmarks.true_effects import true_edge_effects
from pgm_explainer_lab.rivals.case import Case


def test_distinct_draws_other_rows_evenly():
    x = np.eye(3)[[0] * 8 + [1, 2]]
    new = Distinct()(Population(x), Draws.grid(0, np.arange(3000), np.array([0, 9])))
    assert not (new[:, 0] == x[0]).all(axis=-1).any()
    assert abs(new[:, 0].mean(axis=0) - [0, 0.5, 0.5]).max() < 0.05


def test_scores_of_a_perfect_and_a_reversed_ranking():
    truth = np.array([True, True, False, False])
    assert (auc(np.arange(4, 0, -1.0), truth), recall(np.arange(4, 0, -1.0), truth)) == (1, 1)
    assert (auc(np.arange(4.0), truth), recall(np.arange(4.0), truth)) == (0, 0)


def groups_of(kinds, bonds):
    """The atoms of the groups that a molecule has, by name."""
    x = np.eye(len(ATOMS), dtype=np.float32)[[ATOMS.index(kind) for kind in kinds.split()]]
    ends = np.array(bonds).T
    molecule = Molecule(x, np.concatenate((ends, ends[::-1]), axis=1), 0, frozenset())
    return {name: atoms for name, atoms in functional_groups(molecule).items() if atoms}


def test_the_groups_of_small_molecules():
    nitromethane = groups_of("C N O O H H H", [(0, 1), (1, 2), (1, 3), (0, 4), (0, 5), (0, 6)])
    assert nitromethane == {"NO2 or NH2": {1, 2, 3}, "CH3": {0, 4, 5, 6}}
    formic_acid = groups_of("C O O H H", [(0, 1), (0, 2), (2, 3), (0, 4)])
    assert formic_acid == {"C=O": {0, 1}, "OH": {2, 3}}


def test_generated_molecules_of_class_1_have_every_group_of_the_rule():
    rng = np.random.default_rng(0)
    made = [_generated(rng, *GENERATED["fluoride and carbonyl"]) for _ in range(100)]
    for each in made:
        kinds = sorted(ATOMS[each.x[atom].argmax()] for atom in each.atoms)
        assert kinds == (["F", "O"] if each.label else [])


class Bonds(torch.nn.Module):
    """The logit of class 1 is the sum of the products of the features at both ends of the edges."""

    def forward(self, x, edge_index, batch=None):
        batch = torch.zeros(len(x), dtype=torch.long) if batch is None else batch
        product = x[edge_index[0], 0] * x[edge_index[1], 0]
        score = torch.zeros(int(batch.max()) + 1).index_add(0, batch[edge_index[0]], product)
        return torch.stack((torch.zeros_like(score), score), dim=1)


@pytest.mark.parametrize("probability", [0.0, 0.5])
def test_the_true_effect_of_an_edge_is_the_fall_without_it(probability):
    x = np.array([[1.0], [2.0], [-0.875], [1.0]], dtype=np.float32)
    edges = [(0, 1), (1, 2), (0, 3)]
    ends = np.array(edges).T
    case = Case(Bonds(), x, np.concatenate((ends, ends[::-1]), axis=1), task="graph")
    found = true_edge_effects(case, None, edges, (0, 0), probability, budget=120)
    weights = np.array([4.0, -3.5, 2.0])  # both directions

    def chance(kept):
        return 1 / (1 + np.exp(-(kept @ weights)))

    assert found.falls.shape == (40, 3)
    alone = chance(np.ones(3)) - chance(1 - np.eye(3))
    np.testing.assert_allclose(found.alone, alone, rtol=1e-5)
    if not probability:
        np.testing.assert_allclose(found.falls, np.tile(alone, (40, 1)), rtol=1e-5)
    contexts = np.array(np.meshgrid(*[[0, 1]] * 3)).reshape(3, -1).T
    for edge in range(3):
        having, without = contexts.copy(), contexts.copy()
        having[:, edge], without[:, edge] = 1, 0
        possible = chance(having) - chance(without)
        distance = abs(found.falls[:, edge, None] - possible).min(axis=1)
        assert distance.max() < 1e-6
    if probability:  # all four contexts of the other two edges occur
        assert len(np.unique(found.falls[:, 0].round(6))) == 4
