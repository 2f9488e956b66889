"""The page of parts that are not nodes."""

from __future__ import annotations

from pgm_explainer.report.html.payload import page_payload


def shown(explanation):
    (only,) = page_payload([explanation])["explanations"]
    return only


def test_edges_have_their_effects_in_the_picture(parts):
    page = shown(parts["edges"])
    assert page["noun"] == "edge"
    strongest = page["picture"]["partEdges"][-1]
    assert (strongest["name"], strongest["direction"]) == ("1 – 2", "falls")
    assert strongest["strength"] == 1.0
    assert strongest["key"] == page["effects"]["bars"][0]["key"]
    (variable,) = [v for v in page["network"]["variables"] if v["key"] == strongest["key"]]
    assert (variable["title"], variable["means"]) == ("Edge", "removed")


def test_groups_and_strips(parts):
    groups = shown(parts["groups"])["picture"]["groups"]
    assert {group["name"] for group in groups} == {"ring", "tail", "branch"}
    strip = shown(parts["node time"])["picture"]["strip"]
    assert strip["columns"] == ["0", "1", "2", "3"]
    assert strip["rows"][strip["target"]] == "2"
    assert len(strip["cells"]) == len(parts["node time"].effects)
