"""What the site needs that can be checked without building it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import pgm_explainer

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted([*DOCS.glob("*.md"), *DOCS.glob("guide/*.md"), *DOCS.glob("api/*.md")])
OPTIONAL = {"models", "families"}


def entries(page):
    """The pages of the tables of contents of a page."""
    text = (DOCS / page).read_text()
    blocks = re.findall(r"```\{toctree\}\n(.*?)```", text, re.DOTALL)
    lines = [line for block in blocks for line in block.split("\n")]
    return {line for line in lines if line and not line.startswith(":")}


def test_every_page_is_in_the_table_of_contents():
    listed = entries("index.md")
    pages = {path.stem for path in DOCS.glob("*.md")} | {"tutorial"}
    assert pages - {"index"} <= listed
    assert {name for name in listed if "/" not in name} <= pages | OPTIONAL
    guide = {path.stem for path in DOCS.glob("guide/*.md")} - {"index"}
    assert entries("guide/index.md") == guide


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(DOCS).as_posix())
def test_links_lead_somewhere(page):
    """The build checks them too, anchors included; this one is quicker."""
    text = re.sub(r"`[^`\n]*`", "", page.read_text())  # code may look like a link
    links = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text)
    absent = [link for link in links if not (page.parent / link).exists() and not generated(link)]
    assert absent == []


def generated(link):
    """Whether a page is written while the site is built."""
    if "gallery/" in link:
        name = Path(link).stem
        return name == "index" or (DOCS / "examples" / f"{name}.py").exists()
    return link.endswith(".rst") and Path(link).stem.startswith("pgm_explainer")


def test_sections_of_the_reference_hold_every_public_name():
    tree = ast.parse((DOCS / "_ext" / "api_pages.py").read_text())
    (groups,) = [
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and node.targets[0].id == "GROUPS"
    ]
    named = [name for group in groups.values() for name in group.split()]
    assert len(named) == len(set(named))
    assert set(pgm_explainer.__all__) - set(named) == {"__version__"}
    assert set(named) <= set(pgm_explainer.__all__)


def test_the_gallery_has_at_least_ten_examples():
    names = [path.name for path in (DOCS / "examples").glob("*.py")]
    assert len(names) >= 10
    assert all(name.startswith(("data_", "plot_", "ray_")) for name in names), "or it is not run"
