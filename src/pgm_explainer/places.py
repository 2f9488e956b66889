"""Where a model is asked: a part of the graph that shows it all it sees there, as far as one knows.

What a model is like (what its scores are, how far it sees) is settled once, at one place that the
graph alone decides on. It must not depend on what is explained, or an explanation would depend on
its company.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .arrays import FloatArray, IntArray
from .errors import ModelUnavailableError, PGMExplainerError
from .graph import Graph, Subgraph
from .predictors import LocalModel, Predictor, answers_on, differing, scores_on, settle_kind
from .sampling import VariableId
from .tasks import Task

__all__ = ["Places"]


@dataclass(frozen=True)
class Places:
    """A model and the graph it is asked about.

    Attributes:
        x: the unperturbed features of all nodes.
        predicted: the nodes that have a prediction of their own.
        num_layers: how far a prediction is said to see.
        scores: what the model's scores are said to be; ``auto`` if that is to be found out.
        output: the score that is explained, if only one of several is.
    """

    predictor: Predictor
    graph: Graph
    x: FloatArray
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
        part = self.around(targets, recorded)
        if not part.is_whole and self.is_far_sighted:
            model = self._model_on(self.graph.whole, targets, recorded)
            return model, np.ones(len(model.before), dtype=bool)
        model = self._model_on(part, targets, recorded)
        far_sighted = self.far_sighted(part, targets, recorded, model.scores)
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
        self, part: Subgraph, targets: Sequence[VariableId], recorded: IntArray, scores: FloatArray
    ) -> NDArray[np.bool_]:
        """Say of each recorded prediction whether it sees more than its part of the graph.

        Args:
            part: as :meth:`around` gives it.
            scores: the model's raw scores there.
        """
        centre = self._centre(targets, recorded)
        if centre is None:
            return np.zeros(len(scores), dtype=bool)
        # One step more, and a node from elsewhere: neither should make a difference.
        elsewhere = self.graph.outside(part)
        wider = self.graph.cut(np.append(centre, elsewhere), self.num_layers + 1)
        if (len(wider.nodes), len(wider.edges)) == (len(part.nodes), len(part.edges)):
            return np.zeros(len(scores), dtype=bool)
        return differing(scores, self._scores(wider, targets, recorded))

    @cached_property
    def kind_of_scores(self) -> str:
        """What the model's scores are, in general; ``auto`` if it fails where it is asked."""
        if self.scores != "auto":
            return self.scores
        targets, recorded = self._typical
        part = self.around(targets, recorded)
        outcomes = self.task.outcomes(targets, recorded, part)[0]
        try:
            x, output = self.x[part.nodes], self.output
            return settle_kind(answers_on(self.predictor, part, x, outcomes, output), output)
        except ModelUnavailableError:  # to ask again would be to wait again
            raise
        except PGMExplainerError:
            return "auto"

    @cached_property
    def is_far_sighted(self) -> bool:
        """Whether predictions see further than ``num_layers``, in general."""
        targets, recorded = self._typical
        part = self.around(targets, recorded)
        try:
            scores = self._scores(part, targets, recorded)
            return bool(self.far_sighted(part, targets, recorded, scores).any())
        except ModelUnavailableError:  # to ask again would be to wait again
            raise
        except PGMExplainerError:
            return False

    @cached_property
    def _typical(self) -> tuple[Sequence[VariableId], IntArray]:
        """A target by which to find out, and the nodes it is about.

        Its node is the first of middling degree: a large neighbourhood would take long, or be more
        than the model can bear.
        """
        first, stop = self.predicted.start, self.predicted.stop
        degrees = self.graph.in_degrees[first:stop]
        connected = np.sort(degrees[degrees > 0])
        middling = connected[len(connected) // 2] if len(connected) else 0
        node = first + int(np.argmax(degrees == middling))
        target = self.task.target_at(node, self.graph)
        return [target], np.unique(self.task.ends(target))

    def _centre(self, targets: Sequence[VariableId], recorded: IntArray) -> IntArray | None:
        if not self.predictor.accepts_subgraph:
            return None
        return self.task.centre(targets, recorded)

    def _model_on(
        self, part: Subgraph, targets: Sequence[VariableId], recorded: IntArray
    ) -> LocalModel:
        outcomes = self.task.outcomes(targets, recorded, part)[0]
        x, kind = self.x[part.nodes], self.kind_of_scores
        return LocalModel.observe(self.predictor, part, x, outcomes, kind, self.output)

    def _scores(
        self, part: Subgraph, targets: Sequence[VariableId], recorded: IntArray
    ) -> FloatArray:
        outcomes = self.task.outcomes(targets, recorded, part)[0]
        return scores_on(self.predictor, part, self.x[part.nodes], outcomes)
