"""Nothing but the highlight differs between arms, and no text becomes markup."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest

from pgm_explainer_study.pictures import _outline, alt_text, picture
from pgm_explainer_study.scenes import GraphScene, GridScene, ListScene

EVIL = "<script>alert(1)</script>\"'&"
SCENES = {
    "grid": GridScene(((0, 100, 200), (50, 150, 250)), ((0, 0, 1), (2, 1, 1))),
    "nodes": GraphScene(((0, 0), (1, 0), (0.5, 1)), ((0, 1), (1, 2)), ("a", EVIL, "c"), (0,)),
    "edges": GraphScene(((0, 0), (1, 0), (0.5, 1)), ((0, 1), (1, 2)), ("a", "b", "c"), (), "edges"),
    "list": ListScene(("age", EVIL, "colour")),
}


@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES)
def test_only_the_highlight_differs(scene):
    pictures = [picture(scene, highlight, probe=1) for highlight in ((), (0,), (1, 0))]
    rest = {re.sub(r'<g class="highlight">.*?</g>', "", each) for each in pictures}
    assert len(rest) == 1
    assert len(set(pictures)) == 3
    sizes = {re.search(r'viewBox="[^"]+" width="\d+" height="\d+"', each)[0] for each in pictures}
    assert len(sizes) == 1


@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES)
def test_the_order_of_an_explanation_does_not_show(scene):
    assert picture(scene, (1, 0)) == picture(scene, (0, 1))
    assert alt_text(scene, (1, 0)) == alt_text(scene, (0, 1))


@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES)
def test_texts_cannot_become_markup(scene):
    tree = ElementTree.fromstring(picture(scene, (0,), 1))
    names = {each.tag.partition("}")[2] for each in tree.iter()}
    assert names <= {"svg", "rect", "path", "g", "circle", "text", "image"}


def test_an_outline_encloses_the_area_of_its_part():
    scene = GridScene(((0,) * 4,) * 3, ((0, 0, 1, 1), (0, 2, 2, 1), (0, 0, 0, 1)))
    for part, pixels in enumerate((6, 4, 2)):
        corners = [
            tuple(map(int, each.split())) for each in re.findall(r"\d+ \d+", _outline(scene, part))
        ]
        shifted = corners[1:] + corners[:1]
        area = sum(a[0] * b[1] - a[1] * b[0] for a, b in zip(corners, shifted, strict=True)) / 2
        assert abs(area) == pixels


def test_a_part_in_two_pieces_has_two_outlines():
    scene = GridScene(((0, 0, 0),), ((0, 1, 0),))
    assert _outline(scene, 0).count("M") == 2


def test_the_words_name_what_is_highlighted():
    assert "Highlighted: node a; node c." in alt_text(SCENES["nodes"], (2, 0))
    assert "Highlighted: edge b to c. Marked as changed: edge a to b." in alt_text(
        SCENES["edges"], (1,), 0
    )
    assert "row 1, column 2 of 2" in alt_text(SCENES["grid"], (0,))
