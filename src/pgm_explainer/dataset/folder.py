"""The folder of a data set: its layout, and how it survives crashes.

::

    job.json        fingerprints of the job: model, graph, settings and targets
    journal.jsonl   one line for each finished shard: its checksum, failures and time
    names.json      the names of the nodes, if they have any; valid only if job.json has its
                    checksum
    shards/         one Parquet file for each finished shard, written atomically
    lock            held while a job runs

A shard counts as finished when the journal has a line for it and its file has the checksum of that
line. The operating system releases the lock when its holder ends, for whatever reason.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path
from typing import IO, Any

from ..errors import FileError, JobError
from ..limits import SHARD_BYTES, SHARD_ROWS
from ..storage.checked import parse_json
from ..storage.files import (
    PART,
    PathLike,
    as_path,
    as_text,
    read_bytes,
    read_file,
    write_bytes,
    write_text,
)
from .job_file import JobFile, NamesEntry, names_bytes

__all__ = ["DatasetFolder", "Entry"]

_LEFTOVER = re.compile(re.escape(PART).replace(r"\{\}", "[0-9a-f]+"))
_SHA256 = re.compile("[0-9a-f]{64}")
_AGAIN = "run the job again to recreate it"


@dataclass(frozen=True)
class Entry:
    """A line of the journal, for one finished shard."""

    shard: int
    rows: int
    failed: int
    seconds: float
    size: int
    sha256: str


@dataclass(frozen=True)
class DatasetFolder:
    """Reads and writes the folder; the only class that depends on its layout."""

    path: Path

    @classmethod
    def at(cls, path: PathLike) -> DatasetFolder:
        return cls(as_path(path))

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Create the folder if needed and lock it against other jobs.

        Raises:
            JobError: another job holds the lock, or the folder cannot be written.
        """
        try:
            import fcntl
        except ImportError as error:
            raise JobError("jobs lock their folder, which needs Linux, macOS or a BSD") from error
        try:
            (self.path / "shards").mkdir(parents=True, exist_ok=True)
            lock = _append_to(self.path / "lock")
        except (OSError, ValueError) as error:  # ValueError: a name that contains a null character
            raise JobError(f"{self.path} cannot be written: {error}") from error
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise JobError(
                    f"another job is running in {self.path}; wait for it, stop it, or choose "
                    f"another folder ({error})"
                ) from error
            yield

    def read_job(self) -> JobFile | None:
        """Return the content of ``job.json``; None if there is none.

        Raises:
            FileError: it is not of a data set, of another version, or damaged.
        """
        path = self.path / "job.json"
        return read_file(path, JobFile.parse) if _exists(path) else None

    def write_job(self, job: JobFile) -> None:
        write_text(self.path / "job.json", job.text())

    def read_names(self, known: NamesEntry) -> list[str | int]:
        """Return the names of the nodes.

        Raises:
            FileError: they are not the names that the job was given.
        """
        path = self.path / "names.json"
        document = _bytes_with(path, known.sha256)
        try:
            names = parse_json(as_text(document), _AGAIN)
        except FileError as error:
            raise FileError(f"{path}: {error}") from None
        if not isinstance(names, list) or not all(type(name) in (str, int) for name in names):
            raise FileError(f"{path} is not a list of names; {_AGAIN}")
        if not len(names) == len(set(names)) == known.count:
            raise FileError(f"{path} should have {known.count} names, all different; {_AGAIN}")
        return names

    def write_names(self, names: Sequence[str | int]) -> None:
        write_bytes(self.path / "names.json", names_bytes(names))

    def check_no_other_names(self, names: Sequence[str | int]) -> None:
        """Check that no ``names.json`` of another origin would be overwritten.

        Raises:
            JobError: there is one. (The same names may be left over from a killed job.)
        """
        path = self.path / "names.json"
        if _exists(path) and read_bytes(path) != names_bytes(names):
            raise JobError(
                f"{path} already exists, but there is no job.json of a data set it belongs to: "
                f"move it away, or choose another folder"
            )

    def journal(self, job: JobFile | None = None) -> dict[int, Entry]:
        """Return the last line of each shard; truncated lines are ignored.

        Args:
            job: the job of the shards; None to accept any.

        Raises:
            FileError: a shard does not belong to the job.
        """
        path = self.path / "journal.jsonl"
        if not _exists(path):
            return {}
        found = (_entry(line) for line in read_bytes(path).split(b"\n"))
        entries = {entry.shard: entry for entry in found if entry is not None}
        for entry in entries.values():
            if job is not None and not (
                entry.shard < job.shards and entry.rows == job.rows(entry.shard)
            ):
                raise FileError(
                    f"{path} names shard {entry.shard} of {entry.rows} rows, which the job of "
                    f"{job.targets} targets in shards of {job.shard_size} does not have: remove "
                    f"that line, or choose another folder"
                )
        return entries

    def finished(self, job: JobFile) -> dict[int, Entry]:
        """Return the shards whose files are complete and unchanged."""
        return {
            shard: entry for shard, entry in self.journal(job).items() if self._is_intact(entry)
        }

    def write_shard(self, shard: int, data: bytes, rows: int, failed: int, seconds: float) -> Entry:
        """Write a shard, then its journal line; a crash in between loses only this shard."""
        digest = hashlib.sha256(data).hexdigest()
        entry = Entry(shard, rows, failed, round(seconds, 3), len(data), digest)
        write_bytes(self.shard(shard), data)
        path = self.path / "journal.jsonl"
        try:
            with _append_to(path) as file:
                # Start a new line, even after one that a crash has truncated.
                file.write(b"\n" + json.dumps(asdict(entry)).encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise FileError(f"{path} cannot be written: {error}") from error
        return entry

    def read_shard(self, entry: Entry) -> bytes:
        """Return a shard's bytes.

        Raises:
            FileError: they do not have the checksum of the journal.
        """
        return _bytes_with(self.shard(entry.shard), entry.sha256, SHARD_BYTES)

    def shard(self, number: int) -> Path:
        return self.path / "shards" / f"{number:06d}.parquet"

    def has_shards(self) -> bool:
        """Return whether there are files that a job would overwrite."""
        return any((self.path / "shards").glob("*.parquet"))

    def clear_leftovers(self) -> None:
        """Remove the temporary files of a killed job.

        Only for a folder that belongs to a data set according to ``job.json``.
        """
        for folder in (self.path, self.path / "shards"):
            for path in folder.iterdir():
                if _LEFTOVER.fullmatch(path.name) and stat.S_ISREG(path.lstat().st_mode):
                    path.unlink(missing_ok=True)

    def _is_intact(self, entry: Entry) -> bool:
        try:
            self.read_shard(entry)
        except FileError:
            return False
        return True


def _exists(path: Path) -> bool:
    """Return whether a path exists, even if it is not a file; reading it will show that."""
    try:
        path.lstat()
    except (OSError, ValueError):
        return False
    return True


def _append_to(path: Path) -> IO[bytes]:
    """Open a file for appending; pipes are refused because they would block."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK, 0o666)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(f"{path.name} is a pipe or a device, not a file")
    return os.fdopen(descriptor, "ab")


def _bytes_with(path: Path, sha256: str, limit: int | None = None) -> bytes:
    """Return the bytes of a file that must have this checksum."""
    data = read_bytes(path) if limit is None else read_bytes(path, limit)
    if hashlib.sha256(data).hexdigest() != sha256:
        raise FileError(f"{path} is damaged: its checksum is wrong; {_AGAIN}")
    return data


def _entry(line: bytes) -> Entry | None:
    """Parse a line of the journal; None if it is damaged, and the shard is then repeated."""
    kinds = {"shard": int, "rows": int, "failed": int, "seconds": float, "size": int, "sha256": str}
    try:
        fields: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict) or fields.keys() != kinds.keys():
        return None
    if not all(type(fields[name]) is kind for name, kind in kinds.items()):
        return None
    entry = Entry(**fields)
    valid = (
        entry.shard >= 0
        and 0 <= entry.failed <= entry.rows
        and 1 <= entry.rows <= SHARD_ROWS
        and isfinite(entry.seconds)
        and entry.seconds >= 0
        and _SHA256.fullmatch(entry.sha256)
    )
    return entry if valid else None
