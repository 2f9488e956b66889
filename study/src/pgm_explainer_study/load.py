"""Load test: many raters who answer as fast as possible, and a server that is killed.

``python -m pgm_explainer_study.load`` measures 50 raters with 144 answers each.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from .design import plan
from .scenes import ListScene
from .store import Store
from .study_file import (
    Arm,
    Design,
    Exclusions,
    Item,
    Scale,
    Study,
    Texts,
    load_study,
    save_study,
)

__all__ = ["Server", "Tally", "answer_all", "lost_and_doubled", "small_study"]


def small_study(items: int = 48, per_item: int = 3) -> Study:
    """Return a study of lists, with three explainers."""
    arms = tuple(Arm(name, name) for name in ("first", "second", "third"))
    scene = ListScene(("a", "b", "c", "d", "e"))
    found: dict[str, tuple[int, ...]] = {"first": (0, 1), "second": (1, 2), "third": (2, 3)}
    return Study(
        "A test of the server",
        0,
        Texts("An introduction.", "Consent.", "Rate.", "", "Thank you."),
        arms,
        Scale("How important?", 0, 10, "not at all", "very"),
        (),
        Design(per_item, 0, 0),
        Exclusions(),
        (("first", "second"),),
        tuple(Item(f"item-{at}", f"Item {at}", scene, found) for at in range(items)),
    )


class Server:
    """A server in a separate process, which can be killed and started again."""

    def __init__(self, study: Path, *options: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._command = [
            sys.executable,
            "-m",
            __package__,
            "serve",
            str(study),
            *options,
            "--port",
            str(self.port),
        ]
        self.answers = study.with_suffix(".sqlite")
        self.log = study.with_suffix(".log")
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start, and wait until the server answers."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log)
        for _ in range(600):
            with socket.socket() as trial:
                if trial.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            if self._process.poll() is not None:
                break
            time.sleep(0.1)
        raise RuntimeError(f"the server did not start: {self.log.read_text()}")

    def kill(self) -> None:
        """Kill the server as a crash would (``kill -9``)."""
        os.kill(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        """Stop the server, if it runs."""
        if self._process.poll() is None:
            self._process.terminate()
            self._process.wait()


@dataclass
class Tally:
    """The acknowledged answers, by token and trial, and the response times."""

    acknowledged: dict[str, dict[int, int]] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)


class _Connection:
    """A connection that is kept open, as a browser's is."""

    def __init__(self, port: int) -> None:
        self._port = port

    async def request(
        self, method: str, path: str, kind: str, body: bytes
    ) -> tuple[int, bytes, bytes]:
        """Return status, head and body of a response."""
        if not hasattr(self, "_reader"):
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {kind}\r\n"
        self._writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        answer = await self._reader.readuntil(b"\r\n\r\n")
        lines = answer.lower().split(b"\r\n")
        length = next((int(x.split(b":")[1]) for x in lines if x.startswith(b"content-length:")), 0)
        content = await self._reader.readexactly(length)
        return int(answer[9:12]), answer, content

    def close(self) -> None:
        if hasattr(self, "_writer"):
            self._writer.close()


async def _rater(port: int, tally: Tally, count: int, token: str | None) -> None:
    """Join, unless there is a token, and answer the trials without an acknowledged answer."""
    connection = _Connection(port)
    try:
        if token is None:
            form = "application/x-www-form-urlencoded"
            _, head, _ = await connection.request("POST", "/join", form, b"agree=yes")
            token = head.split(b"/r/")[1].split(b"\r\n")[0].decode()
            tally.acknowledged[token] = {}
        known = tally.acknowledged[token]
        for trial in range(count):
            if trial in known:
                continue
            value = (trial * 7 + len(token)) % 11
            one = {"trial": trial, "value": value, "ms": 5, "submission": f"submission-{trial}"}
            body = json.dumps({"answers": [one]}).encode()
            start = time.perf_counter()
            path = f"/r/{token}/answers"
            status, _, _ = await connection.request("POST", path, "application/json", body)
            tally.seconds.append(time.perf_counter() - start)
            if status == 200:
                known[trial] = value
    except (OSError, asyncio.IncompleteReadError):
        pass  # the server was killed
    finally:
        connection.close()


async def answer_all(port: int, tally: Tally, raters: int, count: int) -> None:
    """Let raters answer concurrently: those of the tally continue, others join."""
    tokens: list[str | None] = [*tally.acknowledged]
    tokens += [None] * (raters - len(tokens))
    await asyncio.gather(*(_rater(port, tally, count, token) for token in tokens))


def lost_and_doubled(study: Path, answers: Path, tally: Tally) -> tuple[int, int]:
    """Return how many acknowledged answers are missing or wrong, and how many are there twice."""
    store = Store(answers, load_study(study).code)
    ids = {rater.id: rater.token for rater in store.raters()}
    counts = Counter((rater, trial) for rater, trial, *_ in store.history())
    stored = {ids[number]: store.latest(number) for number in ids}
    store.close()
    lost = sum(
        stored.get(token, {}).get(trial) != value
        for token, known in tally.acknowledged.items()
        for trial, value in known.items()
    )
    return lost, sum(number - 1 for number in counts.values())


def main(raters: int = 50, per_item: int = 3) -> None:
    """Measure, and print the results."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.json"
        study = small_study(48, per_item)
        save_study(study, path)
        count = len(plan(study, 0))
        server = Server(path)
        try:
            tally = Tally()
            start = time.perf_counter()
            asyncio.run(answer_all(server.port, tally, raters, count))
            seconds = time.perf_counter() - start
            lost, doubled = lost_and_doubled(path, server.answers, tally)
        finally:
            server.stop()
        times = [1000 * each for each in sorted(tally.seconds)]
        done = sum(map(len, tally.acknowledged.values()))
        print(
            f"{raters} raters, {done} of {raters * count} answers acknowledged in {seconds:.1f} s: "
            f"{lost} lost, {doubled} doubled; response in ms: median "
            f"{statistics.median(times):.1f}, 95% {times[int(0.95 * len(times))]:.1f}, "
            f"longest {times[-1]:.1f}"
        )


if __name__ == "__main__":
    main()
