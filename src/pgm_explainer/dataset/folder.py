"""The folder of a data set: what lies where, and how it survives whatever happens.

::

    job.json        what the job is: model, graph, settings and targets, as fingerprints
    journal.jsonl   one line for each finished shard: its checksum, its failures, its time
    names.json      what the nodes are called, if not by their numbers; counts only if job.json has
                    its checksum
    shards/         one Parquet file for each finished shard, there whole or not at all
    lock            held while a job runs

A shard counts as finished when the journal has a line for it and its file has the checksum of that
line. The system lets go of the lock when its holder ends, however it ends.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..errors import FileError, JobError
from ..io.files import PathLike, as_path, as_text, read_file, write_bytes, write_text

__all__ = ["FORMAT", "VERSION", "DatasetFolder", "Entry", "NamesEntry"]

FORMAT = "pgm-explainer data set"
VERSION = 3


@dataclass(frozen=True)
class Entry:
    """A line of the journal: a finished shard."""

    shard: int
    rows: int
    failed: int
    seconds: float
    size: int
    sha256: str


@dataclass(frozen=True)
class NamesEntry:
    """What ``job.json`` says of the names: how many there are, and the checksum of their file."""

    count: int
    sha256: str

    @classmethod
    def of(cls, names: Sequence[str | int]) -> NamesEntry:
        return cls(len(names), hashlib.sha256(_names_bytes(names)).hexdigest())


@dataclass(frozen=True)
class DatasetFolder:
    """Reads and writes the folder; the one place that knows its layout."""

    path: Path

    @classmethod
    def at(cls, path: PathLike) -> DatasetFolder:
        return cls(as_path(path))

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Make the folder if need be and hold it, so that no other job works on it.

        Raises:
            JobError: another job does, or the folder cannot be written.
        """
        try:
            import fcntl
        except ImportError as error:
            raise JobError("jobs lock their folder, which needs Linux, macOS or a BSD") from error
        try:
            (self.path / "shards").mkdir(parents=True, exist_ok=True)
            lock = (self.path / "lock").open("a")
        except OSError as error:
            raise JobError(f"{self.path} cannot be written: {error}") from error
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise JobError(
                    f"another job is at work on {self.path}; wait for it, stop it, or choose "
                    f"another folder ({error})"
                ) from error
            yield

    def read_job(self) -> dict[str, Any] | None:
        """Return what ``job.json`` says; None if there is none.

        Raises:
            FileError: it is there, but is not of a data set, or of a newer version.
        """
        path = self.path / "job.json"
        if not path.exists():
            return None
        try:
            job = json.loads(read_file(path, as_text))
        except (ValueError, RecursionError) as error:
            raise FileError(f"{path} is not JSON: {error}") from None
        if not isinstance(job, dict) or job.get("format") != FORMAT:
            raise FileError(f"{path} does not describe a data set of explanations")
        if job.get("version") != VERSION:
            raise FileError(
                f"{path} is of version {job.get('version')!r}, and this pgm-explainer knows "
                f"version {VERSION}: explain into another folder, or with the package of then"
            )
        return job

    def write_job(self, job: dict[str, Any]) -> None:
        text = json.dumps({"format": FORMAT, "version": VERSION, **job}, indent=1)
        write_text(self.path / "job.json", f"{text}\n")

    def known_names(self, job: Mapping[str, Any]) -> NamesEntry | None:
        """Return what ``job.json`` says of the names; None if nodes are called by their numbers.

        Raises:
            FileError: it cannot be understood.
        """
        known = job.get("names", "nowhere")  # a field that is not there says nothing, not "none"
        if known is None:
            return None
        if not isinstance(known, dict) or {name: type(each) for name, each in known.items()} != {
            "count": int,
            "sha256": str,
        }:
            raise FileError(f"{self.path / 'job.json'} is damaged: names are {known!r:.60}")
        return NamesEntry(**known)

    def read_names(self, known: NamesEntry) -> list[str | int]:
        """Return what the nodes are called.

        Raises:
            FileError: these are not the names that the job was told.
        """
        path = self.path / "names.json"
        document = _bytes_with(path, known.sha256)
        try:
            names = json.loads(document)
        except (ValueError, RecursionError) as error:
            raise FileError(f"{path} is not JSON: {error}") from None
        if not isinstance(names, list) or not all(type(name) in (str, int) for name in names):
            raise FileError(f"{path} is no list of names")
        if not len(names) == len(set(names)) == known.count:
            raise FileError(f"{path} should have {known.count} names, all different")
        return names

    def write_names(self, names: Sequence[str | int]) -> None:
        write_bytes(self.path / "names.json", _names_bytes(names))

    def journal(self) -> dict[int, Entry]:
        """Return the last line of each shard; a line cut short by a crash counts as none."""
        path = self.path / "journal.jsonl"
        if not path.exists():
            return {}
        found = (_entry(line) for line in path.read_bytes().split(b"\n"))
        return {entry.shard: entry for entry in found if entry is not None}

    def finished(self) -> dict[int, Entry]:
        """Return the shards that are there, whole and as they were written."""
        return {shard: entry for shard, entry in self.journal().items() if self._is_whole(entry)}

    def write_shard(self, shard: int, data: bytes, rows: int, failed: int, seconds: float) -> Entry:
        """Write a shard, then its line; a crash in between costs the shard, and no more."""
        digest = hashlib.sha256(data).hexdigest()
        entry = Entry(shard, rows, failed, round(seconds, 3), len(data), digest)
        write_bytes(self.shard(shard), data)
        path = self.path / "journal.jsonl"
        try:
            with path.open("ab") as file:
                # A line of its own, even after one that a crash has cut short.
                file.write(b"\n" + json.dumps(asdict(entry)).encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise FileError(f"{path} cannot be written: {error}") from error
        return entry

    def read_shard(self, entry: Entry) -> bytes:
        """Return a shard's bytes.

        Raises:
            FileError: they are not those that were written.
        """
        return _bytes_with(self.shard(entry.shard), entry.sha256)

    def shard(self, number: int) -> Path:
        return self.path / "shards" / f"{number:06d}.parquet"

    def clear_leftovers(self) -> None:
        """Remove what a crash left half-written."""
        for path in [*self.path.glob(".*.part"), *self.path.glob("shards/.*.part")]:
            path.unlink(missing_ok=True)

    def _is_whole(self, entry: Entry) -> bool:
        try:
            self.read_shard(entry)
        except FileError:
            return False
        return True


def _bytes_with(path: Path, sha256: str) -> bytes:
    """The bytes of a file that must have this checksum."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error}") from error
    if hashlib.sha256(data).hexdigest() != sha256:
        raise FileError(
            f"{path} is damaged: it is not what was written; run the job again to make it anew"
        )
    return data


def _names_bytes(names: Sequence[str | int]) -> bytes:
    return json.dumps(names, ensure_ascii=False).encode()


def _entry(line: bytes) -> Entry | None:
    kinds = {"shard": int, "rows": int, "failed": int, "seconds": float, "size": int, "sha256": str}
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict) or fields.keys() != kinds.keys():
        return None
    if not all(type(fields[name]) is kind for name, kind in kinds.items()):
        return None
    return Entry(**fields) if min(fields["shard"], fields["rows"], fields["failed"]) >= 0 else None
