"""Valid calls with odd options, compared with a result that was computed in another way."""

from __future__ import annotations

import itertools
import json
import math
import random
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgm_explainer import (
    BayesianNetwork,
    Explanation,
    PGMExplainer,
    PGMExplainerError,
    explain_dataset,
    explain_graphs,
)
from pgm_explainer.io import explanation_to_dict
from pgm_explainer.structure import DAG, exact_search, hill_climb, network_score

from . import commands
from .worlds import World

_CLOSE = 1e-9
_EXACT = ("zero", "max", "min", "permute")
"""Perturbations that give whole numbers, on which the models are exact."""


def attack(chance: random.Random) -> str | None:
    """Make a random problem and check one guarantee on it; options may be rejected."""
    way = chance.choice(_WAYS)
    try:
        what = way(World(chance))
    except PGMExplainerError as error:
        return None if str(error) else f"{way.__name__}: an error without a message"
    return what and f"{way.__name__}: {what}"


def _as_text(explanation: Explanation) -> str:
    """Return the contents of an explanation as text."""
    document = explanation_to_dict(explanation)
    return json.dumps(document, sort_keys=True)


def _same(world: World, one: Explanation, other: Explanation, what: str) -> str | None:
    """Compare two explanations: bit by bit, or up to rounding if new features are not whole."""
    first, second = explanation_to_dict(one), explanation_to_dict(other)
    far = 0.0 if world.options.get("perturbation") in _EXACT else 1e-9
    differing = [name for name in first if not _equal(first[name], second.get(name), far)]
    return f"{what}: {', '.join(differing)} differ" if differing else None


def _equal(one: Any, other: Any, far: float) -> bool:
    """Return whether two JSON values are equal, numbers up to a relative distance."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(one[k], other[k], far) for k in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal, one, other, [far] * len(one)))
    if isinstance(one, float) and isinstance(other, float) and far:
        return math.isclose(one, other, rel_tol=far, abs_tol=far)
    return json.dumps(one) == json.dumps(other)


def _repeated(world: World) -> str | None:
    """The same call again, and in threads."""
    target = world.target()
    explainer = world.explainer()
    one = explainer.explain(target)
    again = world.explainer().explain(target)
    with ThreadPoolExecutor(2) as pool:
        in_threads = list(pool.map(explainer.explain, [target, target]))
    wrong = (_same(world, one, each, f"explain({target}) again") for each in (again, *in_threads))
    return next(filter(None, wrong), None)


def _with_others(world: World) -> str | None:
    """A target alone and among others, with little memory and small batches."""
    if world.task == "graph":
        return _repeated(world)
    targets = [world.target() for _ in range(world.chance.randint(1, 6))]
    small = {"max_memory": "1MB", "samples_per_call": world.chance.choice((1, 3, 50))}
    together = world.explainer(**small).explain_many(targets)
    explainer = world.explainer()
    for target, found in zip(targets, together, strict=True):
        what = _same(world, explainer.explain(target), found, f"{target} alone and among {targets}")
        if what:
            return what
    return None


def _joint(network: BayesianNetwork) -> NDArray[np.float64]:
    """Return the joint table of a network by multiplying its tables; axes as its nodes."""
    letters = {node: at for at, node in enumerate(network.nodes)}
    operands: list[Any] = []
    for node in network.nodes:
        table = network.cpt(node)
        axes = [letters[each.id] for each in table.parents] + [letters[node]]
        operands += [np.asarray(table.values, dtype=float), axes]
    return np.einsum(*operands, list(range(len(network.nodes))))


def _queries(world: World) -> str | None:
    """Queries against the joint table."""
    network = world.explainer().explain(world.target()).network
    if not isinstance(network, BayesianNetwork):
        return None
    joint = _joint(network)
    chance, nodes = world.chance, network.nodes
    given = chance.sample(nodes, chance.randint(0, len(nodes) - 1))
    queried = chance.choice([each for each in nodes if each not in given])
    evidence = {each: chance.randrange(network.variable(each).cardinality) for each in given}
    index = tuple(evidence.get(each, slice(None)) for each in nodes)
    rest = [each for each in nodes if each not in evidence]
    table = joint[index].sum(axis=tuple(at for at, each in enumerate(rest) if each != queried))
    total = joint[index].sum()
    if abs(network.probability(evidence) - total) > _CLOSE:
        return f"probability({evidence}) is {network.probability(evidence)}, not {total}"
    try:
        answer = network.query(queried, evidence)
    except PGMExplainerError:
        return None if total < _CLOSE else f"query({queried}, {evidence}) is refused"
    if total < 1e-12 or np.abs(answer - table / total).max() < 1e-6:
        return None
    return f"query({queried}, {evidence}) is {answer}, not {table / total}"


def _saved(world: World) -> str | None:
    """Saved and loaded again, as JSON and as a network file."""
    found = world.explainer().explain(world.target())
    found.save("valid.json")
    loaded = Explanation.load("valid.json")
    if loaded != found or _as_text(loaded) != _as_text(found):
        return "a loaded explanation differs"
    if found.network is None:
        return None
    for suffix in ("bif", "xmlbif"):
        path = f"valid.{suffix}"
        found.network.save(path)
        again = BayesianNetwork.load(path)
        for one, other in zip(found.network.nodes, again.nodes, strict=True):
            before, after = found.network.query(one), again.query(other)
            if np.abs(before - after).max() > 1e-6:
                return f"{suffix}: P({one}) is {after}, not {before}"
    return None


def _data_set(world: World) -> str | None:
    """A data set, whose rows are the explanations of its targets alone."""
    folder = Path("valid data set")
    explainer = world.explainer()
    try:
        count = len(world.x)
        targets = None if world.task != "edge" else [(0, count - 1), (count - 1, 0)]
        if world.task == "graph":
            return None
        size = world.chance.randint(1, 4)
        data = explain_dataset(
            explainer, targets, folder, shard_size=size, keep_candidates=10_000, progress=False
        )
        for target in data.failures():
            with suppress(PGMExplainerError):
                explainer.explain(target)
                return f"{target} failed, but not alone: {data.failures()[target]}"
        for each in data:
            alone = explainer.explain(each.target)
            if alone.nodes != each.nodes or alone.held != each.held:
                return f"row {each.target} has nodes {each.nodes}, alone {alone.nodes}"
            if alone.network is not None and alone.query() != each.query():
                return f"row {each.target}: {each.query()}, alone {alone.query()}"
        return None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _graphs(world: World) -> str | None:
    """Many graphs at once, and each of them alone."""
    of_nodes = world.model
    if world.task == "edge":
        return None

    def model(x: Any, edge_index: Any) -> Any:
        scores = of_nodes(x, edge_index)
        return scores if world.task == "graph" else scores[:, 0]

    options = {
        name: value
        for name, value in world.options.items()
        if name in ("num_samples", "perturb_probability", "seed", "perturbation", "change", "test")
    }
    graphs = [(world.x, world.edges), (world.x[::-1].copy(), world.edges), (world.x, world.edges)]
    together = explain_graphs(model, graphs, **options)
    alone = [explain_graphs(model, [each], **options)[0] for each in graphs]
    if len(together) != 3:
        return f"{len(together)} explanations of 3 graphs"
    for at, (one, other) in enumerate(zip(together, alone, strict=True)):
        if one.values != other.values:
            return f"graph {at}: values {one.values}, alone {other.values}"
    for one, two in zip(together, together[2:], strict=False):
        if one.values != two.values:
            return "equal graphs have different predictions"
    return None


def _smallest(world: World) -> str | None:
    """The smallest change, tried on the model itself: nodes are set to zero."""
    if world.task != "node":
        return None
    options = {"parts": "nodes", "perturbation": "zero", "features": None, "change": "flip"}
    explainer = world.explainer(**options, hops=None, names=None, own_predictions=True)
    target = world.target()
    found = explainer.explain(target)
    try:
        changed: set[int] | None = set(found.counterfactual(explainer, probability=1.0).parts)  # type: ignore[arg-type]
    except PGMExplainerError:
        changed = None
    parts = explainer.candidates(target).tolist()

    def flips(nodes: Any) -> bool:
        x = world.x.copy()
        x[list(nodes)] = 0
        scores = world.model(np.stack((world.x, x)), world.edges)[:, target]
        return bool(scores[0].argmax() != scores[1].argmax())

    scores = world.model(world.x[None], world.edges)[0, target]
    if (scores == scores.max()).sum() > 1:
        return None  # a tie
    if changed is not None and not flips(changed):
        return f"setting {changed} to zero does not change the class of {target}"
    smaller = range(1, min(3, len(changed) if changed is not None else 3))
    for size in smaller:
        for each in itertools.combinations(parts, size):
            if flips(each):
                return f"setting {each} to zero changes the class of {target}, found: {changed}"
    return None


def _written(world: World) -> str | None:
    """Everything that an explanation can be turned into."""
    explainer = world.explainer()
    found = explainer.explain(world.target())
    str(found)
    found.to_pandas()
    page = str(found.to_html())
    if "<script" not in page or "</html>" not in page:
        return "the page is not whole"
    for audience in ("manager", "engineer"):
        if not found.reason(audience).strip():
            return "the reason is empty"
    found.report("valid.md")
    found.report("valid.html")
    if found.network is not None:
        found.network.to_dot()
    return None


def _searches(world: World) -> str | None:
    """No search beats the exact one, and no random network does."""
    chance = world.chance
    rng = np.random.default_rng(chance.getrandbits(32))
    count, cards = chance.randint(1, 6), [chance.randint(1, 4) for _ in range(6)]
    data = np.stack([rng.integers(0, cards[at], 50) for at in range(count)], axis=1)
    if count > 1:
        data[:, 1] = np.minimum(data[:, 0], cards[1] - 1)
    cards = cards[:count]
    score = chance.choice(("bic", "aic", "bdeu"))
    limit = chance.choice((None, 1, 2))
    best = network_score(
        data, cards, exact_search(data, cards, score=score, max_parents=limit).edges, score
    )
    climbed = hill_climb(
        data, cards, score=score, max_parents=limit, restarts=chance.choice((0, 2))
    )
    order = chance.sample(range(count), count)
    edges = [pair for pair in itertools.combinations(order, 2) if chance.random() < 0.3]
    if (
        limit is None
        or max(map(len, map(DAG(count, edges).parents, range(count))), default=0) <= limit
    ):
        other = network_score(data, cards, edges, score)
        if other > best + 1e-6:
            return f"{edges} scores {other}, exact search {best}"
    if network_score(data, cards, climbed.edges, score) > best + 1e-6:
        return "hill climbing beats exact search"
    return None


def _command(world: World) -> str | None:
    """The command line gives the answer of the library."""
    from .served import net

    x = np.resize(world.x, (len(world.x), 2))
    np.savez("valid.npz", x=x, edge_index=world.edges)
    target = world.chance.randrange(len(x))
    samples = world.options["num_samples"]
    words = ["--num-samples", str(samples), "--num-layers", "1", "--target", str(target), "--json"]
    model = f"{__package__}.served:net"
    code, out, err = commands.run(["explain", "--model", model, "--graph", "valid.npz", *words])
    if code:
        return f"exit code {code}: {err}"
    found = PGMExplainer(net, x, world.edges, num_samples=samples, num_layers=1).explain(target)
    printed = json.loads(out)
    printed = printed[0] if isinstance(printed, list) else printed
    expected = json.loads(_as_text(found))
    differing = [name for name in expected if printed.get(name) != expected[name]]
    return f"the command line differs in {differing}" if differing else None


_WAYS: tuple[Callable[[World], str | None], ...] = (
    *(
        _repeated,
        _with_others,
        _with_others,
        _queries,
        _queries,
        _saved,
        _data_set,
        _graphs,
        _smallest,
    ),
    *(_smallest, _written, _searches, _command),
)
