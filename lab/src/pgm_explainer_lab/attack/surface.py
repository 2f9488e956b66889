"""One valid call of everything that a user may call, with its arguments by name.

The attack replaces arguments by odd values. A test checks that no public name is missing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from torch_geometric.explain import Explainer

from pgm_explainer import (
    Absolute,
    BayesianNetwork,
    ChiSquareTest,
    DependencyNetwork,
    Deviation,
    Edges,
    Explanation,
    ExplanationDataset,
    Fall,
    Features,
    Groups,
    GTest,
    HttpPredictor,
    LargeFall,
    LargeMove,
    Levels,
    MarkovNetwork,
    PGMExplainer,
    ProcessEngine,
    RayEngine,
    SubgraphFunction,
    Time,
    TopDeviation,
    TopFraction,
    WholeGraphFunction,
    explain_dataset,
    explain_graphs,
    load_explanations,
    save_explanations,
    to_html,
)
from pgm_explainer.engines import as_engine
from pgm_explainer.io import explanation_from_dict, explanation_to_dict
from pgm_explainer.network import cpdag, equivalent
from pgm_explainer.predictors import as_predictor, is_torch_module
from pgm_explainer.pyg import PGMExplainerAlgorithm
from pgm_explainer.sampling import (
    CustomChange,
    CustomPerturbation,
    SamplingConfig,
    Variable,
    as_change,
    as_parts,
)
from pgm_explainer.selection import as_test
from pgm_explainer.structure import (
    DAG,
    BDeuScore,
    BDsScore,
    BootstrapSearch,
    Decomposable,
    GESSearch,
    HeldOutScore,
    MMHCSearch,
    Neighbourhood,
    OrderSearch,
    PCSearch,
    PenalisedLikelihood,
    UndirectedGraph,
    add_leaf,
    as_score,
    as_search,
    bic_score,
    decomposable_search,
    exact_search,
    ges,
    hill_climb,
    local_search,
    mmhc,
    neighbourhood_search,
    network_score,
    order_search,
    pc,
    search,
)

from .served import net
from .subjects import (
    QUICK,
    TARGETS,
    Module,
    OfGraph,
    OfKinds,
    arrays,
    exact_scores,
    explainers,
    explanations,
    graphs_of_nodes,
    hetero,
)

Call = tuple[Callable[..., Any], dict[str, Any]]


def explain(target: Any = 3, **options: Any) -> Explanation:
    """Make an explainer and explain one target."""
    return PGMExplainer(**options).explain(target)


def _algorithm(**options: Any) -> Any:
    graph = graphs_of_nodes()[0]
    algorithm = PGMExplainerAlgorithm(**options)
    config = {"mode": "multiclass_classification", "task_level": "node", "return_type": "raw"}
    made = Explainer(
        Module(),
        algorithm=algorithm,
        explanation_type="model",
        node_mask_type="object",
        edge_mask_type="object",
        model_config=config,
    )
    return made(graph.x, graph.edge_index, index=2)


def _valid(name: str, default: Any) -> Any:
    """Return a valid value of an option of the explainer."""
    known = {
        "names": [f"node {at}" for at in range(6)],
        "feature_names": ["a", "b", "c"],
        "features": [0, 1],
        "class_names": ["no", "yes"],
        "hops": 1,
        "output": None,
        "max_memory": "50MB",
        "samples_per_call": 7,
        "max_parents": 2,
        "smoothing": 0.5,
        "score": "bic",
        "num_samples": 30,
    }
    return known.get(name, default)


def constructors() -> Iterator[tuple[str, Call]]:
    """Yield the ways to make an explainer and explain."""
    of = arrays()
    parameters = inspect.signature(PGMExplainer).parameters.items()
    options = {
        name: _valid(name, each.default)
        for name, each in parameters
        if each.kind is each.KEYWORD_ONLY
    }
    given = {"x": of["x"], "edge_index": of["edges"], "target": 3, "num_layers": 1}
    yield "explain", (explain, {**options, "model": exact_scores(), **given})
    module = {"model": Module(), **given, "x": of["x"].astype("f4"), **QUICK}
    yield "explain a module", (explain, {**module, "inputs": {"edge_weight": np.ones(12, "f4")}})
    for parts in ("edges", "features", ["nodes", "edges"], {"a": [0, 1], "b": [2, 3]}):
        with_parts = {"model": net, **given, **QUICK, "parts": parts}
        yield f"explain parts {parts}", (explain, with_parts)
    kinds = {"model": OfKinds(), "x": hetero(), "target_type": "b", "target": 1, **QUICK}
    yield "explain kinds", (explain, {**kinds, "names": {"a": list("abcd"), "b": list("xyz")}})
    graphs = {
        "model": OfGraph(),
        "graphs": graphs_of_nodes(),
        "num_samples": 30,
        "scores": "logits",
    }
    more = {"with_features": False, "names": None, "parts": "nodes"}
    yield "explain graphs", (explain_graphs, {**graphs, **more})
    yield "PyG", (_algorithm, {"edges": None, "max_nodes": 3, **QUICK})


def of_explainers() -> Iterator[tuple[str, Call]]:
    """Yield the methods of explainers."""
    searching = {"probability": 0.5, "max_size": 2, "num_samples": 50, "max_queries": 500}
    for name, each in explainers().items():
        target, found = TARGETS.get(name, 1), explanations()[name]
        one: dict[str, Any] = {"target": target}
        yield f"{name}: explain", (each.explain, {**one, "with_features": False})
        many = {"targets": [target, target], "with_features": False}
        if target is not None:
            yield f"{name}: explain_many", (each.explain_many, many)
        for method in (each.candidates, each.predict, each.receptive_field):
            yield f"{name}: {method.__name__}", (method, one)
        yield f"{name}: samples", (each.samples, {"targets": [target]})
        about = {"explanation": found, **one}
        yield f"{name}: explain_features", (each.explain_features, about)
        options = {**about, **searching, "change": None}
        yield f"{name}: counterfactual", (each.counterfactual, options)
        yield f"{name}: sufficient", (each.sufficient, options)
        sure = {**about, "resamples": 3, "seed": 0}
        yield f"{name}: edge_confidence", (each.edge_confidence, sure)
        yield f"{name}: within", (each.within, {"execution": each.execution})


def of_explanations() -> Iterator[tuple[str, Call]]:
    """Yield the methods of explanations and the functions that take them."""
    templates = {"title": "Why {target}"}
    for name, each in explanations().items():
        first = each.nodes[0] if each.nodes else 0
        for ask in (each.query, each.support):
            yield f"{name}: {ask.__name__}", (ask, {"evidence": _evidence(each)})
        yield f"{name}: class_name", (each.class_name, {"number": 1})
        yield f"{name}: feature_name", (each.feature_name, {"column": 0, "node": first})
        yield f"{name}: named", (each.named, {"names": {0: "zero", 1: "one"}})
        if name in ("nodes", "graphs"):
            for kind in ("both", "network", "effects", "ranking", "neighbourhood"):
                yield (
                    f"{name}: plot {kind}",
                    (partial(_plotted, each), {"kind": kind, "figsize": (4, 3)}),
                )
        words = {"audience": "engineer", "templates": templates, "counterfactual": None}
        yield f"{name}: reason", (each.reason, words)
        for suffix in ("md", "html"):
            path = {"path": f"report-{name}.{suffix}"}
            yield f"{name}: report {suffix}", (each.report, {**path, **words})
        yield f"{name}: save", (each.save, {"path": "why.json"})
        yield f"{name}: to_html", (each.to_html, {"path": "why.html"})
        searcher = {"explainer": explainers()[name], "max_size": 2, "num_samples": 50}
        for method in (each.counterfactual, each.sufficient):
            yield f"{name}: .{method.__name__}", (method, searcher)
        with_one = {"counterfactual": True, "explainer": explainers()[name]}
        yield f"{name}: with_counterfactual", (each.with_counterfactual, with_one)
        sure = {"resamples": 3, "seed": 0, "explainer": explainers()[name]}
        yield f"{name}: with_edge_confidence", (each.with_edge_confidence, sure)
        document = explanation_to_dict(each)
        yield f"{name}: from_dict", (explanation_from_dict, {"document": document})
    found = list(explanations().values())
    yield "to_html", (to_html, {"explanations": found[:2], "path": "all.html"})
    yield "save_explanations", (save_explanations, {"path": "all.json", "explanations": found[:2]})
    save_explanations("saved.json", found[:2])
    yield "load_explanations", (load_explanations, {"path": "saved.json"})
    save_explanations("one.json", found[:1])
    yield "Explanation.load", (Explanation.load, {"path": "one.json"})
    yield "explanation_to_dict", (explanation_to_dict, {"explanation": found[0]})


def _evidence(found: Explanation) -> dict[Any, str]:
    """Return valid evidence on a node of the network."""
    assert found.network is not None
    first = found.network.nodes[0]
    return {first: found.network.variable(first).words[0]}


def _plotted(found: Explanation, /, kind: Any, **options: Any) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    try:
        found.plot(kind, **options)
    finally:
        plt.close("all")


def of_networks() -> Iterator[tuple[str, Call]]:
    """Yield networks and structure search."""
    of = arrays()
    network = explanations()["nodes"].network
    assert network is not None
    first, last = network.nodes[0], network.nodes[-1]
    variables, dag = [Variable(each, True, 1) for each in range(3)], DAG(3, [(0, 1)])
    fitted = BayesianNetwork.fit(variables, dag, of["data"])
    tables = [fitted.cpt(each) for each in range(3)]
    evidence = {first: "kept"}
    yield "network.query", (network.query, {"nodes": [last], "evidence": evidence})
    yield "network.probability", (network.probability, {"evidence": evidence})
    yield "network.sample", (network.sample, {"num_samples": 5, "seed": 1})
    yield "network.log_likelihood", (fitted.log_likelihood, {"codes": of["data"]})
    yield "network.renamed", (network.renamed, {"names": {first: "first"}})
    for name in ("parents", "children", "markov_blanket", "cpt", "variable"):
        yield f"network.{name}", (getattr(network, name), {"node": first})
    for suffix in ("bif", "xmlbif"):
        network.save(f"saved.{suffix}")
        yield f"network.save {suffix}", (network.save, {"path": f"network.{suffix}"})
        yield f"network.load {suffix}", (BayesianNetwork.load, {"path": f"saved.{suffix}"})
    parts = {"variables": variables, "dag": dag}
    yield "BayesianNetwork", (BayesianNetwork, {**parts, "tables": tables, "score": 0.0})
    fitting = {**parts, "codes": of["data"], "smoothing": 0.5, "score": "bic"}
    yield "BayesianNetwork.fit", (BayesianNetwork.fit, fitting)
    fitted_markov = MarkovNetwork.fit(variables, UndirectedGraph(3, ((0, 1),)), of["data"])
    learnt = DependencyNetwork.learn(variables, of["data"])
    for each in (fitted_markov, learnt):
        kind = type(each).__name__
        yield f"{kind}.query", (each.query, {"nodes": [2], "evidence": {0: "original"}})
        yield f"{kind}.sample", (each.sample, {"num_samples": 5, "seed": 1})
        yield f"{kind}.markov_blanket", (each.markov_blanket, {"node": 0})
        made = {"variables": variables, "tables": each.tables, "score": 0.0}
        yield kind, (type(each), made)
    graph = {"graph": UndirectedGraph(3, ((0, 1),)), "pairwise": False}
    scored = {"codes": of["data"], "smoothing": 0.5, "score": "bic"}
    yield "MarkovNetwork.fit", (MarkovNetwork.fit, {"variables": variables, **graph, **scored})
    learning = {"variables": variables, "form": "tree", "max_parents": 2, **scored}
    yield "DependencyNetwork.learn", (DependencyNetwork.learn, learning)
    yield "UndirectedGraph", (UndirectedGraph, {"num_variables": 3, "edges": [(0, 1)]})
    yield "network.with_tables", (network.with_tables, {"tables": network.tables})
    yield "network.samples_around", (network.samples_around, {"node": first})
    yield "Variable", (Variable, {"id": 0, "perturbable": True, "levels": 2})
    yield "Variable.matching", (Variable(0, True, 2).matching, {"known": "kept"})
    yield "DAG", (DAG, {"num_variables": 3, "edges": [(0, 1), (1, 2)]})
    yield "DAG.parents", (dag.parents, {"variable": 1})
    yield "cpdag", (cpdag, {"dag": dag})
    yield "equivalent", (equivalent, {"one": dag, "other": dag})
    yield "add_leaf", (add_leaf, {"dag": dag, "parents": [0, 1]})
    yield from _searches({"data": of["data"], "cardinalities": [2, 2, 2]})


def _searches(given: dict[str, Any]) -> Iterator[tuple[str, Call]]:
    limits = {"score": "bic", "max_parents": 2, "forbidden": [(0, 1)], "required": [(1, 2)]}
    climbing = {"tabu_length": 5, "patience": 3, "restarts": 1, "max_steps": 50, "seed": 0}
    yield "hill_climb", (hill_climb, {**given, **limits, **climbing})
    yield "exact_search", (exact_search, {**given, **limits})
    yield "search", (search, {**given, "score": "bic", "max_parents": 2})
    yield from _further_searches(given)
    yield "bic_score", (bic_score, {**given, "edges": [(0, 1)]})
    yield "network_score", (network_score, {**given, "edges": [(0, 1)], "score": "aic"})
    yield "as_score", (as_score, {"choice": "bic"})
    yield "as_search", (as_search, {"choice": "exact"})
    yield "BDeuScore", (BDeuScore, {"equivalent_samples": 5.0})
    yield "BDsScore", (BDsScore, {"equivalent_samples": 5.0})
    yield "HeldOutScore", (HeldOutScore, {"folds": 5, "equivalent_samples": 5.0})
    penalised = {"name": "mine", "per_parameter": 1.0, "per_log_n": 0.5}
    yield "PenalisedLikelihood", (PenalisedLikelihood, penalised)


def _further_searches(given: dict[str, Any]) -> Iterator[tuple[str, Call]]:
    tested = {"test": "g", "significance": 0.05, "max_condition": 2}
    ordered = {"beam": 3, "restarts": 2, "seed": 0}
    scored = {**given, "score": "bic"}
    yield "ges", (ges, scored)
    yield "pc", (pc, {**given, **tested})
    yield "mmhc", (mmhc, {**scored, **tested, "max_parents": 2})
    yield "order_search", (order_search, {**scored, **ordered, "max_parents": 2})
    yield "decomposable_search", (decomposable_search, {**scored, "max_clique": 2})
    near = {"significance": 0.01, "rule": "and"}
    yield "neighbourhood_search", (neighbourhood_search, {**given, **near})
    yield "local_search", (local_search, {**scored, "max_parents": 2})
    resampled = {"search": "auto", "resamples": 3, "threshold": 0.5, "seed": 0}
    objects: list[tuple[Callable[..., Any], dict[str, Any]]] = [
        (GESSearch, {}),
        (PCSearch, tested),
        (MMHCSearch, tested),
        (OrderSearch, ordered),
        (BootstrapSearch, resampled),
        (Decomposable, {"max_clique": 3}),
        (Neighbourhood, {**near, "pairwise": True}),
    ]
    for make, options in objects:
        if options:
            yield f"{make.__name__}", (make, options)


def of_settings() -> Iterator[tuple[str, Call]]:
    """Yield what is passed to an explainer: changes, parts, tests, predictors, engines."""
    given = {"model": net, "x": arrays()["x"], "edge_index": arrays()["edges"], **QUICK}

    def used(name: str, make: Callable[..., Any], more: dict[str, Any], /, **arguments: Any) -> Any:
        return explain(3, **{**given, **more, name: make(**arguments)})

    values, large = {"scores": "values", "output": 0}, {"share": 0.3, "most": 0.2, "noise": 1e-5}
    top = {"fraction": 0.3, "noise": 1e-5}
    falls = {"function": lambda before, after: after[..., 0] > 0, "levels": 2, "name": "mine"}
    noise = {"function": lambda x, rng: rng.permutation(x), "name": "mine"}
    made: tuple[tuple[str, type[Any], dict[str, Any], dict[str, Any]], ...] = (
        ("change", Fall, {}, {"threshold": 0.1}),
        ("change", Absolute, {}, {"threshold": 0.1}),
        ("change", Deviation, values, {"tolerance": 0.1}),
        ("change", TopDeviation, values, top),
        ("change", TopFraction, {}, top),
        ("change", LargeFall, {}, large),
        ("change", LargeMove, {}, large),
        ("change", Levels, {}, {"thresholds": (0.1, 0.3)}),
        ("change", CustomChange, {}, falls),
        ("perturbation", CustomPerturbation, {}, noise),
        ("parts", Edges, {}, {"how": "remove", "undirected": True}),
        ("parts", Features, {}, {"nodes": (3,)}),
        ("parts", Groups, {}, {"groups": {"a": [0, 1], "b": [2]}, "of": "nodes"}),
        ("parts", Time, {}, {"steps": 3, "per_node": False}),
        ("test", GTest, {}, {"name": "mine"}),
        ("test", ChiSquareTest, {}, {"name": "mine"}),
    )
    for name, make, more, arguments in made:
        yield make.__name__, (partial(used, name, make, more), arguments)
    for function, choice in ((as_change, "auto"), (as_parts, "edges"), (as_test, "g")):
        yield function.__name__, (function, {"choice": choice})
    config = {"num_samples": 30, "perturb_probability": 0.2, "features": [0], "seed": 1}
    yield "SamplingConfig", (SamplingConfig, config)
    yield from _predictors(used)


def _predictors(used: Callable[..., Any]) -> Iterator[tuple[str, Call]]:
    both = {"function": net, "accepts_subgraph": True}
    arguments = {**both, "arguments": ("edge_index",)}
    yield "SubgraphFunction", (partial(used, "model", SubgraphFunction, {}), arguments)
    whole = {"function": lambda x: net(x, arrays()["edges"]), "accepts_subgraph": False}
    yield "WholeGraphFunction", (partial(used, "model", WholeGraphFunction, {}), whole)
    server = {"url": "http://127.0.0.1:9", "timeout": 0.1, "deadline": 0.2, "retries": 0}
    more = {"backoff": 0.01, "headers": {"X-Key": "a"}, "send_graph": False, "max_answer": 1000}
    yield "HttpPredictor", (partial(used, "model", HttpPredictor, {}), {**server, **more})
    yield "as_predictor", (as_predictor, {"model": net, "task": "node", "inputs": None})
    yield "is_torch_module", (is_torch_module, {"model": net})
    yield "ProcessEngine", (ProcessEngine, {"workers": 2})
    yield "RayEngine", (RayEngine, {"workers": 2, "address": None, "gpus": 0})
    yield "as_engine", (as_engine, {"choice": "local"})


def of_data_sets() -> Iterator[tuple[str, Call]]:
    """Yield data sets: made, read and shown."""
    explainer = explainers()["nodes"]
    data = explain_dataset(explainer, [0, 1, 2], "data set", shard_size=2)
    storing = {
        "shard_size": 2,
        "keep_candidates": 2,
        "with_features": False,
        "names": list("abcdef"),
    }
    running = {"engine": "local", "retry_failed": False, "progress": False}
    given = {"explainer": explainer, "targets": [0, 1, 2]}
    yield "explain_dataset", (_made_anew, {**given, **storing, **running})
    yield "ExplanationDataset", (ExplanationDataset, {"folder": "data set"})
    yield "data[target]", (data.__getitem__, {"target": 1})
    yield "data.called", (data.called, {"target": 1})
    yield "data.class_name", (data.class_name, {"number": 1})
    yield "data.overview", (data.overview, {"top": 3})
    for method in (data.to_pandas, data.rows, data.tables):
        yield f"data.{method.__name__}", (partial(_listed, method), {"columns": ["target"]})
    yield "data.table", (data.table, {"entry": data.entries[0], "columns": ["target"]})


def _listed(method: Callable[..., Any], /, columns: Any) -> Any:
    answer = method(columns)
    return answer if hasattr(answer, "columns") else list(answer)


_numbers = iter(range(10**9))


def _made_anew(**arguments: Any) -> ExplanationDataset:
    return explain_dataset(folder=Path(f"new {next(_numbers)}"), **arguments)


GROUPS: dict[str, Callable[[], Iterator[tuple[str, Call]]]] = {
    "constructors": constructors,
    "explainers": of_explainers,
    "explanations": of_explanations,
    "networks": of_networks,
    "settings": of_settings,
    "data sets": of_data_sets,
}


@cache
def surface() -> dict[str, dict[str, Call]]:
    """Return all calls, in groups; made once in a process, in its working folder."""
    return {name: dict(made()) for name, made in GROUPS.items()}
