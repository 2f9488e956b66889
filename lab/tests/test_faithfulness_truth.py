"""True effects by brute force, and models whose true effects are known without it."""

from itertools import product

import numpy as np
import pytest
import torch

from pgm_explainer_lab.faithfulness.marked import (
    DEPTH,
    distances_from,
    marked_subject,
)
from pgm_explainer_lab.faithfulness.truth import TruthPlan, true_effects
from pgm_explainer_lab.rivals import Case
from pgm_explainer_lab.rivals.output import Output

P = 0.3
ZERO = TruthPlan(perturbation="zero", probability=P)


def exact_effects(case, target, nodes, explained):
    """Every context of a few nodes, weighted by how likely it is."""
    edges = torch.from_numpy(case.edge_index)
    batch = () if target is not None else (torch.zeros(len(case.x), dtype=torch.long),)
    signed, size = np.zeros((2, len(nodes)))

    def probability(perturbed):
        x = case.x.copy()
        x[[node for node, bit in zip(nodes, perturbed, strict=True) if bit]] = 0
        scores = case.model(torch.from_numpy(x), edges, *batch)
        return float(torch.softmax(scores[target or 0].double(), 0)[explained])

    answers = {bits: probability(bits) for bits in product((0, 1), repeat=len(nodes))}
    for at in range(len(nodes)):
        for rest in product((0, 1), repeat=len(nodes) - 1):
            change = answers[(*rest[:at], 1, *rest[at:])] - answers[(*rest[:at], 0, *rest[at:])]
            weight = P ** sum(rest) * (1 - P) ** (len(rest) - sum(rest))
            signed[at] += weight * change
            size[at] += weight * abs(change)
    return signed, size


@pytest.mark.parametrize("task", ["node", "graph"])
def test_the_true_effect_is_the_mean_over_all_contexts(planted, task):
    case, target = (planted.node, planted.target) if task == "node" else (planted.graph, None)
    truth = true_effects(case, target, ZERO)
    inside = set(range(8)) - ({planted.far} if task == "node" else set())
    assert set(truth.nodes.tolist()) == inside
    signed, size = exact_effects(case, target, truth.nodes.tolist(), Output(case, target).explained)
    assert abs(signed).max() > 0.1
    assert (abs(truth.effect - signed) <= 4.5 * truth.error + 1e-9).all()
    np.testing.assert_allclose(truth.size, size, atol=0.05)


def test_only_the_named_features_are_perturbed(planted):
    x = planted.node.x.copy()
    x[:, 1] = 0  # the product of both features is 0 whatever happens to the first
    first = Case(planted.node.model, x, planted.node.edge_index, features=[0])
    assert (true_effects(first, planted.target, ZERO).size == 0).all()


def test_a_subgraph_gives_the_same_outputs_as_the_graph():
    subject = marked_subject(seed=1, each=2, nodes=300)
    target = subject.targets[-1]
    output = Output(subject.case, target)
    assert len(output.part.nodes) < 300
    x = np.random.default_rng(0).permuted(subject.case.x, axis=0)
    scores = subject.case.model(torch.from_numpy(x), torch.from_numpy(subject.case.edge_index))
    wanted = torch.softmax(scores[target].double(), 0)[output.explained]
    assert output(x[output.part.nodes][None])[0] == pytest.approx(float(wanted), abs=1e-6)
    assert output.num_calls == 1


def test_the_class_is_the_distance_of_the_nearest_mark():
    subject = marked_subject(seed=0, each=3, nodes=400)
    case = subject.case
    edges = torch.from_numpy(case.edge_index)
    classes = case.model(torch.from_numpy(case.x), edges).argmax(dim=1).numpy()
    marks = np.flatnonzero(case.x[:, 0])
    away = distances_from(marks, case.edge_index, len(case.x))
    assert np.array_equal(classes, np.minimum(away.min(axis=0), DEPTH + 1))
    stacked = case.model(torch.from_numpy(np.stack((case.x, case.x[::-1]))), edges)
    assert torch.equal(stacked[0].argmax(dim=1), torch.from_numpy(classes).long())
    for target in subject.targets:
        nearest = away[:, target] == int(subject.kind(target))
        assert marks[nearest].tolist() == [subject.causes[target]]


def test_only_the_mark_matters_if_no_donor_is_a_mark():
    subject = marked_subject(seed=0, each=1, nodes=400)
    plan = TruthPlan(budget=400, again=((20, 20),), perturbation="zero")
    for target in subject.targets:
        truth = true_effects(subject.case, target, plan)
        causes = truth.nodes[truth.size > 1e-3]
        assert causes.tolist() == [subject.causes[target]]
