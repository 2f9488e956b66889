"""Tables of given cells, hand-computed scores, and stored results."""

import json

import numpy as np
import pytest

from pgm_explainer.errors import JobError
from pgm_explainer.settings import Settings
from pgm_explainer_lab.node_data import NodeDataset
from pgm_explainer_lab.reproduce import tables
from pgm_explainer_lab.reproduce.cells import (
    PGM,
    PUBLISHED,
    RIVALS,
    make_rivals,
    spread_out,
)
from pgm_explainer_lab.reproduce.jobs import Job, Place, compute
from pgm_explainer_lab.reproduce.judge import Found, judge
from pgm_explainer_lab.reproduce.markdown import marked, mean_and_spread
from pgm_explainer_lab.reproduce.plan import Plan
from pgm_explainer_lab.synthetic import SYNTHETIC


def cell(data, seed, explainer, judged, hops=3, targets=10, forwards=1000, shared=True):
    queries = {"forwards": forwards, "backwards": 0, "shared": shared}
    return {
        "data": data,
        "seed": seed,
        "explainer": explainer,
        "hops": hops,
        "targets": targets,
        "seconds": 5.0,
        "queries": queries,
        "judged": judged,
    }


def rows_of(markdown, header):
    """Return the rows of the table with this header cell, by their first cell."""
    block = next(block for block in markdown.split("\n\n") if block.startswith(f"| {header} |"))
    lines = [line.strip("|").split(" | ") for line in block.splitlines()]
    return {line[0].strip(): [each.strip() for each in line[1:]] for line in lines}


def test_a_mean_is_shown_with_the_sample_standard_deviation():
    assert mean_and_spread([0.90, 0.92, 0.94]) == f"0.920 ± {np.std([0.9, 0.92, 0.94], ddof=1):.3f}"
    assert mean_and_spread([0.9, float("nan")]) == "0.900"


def test_bold_marks_reached_figures_and_a_triangle_missed_ones():
    assert marked([0.96, 0.98], 0.965) == "**0.970 ± 0.014**"
    assert marked([0.95, 0.97], 0.965) == "0.960 ± 0.014 ▼"
    assert marked([], 0.965) == ""


def test_table_2_matches_its_cells(monkeypatch):
    def motif(paper, strict, **more):
        return {"motif": {"paper": paper, "strict": strict, **more}}

    known = [
        cell("syn1", 0, PGM, motif(0.97, 0.95, precision=0.99)),
        cell("syn1", 1, PGM, motif(0.99, 0.97, precision=0.99)),
        cell("syn3", 0, PGM, motif(0.80, 0.75, precision=0.95)),
        cell("syn1", 0, PUBLISHED, motif(0.90, 0.85, precision=0.9), forwards=800),
        cell("syn1", 0, "SHAP", motif(0.6, 0.5), shared=False, targets=4),
        cell("syn1", 0, "random", motif(0.28, 0.1), forwards=0),
    ]
    monkeypatch.setattr(tables, "compute_cells", lambda *_, **__: known)
    section = tables.table2(Plan(Place(None)))
    paper = rows_of(section.markdown, "paper's protocol")
    ours = paper["PGM-Explainer (here, defaults)"]
    assert ours[0] == "**0.980 ± 0.014** (0.990 ± 0.000)"
    assert ours[1] == ""
    assert ours[2] == "0.800 ▼ (**0.950**)"
    assert paper["PGM-Explainer (here, published settings)"][0] == "0.900 ▼ (0.900)"
    assert paper["PGM-Explainer (paper)"][2] == "0.885 (0.942)"
    assert paper["SHAP (paper)"][4] == "0.641"
    assert paper["SHAP (here)"][0] == "0.600"
    strict = rows_of(section.markdown, "strict protocol")
    assert strict["PGM-Explainer (here, defaults)"][0] == "0.960 ± 0.014"
    assert strict["random (here)"][0] == "0.100"
    took = rows_of(section.markdown, "cost")
    assert took["PGM-Explainer (here, defaults)"] == [
        "1000 forward passes for all targets together",
        "0.5000",
        "10",
    ]
    assert took["SHAP (here)"] == ["1000 forward passes for each target", "1.2500", "4"]
    assert took["random (here)"][0] == "none"
    assert "degree (here)" not in took
    assert section.results == known


def test_table_3_shows_both_protocols_and_the_published_figures(monkeypatch):
    def top(*shares):
        return {
            f"top {k}": {"paper": share, "strict": share / 2}
            for k, share in zip((3, 4, 5), shares, strict=True)
        }

    known = [cell("alpha", 0, PGM, top(0.88, 0.857, 0.8), hops) for hops in (1, 3)]
    monkeypatch.setattr(tables, "compute_cells", lambda *_, **__: known)
    markdown = tables.table3(Plan(Place(None))).markdown
    paper = rows_of(markdown, "paper's protocol")["PGM-Explainer (here, defaults)"]
    assert paper == ["**0.880**", "**0.857**", "0.800 ▼", "", "", ""]
    assert rows_of(markdown, "paper's protocol")["GNNExplainer (paper)"][0] == "0.375"
    strict = rows_of(markdown, "strict protocol")["PGM-Explainer (here, defaults)"]
    assert strict == ["0.440", "0.428", "0.400", "", "", ""]


def test_table_1_has_the_models_and_the_digits(monkeypatch):
    models = [
        {"data": name, "seed": seed, "test": 0.9 + 0.02 * seed}
        for name in SYNTHETIC
        for seed in range(2)
    ]
    monkeypatch.setattr(tables, "train_models", lambda *_: models)
    accuracy = {"the package's": 0.855, "the authors'": 0.912}
    monkeypatch.setattr(tables, "superpixel_accuracy", lambda _: accuracy)
    markdown = tables.table1(Plan(Place(None), test_digits=500)).markdown
    found = rows_of(markdown, "")
    assert found["accuracy (here)"][:2] == ["0.910 ± 0.014 ▼", "**0.910 ± 0.014**"]
    assert found["accuracy (here)"][-1] == "0.855 ▼"
    assert found["samples (paper)"][-1] == "400"
    assert markdown.endswith("500 graphs, the authors' own network reaches 0.912.")


def data_with(truth, name="syn1"):
    nodes = np.arange(20)
    return NodeDataset(name, nodes[:, None], np.zeros((2, 0)), nodes, nodes > 3, truth)


def test_the_share_of_a_motif_by_hand():
    data = data_with({1: frozenset({1, 2, 3, 4, 5}), 6: frozenset({6, 7, 8})})
    found = {1: Found([2, 9, 3, 10, 4, 5], 2), 6: Found([7, 8], 0)}
    judged = judge(data, found)["motif"]
    # Of 1 the first four hold 2 and 3 of its four others; of 6 both of two.
    assert judged["strict"] == pytest.approx((2 / 4 + 1) / 2)
    assert judged["paper"] == pytest.approx((3 / 5 + 1) / 2)
    # Of 1 the two that are significant, 2 and 9, and itself; of 6 itself alone.
    assert judged["precision"] == pytest.approx((2 / 3 + 1) / 2)
    assert "precision" not in judge(data, {1: Found([2, 3, 4, 5])})["motif"]


def test_the_precision_of_the_top_few_by_hand():
    data = data_with({1: frozenset({1, 2, 3, 4}), 6: frozenset({6})}, "alpha")
    found = {1: Found([2, 9, 3, 10, 4]), 6: Found([7])}
    judged = judge(data, found)
    # With the target first: {1, 2, 9} and {6, 7}; besides it: {2, 9, 3} and {7}.
    assert judged["top 3"] == pytest.approx({"paper": (2 / 3 + 1 / 2) / 2, "strict": (2 / 3) / 2})
    assert judged["top 5"] == pytest.approx({"paper": (3 / 5 + 1 / 2) / 2, "strict": (3 / 5) / 2})
    assert judge(data, {6: Found([])})["top 3"] == {"paper": 1.0, "strict": 0.0}


def test_targets_are_evenly_spread_without_duplicates():
    targets = np.arange(100, 110)
    assert spread_out(targets, 2).tolist() == [100, 109]
    assert spread_out(targets, 50).tolist() == spread_out(targets, None).tolist() == list(targets)
    assert len(set(spread_out(targets, 9).tolist())) == 9


def test_rivals_state_their_calls_and_shap_gets_as_many_as_pgm():
    rivals = {rival.name: rival for rival in make_rivals(seed=3)}
    assert tuple(rivals) == RIVALS
    assert rivals["SHAP"].queries.forwards == Settings().sampling.num_samples
    assert rivals["GNNExplainer"].queries.backwards == 100
    assert repr(make_rivals(3)) != repr(make_rivals(4))  # so that seeds are distinguished


def doubled(place, number, calls):
    with calls.open("a") as file:
        file.write(f"{number} ")
    if number < 0:
        raise KeyboardInterrupt
    return 2 * number


def test_stored_results_are_reused(tmp_path):
    place, calls = Place(tmp_path), tmp_path / "calls"

    def jobs(*numbers):
        return [Job("double", doubled, {"number": each, "calls": calls}) for each in numbers]

    with pytest.raises(KeyboardInterrupt):
        compute(jobs(1, 2, -1, 3), place)
    assert compute(jobs(1, 2, 3, 1), place) == [2, 4, 6, 2]
    assert calls.read_text() == "1 2 -1 3 "
    kept = [json.loads(file.read_text()) for file in place.cells.iterdir()]
    assert sorted(each["inputs"]["number"] for each in kept) == [1, 2, 3]


def test_a_different_dependency_gives_a_different_job():
    assert Job("a", doubled).file != Job("a", doubled, depends_on="other weights").file
    assert Job("a", doubled, {"x": 1}).file != Job("a", doubled, {"x": 2}).file
    assert Job("a", doubled, {"x": 1}).file == Job("a", doubled, {"x": 1}).file


def test_worker_processes_store_results_and_report_failures(tmp_path):
    place, fine, wrong = Place(tmp_path), Job("fine", repr), Job("wrong", repr, {"no": "keyword"})
    with pytest.raises(JobError, match="keyword"):
        compute([fine, Job("fine too", repr), wrong], place, workers=2)
    assert not (place.cells / wrong.file).exists()
    assert compute([fine], place) == [repr(place)]
