"""A Ray cluster that is missing or dies is reported within seconds by a package error."""

import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from pgm_explainer import JobError
from pgm_explainer.engines import RayEngine, ray_head

ray = pytest.importorskip("ray")
IMPORTABLE = Path(__file__).parents[1] / "importable"


@contextmanager
def listening(answer):
    """A server that is not Ray: it sends nothing, or something else."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            connection, _ = server.accept()
            with connection:
                connection.recv(100)
                if answer is None:
                    ended.wait(30)
                else:
                    connection.sendall(answer)

        ended = threading.Event()
        thread = threading.Thread(target=serve)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        ended.set()
        thread.join()


@pytest.mark.parametrize("scheme", ["", "ray://"])
def test_a_dead_address_is_an_error_at_once(scheme):
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"{scheme}127.0.0.1:{server.getsockname()[1]}"
    started = time.monotonic()
    with pytest.raises(
        JobError, match=rf"no Ray cluster responds at '{address}' .*refused.*--head"
    ):
        list(RayEngine(address=address).map(int, ["1"]))
    assert time.monotonic() - started < 10


@pytest.mark.parametrize("answer", [None, b"HTTP/1.1 400 Bad Request\r\n\r\n", b""])
def test_a_server_that_is_not_ray_is_an_error_soon(monkeypatch, answer):
    monkeypatch.setattr(ray_head, "_TIMEOUT", 1.0)
    started = time.monotonic()
    with listening(answer) as address, pytest.raises(JobError, match=r"timed out|is not Ray"):
        list(RayEngine(address=address).map(int, ["1"]))
    assert time.monotonic() - started < 10


def test_auto_means_the_address_in_the_environment(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
    monkeypatch.setenv("RAY_ADDRESS", address)
    with pytest.raises(JobError, match=address):
        list(RayEngine(address="auto").map(int, ["1"]))


@pytest.mark.parametrize("address", ["auto", "local", "anyscale://x", "[::1", "a:b"])
def test_other_addresses_are_left_to_ray(monkeypatch, address):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    ray_head.check_address(address)


def test_a_cluster_that_does_not_start_is_a_job_error(monkeypatch):
    """Ray raises a plain exception when its processes take more than 30 seconds to start."""

    def init(**options):
        raise Exception("The current node timed out during startup")

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", init)
    with pytest.raises(JobError, match=r"^Ray did not start on this machine \(The .* run the job"):
        list(RayEngine(workers=1).map(int, ["1"]))


KILLED = """
import os, signal, sys, time
from pathlib import Path
from job_models import evaluating
from pgm_explainer import JobError
from pgm_explainer.engines import RayEngine, ray, ray_head

ray._POLL_SECONDS, ray_head._DEAD_AFTER = 0.5, 4.0
answers = RayEngine(workers=1).map(evaluating, ["1", "__import__('time').sleep(100)", "2"])
assert next(answers) == 1
killed = 0
for process in Path("/proc").glob("[0-9]*"):  # not by ps, which cuts lines at $COLUMNS
    try:
        parent = int((process / "stat").read_text().rpartition(")")[2].split()[1])
        name = (process / "cmdline").read_bytes().split(b"\\0")[0].decode()
    except OSError:  # it has ended meanwhile
        continue
    if parent == os.getpid() and name.endswith(sys.argv[1]):
        os.kill(int(process.name), signal.SIGKILL)
        killed += 1
assert killed == 1, killed
started = time.monotonic()
try:
    print(list(answers))
except JobError as error:
    print(error)
print(time.monotonic() - started < 45)
"""


@pytest.mark.parametrize(
    ("part", "said"), [("gcs_server", "its head"), ("raylet", "its process on this machine")]
)
def test_a_dead_cluster_is_a_job_error(part, said):
    paths = os.pathsep.join([str(IMPORTABLE), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-c", KILLED, part],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert f"the Ray cluster has died: {said} is gone" in done.stdout
    assert "Finished work is saved" in done.stdout
    assert done.stdout.rstrip().endswith("True")
