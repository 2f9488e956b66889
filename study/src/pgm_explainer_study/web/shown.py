"""The data about a study and a rater's trials that the page gets, which do not include arms."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from ..design import ATTENTION, CHECK, FORECAST, Trial, plan
from ..pictures import alt_text, picture
from ..study_file import Choice, Study

__all__ = ["Sequences", "hint", "shown_trial", "texts"]


class Sequences:
    """The trials of each slot, kept in memory."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.trials = lru_cache(maxsize=512)(lambda slot: tuple(plan(study, slot)))
        self.shown = lru_cache(maxsize=64)(
            lambda slot: [shown_trial(study, trial) for trial in self.trials(slot)]
        )


def texts(study: Study) -> dict[str, Any]:
    """Return the texts that the page needs."""
    scale = study.scale
    return {
        "title": study.title,
        "intro": study.texts.intro,
        "rating": study.texts.rating,
        "forecast": study.texts.forecast,
        "thanks": study.texts.thanks,
        "scale": {"least": scale.least, "most": scale.most, "low": scale.low, "high": scale.high},
    }


def shown_trial(study: Study, trial: Trial) -> dict[str, Any]:
    """Return a trial for the page. Its fields do not depend on the arm; the picture does."""
    if isinstance(trial.asked, Choice):
        return _question("check", trial.asked.question, trial.asked.options)
    assert trial.item is not None
    assert trial.arm is not None
    item, highlight = trial.item, trial.item.highlights[trial.arm]
    if trial.kind == FORECAST:
        assert item.forecast is not None
        probe = item.forecast.probe
        shown = _question("forecast", item.forecast.question, item.forecast.options)
    else:
        probe = None
        question = study.scale.question
        if trial.kind == ATTENTION:
            question = f"To check that you are reading, please choose {trial.asked}."
        shown = _question("rating", question, None)
    return {
        **shown,
        "caption": item.caption,
        "picture": picture(item.scene, highlight, probe),
        "alt": alt_text(item.scene, highlight, probe),
    }


def _question(block: str, question: str, options: tuple[str, ...] | None) -> dict[str, Any]:
    return {"block": block, "question": question, "options": options}


def hint(trial: Trial, value: int) -> str | None:
    """Return what to say after a wrong answer about the instructions."""
    wrong = trial.kind == CHECK and isinstance(trial.asked, Choice) and value != trial.asked.correct
    return trial.asked.hint if wrong and isinstance(trial.asked, Choice) else None
