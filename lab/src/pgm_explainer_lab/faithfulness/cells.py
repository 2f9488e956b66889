"""Jobs: the true effects of a set, one explainer on it, false discoveries, communities."""

from __future__ import annotations

import hashlib
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..reproduce.jobs import Job, Place
from ..rivals import Rival
from ..rivals.case import Case
from .community import community_moves, moves_followed
from .explainers import EFFECTS, OURS, Finding, our_findings, rival_findings, rivals_by_name
from .measures import (
    TOP,
    against_truth,
    fidelities,
    interval_counts,
    negative_evidence,
    path_found,
)
from .nulls import out_of_sight, twins
from .sets import REAL, make_subjects
from .subjects import Subject
from .truth import Truth, TruthPlan, checked_effects, true_effects

__all__ = [
    "COVERAGE_SETS",
    "NULL_SETS",
    "TRUTH",
    "community_job",
    "coverage_job",
    "explainer_jobs",
    "null_job",
    "truth_job",
]

TRUTH = "the truth"
NULL_SETS = ("marked", *(data for data in REAL if data.startswith("syn")), "alpha")
_MORE_NULLS = 5
COVERAGE_SETS = {"negative": 6, "syn4": 8, "syn5": 6, "cora": 6, "mutagenicity": 4}
"""Sets with few intervals per target, and how many times as many targets the coverage needs."""
Row = dict[str, Any]


def truth_job(where: dict[str, Any]) -> Job:
    """Return a job that makes the subjects of a set and measures the true effects."""
    return Job(_called("truth", where["data"], where["seed"]), find_truth, where)


def explainer_jobs(where: dict[str, Any], options: dict[str, Any], rivals: bool) -> list[Job]:
    """Return jobs that measure PGM-Explainer and each of the other explainers on a set.

    Without ``rivals``, only the others that do not call the model are run.
    """
    data, seed = where["data"], where["seed"]
    jobs = [Job(_called(data, seed, "ours"), measure_ours, {**where, "options": options})]
    for rival in rivals_by_name(seed).values():
        if rivals or not rival.queries.forwards:
            inputs = {**where, "rival": rival}
            jobs.append(Job(_called(data, seed, rival.name), measure_rival, inputs))
    return jobs


def coverage_job(where: dict[str, Any], options: dict[str, Any]) -> Job:
    """Return a job that checks the intervals of more targets than the other explainers explain."""
    name = _called("coverage", where["data"], where["seed"])
    inputs = {**where, "most": COVERAGE_SETS[where["data"]] * where["most"], "options": options}
    return Job(name, measure_coverage, inputs)


def null_job(where: dict[str, Any], options: dict[str, Any]) -> Job:
    """Return a job that counts the false discoveries of PGM-Explainer."""
    name = _called("nulls", where["data"], where["seed"])
    return Job(name, measure_nulls, {**where, "options": options})


def community_job(seed: int, most: int, explainer: str, options: dict[str, Any]) -> Job:
    """Return a job that runs the community test with one explainer."""
    inputs = {"seed": seed, "most": most, "explainer": explainer, "options": options}
    return Job(_called("community", seed, explainer), measure_community, inputs)


def _called(*parts: Any) -> str:
    """Return a file name without special characters."""
    return "-".join(re.sub(r"\W+", "-", str(part)).strip("-") for part in parts)


def find_truth(place: Place, data: str, seed: int, most: int, epochs: int) -> Row:
    """Return facts about a set, and the scores of a ranking by the true effects."""
    started = time.process_time()
    subjects = make_subjects(place, data, seed, most, epochs)
    trained = time.process_time()
    rows = []
    for subject in subjects:
        for target in subject.judged:
            truth = kept_truth(place, subject, target)
            others = truth.size[truth.nodes != target]
            row = {"candidates": len(others), "strongest": float(others.max(initial=0))}
            perfect = _perfect(subject, target, truth)
            rows.append(_key(subject, target) | row | _of_cause(subject, target, perfect))
    accuracies = [each.accuracy for each in subjects if each.accuracy is not None]
    return {
        "data": data,
        "seed": seed,
        "explainer": TRUTH,
        "rows": rows,
        "counts": dict(sum((Counter(each.counts) for each in subjects), Counter())),
        "accuracy": float(np.mean(accuracies)) if accuracies else None,
        "seconds of training": trained - started,
        "seconds of truth": time.process_time() - trained,
    }


def _perfect(subject: Subject, target: int | None, truth: Truth) -> Finding:
    """Return the result of an explainer that has the true effects."""
    support = np.zeros(len(subject.case.x))
    support[truth.nodes] = -truth.effect
    ranked = truth.nodes[np.argsort(-truth.size, kind="stable")]
    return Finding(ranked[ranked != target].tolist(), support, True, 0)


def kept_truth(place: Place, subject: Subject, target: int | None) -> Truth:
    """Return the true effects on one target, loaded from their file if it exists."""
    plan = TruthPlan()
    known_by = hashlib.sha256(repr((subject.name, target, plan)).encode()).hexdigest()[:16]
    path = place.folder / "truth" / f"{_called(subject.name, target, known_by)}.npz"
    if path.is_file():
        with np.load(path, allow_pickle=False) as file:
            return Truth(*(file[name] for name in ("nodes", "effect", "size", "error")))
    truth = true_effects(subject.case, target, plan)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part.npz")
    np.savez(part, **vars(truth))
    part.replace(path)
    return truth


def measure_ours(
    place: Place, data: str, seed: int, most: int, epochs: int, options: dict[str, Any]
) -> list[Row]:
    """Measure PGM-Explainer, which explains all targets."""
    cells: dict[str, Row] = {
        name: {"data": data, "seed": seed, "explainer": name, "rows": [], "seconds": 0.0}
        for name in OURS
    }
    for subject in make_subjects(place, data, seed, most, epochs):
        started = time.process_time()
        found = our_findings(subject.case, subject.targets, **{**options, "seed": seed})
        seconds = time.process_time() - started
        for name, findings in found.items():
            cells[name]["rows"] += _measured(place, subject, subject.targets, findings)
            cells[name]["seconds"] += seconds
    return list(cells.values())


def measure_rival(
    place: Place, data: str, seed: int, most: int, epochs: int, rival: Rival
) -> list[Row]:
    """Measure another explainer on the first targets of each group."""
    rows: list[Row] = []
    seconds = 0.0
    for subject in make_subjects(place, data, seed, most, epochs):
        targets = subject.judged
        started = time.process_time()
        findings = list(rival_findings(rival, subject.case, targets))
        seconds += time.process_time() - started
        rows += _measured(place, subject, targets, findings)
    key = {"data": data, "seed": seed, "explainer": rival.name}
    return [{**key, "rows": rows, "seconds": seconds}]


def _measured(
    place: Place,
    subject: Subject,
    targets: Sequence[int | None],
    findings: Sequence[Finding],
) -> Iterator[Row]:
    """Yield the scores of each target, including those that need true effects where available."""
    judged = subject.judged
    for target, finding in zip(targets, findings, strict=True):
        row = {**_key(subject, target), "passes": finding.passes}
        row |= _of_cause(subject, target, finding)
        if target in judged:
            truth = kept_truth(place, subject, target)
            row |= against_truth(finding, truth, target)
            row |= _intervals(subject, target, finding, truth)
            row |= fidelities(subject.case, target, finding)
        yield row


def measure_coverage(
    place: Place, data: str, seed: int, most: int, epochs: int, options: dict[str, Any]
) -> Row:
    """Count the intervals of PGM-Explainer that contain the true effect."""
    rows = []
    started = time.process_time()
    for subject in make_subjects(place, data, seed, most, epochs):
        targets = subject.judged
        findings = our_findings(subject.case, targets, **{**options, "seed": seed})[EFFECTS]
        for target, finding in zip(targets, findings, strict=True):
            truth = kept_truth(place, subject, target)
            rows.append(_key(subject, target) | _intervals(subject, target, finding, truth))
    key = {"data": data, "seed": seed, "explainer": EFFECTS}
    return {**key, "rows": rows, "seconds": time.process_time() - started}


def _intervals(subject: Subject, target: int | None, finding: Finding, truth: Truth) -> Row:
    if finding.effects is None:
        return {}
    checked, contexts = checked_effects(subject.case, target, TruthPlan(), truth)
    strongest = truth.strongest(TOP, target)
    return interval_counts(finding.effects, checked, contexts, strongest)


def _key(subject: Subject, target: int | None) -> Row:
    return {"subject": subject.name, "target": target, "kind": subject.kind(target)}


def _of_cause(subject: Subject, target: int | None, finding: Finding) -> Row:
    """Return the scores against known facts: the cause, its path, the evidence against."""
    row: Row = {}
    if target is None:
        return row
    if target in subject.causes:
        first = list(finding.nodes[:5])
        row["cause first"] = float(first[:1] == [subject.causes[target]])
        row["cause among 5"] = float(subject.causes[target] in first)
    if target in subject.paths:
        edges = subject.case.edge_index
        row["path"] = path_found(finding.support, edges, subject.paths[target])
    if target in subject.against:
        row["distinguished"] = negative_evidence(finding.support, *subject.against[target])
    return row


def measure_nulls(
    place: Place, data: str, seed: int, most: int, epochs: int, options: dict[str, Any]
) -> Row:
    """Count false discoveries on targets that depend on nothing."""
    options = {**options, "seed": seed}
    found: dict[str, list[Row]] = {"twins": [], "out of sight": []}
    started = time.process_time()
    for subject in make_subjects(place, data, seed, _MORE_NULLS * most, epochs):
        targets = [each for each in subject.targets[: _MORE_NULLS * most] if each is not None]
        found["twins"] += twins(subject.case, targets, most, **options)
        found["out of sight"] += out_of_sight(subject.case, targets, **options)
    return {"data": data, "seed": seed, **found, "seconds": time.process_time() - started}


def measure_community(
    place: Place, seed: int, most: int, explainer: str, options: dict[str, Any]
) -> Row:
    """Return how often attributions follow the probability when edges are rewired."""
    started = time.process_time()
    moves = community_moves(place, seed, most)
    made = time.process_time()
    if explainer in OURS:
        explain = partial(_ours_only, explainer, {**options, "seed": seed})
    else:
        explain = partial(_rival_only, rivals_by_name(seed)[explainer])
    rows = moves_followed(moves, explain)
    return {
        "seed": seed,
        "explainer": explainer,
        "rows": rows,
        "seconds of moves": made - started,
        "seconds": time.process_time() - made,
    }


def _ours_only(
    name: str, options: dict[str, Any], case: Case, targets: Sequence[int]
) -> list[Finding]:
    return our_findings(case, targets, **options)[name]


def _rival_only(rival: Rival, case: Case, targets: Sequence[int]) -> list[Finding]:
    return list(rival_findings(rival, case, targets))
