"""A job makes the explanations that ``explain`` makes, whatever happens to it meanwhile."""

import json
import logging
import math

import numpy as np
import pytest
from job_models import (
    MARKED,
    NODES,
    deadly_near_marked,
    exact_explainer,
    explainer,
    fails_near_marked,
    gnn,
    ring,
)

from pgm_explainer import FileError, InputError, JobError, PGMExplainer, execution
from pgm_explainer.dataset import ExplanationDataset, explain_dataset, grouping, job
from pgm_explainer.engines import Lost, ProcessEngine
from pgm_explainer.storage.files import PART


def content(folder):
    """What a data set holds, byte for byte."""
    return {path.name: path.read_bytes() for path in sorted((folder / "shards").iterdir())}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A job that nothing ever happened to."""
    folder = tmp_path_factory.mktemp("whole")
    explain_dataset(explainer(), None, folder, shard_size=20, keep_candidates=100)
    return folder


@pytest.fixture(scope="module")
def exact(tmp_path_factory):
    """The same with a model whose arithmetic is exact on any machine and in any batch."""
    folder = tmp_path_factory.mktemp("exact")
    explain_dataset(exact_explainer(), None, folder, shard_size=20, keep_candidates=100)
    return folder


def test_every_explanation_equals_that_of_its_target_alone(exact):
    data = ExplanationDataset(exact)
    assert len(data) == NODES
    assert data.complete
    assert data.failures() == {}
    alone = exact_explainer()
    for target in (0, 7, 31):
        kept, made = data[target], alone.explain(target)
        assert kept == made
        assert (kept.values, kept.warnings, kept.settings) == (
            made.values,
            made.warnings,
            made.settings,
        )
        assert kept.network is None or kept.query() == made.query()
    assert sorted(each.target for each in data) == list(range(NODES))


def test_only_last_bits_of_a_real_model_depend_on_the_batch(whole):
    data, alone = ExplanationDataset(whole), explainer()
    for target in range(0, NODES, 7):
        kept, made = data[target], alone.explain(target)
        assert kept.nodes == made.nodes
        assert kept.held == made.held
        assert kept.network == made.network
        assert kept.values == pytest.approx(made.values, rel=0, abs=1e-5)


def test_processes_give_the_same_bytes(whole, tmp_path):
    engine = ProcessEngine(2)
    explain_dataset(explainer(), None, tmp_path, engine=engine, shard_size=20, keep_candidates=100)
    assert content(tmp_path) == content(whole)


@pytest.mark.parametrize("at_once", [1, 7, 10**6])
def test_groups_that_share_samples_change_nothing(exact, tmp_path, monkeypatch, at_once):
    monkeypatch.setattr(grouping, "_CANDIDATES_AT_ONCE", at_once)
    explain_dataset(exact_explainer(), None, tmp_path, shard_size=20, keep_candidates=100)
    assert content(tmp_path) == content(exact)


def test_a_finished_job_calls_the_model_only_to_identify_it(whole):
    calls = []

    def counted(x, edge_index):
        calls.append(len(x))
        return gnn(x, edge_index)

    before = content(whole)
    explain_dataset(explainer(counted), None, whole, shard_size=20, keep_candidates=100)
    assert sum(calls) < 60, "fewer questions than the samples of a single explanation"
    assert content(whole) == before


class Stops:
    """An engine that breaks down after some answers."""

    def __init__(self, after):
        self.after = after

    def map(self, prepare, tasks):
        work = prepare()
        for number, task in enumerate(tasks):
            if number == self.after:
                raise KeyboardInterrupt
            yield work(task)


def test_a_stopped_job_computes_only_what_is_missing(whole, tmp_path):
    options = {"shard_size": 20, "keep_candidates": 100}
    for after in (1, 0, 1):
        with pytest.raises(KeyboardInterrupt):
            explain_dataset(explainer(), None, tmp_path, engine=Stops(after), **options)
    partial = ExplanationDataset(tmp_path)
    assert (len(partial), partial.complete) == (40, False)
    explain_dataset(explainer(), None, tmp_path, **options)
    assert content(tmp_path) == content(whole)
    assert len((tmp_path / "journal.jsonl").read_text().split()) > 0


def test_the_batch_size_does_not_depend_on_free_memory(tmp_path, monkeypatch):
    """The bound of the first run, a quarter of the memory free then, is used by all runs."""
    seen = set()

    def counted(x, edge_index):
        seen.add(len(x))
        return gnn(x, edge_index)

    monkeypatch.setattr(execution, "available_memory", lambda: 10**7)
    with pytest.raises(KeyboardInterrupt):
        explain_dataset(explainer(counted), None, tmp_path, engine=Stops(1), shard_size=20)
    seen.clear()
    monkeypatch.setattr(execution, "available_memory", lambda: 10**12)
    explain_dataset(explainer(counted), None, tmp_path, shard_size=20)
    assert max(seen) < 20, "all 60 samples at once, by what is free now"


@pytest.mark.parametrize("damage", ["cut", "emptied", "changed", "removed"])
def test_a_damaged_shard_is_detected_and_computed_again(whole, tmp_path, damage):
    options = {"shard_size": 20, "keep_candidates": 100}
    explain_dataset(explainer(), None, tmp_path, **options)
    path = tmp_path / "shards" / "000001.parquet"
    data = path.read_bytes()
    changed = data[:1000] + bytes([data[1000] ^ 1]) + data[1001:]
    if damage == "removed":
        path.unlink()
    else:
        path.write_bytes({"cut": data[:-10], "emptied": b"", "changed": changed}[damage])
    with pytest.raises(FileError, match=r"000001\.parquet"):
        list(ExplanationDataset(tmp_path))
    leftover = tmp_path / "shards" / PART.format("0123456789abcdef")
    leftover.write_bytes(b"half")
    explain_dataset(explainer(), None, tmp_path, **options)
    assert content(tmp_path) == content(whole)


def test_a_journal_cut_short_by_a_crash_costs_one_shard(whole, tmp_path, caplog):
    options = {"shard_size": 20, "keep_candidates": 100}
    explain_dataset(explainer(), None, tmp_path, **options)
    journal = tmp_path / "journal.jsonl"
    journal.write_bytes(journal.read_bytes()[:-25])
    with caplog.at_level(logging.INFO):
        explain_dataset(explainer(), None, tmp_path, **options)
    assert "1 of 3 shards to do" in caplog.text
    assert content(tmp_path) == content(whole)
    assert ExplanationDataset(tmp_path).complete


def shifted_ring():
    x, edges = ring()
    return x + 1e-9, edges


def rewired_ring():
    x, edges = ring()
    edges[0, 0] = 9
    return x, edges


CHANGES = {
    "the model changed": lambda: explainer(lambda x, edge_index: gnn(-x, edge_index)),
    "the edges changed": lambda: PGMExplainer(gnn, *rewired_ring(), num_layers=2, num_samples=60),
    "the features changed": lambda: PGMExplainer(
        gnn, *shifted_ring(), num_layers=2, num_samples=60
    ),
    "settings seed was 0 and is 1": lambda: explainer(seed=1),
    "settings num_samples was 60 and is 61": lambda: explainer(num_samples=61),
    "settings no_child was True and is False": lambda: explainer(no_child=False),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_changed_model_graph_or_setting_is_refused_by_name(whole, what):
    before = content(whole)
    with pytest.raises(JobError, match=what) as error:
        explain_dataset(CHANGES[what](), None, whole, shard_size=20, keep_candidates=100)
    assert str(whole) in str(error.value)
    assert content(whole) == before


def test_changed_targets_and_storage_options_are_refused(whole):
    with pytest.raises(JobError, match="the targets changed"):
        explain_dataset(explainer(), [1, 2], whole, shard_size=20, keep_candidates=100)
    with pytest.raises(JobError, match="storing keep_candidates was 100 and is 5"):
        explain_dataset(explainer(), None, whole, shard_size=20, keep_candidates=5)


def test_a_module_is_identified_by_its_weights(tmp_path):
    import torch
    from torch_geometric.nn import GCN

    torch.manual_seed(0)
    module = GCN(3, 4, num_layers=2, out_channels=3)
    x, edges = ring()

    def run():
        made = PGMExplainer(module, x, edges, num_samples=40)
        return explain_dataset(made, range(5), tmp_path)

    run()
    assert run().complete
    with torch.no_grad():
        next(module.parameters())[0] += 1e-3
    with pytest.raises(JobError, match="the model changed"):
        run()


def test_the_module_of_a_predictor_is_identified_by_its_weights(tmp_path):
    """The change is too small to show in an answer or two."""
    import torch

    class Held:
        accepts_subgraph = True

        def __init__(self):
            torch.manual_seed(0)
            self.module = torch.nn.Linear(3, 2)

        def __call__(self, x, part, pairs=None):
            return self.module(torch.as_tensor(x, dtype=torch.float32)).detach()

    held = Held()

    def run():
        made = PGMExplainer(held, *ring(), num_layers=1, num_samples=40)
        return explain_dataset(made, range(5), tmp_path)

    run()
    assert run().complete
    with torch.no_grad():
        held.module.weight[0, 0] += 1e-6
    with pytest.raises(JobError, match="the model changed"):
        run()


def test_failed_targets_are_recorded_and_the_others_explained(tmp_path, whole):
    made = explainer(fails_near_marked)
    data = explain_dataset(made, [*range(NODES), -1, NODES], tmp_path, shard_size=20)
    failures = data.failures()
    assert {MARKED, -1, NODES} <= failures.keys()
    assert "no service for the marked node" in failures[MARKED]
    assert "out of range" in failures[NODES]
    assert len(data) == NODES + 2
    assert len(list(data)) == NODES + 2 - len(failures)
    for explanation in data:
        assert explanation.nodes == ExplanationDataset(whole)[explanation.target].nodes
    with pytest.raises(FileError, match=f"target {MARKED} .*no service"):
        data[MARKED]


def test_failed_targets_are_retried_only_on_request(tmp_path):
    broken = True

    def service(x, edge_index):
        if broken:
            raise ConnectionError("down")
        return gnn(x, edge_index)

    assert len(explain_dataset(explainer(service), range(4), tmp_path).failures()) == 4
    broken = False
    assert len(explain_dataset(explainer(service), range(4), tmp_path).failures()) == 4
    mended = explain_dataset(explainer(service), range(4), tmp_path, retry_failed=True)
    assert mended.failures() == {}
    assert len(mended) == 4


class Deaths:
    """An engine whose worker dies on some targets, a given number of times."""

    def __init__(self, deadly, times=math.inf):
        self.deadly, self.times = deadly, times

    def map(self, prepare, tasks):
        work = prepare()
        for task in tasks:
            places = np.concatenate(task.planned(work.explainer))
            if self.times > 0 and np.isin(task.targets[places], self.deadly).any():
                self.times -= 1
                yield Lost(task, "by signal 9 (SIGKILL)")
            else:
                yield work(task)


@pytest.mark.parametrize("times", [1, 2, 5])
def test_workers_that_die_by_chance_leave_no_trace(exact, tmp_path, times):
    engine, made = Deaths([3, 50], times), exact_explainer()
    explain_dataset(made, None, tmp_path, engine=engine, shard_size=20, keep_candidates=100)
    assert content(tmp_path) == content(exact)


def company_matters(x, edge_index):
    """A model whose last digits depend on the size of the subgraph it is called on."""
    return gnn(x, edge_index) * (1 + 1e-9 * x.shape[1])


@pytest.fixture(scope="module")
def grouped(tmp_path_factory):
    """A data set that shows which targets share samples: three shards of several groups."""
    folder = tmp_path_factory.mktemp("company")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "_CANDIDATES_AT_ONCE", 20)
        explain_dataset(explainer(company_matters), None, folder, shard_size=20)
    return folder


@pytest.mark.parametrize("times", [1, 2, 4, 5, 7])
def test_groups_are_recomputed_unchanged(grouped, tmp_path, monkeypatch, times):
    """Killed seven times in two groups; neither group has killed three workers."""
    monkeypatch.setattr(grouping, "_CANDIDATES_AT_ONCE", 20)
    engine = Deaths([3, 50], times)
    explain_dataset(explainer(company_matters), None, tmp_path, engine=engine, shard_size=20)
    assert content(tmp_path) == content(grouped)


def test_a_group_that_kills_three_workers_is_halved(grouped, tmp_path, monkeypatch):
    monkeypatch.setattr(grouping, "_CANDIDATES_AT_ONCE", 20)
    made = explainer(company_matters)
    data = explain_dataset(made, None, tmp_path, engine=Deaths([3]), shard_size=20)
    assert list(data.failures()) == [3]
    before = ExplanationDataset(grouped)
    differ = [each.target for each in data if each.values != before[each.target].values]
    shard = next(
        shard for shard in job.plan_shards(made, np.arange(NODES), 20) if 3 in shard.tolist()
    )
    [group] = [g for g in grouping.groups(made, shard.tolist()) if 3 in shard[g]]
    assert differ
    assert set(differ) < set(shard[group].tolist())


def test_a_target_that_crashes_every_worker_is_found_and_recorded(whole, tmp_path):
    data = explain_dataset(explainer(), None, tmp_path, engine=Deaths([3, 50]), shard_size=20)
    error = "JobError: 3 workers crashed on this target, the last one by signal 9 (SIGKILL)"
    assert data.failures() == {3: error, 50: error}
    assert len(list(data)) == NODES - 2


def test_a_job_survives_a_model_that_kills_its_process(tmp_path, monkeypatch):
    monkeypatch.setattr(job, "_MAX_CRASHES", 2)
    made = explainer(deadly_near_marked)
    # A job calls the model separately on the first, the middle and the last target.
    targets = [0, 4, MARKED, 59]
    data = explain_dataset(made, targets, tmp_path, engine=ProcessEngine(1))
    assert list(data.failures()) == [MARKED]
    assert "SIGKILL" in data.failures()[MARKED]
    assert sorted(each.target for each in data) == [0, 4, 59]


def test_one_folder_has_one_job_at_a_time(tmp_path):
    class Meanwhile:
        def map(self, prepare, tasks):
            with pytest.raises(JobError, match="another job is running"):
                explain_dataset(explainer(), [1], tmp_path)
            return map(prepare(), tasks)

    assert explain_dataset(explainer(), [1], tmp_path, engine=Meanwhile()).complete


def test_a_folder_of_something_else_is_refused(tmp_path):
    (tmp_path / "job.json").write_text('{"format": "something else"}')
    with pytest.raises(FileError, match="does not describe a data set"):
        explain_dataset(explainer(), [1], tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["job.json"], "nothing is made there"
    (tmp_path / "job.json").write_text(
        json.dumps({"format": "pgm-explainer data set", "version": 99})
    )
    with pytest.raises(FileError, match="version 99"):
        ExplanationDataset(tmp_path)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("shard_size", 0),
        ("shard_size", 2.5),
        ("keep_candidates", -1),
        ("engine", "cluster"),
        ("with_features", 1),
        ("with_counterfactual", 1),
        ("retry_failed", "yes"),
    ],
)
def test_a_bad_option_is_named_before_anything_is_written(tmp_path, option, value):
    with pytest.raises(InputError, match=str(value)):
        explain_dataset(explainer(), [1], tmp_path / "new", **{option: value})
    assert not (tmp_path / "new").exists()


def test_a_module_without_weights_is_identified_by_its_outputs(tmp_path):
    torch = pytest.importorskip("torch")

    class Sum(torch.nn.Module):
        sign = 1.0

        def forward(self, x, edge_index):
            return self.sign * x.index_add(0, edge_index[1], x[edge_index[0]])

    module = Sum()
    made = explainer(module, num_layers=1)
    explain_dataset(made, [0, 1], tmp_path)
    explain_dataset(made, [0, 1], tmp_path)
    module.sign = -1.0
    with pytest.raises(JobError, match="the model changed"):
        explain_dataset(made, [0, 1], tmp_path)


def test_an_explainer_may_be_given_as_a_function_or_its_location(whole, tmp_path):
    options = {"shard_size": 20, "keep_candidates": 100}
    explain_dataset(explainer, None, tmp_path / "a", **options)
    explain_dataset("job_models:explainer", None, tmp_path / "b", **options)
    assert content(tmp_path / "a") == content(tmp_path / "b") == content(whole)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ("job_models", "'job_models' is not of the form 'module:attribute'"),
        ("no_such_module:make", "no_such_module"),
        ("job_models:absent", "absent"),
        ("job_models:broken_factory", "weights are not there"),
        ("job_models:NODES", "must be a PGMExplainer"),
        (dict, "not a PGMExplainer"),
        (3, "3"),
    ],
    ids=str,
)
def test_a_function_that_returns_no_explainer_is_named(tmp_path, given, named):
    from pgm_explainer import PGMExplainerError

    with pytest.raises(PGMExplainerError, match=named):
        explain_dataset(given, None, tmp_path)


def test_smallest_changes_are_searched_for_and_stored(tmp_path):
    made = exact_explainer()
    data = explain_dataset(
        made, range(6), tmp_path / "a", keep_candidates=0, shard_size=3, with_counterfactual=True
    )
    found = 0
    for target in range(6):
        kept, alone = data[target], made.explain(target).with_counterfactual()
        assert kept.smallest_change == alone.smallest_change
        found += len(kept.smallest_change.parts)
        assert "smallest change" in kept.reason() or "No set of" in kept.reason()
    assert found > 0
    processes = ProcessEngine(2)
    explain_dataset(
        exact_explainer,
        range(6),
        tmp_path / "b",
        keep_candidates=0,
        shard_size=3,
        with_counterfactual=True,
        engine=processes,
    )
    assert content(tmp_path / "a") == content(tmp_path / "b")
    with pytest.raises(JobError, match="storing with_counterfactual was True"):
        explain_dataset(made, range(6), tmp_path / "a", keep_candidates=0, shard_size=3)
    values = PGMExplainer(gnn, *ring(), num_layers=2, scores="values")
    with pytest.raises(InputError, match="the model predicts values"):
        explain_dataset(values, [1], tmp_path / "c", with_counterfactual=True)
