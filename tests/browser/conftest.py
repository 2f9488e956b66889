"""A real browser, with pages that must neither log errors nor send requests."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pgm_explainer import Explanation, PGMExplainer, to_html

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

_STATE_ALL = """(evidence) => {
    document.querySelector("#reset").click();
    for (const [key, word] of evidence) {
        const row = document.querySelector(`#network [data-key="${key}"] [data-word="${word}"]`);
        row.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    }
    const rows = [...document.querySelectorAll("#network [data-word]")];
    return {
        holds: Number(document.querySelector("#holds").dataset.probability),
        impossible: !document.querySelector("#impossible").hidden,
        facts: rows.map(({ dataset, parentNode }) => [
            parentNode.dataset.key, dataset.word, Number(dataset.probability),
        ]),
    };
}"""

# Many changes in few samples, so that queries are interesting.
SETTINGS = {
    "num_layers": 2,
    "num_samples": 800,
    "perturb_probability": 0.25,
    "perturbation": "mean",
}


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    with playwright.sync_playwright() as running:
        # With scroll bars, which playwright hides by default: a reader sees them too.
        browser = running.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox"],
            ignore_default_args=["--hide-scrollbars"],
        )
        yield browser
        browser.close()


class Reader:
    """A user of a page, who clicks and reads."""

    def __init__(self, page: Any) -> None:
        self.page = page

    def node(self, key: str, where: str = "network") -> Any:
        return self.page.locator(f'#{where} [data-variable][data-key~="{key}"]')

    def state(self, key: str, word: str) -> None:
        """Click a bar."""
        self.node(key).locator(f'[data-word="{word}"]').click()

    def state_all(self, evidence: list[tuple[str, str]]) -> dict[str, Any]:
        """Forget everything, click these bars, and read every probability there is."""
        return self.page.evaluate(_STATE_ALL, evidence)

    def open_details(self, *names: str) -> None:
        """Open parts of the page, which are filled a moment later."""
        for name in names:
            self.page.locator(f"#{name} summary").click()
            self.page.wait_for_selector(f"#{name}[open] > :last-child > *")

    def holds(self) -> float:
        return float(self.page.locator("#holds").get_attribute("data-probability"))

    def text(self, selector: str) -> str:
        return self.page.locator(selector).inner_text()


@pytest.fixture
def read(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Reader]]:
    """Open explanations in the browser; complaints and requests fail the test at its end."""
    contexts, wrong = [], []

    def judge(request: Any) -> None:
        if not request.url.startswith(("file:", "data:")):
            wrong.append(f"asked for {request.url}")

    def open_page(explanations: Any, **options: Any) -> Reader:
        path = tmp_path / f"page-{len(contexts)}.html"
        to_html(explanations, path)
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.on("request", judge)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: wrong.append(f"dialogue {dialog.message!r}"))
        page.on("console", lambda message: wrong.append(f"{message.type}: {message.text}"))
        page.goto(path.as_uri())
        return Reader(page)

    yield open_page
    for context in contexts:
        context.close()
    assert not wrong


@pytest.fixture(scope="session")
def node_explanation(toy: Any) -> Explanation:
    names = ["red", "green", "blue"]
    explainer = PGMExplainer(toy.whole, toy.x, toy.edge_index, class_names=names, **SETTINGS)
    return explainer.explain(14)


@pytest.fixture(scope="session")
def explanations(toy: Any, node_explanation: Explanation) -> dict[str, Explanation]:
    """Of each kind: states, tasks, a target with children, smoothed tables, other families."""

    def link(x: np.ndarray, pairs: np.ndarray) -> np.ndarray:
        scores = toy.whole(x)
        score = (scores[:, pairs[0]] * scores[:, pairs[1]]).sum(-1, keepdims=True)
        return np.concatenate([-score, score], axis=-1)

    def explain(model: Any, target: Any = None, **options: Any) -> Explanation:
        chosen = {**SETTINGS, **options}
        return PGMExplainer(model, toy.x, toy.edge_index, **chosen).explain(target)

    return {
        "node": node_explanation,
        "graph": explain(toy.graph_level, task="graph"),
        "levels": explain(toy.whole, 14, change=[0.05, 0.2, 0.4]),
        "edge": explain(link, (14, 2), task="edge"),
        "free": explain(toy.whole, 14, no_child=False, max_nodes=9, only_significant=False),
        "smoothed": explain(toy.whole, 14, smoothing=0.5),
        "markov": explain(toy.whole, 14, family="markov"),
        "dependency": explain(toy.whole, 14, family="dependency"),
        "drawn": explain(
            toy.whole,
            14,
            family="dependency",
            max_nodes=9,
            only_significant=False,
            score="log_likelihood",  # all variables are connected: too many joint states
            max_parents=2,
        ),
    }
