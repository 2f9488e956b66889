"""A real Ray cluster on this machine: same rows, actors replaced, failures reported."""

import filecmp

import pytest
from job_models import evaluating, explainer, gnn, ring, threaded

from pgm_explainer import JobError
from pgm_explainer.dataset import explain_dataset
from pgm_explainer.engines import Lost, RayEngine

ray = pytest.importorskip("ray")
DIE = "__import__('os').kill(__import__('os').getpid(), 9)"
ENGINE = RayEngine(workers=2)


@pytest.fixture(scope="module", autouse=True)
def cluster():
    with ENGINE.cluster():
        yield


@pytest.mark.parametrize("model", [gnn, threaded])
def test_the_rows_equal_those_of_a_local_job(tmp_path, model):
    """Also for a model whose last bits depend on the number of threads, which Ray changes."""
    made = explainer(model)
    data = explain_dataset(made, None, tmp_path / "ray", engine=ENGINE, shard_size=20)
    explain_dataset(made, None, tmp_path / "local", shard_size=20)
    shards = sorted(path.name for path in (tmp_path / "ray" / "shards").iterdir())
    assert len(data) == len(ring()[0])
    assert filecmp.cmpfiles(
        tmp_path / "ray" / "shards", tmp_path / "local" / "shards", shards, shallow=False
    ) == (shards, [], [])


@pytest.mark.parametrize("parts", ["edges", ["nodes", "edges"], "features"])
def test_the_rows_of_other_parts_equal_those_of_a_local_job(tmp_path, parts):
    """One actor, since starting it takes most of the time."""
    made = explainer(parts=parts)
    for name, engine in (("ray", RayEngine(workers=1)), ("local", "local")):
        explain_dataset(made, range(8), tmp_path / name, engine=engine, shard_size=4)
    shards = {path.name for path in (tmp_path / "local" / "shards").iterdir()}
    assert len(shards) == 2
    assert filecmp.cmpfiles(
        tmp_path / "ray" / "shards", tmp_path / "local" / "shards", shards, shallow=False
    )[1:] == ([], [])


def test_a_dead_actor_is_replaced_and_an_exception_is_reported():
    answers = RayEngine(workers=1).map(evaluating, ["1", DIE, "2", "1 / 0"])
    assert next(answers) == 1
    assert next(answers) == Lost(DIE, "with its Ray actor")
    assert next(answers) == 2
    with pytest.raises(JobError, match="division by zero"):
        next(answers)


def test_an_actor_that_cannot_start_is_reported():
    from job_models import broken_factory

    with pytest.raises(JobError, match="weights are not there"):
        list(RayEngine(workers=1).map(broken_factory, ["1"]))
