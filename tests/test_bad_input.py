"""Whatever is wrong with an argument, the error is the package's own and names the value."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from pgm_explainer import InputError, ModelError, PGMExplainer, PGMExplainerError
from pgm_explainer.predictors import WholeGraphFunction
from pgm_explainer.sampling import Fall
from pgm_explainer.selection import ChiSquareTest

X = np.eye(4)
EDGES = np.array([[0, 1, 2], [1, 2, 3]])


def model(x):
    return x @ np.ones((4, 2))


def with_value(value):
    x = X.copy()
    x[2, 1] = value
    return x


class Misshapen:
    name = "misshapen"

    def __call__(self, population, draws):
        return np.ones(3)


class NotFinite:
    name = "not_finite"

    def __call__(self, population, draws):
        return np.full(4, np.nan)


BAD_ARGUMENTS = [
    ("model", None, "None"),
    ("model", "gnn", "'gnn'"),
    ("model", X, "array("),
    ("model", Misshapen, "the class Misshapen"),
    ("model", WholeGraphFunction, "the class WholeGraphFunction"),
    ("inputs", {"edge_weight": np.ones(3)}, "edge_weight"),
    ("inputs", 3, "3"),
    ("target_type", "author", "target_type"),
    ("x", None, "x must hold real numbers"),
    ("x", "features", "<U8"),
    ("x", 1.0, "()"),
    ("x", np.ones(4), "(4,)"),
    ("x", np.ones((1, 4, 4)), "(1, 4, 4)"),
    ("x", np.ones((0, 4)), "(0, 4)"),
    ("x", [[1, 2], [3]], "x cannot be read"),
    ("x", X * 1j, "complex128"),
    ("x", with_value(np.nan), "x[2, 1] is nan"),
    ("x", with_value(-np.inf), "x[2, 1] is -inf"),
    ("x", torch.tensor(with_value(np.inf)), "x[2, 1] is inf"),
    ("x", {"a": 1}, "object"),
    ("edge_index", None, "edge_index is missing"),
    ("edge_index", EDGES.T, "(3, 2)"),
    ("edge_index", EDGES[0], "(3,)"),
    ("edge_index", EDGES + 0.5, "float64"),
    ("edge_index", [[0], [4]], "node 4"),
    ("edge_index", [[-1], [0]], "node -1"),
    ("edge_index", [["a"], ["b"]], "<U1"),
    ("edge_index", [[0, 1], [1]], "edge_index cannot be read"),
    ("task", "link", "'link'"),
    ("task", "", "''"),
    ("task", None, "None"),
    ("task", {}, "{}"),
    ("num_layers", -1, "-1"),
    ("num_layers", 1.5, "1.5"),
    ("num_layers", "three", "'three'"),
    ("hops", 0, "0"),
    ("hops", 1.5, "1.5"),
    ("hops", "two", "'two'"),
    ("num_samples", 0, "0"),
    ("num_samples", 10, "num_samples=10"),
    ("num_samples", 1e3, "1000.0"),
    ("num_samples", None, "None"),
    ("perturbation", "noise", "'noise'"),
    ("perturbation", "", "''"),
    ("perturbation", None, "None"),
    ("perturbation", 0.5, "0.5"),
    ("perturbation", Misshapen(), "misshapen"),
    ("perturbation", NotFinite(), "not_finite"),
    ("perturbation", lambda x, rng: x[:2], "(2, 4)"),
    ("perturbation", lambda x, rng: x * np.nan, "NaN"),
    ("perturbation", lambda x, rng: x, "changes no feature"),
    ("perturbation", lambda x, rng: "zeros", "<U5"),
    ("perturb_probability", 0.0, "0.0"),
    ("perturb_probability", 1, "1"),
    ("perturb_probability", 1.5, "1.5"),
    ("perturb_probability", float("nan"), "nan"),
    ("perturb_probability", "half", "'half'"),
    ("perturb_probability", np.array([0.1, 0.2]), "0.2"),
    ("features", [], "[]"),
    ("features", [4], "[4]"),
    ("features", [-1], "[-1]"),
    ("features", [0.5], "[0.5]"),
    ("features", "intensity", "'intensity' are given by name"),
    ("features", [True, False, False, False], "True"),
    ("change", "drop", "'drop'"),
    ("change", None, "None"),
    ("change", 1.5, "1.5"),
    ("change", Fall, "Fall"),
    ("change", lambda before, after: after, "(1000, 4, 2)"),
    ("change", lambda before, after: np.full(after.shape[:2], 7), "7"),
    ("change", lambda before, after: "changed", "<U7"),
    ("scores", "odds", "'odds'"),
    ("scores", 1, "1"),
    ("scores", "probabilities", "probabilities"),
    ("output", -1, "-1"),
    ("output", 2, "output=2"),
    ("output", 0.5, "0.5"),
    ("output", "first", "'first'"),
    ("explained_class", 2, "2"),
    ("explained_class", -1, "-1"),
    ("explained_class", 1.0, "1.0"),
    ("explained_class", True, "True"),
    ("explained_class", "one", "is a name, but the classes have none"),
    ("explained_class", [0, 1], "(2,)"),
    ("explained_class", [0, 1, 0, 2], "[0, 1, 0, 2]"),
    ("explained_class", [[0, 1, 0, 1]], "(1, 4)"),
    ("test", "fisher", "'fisher'"),
    ("test", None, "None"),
    ("test", ChiSquareTest, "ChiSquareTest"),
    ("significance", 0, "0"),
    ("significance", 1.0, "1.0"),
    ("significance", "5%", "'5%'"),
    ("correction", "holm", "'holm'"),
    ("correction", None, "None"),
    ("max_nodes", 0, "0"),
    ("max_nodes", -3, "-3"),
    ("max_nodes", 2.5, "2.5"),
    ("only_significant", "no", "'no'"),
    ("target_table", "size", "'size'"),
    ("no_child", "never", "never"),
    ("structure", "annealing", "'annealing'"),
    ("structure", 3, "3"),
    ("score", "k2", "'k2'"),
    ("score", 1.5, "1.5"),
    ("max_parents", 0, "0"),
    ("max_parents", "two", "'two'"),
    ("smoothing", -0.5, "-0.5"),
    ("smoothing", float("nan"), "nan"),
    ("smoothing", "laplace", "'laplace'"),
    ("seed", -1, "-1"),
    ("seed", 0.5, "0.5"),
    ("seed", np.random.default_rng(0), "Generator"),
    ("max_memory", "plenty", "'plenty'"),
    ("max_memory", -1, "-1"),
    ("samples_per_call", 0, "0"),
    ("samples_per_call", 2.5, "2.5"),
]


@pytest.mark.parametrize(
    ("argument", "value", "named"),
    BAD_ARGUMENTS,
    ids=[f"{argument}-{named}" for argument, _, named in BAD_ARGUMENTS],
)
def test_a_bad_argument_is_named(argument, value, named):
    arguments = {"model": model, "x": X, "edge_index": EDGES, "num_layers": 3, argument: value}
    with pytest.raises(PGMExplainerError) as error:
        PGMExplainer(**arguments).explain(3)
    assert named in str(error.value)


def test_an_option_that_does_not_exist_is_refused():
    with pytest.raises(TypeError, match="num_sample"):
        PGMExplainer(model, X, EDGES, num_sample=100)


BAD_TARGETS = [
    (None, "target"),
    (4, "target 4"),
    (-1, "-1"),
    (1.0, "1.0"),
    ("1", "'1'"),
    (True, "True"),
    ([1, 2], "[1, 2]"),
    (np.array([1, 2]), "[1, 2]"),
    (torch.tensor([1, 2]), "[1, 2]"),
    (np.array([1.5, 2.5]), "1.5"),
    (float("nan"), "nan"),
    ("graph", "'graph'"),
]


@pytest.mark.parametrize(("target", "named"), BAD_TARGETS, ids=[str(t) for t, _ in BAD_TARGETS])
def test_a_bad_target_is_named(target, named):
    with pytest.raises(PGMExplainerError) as error:
        PGMExplainer(model, X, EDGES).explain(target)
    assert named in str(error.value)


@pytest.mark.parametrize(
    ("targets", "named"),
    [
        (3, "3"),
        (None, "None"),
        ("13", "'1'"),
        ([1, 4], "target 4"),
        ([1, None], "target"),
        ([1, 2.0], "2.0"),
        ([[1], [2]], "[1]"),
        ([np.array([1, 2])], "[1, 2]"),
        (np.array([0.5]), "0.5"),
        (np.array([True, False, True]), "True"),
        (np.array(["a"]), "<U1"),
    ],
)
def test_bad_targets_are_named(targets, named):
    with pytest.raises(PGMExplainerError) as error:
        PGMExplainer(model, X, EDGES).explain_many(targets)
    assert named in str(error.value)


@pytest.mark.parametrize("target", [0, "graph", [1], np.array([1, 2])], ids=str)
def test_a_graph_task_takes_no_target(target):
    explainer = PGMExplainer(lambda x: model(x).sum(axis=1), X, EDGES, task="graph")
    with pytest.raises(PGMExplainerError, match="without a target") as error:
        explainer.explain(target)
    assert repr(target) in str(error.value)


def pair_model(x, pairs):
    return x[:, pairs[0], :2] + x[:, pairs[1], 2:]


BAD_PAIRS = [
    (None, "explain((u, v))"),
    (1, "1"),
    ((1,), "(1,)"),
    ((1, 2, 3), "(1, 2, 3)"),
    ([[0, 1], [2, 3]], "[0, 1]"),
    ((0, 4), "target 4"),
    ((-1, 0), "-1"),
    ((0.5, 1), "0.5"),
    ((0.0, 1.0), "0.0"),
    ("ab", "'a'"),
    ((True, False), "True"),
    (({}, 1), "{}"),
    (torch.tensor([1, 9]), "target 9"),
]


@pytest.mark.parametrize(("target", "named"), BAD_PAIRS, ids=[str(t) for t, _ in BAD_PAIRS])
def test_a_bad_pair_is_named(target, named):
    explainer = PGMExplainer(pair_model, X, EDGES, task="edge")
    with pytest.raises(PGMExplainerError) as error:
        explainer.explain(target)
    assert named in str(error.value)
    with pytest.raises(PGMExplainerError):
        explainer.explain_many([(0, 1), target])


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        (lambda x, pairs: x, "[1, 1, classes]"),
        (lambda x, pairs: x[:, pairs[0], 0], "[1, 1, classes]"),
        (lambda x, pairs: pair_model(x, pairs) * np.nan, "nan"),
    ],
    ids=["nodes", "no classes", "nan"],
)
def test_a_model_that_answers_badly_about_pairs_is_an_error(answer, named):
    with pytest.raises(PGMExplainerError) as error:
        PGMExplainer(answer, X, EDGES, task="edge").explain((0, 1))
    assert named in str(error.value)


@pytest.mark.parametrize("task", ["edge", "graph"])
def test_only_a_node_task_has_a_class_for_each_node(task):
    def model(x, pairs=None):
        return x.sum(axis=1) if pairs is None else pair_model(x, pairs)

    explainer = PGMExplainer(model, X, EDGES, task=task, explained_class=[0, 1, 0, 1])
    with pytest.raises(PGMExplainerError, match=r"one class, or in a node task.*\(4,\)"):
        explainer.explain((0, 1) if task == "edge" else None)


@pytest.mark.parametrize(
    "change", ["large_fall", "large_move", "fall", "flip", "levels", "absolute", "top_fraction"]
)
def test_values_have_no_changes_of_probabilities(change):
    with pytest.raises(PGMExplainerError, match=f"'{change}' applies to probabilities.*Deviation"):
        PGMExplainer(model, X, EDGES, scores="values", change=change)


def test_a_graph_task_has_no_many():
    explainer = PGMExplainer(lambda x: model(x).sum(axis=1), X, EDGES, task="graph")
    with pytest.raises(PGMExplainerError, match=r"explain\(\)"):
        explainer.explain_many([0])


BAD_MODELS = [
    (lambda x: x[0], "[4, 4]"),
    (lambda x: x[:, :2], "[1, 2, 4]"),
    (lambda x: x.sum(axis=1), "[1, 4]"),
    (lambda x: 1, "[]"),
    (lambda x: None, "object"),
    (lambda x: ["class"] * len(x), "<U5"),
    (lambda x: x * 1j, "complex128"),
    (lambda x: x * np.nan, "nan"),
    (lambda x: np.where(x == 1, np.inf, x), "inf"),
    (lambda x: np.where((x == X).all(axis=(1, 2), keepdims=True), x, np.nan), "nan"),
    (lambda x: np.random.default_rng().normal(size=x.shape), "dropout"),
    (lambda x: x if len(x) < 4 else x[:3], "[3, 4, 4]"),
    (lambda x: x[..., :3] if len(x) < 4 else x[..., :2], "2 classes"),
]


@pytest.mark.parametrize(("bad", "named"), BAD_MODELS, ids=[named for _, named in BAD_MODELS])
def test_a_model_that_answers_badly_is_an_error(bad, named):
    with pytest.raises(PGMExplainerError) as error:
        PGMExplainer(bad, X, EDGES).explain(3)
    assert named in str(error.value)


def test_an_error_inside_the_model_is_reported_with_its_cause():
    def broken(x):
        raise KeyError("weights")

    with pytest.raises(ModelError, match=r"shape \[1, 4, 4\]: KeyError: 'weights'") as error:
        PGMExplainer(broken, X, EDGES).explain(3)
    assert isinstance(error.value.__cause__, KeyError)


@pytest.mark.parametrize("targets", [[], 5])
def test_samples_without_targets_are_refused(on_a_path, targets):
    with pytest.raises(InputError, match="targets"):
        on_a_path().samples(targets)
