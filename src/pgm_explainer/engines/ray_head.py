"""Whether a Ray cluster is there: asked before Ray is, which waits for minutes and then exits."""

from __future__ import annotations

import os
import socket
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from ..errors import JobError

__all__ = ["Head", "check_address"]

_PATIENCE = 8.0
"""Seconds that a cluster may take to answer."""
_GONE = 20.0
"""Seconds without an answer after which the head of a cluster is gone; after 60 Ray exits."""
_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
"""How any gRPC client begins: with the preface of HTTP/2 and empty settings."""
_SETTINGS = 4


def check_address(address: str) -> None:
    """Find out whether a cluster answers at an address, which Ray itself does not in good time.

    Raises:
        JobError: nothing does.
    """
    if address == "auto":  # which is another address, or the cluster that Ray finds running
        address = os.environ.get("RAY_ADDRESS", address)
    place = _host_and_port(address)
    if place is None:
        return
    problem = _silence(place)
    if problem is not None:
        raise JobError(
            f"no Ray cluster answers at {address!r} ({problem}); start one with 'ray start "
            f"--head', or leave the address out to start one on this machine"
        )


@dataclass
class Head:
    """What a connection to a cluster hangs on, watched while others work.

    That is its head and Ray's own process on this machine. Ray ends this process, without a word,
    60 seconds after the first has gone and some 15 after the second.

    Attributes:
        parts: where each answers, and for how many seconds it may be silent.
    """

    parts: dict[str, tuple[tuple[str, int], float]]
    heard: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, ray: Any) -> Head:
        here = ray.get_runtime_context()
        parts = {}
        address = getattr(here, "gcs_address", None)  # not known to Ray's client
        if address is not None:
            parts["its head"] = (_host_and_port(address), _GONE)
            for node in ray.nodes():
                if node["NodeID"] == here.get_node_id():
                    place = node["NodeManagerAddress"], node["NodeManagerPort"]
                    parts["its process on this machine"] = (place, _GONE / 4)
        now = time.monotonic()
        return cls(
            {name: (place, limit) for name, (place, limit) in parts.items() if place is not None},
            dict.fromkeys(parts, now),
        )

    def check(self) -> None:
        """See that the cluster still lives.

        Raises:
            JobError: a part of it that we need is gone.
        """
        for name, (place, limit) in self.parts.items():
            problem = _silence(place)
            if problem is None:
                self.heard[name] = time.monotonic()
            elif time.monotonic() - self.heard[name] > limit:
                raise JobError(
                    f"the Ray cluster has died: {name} is gone ({problem}). What was finished is "
                    f"safe: start the cluster again, and run the job again"
                )


def _host_and_port(address: str) -> tuple[str, int] | None:
    """Where to knock; None if the address is of another kind, which Ray may know."""
    try:
        parts = urlsplit(address if "://" in address else f"//{address}")
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    return None if host is None or port is None or parts.scheme not in ("", "ray") else (host, port)


def _silence(place: tuple[str, int]) -> str | None:
    """Why nothing that speaks gRPC is there; None if something is."""
    try:
        with socket.create_connection(place, timeout=_PATIENCE) as connection:
            if os.environ.get("RAY_USE_TLS", "0") not in ("", "0"):
                return None  # it would say nothing to us
            connection.sendall(_GREETING)
            answer = connection.recv(9)
    except OSError as error:
        return str(error)
    return None if answer[3:4] == bytes((_SETTINGS,)) else "what listens there is not Ray"
