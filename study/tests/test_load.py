"""Many raters at once, and a server that is killed: nothing is lost or doubled."""

from __future__ import annotations

import asyncio
import json
import threading
import time

import pytest

from pgm_explainer_study.design import plan
from pgm_explainer_study.load import Server, Tally, answer_all, lost_and_doubled, small_study
from pgm_explainer_study.study_file import save_study

RATERS = 20


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "study.json"
    save_study(small_study(24, 3), path)
    return path


def test_nothing_is_lost_or_doubled_when_the_server_is_killed(path):
    count = len(plan(small_study(24, 3), 0))
    server, tally = Server(path), Tally()
    try:
        work = threading.Thread(
            target=lambda: asyncio.run(answer_all(server.port, tally, RATERS, count))
        )
        work.start()
        while len(tally.seconds) < RATERS * count // 3:
            time.sleep(0.002)
        server.kill()
        work.join()
        done = sum(map(len, tally.acknowledged.values()))
        assert 0 < done < RATERS * count
        assert lost_and_doubled(path, server.answers, tally) == (0, 0)
        server.start()
        asyncio.run(answer_all(server.port, tally, RATERS, count))
        assert sum(map(len, tally.acknowledged.values())) == RATERS * count
        assert lost_and_doubled(path, server.answers, tally) == (0, 0)
    finally:
        server.stop()


def test_the_check_finds_lost_answers(path):
    server, tally = Server(path), Tally()
    try:
        asyncio.run(answer_all(server.port, tally, 1, 5))
    finally:
        server.stop()
    (known,) = tally.acknowledged.values()
    assert len(known) == 5
    known[0] += 1
    known[6] = 1
    assert lost_and_doubled(path, server.answers, tally) == (2, 0)
    assert json.loads(path.read_text())["title"]
