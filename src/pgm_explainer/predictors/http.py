"""A model behind HTTP as a black box: each batch is one question, however many samples it holds.

The wire format is NumPy's own and holds plain numbers only; nothing that comes back is ever
executed. A server needs three lines: ``np.load`` the body, predict, ``np.save`` the scores.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Mapping
from contextlib import closing
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection, IncompleteRead
from io import BufferedReader, BytesIO, RawIOBase
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from ..arrays import FloatArray, IntArray, check_whole_number
from ..errors import InputError, ModelError, ModelUnavailableError
from ..graph import Subgraph
from ..limits import ANSWER_BYTES
from .base import Predictor

__all__ = ["HttpPredictor"]

_SCHEMES = {"http": HTTPConnection, "https": HTTPSConnection}
_NPY, _NPZ = "application/x-npy", "application/x-npz"
_OK = 200
_PASSING = {502, 503, 504}
"""What a server or the proxy before it says while the model is starting or overloaded."""

_AWAY = (OSError, HTTPException)
"""Refused, dropped, cut short and timed-out connections."""

_DEADLINE = 4
"""How many times ``timeout`` a question may take in all, unless said otherwise."""
_READ_AT_ONCE = 1 << 20
_QUOTED = 200


class HttpPredictor(Predictor):
    """A model that answers POST requests at one URL.

    The body is the whole batch ``x [B, N, F]`` as an ``.npy`` file; so is the answer, the scores
    ``[B, N, C]`` or ``[B, C]``. The connection is kept open between calls. Environment variables
    that name proxies are not followed, and neither are redirects.

    Args:
        url: where the model listens; http or https.
        timeout: for how many seconds the server may stay silent.
        deadline: how many seconds a question may take in all, however little the server stays
            silent, with every further try and the pauses between them; None for four times
            ``timeout``. A server that needs long for its answers, or sends large ones over a slow
            line, needs more.
        retries: how often a question is asked again while the server is away.
        backoff: seconds before asking again; twice as many each further time.
        headers: sent with every request, such as ``{"Authorization": "Bearer …"}``.
        send_graph: ask about the part of the graph around the target instead of the whole graph.
            The body is then an ``.npz`` file of ``x [B, n, F]``, ``edge_index [2, e]`` in the
            part's own numbering, and ``nodes [n]``, the part's nodes in the whole graph. (In an
            edge task it is always an ``.npz`` file, with the ``pairs [2, P]`` in question.)
        max_answer: the most bytes an answer may have.

    Raises:
        InputError: one of these cannot be used.

    Examples:
        >>> HttpPredictor("ftp://localhost/model")
        Traceback (most recent call last):
        ...
        pgm_explainer.errors.InputError: url must start with http:// or https://, ...
    """

    latency_bound = True

    def __init__(
        self,
        url: str,
        *,
        timeout: float = 30.0,
        deadline: float | None = None,
        retries: int = 3,
        backoff: float = 0.2,
        headers: Mapping[str, str] | None = None,
        send_graph: bool = False,
        max_answer: int = ANSWER_BYTES,
    ) -> None:
        # Open connections that nobody uses now: popping one is atomic, so threads never share one.
        self._idle: list[HTTPConnection] = []
        _check_url(url)
        headers = {} if headers is None else headers
        _check_headers(headers)
        self.url = url
        self.timeout = _check_seconds(timeout, "timeout")
        self.deadline = _check_seconds(
            _DEADLINE * self.timeout if deadline is None else deadline, "deadline"
        )
        for name, value in (("timeout", self.timeout), ("deadline", self.deadline)):
            if not value:
                raise InputError(f"{name} must be more than 0 seconds")
        if not isinstance(send_graph, bool):
            raise InputError(f"send_graph must be True or False, not {send_graph!r}")
        self.retries = check_whole_number(retries, "retries", at_least=0)
        self.backoff = _check_seconds(backoff, "backoff")
        self.max_answer = check_whole_number(max_answer, "max_answer", at_least=1)
        self.accepts_subgraph = send_graph
        self._headers = {**headers, "Accept": _NPY}

    def __call__(
        self, x: FloatArray, part: Subgraph, pairs: IntArray | None = None
    ) -> NDArray[Any]:
        """Ask the server about a batch.

        Raises:
            ModelError: the server stayed away, refused the question, or answered with something
                that is not an array of numbers.
        """
        further = (
            {"edge_index": part.edge_index, "nodes": part.nodes} if self.accepts_subgraph else {}
        )
        if pairs is not None:
            further["pairs"] = pairs
        kind, body = _packed(x, further)
        return self._array(self._post(body, {**self._headers, "Content-Type": kind}))

    def close(self) -> None:
        """Close the connection; the next call opens another."""
        while self._idle:
            self._idle.pop().close()

    def __del__(self) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_idle": []}  # an open connection cannot go to another process

    def _post(self, body: memoryview, headers: dict[str, str]) -> bytes:
        """Return the body of the server's answer, after as many tries as it takes."""
        started, tries = time.monotonic(), 0
        last: Exception | str = "the deadline"
        for attempt in range(self.retries + 1):
            pause = self.backoff * 2 ** (attempt - 1) if attempt else 0.0
            if time.monotonic() + pause >= started + self.deadline:
                break
            if attempt:
                time.sleep(pause)
            tries = attempt + 1
            try:
                status, reason, answer = self._exchange(body, headers, started + self.deadline)
            except _AWAY as error:
                last = error
                continue
            if status == _OK:
                return answer
            last = f"{status} {reason}{_quote(answer)}"
            if status not in _PASSING:
                raise ModelError(f"the model at {self.url} refused the question: {last}")
        cause = last if isinstance(last, str) else f"{type(last).__name__}: {last}"
        raise ModelUnavailableError(
            f"the model at {self.url} stayed away after {tries} {'try' if tries == 1 else 'tries'} "
            f"in {time.monotonic() - started:.1f} s; the last ended with {cause}; is the server "
            f"running? If it is slow, raise timeout ({self.timeout:g} s) and deadline "
            f"({self.deadline:g} s), or ask about fewer samples at once (samples_per_call)"
        ) from (last if isinstance(last, Exception) else None)

    def _exchange(
        self, body: memoryview, headers: dict[str, str], deadline: float
    ) -> tuple[int, str, bytes]:
        """Ask once; the connection is kept for the next question unless something went wrong."""
        connection = self._connection()
        try:
            connection.timeout = _patience(self.timeout, deadline)
            if connection.sock is not None:
                connection.sock.settimeout(connection.timeout)
            connection.response_class = _responses(self.timeout, deadline)
            connection.request("POST", _path(self.url), body, headers)
            # One that ends the connection has taken the socket over, and must be closed itself.
            with closing(connection.getresponse()) as response:
                answer = self._read(response)
        except BaseException:  # Ctrl-C too: half an answer must not be taken for the next one
            connection.close()
            raise
        self._idle.append(connection)
        return response.status, response.reason, answer

    def _connection(self) -> HTTPConnection:
        try:
            return self._idle.pop()
        except IndexError:
            pass
        address = urlsplit(self.url)
        return _SCHEMES[address.scheme](address.hostname or "", address.port)

    def _read(self, response: HTTPResponse) -> bytes:
        """Read the body by pieces, and no further than the limit."""
        declared = response.length  # None if the server does not say
        size, pieces = 0, []
        while size <= self.max_answer and (declared or 0) <= self.max_answer:
            piece = response.read(_READ_AT_ONCE)
            if not piece:
                break
            size += len(piece)
            pieces.append(piece)
        else:
            raise ModelError(
                f"the model at {self.url} answered with {declared or 'more'} bytes; max_answer "
                f"allows {self.max_answer}: ask about fewer samples at once (samples_per_call) or "
                f"allow more"
            )
        if declared is not None and size < declared:
            raise IncompleteRead(b"", declared - size)
        return b"".join(pieces)

    def _array(self, answer: bytes) -> NDArray[Any]:
        try:
            # What np.load does for .npy files, without its guessing at archives and pickles.
            return np.lib.format.read_array(BytesIO(answer), allow_pickle=False)
        except Exception as error:  # whatever is wrong with the bytes, it is the server's doing
            raise ModelError(
                f"the model at {self.url} answered with {len(answer)} bytes that are not an .npy "
                f"array of numbers ({error}){_quote(answer)}"
            ) from error


class _UntilDeadline(RawIOBase):
    """Reads from a socket until a deadline: each byte that comes would reset a timeout."""

    def __init__(self, source: socket.socket, timeout: float, deadline: float) -> None:
        self._socket, self._raw = source, source.makefile("rb", buffering=0)
        self._timeout, self._deadline = timeout, deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._socket.settimeout(_patience(self._timeout, self._deadline))
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


def _responses(timeout: float, deadline: float) -> type[HTTPResponse]:
    """Return responses that are read until a deadline; what is endless in them ends there too."""

    class Response(HTTPResponse):
        def __init__(self, sock: socket.socket, *arguments: Any, **options: Any) -> None:
            super().__init__(sock, *arguments, **options)
            self.fp.close()
            self.fp = BufferedReader(_UntilDeadline(sock, timeout, deadline))

    return Response


def _patience(timeout: float, deadline: float) -> float:
    """Return for how many seconds to wait now."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("the deadline has passed")
    return min(timeout, left)


def _packed(x: FloatArray, further: Mapping[str, Any]) -> tuple[str, memoryview]:
    """Return a file of these arrays and its content type; the features alone need no archive."""
    file = BytesIO()
    if further:
        np.savez(file, x=x, **further)
        return _NPZ, file.getbuffer()
    np.save(file, x, allow_pickle=False)
    return _NPY, file.getbuffer()


def _path(url: str) -> str:
    address = urlsplit(url)
    return (address.path or "/") + (f"?{address.query}" if address.query else "")


def _check_url(url: str) -> None:
    if not isinstance(url, str) or not url.lower().startswith(("http://", "https://")):
        raise InputError(f"url must start with http:// or https://, but it is {url!r}")
    if not url.isascii() or not url.isprintable() or " " in url:
        raise InputError(f"url must be percent-encoded, without spaces, but it is {url!r}")
    try:
        address = urlsplit(url)
        named = address.hostname and address.port != 0
    except ValueError as error:
        raise InputError(f"url {url!r} cannot be read: {error}") from error
    if not named:
        raise InputError(f"url must name a host, and a port that exists, but it is {url!r}")
    if "@" in address.netloc:  # errors name the url, and a password has no place in them
        raise InputError("url must not hold a user name or password; pass them in headers")


def _check_headers(headers: Mapping[str, str]) -> None:
    if not isinstance(headers, Mapping):
        raise InputError(
            f"headers must be a mapping from names to texts, such as "
            f"{{'Authorization': 'Bearer …'}}, not {headers!r}"
        )
    for name, value in headers.items():
        if not isinstance(name, str) or not isinstance(value, str):
            raise InputError(f"header {name!r} must be a text with a text, not {value!r}")
        line = f"{name}: {value}"
        if not (line.isascii() and line.isprintable() and name.strip() and ":" not in name):
            raise InputError(f"header {name!r} must be one line of ASCII text")


def _check_seconds(value: float, what: str) -> float:
    if not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
        raise InputError(f"{what} must be a number of seconds, not {value!r}")
    return value


def _quote(answer: bytes) -> str:
    """The beginning of what a server said, if it said anything, on one line."""
    return f": {answer[:_QUOTED].decode(errors='replace')!r}" if answer else ""
