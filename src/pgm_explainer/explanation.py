"""What a user holds in the end: the answer to "why did it predict that?"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .arrays import IntArray, check_whole_number
from .effects import Effects
from .errors import InputError, QueryError
from .graph import Graph, Subgraph
from .network import BayesianNetwork
from .selection import STRONG, Ranking, causes
from .settings import Settings
from .variables import VariableId, checked_name
from .versions import current_versions

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from matplotlib.figure import Figure
    from pandas import DataFrame

__all__ = ["Explanation", "check_explanation"]


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """Why a model predicted what it did, as a Bayesian network that can be asked.

    Attributes:
        target: the explained node, pair of nodes, or ``"graph"``.
        explained_class: the class whose probability is explained, as a rule the predicted one;
            None for a regression.
        probability: the probability the model gives that class on the unperturbed features; None
            for a regression.
        values: all class probabilities on the unperturbed features, or the predicted values.
        held: the share of samples in which the prediction held.
        effects: what perturbing each node does to the prediction, strongest first.
        ranking: every candidate's dependence on the target, as in the paper, best first.
        network: the Bayesian network of the explaining nodes and the target; None if the
            prediction never changed, since then there is nothing to explain it by, or if none was
            asked for (``structure=None``).
        settings: how the explanation was made, in typed configurations; enough to make it again.
            A function of the user's own is kept by its name only.
        warnings: what weakens the answer.
        graph: the graph that was explained, for drawing; of an explanation from a file, the
            neighbourhood alone.
        ends: the numbers of the nodes that the prediction is about; none for a whole graph.
        versions: of this package, NumPy and Python, with which the explanation was made.
        node_classes: the class the model predicts of each node of the neighbourhood, in the order
            of their numbers; -1 where a node has no prediction of its own, as in a graph task.
    """

    target: VariableId
    explained_class: int | None
    probability: float | None
    values: tuple[float, ...]
    held: float
    ranking: Ranking
    effects: Effects
    network: BayesianNetwork | None
    settings: Settings
    warnings: tuple[str, ...] = ()
    graph: Graph | Subgraph | None = field(default=None, repr=False)
    ends: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64), repr=False)
    versions: Mapping[str, str] = field(default_factory=current_versions, repr=False)
    node_classes: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64), repr=False)

    @property
    def task(self) -> str:
        """``"node"``, ``"edge"`` or ``"graph"``."""
        return self.settings.model.task

    @property
    def predicted_class(self) -> int | None:
        """The class the model predicts on the unperturbed features; None for a regression."""
        return None if self.explained_class is None else int(np.argmax(self.values))

    def class_name(self, number: int) -> str:
        """Return what a class is called: by the name given to it, else by its number.

        Where one label of many is explained, class 1 is to have it and class 0 is not to.

        Raises:
            InputError: there is no such class.
        """
        number = check_whole_number(number, "a class", at_least=0)
        names, output = self.settings.model.class_names, self.settings.model.output
        if names is not None and output is None and number >= len(names):
            raise InputError(f"there is no class {number}; class_names has {len(names)} names")
        if output is None:
            return str(number) if names is None else str(names[number])
        label = str(output) if names is None else str(names[output])
        return label if number == 1 else f"not {label}"

    @property
    def nodes(self) -> list[VariableId]:
        """The nodes of the network, most important first; the target of a node task is not one.

        Nodes that change the prediction strongly come first; then those that depend on it.
        """
        selected = self.ranking.selected_nodes
        first = causes(self.effects, at_least=STRONG)
        ordered = dict.fromkeys((*first[np.isin(first, selected)].tolist(), *selected.tolist()))
        return [self.ranking.called(node) for node in ordered]

    @property
    def left_out(self) -> list[VariableId]:
        """The strong causes for which the network has no room, strongest first."""
        strong = causes(self.effects, at_least=STRONG)
        known = np.union1d(self.ranking.selected_nodes, self.ends)
        return [self.ranking.called(node) for node in strong[~np.isin(strong, known)].tolist()]

    @property
    def markov_blanket(self) -> list[VariableId]:
        """The nodes that, once known, leave nothing more to learn about the prediction."""
        return [] if self.network is None else self.network.markov_blanket(self.target)

    @property
    def around(self) -> IntArray:
        """The numbers of the nodes of the neighbourhood, ascending: candidates and target."""
        return np.union1d(self.ranking.nodes, self.ends).astype(np.int64)

    @property
    def neighbourhood(self) -> Subgraph | None:
        """The candidates, the target and the edges among them; None if no graph is at hand."""
        if not isinstance(self.graph, Graph):
            return self.graph
        return self.graph.induced(self.around)

    def query(self, evidence: Mapping[VariableId, Any] | None = None) -> float:
        """Return the probability that the prediction holds, given what is known.

        Args:
            evidence: for any nodes of the network, what is known: ``"original"`` or
                ``"perturbed"``, ``"kept"`` or ``"changed"``, or both, as ``"original, kept"``.

        Raises:
            QueryError: there is no network, or it cannot answer.

        Examples:
            ``explanation.query()`` is the probability when nothing is known, and
            ``explanation.query({300: "kept", 301: "perturbed"})`` when something is.
        """
        network = self._asked(evidence)
        states = network.query(self.target, evidence)
        return float(states[network.variable(self.target).matching("kept")].sum())

    def support(self, evidence: Mapping[VariableId, Any] | None = None) -> float:
        """Return how many samples, in expectation, are behind the answer to a query.

        That is the network's probability of the evidence times ``num_samples``. What was hardly
        ever sampled is answered all the same, and where nothing was seen every state is taken as
        equally likely; so do not rely on an answer with a support below 5.

        Args:
            evidence: what is known, as :meth:`query` takes it.

        Raises:
            QueryError: there is no network, or it cannot read the evidence.

        Examples:
            ``explanation.support()`` is ``num_samples``, and
            ``explanation.support({300: "changed", 301: "changed"})`` may be 0.4.
        """
        network = self._asked(evidence)
        return network.probability(evidence or {}) * self.settings.sampling.num_samples

    def _asked(self, evidence: Any) -> BayesianNetwork:
        """The network, if there is one and this is a question to it."""
        if evidence is not None and not isinstance(evidence, Mapping):
            raise QueryError(
                f"evidence is a mapping from nodes to what is known, such as {{300: 'kept'}}, "
                f"not {evidence!r}"
            )
        if self.network is None and self.held < 1:
            raise QueryError("there is no network to ask: none was asked for (structure=None)")
        if self.network is None:
            raise QueryError(
                f"the prediction of {self.target!r} held in all samples, so there is no network to "
                f"ask; try another perturbation, a larger perturb_probability or a finer change"
            )
        return self.network

    def named(self, names: Sequence[VariableId] | Mapping[int, VariableId]) -> Explanation:
        """Return the same explanation with names for the nodes of the graph, used everywhere.

        A list names every node, a mapping from numbers some of them.
        """
        if isinstance(names, np.ndarray):
            names = names.tolist()  # numbers of NumPy do not compare with pairs
        old, new = self.ranking, self.ranking.named(names)
        self._check_names(new)
        ends = [new.called(end) for end in self.ends.tolist()]
        target = self.target
        if ends:
            target = ends[0] if self.task == "node" else tuple(ends)
        renaming = {old.called(node): new.called(node) for node in old.nodes.tolist()}
        network = self.network
        if network is not None:
            network = network.renamed({**renaming, self.target: target})
        return replace(
            self, target=target, network=network, ranking=new, effects=self.effects.named(names)
        )

    def _check_names(self, named: Ranking) -> None:
        """Refuse names that some nodes do not have, or share."""
        around = np.union1d(named.nodes, self.ends).tolist()
        try:
            called = Counter(checked_name(named.called(number)) for number in around)
        except Exception as error:  # a collection of the caller may raise anything
            raise InputError(
                f"names are a list with a name for each node of the graph, or a mapping from "
                f"numbers; a name is a text, a number or a tuple ({error})"
            ) from None
        if len(called) < len(around):
            raise InputError(f"more than one node is called {called.most_common(1)[0][0]!r}")

    def plot(self, kind: str = "both", **options: Any) -> Figure:
        """Draw the explanation; needs matplotlib.

        Args:
            kind: ``"effects"`` (what perturbing each node does, with 95% intervals),
                ``"neighbourhood"`` (the graph around the prediction, filled by predicted class and
                outlined by effect), ``"network"`` (the Bayesian network), ``"both"`` of these two
                side by side, or ``"ranking"`` (each candidate's evidence of dependence, with the
                line of significance).
            options: ``max_shown``, how many nodes to draw at most (not of the network).

        Raises:
            InputError: there is no such kind of plot, or it has no such option.
        """
        from .report.plots import plot_explanation

        return plot_explanation(self, kind, **options)

    def save(self, path: str | PathLike[str]) -> None:
        """Write this explanation to a JSON file, whole or not at all; see :meth:`load`.

        Raises:
            FileError: it cannot be written.
        """
        from .io.json_file import save_explanation

        save_explanation(path, self)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Explanation:
        """Read what :meth:`save` wrote: the same explanation, to the last bit.

        Raises:
            FileError: the file is no such explanation, or made by a newer version.
        """
        from .io.json_file import load_explanation

        return load_explanation(path)

    def to_pandas(self) -> DataFrame:
        """Return effects and dependence as a ``pandas.DataFrame``, a row for each node.

        The strongest effect comes first; the target has a row too. Columns: ``node``, ``effect``,
        ``low``, ``high``, ``strength``, ``log_p`` and ``significant`` as in :attr:`effects`; then
        those of :attr:`ranking`, ``dependence_rank`` (from 1), ``dependence_statistic``,
        ``dependence_dof``, ``dependence_log_p``, ``dependence_effect_size`` and
        ``dependence_significant``, missing for the target of a node task; and ``selected``, whether
        the node is in :attr:`nodes`.
        """
        from .io.frames import nodes_to_pandas

        return nodes_to_pandas(self.effects, self.ranking)

    def to_html(self, path: str | PathLike[str] | None = None) -> str | Path:
        """Write one self-contained, interactive page; without a path, return it as text.

        See :func:`pgm_explainer.to_html` for a page of many.
        """
        from .report.html import to_html

        return to_html(self, path)

    def __repr__(self) -> str:
        return f"Explanation(target={self.target!r}, nodes={self.nodes}, held={self.held:.3f})"

    def _repr_html_(self) -> str:
        from .report.notebook import to_notebook_html

        return to_notebook_html(self)

    def __str__(self) -> str:
        from .report.text import describe

        return describe(self)

    def __eq__(self, other: object) -> bool:
        """Whether both found the same; the model's own last digits do not count."""
        return (
            isinstance(other, Explanation)
            and self.effects.agrees(other.effects)
            and all(
                getattr(self, name) == getattr(other, name)
                for name in ("target", "explained_class", "held", "ranking", "network")
            )
        )

    __hash__ = None  # type: ignore[assignment]


def check_explanation(explanation: Any, graph: Graph, task: str) -> None:
    """Raise an InputError if this is no explanation, or one of another graph or task."""
    if not isinstance(explanation, Explanation):
        raise InputError(f"this takes an explanation, not {explanation!r}")
    nodes = np.append(explanation.ranking.nodes, explanation.ends)
    its = explanation.graph
    size = its.num_nodes if isinstance(its, Graph) else its and its.whole_nodes
    other = size not in (None, graph.num_nodes)
    if other or (nodes >= graph.num_nodes).any() or explanation.task != task:
        raise InputError("the explanation is of another graph, or of another task")
