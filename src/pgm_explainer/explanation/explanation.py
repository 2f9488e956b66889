"""The explanation of one prediction."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import IntArray, check_whole_number
from ..effects import Effects
from ..errors import InputError, PGMExplainerWarning, QueryError
from ..feature_names import FeatureNames, feature_title
from ..graph import Graph, Subgraph
from ..limits import brief
from ..network import GraphicalModel
from ..node_names import NodeNames
from ..report.facts import support_warning
from ..report.shown import Shown
from ..selection import Ranking, causes
from ..selection.select import STRONG
from ..settings import Settings
from ..variables import VariableId, is_edge
from ..versions import CURRENT_VERSIONS
from .conversions import renamed
from .edge_confidence import EdgeConfidence
from .feature_effects import FeatureEffects

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from matplotlib.figure import Figure
    from pandas import DataFrame

    from .minimal_set import MinimalSet, Searcher

__all__ = ["Explanation"]

_NO_NODES: IntArray = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Shown):
    """The explanation of one prediction, with a network that can be queried.

    Attributes:
        target: the explained node, pair of nodes, or ``"graph"``.
        explained_class: the class whose probability is explained, by default the predicted one;
            None for a regression.
        probability: the model's probability of that class on the unperturbed features; None for a
            regression.
        values: all class probabilities on the unperturbed features, or the predicted values.
        held: the fraction of samples in which the prediction was kept, as the option ``change``
            defines it; the network models this.
        class_stayed: the fraction of samples in which the model predicted the same class as on the
            unperturbed features, whether or not this class is the explained one; None for a
            regression.
        sample_mean: the mean over the samples of the explained quantity: the probability of
            the explained class, the predicted value or, of several values, the Euclidean distance
            from the unperturbed ones.
        thresholds: changes above these count as changed, one for each level of change, in the
            unit of ``values``; empty if ``change`` has none, such as ``"flip"``.
        effects: the effect of perturbing each node on the prediction, strongest first.
        ranking: the tests of each candidate's dependence with the target, as in the paper,
            strongest evidence first.
        network: the network of the explaining nodes and the target; None if the
            prediction never changed in the samples or with ``structure=None``.
        settings: the options of the explainer, which are enough to reproduce the explanation. For
            a custom function, only its name is stored.
        warnings: reasons why the explanation may be unreliable.
        graph: the explained graph, for drawing; only the neighbourhood if the explanation was
            loaded from a file.
        ends: the index of the explained node, or those of both nodes of a pair; empty for a graph.
        versions: the versions of this package, NumPy and Python that made the explanation.
        node_classes: the predicted class of each node of the neighbourhood, in the order of their
            indices; -1 for a node without a prediction, as in a graph task.
        names: the names of nodes and other parts, if they have any; see :meth:`named`.
        part_labels: the labels of parts other than nodes, by the number of the part: a pair of
            nodes for an edge, the name for a group. Integers in a tuple are nodes.
        area: the nodes of the neighbourhood, ascending, if the parts are not nodes; else empty.
        source: the explainer that made the explanation, and the target that was passed to it.
            None if the explanation was loaded, unpickled or copied.
        feature_names: the names of the feature columns; empty if they have none. In a graph with
            several node types, a mapping from each type to its names; see :meth:`feature_name`.
        position: the position of the graph in the list that was passed to the explainer, from 0;
            None for a single graph. ``explain(position)`` explains the same graph again.
        title: the name of the graph in this list (``name``, ``title`` or ``smiles`` of a ``Data``
            object, or the name of its file); empty if it has none.
        part_members: the members of each group, by the number of the part, for drawing: nodes, or
            pairs of nodes for edges.
        features: the effects of single features of the target and of the nodes of the network; None
            unless they were explained too (``with_features=True``).
        smallest_change: a small set of parts whose perturbation changes the prediction; None
            unless it was searched for (:meth:`with_counterfactual`).
        edge_confidence: how often each edge of the network is learned from resampled data; None
            unless it was computed (:meth:`with_edge_confidence`).

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer import PGMExplainer
        >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
        >>> x = np.array([[2.0, 0], [0, 1], [0, 1]])
        >>> edges = np.array(path.nonzero())
        >>> explainer = PGMExplainer(lambda x: path @ x, x, edges, num_layers=1)
        >>> explanation = explainer.explain(1)
        >>> explanation.target, explanation.nodes
        (1, [0, 2])
        >>> round(explanation.effects[0].effect, 2)
        -0.58
        >>> round(explanation.query({0: "original"}), 2)
        1.0
    """

    target: VariableId
    explained_class: int | None
    probability: float | None
    values: tuple[float, ...]
    held: float
    class_stayed: float | None
    sample_mean: float
    thresholds: tuple[float, ...]
    ranking: Ranking
    effects: Effects
    network: GraphicalModel | None
    settings: Settings
    warnings: tuple[str, ...] = ()
    graph: Graph | Subgraph | None = field(default=None, repr=False)
    ends: IntArray = field(default_factory=_NO_NODES.copy, repr=False)
    versions: Mapping[str, str] = field(default_factory=CURRENT_VERSIONS.copy, repr=False)
    node_classes: IntArray = field(default_factory=_NO_NODES.copy, repr=False)
    names: NodeNames = field(default_factory=NodeNames, repr=False)
    part_labels: Mapping[int, VariableId] = field(default_factory=dict, repr=False)
    area: IntArray = field(default_factory=_NO_NODES.copy, repr=False)
    source: tuple[Searcher, VariableId] | None = field(default=None, repr=False)
    part_members: Mapping[int, tuple[Any, ...]] = field(default_factory=dict, repr=False)
    position: int | None = field(default=None, repr=False)
    title: str = field(default="", repr=False)
    feature_names: FeatureNames = field(default=(), repr=False)
    features: FeatureEffects | None = field(default=None, repr=False)
    smallest_change: MinimalSet | None = field(default=None, repr=False)
    edge_confidence: EdgeConfidence | None = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to pickle, without the explainer, which includes the model."""
        return {**self.__dict__, "source": None}

    @property
    def task(self) -> str:
        """``"node"``, ``"edge"`` or ``"graph"``."""
        return self.settings.model.task

    @property
    def predicted_class(self) -> int | None:
        """The class the model predicts on the unperturbed features; None for a regression."""
        return None if self.explained_class is None else int(np.argmax(self.values))

    def class_name(self, number: int) -> str:
        """Return the name of a class: from ``class_names`` if given, else its number.

        If one of several labels is explained (option ``output``), class 1 means that the label is
        present, and class 0 that it is absent.

        Raises:
            InputError: the class does not exist.
        """
        number = check_whole_number(number, "a class", at_least=0)
        names, output = self.settings.model.class_names, self.settings.model.output
        if names is not None and output is None and number >= len(names):
            raise InputError(
                f"class {number} does not exist; class_names has {len(names)} names, for classes "
                f"0 to {len(names) - 1}"
            )
        if output is None:
            return str(number) if names is None else str(names[number])
        label = str(output) if names is None else str(names[output])
        return label if number == 1 else f"not {label}"

    def feature_name(self, column: int, node: VariableId | None = None) -> str:
        """Return the name of a feature column; without names, ``feature 3``.

        Args:
            column: the number of the column, from 0.
            node: the node that it belongs to, which is needed only if there are node types.
        """
        column = check_whole_number(column, "a feature column", at_least=0)
        kind = str(node[0]) if self.names.typed and isinstance(node, tuple) else None
        return feature_title(self.feature_names, column, kind)

    @property
    def nodes(self) -> list[VariableId]:
        """The nodes of the network without the target, most important first.

        Nodes with a strong effect on the prediction come first, followed by other nodes that are
        statistically dependent on it.
        """
        selected = self.ranking.selected_nodes
        first = causes(self.effects, at_least=STRONG)
        ordered = dict.fromkeys((*first[np.isin(first, selected)].tolist(), *selected.tolist()))
        return self.names.of(ordered)

    @property
    def left_out(self) -> list[VariableId]:
        """The nodes with a strong effect that ``max_nodes`` left out, strongest first."""
        strong = causes(self.effects, at_least=STRONG)
        known = np.union1d(self.ranking.selected_nodes, self.ends)
        return self.names.of(strong[~np.isin(strong, known)].tolist())

    @property
    def markov_blanket(self) -> list[VariableId]:
        """The nodes that make the prediction independent of all others in the network."""
        return [] if self.network is None else self.network.markov_blanket(self.target)

    @property
    def around(self) -> IntArray:
        """The indices of the nodes of the neighbourhood, ascending: candidates and target."""
        nodes = self.area if self.part_labels else self.ranking.nodes
        return np.union1d(nodes, self.ends).astype(np.int64)

    @property
    def neighbourhood(self) -> Subgraph | None:
        """The subgraph of the candidates and the target; None if there is no graph."""
        if not isinstance(self.graph, Graph):
            return self.graph
        return self.graph.induced(self.around)

    @cached_property
    def has_directed_edges(self) -> bool:
        """Whether the parts are edges, and the two directions of an edge are separate parts."""
        pairs: list[Any] = [label for label in self.part_labels.values() if is_edge(label)]
        if not pairs or any(u > v for u, v in pairs):
            return bool(pairs)
        parts: Any = self.settings.sampling.parts
        said = [getattr(kind, "undirected", None) for kind in getattr(parts, "kinds", (parts,))]
        if True in said or False in said:
            return False in said
        if isinstance(self.graph, Graph):
            return not self.graph.is_undirected
        edges = set() if self.graph is None else set(map(tuple, self.graph.edge_index.T.tolist()))
        return any((v, u) not in edges for u, v in edges)

    def query(self, evidence: Mapping[VariableId, Any] | None = None) -> float:
        """Return the probability that the prediction is kept, given evidence.

        Args:
            evidence: the states of any nodes of the network: ``"original"`` or ``"perturbed"``
                (the features), ``"kept"`` or ``"changed"`` (the prediction), or one of each, as in
                ``"original, kept"``.

        Warns:
            PGMExplainerWarning: fewer than 5 samples are expected to match the evidence, so the
                answer is unreliable; see :meth:`support`.

        Raises:
            QueryError: there is no network, or the evidence is invalid or has probability zero.

        Examples:
            ``explanation.query()`` is the marginal probability, and
            ``explanation.query({300: "kept", 301: "perturbed"})`` a conditional one.
        """
        network = self._network_for(evidence)
        states = network.query(self.target, evidence)
        warning = None if evidence is None else support_warning(self.support(evidence))
        if warning is not None:
            warnings.warn(warning, PGMExplainerWarning, stacklevel=2)
        return float(states[network.variable(self.target).matching("kept")].sum())

    def support(self, evidence: Mapping[VariableId, Any] | None = None) -> float:
        """Return the expected number of samples that agree with the evidence of a query.

        It is the network's probability of the evidence times ``num_samples``. :meth:`query` also
        answers for evidence that was rarely or never sampled, and assumes a uniform distribution
        where there are no samples. Do not rely on an answer with a support below 5.

        Args:
            evidence: as in :meth:`query`.

        Raises:
            QueryError: there is no network, or the evidence is invalid.

        Examples:
            ``explanation.support()`` is ``num_samples``, and
            ``explanation.support({300: "changed", 301: "changed"})`` may be 0.4.
        """
        network = self._network_for(evidence)
        known = {} if evidence is None else evidence
        return network.probability(known) * self.settings.sampling.num_samples

    def _network_for(self, evidence: Any) -> GraphicalModel:
        """Return the network; raise a QueryError if there is none or evidence is not a mapping."""
        if evidence is not None and not isinstance(evidence, Mapping):
            raise QueryError(
                f"evidence must be a mapping from nodes to states, such as {{300: 'kept'}}, "
                f"not {brief(evidence)}"
            )
        if self.network is None and self.held < 1:
            raise QueryError(
                "the explanation has no network, as it was made with structure=None; explain again "
                "with structure='auto'"
            )
        if self.network is None:
            raise QueryError(
                f"the explanation has no network, as the prediction of {brief(self.target)} never "
                f"changed in the samples; try another perturbation, a larger perturb_probability "
                f"or a more sensitive change"
            )
        return self.network

    def named(self, names: Sequence[VariableId] | Mapping[int, VariableId]) -> Explanation:
        """Return the same explanation with names instead of node indices.

        Args:
            names: a list with a name for every node of the graph, or a mapping from nodes, given by
                index or current name, to names. With several node types, also a mapping from each
                type to a list of names; types are kept, as in ``("author", "Ada")``.

        Raises:
            InputError: a name is missing, has a wrong type or is not unique.
        """
        try:
            labels = self.names.relabelled(names, self.around.tolist())
        except InputError:
            raise
        except Exception as error:  # a collection of the caller may raise anything
            raise InputError(f"names cannot be read: {type(error).__name__}: {error}") from None
        return renamed(self, labels, self.names.typed)

    def counterfactual(self, explainer: Searcher | None = None, **options: Any) -> MinimalSet:
        """Find a small set of parts whose perturbation changes the prediction.

        The result is the smallest set that the search finds. If ``probability`` is below 0.5, that
        set may change the prediction in fewer than half of the random perturbations. Then a set
        with at most one more part that changes it in half of them is preferred.

        Args:
            explainer: the explainer that made this explanation; needed if it was loaded from a
                file or pickled, because an explanation does not include the model.
            options: ``probability``, the share of random perturbations in which the set must
                change the prediction (0.5); ``max_size`` of the set; ``num_samples``, the number
                of random perturbations that a set is tried on (500); ``max_queries``, the number
                of perturbed graphs after which the search ends (20,000); and ``change``, what
                counts as a changed prediction (by default, another predicted class; a regression
                needs ``pgm_explainer.Deviation(...)``). If ``explainer`` is given and explains
                many graphs, also ``target``, the position of the graph.

        Raises:
            QueryError: no such set was found.
            InputError: there is no explainer, or an option is invalid.
        """
        return self._searcher(explainer, options).counterfactual(self, **options)

    def sufficient(self, explainer: Searcher | None = None, **options: Any) -> MinimalSet:
        """Find a small set of parts that keeps the prediction if all other parts are perturbed.

        The result is the smallest set that the search finds. All other parts of :attr:`effects` are
        perturbed at once.

        Args:
            explainer: as in :meth:`counterfactual`.
            options: as in :meth:`counterfactual`, except that ``probability`` is the share of
                random perturbations in which the prediction must be kept (0.9).

        Raises:
            QueryError: no such set was found.
            InputError: there is no explainer, or an option is invalid.
        """
        return self._searcher(explainer, options).sufficient(self, **options)

    def with_counterfactual(
        self, counterfactual: MinimalSet | bool = True, explainer: Searcher | None = None
    ) -> Explanation:
        """Return the same explanation with a smallest change, for reasons, reports and pages.

        All of them then have a sentence about it; printed text and saved files include it too. If
        no such set is found, the sentence says so.

        Args:
            counterfactual: the result of :meth:`counterfactual`; True to search for one; False for
                none.
            explainer: as in :meth:`counterfactual`.

        Raises:
            InputError: it is not a counterfactual set of parts of this explanation, or there is no
                explainer.
        """
        from .smallest_change import with_change

        return with_change(self, counterfactual, explainer)

    def with_edge_confidence(
        self, resamples: int = 200, *, seed: int = 0, explainer: Searcher | None = None
    ) -> Explanation:
        """Return the same explanation with the confidence of each edge and of its direction.

        The samples of the explanation are resampled with replacement, and the structure of the
        network is learned again from each resample, with the same nodes. Printed text, plots of the
        network, pages and saved files then include the shares, and
        ``explanation.edge_confidence.edges(explanation.network)`` lists them. The result depends
        only on the explanation, ``resamples`` and ``seed``.

        Args:
            resamples: how often the samples are resampled.
            seed: seed of the resampling.
            explainer: the explainer that made the explanation, if it was loaded from a file.

        Raises:
            QueryError: there is no network.
            InputError: there is no explainer, or it is not the one of the explanation.
        """
        self._network_for(None)
        options: dict[str, Any] = {"resamples": resamples, "seed": seed}
        found = self._searcher(explainer, options).edge_confidence(self, **options)
        return replace(self, edge_confidence=found)

    def _searcher(self, explainer: Searcher | None, options: dict[str, Any]) -> Searcher:
        """Return the explainer, and add the target to the options if it is known."""
        if explainer is not None:
            if not hasattr(explainer, "counterfactual") or isinstance(explainer, Explanation):
                raise InputError(f"explainer must be a PGMExplainer, not {brief(explainer)}")
            return explainer
        if self.source is None:
            raise InputError(
                "this explanation was loaded or copied, and does not include the model; pass the "
                "explainer that made it: counterfactual(explainer)"
            )
        options.setdefault("target", self.source[1])
        return self.source[0]

    def reason(
        self,
        audience: str = "manager",
        templates: Mapping[str, str] | None = None,
        *,
        counterfactual: MinimalSet | bool | None = None,
    ) -> str:
        """Explain the prediction in three to six sentences with numbers.

        They say what is predicted, which parts make it more likely and which less likely (the
        target's own features first, if they were explained, with their values), what was tried,
        and how certain this is.

        Args:
            audience: ``"manager"`` for plain words, ``"engineer"`` for technical terms, p-values
                and settings.
            templates: sentences that replace the built-in ones, by name, for another language or
                style; ``docs/reason.md`` lists their names and fields.
            counterfactual: True adds a sentence about a smallest change of the prediction, which
                calls the model; or the result of :meth:`counterfactual`. By default, the sentence
                is added if the explanation has a :attr:`smallest_change`.

        Raises:
            InputError: the audience, a template or one of its fields is unknown, or the
                counterfactual does not belong to this explanation.
        """
        from ..report.reason import reason_text

        shown = self if counterfactual is None else self.with_counterfactual(counterfactual)
        return reason_text(shown, audience, templates)

    def report(
        self,
        path: str | PathLike[str],
        audience: str = "manager",
        templates: Mapping[str, str] | None = None,
        *,
        counterfactual: MinimalSet | bool | None = None,
    ) -> Path:
        """Write a page with the reason, the effects as a table and bars, and what was tried.

        Args:
            path: the file, whose extension is its format: ``.md``, ``.html``, ``.pdf`` (needs
                matplotlib) or ``.docx`` (needs python-docx).
            audience: as in :meth:`reason`.
            templates: as in :meth:`reason`.
            counterfactual: as in :meth:`reason`.

        Raises:
            InputError: the extension, the audience, a template or one of its fields is unknown, or
                the counterfactual does not belong to this explanation.
            FileError: the file cannot be written.
        """
        from ..report.document import check_report, write_report

        check_report(path)  # before a search that may take long
        shown = self if counterfactual is None else self.with_counterfactual(counterfactual)
        return write_report(shown, path, audience, templates)

    def plot(self, kind: str = "both", **options: Any) -> Figure:
        """Draw the explanation; needs matplotlib.

        Args:
            kind: ``"effects"`` (the effect of perturbing each part, with 95% intervals),
                ``"features"`` (the same for single features, with ``with_features=True``),
                ``"neighbourhood"`` (the graph around the target; see below), ``"network"`` (the
                Bayesian network), ``"both"`` (neighbourhood and network side by side), or
                ``"ranking"`` (each candidate's p-value, with the significance threshold).
            options: ``figsize`` (width and height in inches), ``font_size`` (in points), and ``ax``
                (axes of matplotlib to draw into; not for both). A small plot, such as one column
                of a paper (``figsize=(3.3, 2.5)``), has smaller text, fewer bars and shorter
                names. ``max_shown``, the maximum number of nodes or bars to draw (not for the
                network). For the neighbourhood of a molecule, ``molecule`` (SMILES or an RDKit
                molecule whose atoms are the nodes, in order) draws it with RDKit, and ``atoms`` (a
                symbol for each node) labels the nodes.

        In the neighbourhood, the fill of a node is its predicted class. The outline of a node, or
        the line of an edge, shows its effect: colour for the direction, size for the strength.
        Shapes show node types, and edges of a directed graph have arrowheads. Names never overlap:
        those that do not fit are left out, and the title counts them. Groups are outlined. Features
        and time steps are drawn as a strip instead of a graph.

        Raises:
            InputError: unknown kind of plot, or an option it does not have.
        """
        from ..report.plots import plot_explanation

        return plot_explanation(self, kind, **options)

    def save(self, path: str | PathLike[str]) -> None:
        """Write this explanation to a JSON file atomically; see :meth:`load`.

        Raises:
            FileError: the file cannot be written.
            InputError: the extension is that of a page, report, plot or table; the error names the
                call that writes it.
        """
        from .formats.json_file import save_explanation

        save_explanation(path, self)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Explanation:
        """Read an explanation written by :meth:`save`; numbers are restored exactly.

        Raises:
            FileError: the file is not a saved explanation, or was written by a newer version.
        """
        from .formats.json_file import load_explanation

        return load_explanation(path)

    def to_pandas(self) -> DataFrame:
        """Return effects and dependence as a ``pandas.DataFrame`` with a row for each node.

        Rows are sorted by effect, strongest first, and include the target. Columns: ``node``,
        ``effect``, ``low``, ``high``, ``strength``, ``log_p`` and ``significant`` as in
        :attr:`effects`; from :attr:`ranking`, ``dependence_rank`` (from 1),
        ``dependence_statistic``, ``dependence_dof``, ``dependence_log_p``,
        ``dependence_effect_size`` and ``dependence_significant``, missing for the target of a node
        task; and ``selected``, whether the node is in :attr:`nodes`.
        """
        from .formats.frames import nodes_to_pandas

        return nodes_to_pandas(self.effects, self.ranking)

    def summary(self) -> dict[str, Any]:
        """Return one flat row for a table of many explanations, with names instead of numbers.

        Keys: ``target``; ``explained_class``, ``probability`` and ``class_stayed``; ``own_effect``,
        of perturbing the target itself; ``part``, ``effect``, ``low``, ``high`` and ``evidence`` of
        the strongest other significant part; ``feature``, ``feature_node``, ``feature_effect`` and
        ``feature_evidence`` of the strongest feature, if features were explained; the number of
        ``warnings``; and the :meth:`reason`. What an explanation does not have is None.

        Examples:
            ``pandas.DataFrame(each.summary() for each in explanations)`` is the table.
        """
        from ..report.summary import summary_row

        return summary_row(self)

    def to_html(
        self,
        path: str | PathLike[str] | None = None,
        audience: str = "manager",
        templates: Mapping[str, str] | None = None,
    ) -> str | Path:
        """Write a self-contained interactive page; without a path, return it as a string.

        See :func:`pgm_explainer.to_html` for a page of several explanations.

        Args:
            path: the file to write, which is returned.
            audience: as in :meth:`reason`, for the title and the reason on the page.
            templates: as in :meth:`reason`; the other words of the page are not replaced.

        Raises:
            InputError: the audience, a template or one of its fields is unknown.
            FileError: the file cannot be written.
        """
        from ..report.html import to_html

        return to_html(self, path, audience, templates)

    def __repr__(self) -> str:
        graph = "" if self.position is None else f", position={self.position}"
        graph += f", title={self.title!r}" if self.title else ""
        return (
            f"Explanation(target={self.target!r}{graph}, nodes={self.nodes}, held={self.held:.3f})"
        )

    def _repr_html_(self) -> str:
        from ..report.notebook import to_notebook_html

        return to_notebook_html(self)

    def __str__(self) -> str:
        from ..report.text import describe

        return describe(self)

    def __eq__(self, other: object) -> bool:
        """Whether both have the same results, up to rounding of the model's outputs."""
        return (
            isinstance(other, Explanation)
            and self.effects.agrees(other.effects)
            and (self.features is None) == (other.features is None)
            and (self.features is None or self.features.agrees(other.features))
            and all(
                getattr(self, name) == getattr(other, name)
                for name in (
                    "target",
                    "explained_class",
                    "held",
                    "class_stayed",
                    "ranking",
                    "network",
                )
            )
        )

    __hash__ = None  # type: ignore[assignment]
