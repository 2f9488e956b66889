"""The paper's human test: MNIST digits in superpixels, explained by PGM-Explainer, SHAP and GRAD.

Data, model and rivals are those of the lab.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import SeedSequence, default_rng

from pgm_explainer import PGMExplainerError

from ..scenes import GridScene
from ..study_file import Forecast, Study
from .assembly import Case, assemble
from .compared import compared_explainers

if TYPE_CHECKING:
    from pgm_explainer_lab.superpixels import SuperpixelGraph

__all__ = ["digits_study"]

SAMPLES = 400
"""Model calls of PGM-Explainer and of SHAP for each digit, the number in the paper's Table 1."""
_TEST_DIGITS = 10_000
_FORECASTS = 20
"""Items with a forecast: a multiple of the five arms, so that raters see each equally often."""
_INTENSITY = 0


def digits_study(options: argparse.Namespace, report: Callable[[str], None]) -> Study:
    """Return the paper's study: random test digits that the network classifies correctly.

    Args:
        options: as for :func:`~.assembly.assemble`, and ``items``, the number of digits.
        report: called with a line of progress.

    Raises:
        PGMExplainerError: the lab is not installed, or MNIST cannot be read or downloaded.
    """
    try:
        from pgm_explainer_lab.rivals import Case as Subject
        from pgm_explainer_lab.rivals import top_nodes
        from pgm_explainer_lab.superpixel_gnn import load_superpixel_gcn
    except ImportError as error:
        raise PGMExplainerError(
            f"this study needs the lab: in a clone, run pip install -e . -e lab -e study ({error})"
        ) from error
    model = load_superpixel_gcn()
    rivals = compared_explainers(SAMPLES, options)
    names = {"pgm": "PGM-Explainer", "shap": "SHAP", "grad": "GRAD"}
    chosen = list(islice(_classified(model, options.seed), options.items))
    probes = _Probes(model, options)
    cases = []
    for at, (number, graph) in enumerate(chosen):
        subject = Subject(model, graph.x, graph.edge_index, task="graph", features=[_INTENSITY])
        found = {
            name: top_nodes(next(iter(rival.importances(subject, [None]))), options.parts)
            for name, rival in rivals.items()
        }
        scene = GridScene(_rows(np.rint(graph.image * 255)), _rows(graph.segments))
        caption = f"The model says that this is a {graph.label}."
        forecast = probes.forecast(at, graph)
        everything = range(len(graph.x))
        cases.append(Case(f"digit-{number}", caption, scene, found, everything, forecast))
        report(f"explained {at + 1} of {len(chosen)} digits")
    return assemble(
        "Which parts of a picture matter to a model?",
        cases,
        names,
        options,
        things="regions",
        intro="A computer model looks at pictures of handwritten digits. Each picture is divided "
        "into regions. You will see pictures together with what the model says about them, and "
        "answer questions about regions that are marked.",
        change="the brightness of this region is inverted: dark becomes bright, bright becomes "
        "dark",
        notes=f"MNIST test digits that the lab's network classifies correctly, drawn with seed "
        f"{options.seed}. PGM-Explainer and SHAP call the model {SAMPLES} times for a digit.",
    )


def _rows(array: Any) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(int(cell) for cell in row) for row in array)


def _classified(model: Any, seed: int) -> Iterator[tuple[int, SuperpixelGraph]]:
    """Yield random test digits that the model classifies correctly, with their numbers."""
    from pgm_explainer_lab.superpixels import mnist_graphs

    rng = default_rng(SeedSequence(seed, spawn_key=(2000,)))
    numbers = rng.permutation(_TEST_DIGITS).tolist()
    for start in range(0, len(numbers), 10):
        some = numbers[start : start + 10]
        for number, graph in zip(some, mnist_graphs("test", None, some), strict=True):
            if _classes(model, graph, graph.x[None])[0] == graph.label:
                yield number, graph


def _classes(model: Any, graph: SuperpixelGraph, copies: Any) -> list[int]:
    """Return the class that the model predicts for each copy ``[B, N, 3]`` of the features."""
    import torch

    edges = torch.from_numpy(graph.edge_index)
    with torch.no_grad():
        return [int(model(torch.from_numpy(x), edges).argmax()) for x in copies]


class _Probes:
    """Chooses the region that a forecast is about, without looking at any explanation.

    The model is called with each single region inverted. In half of the forecasts a
    random region that changes the class is marked, in the others one that does not. A digit whose
    class no single region changes gets no forecast. Otherwise raters could guess the answer from
    the digit alone.
    """

    def __init__(self, model: Any, options: argparse.Namespace) -> None:
        self._model = model
        self._seed = options.seed
        self._made = 0

    def forecast(self, at: int, graph: SuperpixelGraph) -> Forecast | None:
        if self._made == _FORECASTS:
            return None
        copies = np.repeat(graph.x[None], len(graph.x), axis=0)
        every = np.arange(len(graph.x))
        copies[every, every, _INTENSITY] = 1 - copies[every, every, _INTENSITY]
        changed = np.array(_classes(self._model, graph, copies)) != graph.label
        if not changed.any() or changed.all():
            return None
        wanted = self._made % 2 == 0
        self._made += 1
        rng = default_rng(SeedSequence(self._seed, spawn_key=(3000, at)))
        probe = int(rng.choice(np.flatnonzero(changed == wanted)))
        return Forecast(
            probe,
            "If the region with the dashed blue mark is inverted, what will the model say?",
            (f"still {graph.label}", "another digit"),
            int(wanted),
        )
