"""A study of saved explanations of any kind: nodes, edges, features, groups or time steps.

Each arm is a file: explanations saved by this package, or a JSON object that maps each target to
the parts that another explainer found. All arms must explain the same predictions.
"""

from __future__ import annotations

import argparse
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

import networkx as nx

from pgm_explainer import Explanation, FileError, InputError, load_explanations

from ..checked import read_json
from ..scenes import GraphScene, ListScene, Scene
from ..study_file import Study
from .assembly import Case, assemble, free_parts, identifier
from .neighbourhoods import draw_graph

__all__ = ["saved_study"]

_SHOWN = 40
_LISTED = 20


def saved_study(arms: Sequence[str], options: argparse.Namespace) -> Study:
    """Return a study with an arm for each ``NAME=FILE``.

    The first file must hold explanations of this package, which also give the pictures. There are
    no forecasts, because these need the model, which is not in the files.

    Raises:
        InputError: an arm is not of this form, or has other targets than the first.
        FileError: a file cannot be read.
    """
    names, files = _parse(arms)
    first = load_explanations(files[0])[: options.items]
    found = [{_key(each): _parts(each) for each in first}]
    found += [_read(path, first) for path in files[1:]]
    cases = []
    for number, explanation in enumerate(first):
        highlights = {
            name: parts[_key(explanation)] for name, parts in zip(names, found, strict=True)
        }
        cases.append(_case(number, explanation, highlights, options.seed))
    things = {type(case.scene) for case in cases}
    if len(things) > 1:
        raise InputError("the explanations have parts of different kinds; make a study of each")
    return assemble(
        "Which parts matter to a model?",
        cases,
        names,
        options,
        things="parts",
        intro="A computer model makes predictions about networks of nodes that are joined by "
        "lines, or about lists of properties. You will see what the model says, with some parts "
        "highlighted, and rate how important they are.",
        change="this part is changed",
        notes=f"Made from {', '.join(Path(file).name for file in files)}.",
    )


def _parse(arms: Sequence[str]) -> tuple[dict[str, str], list[Path]]:
    names: dict[str, str] = {}
    files = []
    for arm in arms:
        name, equals, file = arm.partition("=")
        if not (name and equals and file) or identifier(name) in names:
            raise InputError(f"--arm should be NAME=FILE with different names, not {arm!r:.80}")
        names[identifier(name)] = name[:60]
        files.append(Path(file))
    if not files:
        raise InputError("a study of saved explanations needs --arm NAME=FILE at least once")
    return names, files


def _key(explanation: Explanation) -> str:
    """The prediction that is explained, as text: the same in every arm."""
    target: Any = explanation.target
    place = "" if explanation.position is None else f"{explanation.position}:"
    parts = target if isinstance(target, tuple) else (target,)
    return place + "-".join(map(str, parts))


def _label(explanation: Explanation, part: int) -> Hashable:
    return explanation.part_labels.get(part, part)


def _parts(explanation: Explanation) -> list[Hashable]:
    """The parts of an explanation, most important first: node numbers, or labels of other parts."""
    numbers = [explanation.names.index(name) for name in explanation.nodes]
    return [_label(explanation, number) for number in numbers]


def _read(path: Path, first: Sequence[Explanation]) -> dict[str, list[Hashable]]:
    """Return what an arm found for each prediction of the first arm."""
    document = read_json(path, "saved explanations, or an object from targets to lists of parts")
    if isinstance(document.value, dict) and "format" not in document.value:
        found = {
            target: [_hashable(part.value) for part in parts.items(1000)]
            for target, parts in document.entries()
        }
    else:
        found = {_key(each): _parts(each) for each in load_explanations(path)}
    missing = [_key(each) for each in first if _key(each) not in found]
    if missing:
        raise InputError(f"{path} does not explain {', '.join(missing[:3])}, as the first arm does")
    return found


def _hashable(value: Any) -> Hashable:
    if isinstance(value, list) and all(type(each) in (int, str) for each in value):
        return tuple(value)
    if type(value) in (int, str):
        return value
    raise FileError(f"a part should be a number, a string or a pair of these, not {value!r:.60}")


def _case(
    number: int, explanation: Explanation, found: dict[str, list[Hashable]], seed: int
) -> Case:
    needed = {part for parts in found.values() for part in parts}
    scene, places = _scene(explanation, needed, seed)
    strange = [part for part in needed if part not in places]
    if strange:
        raise InputError(
            f"{strange[0]!r} is not a part of the explanation of {_key(explanation)}; its parts "
            f"are, for example, {list(places)[:3]!r}"
        )
    highlights = {name: [places[part] for part in parts] for name, parts in found.items()}
    nodes = isinstance(scene, GraphScene) and scene.parts == "nodes"
    candidates = free_parts(scene) if nodes else range(scene.num_parts)  # type: ignore[arg-type]
    what = f"item-{number}-{identifier(_key(explanation))}"[:40]
    return Case(what, _caption(explanation), scene, highlights, candidates)


def _caption(explanation: Explanation) -> str:
    if explanation.explained_class is None:
        return "The model predicts a value."
    return f"The model says: {explanation.class_name(explanation.explained_class)}."[:300]


def _scene(
    explanation: Explanation, needed: set[Hashable], seed: int
) -> tuple[Scene, dict[Hashable, int]]:
    """Return the picture of a prediction, and the number of each part in it."""
    labels = explanation.part_labels
    pairs = [label for label in labels.values() if _is_edge(label)]
    if labels and len(pairs) < len(labels):
        return _list(explanation, needed)
    around = explanation.neighbourhood
    if around is None:
        return _list(explanation, needed)
    graph = nx.Graph()
    graph.add_nodes_from(around.nodes.tolist())
    edges = around.nodes[around.edge_index]
    graph.add_edges_from((u, v) for u, v in edges.T.tolist() if u != v)
    ends = explanation.ends.tolist()
    wanted = {node for part in needed for node in (part if isinstance(part, tuple) else (part,))}
    scene = draw_graph(_nearest(graph, ends, wanted), ends, seed)
    kept = sorted(_nearest(graph, ends, wanted).nodes)
    if not labels:
        return scene, {node: at for at, node in enumerate(kept)}
    drawn = [(kept[u], kept[v]) for u, v in scene.edges]
    places: dict[Hashable, int] = {}
    for at, (u, v) in enumerate(drawn):
        places[u, v] = places[v, u] = at
    return GraphScene(scene.positions, scene.edges, scene.labels, scene.targets, "edges"), places


def _is_edge(label: Any) -> bool:
    return isinstance(label, tuple) and len(label) == 2 and all(type(n) is int for n in label)


def _nearest(graph: nx.Graph, ends: list[int], wanted: set[Any]) -> nx.Graph:
    """Return the part of a graph that is drawn: what is needed, and the nodes nearest to it."""
    start = {node for node in (*ends, *wanted) if node in graph}
    apart = nx.multi_source_dijkstra_path_length(graph, start or set(list(graph)[:1]))
    near = sorted(graph, key=lambda node: (apart.get(node, len(graph)), node))
    return nx.Graph(graph.subgraph({*near[: max(_SHOWN, len(start))]}))


def _list(explanation: Explanation, needed: set[Hashable]) -> tuple[Scene, dict[Hashable, int]]:
    """Return a list of names: of the parts that an arm needs and of the first others."""
    every = {_label(explanation, part): part for part in sorted(explanation.ranking.nodes.tolist())}
    others = [label for label in every if label not in needed][: max(0, _LISTED - len(needed))]
    shown = [label for label in every if label in needed or label in others]
    names = tuple(str(explanation.names[every[label]])[:80] for label in shown)
    return ListScene(names), {label: at for at, label in enumerate(shown)}
