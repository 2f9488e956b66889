"""A report prints on one page."""

from __future__ import annotations

import re

import pytest

from pgm_explainer import PGMExplainer

from .conftest import SETTINGS


@pytest.mark.parametrize("audience", ["manager", "engineer"])
def test_a_typical_report_prints_on_one_page(browser, toy, audience, tmp_path):
    explainer = PGMExplainer(toy.whole, toy.x, toy.edge_index, **SETTINGS)
    explanation = explainer.explain(14, with_features=True)
    assert len(explanation.effects) > 8
    path = explanation.report(tmp_path / "why.html", audience, counterfactual=True)
    page = browser.new_page()
    page.goto(path.as_uri())
    for size in ("A4", "Letter"):
        printed = page.pdf(format=size, prefer_css_page_size=False)
        assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1
    page.close()
