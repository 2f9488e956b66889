"""The progress bar shows in a terminal or notebook, after a second, and is cleared at the end."""

import io
import sys

import pytest

from pgm_explainer import progress
from pgm_explainer.progress import Progress, is_watched


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def watched(monkeypatch):
    """Standard error as a terminal; set within a test, for pytest sets its own before each."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    return stream


def test_work_of_less_than_a_second_shows_no_bar(clock, monkeypatch):
    terminal = watched(monkeypatch)
    with Progress("calling", total=10) as bar:
        clock[0] = 0.9
        bar.advance(10)
    assert terminal.getvalue() == ""


def test_what_takes_longer_shows_how_far_it_is_and_how_long_it_will_take(clock, monkeypatch):
    terminal = watched(monkeypatch)
    with Progress("calling", total=10) as bar:
        clock[0] = 2.0
        bar.advance(5)
        assert "calling" in terminal.getvalue()
        assert " 50%, 2 s left" in terminal.getvalue()


def test_a_slow_first_step_gives_no_estimate(clock, monkeypatch, caplog):
    terminal = watched(monkeypatch)
    with Progress("calling", total=60) as bar, Progress("calling", total=60, show=False) as log:
        for now in (1.2, 1.4, 2.4, 3.4):
            clock[0] = now
            bar.advance()
            log.advance()
            assert not caplog.records
            assert ("left" in terminal.getvalue()) == (now > 2)
    assert "  7%, 41 s left" in terminal.getvalue()  # the first step is not counted


def test_the_line_is_cleared_at_the_end_and_on_an_interrupt(clock, monkeypatch):
    terminal = watched(monkeypatch)

    def interrupted():
        with Progress("calling", total=10) as bar:
            clock[0] = 2.0
            bar.advance(5)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    last = terminal.getvalue().split("\r")
    assert last[-1] == ""
    assert last[-2].strip() == ""


@pytest.mark.parametrize(("show", "shown"), [(None, False), (False, False), (True, True)])
def test_a_pipe_gets_no_progress_by_default(clock, monkeypatch, show, shown):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with Progress("calling", total=2, show=show) as bar:
        clock[0] = 5.0
        bar.advance()
    assert bool(stream.getvalue()) == shown


def test_a_terminal_can_be_kept_silent(clock, monkeypatch):
    terminal = watched(monkeypatch)
    with Progress("calling", total=2, show=False) as bar:
        clock[0] = 5.0
        bar.advance()
    assert terminal.getvalue() == ""


def test_a_stream_that_is_closed_is_no_trouble(clock, monkeypatch):
    stream = watched(monkeypatch)
    with Progress("calling", total=4) as bar:
        clock[0] = 2.0
        bar.advance()
        stream.close()
        clock[0] = 3.0
        bar.advance()


def test_a_notebook_is_watched(monkeypatch):
    class ZMQInteractiveShell:
        pass

    class IPython:
        @staticmethod
        def get_ipython():
            return ZMQInteractiveShell()

    assert not is_watched(io.StringIO())
    monkeypatch.setitem(sys.modules, "IPython", IPython)
    assert is_watched(io.StringIO())


def test_the_explainer_passes_it_on(toy, monkeypatch):
    from pgm_explainer import PGMExplainer

    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    for show in (True, False):
        stream = io.StringIO()
        monkeypatch.setattr(sys, "stderr", stream)
        PGMExplainer(toy.whole, toy.x, toy.edge_index, num_layers=2, progress=show).explain(14)
        assert ("calling the model" in stream.getvalue()) == show
        assert ("learning networks" in stream.getvalue()) == show


@pytest.mark.parametrize(("show", "level"), [(None, "WARNING"), (False, "INFO")])
def test_progress_is_logged_every_ten_seconds_where_no_bar_is_shown(clock, caplog, show, level):
    caplog.set_level("INFO", "pgm_explainer")
    with Progress("calling", total=100, show=show) as bar:
        for now in (0.5, 2.0, 4.0, 6.0, 12.0, 15.0, 23.0):
            clock[0] = now
            bar.advance()
    assert [record.message for record in caplog.records] == [
        "calling: 3 of 100 done after 4 s, about 2 min 50 s left",
        "calling: 6 of 100 done after 15 s, about 4 min 33 s left",
    ]
    assert {record.levelname for record in caplog.records} == {level}


def test_work_of_less_than_a_minute_is_logged_after_ten_seconds(clock, caplog):
    with Progress("calling", total=10) as bar:
        for now in (4.0, 9.0, 11.0):
            clock[0] = now
            bar.advance()
    assert [record.message for record in caplog.records] == [
        "calling: 3 of 10 done after 11 s, about 24 s left"
    ]


@pytest.mark.parametrize(("total", "show"), [(20, None), (10_000, True)])
def test_short_or_displayed_work_is_not_logged(clock, caplog, total, show, monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with Progress("calling", total, show) as bar:
        for now in (2.0, 4.0):
            clock[0] = now
            bar.advance()
    assert not caplog.records


def test_an_explanation_that_will_take_long_says_so(toy, caplog, clock):
    from pgm_explainer import PGMExplainer

    def slow(x):
        clock[0] += len(x)  # one second per sample
        return toy.whole(x)

    explainer = PGMExplainer(
        slow, toy.x, toy.edge_index, num_layers=2, num_samples=400, samples_per_call=20
    )
    explainer.explain(14)
    record = caplog.records[0]
    assert record.message.startswith("calling the model: 20 of 400 done after 20 s, about 6 min")
