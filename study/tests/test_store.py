"""What was acknowledged is kept, once; raters are never mixed up."""

from __future__ import annotations

import sqlite3

import pytest

from pgm_explainer import FileError
from pgm_explainer_study.store import Answer, FullError, Store, TakenError


def test_a_submission_is_stored_once_and_the_newest_answer_counts(store):
    rater = store.join("human").id
    store.add([Answer(rater, 0, 3, 10, "first"), Answer(rater, 0, 5, 10, "second")])
    store.add([Answer(rater, 0, 3, 10, "first")])
    assert store.latest(rater) == {0: 5}
    assert store.count(rater) == 2


def test_every_commit_waits_for_the_disk(store):
    assert store._db.execute("PRAGMA synchronous").fetchone() == (2,)
    assert store._db.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_failed_group_leaves_nothing_behind(store):
    rater = store.join("human").id
    with pytest.raises(sqlite3.IntegrityError):
        store.add([Answer(rater, 0, 3, 10, "good"), Answer(99, 0, 3, 10, "nobody")])
    assert store.latest(rater) == {}
    store.add([Answer(rater, 0, 4, 10, "again")])
    assert store.latest(rater) == {0: 4}


def test_slots_are_consecutive_for_each_kind_of_rater(store):
    assert [store.join("human").slot for _ in range(3)] == [0, 1, 2]
    assert store.join("pilot").slot == 0


def test_tokens_are_long_and_different(store):
    tokens = {store.join("human").token for _ in range(50)}
    assert len(tokens) == 50
    assert min(map(len, tokens)) >= 22  # 128 bits


def test_the_cap_holds(store):
    for _ in range(2):
        store.join("human", 2)
    with pytest.raises(FullError):
        store.join("human", 2)
    store.join("pilot")


def test_a_person_comes_back_in_the_same_session_only(store):
    first = store.join("human", None, "somebody", "session")
    assert store.join("human", None, "somebody", "session") == first
    for session in ("other", None):
        with pytest.raises(TakenError):
            store.join("human", None, "somebody", session)


def test_identifiers_are_not_in_the_file(store):
    store.join("human", None, "PID-5f3c", "SESSION-77")
    files = [store.path, store.path.with_name(store.path.name + "-wal")]
    contents = b"".join(path.read_bytes() for path in files if path.exists())
    assert b"PID-5f3c" not in contents
    assert b"SESSION-77" not in contents


def test_answers_of_another_study_or_of_simulated_raters_are_refused(store, tmp_path):
    with pytest.raises(FileError, match="another study"):
        Store(store.path, "other")
    with pytest.raises(FileError, match="never mixed"):
        Store(store.path, store._meta["study"], simulated=True)
    assert not Store.is_simulated(store.path)
    other = tmp_path / "other.sqlite"
    Store(other, "x", simulated=True).close()
    assert Store.is_simulated(other)


def test_a_file_that_is_no_database_is_refused(tmp_path):
    path = tmp_path / "answers.sqlite"
    path.write_text("not a database, but long enough to look at " * 50)
    with pytest.raises(FileError):
        Store(path, "x")
