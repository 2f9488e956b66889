"""Reading a data set of explanations."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import IntArray, as_list, check_whole_number
from ..errors import FileError, InputError
from ..explanation import Explanation
from ..limits import brief
from ..sampling import GRAPH
from ..storage.files import PathLike
from .folder import DatasetFolder, Entry
from .rows import as_explanation, check_pyarrow, read_table, schema

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from .overview import Overview

__all__ = ["ExplanationDataset"]


class ExplanationDataset:
    """The explanations in a folder, made by :func:`~pgm_explainer.explain_dataset`.

    Only one file of the data set, a shard, is in memory at a time. A data set may be read while its
    job is running; it then contains what is finished so far.

    ``for explanation in ExplanationDataset("why"): ...`` iterates over all explanations, and
    ``ExplanationDataset("why")[304]`` is the explanation of one target.

    Raises:
        FileError: the folder does not contain a data set, or a file of it is damaged.
        JobError: pyarrow, which reads it, is not installed.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer import PGMExplainer
        >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
        >>> x = np.array([[2.0, 0], [0, 1], [0, 1]])
        >>> edges = np.array(path.nonzero())
        >>> explainer = PGMExplainer(lambda x: path @ x, x, edges, num_layers=1)
        >>> import tempfile
        >>> from pgm_explainer import ExplanationDataset, explain_dataset
        >>> folder = tempfile.mkdtemp()
        >>> made = explain_dataset(explainer, None, f"{folder}/why", progress=False)
        >>> found = ExplanationDataset(f"{folder}/why")
        >>> len(found), found[1].target
        (3, 1)
    """

    def __init__(self, folder: PathLike) -> None:
        check_pyarrow()
        self._folder = DatasetFolder.at(folder)
        job = self._folder.read_job()
        if job is None:
            raise FileError(f"{folder} is not a data set of explanations: there is no job.json")
        self._job = job
        self.entries = sorted(self._folder.journal(job).values(), key=lambda entry: entry.shard)

    @property
    def path(self) -> Any:
        """The folder."""
        return self._folder.path

    @property
    def task(self) -> str:
        """``"node"``, ``"edge"``, or ``"graph"`` for many graphs."""
        return self._job.task

    @property
    def target_type(self) -> str | None:
        """The node type that is explained; None in a homogeneous graph."""
        return self._job.target_type

    @property
    def num_targets(self) -> int:
        """The number of targets of the job, finished or not."""
        return self._job.targets

    @property
    def complete(self) -> bool:
        """Whether every target has a row."""
        return len(self) == self.num_targets

    def __len__(self) -> int:
        """The number of rows: explanations and failures."""
        return sum(entry.rows for entry in self.entries)

    @cached_property
    def names(self) -> list[str | int] | None:
        """The names of the nodes, if the job was given any.

        Explanations, targets, failures and the overview use these names. The columns of
        :meth:`rows`, :meth:`tables` and :meth:`to_pandas` use node indices instead.
        """
        known = self._job.names
        return None if known is None else self._folder.read_names(known)

    def __iter__(self) -> Iterator[Explanation]:
        """Iterate over all explanations, nearby targets together; failures are skipped."""
        for row in self.rows():
            if row["error"] is None:
                yield self._explanation(row)

    def __getitem__(self, target: Any) -> Explanation:
        """Return the explanation of a target.

        Raises:
            InputError: it is not in the data set.
            FileError: it could not be explained; the message gives the reason.
        """
        try:
            wanted = np.array(self._number(target), dtype=np.int64)
        except (LookupError, TypeError, OverflowError):
            raise InputError(f"{brief(target)} is not a target of this data set") from None
        for entry in self.entries:
            stored = self._targets[entry.shard]
            if stored.shape[1:] == wanted.shape:
                hits = (stored == wanted).reshape(len(stored), -1).all(axis=1)
                if hits.any():
                    row = self.table(entry).slice(int(hits.argmax()), 1).to_pylist()[0]
                    return self._explanation(row)
        raise InputError(
            f"{brief(target)} is not among the {len(self)} targets that {self.path} contains so far"
        )

    def rows(self, columns: list[str] | None = None) -> Iterator[dict[str, Any]]:
        """Iterate over all rows as plain values, including failures; all columns by default.

        Raises:
            InputError: there is no such column.
        """
        for table in self.tables(columns):
            yield from table.to_pylist()

    def tables(self, columns: list[str] | None = None) -> Iterator[pa.Table]:
        """Iterate over the shards as Arrow tables."""
        return (self.table(entry, columns) for entry in self.entries)

    def table(self, entry: Entry, columns: list[str] | None = None) -> pa.Table:
        """Return one shard, after checking its checksum, columns and rows.

        Args:
            entry: one of ``entries``.
            columns: the columns to read; None for all.
        """
        if not isinstance(entry, Entry):
            raise InputError(f"entry must be one of the data set's entries, not {brief(entry)}")
        place = str(self._folder.shard(entry.shard))
        expected = schema(self.task)
        wanted = expected.names if columns is None else _checked_columns(columns, expected.names)
        table = read_table(self._folder.read_shard(entry), place, wanted)
        if table.schema.types != [expected.field(name).type for name in wanted]:
            raise FileError(f"{place} does not have the columns of a data set of this version")
        if len(table) != entry.rows:
            raise FileError(f"{place} has {len(table)} rows, but the journal has {entry.rows}")
        return table

    def failures(self) -> dict[Any, str]:
        """Return the error of each target that could not be explained."""
        rows = (
            row
            for entry in self.entries
            if entry.failed
            for row in self.table(entry, ["target", "error"]).to_pylist()
        )
        return {
            self.called(row["target"]): row["error"] for row in rows if row["error"] is not None
        }

    def to_pandas(self, columns: list[str] | None = None) -> pd.DataFrame:
        """Return the rows as a data frame, without the full explanations; needs pandas.

        The column ``seconds`` is the time for a target: its share of the time for the whole shard.

        Raises:
            InputError: there is no such column.
        """
        import pyarrow as pa

        every = schema(self.task)
        wanted = [] if columns is None else columns
        names = _checked_columns(wanted, every.names) or [
            name for name in every.names if name != "explanation"
        ]
        whole = pa.concat_tables([every.empty_table().select(names), *self.tables(names)])
        frame = whole.to_pandas()
        shares = [np.full(entry.rows, entry.seconds / entry.rows) for entry in self.entries]
        frame["seconds"] = np.concatenate([np.empty(0), *shares])
        return frame

    def summary(self) -> pd.DataFrame:
        """Return a data frame with one row for each explanation, by name; needs pandas.

        The columns are those of :meth:`pgm_explainer.Explanation.summary`, such as the strongest
        part, its effect and the reason in words. Failed targets are left out.
        """
        import pandas as pd

        from ..report.summary import SUMMARY_COLUMNS

        return pd.DataFrame((each.summary() for each in self), columns=list(SUMMARY_COLUMNS))

    def overview(self, top: int = 20) -> Overview:
        """Return a summary of the data set: see :class:`~.overview.Overview`."""
        from .counting import overview

        return overview(self, top)

    def called(self, target: Any) -> Any:
        """Return the name of a node or pair of a row, or its number if it has no name.

        A failed target that is not in the graph has no name either.
        """
        if isinstance(target, (list, tuple)):
            return tuple(map(self._name, target))
        return self._name(target)

    def class_name(self, number: int) -> str:
        """Return the name of a class, or its number if the job was given no names.

        Raises:
            InputError: not a whole number.
        """
        number = check_whole_number(number, "a class", at_least=0)
        settings = self._job.fingerprint.get("settings")
        names = settings.get("class_names") if isinstance(settings, dict) else None
        known = isinstance(names, list) and number < len(names)
        return str(names[number]) if known and names is not None else str(number)

    def _name(self, number: Any) -> Any:
        names = self.names
        if names is None or not isinstance(number, (int, np.integer)):
            return number
        return names[number] if 0 <= number < len(names) else number

    def _number(self, target: Any) -> Any:
        """Return the number of a target, given its name; for a pair, both numbers."""
        if self.task == "edge":
            if not isinstance(target, (tuple, list, np.ndarray)) or len(target) != 2:
                raise TypeError("a pair has two ends, in an order")
            return [self._node(end) for end in target]
        kind = self.target_type
        if kind is not None and isinstance(target, tuple):
            if len(target) != 2 or target[0] != kind:
                raise LookupError(target)
            target = target[1]
        return self._node(target)

    def _node(self, name: Any) -> int:
        """Return the number of a node by its name or number."""
        exact = name if isinstance(name, str) else _whole(name)
        return self._numbers[exact] if self.names is not None else _whole(exact)

    def _explanation(self, row: dict[str, Any]) -> Explanation:
        place = f"target {self.called(row['target'])!r} of {self.path}"
        explanation = as_explanation(row, place)
        number = tuple(row["target"]) if self.task == "edge" else row["target"]
        number = GRAPH if self.task == "graph" else number
        kind = self._job.target_type
        if explanation.target != (number if kind is None else (kind, number)):
            raise FileError(f"{place} holds an explanation of {brief(explanation.target)} instead")
        return explanation if self.names is None else explanation.named(self.names)

    @cached_property
    def _numbers(self) -> dict[Any, int]:
        return {name: number for number, name in enumerate(self.names or ())}

    @cached_property
    def _targets(self) -> dict[int, IntArray]:
        columns = ((entry.shard, self.table(entry, ["target"])["target"]) for entry in self.entries)
        return {shard: np.array(column.to_pylist(), dtype=np.int64) for shard, column in columns}

    def __repr__(self) -> str:
        return f"ExplanationDataset({str(self.path)!r}): {len(self)} of {self.num_targets} targets"


def _checked_columns(columns: Any, known: Sequence[str]) -> list[str]:
    names = None if isinstance(columns, str) else as_list(columns)
    if names is None:
        raise InputError(f"columns must be a list of their names, not {brief(columns)}")
    for name in names:
        if not isinstance(name, str) or name not in known:
            raise InputError(
                f"there is no column {brief(name)}; the columns are {', '.join(known)}"
            )
    return list(dict.fromkeys(names))


def _whole(value: Any) -> int:
    if isinstance(value, (bool, np.bool_)):
        raise TypeError("a Boolean is not a node number")
    return operator.index(value)
