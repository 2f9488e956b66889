"""A small study with every kind of arm and trial, a server for it, and a browser."""

from __future__ import annotations

import http.client
import json
import re
import shutil
from types import SimpleNamespace

import pytest

from pgm_explainer_study.load import Server
from pgm_explainer_study.scenes import GridScene
from pgm_explainer_study.sources.assembly import Case, assemble
from pgm_explainer_study.store import Store
from pgm_explainer_study.study_file import Forecast, save_study

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def design(**options):
    """The options of a study, as the command line gives them."""
    usual = {"seed": 3, "design": "default", "parts": 2, "arms_per_item": None, "repeats": 1}
    return SimpleNamespace(**{**usual, "attention": 1, **options})


def _make_study(count=4, **options):
    """A study of images of four by four pixels, in four regions of two by two."""
    segments = tuple(tuple(2 * (r // 2) + c // 2 for c in range(4)) for r in range(4))
    cases = []
    for number in range(count):
        image = tuple(
            tuple((60 * r + 20 * c + 7 * number) % 256 for c in range(4)) for r in range(4)
        )
        found = {"pgm": [0, 1], "shap": [1, 2], "grad": [3, 2]}
        forecast = Forecast(2, "And if it changes?", ("the same", "another"), number % 2)
        cases.append(
            Case(
                f"item-{number}",
                f"Caption {number}",
                GridScene(image, segments),
                found,
                range(4),
                forecast,
            )
        )
    names = {"pgm": "PGM-Explainer", "shap": "SHAP", "grad": "GRAD"}
    words = {"things": "regions", "intro": "An introduction.", "change": "it changes", "notes": ""}
    return assemble("A title", cases, names, design(**options), **words)


@pytest.fixture(scope="session")
def study():
    return _make_study()


@pytest.fixture(scope="session")
def make_study():
    """A function that makes such a study with other options."""
    return _make_study


@pytest.fixture
def store(study, tmp_path):
    store = Store(tmp_path / "answers.sqlite", study.code)
    yield store
    store.close()


class Client:
    """Requests to a server, without following redirections."""

    def __init__(self, server):
        self.server = server

    def request(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=30)
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, names)
        response = connection.getresponse()
        found = response.status, dict(response.getheaders()), response.read().decode()
        connection.close()
        return found

    def join(self, **identifiers):
        body = "&".join(["agree=yes", *(f"{name}={value}" for name, value in identifiers.items())])
        status, headers, text = self.request("POST", "/join", body)
        return headers["location"].removeprefix("/r/") if status == 303 else (status, text)

    def answer(self, token, *answers, **headers):
        body = json.dumps({"answers": list(answers)})
        kind = {"Content_Type": "application/json", **headers}
        status, _, text = self.request("POST", f"/r/{token}/answers", body, **kind)
        return status, json.loads(text)

    def answers(self, token):
        return json.loads(self.request("GET", f"/r/{token}/answers")[2])["answers"]

    def data(self, token):
        return json.loads(self.request("GET", f"/r/{token}/data")[2])

    def log(self):
        return self.server.log.read_text()


@pytest.fixture
def serve(tmp_path):
    """Start servers of studies; they are stopped at the end."""
    started = []

    def start(study, *options):
        folder = tmp_path / f"server-{len(started)}"
        folder.mkdir()
        save_study(study, folder / "study.json")
        started.append(Server(folder / "study.json", *options))
        return Client(started[-1])

    yield start
    for server in started:
        server.stop()


@pytest.fixture(scope="module")
def client(study, tmp_path_factory):
    """A server that the tests of a module share."""
    path = tmp_path_factory.mktemp("server") / "study.json"
    save_study(study, path)
    server = Server(path, "--completion-code", "C0DE")
    yield Client(server)
    server.stop()


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def tab(browser):
    """Open tabs; errors, dialogues and requests to other servers fail the test at its end."""
    contexts, wrong = [], []

    def judge(request):
        if not re.match(r"(http://127\.0\.0\.1:\d+/|file:|data:|blob:)", request.url):
            wrong.append(f"asked for {request.url}")

    def note(message):
        if "net::ERR" not in message.text:  # a server that is away
            wrong.append(f"{message.type}: {message.text}")

    def open_tab(url, context=None, **options):
        if context is None:
            context = browser.new_context(**options)
            contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("request", judge)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: wrong.append(f"dialogue {dialog.message!r}"))
        page.on("console", note)
        page.clock.install()  # so that tests can skip waiting times
        page.goto(url)
        return page

    yield open_tab
    for context in contexts:
        context.close()
    assert not wrong
