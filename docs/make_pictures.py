"""Draw the picture of the README, and those of docs/reading.md: parts of a page, in Chromium.

    python docs/make_pictures.py

Run it when the page of an explanation looks different, and commit the pictures.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import networkx as nx
import numpy as np

from pgm_explainer import Explanation, PGMExplainer

HERE = Path(__file__).parent
FEATURES = ["days open", "payments per day", "abroad"]
EDGES = [(3, 7), (9, 7), (1, 7), (2, 7), (5, 1), (4, 2), (6, 5), (8, 4), (10, 11), (11, 6)]

SECTIONS = {
    "reason": "main header",
    "effects": "section.panel:has(#changes-title)",
    "features": "#features-panel",
    "kept": "#hero",
    "neighbourhood": "section.panel:has(#around-title)",
    "network": "#network-panel",
    "evidence": "#informative-panel",
}
"""The pictures by name, and what is on them."""


def model(x: np.ndarray, edge_index: np.ndarray) -> np.ndarray:
    """Score accounts by those that send them money: young and busy ones, and very old ones."""
    risk = (x[..., 0] < 30) * x[..., 1] / 100 * x[..., 2] - 0.6 * (x[..., 0] > 800)
    received = np.zeros(x.shape[:2])
    np.add.at(received.T, edge_index[1], risk[:, edge_index[0]].T)
    return np.stack([0 * received, 2 * received - 1.5], axis=-1)


def explained() -> Explanation:
    """The account A07, which receives money from two young accounts and an old one."""
    rng = np.random.default_rng(3)
    x = np.stack([rng.integers(200, 700, 12), rng.integers(1, 20, 12), np.full(12, 0.1)], axis=1)
    x[2], x[3], x[9] = (880, 9, 0.1), (4, 180, 0.9), (2, 140, 0.8)
    explainer = PGMExplainer(
        model,
        x.astype(float),
        np.array(EDGES).T,
        num_layers=1,
        names=[f"A{number:02}" for number in range(12)],
        feature_names=FEATURES,
        class_names=["regular", "suspicious"],
    )
    return explainer.explain("A07", with_features=True)


def draw_club() -> None:
    """Draw the example of the README, with text that can be read on a phone."""
    club = nx.karate_club_graph()
    friends = nx.to_numpy_array(club, weight=None)
    sides = [[side == "Officer", side == "Mr. Hi"] for _, side in club.nodes(data="club")]
    edges = np.array(friends.nonzero())
    explainer = PGMExplainer(lambda x: friends @ x, np.array(sides, float), edges, num_layers=1)
    figure = explainer.explain(8).plot(figsize=(9, 3.8), font_size=9.5)
    figure.savefig(HERE / "images" / "karate.png", dpi=150)


def main() -> None:
    """Write the page, and a picture of each of its sections."""
    from playwright.sync_api import sync_playwright

    draw_club()

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = explained().to_html(Path(folder) / "why.html")
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1000, "height": 800}, color_scheme="light")
        page.goto(Path(path).as_uri())
        page.wait_for_timeout(500)
        for name, selector in SECTIONS.items():
            page.locator(selector).first.screenshot(path=HERE / "images" / f"reading-{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
