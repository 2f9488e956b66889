"""Benchmarks against true effects, with small settings."""

import json
from dataclasses import replace
from functools import partial

import networkx as nx
import numpy as np
import pytest
import torch

from pgm_explainer.cli import main
from pgm_explainer.effects import Effects
from pgm_explainer_lab.faithfulness import cells, community, faber, sets, tables
from pgm_explainer_lab.faithfulness.attention import attention_subject
from pgm_explainer_lab.faithfulness.explainers import (
    EFFECTS,
    Finding,
    our_findings,
    rival_findings,
)
from pgm_explainer_lab.faithfulness.grid import lead_rows
from pgm_explainer_lab.faithfulness.measures import (
    against_truth,
    fidelities,
    interval_counts,
    negative_evidence,
    path_found,
)
from pgm_explainer_lab.faithfulness.nulls import out_of_sight, twins
from pgm_explainer_lab.faithfulness.truth import Truth, TruthPlan
from pgm_explainer_lab.reproduce.jobs import Place
from pgm_explainer_lab.rivals import Occlusion, Shapley

TARGET = 9
TRUTH = Truth(
    nodes=np.array([1, 2, 3, 4, 5, 6, 7, TARGET]),
    effect=np.array([-0.4, 0.3, -0.2, 0.1, 0.001, 0.0, 0.0, -0.9]),
    size=np.array([0.4, 0.3, 0.2, 0.1, 0.05, 0.01, 0.0, 0.9]),
    error=np.array([0.01, 0.01, 0.01, 0.01, 0.01, 0.0, 0.0, 0.01]),
)


def finding(nodes, support=None, effects=None):
    signed = support is not None
    values = np.zeros(10) if support is None else np.array(support, dtype=float)
    return Finding(nodes, values, signed, 1000, effects)


def test_effect_captured_excludes_the_target():
    measured = against_truth(finding([2, 1, 6, 7, 3, 4, 5]), TRUTH, TARGET)
    assert measured["captured 1"] == pytest.approx(0.3 / 0.4)
    assert measured["captured 5"] == pytest.approx((0.3 + 0.4 + 0.01 + 0 + 0.2) / 1.05)
    assert measured["recall 5"] == pytest.approx(3 / 5)
    assert "sign" not in measured
    best = against_truth(finding([1, 2, 3, 4, 5, 6, 7]), TRUTH, TARGET)
    assert best["captured 1"] == best["captured 5"] == best["recall 5"] == 1


def test_sign_score_uses_only_clear_true_signs():
    support = np.zeros(10)
    support[[1, 2, 3, 4, 5]] = (1, 1, 1, -1, 1)  # node 2 is wrong; node 5 has no value
    measured = against_truth(finding([1, 2, 3, 4, 5], support), TRUTH, TARGET)
    assert measured["sign"] == pytest.approx(3 / 4)


def test_coverage_allows_for_the_standard_error_of_the_truth():
    nodes = np.array([TARGET, 1, 2])
    table = Effects(
        nodes=nodes,
        effect=np.array([-0.9, -0.45, 0.4]),
        low=np.array([-1.0, -0.49, 0.36]),
        high=np.array([-0.8, -0.403, 0.44]),  # just short of node 1's truth, far from node 2's
        strength=np.ones(3),
        log_p=np.zeros(3),
        significant=np.ones(3, dtype=bool),
    )
    known = Truth(*(column[[0, 1, -1]] for column in vars(TRUTH).values()))
    measured = interval_counts(table, known, 100, TRUTH.strongest(2, TARGET))
    assert (measured["intervals"], measured["covered"]) == (3, 2)
    strongest = measured["intervals of the strongest"], measured["covered of the strongest"]
    assert strongest == (2, 1)
    still = replace(table, effect=np.zeros(3), low=np.zeros(3), high=np.zeros(3))
    assert interval_counts(still, known, 100, known) == {}


def test_the_fewer_contexts_the_more_an_interval_may_miss():
    one = np.ones(1)
    table = Effects(np.array([1]), -0.45 * one, -0.46 * one, -0.44 * one, one, -one, one > 0)
    known = Truth(np.array([1]), -0.4 * one, 0.4 * one, 0.02 * one)
    held = [interval_counts(table, known, few, known)["covered"] for few in (3, 1000)]
    assert held == [1, 0]


def test_no_scores_if_no_node_has_an_effect_beyond_rounding():
    still = Truth(TRUTH.nodes, *np.zeros((3, 8)))
    assert against_truth(finding([1, 2, 3]), still, TARGET) == {}
    hardly = Truth(TRUTH.nodes, *1e-9 * np.ones((3, 8)))
    assert against_truth(finding([1, 2, 3]), hardly, TARGET) == {}


def test_path_score_sums_the_values_of_both_nodes():
    edges = np.array([[0, 1, 3, 4, 0], [1, 2, 2, 3, 4]])
    assert path_found(np.array([3.0, 2, 1, 0, 0]), edges, [0, 1, 2]) == 1
    assert path_found(np.array([0.0, 0, 1, 2, 3]), edges, [0, 1, 2]) == 0
    assert path_found(np.array([3.0, 0, 0, 0, 3]), edges, [0, 1, 2]) == 0.5


def test_negative_evidence_is_distinguished_from_neutral_nodes():
    support = np.concatenate((np.linspace(-0.1, 0.1, 30), [-2.0, -3.0, -4.0]))
    neutral, against = np.arange(30), np.arange(30, 33)
    assert negative_evidence(support, neutral, against) == 1
    assert negative_evidence(np.zeros(33), neutral, against) == 0


def test_fidelity_of_the_planted_node(planted):
    found = fidelities(planted.node, planted.target, finding([planted.answer]))
    assert (found["fidelity+"], found["fidelity-"]) == (1, 0)
    assert found["robust fidelity+"] > found["robust fidelity-"]
    whole = fidelities(planted.graph, None, finding([planted.answer]))
    assert (whole["fidelity+"], whole["fidelity-"]) == (1, 0)


def test_pgm_and_rival_findings_have_the_same_form(planted):
    case, target = planted.node, planted.target
    found = our_findings(case, [target], perturbation="zero", num_samples=200)
    for name, (one,) in found.items():
        assert one.nodes[0] == planted.answer, name
        assert target not in one.nodes
        assert (one.effects is not None) == one.signed == (name == EFFECTS)
    (effects,) = found[EFFECTS]
    assert effects.support[planted.answer] > 0.1
    assert target in effects.effects.nodes
    (occluded,) = rival_findings(Occlusion(), case, [target])
    assert occluded.passes == 8
    assert occluded.support[planted.answer] > 0
    (shap,) = rival_findings(Shapley(50), case, [target])
    assert (shap.passes, shap.signed, shap.nodes[0]) == (50, True, planted.answer)


@pytest.mark.parametrize("strength", ["sharp", "soft"])
def test_hand_set_attention_depends_on_the_cause(strength):
    subject = attention_subject(strength, seed=0, most=4)
    case = subject.case
    x = torch.from_numpy(case.x).requires_grad_()
    scores = case.model(x, torch.from_numpy(case.edge_index))
    for target in subject.targets:
        (gradient,) = torch.autograd.grad(scores[target, 1], x, retain_graph=True)
        weights = gradient[:, 0].abs()
        assert weights.argmax() == subject.causes[target]
        assert weights.max() > 0.5 * weights.sum()
        near = case.graph.within_hops(np.array([target]), 2)
        assert subject.causes[target] not in near
        assert target in near


def test_infection_labels_are_distances_with_single_paths():
    graph = faber.make_infection(np.random.default_rng(0), nodes=120)
    one_way = nx.DiGraph(graph.edge_index.T.tolist())
    one_way.add_nodes_from(range(120))
    infected = np.flatnonzero(graph.x[:, 0]).tolist()
    one_way.add_edges_from(("source", node) for node in infected)
    away = nx.single_source_shortest_path_length(one_way, "source")
    for node in range(120):
        distance = away.get(node, 99) - 1
        assert graph.y[node] == min(distance, 5)
        if not 0 < distance < 5:
            assert node not in graph.paths
            continue
        paths = [path[1:] for path in nx.all_shortest_paths(one_way, "source", node)]
        assert graph.paths.get(node) == (paths[0] if len(paths) == 1 else None)


def test_negative_evidence_has_the_rarer_colour():
    graph = faber.make_negative(np.random.default_rng(0), white=180)
    for node in graph.targets:
        senders = graph.edge_index[0, graph.edge_index[1] == node]
        _, blue, red = np.bincount(graph.colours[senders], minlength=3)
        assert graph.y[node] == (0 if blue > red else 1)
        assert abs(blue - red) > 1
        assert min(blue, red) > 1


def test_rewired_edges_strengthen_or_weaken_a_community():
    graph = faber.make_community(np.random.default_rng(0), size=20)
    rng = np.random.default_rng(1)
    for joined in (True, False):
        edges, moved = community._moved(graph, 3, joined, rng)
        was, now = graph.y[graph.edge_index[:, edges]], graph.y[moved]
        assert ((was == 3).sum(axis=0) == (1 if joined else 0)).all()
        assert ((now == 3).sum(axis=0) == (2 if joined else 1)).all()
        assert (moved[0] != moved[1]).all()
        before = set(map(tuple, graph.edge_index.T.tolist()))
        assert before.isdisjoint(map(tuple, moved.T.tolist()))


def test_a_move_is_followed_if_attribution_and_probability_agree(planted):
    case = planted.node
    move = partial(community.Move, 0, case, case, np.array([0, 1]))

    def explain(_, targets):
        explain.calls += 1  # first of the graph as it was, then of each move
        return [finding([1], np.full(10, float(explain.calls))) for _ in targets]

    explain.calls = 0
    rows = community.moves_followed([move(True), move(False)], explain)
    assert [row["followed"] for row in rows] == [1, 0]


def test_a_network_is_trained_once_and_stored(tmp_path, monkeypatch):
    monkeypatch.setattr(faber, "_EPOCHS", 2)
    monkeypatch.setitem(faber._GRAPHS, "negative", (1, 1))
    monkeypatch.setattr(faber, "_VALID", 0.0)
    small = partial(faber.make_negative, white=90)
    monkeypatch.setitem(faber._MAKERS, "negative", small)
    place = Place(tmp_path)
    first, (graph,), facts = faber.faber_network(place, "negative", 0)
    assert facts["attempts"] == 1
    (file,) = (tmp_path / "models").iterdir()
    changed = file.stat().st_mtime_ns
    again, _, _ = faber.faber_network(place, "negative", 0)
    assert file.stat().st_mtime_ns == changed
    x, edges = torch.from_numpy(graph.x), torch.from_numpy(graph.edge_index)
    assert torch.equal(first(x, edges), again(x, edges))


def test_twins_and_out_of_sight_candidates_are_not_discovered(planted):
    case = planted.node
    options = {"perturbation": "zero", "num_samples": 400, "perturb_probability": 0.25}
    (row,) = twins(case, [planted.target], alone=1, **options)
    assert row["candidates"] == 6
    assert row["effects"] == row["dependence"] == 0
    assert row["covered"] >= 6
    rows = [out_of_sight(case, [planted.target], seed=seed, **options)[0] for seed in range(10)]
    assert all(row["nulls"] == 1 and row["discoveries"] > 0 for row in rows)
    assert sum(row["false"] for row in rows) <= 2


def test_the_command_measures_all_explainers_and_resumes(
    one_small_set, tmp_path, monkeypatch, capsys
):
    quick = partial(TruthPlan, budget=200, again=((20, 20),))
    monkeypatch.setattr(cells, "TruthPlan", quick)
    monkeypatch.setattr(sets, "_GRAPHS", 1)
    monkeypatch.delitem(sets.STRENGTHS, "soft")
    command = ["reproduce", "faithfulness", "--quick", "--targets", "1", "--workers", "1"]
    command += ["--sets", "attention", "syn1", "--output", str(tmp_path)]
    assert main(command) == 0
    page = (tmp_path / "faithfulness.md").read_text()
    assert page in capsys.readouterr().out
    assert page.startswith("# Faithfulness")
    results = json.loads((tmp_path / "faithfulness.json").read_text())["results"]["faithfulness"]
    assert {cell["data"] for cell in results["cells"]} == {"attention", "syn1"}
    explained = {cell["explainer"] for cell in results["cells"]}
    assert {EFFECTS, "SHAP", "occlusion (zero)", "GRAD (paper)", "PGExplainer"} <= explained
    for cell in results["cells"]:
        for row in cell["rows"]:
            assert 0 <= row["captured 1"] <= 1
    for name in ("captured", "passes"):
        assert (tmp_path / "figures" / f"faithfulness-{name}.png").is_file()
        assert f"figures/faithfulness-{name}.png" in page
    kept = {file: file.stat().st_mtime_ns for file in (tmp_path / "cells").iterdir()}
    lost = next(file for file in kept if "SHAP" in file.name)
    lost.unlink()
    truths = {file: file.stat().st_mtime_ns for file in (tmp_path / "truth").iterdir()}
    assert main(command) == 0
    now = {file: file.stat().st_mtime_ns for file in (tmp_path / "cells").iterdir()}
    assert [file for file in now if now[file] != kept[file]] == [lost]
    assert truths == {file: file.stat().st_mtime_ns for file in (tmp_path / "truth").iterdir()}


def test_an_unknown_set_is_rejected_by_name(tmp_path, capsys):
    command = ["reproduce", "faithfulness", "--sets", "syn9", "--output", str(tmp_path)]
    assert main(command) == 2
    told = capsys.readouterr().err
    assert "syn9" in told
    assert all(data in told for data in sets.SETS)


def test_a_lead_is_measured_target_by_target():
    def cell(name, *values):
        rows = [
            {"subject": "a", "target": at, "captured 5": value, "passes": 10}
            for at, value in enumerate(values)
        ]
        return {"data": "syn1", "seed": 0, "explainer": name, "rows": rows}

    cells = [
        cell(EFFECTS, 1.0, 0.8, 0.9),
        cell("SHAP", 0.9, 0.9, 0.6),
        cell("saliency", 1.0, 0.9),  # one target is missing, so it does not compare
        cell("random", 0.1, 0.2, 0.3),
    ]
    _, row = lead_rows(cells, "captured 5")
    assert row == ["syn1", "0.900", "SHAP", "0.800", "+0.100 ± 0.115", "3", "10 / 10"]


def test_the_error_of_a_coverage_counts_targets_and_not_intervals():
    rows = [{"covered": covered, "intervals": 10} for covered in (10, 10, 10, 6)]
    share, error = tables._clustered_share(rows, "covered", "intervals")
    assert share == pytest.approx(0.9)
    assert error == pytest.approx(np.std([1, 1, 1, 0.6], ddof=1) / 2)


def test_the_coverage_of_a_set_comes_from_its_own_cell():
    def cell(data, name, covered, targets):
        rows = [
            {
                "intervals": 10,
                "covered": covered,
                "intervals of the strongest": 5,
                "covered of the strongest": 5,
            }
        ]
        return {"data": data, "seed": 0, "explainer": name, "rows": targets * rows}

    cells = [cell("syn1", EFFECTS, 8, 2), cell("syn4", EFFECTS, 8, 2), cell("syn4", "SHAP", 0, 2)]
    checked = tables._checked(cells, [cell("syn4", EFFECTS, 9, 6)])
    page = "\n".join(tables._interval_blocks(checked, []))
    assert "| syn1 | 0.800 ± 0.000 | 1.000 ± 0.000 | 20 | 2 |" in page
    assert "| syn4 | 0.900 ± 0.000 | 1.000 ± 0.000 | 60 | 6 |" in page
