"""A model behind a real server on this machine, well-behaved and otherwise."""

from __future__ import annotations

import pickle
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO

import numpy as np
import pytest

from pgm_explainer import InputError, ModelError, PGMExplainer
from pgm_explainer.errors import ModelUnavailableError
from pgm_explainer.graph import Graph
from pgm_explainer.predictors.http import HttpPredictor

X = np.arange(24.0).reshape(2, 4, 3)
PART = Graph(np.array([[0, 1], [1, 2]]), 4).whole


@dataclass
class Service:
    """A server's behaviour, and what it has seen."""

    answer: Callable[[bytes], bytes]
    status: int = 200
    drop: int = 0  # so many requests are dropped without an answer
    cut: int = 0  # so many answers end early
    unavailable: int = 0  # so many requests are answered with 503
    delay: float = 0.0
    declare: int | None = None  # a length that is not the answer's own
    url: str = ""
    bodies: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    connections: set[int] = field(default_factory=set)


def npy(array) -> bytes:
    file = BytesIO()
    np.save(file, array)
    return file.getvalue()


def serving(function) -> Callable[[bytes], bytes]:
    """What a user's server does: three lines."""

    def answer(body: bytes) -> bytes:
        x = np.load(BytesIO(body), allow_pickle=False)
        return npy(function(x))

    return answer


@contextmanager
def running(service: Service) -> Iterator[Service]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"  # keeps connections alive

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            service.bodies.append(body)
            service.headers.append(dict(self.headers))
            service.connections.add(self.client_address[1])
            time.sleep(service.delay)
            if service.drop:
                service.drop -= 1
                self.close_connection = True
                return
            if service.unavailable:
                service.unavailable -= 1
                self.send_error(503)
                return
            answer = service.answer(body)
            self.send_response(service.status)
            self.send_header("Content-Length", str(service.declare or len(answer)))
            self.end_headers()
            if service.cut:
                service.cut -= 1
                self.close_connection = True
                answer = answer[: len(answer) // 2]
            self.wfile.write(answer)

        def log_message(self, *arguments) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, request, client_address) -> None:
            pass  # a client that hangs up is part of the play

    with Server(("127.0.0.1", 0), Handler) as server:
        service.url = f"http://127.0.0.1:{server.server_port}/predict"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield service
        finally:
            server.shutdown()
            thread.join()


def quick(url: str, **options) -> HttpPredictor:
    return HttpPredictor(url, **{"backoff": 0.01, "timeout": 5, **options})


def ask(service: Service, **options):
    predictor = quick(service.url, **options)
    try:
        return predictor(X, PART)
    finally:
        predictor.close()


@pytest.mark.parametrize("task", ["node", "graph"])
def test_the_explanation_equals_that_of_the_local_function(toy, task):
    function, target = (toy.whole, 3) if task == "node" else (toy.graph_level, None)
    options = {"task": task, "num_layers": toy.num_layers, "num_samples": 2000}
    local = PGMExplainer(function, toy.x, toy.edge_index, **options).explain(target)
    with running(Service(serving(function))) as service:
        predictor = quick(service.url)
        explainer = PGMExplainer(predictor, toy.x, toy.edge_index, **options)
        remote = explainer.explain(target)
        predictor.close()
    assert local.nodes
    assert remote.nodes == local.nodes
    assert str(remote) == str(local)
    assert remote.network.edges == local.network.edges
    assert len(service.bodies) <= 2000 / 50  # a batch is one request
    assert len(service.connections) == 1


def test_a_server_gets_only_the_subgraph(toy):
    def answer(body: bytes) -> bytes:
        with np.load(BytesIO(body), allow_pickle=False) as sent:
            assert sent["nodes"].shape == sent["x"].shape[1:2]
            return npy(toy.part(sent["x"], sent["edge_index"]))

    options = {"num_layers": toy.num_layers, "num_samples": 500}
    local = PGMExplainer(toy.part, toy.x, toy.edge_index, **options).explain(3)
    with running(Service(answer)) as service:
        predictor = quick(service.url, send_graph=True)
        assert predictor.accepts_subgraph
        remote = PGMExplainer(predictor, toy.x, toy.edge_index, **options).explain(3)
        predictor.close()
    assert str(remote) == str(local)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_features_arrive_as_they_are(dtype):
    x = X.astype(dtype)[:, ::-1]
    with running(Service(serving(lambda x: 2 * x))) as service:
        predictor = quick(service.url, headers={"Authorization": "Bearer key"})
        assert not predictor.accepts_subgraph
        answer = predictor(x, PART)
        predictor.close()
    np.testing.assert_array_equal(np.load(BytesIO(service.bodies[0])), x)
    np.testing.assert_array_equal(answer, 2 * x)
    assert answer.dtype == dtype
    assert service.headers[0]["Content-Type"] == "application/x-npy"
    assert service.headers[0]["Authorization"] == "Bearer key"


def test_the_pairs_of_an_edge_task_are_sent():
    def answer(body: bytes) -> bytes:
        with np.load(BytesIO(body), allow_pickle=False) as sent:
            assert set(sent) == {"x", "pairs"}
            return npy(sent["x"][:, sent["pairs"][0]] * sent["x"][:, sent["pairs"][1]])

    with running(Service(answer)) as service:
        predictor = quick(service.url)
        scores = predictor(X, PART, np.array([[0, 1, 0], [3, 2, 0]]))
        predictor.close()
    np.testing.assert_array_equal(scores, X[:, [0, 1, 0]] * X[:, [3, 2, 0]])
    assert service.headers[0]["Content-Type"] == "application/x-npz"


@pytest.mark.parametrize("trouble", ["drop", "cut", "unavailable"])
def test_a_server_that_recovers_is_retried(trouble):
    with running(Service(serving(lambda x: 2 * x), **{trouble: 3})) as service:
        np.testing.assert_array_equal(ask(service), 2 * X)
    assert len(service.bodies) == 4


def test_a_connection_dropped_between_two_questions_is_opened_again():
    with running(Service(serving(lambda x: 2 * x))) as service:
        predictor = quick(service.url)
        predictor(X, PART)
        service.drop = 1
        np.testing.assert_array_equal(predictor(X, PART), 2 * X)
        predictor.close()
    assert len(service.connections) == 2


@pytest.mark.parametrize(
    ("trouble", "cause"),
    [({"drop": 9}, "RemoteDisconnected"), ({"unavailable": 9}, "503 Service Unavailable")],
)
def test_an_unavailable_server_is_an_error(trouble, cause):
    with (
        running(Service(serving(lambda x: x), **trouble)) as service,
        pytest.raises(ModelError, match=f"{service.url} is unavailable after 3 attempts.*{cause}"),
    ):
        ask(service, retries=2)
    assert len(service.bodies) == 3


def test_a_closed_port_is_an_error():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/"
        with pytest.raises(ModelError, match=r"1 attempt in .*ConnectionRefusedError"):
            quick(url, retries=0)(X, PART)


def test_a_silent_server_ends_at_the_timeout():
    started = time.monotonic()
    with (
        running(Service(serving(lambda x: x), delay=0.5)) as service,
        pytest.raises(ModelError, match=r"2 attempts.*[Tt]ime"),
    ):
        ask(service, timeout=0.1, retries=1)
    assert time.monotonic() - started < 3


@contextmanager
def scripted(behave: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server that does anything with a connection; it forgets the request."""

    def serve() -> None:
        while True:
            try:
                connection = listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=suffer, args=(connection,), daemon=True).start()

    def suffer(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.recv(1 << 16)
            behave(connection)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
        listener.shutdown(socket.SHUT_RDWR)
    thread.join()


def drip(connection: socket.socket) -> None:
    for octet in b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + bytes(1000):
        connection.sendall(bytes([octet]))
        time.sleep(0.05)


def drip_body(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
    while True:
        connection.sendall(b"x")
        time.sleep(0.05)


def drip_chunks(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        connection.sendall(b"1\r\nx\r\n")
        time.sleep(0.05)


def go_on_for_ever(connection: socket.socket) -> None:
    while True:
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")


def go_on_slowly(connection: socket.socket) -> None:
    while True:
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        time.sleep(0.05)


@pytest.mark.parametrize("behave", [drip, drip_body, drip_chunks, go_on_for_ever, go_on_slowly])
def test_a_slow_response_ends_at_the_deadline(behave):
    started = time.monotonic()
    with (
        scripted(behave) as url,
        pytest.raises(ModelError, match=r"1 attempt in .*deadline \(0\.8 s\)"),
    ):
        quick(url, timeout=2, deadline=0.8)(X, PART)
    assert time.monotonic() - started < 5
    assert quick(url, timeout=2).deadline == 8


def test_an_answer_may_take_longer_than_the_timeout_but_not_than_the_deadline():
    def slow(connection: socket.socket) -> None:
        body = npy(X)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body))
        for at in range(0, len(body), 16):
            connection.sendall(body[at : at + 16])
            time.sleep(0.06)

    with scripted(slow) as url:
        predictor = quick(url, timeout=1, deadline=20)
        np.testing.assert_array_equal(predictor(X, PART), X)
        predictor.close()
        with pytest.raises(ModelError, match="deadline"):
            quick(url, timeout=1, deadline=0.25)(X, PART)


def test_an_answer_that_ends_the_connection_is_read_to_its_end():
    def close(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + npy(X))

    with scripted(close) as url:
        predictor = quick(url)
        for _ in range(2):
            np.testing.assert_array_equal(predictor(X, PART), X)
        predictor.close()


@pytest.mark.parametrize("send_graph", [False, True])
def test_a_server_that_is_down_is_waited_for_once(toy, send_graph):
    tries = []

    def silent(connection: socket.socket) -> None:
        tries.append(time.monotonic())
        time.sleep(2)

    with scripted(silent) as url:
        predictor = quick(url, timeout=0.2, retries=1, send_graph=send_graph)
        explainer = PGMExplainer(predictor, toy.x, toy.edge_index, num_layers=2)
        with pytest.raises(ModelUnavailableError, match="2 attempts"):
            explainer.explain(3)
        while len(tries) < 2:
            time.sleep(0.01)
    assert len(tries) == 2


def test_an_early_outage_does_not_change_the_explanation(toy):
    """What the model's scores are is not settled by its silence."""
    predicted = toy.whole(toy.x[None])[0]
    probabilities = np.exp(predicted) / np.exp(predicted).sum(axis=-1, keepdims=True)
    model = serving(lambda x: np.broadcast_to(probabilities, (len(x), *probabilities.shape)))
    with running(Service(model, drop=1)) as service:
        predictor = quick(service.url, retries=0)
        explainer = PGMExplainer(predictor, toy.x, toy.edge_index, num_layers=2)
        with pytest.raises(ModelUnavailableError):
            explainer.explain(3)
        assert explainer.predict(3) == pytest.approx(probabilities[3])
        predictor.close()


def test_pauses_between_tries_grow(monkeypatch):
    pauses: list[float] = []
    monkeypatch.setattr("pgm_explainer.predictors.http.time.sleep", pauses.append)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        predictor = HttpPredictor(f"http://127.0.0.1:{free.getsockname()[1]}/")
        with pytest.raises(ModelError, match="4 attempts"):
            predictor(X, PART)
    np.testing.assert_allclose(pauses, [0.2, 0.4, 0.8])


@pytest.mark.parametrize("status", [302, 400, 404, 413, 500])
def test_a_refusal_is_an_error_with_the_servers_message(status):
    with (
        running(Service(lambda body: b"wrong number of features", status=status)) as service,
        pytest.raises(ModelError, match=f"rejected the request: {status} .*wrong number"),
    ):
        ask(service)
    assert len(service.bodies) == 1


class Dangerous:
    def __reduce__(self):
        return (pytest.fail, ("the answer was executed",))


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"<html>It works!</html>",
        npy(X)[:-8],
        npy(np.array([Dangerous()], dtype=object)),
        pickle.dumps(Dangerous()),
        b"\x93NUMPY\x01\x00v\x00"
        + b"{'descr':'<f8','fortran_order':False,'shape':(10000000000000,)}".ljust(118),
    ],
    ids=["empty", "html", "short", "pickled .npy", "pickle", "a huge shape"],
)
def test_an_answer_that_is_no_array_of_numbers_is_an_error_at_once(answer):
    with (
        running(Service(lambda body: answer)) as service,
        pytest.raises(ModelError, match=r"not an \.npy array of numbers"),
    ):
        ask(service)
    assert len(service.bodies) == 1


@pytest.mark.parametrize("declare", [None, 10**12])
def test_an_answer_above_the_limit_is_not_read(declare):
    with (
        running(Service(serving(lambda x: x), declare=declare)) as service,
        pytest.raises(ModelError, match=r"max_answer is 300.*samples_per_call"),
    ):
        ask(service, max_answer=300)
    assert len(service.bodies) == 1


def test_a_predictor_can_be_sent_to_another_process():
    with running(Service(serving(lambda x: 2 * x))) as service:
        predictor = quick(service.url)
        predictor(X, PART)
        copy = pickle.loads(pickle.dumps(predictor))
        np.testing.assert_array_equal(copy(X, PART), 2 * X)
        copy.close()
        predictor.close()
    assert len(service.connections) == 2


def test_threads_do_not_share_a_connection():
    answers: dict[int, np.ndarray] = {}

    def work(predictor: HttpPredictor, number: int) -> None:
        answers[number] = predictor(np.full((1, 4, 3), float(number)), PART)

    with running(Service(serving(lambda x: x + 1), delay=0.02)) as service:
        predictor = quick(service.url)
        threads = [threading.Thread(target=work, args=(predictor, each)) for each in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        predictor.close()
    assert all((answers[each] == each + 1).all() for each in range(8))


@pytest.mark.parametrize(
    "url",
    [
        "ftp://localhost/x",
        "file:///etc/passwd",
        "localhost:80",
        "http://",
        "http:///path",
        "http://host:99999/",
        "http://host/a b",
        "http://host/a\r\nHost: other",
        "http://host/é",
        "http://user:secret@host/",
        None,
    ],
)
def test_a_url_that_cannot_be_used_is_an_error(url):
    with pytest.raises(InputError, match="url") as error:
        HttpPredictor(url)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    "options",
    [
        {"timeout": 0},
        {"timeout": "soon"},
        {"deadline": 0},
        {"deadline": "soon"},
        {"deadline": float("inf")},
        {"backoff": -1},
        {"retries": -1},
        {"retries": 1.5},
        {"max_answer": 0},
        {"headers": {"X": "a\r\nY: b"}},
        {"headers": {"": "a"}},
        {"headers": "abc"},
        {"headers": np.zeros(2)},
        {"headers": {"X": 3}},
        {"headers": {3: "a"}},
        {"timeout": np.zeros(2)},
        {"send_graph": "yes"},
    ],
)
def test_options_that_cannot_be_used_are_errors(options):
    with pytest.raises(InputError):
        HttpPredictor("http://localhost/", **options)
