"""A model and its graph: which subgraph to query, what the scores are, how far predictions reach.

What kind of scores a model gives, and whether its predictions depend on more than ``num_layers``
hops, is found once, at a typical target that only the graph determines. It must not depend on what
is explained, or an explanation would depend on which other targets are explained with it.

The receptive field is checked by comparing the raw scores on a subgraph with those on a wider one:
on the features as they are, and on the first few samples. In the wider subgraph, every node that
should not matter is perturbed in each of them. On constant features alone there may be no
difference, for example if the model takes the mean over all nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import FloatArray, IntArray
from ..errors import ModelUnavailableError, PGMExplainerError
from ..graph import Graph, Subgraph
from ..predictors import Predictor
from ..variables import VariableId
from .subgraph_model import SubgraphModel, answers, differing, kind_of_scores
from .targets import explained_classes
from .tasks import Outputs, Task

__all__ = ["GraphModel", "Probes", "Query"]

Probes = Callable[[IntArray, NDArray[np.bool_]], FloatArray]
"""Of some nodes ``[n]``, perturbed features ``[probes, n, F]``; those marked, in each of them."""

_LOOKED_AT = 16


@dataclass(frozen=True)
class Query:
    """What samples are drawn for.

    Attributes:
        model: on the subgraph that it is queried on.
        recorded: the nodes whose variables are recorded, ascending.
        predictions: the variables of the recorded predictions, in the order of the model's outputs.
        classes: the class of each of them that is explained.
        targets: the predictions that are explained, whose values are recorded too.
        beyond: the predictions that depend on more than ``num_layers`` hops.
    """

    model: SubgraphModel
    recorded: IntArray
    predictions: Sequence[VariableId]
    classes: IntArray
    targets: Sequence[VariableId] = ()
    beyond: frozenset[VariableId] = frozenset()


@dataclass(frozen=True)
class _Region:
    """The receptive field of some predictions, and what to check it with.

    Attributes:
        targets, recorded: the predictions.
        subgraph: what they depend on according to ``num_layers``; or the whole graph.
        wider: a larger subgraph, on which they should be the same; None if there is none.
        outside: which nodes of ``wider`` should not matter.
    """

    targets: Sequence[VariableId]
    recorded: IntArray
    subgraph: Subgraph
    wider: Subgraph | None
    outside: NDArray[np.bool_]


@dataclass(frozen=True)
class GraphModel:
    """A model, and the graph and features that it is queried on.

    Attributes:
        x: the unperturbed features of all nodes.
        predicted: the nodes that have a prediction of their own.
        num_layers: how many hops predictions are said to depend on.
        probes: perturbed features to check that with.
        scores: what the model's scores are said to be; ``auto`` if that is to be found out.
        output: the score that is explained, if only one of several is.
        explained_class: the class that is explained, or one for each node; None for the predicted.
    """

    predictor: Predictor
    graph: Graph
    x: FloatArray
    task: Task
    predicted: range
    num_layers: int
    probes: Probes
    scores: str = "auto"
    output: int | None = None
    explained_class: Any = None

    def query(self, targets: Sequence[VariableId], candidates: IntArray) -> Query:
        """Choose the subgraph to query for some targets, and validate the model there.

        It is the receptive field of the targets and candidates; or the whole graph, where the
        model takes no subgraph or depends on more.

        Raises:
            ModelError: the model's answers cannot be used.
        """
        ends = [self.task.ends(target) for target in targets]
        recorded = np.union1d(candidates, np.concatenate(ends)).astype(np.int64)
        model, beyond = self._observe(targets, recorded)
        names = self.task.outputs(targets, recorded, model.subgraph)[1]
        classes = explained_classes(
            None if self.scores == "values" else self.explained_class,
            names,
            model.before,
            self.graph.num_nodes if self.task.name == "node" else None,
        )
        depend = frozenset(name for name, more in zip(names, beyond, strict=True) if more)
        return Query(model, recorded, names, classes, targets, depend)

    def beyond_warning(self, query: Query, variables: Iterable[VariableId]) -> tuple[str, ...]:
        """Return a warning if any of these predictions depends on more than ``num_layers`` hops."""
        if query.beyond.isdisjoint(variables):
            return ()
        return (
            f"the model sees further than num_layers={self.num_layers} steps (more layers, or "
            f"something that mixes all nodes), so it was asked about the whole graph; nodes "
            f"further away than that were not considered",
        )

    def _observe(
        self, targets: Sequence[VariableId], recorded: IntArray
    ) -> tuple[SubgraphModel, NDArray[np.bool_]]:
        """The model where it is queried, and which of the predictions depend on more hops."""
        kind, depends_on_more = self._traits
        if depends_on_more:
            model = self._model_on(self._whole(targets, recorded), kind)
            return model, np.ones(len(model.before), dtype=bool)
        region = self._region(targets, recorded)
        model = self._model_on(region, kind)
        beyond = self._beyond(region, model.probed)
        if beyond.any():
            model = self._model_on(self._whole(targets, recorded), kind)
        return model, beyond

    @cached_property
    def _traits(self) -> tuple[str, bool]:
        """The kind of scores, and whether predictions depend on more hops, in general.

        The kind is ``auto`` if the model fails at the typical target.
        """
        region = self._region(*self._typical)
        subgraph, outputs = region.subgraph, self._outputs(region, region.subgraph)
        answer, depends_on_more, kind = None, False, self.scores
        x = self.x[subgraph.nodes]
        try:
            if region.wider is not None:
                answer = np.array(
                    answers(self.predictor, subgraph, self._probed(subgraph), outputs)
                )
                depends_on_more = bool(self._beyond(region, outputs.take(answer)).any())
        except ModelUnavailableError:  # another query would only mean waiting again
            raise
        except PGMExplainerError:
            pass
        if kind != "auto":
            return kind, depends_on_more
        try:
            if answer is None:
                answer = np.array(answers(self.predictor, subgraph, x[None].copy(), outputs))
            kind = kind_of_scores(self.predictor, subgraph, x, outputs, self.output, answer[:1])
        except ModelUnavailableError:
            raise
        except PGMExplainerError:
            pass
        return kind, depends_on_more

    @cached_property
    def _typical(self) -> tuple[Sequence[VariableId], IntArray]:
        """A target by which to find out about the model, and the nodes it is about.

        Its node has middling degree: a large neighbourhood would take long, or be more than the
        model can bear. Of a few of them it is the first beyond whose neighbourhood the graph goes
        on, since only there a larger receptive field can show; else the first of all.
        """
        first, stop = self.predicted.start, self.predicted.stop
        degrees = self.graph.in_degrees[first:stop]
        connected = np.sort(degrees[degrees > 0])
        middling = connected[len(connected) // 2] if len(connected) else 0
        nodes = first + np.flatnonzero(degrees == middling)
        spread = nodes[:: -(-len(nodes) // _LOOKED_AT)].tolist()
        node = next(filter(self._goes_on, spread), spread[0])
        target = self.task.target_at(node, self.graph)
        return [target], np.unique(self.task.ends(target))

    def _goes_on(self, node: int) -> bool:
        """Say whether the graph goes on beyond the receptive field of this node."""
        narrow, wide = (self.graph.cut(np.array([node]), self.num_layers + k) for k in (0, 1))
        return len(narrow.edges) < len(wide.edges)

    def _region(self, targets: Sequence[VariableId], recorded: IntArray) -> _Region:
        """The receptive field of some predictions by ``num_layers``."""
        centre = self.task.centre(targets, recorded) if self.predictor.accepts_subgraph else None
        if centre is None:
            return self._whole(targets, recorded)
        subgraph = self.graph.cut(centre, self.num_layers)
        # One hop more, and a node from elsewhere: neither should make a difference.
        elsewhere = self.graph.outside(subgraph)
        wider = self.graph.cut(np.append(centre, elsewhere), self.num_layers + 1)
        outside = ~np.isin(wider.nodes, self.graph.within_hops(centre, self.num_layers))
        same = (len(wider.nodes), len(wider.edges)) == (len(subgraph.nodes), len(subgraph.edges))
        if same and not outside.any():
            return _Region(targets, recorded, subgraph, None, outside)
        return _Region(targets, recorded, subgraph, wider, outside)

    def _whole(self, targets: Sequence[VariableId], recorded: IntArray) -> _Region:
        return _Region(targets, recorded, self.graph.whole, None, np.empty(0, dtype=bool))

    def _beyond(self, region: _Region, narrow: FloatArray) -> NDArray[np.bool_]:
        """Say of each recorded prediction whether it depends on more than its receptive field.

        Args:
            narrow: the raw scores on the features as they are and on the probes.
        """
        if region.wider is None:
            return np.zeros(narrow.shape[1], dtype=bool)
        outputs = self._outputs(region, region.wider)
        probes = self._probed(region.wider, region.outside)
        wide = outputs.take(answers(self.predictor, region.wider, probes, outputs))
        return differing(narrow, wide)

    def _probed(self, subgraph: Subgraph, always: NDArray[np.bool_] | None = None) -> FloatArray:
        """The features of a subgraph as they are, and the probes."""
        nodes = subgraph.nodes
        marked = np.zeros(len(nodes), dtype=bool) if always is None else always
        return np.concatenate((self.x[nodes][None], self.probes(nodes, marked)))

    def _outputs(self, region: _Region, subgraph: Subgraph) -> Outputs:
        return self.task.outputs(region.targets, region.recorded, subgraph)[0]

    def _model_on(self, region: _Region, kind: str) -> SubgraphModel:
        """The model on the receptive field; queried on the probes too, if these are needed."""
        subgraph = region.subgraph
        return SubgraphModel.observe(
            self.predictor,
            subgraph,
            self.x[subgraph.nodes],
            self._outputs(region, subgraph),
            kind,
            self.output,
            None if region.wider is None else self._probed(subgraph)[1:],
        )
