"""``job.json``: the description of a job, validated when it is read back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

from ..errors import FileError
from ..limits import brief
from ..storage.checked import Checked, parse_json
from ..storage.files import as_text

__all__ = ["FORMAT", "VERSION", "JobFile", "NamesEntry", "names_bytes"]

FORMAT = "pgm-explainer data set"
VERSION = 5

_HINT = "restore it from a copy, or explain into another folder"


@dataclass(frozen=True)
class NamesEntry:
    """The entry of ``job.json`` about names: their number, and the checksum of their file."""

    count: int
    sha256: str

    @classmethod
    def of(cls, names: Sequence[str | int]) -> NamesEntry:
        return cls(len(names), sha256(names_bytes(names)).hexdigest())


@dataclass(frozen=True, kw_only=True)
class JobFile:
    """The description of a job.

    Attributes:
        task: ``"node"``, ``"edge"`` or ``"graph"`` (many graphs).
        targets: number of targets.
        target_type: the node type that is explained, in a heterogeneous graph.
        shard_size: number of targets per file.
        max_memory: memory limit for samples in bytes, as it was when the job started.
        names: about the names of the nodes, if they have any.
        fingerprint: properties that must not change until the job is finished.
    """

    task: str
    targets: int
    target_type: str | None
    shard_size: int
    max_memory: int
    names: NamesEntry | None
    fingerprint: dict[str, Any]

    @property
    def shards(self) -> int:
        """The number of files of the finished data set."""
        return -(-self.targets // self.shard_size)

    def rows(self, shard: int) -> int:
        """Return the number of rows of a shard."""
        return min(self.shard_size, self.targets - shard * self.shard_size)

    def text(self) -> str:
        """Return the content of the file."""
        return json.dumps({"format": FORMAT, "version": VERSION, **asdict(self)}, indent=1) + "\n"

    @classmethod
    def parse(cls, document: bytes) -> JobFile:
        """Read what :meth:`text` wrote.

        Raises:
            FileError: it is not of a data set, of another version, or damaged.
        """
        job = parse_json(as_text(document), _HINT)
        if not isinstance(job, dict) or job.get("format") != FORMAT:
            raise FileError("this does not describe a data set of explanations; choose a folder")
        if job.get("version") != VERSION:
            raise FileError(
                f"this has version {brief(job.get('version'))}, and this pgm-explainer reads "
                f"version {VERSION}: explain into another folder, or use the release it was made "
                f"with"
            )
        try:
            return cls(**_read(Checked(job, "it")))
        except FileError as error:
            raise FileError(f"this is damaged: {error}; {_HINT}") from None


def _read(job: Checked) -> dict[str, Any]:
    known = ("format", "version", *JobFile.__dataclass_fields__)
    fields = job.fields(*known)
    return {
        "task": fields["task"].one_of(("node", "edge", "graph")),
        "targets": fields["targets"].whole_number(at_least=1),
        "target_type": fields["target_type"].or_none(Checked.text),
        "shard_size": fields["shard_size"].whole_number(at_least=1),
        "max_memory": fields["max_memory"].whole_number(at_least=1),
        "names": fields["names"].or_none(_read_names),
        "fingerprint": {name: value.value for name, value in fields["fingerprint"].entries()},
    }


def _read_names(names: Checked) -> NamesEntry:
    fields = names.fields("count", "sha256")
    return NamesEntry(fields["count"].whole_number(), fields["sha256"].text())


def names_bytes(names: Sequence[str | int]) -> bytes:
    """Return the content of the file of names."""
    return json.dumps(names, ensure_ascii=False).encode()
