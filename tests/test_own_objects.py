"""User-defined functions and objects: their mistakes are reported with a solution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.data import HeteroData
from torch_geometric.nn import GCNConv

from pgm_explainer import InputError, ModelError, PGMExplainer, PGMExplainerError
from pgm_explainer.errors import PerturbationError

NODES = 40
X = np.random.default_rng(0).normal(size=(NODES, 3)).astype(np.float32)
AROUND = np.arange(NODES)
RING = np.concatenate(
    (np.stack((AROUND, (AROUND + 1) % NODES)), np.stack(((AROUND + 1) % NODES, AROUND))), axis=1
)
WEIGHTS = 3 * np.random.default_rng(1).normal(size=(3, 2))


def model(x, edge_index):
    total = x.copy()
    np.add.at(total, (slice(None), edge_index[1]), x[:, edge_index[0]])
    return total @ WEIGHTS


def explain(black_box=model, **options):
    settings = {"num_layers": 1, "num_samples": 60, "perturb_probability": 0.4, **options}
    return PGMExplainer(black_box, X, RING, only_significant=False, **settings).explain(3)


# --- wrong signatures -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "function", "error", "usage"),
    [
        ("perturbation", lambda x: x, PerturbationError, "(x [N, F], rng) -> x [N, F]"),
        ("change", lambda after: after, InputError, "(before [V, C], after [B, V, C])"),
        ("structure", lambda data: data, InputError, "(data [n, variables], cardinalities)"),
    ],
)
def test_a_wrong_signature_error_shows_the_expected_call(option, function, error, usage):
    with pytest.raises(error, match=r"TypeError: .*takes 1 positional argument") as raised:
        explain(**{option: function})
    assert usage in str(raised.value)
    assert isinstance(raised.value.__cause__, TypeError)


@pytest.mark.parametrize("option", ["perturbation", "change", "structure"])
def test_a_function_that_fails_is_reported_with_its_cause(option):
    def fails(one, other):
        raise KeyError("weights")

    with pytest.raises(PGMExplainerError, match="failed: KeyError: 'weights'; it is called as"):
        explain(**{option: fails})


# --- objects --------------------------------------------------------------------------------


@dataclass
class OwnTest:
    """Pearson's test, except for its result for each table."""

    answer: Any
    name: str = "own"

    def statistic(self, counts):
        return self.answer(counts.shape[:-2])


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        (lambda shape: np.full(shape, np.nan), "returned nan"),
        (lambda shape: np.full(shape, np.inf), "returned inf"),
        (lambda shape: np.full(shape, -1.0), "returned -1.0"),
        (lambda shape: 3.0, "returned an array of shape ()"),
        (lambda shape: None, "must hold real numbers"),
    ],
    ids=["nan", "inf", "negative", "one number", "nothing"],
)
def test_a_test_that_returns_none_is_an_error(answer, named):
    """Before, a NaN was no evidence, and no node was found."""
    with pytest.raises(InputError, match="the test 'own'") as raised:
        explain(test=OwnTest(answer))
    assert named in str(raised.value)


def test_a_user_defined_test_works():
    assert explain(test=OwnTest(lambda shape: np.full(shape, 100.0))).nodes


@dataclass
class OwnChange:
    severe: Any = None
    graded: Any = None
    levels: Any = 2
    needs_all_samples: Any = False
    name: str = "own"

    def severity(self, before, after, classes):
        fall = before[np.arange(len(classes)), classes] - after[:, np.arange(len(classes)), classes]
        return fall if self.severe is None else self.severe(fall)

    def grade(self, severity):
        return severity > 0.1 if self.graded is None else self.graded(severity)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (OwnChange(severe=lambda fall: fall[0]), "must return one finite number"),
        (OwnChange(severe=lambda fall: fall * np.nan), "must return one finite number"),
        (OwnChange(severe=lambda fall: 1 / 0), "ZeroDivisionError"),
        (OwnChange(graded=lambda severity: 7 + 0 * severity), "from 7.0 to 7.0"),
        (OwnChange(graded=lambda severity: severity[:1]), "must return one finite number"),
        (OwnChange(graded=lambda severity: "all"), "must hold real numbers"),
        (OwnChange(levels=1), "at least 2"),
        (OwnChange(levels="two"), "'two'"),
        (OwnChange(needs_all_samples=np.ones(2)), "needs_all_samples"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_indicator_that_answers_badly_is_named(change, named):
    with pytest.raises(InputError) as raised:
        explain(change=change)
    assert named in str(raised.value)


def test_a_user_defined_indicator_works_and_has_its_name():
    found = explain(change=OwnChange())
    assert found.held == explain(change=0.1).held
    assert found.settings.sampling.change.name == "own"


def test_an_incomplete_indicator_error_names_what_is_missing():
    class Half:
        name = "half"

        def severity(self, before, after, classes):
            return after

        def grade(self, severity):
            return severity

    with pytest.raises(InputError, match="has no levels, needs_all_samples"):
        explain(change=Half())


@dataclass
class OwnScore:
    """The likelihood, except for the given parts."""

    value: Any = None
    price: Any = 0.0
    name: str = "own"

    def terms(self, counts, cells):
        logs = np.log(np.maximum(counts, 1))
        return counts * logs if self.value is None else self.value

    def penalty(self, configurations, states, samples):
        return self.price


@pytest.mark.parametrize("structure", ["auto", "hill_climb", "exact"])
@pytest.mark.parametrize(
    "score", [OwnScore("none"), OwnScore(np.ones(3)), OwnScore(price=None), OwnScore(price=np.nan)]
)
def test_a_score_that_answers_badly_is_named(score, structure):
    with pytest.raises(InputError, match="the score 'own'"):
        explain(score=score, structure=structure)


def test_a_user_defined_score_works():
    learnt = [
        explain(score=score, target_table="full").network
        for score in (OwnScore(), "log_likelihood")
    ]
    assert learnt[0].edges == learnt[1].edges
    assert learnt[0].score == pytest.approx(learnt[1].score)


# --- models ---------------------------------------------------------------------------------


def test_scores_whose_number_depends_on_the_part_are_an_error():
    with pytest.raises(ModelError, match=r"on one subgraph, but .* on another"):
        explain(lambda x, edge_index: x @ x.swapaxes(1, 2))


class WithBuffer(nn.Module):
    """Holds something for each node of the graph."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layer = GCNConv(3, 2)
        self.register_buffer("embedding", torch.randn(NODES, 2))

    def forward(self, x, edge_index):
        return self.layer(x, edge_index) + self.embedding


ADJACENCY = np.eye(NODES)
EMBEDDING = np.random.default_rng(2).normal(size=(NODES, 3))


@pytest.mark.parametrize(
    "black_box",
    [
        WithBuffer(),
        lambda x, edge_index: ADJACENCY @ x,
        lambda x, edge_index: x + EMBEDDING,
    ],
    ids=["module", "adjacency", "embedding"],
)
def test_a_model_with_data_per_node_gets_a_suggestion(black_box):
    with pytest.raises(ModelError, match="data for each of the 40 nodes") as raised:
        explain(black_box)
    assert "a function of x alone" in str(raised.value)
    assert "nodes that selects the data" in str(raised.value)


def test_the_ways_out_work():
    module = WithBuffer().eval()

    @torch.no_grad()
    def whole(x):
        return module(torch.tensor(x), torch.tensor(RING))

    @torch.no_grad()
    def part(x, edge_index, nodes):
        hidden = module.layer(torch.tensor(x), torch.tensor(edge_index))
        return hidden + module.embedding[torch.tensor(nodes)]

    assert explain(whole) == explain(part)


def test_a_data_object_without_nodes_is_named():
    with pytest.raises(InputError, match="has no nodes"):
        PGMExplainer(WithBuffer(), HeteroData())


# --- numbers and texts ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "way_out"),
    [
        ({"change": "fall(0.1, 0.2)"}, "unknown change .*; choose one of: auto, large_fall"),
        ({"perturb_probability": "0.1"}, "such as 0.1.*not '0.1'; .*remove the quotes"),
        ({"significance": 5}, "significance must be a number between 0 and 1, such as 0.1"),
        ({"num_samples": 10**30}, "at most"),
        ({"progress": "yes"}, "progress must be True, False or None"),
        ({"class_names": {"a"}}, "a list of strings"),
    ],
    ids=str,
)
def test_an_unusable_value_is_an_error_with_a_suggestion(options, way_out):
    with pytest.raises(InputError, match=way_out):
        explain(**options)


@pytest.mark.parametrize("targets", [np.array(3), torch.tensor(3), HeteroData(), 3, None])
def test_one_target_is_no_list(targets):
    with pytest.raises(InputError, match=r"targets must be a list|cannot be read"):
        PGMExplainer(model, X, RING, num_layers=1).explain_many(targets)


@pytest.mark.parametrize(
    ("attribute", "value"),
    [("accepts_subgraph", np.ones(2)), ("latency_bound", "yes"), ("num_layers", "two")],
)
def test_a_predictor_with_invalid_declarations_is_named(attribute, value):
    class Own:
        accepts_subgraph = True

        def __call__(self, x, part, pairs=None):
            return model(x, part.edge_index)

    own = Own()
    setattr(own, attribute, value)
    with pytest.raises(InputError, match=attribute):
        PGMExplainer(own, X, RING)
