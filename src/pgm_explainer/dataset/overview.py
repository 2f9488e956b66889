"""The overview of a data set: causes, dependent nodes, and explanations that targets share."""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import check_whole_number
from ..errors import FileError, PGMExplainerError
from ..storage.files import PathLike, as_path, write_text
from .reading import ExplanationDataset
from .types import label_from_text

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from matplotlib.figure import Figure

__all__ = ["ClassCauses", "Influence", "Overview", "Shared", "overview"]

_COLUMNS = [
    "target",
    "error",
    "explained_class",
    "held",
    "class_stayed",
    "nodes",
    "kinds",
    "parts",
    "effect_size",
    "effects",
    "features",
]
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class Influence:
    """The influence of a node, feature or node type over all explanations.

    Attributes:
        what: what has the influence. A node, or (type, number) if there are node types; the label
            of another part; for many graphs, the type of a part; the name or column of a feature,
            or (type, feature); or a node type.
        predictions: the number of predictions that it influences.
        size: its mean absolute effect on these predictions; for dependent nodes, the mean of
            Cramér's V. If a feature of several nodes affects a prediction, the largest effect
            counts.
        effect: its mean effect with its sign; negative if perturbing it lowers the prediction.
            None for dependent nodes.
    """

    what: Any
    predictions: int
    size: float
    effect: float | None = None


@dataclass(frozen=True)
class Shared:
    """An explanation that several targets share: their networks have the same nodes."""

    nodes: tuple[Any, ...]
    targets: tuple[Any, ...]


@dataclass(frozen=True)
class ClassCauses:
    """What changes the predictions of one class.

    Attributes:
        name: the name of the class, or its number.
        predictions: the number of explained predictions of this class.
        causes: the parts with the largest effects on these, by the sum of the absolute significant
            effects of a part.
    """

    name: str
    predictions: int
    causes: list[Influence]


@dataclass(frozen=True)
class Overview:
    """A summary of a data set.

    Attributes:
        folder: the folder of the data set.
        targets: the number of targets of the job.
        explained, failed: the number of targets with an explanation, and with an error.
        errors: how often each error message occurs, where messages that differ only in digits
            count as the same.
        unchanged: the number of predictions that were kept in every sample.
        unaffected: the number of predictions on which no part has a significant effect.
        own: the number of predictions on which perturbing the target itself has a significant
            effect.
        seconds: the total time of all workers.
        in_points: whether effects are changes of probabilities, which are shown in percentage
            points, rather than of predicted values.
        causes: the nodes, or other parts, that have a significant effect on the largest number of
            predictions. For many graphs, these are types of parts: ``"type 3"`` is any node whose
            one-hot features have the 1 in column 3.
        along: the nodes that are only dependent on predictions (in the network, but without a
            significant effect), those with the largest number of predictions first.
        kinds: the node types that change the largest number of predictions.
        features: the features that have a significant effect on the largest number of predictions,
            as features of the target or of other nodes, if features were explained.
        shared: explanations that several targets share, the most frequent first.
        classes: the causes for each explained class; only for many graphs, or if parts are not
            nodes.
        noun: the noun for a part in the report, such as ``edge``.
        dataset: the data set that is summarised, whose targets the page lists; None for no list.
        class_stayed: the share of samples in which the predicted class stayed the same, averaged
            over the explained predictions; None for a regression.
    """

    folder: str
    targets: int
    explained: int
    failed: int
    errors: dict[str, int]
    unchanged: int
    unaffected: int
    own: int
    seconds: float
    in_points: bool
    causes: list[Influence]
    along: list[Influence]
    kinds: list[Influence]
    features: list[Influence]
    shared: list[Shared]
    classes: list[ClassCauses] = field(default_factory=list)
    noun: str = "node"
    class_stayed: float | None = None
    dataset: ExplanationDataset | None = field(default=None, repr=False, compare=False)

    @property
    def throughput(self) -> float:
        """Targets per second and worker."""
        return (self.explained + self.failed) / self.seconds if self.seconds else 0.0

    def to_pandas(self) -> pd.DataFrame:
        """Return all lists as one data frame, with a row for each entry; needs pandas.

        The columns are ``list`` (such as ``causes``), ``class``, ``what``, ``predictions``,
        ``size`` and ``effect``.
        """
        import pandas as pd

        every: list[tuple[str, str | None, list[Influence]]] = [
            (name, None, getattr(self, name)) for name in ("features", "causes", "along", "kinds")
        ]
        every += [("classes", each.name, each.causes) for each in self.classes]
        rows = [
            (name, of_class, each.what, each.predictions, each.size, each.effect)
            for name, of_class, entries in every
            for each in entries
        ]
        names = ["list", "class", "what", "predictions", "size", "effect"]
        return pd.DataFrame(rows, columns=names)

    def plot(self) -> Figure:
        """Draw the overview as bars; needs matplotlib."""
        from ..report.overview_plot import plot_overview

        return plot_overview(self)

    def to_html(self, path: PathLike, *, max_pages: int = 1000) -> None:
        """Write the overview as an HTML page with a table of targets that opens their explanations.

        Up to 20 explanations are part of the page. More are written to files next to it, in the
        folder ``<name of the page>_pages``, with 100 explanations each.

        Args:
            path: the file to write.
            max_pages: the number of explanations that the table opens, the first ones of the data
                set; 0 for none.

        Raises:
            FileError: it cannot be written.
        """
        from ..report.html.overview import overview_page
        from .targets_table import target_rows, write_pages

        most = check_whole_number(max_pages, "max_pages", at_least=0)
        if self.dataset is None:
            write_text(path, overview_page(self))
            return
        rows = list(target_rows(self.dataset))
        pages = write_pages(self.dataset, as_path(path), most)
        write_text(path, overview_page(self, rows, pages))

    def __str__(self) -> str:
        from ..report.overview_text import overview_text

        return overview_text(self)


def overview(dataset: ExplanationDataset, top: int = 20) -> Overview:
    """Compute the overview of a data set in two passes, one shard at a time.

    Args:
        dataset: the data set.
        top: the number of nodes, types, features and shared explanations to list.
    """
    check_whole_number(top, "top", at_least=1)
    many = dataset.task == "graph"
    counts = _Counts(dataset.target_type, many)
    try:
        for table in dataset.tables(_COLUMNS):
            effects = _significant_effects(table, many)
            for at, row in enumerate(table.drop_columns(["effects"]).to_pylist()):
                counts.add(row, effects.get(at, {}))
    except PGMExplainerError:
        raise
    except (TypeError, ValueError, AttributeError, KeyError) as error:
        raise FileError(f"{dataset.path}: a row is incomplete or damaged: {error}") from error

    def named(tally: _Tally, by_size: bool = False) -> list[Influence]:
        found = tally.most(top, by_size)
        return [replace(each, what=dataset.called(each.what)) for each in found]

    return Overview(
        folder=str(dataset.path),
        targets=dataset.num_targets,
        explained=counts.explained,
        failed=sum(counts.errors.values()),
        errors=dict(counts.errors.most_common()),
        unchanged=counts.unchanged,
        unaffected=counts.unaffected,
        own=counts.own,
        seconds=sum(entry.seconds for entry in dataset.entries),
        in_points=counts.in_points,
        causes=named(counts.causes),
        along=[replace(each, effect=None) for each in named(counts.along)],
        kinds=counts.kinds.most(top),
        features=counts.features.most(top),
        shared=_shared(dataset, np.array(counts.keys, dtype=np.uint64), top),
        classes=[
            ClassCauses(dataset.class_name(number), count, named(tally, by_size=True))
            for number, (count, tally) in sorted(counts.classes.items())
        ],
        noun="part" if counts.classes else "node",
        class_stayed=counts.stayed / counts.classified if counts.classified else None,
        dataset=dataset,
    )


def _significant_effects(table: pa.Table, many: bool) -> dict[int, dict[Any, float]]:
    """Return, for each row that has significant effects, each effect by part.

    For many graphs, parts are replaced by their types, and the strongest part of a type counts.

    To save time, effects that are not significant are removed before conversion to Python objects.
    """
    import pyarrow.compute as pc

    column = table["effects"].combine_chunks()
    rows, effects = pc.list_parent_indices(column), pc.list_flatten(column)
    kept = pc.struct_field(effects, "significant")
    found: dict[int, dict[Any, float]] = defaultdict(dict)
    for at, each in zip(
        rows.filter(kept).to_pylist(), effects.filter(kept).to_pylist(), strict=True
    ):
        name = each["type"] if many else _name(each)
        if name is not None:
            found[at][name] = max(each["effect"], found[at].get(name, 0.0), key=abs)
    return found


def _name(effect: dict[str, Any]) -> Any:
    """Return the name of a part: a node, (type, number), or its label."""
    if effect["part"] is not None:
        return label_from_text(effect["part"])
    return effect["node"] if effect["kind"] is None else (effect["kind"], effect["node"])


class _Tally:
    """Counts the predictions that each node, part or feature matters to, and sums the sizes."""

    def __init__(self) -> None:
        self._counted: dict[Any, tuple[int, float, float]] = {}

    def add(self, effects: Iterable[tuple[Any, float]]) -> None:
        """Count what matters to one prediction; of duplicates, the largest effect counts."""
        largest: dict[Any, float] = {}
        for what, effect in effects:
            largest[what] = max(effect, largest.get(what, 0.0), key=abs)
        for what, effect in largest.items():
            count, total, signed = self._counted.get(what, (0, 0.0, 0.0))
            self._counted[what] = (count + 1, total + abs(effect), signed + effect)

    def most(self, top: int, by_size: bool = False) -> list[Influence]:
        """Return those that affect the most predictions, or have the largest sum of sizes."""

        def key(item: tuple[Any, tuple[int, float, float]]) -> tuple[float, float, str]:
            what, (count, total, _) = item
            return (-total, -count, str(what)) if by_size else (-count, -total, str(what))

        return [
            Influence(what, count, total / count, signed / count)
            for what, (count, total, signed) in sorted(self._counted.items(), key=key)[:top]
        ]


class _Counts:
    """The counts of one pass over the rows; memory grows with the graph, not with the data set."""

    def __init__(self, target_type: str | None, many: bool = False) -> None:
        self._target_type, self._many = target_type, many
        self.classes: dict[int, tuple[int, _Tally]] = {}
        self.explained = self.unchanged = self.unaffected = self.own = 0
        self.in_points = False
        self.stayed, self.classified = 0.0, 0
        self.errors: Counter[str] = Counter()
        self.causes, self.along, self.kinds, self.features = (_Tally() for _ in range(4))
        self.keys: list[int] = []

    def add(self, row: dict[str, Any], effects: dict[Any, float]) -> None:
        if row["error"] is not None:
            self.errors[_NUMBER.sub("…", row["error"])] += 1
            return
        self.explained += 1
        self.unchanged += row["held"] == 1
        if row["class_stayed"] is not None:
            self.stayed, self.classified = self.stayed + row["class_stayed"], self.classified + 1
        self.unaffected += not effects
        if (self._many or row["parts"] is not None) and row["explained_class"] is not None:
            count, tally = self.classes.get(row["explained_class"], (0, _Tally()))
            tally.add(effects.items())
            self.classes[row["explained_class"]] = (count + 1, tally)
        self.in_points = self.in_points or row["explained_class"] is not None
        self.keys.extend(_keys(row, self._many))
        own = self._ends(row["target"])
        others = {name: size for name, size in effects.items() if name not in own}
        self.own += len(others) < len(effects)
        self.causes.add(others.items())
        if row["kinds"] is not None:
            self.kinds.add(
                (name[0], size) for name, size in others.items() if isinstance(name, tuple)
            )
        network = zip(_names(row), row["effect_size"], strict=True)
        self.along.add(
            (name, size)
            for name, size in network
            if name not in effects and _comparable(name, self._many)
        )
        self.features.add(
            (_feature(each), each["effect"])
            for each in row["features"] or ()
            if each["significant"]
        )

    def _ends(self, target: Any) -> list[Any]:
        """Return the nodes that a prediction is about, named as in the effects."""
        ends = target if isinstance(target, list) else [target]
        return ends if self._target_type is None else [(self._target_type, end) for end in ends]


def _feature(effect: dict[str, Any]) -> Any:
    """Return a feature by its name or column; each node type has different columns."""
    feature = effect["feature"] if effect["name"] is None else effect["name"]
    return feature if effect["kind"] is None else (effect["kind"], feature)


def _comparable(name: Any, many: bool) -> bool:
    """Return whether a name means the same part in all rows; for many graphs, only groups do."""
    return isinstance(name, str) or not many


def _names(row: dict[str, Any]) -> list[Any]:
    """Return the nodes of the network, named as in the effects."""
    if row["parts"] is not None:
        return [label_from_text(text) for text in row["parts"]]
    if row["kinds"] is None:
        return list(row["nodes"])
    return list(zip(row["kinds"], row["nodes"], strict=True))


def _keys(row: dict[str, Any], many: bool) -> Iterator[int]:
    """Yield a hash of the set of nodes in the network; nothing if rows cannot share it."""
    if row["nodes"] and all(_comparable(name, many) for name in _names(row)):
        text = repr(_sorted(_names(row))).encode()
        yield int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")


def _sorted(names: list[Any]) -> list[Any]:
    """Return sorted names; a mix of numbers and tuples is sorted by their text."""
    try:
        return sorted(names)
    except TypeError:
        return sorted(names, key=repr)


def _shared(dataset: ExplanationDataset, keys: NDArray[np.uint64], top: int) -> list[Shared]:
    values, counts = np.unique(keys, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:top]
    wanted = set(values[order[counts[order] > 1]].tolist())
    found: dict[tuple[Any, ...], list[Any]] = defaultdict(list)
    many = dataset.task == "graph"
    for row in dataset.rows(["target", "nodes", "kinds", "parts"]) if wanted else ():
        if wanted.intersection(_keys({**row, "nodes": row["nodes"] or []}, many)):
            found[tuple(_sorted(_names(row)))].append(row["target"])
    ranked = sorted(found.items(), key=lambda item: (-len(item[1]), str(item[0])))
    return [
        Shared(tuple(map(dataset.called, nodes)), tuple(map(dataset.called, sorted(targets))))
        for nodes, targets in ranked
    ]
