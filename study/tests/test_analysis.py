"""Estimates against references: statsmodels, published examples, simulations with a known truth."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from pgm_explainer import InputError
from pgm_explainer_study.analysis.agreement import krippendorff_alpha
from pgm_explainer_study.analysis.bootstrap import arm_means, mean_differences
from pgm_explainer_study.analysis.coverage import ARMS, Truth, coverage, simulated_scores
from pgm_explainer_study.analysis.export import export
from pgm_explainer_study.analysis.mixed import contrasts, fit, holm
from pgm_explainer_study.analysis.power import Spread, power, raters_needed
from pgm_explainer_study.analysis.report import write_report
from pgm_explainer_study.analysis.tables import COLUMNS, answers_table, exclusions, kept_answers
from pgm_explainer_study.design import plan
from pgm_explainer_study.simulate import LABEL, simulate
from pgm_explainer_study.store import Answer, Store

FORMULAS = {
    "rater": "0 + C(rater)",
    "item": "0 + C(item)",
    "rater:arm": "0 + C(rater):C(arm)",
    "item:arm": "0 + C(item):C(arm)",
}


@pytest.mark.parametrize(
    ("terms", "truth"),
    [
        ((("rater",), ("item",)), Truth(rater_arm=0, item_arm=0)),
        (
            (("rater",), ("item",), ("rater", "arm"), ("item", "arm")),
            Truth(rater_arm=1.5, item_arm=1.5),
        ),
    ],
    ids=["intercepts", "interactions"],
)
def test_the_mixed_model_agrees_with_statsmodels(terms, truth):
    formula = pytest.importorskip("statsmodels.formula.api")
    scores = simulated_scores(truth, 8, 10, 3, seed=1)
    ours = fit(scores, ARMS, terms)
    names = [":".join(term) for term in terms]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = formula.mixedlm(
            "score ~ 0 + arm",
            scores.assign(one=1),
            groups="one",
            vc_formula={name: FORMULAS[name] for name in names},
        ).fit(reml=True)
    assert ours.deviance == pytest.approx(-2 * theirs.llf, abs=1e-4)
    assert ours.means == pytest.approx(theirs.fe_params.to_numpy(), abs=1e-4)
    assert np.sqrt(np.diag(ours.covariance)) == pytest.approx(theirs.bse_fe.to_numpy(), rel=1e-3)
    # statsmodels sorts the components by name.
    for name, value in zip(sorted(names), theirs.vcomp, strict=True):
        assert ours.variances[name] == pytest.approx(value, rel=5e-3, abs=5e-3)


def test_the_mixed_model_finds_known_effects():
    truth = Truth()
    model = fit(simulated_scores(truth, 40, 60, 3, seed=2), ARMS)
    assert model.means == pytest.approx(truth.means, abs=0.6)
    for name, true in (("rater", 1.0), ("item", 1.0), ("rater:arm", 0.49), ("item:arm", 0.81)):
        assert model.variances[name] == pytest.approx(true, rel=0.6)
    assert model.variances["error"] == pytest.approx(2.25, rel=0.1)


def test_intervals_cover_the_truth():
    found = coverage(Truth(), 10, 16, 3, runs=25)
    # Of the 100 intervals of a kind, those of a run depend on each other.
    assert found["mixed model, differences"] >= 0.88
    assert found["bootstrap, differences"] >= 0.86
    assert found["bootstrap, means"] >= 0.84
    assert found["false positives"] <= 0.2


def test_a_mixed_model_of_too_little_is_refused():
    scores = simulated_scores(Truth(), 1, 5, 3, 0)
    with pytest.raises(InputError):
        fit(scores, ARMS)
    with pytest.raises(InputError):
        fit(simulated_scores(Truth(), 5, 5, 3, 0), [*ARMS, "missing"])


def test_holm_as_in_the_literature():
    # statsmodels.stats.multitest gives the same; the example is worked out by hand.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    values = np.random.default_rng(0).random(20) ** 3
    assert holm(values.tolist()) == pytest.approx(multitest.multipletests(values, method="holm")[1])


def test_contrasts_are_differences_of_means():
    model = fit(simulated_scores(Truth(), 8, 10, 3, 1), ARMS)
    (there,), (back,) = contrasts(model, [("a", "b")]), contrasts(model, [("b", "a")])
    assert there.difference == pytest.approx(model.means[0] - model.means[1])
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low))


def krippendorff_example():
    """Four observers, twelve units, from Krippendorff (2011)."""
    observers = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]
    rows = [(f"u{unit}", value) for row in observers for unit, value in enumerate(row) if value]
    return pd.DataFrame(rows, columns=["unit", "score"])


@pytest.mark.parametrize(
    ("level", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_is_that_of_the_published_example(level, published):
    assert krippendorff_alpha(krippendorff_example(), level) == pytest.approx(published, abs=0.0006)


def test_alpha_at_its_ends():
    same = pd.DataFrame({"unit": list("aabbcc"), "score": [1, 1, 2, 2, 3, 3]})
    assert krippendorff_alpha(same) == 1
    assert np.isnan(krippendorff_alpha(same.assign(score=1)))
    assert np.isnan(krippendorff_alpha(same.assign(unit=list("abcdef"))))
    rng = np.random.default_rng(0)
    noise = pd.DataFrame(
        {"unit": np.repeat(np.arange(300), 6).astype(str), "score": rng.integers(0, 11, 1800)}
    )
    assert abs(krippendorff_alpha(noise)) < 0.05


def test_bootstrap_means_are_means_and_differences_are_paired():
    scores = simulated_scores(Truth(), 6, 8, 4, 0)
    means = arm_means(scores, ARMS, 0, draws=500)
    for arm in ARMS:
        assert means[arm].estimate == pytest.approx(scores.score[scores.arm == arm].mean())
    gaps = mean_differences(scores, ["b"], "a", 0, draws=500)
    width = gaps["b"].high - gaps["b"].low
    apart = (means["b"].high - means["b"].low) + (means["a"].high - means["a"].low)
    assert width < apart  # raters and items are the same on both sides


def test_bootstrap_takes_clusters_into_account():
    rng = np.random.default_rng(0)
    lenient = rng.normal(0, 2, 8)
    rows = [(r, f"i{i}", "a", lenient[r]) for r in range(8) for i in range(30)]
    scores = pd.DataFrame(rows, columns=["rater", "item", "arm", "score"])
    found = arm_means(scores, ["a"], 0, draws=1000)["a"]
    naive = 2 * 1.96 * scores.score.std() / np.sqrt(len(scores))
    assert found.high - found.low > 3 * naive


def test_power_agrees_with_simulated_studies():
    spread = Spread(0.7, 0.9, 1.5)
    truth = Truth((5.0, 4.2, 4.0, 4.0), 1, 1, 0.7, 0.9, 1.5)
    runs, hits = 40, 0
    for run in range(runs):
        scores = simulated_scores(truth, 12, 20, 4, run)
        (found,) = contrasts(fit(scores, ARMS), [("a", "b")])
        hits += found.p < 0.05
    promised = power(0.8, 12, 20, spread)
    assert abs(hits / runs - promised) < 3.5 * np.sqrt(promised * (1 - promised) / runs)


def test_power_grows_with_everything_that_should_help():
    usual = power(1, 10, 20, Spread())
    assert power(1, 20, 20, Spread()) > usual
    assert power(1, 10, 40, Spread()) > usual
    assert power(2, 10, 20, Spread()) > usual
    assert power(1, 10, 20, Spread(error=4)) < usual
    assert power(1, 10, 20, Spread(), comparisons=5) < usual
    assert power(0, 10, 20, Spread()) == pytest.approx(0.05, abs=1e-4)
    for raters, effect, comparisons in ((5, 1, 1), (10, 2, 3), (20, 1.5, 2)):
        spread = Spread()
        error = np.sqrt(2 * (0.64 / raters + 1 / 24 + 4 / (24 * raters)))
        limit = stats.t.isf(0.025 / comparisons, raters - 1)
        exact = stats.nct.sf(limit, raters - 1, effect / error)  # the other tail is negligible
        found = power(effect, raters, 24, spread, comparisons=comparisons)
        assert found == pytest.approx(exact, abs=2e-3)
    assert raters_needed(0.8, 2, 48, Spread()) < 15
    assert power(5, 2000, 96, Spread()) == pytest.approx(1)
    needed = raters_needed(0.8, 1.5, 48, Spread())
    assert power(1.5, needed, 48, Spread()) >= 0.8 > power(1.5, needed - 1, 48, Spread())
    assert raters_needed(0.8, 0.1, 5, Spread()) is None


def fill(study, store, change=lambda trial, value: value, ms=2000):
    """Add a rater who answers well, except for a change."""
    rater = store.join("human")
    answers = []
    for at, trial in enumerate(plan(study, rater.slot)):
        right = trial.correct
        value = change(trial, (at * 3) % 11 if right is None else right)
        if value is not None:
            answers.append(Answer(rater.id, at, value, ms, f"s{at}"))
    store.add(answers)
    return rater.id


def test_each_rule_excludes_who_breaks_it_and_is_counted(study, store):
    strict = study.exclusions.__class__(attention_failures=0)
    study = study.__class__(**{**study.__dict__, "exclusions": strict})
    good = fill(study, store)
    slow_start = fill(study, store, lambda t, v: v if t.kind in ("check", "forecast") else None)
    ignorant = fill(study, store, lambda t, v: (v + 1) % 2 if t.kind == "check" else v)
    asleep = fill(study, store, lambda t, v: (v + 1) % 11 if t.kind == "attention" else v)
    hasty = fill(study, store, ms=10)
    constant = fill(study, store, lambda t, v: 4 if t.kind == "rating" else v)
    table = answers_table(study, store)
    rules = exclusions(study, table)
    assert [set(rule.raters) for rule in rules] == [
        {slow_start},
        {ignorant},
        {asleep},
        {hasty},
        {constant},
    ]
    assert set(kept_answers(table, rules).rater) == {good}


def test_a_check_may_be_right_at_the_second_attempt(study, store):
    rater = fill(study, store, lambda t, v: (v + 1) % 2 if t.kind == "check" else v)
    store.add([Answer(rater, at, study.checks[at].correct, 900, f"again-{at}") for at in (0, 1)])
    assert not exclusions(study, answers_table(study, store))[1].raters
    other = fill(study, store, lambda t, v: (v + 1) % 2 if t.kind == "check" else v)
    for attempt in range(2):
        value = study.checks[0].correct if attempt else 2
        store.add([Answer(other, 0, value, 900, f"late-{attempt}")])
    assert exclusions(study, answers_table(study, store))[1].raters == {other}


def test_a_report_on_people_is_complete_and_escaped(make_study, tmp_path):
    study = make_study(4)
    evil = study.__class__(**{**study.__dict__, "title": "<script>alert(1)</script> | *x*"})
    store = Store(tmp_path / "a.sqlite", evil.code)
    for person in range(6):
        fill(
            evil, store, lambda t, v, person=person: (v + person) % 11 if t.kind == "rating" else v
        )
    write_report(evil, store, tmp_path / "report")
    page = (tmp_path / "report" / "report.html").read_text()
    text = (tmp_path / "report" / "report.md").read_text()
    assert "<script>" not in page
    assert "<script>" not in text
    assert LABEL not in page + text
    for said in ("Participants", "Planned contrasts", "Krippendorff's alpha", "Forward simulation"):
        assert said in page
        assert said in text
    assert {path.name for path in (tmp_path / "report").iterdir()} == {
        *("report.html", "report.md", "scores.png", "means.png", "forecasts.png")
    }


def test_simulated_studies_are_labelled_everywhere(study, tmp_path):
    store = Store(tmp_path / "s.sqlite", study.code, simulated=True)
    simulate(study, store, 6, seed=1)
    write_report(study, store, tmp_path / "report")
    export(study, store, tmp_path / "export")
    for name in ("report.html", "report.md"):
        text = (tmp_path / "report" / name).read_text()
        assert LABEL.upper() in text
        for line in text.splitlines():
            assert not line.startswith(("## ", "![")) or LABEL in line
    assert LABEL.upper() in (tmp_path / "export" / "codebook.md").read_text()
    table = pd.read_csv(tmp_path / "export" / "answers.csv")
    assert set(table.source) == {"simulated"}


def test_simulated_raters_see_pictures_not_arms(study, tmp_path, make_study):
    """Two arms that highlight the same get the same answers from the same rater."""
    items = tuple(
        item.__class__(
            **{**item.__dict__, "highlights": {**item.highlights, "shap": item.highlights["pgm"]}}
        )
        for item in study.items
    )
    same = study.__class__(**{**study.__dict__, "items": items})
    store = Store(tmp_path / "s.sqlite", same.code, simulated=True)
    simulate(same, store, 60, seed=1)
    table = answers_table(same, store)
    means = table[table.kind == "rating"].groupby("arm").value.mean()
    assert means["pgm"] == pytest.approx(means["shap"], abs=0.6)
    assert means["grad"] > means["pgm"] + 2  # the brighter regions


def test_exports_are_the_same_in_both_formats_and_hold_no_secret(study, store, tmp_path):
    fill(study, store)
    token = store.raters()[0].token
    export(study, store, tmp_path / "export")
    csv = pd.read_csv(tmp_path / "export" / "answers.csv")
    parquet = pd.read_parquet(tmp_path / "export" / "answers.parquet")
    assert list(csv.columns) == list(parquet.columns) == list(COLUMNS)
    assert len(csv) == len(plan(study, 0))
    assert csv.value.tolist() == parquet.value.tolist()
    codebook = (tmp_path / "export" / "codebook.md").read_text()
    assert all(f"`{name}`" in codebook for name in COLUMNS)
    for path in (tmp_path / "export").iterdir():
        assert token.encode() not in path.read_bytes()


def test_a_report_without_answers_says_so(study, store, tmp_path):
    with pytest.raises(InputError, match="no answers"):
        write_report(study, store, tmp_path / "report")
    store.join("pilot")
    with pytest.raises(InputError, match="pilot"):
        write_report(study, store, tmp_path / "report", pilot=True)
    assert json.dumps(study.title)
