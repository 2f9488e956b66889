"""Reading a data set: targets, tables, pairs, types, features; damaged files are refused."""

import json
import shutil

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from job_models import NODES, explainer

from pgm_explainer import (
    Explanation,
    FileError,
    InputError,
    JobError,
    PGMExplainer,
    PGMExplainerError,
)
from pgm_explainer.dataset import ExplanationDataset, explain_dataset
from pgm_explainer.explanation.formats.settings_file import settings_to_dict


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    return explain_dataset(explainer(), None, folder, shard_size=25, with_features=True)


def test_the_columns_match_the_explanations(data):
    frame = data.to_pandas().set_index("target")
    assert len(frame) == NODES
    for explanation in data:
        row = frame.loc[explanation.target]
        ranked = {each.node: each for each in explanation.ranking}
        chosen = [ranked[node] for node in explanation.nodes]
        assert list(row["nodes"]) == explanation.nodes
        assert list(row["log_p"]) == [each.log_p for each in chosen]
        assert list(row["effect_size"]) == [each.effect_size for each in chosen]
        assert list(row["markov_blanket"]) == explanation.markov_blanket
        assert (row["probability"], row["held"]) == (explanation.probability, explanation.held)
        assert json.loads(row["settings"]) == settings_to_dict(explanation.settings)
        if explanation.network is not None:
            assert row["network"] == explanation.network.factorisation
    assert (frame["seconds"] > 0).all()
    assert set(data.to_pandas(["target"]).columns) == {"target", "seconds"}


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (["nope"], "there is no column 'nope'; the columns are target, error, "),
        (["target", "nope"], "there is no column 'nope'"),
        ("target", "a list of their names, not 'target'"),
        (5, "a list of their names, not 5"),
    ],
)
def test_a_column_that_is_not_there_is_named(data, columns, said):
    for read in (data.to_pandas, lambda columns: list(data.rows(columns))):
        with pytest.raises(InputError, match=said):
            read(columns)


def test_a_class_is_a_whole_number(data):
    assert data.class_name(np.int64(1)) == "1"
    for wrong in ("1", (1,), -1, 0.5):
        with pytest.raises(InputError, match="a class must be"):
            data.class_name(wrong)


def test_any_parquet_reader_reads_it(data):
    table = pq.read_table(data.path / "shards")
    assert len(table) == NODES
    assert sorted(table["target"].to_pylist()) == list(range(NODES))


def test_features_are_those_of_explain_features(data):
    alone = explainer()
    some = [row for row in data.rows() if any(each["significant"] for each in row["features"])]
    row = some[0]
    effects = alone.explain_features(alone.explain(row["target"]))
    kept = row["features"]
    assert [(each["node"], each["feature"]) for each in kept[:3]] == [
        (each.node, each.feature) for each in effects[:3]
    ]
    np.testing.assert_allclose([each["effect"] for each in kept[:3]], effects.effect[:3])
    assert sum(each["significant"] for each in kept) == effects.significant.sum() > 0
    assert {each["node"] for each in kept if each["own"]} <= {row["target"]}
    whole = data[row["target"]].features
    assert len(whole) == len(kept) == len(effects) - whole.left_out


def test_a_truncated_ranking_has_a_warning(tmp_path):
    data = explain_dataset(explainer(max_nodes=1), [7], tmp_path, keep_candidates=2)
    whole = explainer(max_nodes=1).explain(7)
    kept = data[7]
    assert len(kept.ranking) == 2 < len(whole.ranking)
    assert kept.nodes == whole.nodes
    assert kept.query() == whole.query()
    assert kept.warnings[-1] == (
        f"the data set kept only the first 2 of {len(whole.ranking)} candidates"
    )
    assert kept.ranking.num_candidates == len(whole.ranking)
    assert str(kept).splitlines()[0] == str(whole).splitlines()[0]
    assert f" of {len(whole.effects)} nodes " in str(kept)
    path = tmp_path / "kept.json"
    kept.save(path)
    assert Explanation.load(path).ranking.left_out == kept.ranking.left_out > 0


def test_the_threshold_is_drawn_only_if_known(tmp_path):
    """Significance depends on all candidates, some of which were left out."""
    for correction, lines in (("benjamini_hochberg", 0), ("none", 1)):
        corrected = explainer(correction=correction)
        data = explain_dataset(corrected, [7], tmp_path / correction, keep_candidates=2)
        axes = data[7].plot("ranking").axes[0]
        assert len(axes.lines) == lines
        assert len(corrected.explain(7).plot("ranking").axes[0].lines) == 1
        assert "more are not drawn" in axes.get_title()


def test_a_data_set_of_another_version_is_refused_first(tmp_path):
    explain_dataset(explainer(), [7], tmp_path)
    job = tmp_path / "job.json"
    before = json.loads(job.read_text())
    job.write_text(json.dumps({**before, "version": 1}))
    for attempt in (
        lambda: ExplanationDataset(tmp_path),
        lambda: explain_dataset(explainer(), [7], tmp_path),
    ):
        with pytest.raises(FileError, match=r"version 1, .* into another folder"):
            attempt()


@pytest.mark.parametrize(
    "target",
    [NODES, -1, "a", None, (1, 2), 2**70, [1], 1.7, "1", True, np.bool_(True), ("foo", 1)],
    ids=repr,
)
def test_a_target_that_is_not_there_is_named(data, target):
    with pytest.raises(InputError, match="target"):
        data[target]


def test_any_integer_type_is_accepted_as_a_target(data):
    assert data[np.int32(1)] == data[np.array(1)] == data[1]


def pair_explainer():
    x, edges = np.eye(5), np.array([[0, 1, 2, 3], [1, 2, 3, 4]])
    return PGMExplainer(
        lambda x, pairs: 3 * np.stack((x[:, pairs[0], 1], x[:, pairs[1], 2]), axis=-1),
        x,
        edges,
        task="edge",
        num_layers=1,
        num_samples=50,
    )


def test_pairs_are_stored_as_pairs(tmp_path):
    made = pair_explainer()
    data = explain_dataset(made, [(2, 3), (1, 2)], tmp_path, shard_size=1)
    assert data[1, 2] == made.explain((1, 2))
    assert {each.target for each in data} == {(1, 2), (2, 3)}
    assert data.to_pandas()["target"].map(tuple).tolist() == [each.target for each in data]
    for wrong in (1, "12", {1, 2}, (1, 2, 3), (1, 2.0), (True, 2), ("foo", 2)):
        with pytest.raises(InputError, match="is not a target"):
            data[wrong]


@pytest.fixture
def kinds():
    """An explainer of papers, which have authors."""
    torch = pytest.importorskip("torch")
    from torch_geometric.data import HeteroData
    from torch_geometric.nn import SAGEConv

    torch.manual_seed(0)
    graph = HeteroData()
    graph["paper"].x, graph["author"].x = torch.randn(12, 4), torch.randn(8, 3)
    graph["author", "writes", "paper"].edge_index = torch.stack(
        (torch.arange(24) % 8, torch.arange(24) % 12)
    )

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = SAGEConv((3, 4), 2)

        def forward(self, x_dict, edge_index_dict):
            ends = (x_dict["author"], x_dict["paper"])
            return 3 * self.conv(ends, edge_index_dict["author", "writes", "paper"])

    return PGMExplainer(Model(), graph, target_type="paper", num_samples=100)


def test_nodes_of_several_types_keep_their_names(kinds, tmp_path):
    made = kinds
    data = explain_dataset(made, None, tmp_path)
    assert (len(data), data.failures()) == (12, {})
    assert data["paper", 3] == data[3]
    assert data[3].target == ("paper", 3)
    assert data[3].nodes == made.explain(3).nodes
    view = data.overview()
    assert [each.what for each in view.kinds] == ["author"]
    assert view.causes[0].what[0] == "author"
    assert explain_dataset(made, [("paper", 1)], tmp_path / "one")[1].target == ("paper", 1)
    with pytest.raises(InputError, match="no prediction to explain"):
        explain_dataset(made, [("author", 1)], tmp_path / "two")


@pytest.mark.parametrize("target", [("author", 4), ("foo", 4), ("paper", 4.0), ("paper",), "paper"])
def test_a_target_of_another_kind_is_not_mistaken(kinds, tmp_path, target):
    data = explain_dataset(kinds, None, tmp_path)
    with pytest.raises(InputError, match="is not a target"):
        data[target]


def test_explanations_use_the_names_given_to_the_job(data, tmp_path):
    names = [f"account {number}" for number in range(NODES)]
    made = explain_dataset(explainer(), [3, 7], tmp_path, names=np.array(names))
    assert made["account 3"].target == "account 3"
    assert str(made["account 7"]) == str(explainer().explain(7).named(names))
    assert {each.target for each in made} == {"account 3", "account 7"}
    assert set(made.to_pandas()["target"]) == {3, 7}
    counted = {each.what for each in made.overview().causes}
    causes = {one.node for each in made for one in each.effects if one.significant}
    assert counted <= causes <= set(names)
    assert counted
    for wrong in (3, "3", ("foo", "account 3"), None):
        with pytest.raises(InputError, match="is not a target"):
            made[wrong]


def account_names(last="account 59"):
    return [f"account {number}" for number in range(NODES - 1)] + [last]


@pytest.mark.parametrize("damage", ["swapped", "short", "objects", "removed"])
def test_changed_names_are_detected(tmp_path, damage):
    names, path = account_names(), tmp_path / "names.json"
    explain_dataset(explainer(), [3, 7], tmp_path, names=names)
    if damage == "removed":
        path.unlink()
    else:
        swapped = [*names[:3], names[4], names[3], *names[5:]]
        changed = {"swapped": swapped, "short": names[:1], "objects": [{"a": 1}]}[damage]
        path.write_text(json.dumps(changed))
    with pytest.raises(FileError, match=r"names\.json (is damaged|cannot be read)"):
        list(ExplanationDataset(tmp_path))
    with pytest.raises(FileError, match=r"names\.json"):
        ExplanationDataset(tmp_path)["account 3"]
    assert explain_dataset(explainer(), [3, 7], tmp_path, names=names).names == names


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        (account_names(), account_names("other"), "give the names that it was made with"),
        (account_names(), None, "give the same names again"),
        (None, account_names(), "omit the names"),
    ],
)
def test_a_job_refuses_changed_names(tmp_path, before, now, said):
    made = explain_dataset(explainer(), [3], tmp_path, names=before)
    with pytest.raises(JobError, match=said):
        explain_dataset(explainer(), [3], tmp_path, names=now)
    assert ExplanationDataset(tmp_path).names == before
    again = explain_dataset(explainer(), [3], tmp_path, names=before)
    assert list(again) == list(made)


def test_a_names_file_that_is_not_in_the_job_is_ignored(tmp_path):
    explain_dataset(explainer(), [3], tmp_path)
    (tmp_path / "names.json").write_text(json.dumps(account_names()))
    assert ExplanationDataset(tmp_path)[3].target == 3


@pytest.mark.parametrize("field", ["task", "targets", "target_type", "names"])
def test_a_job_file_with_missing_fields_is_damaged(tmp_path, field):
    explain_dataset(explainer(), [3], tmp_path)
    job = json.loads((tmp_path / "job.json").read_text())
    del job[field]
    (tmp_path / "job.json").write_text(json.dumps(job))
    with pytest.raises(FileError, match=r"job\.json: this is damaged"):
        ExplanationDataset(tmp_path)


def test_a_failed_target_without_a_name_is_called_by_its_number(tmp_path):
    made = explain_dataset(explainer(), [3, NODES, -1], tmp_path, names=account_names())
    assert set(made.failures()) == {NODES, -1}
    assert "out of range" in made.failures()[NODES]
    assert (made.overview().failed, len(list(made))) == (2, 1)


def test_pairs_are_called_by_the_names_of_their_ends(tmp_path):
    made = explain_dataset(pair_explainer(), [(2, 3), (1, 2)], tmp_path, names=list("abcde"))
    assert made["b", "c"].target == ("b", "c")
    assert {each.target for each in made} == {("b", "c"), ("c", "d")}
    with pytest.raises(InputError, match="is not a target"):
        made["bc"]


def test_names_that_are_numbers_are_whole_ones(tmp_path):
    made = explain_dataset(explainer(), [0, 1], tmp_path, names=range(1, NODES + 1))
    assert made[np.int64(1)].target == 1
    for wrong in (True, 1.0, "1"):
        with pytest.raises(InputError, match="is not a target"):
            made[wrong]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["a"], "1 names for 60 nodes"),
        (["a"] * NODES, "several nodes are called 'a'"),
        ([None] * NODES, "strings or integers, not None"),
        (["\ud800", *range(NODES - 1)], "strings or integers, not"),
        (7, "list of names"),
    ],
)
def test_names_that_cannot_be_used_are_refused(names, said, tmp_path):
    with pytest.raises(InputError, match=said):
        explain_dataset(explainer(), [1], tmp_path, names=names)
    assert not list(tmp_path.iterdir())


def test_reading_a_folder_without_a_data_set_is_an_error(tmp_path):
    with pytest.raises(FileError, match="is not a data set"):
        ExplanationDataset(tmp_path / "absent")


@pytest.fixture(scope="module")
def named_data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("named")
    return explain_dataset(explainer(), None, folder, shard_size=25, names=account_names())


@pytest.mark.parametrize("which", ["data", "named_data"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(choice=st.data())
def test_a_changed_file_gives_a_clear_error_or_the_right_answer(request, tmp_path, which, choice):
    """Of any file of the folder: bytes changed, cut, put in or taken out."""
    data = request.getfixturevalue(which)
    shutil.copytree(data.path, tmp_path, dirs_exist_ok=True)
    files = ["job.json", "journal.jsonl", "shards/000000.parquet", "shards/000002.parquet"]
    files += ["names.json"] * (data.names is not None)
    path = tmp_path / choice.draw(st.sampled_from(files))
    before = path.read_bytes()
    start = choice.draw(st.integers(0, len(before)))
    stop = choice.draw(st.sampled_from([start, start + 1, start + 8, len(before)]))
    path.write_bytes(before[:start] + choice.draw(st.binary(max_size=8)) + before[stop:])
    try:
        read = list(ExplanationDataset(tmp_path))
    except PGMExplainerError:
        return
    assert all(each == data[each.target] for each in read[:1])
    assert len({each.target for each in read}) == len(read)
