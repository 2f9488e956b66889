"""Checks that a Ray cluster is alive.

Without these checks, Ray waits for minutes for a dead cluster, and then ends this process.
"""

from __future__ import annotations

import os
import socket
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from ..errors import JobError
from ..limits import brief

__all__ = ["Head", "check_address"]

_TIMEOUT = 8.0
"""Timeout for a response, in seconds."""
_DEAD_AFTER = 20.0
"""The head counts as dead after this many seconds without a response; Ray exits after 60."""
_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
"""The start of every gRPC connection: the HTTP/2 preface and empty settings."""
_SETTINGS = 4


def check_address(address: str) -> None:
    """Check that a cluster responds at an address, faster than Ray does.

    Raises:
        JobError: there is no response.
    """
    if address == "auto":  # an environment variable, or the running cluster that Ray detects
        address = os.environ.get("RAY_ADDRESS", address)
    place = _host_and_port(address)
    if place is None:
        return
    problem = _problem_at(place)
    if problem is not None:
        raise JobError(
            f"no Ray cluster responds at {brief(address)} ({problem}); start one with 'ray start "
            f"--head', or omit the address to start one on this machine"
        )


@dataclass
class Head:
    """Monitors the head (the main process of a cluster) and Ray's local process.

    If the head dies, Ray silently ends this process about 60 seconds later. If Ray's local process
    dies, it does so after about 15 seconds.

    Attributes:
        parts: the addresses of both, and for how many seconds each may be silent.
    """

    parts: dict[str, tuple[tuple[str, int], float]]
    last_response: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, ray: Any) -> Head:
        here = ray.get_runtime_context()
        parts = {}
        address = getattr(here, "gcs_address", None)  # not available to Ray's client
        if address is not None:
            parts["its head"] = (_host_and_port(address), _DEAD_AFTER)
            for node in ray.nodes():
                if node["NodeID"] == here.get_node_id():
                    place = node["NodeManagerAddress"], node["NodeManagerPort"]
                    parts["its process on this machine"] = (place, _DEAD_AFTER / 4)
        now = time.monotonic()
        return cls(
            {name: (place, limit) for name, (place, limit) in parts.items() if place is not None},
            dict.fromkeys(parts, now),
        )

    def check(self) -> None:
        """Check that the cluster is alive.

        Raises:
            JobError: a required part of it has died.
        """
        for name, (place, limit) in self.parts.items():
            problem = _problem_at(place)
            if problem is None:
                self.last_response[name] = time.monotonic()
            elif time.monotonic() - self.last_response[name] > limit:
                raise JobError(
                    f"the Ray cluster has died: {name} is gone ({problem}). Finished work is "
                    f"saved: start the cluster again, and run the job again"
                )


def _host_and_port(address: str) -> tuple[str, int] | None:
    """Return host and port of an address; None for other kinds of addresses."""
    try:
        parts = urlsplit(address if "://" in address else f"//{address}")
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    return None if host is None or port is None or parts.scheme not in ("", "ray") else (host, port)


def _problem_at(place: tuple[str, int]) -> str | None:
    """Return why no gRPC server responds; None if one does."""
    try:
        with socket.create_connection(place, timeout=_TIMEOUT) as connection:
            if os.environ.get("RAY_USE_TLS", "0") not in ("", "0"):
                return None  # a TLS server would not respond
            connection.sendall(_GREETING)
            answer = connection.recv(9)
    except OSError as error:
        return str(error)
    return None if answer[3:4] == bytes((_SETTINGS,)) else "what listens there is not Ray"
