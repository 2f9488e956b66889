"""A model and its graph: the subgraph to query, the kind of scores, the receptive field.

The receptive field of a prediction is the set of nodes that it depends on. Two traits of the model
are determined only once: the kind of its scores, and whether predictions depend on more than
``num_layers`` hops. This is done at a typical target, which is chosen by the graph alone. Otherwise
an explanation would depend on which other targets are explained with it.

To check the receptive field, the raw scores on a subgraph are compared with those on a wider one,
for the unperturbed features and for a few samples, the probes. In the wider subgraph, every node
outside the receptive field is perturbed in all probes. Unperturbed features alone are not enough:
if they are constant and the model takes the mean over all nodes, both subgraphs have equal scores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from .tasks import Outputs, Task, explained_classes

__all__ = ["GraphModel", "Probes", "Query"]

Probes = Callable[[IntArray, NDArray[np.bool_]], FloatArray]
"""A function of nodes ``[n]`` and marks ``[n]`` that returns perturbed features ``[probes, n, F]``.
Marked nodes are perturbed in all probes."""

_TRIED_NODES = 16


@dataclass(frozen=True)
class Query:
    """The predictions to record while sampling, and the model that makes them.

    Attributes:
        model: the model on the queried subgraph.
        recorded: the nodes whose variables are recorded, ascending.
        predictions: the variables of the recorded predictions, in the order of the model's outputs.
        classes: the explained class of each prediction.
        targets: the explained predictions; their probabilities or values are recorded too.
        exceeding: the predictions that depend on more than ``num_layers`` hops.
    """

    model: SubgraphModel
    recorded: IntArray
    predictions: Sequence[VariableId]
    classes: IntArray
    targets: Sequence[VariableId] = ()
    exceeding: frozenset[VariableId] = frozenset()


@dataclass(frozen=True)
class _Region:
    """The receptive field of some predictions, and a wider subgraph to check it with.

    Attributes:
        targets, recorded: the predictions.
        subgraph: the receptive field according to ``num_layers``, or the whole graph.
        wider: a larger subgraph, on which the predictions should be the same; None if there is
            none.
        outside: which nodes of ``wider`` are outside the receptive field.
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
        predicted: the nodes that have a prediction.
        num_layers: the assumed size of the receptive field in hops.
        probes: returns perturbed features to check the receptive field with.
        scores: the kind of scores; ``auto`` to detect it.
        output: the index of the explained score, if only one of several is explained.
        explained_class: the explained class, or one for each node; None for the predicted one.
        on_whole_graph: whether the model must always be called on the whole graph.
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
    on_whole_graph: bool = False

    def query(self, targets: Sequence[VariableId], candidates: IntArray) -> Query:
        """Choose the subgraph to query for some targets, and validate the model on it.

        The subgraph is the receptive field of the targets and candidates, or the whole graph if the
        model does not accept subgraphs or has a larger receptive field.

        Raises:
            ModelError: the model's outputs are invalid.
        """
        ends = [self.task.ends(target) for target in targets]
        recorded = np.union1d(candidates, np.concatenate(ends)).astype(np.int64)
        model, exceeds = self._observe(targets, recorded)
        names = self.task.outputs(targets, recorded, model.subgraph)[1]
        classes = explained_classes(
            None if self.scores == "values" else self.explained_class,
            names,
            model.before,
            self.graph.num_nodes if self.task.name == "node" else None,
        )
        exceeding = frozenset(name for name, more in zip(names, exceeds, strict=True) if more)
        return Query(model, recorded, names, classes, targets, exceeding)

    def receptive_field(self, target: VariableId) -> IntArray | None:
        """Return the nodes that a prediction should depend on, or None if these may be all."""
        centre = self.task.centre([target], self.task.ends(target))
        if self.task.separate:
            return None if self.one_graph_at_a_time else centre
        if centre is None or self._traits[1]:
            return None
        return self.graph.within_hops(centre, self.num_layers)

    def _observe(
        self, targets: Sequence[VariableId], recorded: IntArray
    ) -> tuple[SubgraphModel, NDArray[np.bool_]]:
        """Return the model on the queried subgraph, and which predictions depend on more hops."""
        kind, exceeds = self._traits
        if self.task.separate:
            model = self._model_on(self._components(targets, recorded), kind)
            return model, np.zeros(len(model.before), dtype=bool)
        if exceeds:
            model = self._model_on(self._whole(targets, recorded), kind)
            return model, np.ones(len(model.before), dtype=bool)
        region = self._region(targets, recorded)
        model = self._model_on(region, kind)
        exceeding = self._exceeds(region, model.probed)
        if exceeding.any():
            model = self._model_on(self._whole(targets, recorded), kind)
        return model, exceeding

    @cached_property
    def _traits(self) -> tuple[str, bool]:
        """The kind of scores, and whether predictions depend on more than ``num_layers`` hops.

        The kind is ``auto`` if the model fails at the typical target.
        """
        region = self._region(*self._typical)
        subgraph, outputs = region.subgraph, self._outputs(region, region.subgraph)
        answer, exceeds, kind = None, False, self.scores
        x = self.x[subgraph.nodes]
        try:
            if region.wider is not None:
                answer = np.array(
                    answers(self.predictor, subgraph, self._probed(subgraph), outputs)
                )
                exceeds = bool(self._exceeds(region, outputs.take(answer)).any())
        except ModelUnavailableError:  # another query would only time out again
            raise
        except PGMExplainerError:
            pass
        if kind != "auto":
            return kind, exceeds
        try:
            if answer is None:
                answer = np.array(answers(self.predictor, subgraph, x[None].copy(), outputs))
            kind = kind_of_scores(self.predictor, subgraph, x, outputs, self.output, answer[:1])
        except ModelUnavailableError:
            raise
        except PGMExplainerError:
            pass
        return kind, exceeds

    @cached_property
    def _typical(self) -> tuple[Sequence[VariableId], IntArray]:
        """A typical target at which to examine the model, and its nodes.

        It is a node of median degree, because a large neighbourhood may be slow or need too much
        memory. Of a few such nodes, the first is taken whose receptive field is not the whole
        connected component. Only there can it be detected that the model depends on more hops.
        """
        first, stop = self.predicted.start, self.predicted.stop
        degrees = self.graph.in_degrees[first:stop]
        connected = np.sort(degrees[degrees > 0])
        median = connected[len(connected) // 2] if len(connected) else 0
        nodes = first + np.flatnonzero(degrees == median)
        tried = nodes[:: -(-len(nodes) // _TRIED_NODES)].tolist()
        node = next(filter(self._has_outside, tried), tried[0])
        target = self.task.target_at(node, self.graph)
        return [target], np.unique(self.task.ends(target))

    def _has_outside(self, node: int) -> bool:
        """Return whether there are edges just outside the receptive field of a node."""
        narrow, wide = (self.graph.cut(np.array([node]), self.num_layers + k) for k in (0, 1))
        return len(narrow.edges) < len(wide.edges)

    def _region(self, targets: Sequence[VariableId], recorded: IntArray) -> _Region:
        """Return the receptive field of some predictions according to ``num_layers``."""
        if self.task.separate:
            part = self.graph.induced(np.asarray(self.task.centre(targets, recorded)))
            elsewhere = self.graph.outside(part) if self.predictor.batches_graphs else ()
            return self._components(targets, recorded, *(int(node) for node in elsewhere))
        may_cut = self.predictor.accepts_subgraph and not self.on_whole_graph
        centre = self.task.centre(targets, recorded) if may_cut else None
        if centre is None:
            return self._whole(targets, recorded)
        subgraph = self.graph.cut(centre, self.num_layers)
        # One more hop, and a node from elsewhere, should not change the predictions.
        elsewhere = self.graph.outside(subgraph)
        wider = self.graph.cut(np.append(centre, elsewhere), self.num_layers + 1)
        outside = ~np.isin(wider.nodes, self.graph.within_hops(centre, self.num_layers))
        same = (len(wider.nodes), len(wider.edges)) == (len(subgraph.nodes), len(subgraph.edges))
        if same and not outside.any():
            return _Region(targets, recorded, subgraph, None, outside)
        return _Region(targets, recorded, subgraph, wider, outside)

    def _components(
        self, targets: Sequence[VariableId], recorded: IntArray, further: int | None = None
    ) -> _Region:
        """Return the region of whole graphs of a set.

        The wider subgraph also has the graph of the node ``further``, if given.
        """
        nodes = self.task.centre(targets, recorded)
        subgraph = self.graph.induced(np.asarray(nodes))
        if further is None:
            return _Region(targets, recorded, subgraph, None, np.empty(0, dtype=bool))
        other = self.task.centre([self.task.target_at(further, self.graph)], recorded)
        wider = self.graph.induced(np.union1d(subgraph.nodes, np.asarray(other)))
        outside = ~np.isin(wider.nodes, subgraph.nodes)
        return _Region(targets, recorded, subgraph, wider, outside)

    @property
    def one_graph_at_a_time(self) -> bool:
        """Whether the graphs of a set must be explained one by one.

        This is necessary if the model cannot be called on several graphs at once, or if the
        prediction of one graph then depends on the others.
        """
        return self.task.separate and (not self.predictor.batches_graphs or self._traits[1])

    def _whole(self, targets: Sequence[VariableId], recorded: IntArray) -> _Region:
        return _Region(targets, recorded, self.graph.whole, None, np.empty(0, dtype=bool))

    def _exceeds(self, region: _Region, narrow: FloatArray) -> NDArray[np.bool_]:
        """Return for each recorded prediction whether it depends on more than its receptive field.

        Args:
            narrow: the raw scores on the unperturbed features and on the probes.
        """
        if region.wider is None:
            return np.zeros(narrow.shape[1], dtype=bool)
        outputs = self._outputs(region, region.wider)
        probes = self._probed(region.wider, region.outside)
        wide = outputs.take(answers(self.predictor, region.wider, probes, outputs))
        return differing(narrow, wide)

    def _probed(self, subgraph: Subgraph, always: NDArray[np.bool_] | None = None) -> FloatArray:
        """Return the unperturbed features of a subgraph, followed by the probes."""
        nodes = subgraph.nodes
        marked = np.zeros(len(nodes), dtype=bool) if always is None else always
        return np.concatenate((self.x[nodes][None], self.probes(nodes, marked)))

    def _outputs(self, region: _Region, subgraph: Subgraph) -> Outputs:
        return self.task.outputs(region.targets, region.recorded, subgraph)[0]

    def _model_on(self, region: _Region, kind: str) -> SubgraphModel:
        """Return the model on the receptive field; if needed, it is called on the probes too."""
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
