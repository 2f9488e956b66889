"""Raters and answers in SQLite. What has been acknowledged survives a crash of the machine.

Answers are only ever added: a changed answer is a new row, and the newest row counts. A submission
has an identifier chosen by the page, so one that is sent twice is stored once.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import sqlite3
import time
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pgm_explainer import FileError, PGMExplainerError

__all__ = ["Answer", "FullError", "Rater", "Store", "TakenError"]

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE raters (
    id INTEGER PRIMARY KEY,
    token TEXT NOT NULL UNIQUE,
    slot INTEGER NOT NULL,
    source TEXT NOT NULL,
    person TEXT UNIQUE,
    session TEXT,
    joined REAL NOT NULL
) STRICT;
CREATE TABLE answers (
    id INTEGER PRIMARY KEY,
    rater INTEGER NOT NULL REFERENCES raters (id),
    trial INTEGER NOT NULL,
    value INTEGER NOT NULL,
    ms INTEGER NOT NULL,
    submission TEXT NOT NULL,
    received REAL NOT NULL,
    UNIQUE (rater, submission)
) STRICT;
"""
_VERSION = "1"


class FullError(PGMExplainerError):
    """The study already has the maximum number of raters."""


class TakenError(PGMExplainerError):
    """A rater with this identifier has already joined, in another session."""


@dataclass(frozen=True)
class Rater:
    """A rater.

    Attributes:
        token: the secret part of the personal link.
        slot: the number that determines the trials.
        source: ``"human"``, ``"pilot"``, ``"imported"`` or ``"simulated"``.
        joined: when consent was given, in seconds since 1970.
    """

    id: int
    token: str
    slot: int
    source: str
    joined: float


class Answer(NamedTuple):
    """An answer of a rater to the trial with this number."""

    rater: int
    trial: int
    value: int
    ms: int
    submission: str


class Store:
    """The database of a study.

    Args:
        path: the file, created if it does not exist.
        study: the code of the study; a file of another study is refused.
        simulated: whether simulated raters are stored; they never share a file with people.

    Raises:
        FileError: the file cannot be opened, or is not a database of this study.
    """

    def __init__(self, path: Path, study: str, simulated: bool = False) -> None:
        self.path = path
        kind = "simulated" if simulated else "people"
        try:
            self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")  # a commit waits for the disk
            self._db.execute("PRAGMA foreign_keys = ON")
            self._db.execute("BEGIN IMMEDIATE")
            if not self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                for statement in _SCHEMA.split(";\n"):
                    self._db.execute(statement)
                meta = {
                    "version": _VERSION,
                    "study": study,
                    "kind": kind,
                    "secret": secrets.token_hex(32),
                }
                self._db.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
            self._db.execute("COMMIT")
            self._meta = dict(self._db.execute("SELECT key, value FROM meta").fetchall())
        except sqlite3.Error as error:
            raise FileError(f"{path} cannot be used as the answers of a study: {error}") from error
        self._check(study, kind)

    def _check(self, study: str, kind: str) -> None:
        if self._meta.get("version") != _VERSION:
            raise FileError(f"{self.path} has another version of the format of answers")
        if self._meta["study"] != study:
            raise FileError(
                f"{self.path} holds answers to another study, or to this one before it was "
                f"changed; use another file of answers"
            )
        if self._meta["kind"] != kind:
            raise FileError(
                f"{self.path} holds answers of {self._meta['kind']} raters, which are never "
                f"mixed with others; use another file"
            )

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def __del__(self) -> None:
        if hasattr(self, "_db"):
            self._db.close()

    @staticmethod
    def is_simulated(path: Path) -> bool:
        """Whether a file holds simulated raters."""
        try:
            with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as db:
                row = db.execute("SELECT value FROM meta WHERE key = 'kind'").fetchone()
        except sqlite3.Error as error:
            raise FileError(f"{path} cannot be read as the answers of a study: {error}") from error
        return row is not None and row[0] == "simulated"

    def disguised(self, text: str) -> str:
        """Return a keyed hash of an identifier, from which it cannot be read."""
        key = bytes.fromhex(self._meta["secret"])
        return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()

    def join(
        self,
        source: str,
        most: int | None = None,
        person: str | None = None,
        session: str | None = None,
        slot: int | None = None,
    ) -> Rater:
        """Add a rater, or return the one who joined in the same session of a recruiting service.

        Args:
            most: the largest number of raters of this source.
            person, session: identifiers of a recruiting service; only hashes are stored.
            slot: the slot; by default the next free one.

        Raises:
            FullError: the study already has the maximum number of raters.
            TakenError: the person joined in another session, so this may be someone else.
        """
        who = None if person is None else self.disguised(f"person {source} {person}")
        when = None if session is None else self.disguised(f"session {session}")
        with self._transaction():
            if who is not None:
                row = self._db.execute(
                    "SELECT session, token FROM raters WHERE person = ?", (who,)
                ).fetchone()
                if row is not None:
                    if when is None or row[0] is None or not hmac.compare_digest(row[0], when):
                        raise TakenError("this person has already joined, in another session")
                    found = self.rater(row[1])
                    assert found is not None
                    return found
            count, last = self._db.execute(
                "SELECT count(*), coalesce(max(slot), -1) FROM raters WHERE source = ?", (source,)
            ).fetchone()
            if most is not None and count >= most:
                raise FullError(f"the study already has {most} raters, the maximum")
            token = secrets.token_urlsafe(18)
            row = (token, last + 1 if slot is None else slot, source, who, when, time.time())
            made = self._db.execute(
                "INSERT INTO raters (token, slot, source, person, session, joined) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                row,
            )
            assert made.lastrowid is not None
        return Rater(made.lastrowid, token, row[1], source, row[5])

    def rater(self, token: str) -> Rater | None:
        """Return the rater with a token, if there is one."""
        row = self._db.execute(
            "SELECT id, token, slot, source, joined FROM raters WHERE token = ?", (token,)
        ).fetchone()
        return None if row is None else Rater(*row)

    def raters(self) -> list[Rater]:
        """Return all raters."""
        rows = self._db.execute("SELECT id, token, slot, source, joined FROM raters ORDER BY id")
        return [Rater(*row) for row in rows]

    def add(self, answers: Iterable[Answer]) -> None:
        """Store answers in one transaction, which is on the disk when this returns.

        A submission that is there already is not stored again.
        """
        now = time.time()
        with self._transaction():
            self._db.executemany(
                "INSERT INTO answers (rater, trial, value, ms, submission, received) "
                "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (rater, submission) DO NOTHING",
                [(*answer, now) for answer in answers],
            )

    def latest(self, rater: int) -> dict[int, int]:
        """Return the newest answer of a rater to each trial."""
        rows = self._db.execute(
            "SELECT trial, value FROM answers WHERE rater = ? ORDER BY id", (rater,)
        )
        return dict(rows.fetchall())

    def count(self, rater: int) -> int:
        """Return how many answers of a rater are stored, replaced ones included."""
        row = self._db.execute("SELECT count(*) FROM answers WHERE rater = ?", (rater,)).fetchone()
        return int(row[0])

    def history(self) -> list[tuple[int, int, int, int, float]]:
        """Return all answers, oldest first: rater, trial, value, milliseconds, time received."""
        return self._db.execute(
            "SELECT rater, trial, value, ms, received FROM answers ORDER BY id"
        ).fetchall()

    def _transaction(self) -> _Transaction:
        return _Transaction(self._db)


class _Transaction:
    """A transaction that is committed at its end, or rolled back if there is an error."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def __enter__(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: object, *_: object) -> None:
        self._db.execute("COMMIT" if kind is None else "ROLLBACK")
