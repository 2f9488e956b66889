"""Adapter for a model behind HTTP; each batch of samples is one request.

Requests and responses are NumPy files of plain numbers; pickled objects are never loaded. A server
needs three steps: ``np.load`` the request body, predict, and ``np.save`` the scores.
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

from ..arrays import FloatArray, IntArray, check_flag, check_whole_number, items_of
from ..errors import InputError, ModelError, ModelUnavailableError
from ..graph import Subgraph
from ..limits import ANSWER_BYTES, brief
from .base import Predictor

__all__ = ["HttpPredictor"]

_SCHEMES = {"http": HTTPConnection, "https": HTTPSConnection}
_NPY, _NPZ = "application/x-npy", "application/x-npz"
_OK = 200
_PASSING = {502, 503, 504}
"""HTTP status codes of a server or proxy while the model is starting or overloaded."""

_CONNECTION_ERRORS = (OSError, HTTPException)
"""Refused, dropped, incomplete and timed-out connections."""

_DEADLINE = 4
"""The default deadline of a request, as a multiple of ``timeout``."""
_READ_AT_ONCE = 1 << 20
_QUOTED = 200


class HttpPredictor(Predictor):
    """A model that serves POST requests at one URL.

    The request body is the whole batch ``x [B, N, F]`` as an ``.npy`` file. The response is an
    ``.npy`` file of the scores ``[B, N, C]`` or ``[B, C]``. The connection is kept open between
    calls. Proxy environment variables and redirects are ignored.

    Args:
        url: the URL of the model; http or https.
        timeout: the longest wait for data from the server, in seconds.
        deadline: the maximum total time of a request in seconds, including all retries and pauses;
            None for four times ``timeout``. Increase it for slow servers or large responses.
        retries: how often a request is repeated if the server is unavailable.
        backoff: the pause before the first retry in seconds, doubled for each further retry.
        headers: sent with every request, such as ``{"Authorization": "Bearer …"}``.
        send_graph: call the model on the subgraph around the target instead of the whole graph.
            The body is then an ``.npz`` file of ``x [B, n, F]``, ``edge_index [2, e]`` and
            ``nodes [n]``. In ``edge_index``, the nodes of the subgraph are numbered from 0;
            ``nodes`` has their indices in the whole graph. (In an edge task the body is always an
            ``.npz`` file, which also has the ``pairs [2, P]`` to score.)
        max_answer: the maximum size of a response in bytes.

    Raises:
        InputError: invalid argument.

    Examples:
        >>> HttpPredictor("ftp://localhost/model")
        Traceback (most recent call last):
        ...
        pgm_explainer.errors.InputError: url must start with http:// or https://, ...
    """

    latency_bound = True
    works_elsewhere = True

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
        # Idle open connections; list.pop is atomic, so threads never share a connection.
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
                raise InputError(f"{name} must be more than 0 seconds, not {brief(value)}")
        check_flag(send_graph, "send_graph")
        self.retries = check_whole_number(retries, "retries", at_least=0)
        self.backoff = _check_seconds(backoff, "backoff")
        self.max_answer = check_whole_number(max_answer, "max_answer", at_least=1)
        self.accepts_subgraph = send_graph
        self._headers = {**headers, "Accept": _NPY}

    def __call__(
        self, x: FloatArray, part: Subgraph, pairs: IntArray | None = None
    ) -> NDArray[Any]:
        """Send a batch to the server and return its scores.

        Raises:
            ModelError: the server is unavailable, rejected the request, or did not return an array
                of numbers.
        """
        further = (
            {"edge_index": part.edge_index, "nodes": part.nodes} if self.accepts_subgraph else {}
        )
        if pairs is not None:
            further["pairs"] = pairs
        kind, body = _packed(x, further)
        return self._array(self._post(body, {**self._headers, "Content-Type": kind}))

    def close(self) -> None:
        """Close the connection; the next call opens a new one."""
        while self._idle:
            self._idle.pop().close()

    def __del__(self) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_idle": []}  # connections cannot be pickled

    def _post(self, body: memoryview, headers: dict[str, str]) -> bytes:
        """Return the body of the server's response, after retries if necessary."""
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
            except _CONNECTION_ERRORS as error:
                last = error
                continue
            if status == _OK:
                return answer
            last = f"{status} {reason}{_quote(answer)}"
            if status not in _PASSING:
                raise ModelError(f"the model at {self.url} rejected the request: {last}")
        cause = last if isinstance(last, str) else f"{type(last).__name__}: {last}"
        raise ModelUnavailableError(
            f"the model at {self.url} is unavailable after {tries} "
            f"{'attempt' if tries == 1 else 'attempts'} in {time.monotonic() - started:.1f} s; the "
            f"last one ended with {cause}; check that the server is running; if it is slow, raise "
            f"timeout ({self.timeout:g} s) and deadline ({self.deadline:g} s), or lower "
            f"samples_per_call"
        ) from (last if isinstance(last, Exception) else None)

    def _exchange(
        self, body: memoryview, headers: dict[str, str], deadline: float
    ) -> tuple[int, str, bytes]:
        """Send one request; the connection is reused unless an error occurred."""
        connection = self._connection()
        try:
            connection.timeout = _patience(self.timeout, deadline)
            if connection.sock is not None:
                connection.sock.settimeout(connection.timeout)
            connection.response_class = _responses(self.timeout, deadline)
            connection.request("POST", _path(self.url), body, headers)
            # A response with "Connection: close" owns the socket and must be closed.
            with closing(connection.getresponse()) as response:
                answer = self._read(response)
        except BaseException:  # also Ctrl-C: unread data must not be read as the next response
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
        """Read the body in pieces, up to the size limit."""
        declared = response.length  # None without a Content-Length header
        size, pieces = 0, []
        while size <= self.max_answer and (declared or 0) <= self.max_answer:
            piece = response.read(_READ_AT_ONCE)
            if not piece:
                break
            size += len(piece)
            pieces.append(piece)
        else:
            raise ModelError(
                f"the response of the model at {self.url} has {declared or 'more'} bytes, but "
                f"max_answer is {self.max_answer}; lower samples_per_call or raise max_answer"
            )
        if declared is not None and size < declared:
            raise IncompleteRead(b"", declared - size)
        return b"".join(pieces)

    def _array(self, answer: bytes) -> NDArray[Any]:
        try:
            # As np.load does for .npy files, but without support for archives and pickles.
            return np.lib.format.read_array(BytesIO(answer), allow_pickle=False)
        except Exception as error:  # invalid bytes may raise anything
            raise ModelError(
                f"the model at {self.url} returned {len(answer)} bytes that are not an .npy "
                f"array of numbers ({error}){_quote(answer)}"
            ) from error


class _UntilDeadline(RawIOBase):
    """Reads from a socket until a deadline; a timeout alone restarts with each byte received."""

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
    """Return a class of responses that are read until a deadline."""

    class Response(HTTPResponse):
        def __init__(self, sock: socket.socket, *arguments: Any, **options: Any) -> None:
            super().__init__(sock, *arguments, **options)
            self.fp.close()
            self.fp = BufferedReader(_UntilDeadline(sock, timeout, deadline))

    return Response


def _patience(timeout: float, deadline: float) -> float:
    """Return the timeout in seconds for the next operation."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("the deadline has passed")
    return min(timeout, left)


def _packed(x: FloatArray, further: Mapping[str, Any]) -> tuple[str, memoryview]:
    """Return the content type and body of a request: ``.npy`` for features alone, else ``.npz``."""
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
        raise InputError(f"url must start with http:// or https://, but it is {brief(url)}")
    if not url.isascii() or not url.isprintable() or " " in url:
        raise InputError(f"url must be percent-encoded, without spaces, but it is {brief(url)}")
    try:
        address = urlsplit(url)
        named = address.hostname and address.port != 0
    except ValueError as error:
        raise InputError(f"url {brief(url)} cannot be read: {error}") from error
    if not named:
        raise InputError(f"url must have a host and a valid port, but it is {brief(url)}")
    if "@" in address.netloc:  # errors show the url, but must not show a password
        raise InputError("url must not contain a user name or password; pass them in headers")


def _check_headers(headers: Mapping[str, str]) -> None:
    if not isinstance(headers, Mapping):
        raise InputError(
            f"headers must be a mapping from names to strings, such as "
            f"{{'Authorization': 'Bearer …'}}, not {brief(headers)}"
        )
    for name, value in items_of(headers, "headers"):
        if not isinstance(name, str) or not isinstance(value, str):
            raise InputError(
                f"header {brief(name)} must be a string with a string value, not {brief(value)}"
            )
        line = f"{name}: {value}"
        if not (line.isascii() and line.isprintable() and name.strip() and ":" not in name):
            raise InputError(f"header {brief(name)} must be one line of ASCII text")


def _check_seconds(value: float, what: str) -> float:
    if not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
        raise InputError(f"{what} must be a number of seconds, not {brief(value)}")
    return value


def _quote(answer: bytes) -> str:
    """Return the beginning of a response on one line, for messages."""
    return f": {answer[:_QUOTED].decode(errors='replace')!r}" if answer else ""
