"""Raters while the server runs: their answers are checked, then committed in groups."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pgm_explainer import FileError

from ..checked import Checked
from ..design import Trial
from ..store import Answer, Rater, Store
from ..study_file import Study
from .shown import Sequences, hint

__all__ = ["Participant", "Participants", "read_answers"]

Result = TypeVar("Result")
MOST_ANSWERS = 200
_LONGEST_MS = 24 * 3600 * 1000
_CHANGES = 20
"""The maximum number of times that a rater may change an answer, on average."""


@dataclass
class Participant:
    """The state of a rater while the server runs.

    Attributes:
        answers: the newest answer to each trial that is on the disk.
        stored: how many answers are stored, replaced ones included.
    """

    rater: Rater
    trials: tuple[Trial, ...]
    answers: dict[int, int] = field(default_factory=dict)
    stored: int = 0

    @property
    def is_complete(self) -> bool:
        return len(self.answers) == len(self.trials)


def read_answers(document: Checked, participant: Participant, study: Study) -> list[Answer]:
    """Return validated answers from the page or from a file.

    Raises:
        FileError: an answer is invalid.
    """
    found = []
    for each in document.items(MOST_ANSWERS + len(participant.trials) * _CHANGES):
        f = each.fields("trial", "value", "ms", "submission")
        trial = f["trial"].whole(0, len(participant.trials) - 1)
        possible = participant.trials[trial].answers(study.scale)
        value = f["value"].whole(possible[0], possible[-1])
        submission = f["submission"].identifier()
        found.append(
            Answer(participant.rater.id, trial, value, f["ms"].whole(0, _LONGEST_MS), submission)
        )
    return found


class Participants:
    """All raters. One thread uses the database; answers that arrive in the meantime are queued.

    Waiting for the disk takes most of the time of a commit, so all answers that have arrived by
    then are committed at once.
    """

    def __init__(self, study: Study, store: Store) -> None:
        self.study = study
        self.sequences = Sequences(study)
        self._store = store
        self._thread = ThreadPoolExecutor(1)
        self._participants: dict[str, Participant] = {}
        self._waiting: list[tuple[list[Answer], asyncio.Future[None]]] = []
        self._writer: asyncio.Task[None] | None = None

    async def run(self, work: Callable[..., Result], *arguments: Any) -> Result:
        """Call a function of the database in its thread."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, work, *arguments)

    async def join(self, *arguments: Any) -> Rater:
        """Add a rater; see :meth:`~..store.Store.join`."""
        return await self.run(self._store.join, *arguments)

    async def participant(self, token: str) -> Participant | None:
        """Return the state of a rater, given the secret token of the personal link."""
        if token in self._participants:
            return self._participants[token]
        rater = await self.run(self._store.rater, token)
        if rater is None:
            return None
        answers = await self.run(self._store.latest, rater.id)
        stored = await self.run(self._store.count, rater.id)
        participant = Participant(rater, self.sequences.trials(rater.slot), answers, stored)
        return self._participants.setdefault(token, participant)

    async def add(self, participant: Participant, document: Checked) -> dict[int, str]:
        """Store answers; return the hints for wrong answers about the instructions.

        Raises:
            FileError: an answer is not possible, or there are too many.
        """
        answers = read_answers(document, participant, self.study)
        if len(answers) > MOST_ANSWERS or (
            participant.stored + len(answers) > _CHANGES * len(participant.trials) + MOST_ANSWERS
        ):
            raise FileError("there are too many answers for one rater")
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((answers, done))
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write())
        await done
        participant.stored += len(answers)
        # Read from the database: a submission that is sent twice must not undo a newer answer.
        if len({a.trial for a in answers} & set(participant.answers)):
            participant.answers = await self.run(self._store.latest, participant.rater.id)
        else:
            participant.answers.update({answer.trial: answer.value for answer in answers})
        hints = {a.trial: hint(participant.trials[a.trial], a.value) for a in answers}
        return {trial: text for trial, text in hints.items() if text is not None}

    async def _write(self) -> None:
        while self._waiting:
            group, self._waiting = self._waiting, []
            try:
                await self.run(self._store.add, [one for some, _ in group for one in some])
            except (
                Exception
            ) as error:  # such as a full disk: every sender gets the error and tries again
                for _, done in group:
                    if not done.done():
                        done.set_exception(error)
            else:
                for _, done in group:
                    if not done.done():
                        done.set_result(None)
