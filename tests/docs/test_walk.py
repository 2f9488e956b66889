"""The walk of ``explain(304)`` on the architecture page, measured by following every call."""

from __future__ import annotations

import re
import sys
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import pytest

from pgm_explainer import PGMExplainer

pytestmark = pytest.mark.skipif(
    sys.version_info < (3, 11), reason="code objects have no qualified names before Python 3.11"
)

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "pgm_explainer"
STEPS = {
    **dict.fromkeys(("querying", "sampling", "predictors"), 1),
    **dict.fromkeys(("selection", "effects"), 2),
    **dict.fromkeys(("learning", "structure", "network"), 3),
}
VALUES = {  # what one step hands to the next
    "sampling/samples.py",
    *(
        "Neighbourhood",
        "SelectionResult",
        "BayesianNetwork.samples_around",
        "BayesianNetwork.nodes",
    ),
    "Parts.notes",
}
MOST_LINES = 400
"""Of a module that is read in one sitting."""
SUPPORT = {
    *("arrays", "choices", "execution", "graph", "node_names", "node_table", "printing"),
    *("progress", "scratch", "significance", "storage", "variables", "versions"),
}


class Call(NamedTuple):
    """A call of a function of the package from another one, both by file."""

    caller: str
    file: str
    function: str

    @property
    def step(self):
        kind = self.function.split(".")[0]
        if VALUES & {self.file, self.function, kind}:
            return None
        return STEPS.get(room(self.file))


def room(file):
    return file.split("/")[0].removesuffix(".py")


def is_configuration(file):
    return file == "settings.py" or file.endswith("config.py")


def own_file(frame):
    path = Path(frame.f_code.co_filename)
    return path.relative_to(PACKAGE).as_posix() if PACKAGE in path.parents else None


def callers(frame):
    """The files that lead to a call, from the nearest; support may call back and is left out."""
    while (frame := frame.f_back) is not None:
        if (file := own_file(frame)) is not None and room(file) not in SUPPORT:
            yield file


@pytest.fixture(scope="module")
def traced():
    """The lines of all functions that ``explain(304)`` on Syn 6 calls, by file, and its calls.

    The calls are without those of configurations.
    """
    torch = pytest.importorskip("torch")
    gnn = pytest.importorskip("pgm_explainer_lab.gnn")
    data = pytest.importorskip("pgm_explainer_lab.synthetic").make_synthetic("syn6", 0)
    torch.manual_seed(0)
    model = gnn.NodeGNN(data.x.shape[1], 4)
    explainer = PGMExplainer(model, data.x, data.edge_index, num_samples=500)
    found, files, started = [], {}, set()

    def follow(frame, event, _):
        # A generator is entered again for each of its values: only the first time counts.
        if event != "call" or id(frame) in started or (file := own_file(frame)) is None:
            return
        code, before = frame.f_code, list(callers(frame))
        last = max(line for *_, line in code.co_lines() if line is not None)
        files.setdefault(file, set()).update(range(code.co_firstlineno, last + 1))
        if code.co_flags & 0x20:  # a generator
            started.add(id(frame))
            kept.append(frame)
        if not any(map(is_configuration, (file, *before))):
            found.append(Call(before[0] if before else "", file, code.co_qualname))

    kept = []  # frames that are alive have different ids
    sys.setprofile(follow)
    try:
        explanation = explainer.explain(304)
    finally:
        sys.setprofile(None)
    assert explanation.network is not None, "or step 3 is not seen"
    assert found, f"the package is not imported from {PACKAGE}"
    return files, found


@pytest.fixture(scope="module")
def calls(traced):
    return traced[1]


@pytest.fixture(scope="module")
def page():
    """The section of the page that describes the call."""
    text = (ROOT / "docs" / "architecture.md").read_text()
    return re.search(r"^## One call.*?(?=^## )", text, re.MULTILINE | re.DOTALL)[0]


@pytest.fixture(scope="module")
def named(page):
    """The files of the numbered steps on the page."""
    steps = re.search(r"^1\. .*?\n\n", page, re.MULTILINE | re.DOTALL)[0]
    return set(re.findall(r"`((?:[a-z_]+/)*[a-z_]+\.py)`", steps))


def test_each_step_is_entered_once_and_left_once(calls):
    steps = [call.step for call in calls if call.step is not None]
    assert [step for step, _ in groupby(steps)] == [1, 2, 3]


def test_a_step_is_entered_at_the_functions_that_the_page_names(calls):
    entered = {
        step: {call.function for call in calls if call.step == step != STEPS.get(room(call.caller))}
        for step in (1, 2, 3)
    }
    first = {"NodeTask.check", "NodeTask.candidates", "NodeTask.ends"}
    first |= {f"NodeParts.{name}" for name in ("check", "candidates", "own", "nodes_in")}
    first |= {"Parts.stop", "numbered"}
    assert entered == {
        1: {*first, "GraphModel.query", "draw_samples"},
        2: {"select_nodes"},
        3: {"learn_networks"},
    }


def test_the_page_names_fewer_than_twenty_files_in_which_every_step_is_entered(calls, page, named):
    assert len(named) == int(re.search(r"The (\d+) files named above", page)[1]) < 20
    assert named <= {call.file for call in calls}
    entries = {call.file for call in calls if call.step not in (None, STEPS.get(room(call.caller)))}
    assert entries - {"sampling/parts/base.py"} <= named, "but for defaults that a kind inherits"


def test_the_call_executes_code_in_no_more_files_than_the_page_says(traced, page):
    """Every file in which a function, method or property runs: more files are harder to follow."""
    assert len(traced[0]) <= int(re.search(r"executes code in (\d+) files", page)[1])


def test_the_layers_alone_need_as_many_files_as_the_page_says(traced, page):
    """If files held nothing but functions that run, and none was part of two rooms."""
    lines = {}
    for file, its in traced[0].items():
        lines[room(file)] = lines.get(room(file), 0) + len(its)
    least = sum(-(-count // MOST_LINES) for count in lines.values())
    assert least >= int(re.search(r"at least (\d+) files", page)[1])
