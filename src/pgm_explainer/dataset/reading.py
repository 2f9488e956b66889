"""A data set of explanations, read back."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import IntArray, as_list
from ..errors import FileError, InputError
from ..explanation import Explanation
from ..storage.files import PathLike
from .folder import DatasetFolder, Entry
from .rows import as_explanation, check_pyarrow, read_table, schema

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from .overview import Overview

__all__ = ["ExplanationDataset"]


class ExplanationDataset:
    """The explanations in a folder, made by :func:`~pgm_explainer.dataset.explain_dataset`.

    One shard is in memory at a time. A data set may be read while its job is still at work; then it
    holds what is finished so far.

    Raises:
        FileError: the folder holds no data set, or a file of it is damaged.
        JobError: pyarrow, which reads it, is not installed.

    Examples:
        ``for explanation in ExplanationDataset("why"): ...`` goes over all explanations, and
        ``ExplanationDataset("why")[304]`` is that of one target.
    """

    def __init__(self, folder: PathLike) -> None:
        check_pyarrow()
        self._folder = DatasetFolder.at(folder)
        job = self._folder.read_job()
        if job is None:
            raise FileError(f"{folder} holds no data set of explanations: there is no job.json")
        self._job = job
        self.entries = sorted(self._folder.journal(job).values(), key=lambda entry: entry.shard)

    @property
    def path(self) -> Any:
        """The folder."""
        return self._folder.path

    @property
    def task(self) -> str:
        """``"node"`` or ``"edge"``."""
        return self._job.task

    @property
    def target_type(self) -> str | None:
        """The kind of node that is explained; None where nodes are of one kind."""
        return self._job.target_type

    @property
    def num_targets(self) -> int:
        """How many targets the job has, finished or not."""
        return self._job.targets

    @property
    def complete(self) -> bool:
        """Whether every target has its row."""
        return len(self) == self.num_targets

    def __len__(self) -> int:
        """How many rows there are: explanations and failures."""
        return sum(entry.rows for entry in self.entries)

    @cached_property
    def names(self) -> list[str | int] | None:
        """What the nodes are called, if the job was told; else they are called by their numbers.

        Explanations, targets, failures and the overview have the names; the columns of
        :meth:`rows`, :meth:`tables` and :meth:`to_pandas` the numbers.
        """
        known = self._job.names
        return None if known is None else self._folder.read_names(known)

    def __iter__(self) -> Iterator[Explanation]:
        """Go over all explanations, near ones together; failures are left out."""
        for row in self.rows():
            if row["error"] is None:
                yield self._explanation(row)

    def __getitem__(self, target: Any) -> Explanation:
        """Return the explanation of a target.

        Raises:
            InputError: it is not in the data set.
            FileError: it could not be explained; the message says why.
        """
        try:
            wanted = np.array(self._number(target), dtype=np.int64)
        except (LookupError, TypeError, OverflowError):
            raise InputError(f"{target!r} is no target of this data set") from None
        for entry in self.entries:
            stored = self._targets[entry.shard]
            if stored.shape[1:] == wanted.shape:
                hits = (stored == wanted).reshape(len(stored), -1).all(axis=1)
                if hits.any():
                    row = self.table(entry).slice(int(hits.argmax()), 1).to_pylist()[0]
                    return self._explanation(row)
        raise InputError(
            f"{target!r} is not among the {len(self)} targets that {self.path} holds so far"
        )

    def rows(self, columns: list[str] | None = None) -> Iterator[dict[str, Any]]:
        """Go over all rows as plain values, failures too; of the columns named, or of all.

        Raises:
            InputError: there is no such column.
        """
        for table in self.tables(columns):
            yield from table.to_pylist()

    def tables(self, columns: list[str] | None = None) -> Iterator[pa.Table]:
        """Go over the shards as Arrow tables."""
        return (self.table(entry, columns) for entry in self.entries)

    def table(self, entry: Entry, columns: list[str] | None = None) -> pa.Table:
        """Return one shard, after checking that it is what was written."""
        place = str(self._folder.shard(entry.shard))
        expected = schema(self.task)
        wanted = expected.names if columns is None else _checked_columns(columns, expected.names)
        table = read_table(self._folder.read_shard(entry), place, wanted)
        if table.schema.types != [expected.field(name).type for name in wanted]:
            raise FileError(f"{place} has other columns than a data set of this version")
        if len(table) != entry.rows:
            raise FileError(f"{place} has {len(table)} rows, and the journal says {entry.rows}")
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
        """Return the rows as a frame, all but the whole explanations; needs pandas.

        ``seconds`` is the time a target took: its share of the shard it was explained with.

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

    def overview(self, top: int = 20) -> Overview:
        """Return what the data set says as a whole: see :class:`~.overview.Overview`."""
        from .overview import overview

        return overview(self, top)

    def called(self, target: Any) -> Any:
        """Return what a node or pair of a row is called; by its number where it has no name.

        So has a target that is not in the graph: the job recorded it as failed.
        """
        if isinstance(target, (list, tuple)):
            return tuple(map(self._name, target))
        return self._name(target)

    def _name(self, number: Any) -> Any:
        names = self.names
        if names is None or not isinstance(number, (int, np.integer)):
            return number
        return names[number] if 0 <= number < len(names) else number

    def _number(self, target: Any) -> Any:
        """The number of a target that is called so; the numbers of a pair."""
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
        """The number of a node; only what is a name, or a whole number, is one."""
        exact = name if isinstance(name, str) else _whole(name)
        return self._numbers[exact] if self.names is not None else _whole(exact)

    def _explanation(self, row: dict[str, Any]) -> Explanation:
        place = f"target {self.called(row['target'])!r} of {self.path}"
        explanation = as_explanation(row, place)
        number = row["target"] if self.task == "node" else tuple(row["target"])
        kind = self._job.target_type
        if explanation.target != (number if kind is None else (kind, number)):
            raise FileError(f"{place} holds an explanation of {explanation.target!r:.60} instead")
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


def _checked_columns(asked: Any, known: Sequence[str]) -> list[str]:
    names = None if isinstance(asked, str) else as_list(asked)
    if names is None:
        raise InputError(f"columns must be a list of their names, not {asked!r}")
    for name in names:
        if not isinstance(name, str) or name not in known:
            raise InputError(f"there is no column {name!r}; there are {', '.join(known)}")
    return list(dict.fromkeys(names))


def _whole(value: Any) -> int:
    if isinstance(value, (bool, np.bool_)):
        raise TypeError("a truth value is no number of a node")
    return operator.index(value)
