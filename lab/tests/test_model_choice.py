"""The comparison of models: known networks, and the recommendation from losses."""

from pathlib import Path

import pytest

from pgm_explainer_lab.reproduce.jobs import Place
from pgm_explainer_lab.reproduce.model_cells import DEFAULT, WAYS, recovery_cell
from pgm_explainer_lab.reproduce.model_choice import _loss_table, _recommendation


def losses(**changed):
    """One set, on which every way has the loss 1 except for the given ones."""
    return {way.name: [changed.get(way.name.replace(", ", "_"), 1.0)] for way in WAYS}


def test_every_way_has_options_and_a_name_of_its_own():
    assert len({way.name for way in WAYS}) == len(WAYS)
    assert {way.config().family for way in WAYS} == {"bayesian", "markov", "dependency"}


def test_searches_find_known_networks():
    found = recovery_cell(Place(Path()), 0, 4, 6, [("bic", "auto"), ("bdeu", "ges")])
    assert all(each["distance"] <= 4 for each in found["found"].values())
    again = recovery_cell(Place(Path()), 0, 4, 6, [("bic", "auto")])
    assert again["found"]["bic, auto"]["distance"] == found["found"]["bic, auto"]["distance"]


def test_the_default_is_recommended_among_equals():
    text = _recommendation(losses(), losses(), ["syn1"], alone=True)
    assert f"**{DEFAULT.name}**" in text
    assert "its worst ratio is 1.000, within 2% of the best" in text


def test_a_better_way_is_recommended_and_a_miss_is_said():
    first = losses(bayesian_qnml_auto=0.5)
    text = _recommendation(first, losses(bayesian_bic_ges=0.5), ["syn1"], alone=False)
    assert "**bayesian, qnml, auto**" in text
    assert "not within 2%" in text


def test_the_best_of_a_set_is_bold_and_a_failure_is_empty():
    shown = _loss_table(losses(bayesian_bic_ges=0.5, bayesian_bic_order=float("nan")), ["syn1"])
    assert "| bayesian, bic, ges | **0.500** | 1.00 |" in shown
    assert "| bayesian, bic, order |  |  |" in shown
    assert shown.count("**") == 2


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_the_likelihood_alone_is_bounded(way):
    assert (way.config().max_parents == 2) == (way.score == "log_likelihood")
