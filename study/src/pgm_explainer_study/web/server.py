"""The web application: consent, personal links, questions, answers."""

from __future__ import annotations

import json
import logging
import re
import sqlite3
from dataclasses import dataclass
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs

from jinja2 import Environment, PackageLoader
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pgm_explainer import FileError

from ..checked import Checked, parse
from ..store import FullError, Store, TakenError
from ..study_file import Study
from .participants import Participant, Participants
from .shown import texts

__all__ = ["Options", "make_app"]

_log = logging.getLogger("pgm_explainer_study")
_MOST_BYTES = 64 << 10
_IDENTIFIERS = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
_HEADERS = [
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; "
        b"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]


@dataclass(frozen=True)
class Options:
    """How a study is served.

    Attributes:
        pilot: whether answers are marked as those of a pilot and the page says so.
        most_raters: the largest number of raters; None for no limit.
        completion_code: shown at the end, for a recruiting service.
        completion_url: a link shown at the end.
        hosts: the names under which the server may be addressed; None for any.
    """

    pilot: bool = False
    most_raters: int | None = None
    completion_code: str | None = None
    completion_url: str | None = None
    hosts: frozenset[str] | None = None


def make_app(study: Study, store: Store, options: Options) -> ASGIApp:
    """Return the application."""
    pages = _Pages(study, Participants(study, store), options)
    app = Starlette(
        routes=[
            Route("/", pages.consent),
            Route("/join", pages.join, methods=["POST"]),
            Route("/r/{token}", pages.study),
            Route("/r/{token}/data", pages.data),
            Route("/r/{token}/answers", pages.answers, methods=["GET"]),
            Route("/r/{token}/answers", pages.add, methods=["POST"]),
            Route("/study.js", _asset("study.js", "text/javascript")),
            Route("/study.css", _asset("study.css", "text/css")),
        ],
        exception_handlers={HTTPException: pages.refuse, Exception: pages.fail},
    )
    return _Guard(app, options.hosts)


class _Guard:
    """Adds the headers to every response, and refuses requests with an unknown host name."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str] | None) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *_HEADERS]
            await send(message)

        host = next((v.decode("latin-1") for n, v in scope["headers"] if n == b"host"), "")
        if self._hosts is not None and re.sub(r":\d+$", "", host).lower() not in self._hosts:
            _log.warning("refused: the host %.60r is not one of ours", host)
            await HTMLResponse("Unknown host", 400)(scope, receive, send_safely)
            return
        await self._app(scope, receive, send_safely)


def _asset(name: str, kind: str) -> Any:
    """Return an endpoint for one file; no other file can be requested."""
    content = (files(__package__) / "assets" / name).read_bytes()

    async def serve(_request: Request) -> Response:
        return Response(content, media_type=kind)

    return serve


class _Pages:
    """The endpoints."""

    def __init__(self, study: Study, participants: Participants, options: Options) -> None:
        self._study = study
        self._participants = participants
        self._options = options
        self._templates = Environment(loader=PackageLoader(__package__), autoescape=True)
        self._texts = texts(study)

    def _html(self, name: str, status: int = 200, **values: Any) -> HTMLResponse:
        banner = "Pilot: these answers are a test" if self._options.pilot else None
        values = {"title": self._study.title, "banner": banner, **values}
        return HTMLResponse(self._templates.get_template(name).render(values), status)

    async def consent(self, request: Request) -> Response:
        found = {n: v for n, v in request.query_params.items() if n in _IDENTIFIERS}
        return self._html(
            "consent.html",
            intro=_paragraphs(self._study.texts.intro),
            consent=_paragraphs(self._study.texts.consent),
            identifiers={name: _identifier(value) for name, value in found.items()},
        )

    async def join(self, request: Request) -> Response:
        form = parse_qs((await _body(request)).decode("latin-1"), max_num_fields=10)
        if form.get("agree") != ["yes"]:
            raise HTTPException(400, "You cannot take part without consent.")
        given = {name: _identifier(form[name][0]) for name in _IDENTIFIERS if name in form}
        person = given.get("PROLIFIC_PID")
        session = " ".join(given.get(name, "") for name in ("STUDY_ID", "SESSION_ID"))
        session_or_none = session if given.get("SESSION_ID") else None
        source, most = (
            ("pilot", None) if self._options.pilot else ("human", self._options.most_raters)
        )
        try:
            rater = await self._participants.join(source, most, person, session_or_none)
        except FullError:
            raise HTTPException(403, "The study has enough participants. Thank you.") from None
        except TakenError:
            raise HTTPException(
                403, "You have already joined. Please continue with your personal link."
            ) from None
        return RedirectResponse(f"/r/{rater.token}", 303)

    async def study(self, request: Request) -> Response:
        participant = await self._participant(request)
        return self._html("study.html", base=f"/r/{participant.rater.token}")

    async def data(self, request: Request) -> Response:
        participant = await self._participant(request)
        shown = await self._participants.run(
            self._participants.sequences.shown, participant.rater.slot
        )
        return _json({"texts": self._texts, "trials": shown, **self._state(participant)})

    async def answers(self, request: Request) -> Response:
        return _json(self._state(await self._participant(request)))

    async def add(self, request: Request) -> Response:
        participant = await self._participant(request)
        if request.headers.get("content-type") != "application/json":
            raise HTTPException(415, "Answers should be application/json.")
        body = await _body(request)
        try:
            document = Checked(parse(body, "the answers"), "answers")
            hints = await self._participants.add(participant, document.fields("answers")["answers"])
        except FileError as error:
            raise HTTPException(400, str(error)) from None
        except sqlite3.Error as error:
            _log.error("answers could not be stored, and will be sent again: %s", error)
            raise HTTPException(503, "The answers could not be stored; please try again.") from None
        return _json({"hints": hints, "ending": self._ending(participant)})

    def _state(self, participant: Participant) -> dict[str, Any]:
        return {"answers": participant.answers, "hints": {}, "ending": self._ending(participant)}

    def _ending(self, participant: Participant) -> dict[str, Any] | None:
        """Return the texts for the end; the completion code is not revealed before."""
        if not participant.is_complete:
            return None
        return {"code": self._options.completion_code, "url": self._options.completion_url}

    async def _participant(self, request: Request) -> Participant:
        participant = await self._participants.participant(request.path_params["token"])
        if participant is None:
            raise HTTPException(404, "This personal link does not exist. Is it complete?")
        return participant

    async def refuse(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        kind = re.sub(r"^/r/[^/]*", "/r/…", request.url.path)  # links are secrets
        _log.warning("refused: %s %.60r: %s", request.method, kind, error.detail)
        if request.method == "POST" and kind != "/join":
            return _json({"error": error.detail}, error.status_code)
        return self._html("message.html", error.status_code, title="Sorry", message=error.detail)

    async def fail(self, request: Request, error: Exception) -> Response:
        return self._html(
            "message.html", 500, title="Sorry", message="Something went wrong. Please try again."
        )


def _paragraphs(text: str) -> list[str]:
    return [each for each in re.split(r"\n\s*\n", text) if each]


def _identifier(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", text):
        raise HTTPException(400, "The link has an invalid identifier.")
    return text


async def _body(request: Request) -> bytes:
    """Return the body of a request; a large one is refused before it is read into memory."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _MOST_BYTES:
            raise HTTPException(413, "This is too large.")
    return body


def _json(value: Any, status: int = 200) -> Response:
    content = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return Response(content, status, media_type="application/json")
