"""A study file is exact, and every wrong value in it is refused with its place."""

from __future__ import annotations

import copy
import json

import pytest

from pgm_explainer import FileError
from pgm_explainer_study.checked import MOST_BYTES, Checked
from pgm_explainer_study.study_file import load_study, read_study, save_study, study_to_dict


@pytest.fixture(scope="module")
def document(study):
    return json.loads(json.dumps(study_to_dict(study)))


def test_a_study_is_the_same_after_saving_and_loading(study, tmp_path):
    path = tmp_path / "study.json"
    save_study(study, path)
    assert load_study(path) == study
    assert load_study(path).code == study.code


def test_the_code_changes_with_the_contents(study, make_study):
    assert make_study(seed=4).code != study.code
    assert make_study().code == study.code


WRONG = [
    ("seed", -1),
    ("seed", 1.5),
    ("title", ""),
    ("title", "x" * 201),
    ("title", "half of a pair \ud800"),
    ("arms", []),
    ("arms", [{"id": "none", "name": "no", "kind": "none"}]),
    ("arms.0.id", "two words"),
    ("arms.1.id", "pgm"),
    ("arms.0.kind", "other"),
    ("scale.most", 0),
    ("scale.most", 1000),
    ("checks.0.correct", 3),
    ("design.arms_per_item", 5),
    ("design.arms_per_item", 0),
    ("design.repeats", 7),
    ("exclusions.same_answer", 2),
    ("contrasts.0", ["pgm", "pgm"]),
    ("contrasts.0", ["pgm", "none"]),
    ("items", []),
    ("items.1.id", "item-0"),
    ("items.0.highlights.pgm", [4]),
    ("items.0.highlights.pgm", [1, 1]),
    ("items.0.highlights.pgm", []),
    ("items.0.highlights.none", [1]),
    ("items.0.forecast.probe", 4),
    ("items.0.forecast.correct", 2),
    ("items.0.scene.kind", "video"),
    ("items.0.scene.image", [[0]]),
    ("items.0.scene.image.0.0", 256),
    ("items.0.scene.segments.0.0", 9),
    ("items.0.unknown", 1),
    ("version", 2),
    ("format", "other"),
    ("texts.intro", None),
]


@pytest.mark.parametrize(("place", "value"), WRONG, ids=[f"{p}={v!r:.20}" for p, v in WRONG])
def test_a_wrong_value_is_refused(document, place, value):
    changed = copy.deepcopy(document)
    at = changed
    *steps, last = (int(step) if step.isdigit() else step for step in place.split("."))
    for step in steps:
        at = at[step]
    at[last] = value
    with pytest.raises(FileError):
        read_study(Checked(changed, "study"))


def test_every_missing_field_is_refused(document):
    for name in document:
        changed = {key: value for key, value in document.items() if key != name}
        with pytest.raises(FileError):
            read_study(Checked(changed, "study"))


@pytest.mark.parametrize(
    "text", ["", "[", '{"a": NaN}', '{"a": 1, "a": 2}', "[" * 100_000, "\xff", "null"]
)
def test_what_is_not_a_study_is_refused(tmp_path, text):
    path = tmp_path / "study.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(FileError):
        load_study(path)


def test_a_large_file_is_refused_unread(tmp_path):
    path = tmp_path / "study.json"
    with path.open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    with pytest.raises(FileError, match="64 MB"):
        load_study(path)
