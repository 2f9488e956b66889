"""The overview of a data set: causes, dependent nodes, and explanations that targets share.

It is computed in ``counting.py``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..arrays import check_whole_number
from ..storage.files import PathLike, as_path, write_text
from .reading import ExplanationDataset

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

__all__ = ["ClassCauses", "Influence", "Overview", "Shared"]


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
