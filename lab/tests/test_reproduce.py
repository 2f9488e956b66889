"""The paper's experiments end to end, on a small graph."""

import json
import os
import re

import numpy as np
import pytest

from pgm_explainer import PGMExplainer
from pgm_explainer.cli import main
from pgm_explainer.sampling import GRAPH
from pgm_explainer.settings import Settings
from pgm_explainer_lab.commands.reproduce import NAMES
from pgm_explainer_lab.data import DataError
from pgm_explainer_lab.node_data import NodeDataset
from pgm_explainer_lab.reproduce import beyond, cells, digits, mnist
from pgm_explainer_lab.reproduce.ablation import VARIATIONS
from pgm_explainer_lab.reproduce.jobs import Place
from pgm_explainer_lab.reproduce.plan import Plan
from pgm_explainer_lab.reproduce.sections import SECTIONS

needs_data = pytest.mark.skipif(
    not os.environ.get("PGM_EXPLAINER_DATA"),
    reason="PGM_EXPLAINER_DATA does not name a folder with MNIST",
)


def small_plan(folder, **options):
    options = {"seeds": 2, "rivals": False, "rival_targets": 3, "epochs": 60, **options}
    return Plan(Place(folder), **options)


def rows_of(markdown):
    """Return the rows of all tables by their first cell."""
    lines = [line.strip("| ").split(" | ") for line in markdown.splitlines() if line[:1] == "|"]
    return {line[0].strip(): [cell.strip() for cell in line[1:]] for line in lines}


def test_the_command_offers_every_section():
    assert tuple(SECTIONS) == NAMES


def test_table_2_from_the_command_line_resumes(one_small_set, tmp_path, capsys):
    command = ["reproduce", "table2", "--quick", "--workers", "1", "--output", str(tmp_path)]
    assert main([*command, "--rival-targets", "1"]) == 0
    page = capsys.readouterr().out
    assert (tmp_path / "table2.md").read_text() in page
    same = "PGM-Explainer (here, the rivals' targets)"
    for name in ("PGM-Explainer (here, defaults)", same, "SHAP (here)", "random (here)"):
        assert name in rows_of(page)
    told = json.loads((tmp_path / "table2.json").read_text())
    counts = {each["explainer"]: each["targets"] for each in told["results"]["table2"]}
    assert counts["PGM-Explainer"] == counts["random"] == counts["degree"] == 30
    assert counts["proximity"] == 30
    assert counts["SHAP"] == counts["GNNExplainer"] == 1
    assert counts["GRAD"] == 30
    kept = {file: file.stat().st_mtime_ns for file in (tmp_path / "cells").iterdir()}
    lost = next(file for file in kept if "SHAP" in file.name)
    lost.unlink()
    assert main([*command, "--rival-targets", "1"]) == 0
    now = {file: file.stat().st_mtime_ns for file in (tmp_path / "cells").iterdir()}
    assert [file for file in now if now[file] != kept[file]] == [lost]
    assert main([*command, "--rival-targets", "2"]) == 0
    more = set((tmp_path / "cells").iterdir()) - set(kept)
    named = {file.name.split("-")[2] for file in more}
    assert named == {"SHAP", "GNNExplainer", "GRAD", "PGM", "random"}
    assert all("rivals" in file.name for file in more if "PGM" in file.name)


def test_random_is_included_without_rivals(one_small_set, tmp_path):
    section = SECTIONS["table2"](small_plan(tmp_path))
    found = rows_of(section.markdown)
    assert "random (here)" in found
    assert "SHAP (here)" not in found
    (paper, strict) = (
        [each["judged"]["motif"][way] for each in section.results if each["explainer"] == "random"]
        for way in ("paper", "strict")
    )
    assert np.mean(paper) == pytest.approx((4 * np.mean(strict) + 1) / 5)


def test_results_with_other_defaults_are_not_reused(one_small_set, tmp_path, monkeypatch):
    def asked():
        found = cells.compute_cells(small_plan(tmp_path, seeds=1), ["syn1"], [3], 3)
        return {each["explainer"]: each["queries"]["forwards"] for each in found}

    before, kept = asked(), set((tmp_path / "cells").iterdir())
    defaults = cells.default_options()
    monkeypatch.setattr(
        cells, "default_options", lambda **changed: {**defaults, "num_samples": 50, **changed}
    )
    assert asked() == {**before, cells.PGM: 50}
    (new,) = set((tmp_path / "cells").iterdir()) - kept
    assert new.name.startswith("syn1-0-PGM-Explainer-")


def test_beyond_measures_every_explainer_and_forecasts(one_small_set, tmp_path):
    section = SECTIONS["beyond"](small_plan(tmp_path, seeds=1, rivals=True, rival_targets=2))
    measured = {each["explainer"]: each for each in section.results if "explainer" in each}
    assert set(measured) == {cells.PGM, *cells.RIVALS}
    for each in measured.values():
        assert all(0 <= each[measure] <= 1 for measure in beyond._MEASURES)
    assert measured["GRAD"]["stability"] == measured["degree"]["stability"] == 1
    assert measured["SHAP"]["queries"]["forwards"] == Settings().sampling.num_samples
    (forecast,) = (each for each in section.results if "qualities" in each)
    assert forecast["qualities"]["base rate"]["auc"] == 0.5
    assert (tmp_path / "figures" / "forecasts.png").is_file()
    assert "1000 forward passes for all targets together" in section.markdown


def test_a_target_is_neither_masked_nor_counted(planted):
    others = frozenset({planted.target, planted.answer})
    data = NodeDataset(
        "planted",
        planted.node.x,
        planted.node.edge_index,
        np.zeros(8, int),
        np.ones(8, bool),
        {planted.target: others},
    )

    def judged(nodes):
        return beyond._judged(planted.node, data, [planted.target], [nodes])

    right, wrong = judged([planted.answer]), judged([1])
    assert (right["fidelity_plus"], right["fidelity_minus"], right["gea"]) == (1, 0, 1)
    assert (wrong["fidelity_plus"], wrong["fidelity_minus"], wrong["gea"]) == (0, 1, 0)


def test_the_ablation_starts_from_the_defaults(one_small_set, tmp_path):
    section = SECTIONS["ablation"](small_plan(tmp_path, seeds=1, bitcoin_ablation=False))
    shares = {each["variation"]: each["share"] for each in section.results}
    assert list(shares) == list(VARIATIONS)
    plan = small_plan(tmp_path, seeds=1)
    ours = cells.select(cells.compute_cells(plan, ["syn1"], [3], 3), "syn1", cells.PGM, 3)
    assert shares["the defaults"] == ours[0]["judged"]["motif"]["paper"]
    assert (tmp_path / "figures" / "ablation.png").is_file()


def test_the_figures_work_without_the_authors_files(tmp_path):
    plan = Plan(Place(tmp_path, data=tmp_path / "nothing"), seeds=1, epochs=150)
    section = SECTIONS["figures"](plan)
    assert "not available" in section.results["model"]
    assert set(section.results["figure 1"]) == {"published settings", "defaults"}
    # An unescaped bar would end the cell.
    formulas = [cell for row in rows_of(section.markdown).values() for cell in row if "P(" in cell]
    assert formulas
    assert not any(re.search(r"(?<!\\)\|", formula) for formula in formulas)
    for name in ("figure-1", "no-child"):
        assert (tmp_path / "figures" / f"{name}.png").is_file()


@pytest.mark.parametrize("wrong", [["--seeds", "0"], ["--workers", "-1"], ["--rival-seeds", "x"]])
def test_a_wrong_number_is_rejected(wrong, capsys):
    with pytest.raises(SystemExit) as left:
        main(["reproduce", "table1", *wrong])
    assert left.value.code == 2
    assert "at least 1" in capsys.readouterr().err


def test_a_folder_that_is_a_file_is_rejected(tmp_path, capsys):
    (tmp_path / "taken").write_text("")
    assert main(["reproduce", "table1", "--output", str(tmp_path / "taken")]) == 2
    assert "cannot hold the results" in capsys.readouterr().err


def test_mean_of_changes_only_some_nodes():
    def model(x):
        return np.stack([x.sum((1, 2)), 0 * x[:, 0, 0]], axis=-1)

    explainer = PGMExplainer(
        model,
        np.array([[0.0], [1.0], [5.0]]),
        np.zeros((2, 0), dtype=int),
        task="graph",
        num_samples=50,
        perturbation=digits.MeanOf(np.array([2])),
        perturb_probability=0.5,
        change=1e-9,
    )
    samples = explainer.samples([None]).table
    perturbed, changed = samples.codes([samples.column(2), samples.column(GRAPH)]).T
    assert 0 < perturbed.sum() < 50
    assert np.array_equal(perturbed, changed)


def test_the_sizes_of_explanations_are_counted():
    mine = [
        {"400": [1, 2], "1000": [1], "defaults": [1]},
        {"400": [3, 4], "1000": [3, 4], "defaults": []},
    ]
    header, *rows = mnist._size_rows({"mine": mine, "yours": mine[:1]})
    assert header[2:] == ["digits", "0 nodes", "1 nodes", "2 nodes", "mean"]
    assert [row[2:] for row in rows] == [
        ["2", "0", "0", "2", "2.00"],
        ["2", "0", "1", "1", "1.50"],
        ["2", "1", "1", "0", "0.50"],
        ["1", "0", "0", "1", "2.00"],
        ["1", "0", "1", "0", "1.00"],
        ["1", "0", "1", "0", "1.00"],
    ]
    assert [row[0] for row in rows] == ["mine"] * 3 + ["yours"] * 3


def test_the_verdict_counts_sets_by_their_mean_log_loss():
    def forecast(data, network, logistic, everyone):
        losses = {
            "network": network,
            "logistic": logistic,
            "logistic (all candidates)": everyone,
            "base rate": 0.6,
        }
        return {"data": data, "qualities": {way: {"log_loss": x} for way, x in losses.items()}}

    found = beyond._verdict(
        [
            forecast("syn1", 0.1, 0.2, 0.3),
            forecast("syn1", 0.5, 0.3, 0.5),
            forecast("syn2", 0.2, 0.3, 0.1),
            {"data": "syn3", "qualities": {}},
        ]
    )
    assert re.findall(r"\d+", found) == ["2", "2", "1", "1"]


@needs_data
def test_digits_are_explained_with_all_settings(tmp_path):
    for whose, weights in digits.available_networks(Place(tmp_path)).items():
        (job,) = digits.explaining_jobs(whose, weights, 1, [400, 1000])
        (digit,) = job.work(Place(tmp_path), **job.inputs)
        assert digit["label"] == digit["predicted"] == 7
        assert 1 <= len(digit["400"]) <= len(digit["1000"]) <= 4
        assert len(digit["defaults"]) <= Settings().selection.max_nodes


@needs_data
def test_the_authors_network_differs_from_the_bundled_one(tmp_path):
    networks = digits.available_networks(Place(tmp_path))
    assert list(networks) == [digits.OURS, "the authors'"]
    assert len(set(networks.values())) == 2


def test_the_bundled_network_works_without_the_authors(tmp_path):
    assert list(digits.available_networks(Place(tmp_path, data=tmp_path))) == [digits.OURS]
    path = tmp_path / "author_checkpoints" / "gcn_mnist_superpixels_epoch_188.npz"
    path.parent.mkdir()
    path.write_bytes(b"damaged")
    with pytest.raises(DataError, match="remove it"):
        digits.available_networks(Place(tmp_path, data=tmp_path))
