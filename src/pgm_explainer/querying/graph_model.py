"""Where a model is asked: a part of the graph that shows it all it sees there, as far as one knows.

What a model is like (what its scores are, how far it sees) is settled once, at one place that the
graph alone decides on. It must not depend on what is explained, or an explanation would depend on
its company.

How far a model sees is found by comparing its answers on a part with those on a wider part: on the
features as they are, and on the first few samples. In the wider part, every node that should not
matter is perturbed in each of them. On constant features alone there may be no difference, for
example if the model takes the mean over all nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..arrays import FloatArray, IntArray
from ..errors import ModelUnavailableError, PGMExplainerError
from ..graph import Graph, Subgraph
from ..predictors import Predictor
from ..sampling import Population, SamplingPlan, VariableId, probe_features
from .subgraph_model import LocalModel, answers_on, differing, scores_on, settle_kind
from .tasks import Task

__all__ = ["Places"]

_LOOKED_AT = 16


@dataclass(frozen=True)
class Places:
    """A model and the graph it is asked about.

    Attributes:
        population: the unperturbed features of all nodes.
        sampling: how they will be perturbed.
        predicted: the nodes that have a prediction of their own.
        num_layers: how far a prediction is said to see.
        scores: what the model's scores are said to be; ``auto`` if that is to be found out.
        output: the score that is explained, if only one of several is.
    """

    predictor: Predictor
    graph: Graph
    population: Population
    sampling: SamplingPlan
    task: Task
    predicted: range
    num_layers: int
    scores: str = "auto"
    output: int | None = None

    def observe(
        self, targets: Sequence[VariableId], recorded: IntArray
    ) -> tuple[LocalModel, NDArray[np.bool_]]:
        """Return the model where it is asked: around the targets if it can be, else everywhere.

        Of each recorded prediction is said whether it sees further than ``num_layers``.
        """
        if self.is_far_sighted:
            model = self._model_on(self.graph.whole, targets, recorded)
            return model, np.ones(len(model.before), dtype=bool)
        part = self.around(targets, recorded)
        model = self._model_on(part, targets, recorded)
        far_sighted = self.far_sighted(part, targets, recorded)
        if far_sighted.any():
            model = self._model_on(self.graph.whole, targets, recorded)
        return model, far_sighted

    @property
    def far_sighted_note(self) -> str:
        """What must be said of a prediction that sees further."""
        return (
            f"the model sees further than num_layers={self.num_layers} steps (more layers, or "
            f"something that mixes all nodes), so it was asked about the whole graph; nodes "
            f"further away than that were not considered"
        )

    def around(self, targets: Sequence[VariableId], recorded: IntArray) -> Subgraph:
        """Return the part that the recorded predictions are said to see; or the whole graph."""
        centre = self._centre(targets, recorded)
        return self.graph.whole if centre is None else self.graph.cut(centre, self.num_layers)

    def far_sighted(
        self, part: Subgraph, targets: Sequence[VariableId], recorded: IntArray
    ) -> NDArray[np.bool_]:
        """Say of each recorded prediction whether it sees more than its part of the graph.

        Args:
            part: as :meth:`around` gives it.
        """
        no_prediction = np.zeros(len(self.task.outcomes(targets, recorded, part)[1]), dtype=bool)
        centre = self._centre(targets, recorded)
        if centre is None:
            return no_prediction
        # One step more, and a node from elsewhere: neither should make a difference.
        elsewhere = self.graph.outside(part)
        wider = self.graph.cut(np.append(centre, elsewhere), self.num_layers + 1)
        beyond = ~np.isin(wider.nodes, self.graph.within_hops(centre, self.num_layers))
        same = (len(wider.nodes), len(wider.edges)) == (len(part.nodes), len(part.edges))
        if same and not beyond.any():
            return no_prediction
        narrow = self._probed(part, targets, recorded, np.zeros(len(part.nodes), dtype=bool))
        wide = self._probed(wider, targets, recorded, beyond)
        return np.asarray(differing(narrow, wide).any(axis=0))

    def _probed(
        self,
        part: Subgraph,
        targets: Sequence[VariableId],
        recorded: IntArray,
        always: NDArray[np.bool_],
    ) -> FloatArray:
        """The raw scores on the features as they are and on the first samples."""
        outcomes = self.task.outcomes(targets, recorded, part)[0]
        probes = probe_features(self.population, part.nodes, self.sampling, always)
        return scores_on(self.predictor, part, probes, outcomes)

    @cached_property
    def kind_of_scores(self) -> str:
        """What the model's scores are, in general; ``auto`` if it fails where it is asked."""
        if self.scores != "auto":
            return self.scores
        targets, recorded = self._typical
        part = self.around(targets, recorded)
        outcomes = self.task.outcomes(targets, recorded, part)[0]
        try:
            x, output = self.population.x[part.nodes], self.output
            return settle_kind(answers_on(self.predictor, part, x, outcomes, output), output)
        except ModelUnavailableError:  # to ask again would be to wait again
            raise
        except PGMExplainerError:
            return "auto"

    @cached_property
    def is_far_sighted(self) -> bool:
        """Whether predictions see further than ``num_layers``, in general."""
        targets, recorded = self._typical
        if self._centre(targets, recorded) is None:
            return False
        part = self.around(targets, recorded)
        try:
            return bool(self.far_sighted(part, targets, recorded).any())
        except ModelUnavailableError:  # to ask again would be to wait again
            raise
        except PGMExplainerError:
            return False

    @cached_property
    def _typical(self) -> tuple[Sequence[VariableId], IntArray]:
        """A target by which to find out, and the nodes it is about.

        Its node has middling degree: a large neighbourhood would take long, or be more than the
        model can bear. Of a few of them it is the first beyond whose neighbourhood the graph goes
        on, since only there a model can be seen to look further; else the first of all.
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
        """Say whether the graph goes on beyond what a prediction of this node is said to see."""
        narrow, wide = (self.graph.cut(np.array([node]), self.num_layers + k) for k in (0, 1))
        return len(narrow.edges) < len(wide.edges)

    def _centre(self, targets: Sequence[VariableId], recorded: IntArray) -> IntArray | None:
        if not self.predictor.accepts_subgraph:
            return None
        return self.task.centre(targets, recorded)

    def _model_on(
        self, part: Subgraph, targets: Sequence[VariableId], recorded: IntArray
    ) -> LocalModel:
        outcomes = self.task.outcomes(targets, recorded, part)[0]
        x, kind = self.population.x[part.nodes], self.kind_of_scores
        return LocalModel.observe(self.predictor, part, x, outcomes, kind, self.output)
