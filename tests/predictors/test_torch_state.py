"""Modules are left as they were: with threads, interrupts, lazy layers and random numbers."""

from __future__ import annotations

import contextlib
import copy
import inspect
import os
import pickle
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.data import HeteroData
from torch_geometric.nn import GCNConv, HeteroConv, SAGEConv

from pgm_explainer import ModelError, PGMExplainer
from pgm_explainer.graph import Graph
from pgm_explainer.predictors import torch_tools
from pgm_explainer.predictors.torch_module import TorchModulePredictor
from pgm_explainer.predictors.torch_tools import evaluated

NODES, FEATURES = 60, 3
PACKAGE = str(Path(sys.modules["pgm_explainer"].__file__ or "").parent)


def ring_with_chords():
    nodes = torch.arange(NODES)
    one_way = torch.cat(
        (torch.stack((nodes, (nodes + 1) % NODES)), torch.stack((nodes, (nodes + 7) % NODES))), 1
    )
    return torch.cat((one_way, one_way.flip(0)), dim=1)


EDGES = ring_with_chords()
X = torch.randn(NODES, FEATURES, generator=torch.Generator().manual_seed(0))


class Normalised(nn.Module):
    """Two layers with batch norm and dropout, and an attribute that is used from line to line."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = GCNConv(FEATURES, 8), GCNConv(8, 3)
        self.norm, self.dropout = nn.BatchNorm1d(8), nn.Dropout(0.3)
        self.kept = None

    def forward(self, x, edge_index):
        self.kept = self.first(x, edge_index)
        shape = self.kept.shape
        self.kept = self.norm(self.kept.reshape(-1, 8)).reshape(shape)
        self.kept = self.dropout(self.kept.relu())
        return self.second(self.kept, edge_index)


def trained_model():
    """A model in training mode, except for one frozen layer, with batch statistics."""
    model = Normalised()
    with torch.no_grad():
        for _ in range(3):
            model(X, EDGES)
    model.second.eval()
    model.kept = None
    return model


def modes(model):
    return [part.training for part in model.modules()]


def state(model):
    """Everything that an explanation must leave alone."""
    caches = [part.__dict__.get("_cached_edge_index") for part in model.modules()]
    return modes(model), [value.clone() for value in model.state_dict().values()], caches


def assert_as_before(model, before):
    now = state(model)
    assert now[0] == before[0]
    assert all(map(torch.equal, now[1], before[1]))
    assert now[2] == before[2]


# --- threads --------------------------------------------------------------------------------


@pytest.fixture
def switching():
    """Threads change places as often as they can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.filterwarnings("ignore::pgm_explainer.PGMExplainerWarning")
def test_threads_give_the_same_results_as_sequential_calls(switching):
    """Two explainers share one module; six threads share the explainers."""
    model, targets = trained_model(), list(range(0, NODES, 6))
    explainers = [PGMExplainer(model, X, EDGES, num_samples=40, seed=seed) for seed in (0, 1)]
    alone = [
        [copy.deepcopy(made).explain(target) for target in targets]  # with nothing found out yet
        for made in explainers
    ]
    before = state(model)
    work = [(made, at) for at in range(len(targets)) for made in range(2)]
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda each: explainers[each[0]].explain(targets[each[1]]), work))
    for (made, at), explanation in zip(work, found, strict=True):
        assert explanation == alone[made][at]
        assert explanation.values == pytest.approx(alone[made][at].values, abs=1e-6)
    assert_as_before(model, before)
    assert torch.is_grad_enabled()


def test_two_modules_that_share_a_layer_wait_for_each_other(switching):
    shared = trained_model()

    class Wrapped(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = shared

        def forward(self, x, edge_index):
            return self.inner(x, edge_index)

    before = state(shared)
    models = [shared, Wrapped(), Wrapped()]
    part, x = Graph(EDGES.numpy(), NODES).whole, X.numpy()[None].repeat(4, 0)
    truth = TorchModulePredictor(shared)(x, part)

    def ask(model):
        predictor = TorchModulePredictor(model)
        return all(torch.equal(predictor(x, part), truth) for _ in range(20))

    with ThreadPoolExecutor(3) as pool:
        assert all(pool.map(ask, models))
    assert_as_before(shared, before)


def test_threads_check_each_subgraph_once():
    model, graph = trained_model().eval(), Graph(EDGES.numpy(), NODES)
    predictor = TorchModulePredictor(model)
    parts = [graph.cut(np.array([node]), 1) for node in (0, 20, 40)]
    calls = []
    model.register_forward_pre_hook(lambda *_: calls.append(1))
    for part in parts * 5:
        predictor(X.numpy()[None, part.nodes].repeat(6, 0), part)
    tried = 3  # twice alone, once together
    assert len(calls) == len(parts) * tried + 5 * len(parts)


class ByKind(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        relations = [("user", "buys", "item"), ("item", "of", "user")]
        self.layer = HeteroConv({each: SAGEConv((2, 2), 4) for each in relations})
        self.norm, self.last = nn.BatchNorm1d(4), nn.Linear(4, 2)

    def forward(self, x, edges):
        return self.last(self.norm(self.layer(x, edges)["user"]).tanh())


def hetero_data():
    generator = torch.Generator().manual_seed(1)
    data = HeteroData()
    data["user"].x = torch.randn(15, 2, generator=generator)
    data["item"].x = torch.randn(12, 2, generator=generator)
    buys = torch.stack((torch.arange(15), torch.arange(15) % 12))
    data["user", "buys", "item"].edge_index = buys
    data["item", "of", "user"].edge_index = buys.flip(0)
    return data


@pytest.mark.filterwarnings("ignore::pgm_explainer.PGMExplainerWarning")
def test_threads_with_several_kinds_of_nodes(switching):
    model = ByKind()
    explainer = PGMExplainer(model, hetero_data(), target_type="user", num_samples=40)
    alone = [copy.deepcopy(explainer).explain(node) for node in range(15)]
    before = state(model)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(explainer.explain, range(15))) == alone
    assert_as_before(model, before)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_process_forked_meanwhile_does_not_wait_for_ever():
    model, inside, go_on = trained_model(), threading.Event(), threading.Event()
    thread = threading.Thread(
        target=evaluated, args=(model, lambda: (inside.set(), go_on.wait(20)))
    )
    thread.start()
    inside.wait()
    child = os.fork()
    if not child:
        signal.alarm(10)
        evaluated(model, lambda: None)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    go_on.set()
    thread.join()


@pytest.mark.filterwarnings("ignore::pgm_explainer.PGMExplainerWarning")
def test_an_explainer_that_was_used_can_be_pickled_and_copied():
    hetero = PGMExplainer(ByKind(), hetero_data(), target_type="user", num_samples=40)
    for explainer in (PGMExplainer(trained_model(), X, EDGES, num_samples=60), hetero):
        found = explainer.explain(5)
        assert pickle.loads(pickle.dumps(explainer)).explain(5) == found
        assert copy.deepcopy(explainer).explain(5) == found


# --- interrupts -----------------------------------------------------------------------------


def one_call():
    """A module in training mode with a layer that caches, and a call that tries ways to batch."""
    model = Normalised()
    model.first.cached = True
    model(X, EDGES)
    predictor, part = TorchModulePredictor(model), Graph(EDGES.numpy(), NODES).whole
    x = X.numpy()[None].repeat(2, 0)
    return model, lambda: predictor(x.copy(), part)


def assert_free():
    """No lock is held any more: another thread gets its turn."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(evaluated, nn.Linear(1, 1), lambda: None).result(timeout=10)


def interrupted_at(call, place):
    """Call, with an interrupt before the line at a place; return whether there was such a line.

    Lines of this package, of torch's gradient mode and of context managers count. Python takes no
    signal between the end of a ``with`` block and the release of its lock, so the line with the
    lock is left out.
    """
    seen = 0
    ours = (PACKAGE, inspect.getfile(torch.no_grad), contextlib.__file__)

    def trace(frame, event, _):
        nonlocal seen
        if event == "call" and not frame.f_code.co_filename.startswith(ours):
            return None
        if frame.f_code is evaluated.__code__:
            return trace
        if event == "line":
            seen += 1
            if seen == place:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace

    sys.settrace(trace)
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(None)
    return False


def test_an_interrupt_at_any_line_leaves_the_model_unchanged():
    model, call = one_call()
    before, random = state(model), torch.get_rng_state()
    place = 1
    while interrupted_at(call, place):
        assert_as_before(model, before)
        assert torch.is_grad_enabled()
        assert torch.equal(torch.get_rng_state(), random)
        place += 1
    assert place > 100
    assert_free()


# A file of /proc that is being opened when the signal arrives is closed by the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")
def test_signals_at_any_time_leave_the_model_unchanged():
    model, call = one_call()
    before = state(model)
    handler = signal.signal(signal.SIGALRM, signal.default_int_handler)
    stopped = 0
    try:
        for trial in range(300):
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-5 + 5e-6 * trial)
                call()
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                stopped += 1
            assert_as_before(model, before)
            assert torch.is_grad_enabled()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
    assert stopped > 30
    assert_free()


# --- what a module may do -------------------------------------------------------------------


class Merging(Normalised):
    """Overrides ``eval``, as modules with adapters do."""

    merged = 0

    def train(self, mode=True):
        if not mode:
            self.merged += 1
        return super().train(mode)


def test_eval_is_not_called_if_it_is_overridden():
    model = Merging()
    PGMExplainer(model, X, EDGES, num_samples=20).explain(0)
    assert model.merged == 0
    assert model.training


def test_a_scripted_module_is_back_in_its_mode():
    class Dense(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.dropout = nn.Linear(FEATURES, 2), nn.Dropout(0.5)

        def forward(self, x, edge_index):
            return self.layer(self.dropout(x))

    scripted = torch.jit.script(Dense())
    PGMExplainer(scripted, X, EDGES, num_samples=20).predict(0)
    assert modes(scripted) == [True] * 3
    frozen = torch.jit.freeze(scripted.eval())  # has no mode
    assert len(PGMExplainer(frozen, X, EDGES, num_samples=20).predict(0)) == 2


def lazy_models():
    class Lazy(nn.Module):
        def __init__(self, layer):
            super().__init__()
            self.layer = layer

        def forward(self, x, edge_index):
            return self.layer(x, edge_index) if isinstance(self.layer, GCNConv) else self.layer(x)

    return {"torch": Lazy(nn.LazyLinear(2)), "pyg": Lazy(GCNConv(-1, 2))}


@pytest.mark.parametrize("kind", ["torch", "pyg"])
def test_a_lazy_module_is_refused_and_stays_lazy(kind):
    model, random = lazy_models()[kind], torch.get_rng_state()
    with pytest.raises(ModelError, match=r"lazy.*\(layer\..*weight.*one forward pass first"):
        PGMExplainer(model, X, EDGES).explain(0)
    assert any(map(nn.parameter.is_lazy, model.parameters()))
    assert torch.equal(torch.get_rng_state(), random)
    model(X, EDGES)
    assert len(PGMExplainer(model, X, EDGES, num_samples=20).predict(0)) == 2


@pytest.mark.filterwarnings("ignore::pgm_explainer.PGMExplainerWarning")
@pytest.mark.parametrize("usable", [True, False])
def test_the_random_state_of_torch_is_restored(usable):
    """A model that draws noise in evaluation mode, with its own seed or not."""

    class Noisy(Normalised):
        def forward(self, x, edge_index):
            if usable:
                torch.manual_seed(7)
            noise = torch.rand(()) if usable else torch.rand(x.shape)
            return super().forward(x + noise, edge_index)

    model = Noisy()
    random = torch.get_rng_state()
    explainer = PGMExplainer(model, X, EDGES, num_samples=40)
    if usable:
        explainer.explain(3)
    else:
        with pytest.raises(ModelError, match="random"):
            explainer.explain(3)
    assert torch.equal(torch.get_rng_state(), random)


def test_the_random_states_of_devices_are_put_back(monkeypatch):
    """There may be no device here, so the calls to torch are inspected."""
    put_back = []
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_rng_state_all", lambda: ["first", "second"])
    monkeypatch.setattr(torch.cuda, "set_rng_state_all", put_back.append)
    evaluated(nn.Linear(1, 1), lambda: None)
    assert put_back == [["first", "second"]]


def test_busy_processors_are_left_to_other_programs(monkeypatch):
    def failing():
        assert torch.get_num_threads() == 1
        raise ArithmeticError

    before = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        monkeypatch.setattr(torch_tools, "free_processors", lambda: 1)
        assert evaluated(nn.Linear(1, 1), torch.get_num_threads) == 1
        with pytest.raises(ArithmeticError):
            evaluated(nn.Linear(1, 1), failing)
        assert torch.get_num_threads() == 3
        monkeypatch.setattr(torch_tools, "free_processors", lambda: 8)
        assert evaluated(nn.Linear(1, 1), torch.get_num_threads) == 3
    finally:
        torch.set_num_threads(before)
