"""The page about reasons lists every template, and its example is what the code says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pgm_explainer.report.templates import AUDIENCES, check_templates
from pgm_explainer.storage.checked import parse_json

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reason.md").read_text()


def test_every_template_is_listed_with_its_text_and_fields():
    rows = dict(re.findall(r"^\| `(\w+)` \| .* \| `(.*)` \|$", PAGE, re.MULTILINE))
    assert {name: text.strip() for name, text in rows.items()} == {
        name: text.strip() for name, text in AUDIENCES["manager"].items()
    }
    facts = re.search(r"\*facts\* stands for (.*?)\.\n", PAGE, re.DOTALL)[1]
    for name, fields in re.findall(r"^\| `(\w+)` \| (.*?) \| `", PAGE, re.MULTILINE):
        listed = re.findall(r"\{(\w+)\}", facts if fields == "facts" else fields)
        check_templates({name: "".join(f"{{{field}}}" for field in listed)})


def test_the_example_is_the_reason_of_the_readmes_prediction():
    pytest.importorskip("networkx")
    code = re.search(r"```python\n(import networkx.*?)explanation.plot", readme(), re.DOTALL)[1]
    names: dict = {}
    exec(code, names)
    quotes = re.findall(r"(?:^> .*\n)+", PAGE, re.MULTILINE)
    reason, change = (" ".join(re.sub("^> ", "", q, flags=re.M).split()) for q in quotes)
    assert reason == names["explanation"].reason()
    assert change in names["explanation"].reason(counterfactual=True)
    assert "did not fall from 0.731 to below\n0.581" in PAGE
    assert names["explanation"].thresholds == pytest.approx([0.15])


def readme() -> str:
    return (ROOT / "README.md").read_text()


def test_the_own_sentences_of_the_page_are_valid():
    own = re.search(r"own = (\{.*?\n\})", PAGE, re.DOTALL)[1]
    assert check_templates(parse_json(own.replace(",\n}", "\n}"), ""))
