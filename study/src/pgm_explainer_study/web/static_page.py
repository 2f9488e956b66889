"""A study as one HTML file that needs no server, and reading the file of answers that it saves."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader

from pgm_explainer import FileError

from ..checked import read_json
from ..design import plan
from ..store import Rater, Store
from ..study_file import Study
from .participants import Participant, read_answers
from .shown import shown_trial, texts

__all__ = ["import_answers", "static_page"]

FORMAT, VERSION = "pgm-explainer-answers", 1


def static_page(study: Study, raters: int) -> str:
    """Return the page; it has the sequences of this many raters, one of which it uses.

    The page of rater 3 is ``study.html#rater=3``; without a number, one is drawn at random.
    """
    shown: dict[str, int] = {}
    sequences = []
    for slot in range(raters):
        trials = [json.dumps(shown_trial(study, trial)) for trial in plan(study, slot)]
        sequences.append([shown.setdefault(trial, len(shown)) for trial in trials])
    # Sorted by hash, because the order of appearance would reveal the arms.
    order = sorted(shown, key=lambda text: hashlib.sha256(text.encode()).digest())
    place = {shown[text]: at for at, text in enumerate(order)}
    data = {
        "code": study.code,
        "texts": texts(study),
        "consent": study.texts.consent,
        "shown": [json.loads(text) for text in order],
        "sequences": [[place[number] for number in sequence] for sequence in sequences],
    }
    assets = files(__package__) / "assets"
    script, style = ((assets / name).read_text() for name in ("study.js", "study.css"))
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        f"img-src data:; base-uri 'none'; form-action 'none'"
    )
    template = Environment(loader=PackageLoader(__package__), autoescape=True)
    return template.get_template("static.html").render(
        title=study.title, policy=policy, data=_for_a_page(data), script=script, style=style
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _for_a_page(value: Any) -> str:
    """Return JSON that cannot end the script element that contains it."""
    return json.dumps(value).replace("<", "\\u003c").replace(">", "\\u003e")


def import_answers(study: Study, store: Store, path: Path) -> bool:
    """Add the answers of a file that a static page saved; False if they were added before.

    Raises:
        FileError: the file is damaged, of another study, or has impossible answers.
    """
    document = read_json(path, "answers from the page of a study")
    f = document.fields("format", "version", "study", "slot", "run", "answers")
    if (f["format"].value, f["version"].value) != (FORMAT, VERSION):
        raise FileError(f"{path} is not a file of answers, or of another version")
    if f["study"].value != study.code:
        raise FileError(f"{path} has answers to another study, or to this one before a change")
    slot, run = f["slot"].whole(0, 1_000_000), f["run"].identifier()
    trials = tuple(plan(study, slot))
    # Everything is checked before a rater is added.
    participant = Participant(Rater(0, "", slot, "imported", 0.0), trials)
    read_answers(f["answers"], participant, study)
    known = {rater.id for rater in store.raters()}
    rater = store.join("imported", person=run, session=run, slot=slot)
    store.add(read_answers(f["answers"], Participant(rater, trials), study))
    return rater.id not in known
