"""Every engine returns one result per task, replaces dead workers, and stops on request.

Tasks are Python expressions, so that a test can have a worker do anything, even die.
"""

import math
import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from job_models import Shown, evaluating

from pgm_explainer import InputError, JobError
from pgm_explainer.engines import (
    LocalEngine,
    Lost,
    ProcessEngine,
    RayEngine,
    as_engine,
    processes,
)

DIE = "__import__('os').kill(__import__('os').getpid(), 9)"


@pytest.mark.parametrize("engine", [LocalEngine(), ProcessEngine(2)], ids=str)
def test_every_task_has_one_result(engine):
    answers = engine.map(evaluating, (f"{number} ** 2" for number in range(20)))
    assert sorted(answers) == [number**2 for number in range(20)]


@pytest.mark.parametrize("engine", [LocalEngine(), ProcessEngine(2)], ids=str)
def test_an_empty_list_of_tasks_ends_at_once(engine):
    assert list(engine.map(evaluating, [])) == []


def test_tasks_are_taken_up_only_as_workers_become_free():
    taken = []

    def tasks():
        for number in range(100):
            taken.append(number)
            yield str(number)

    answers = ProcessEngine(1).map(evaluating, tasks())
    next(answers)
    assert len(taken) <= 2
    answers.close()


def test_a_killed_process_is_replaced_and_its_task_is_lost():
    tasks = ["1", DIE, "2", "3", DIE]
    answers = list(ProcessEngine(1).map(evaluating, tasks))
    lost = [each for each in answers if isinstance(each, Lost)]
    assert [each.task for each in lost] == [DIE, DIE]
    assert all("SIGKILL" in each.reason for each in lost)
    assert sorted(each for each in answers if not isinstance(each, Lost)) == [1, 2, 3]


def test_an_exit_code_is_reported():
    [lost] = ProcessEngine(1).map(evaluating, ["__import__('os')._exit(7)"])
    assert lost.reason == "by exit code 7"


def test_processes_that_never_start_end_the_job(monkeypatch):
    monkeypatch.setattr(processes, "_MAX_FAILED_STARTS", 2)
    never_ready = partial(os._exit, 3)
    with pytest.raises(JobError, match=r"2 processes in a row died.*exit code 3.*memory"):
        list(ProcessEngine(2).map(never_ready, [1] * 100))


def test_a_missing_main_guard_is_reported(tmp_path):
    """Each process imports the script, and would start another job."""
    script = tmp_path / "script.py"
    script.write_text(
        "from pgm_explainer.engines import ProcessEngine\n"
        "list(ProcessEngine(1).map(int, ['1'] * 20))\n"
    )
    command = [sys.executable, str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert "JobError" in done.stderr
    assert "if __name__ == '__main__'" in done.stderr


def test_an_exception_in_a_task_is_reported_with_its_text():
    with pytest.raises(JobError, match="ZeroDivisionError: division by zero"):
        list(ProcessEngine(1).map(evaluating, ["1 / 0"]))
    with pytest.raises(JobError, match=r"cannot be sent to another process.*module:make_explainer"):
        list(ProcessEngine(1).map(lambda: None, ["1"]))


def test_arrays_are_mapped_from_one_file_and_cannot_be_written():
    array = np.arange(1_000_000.0)
    answers = list(ProcessEngine(1).map(Shown(array), ["max", "writeable", "maps"]))
    assert answers[0] == 999_999.0
    assert answers[1] is False
    assert answers[2], "the array should be in a mapped file without a name"


def test_closing_stops_the_processes_at_once():
    pids = "__import__('os').getpid()"
    answers = ProcessEngine(1).map(evaluating, [pids, "__import__('time').sleep(60)"])
    pid = next(answers)
    started = time.monotonic()
    answers.close()
    assert time.monotonic() - started < 10
    assert not Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize(
    ("choice", "named"),
    [("cluster", "'cluster'"), (None, "None"), (3, "3"), (ProcessEngine, "ProcessEngine")],
    ids=str,
)
def test_an_engine_that_is_none_is_named(choice, named):
    with pytest.raises(InputError, match=named):
        as_engine(choice)


def test_a_user_defined_engine_is_used_directly():
    class Backwards:
        def map(self, prepare, tasks):
            return map(prepare(), list(tasks)[::-1])

    assert list(as_engine(Backwards()).map(evaluating, ["1", "2"])) == [2, 1]


@pytest.mark.parametrize("workers", [0, -1, 1.5, "two", True], ids=str)
@pytest.mark.parametrize("engine", [ProcessEngine, RayEngine])
def test_a_bad_number_of_workers_is_named(engine, workers):
    with pytest.raises(InputError, match="workers"):
        engine(workers=workers)


@pytest.mark.parametrize("gpus", [-1, math.inf, math.nan, "all"], ids=str)
def test_a_bad_number_of_gpus_is_named(gpus):
    with pytest.raises(InputError, match="gpus"):
        RayEngine(gpus=gpus)


def test_a_data_frame_is_not_an_engine():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(InputError, match="engine must be a name"):
        as_engine(pandas.DataFrame({"a": [1]}))
