"""Plots of every kind of parts."""

from __future__ import annotations

import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba
from matplotlib.patches import FancyArrowPatch, Rectangle

from pgm_explainer import Explanation, PGMExplainer
from pgm_explainer.errors import InputError, PGMExplainerWarning
from pgm_explainer.report.colours import FALLS
from pgm_explainer.report.strip import is_strip, strip_of
from pgm_explainer.report.surroundings import Surroundings

EVERY = (
    "nodes",
    "edges",
    "rewired",
    "directed",
    "features",
    "node features",
    "groups",
    "edge groups",
    "feature groups",
    "time",
    "node time",
    "mixed",
    "edges and features",
)
STRIPS = {"features", "node features", "feature groups", "time", "node time"}


def texts(figure):
    return [
        text.get_text()
        for axes in figure.axes
        for text in (*axes.texts, axes.title, *axes.get_yticklabels(), axes.xaxis.label)
    ]


@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize("plot", ["both", "effects", "neighbourhood", "network", "ranking"])
def test_every_plot_of_every_kind_can_be_drawn(parts, kind, plot):
    figure = parts[kind].plot(plot)
    figure.canvas.draw()


@pytest.mark.parametrize("kind", EVERY)
def test_a_loaded_explanation_is_drawn_alike(parts, kind, tmp_path):
    parts[kind].save(tmp_path / "saved.json")
    loaded = Explanation.load(tmp_path / "saved.json")
    assert texts(loaded.plot("neighbourhood")) == texts(parts[kind].plot("neighbourhood"))


def test_bars_are_named_by_the_parts(parts):
    figure = parts["edges"].plot("effects")
    assert "Effect of removing each edge on the prediction of 2" in figure.axes[0].get_title()
    assert figure.axes[0].get_yticklabels()[0].get_text() == "1 – 2"
    title = parts["node time"].plot("ranking").axes[0].get_title()
    assert title.startswith("How strongly the prediction of 2 depends on each step")


def test_the_strongest_edge_is_the_widest_and_has_the_colour_of_its_direction(parts):
    explanation = parts["edges"]
    axes = explanation.plot("neighbourhood").axes[0]
    lines = [each for each in axes.collections if isinstance(each, LineCollection)]
    falling = [each for each in lines if tuple(each.get_colors()[0]) == to_rgba(FALLS)]
    effects = explanation.effects
    assert len(falling) == int(effects.significant.sum())
    widths = sorted((each.get_linewidths()[0] for each in falling), reverse=True)
    strengths = effects.strength[effects.significant]
    assert np.allclose(np.array(widths), 1.2 + 6.8 * strengths)


def test_directed_edges_are_arrows(parts):
    axes = parts["directed"].plot("neighbourhood").axes[0]
    arrows = [each for each in axes.patches if isinstance(each, FancyArrowPatch)]
    assert len(arrows) >= 5  # all but the self-loop, which is a ring
    assert not any(
        isinstance(each, FancyArrowPatch)
        for each in parts["edges"].plot("neighbourhood").axes[0].patches
    )


def test_groups_are_outlined_and_named(parts):
    explanation = parts["groups"]
    view = Surroundings(explanation, 60)
    assert {explanation.names[group.number] for group in view.groups} == {"ring", "tail", "branch"}
    drawn = {node for group in view.groups for node in view.nodes[list(group.nodes)].tolist()}
    assert drawn == set(view.nodes.tolist())
    shown = texts(explanation.plot("neighbourhood"))
    assert {"ring", "tail", "branch"} <= set(shown)
    assert {"ring", "tail"} <= set(texts(parts["edge groups"].plot("neighbourhood")))


def test_edges_of_a_group_share_its_effect(parts):
    explanation = parts["edge groups"]
    view = Surroundings(explanation, 60)
    for edge in view.part_edges:
        pair = tuple(sorted(view.nodes[list(edge.ends)].tolist()))
        members = explanation.part_members[edge.number]
        assert pair in members
        assert edge.effect == view.effects.get(edge.number)


@pytest.mark.parametrize("kind", EVERY)
def test_features_and_steps_are_a_strip(parts, kind):
    assert is_strip(parts[kind]) == (kind in STRIPS)


def test_a_strip_of_time_has_steps_in_columns_and_nodes_in_rows(parts):
    explanation = parts["node time"]
    strip = strip_of(explanation, 20, 40)
    assert strip.columns == ["0", "1", "2", "3"]
    assert strip.rows[0] == "2"  # the target comes first
    assert strip.target_row == 0
    assert set(strip.rows) == {str(node) for node in explanation.around.tolist()}
    for (row, column), each in strip.cells.items():
        label = explanation.part_labels[each.number]
        assert label == (int(strip.rows[row]), f"step {strip.columns[column]}")
    assert strip.hidden == 0
    axes = explanation.plot("neighbourhood").axes[0]
    cells = [each for each in axes.patches if isinstance(each, Rectangle)]
    assert len(cells) == len(explanation.effects)


def test_a_small_strip_keeps_the_strongest_and_counts_the_rest(parts):
    explanation = parts["node time"]
    strip = strip_of(explanation, 2, 1)
    strongest = explanation.part_labels[int(explanation.effects.nodes[0])]
    assert strip.columns == [strongest[1].removeprefix("step ")]
    assert strip.hidden == len(explanation.effects) - 2
    title = explanation.plot("neighbourhood", max_shown=1).axes[0].get_title()
    assert "more are not drawn" in title


def test_what_has_no_place_in_the_graph_is_counted(parts):
    explanation = parts["edges and features"]
    title = explanation.plot("neighbourhood").axes[0].get_title()
    features = [number for number, label in explanation.part_labels.items() if "f" in str(label)]
    effects = explanation.effects
    significant = set(effects.nodes[effects.significant].tolist())
    assert f"effects not drawn: {len(significant.intersection(features))}" in title


ATOMS = ["C", "C", "N", "O", "O"]
BONDS = np.array([(0, 1), (1, 2), (2, 3), (2, 4)]).T


@pytest.fixture(scope="module")
def nitro():
    """Explain the bonds of a molecule whose class depends on bonds of N and O."""
    edges = np.concatenate((BONDS, BONDS[::-1]), axis=1)
    x = np.array([[symbol == "N", symbol == "O"] for symbol in ATOMS], dtype=float)

    def model(x, edge_index):
        source, target = edge_index
        score = 2 * (x[..., target, 0] * x[..., source, 1]).sum(axis=-1, keepdims=True) - 2
        return np.concatenate([-score, score], axis=-1)

    options = {"task": "graph", "parts": "edges", "num_samples": 500, "perturb_probability": 0.3}
    return PGMExplainer(model, x, edges, **options).explain()


def test_atoms_name_the_nodes_where_rdkit_is_missing(nitro, monkeypatch):
    monkeypatch.setitem(sys.modules, "rdkit", None)
    with pytest.warns(PGMExplainerWarning, match=r"RDKit is not installed, .* as a graph; pip"):
        figure = nitro.plot("neighbourhood", atoms=ATOMS)
    assert {"N2", "O3", "O4", "C0", "C1"} <= set(texts(figure))


def test_names_that_have_the_symbol_do_not_repeat_it(nitro, monkeypatch):
    monkeypatch.setitem(sys.modules, "rdkit", None)
    named = nitro.named(["C1", "C2", "N3", "9", "O5"])
    with pytest.warns(PGMExplainerWarning, match="RDKit"):
        figure = named.plot("neighbourhood", atoms=ATOMS)
    assert {"C1", "C2", "N3", "O9", "O5"} <= set(texts(figure))


def test_a_molecule_is_drawn_by_rdkit(nitro):
    pytest.importorskip("rdkit")
    for options in ({"molecule": "CC[N+](=O)[O-]"}, {"atoms": ATOMS}):
        figure = nitro.plot("both", **options)
        (image,) = figure.axes[0].images
        pixels = image.get_array()[..., :3].reshape(-1, 3).astype(float)
        pixels /= max(1.0, pixels.max())
        falls = np.array(to_rgba(FALLS)[:3])
        assert (abs(pixels - falls).max(axis=1) < 0.02).sum() > 500  # the bonds of N and O
        plt.close(figure)


def test_rdkit_writes_names_without_the_symbol(nitro, monkeypatch):
    chem = pytest.importorskip("rdkit.Chem")
    from pgm_explainer.report.plots.molecule import draw_molecule

    drawn = chem.MolFromSmiles("CC[N+](=O)[O-]")
    named = nitro.named(["C1", "C", "N3", "9", "O5"])
    draw_molecule(named, plt.figure().subplots(), drawn)
    assert [atom.GetProp("atomNote") for atom in drawn.GetAtoms()] == ["1", "C", "3", "9", "5"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"atoms": ["C", "N"]}, "atoms has 2 symbols, but the graph has 5 nodes"),
        ({"atoms": 3}, "atoms must list a symbol for each node"),
        ({"atoms": [6, 6, 7, 8, 8]}, "atoms must list a symbol for each node"),
    ],
)
def test_symbols_must_fit_the_graph(nitro, options, message):
    with pytest.raises(InputError, match=message):
        nitro.plot("neighbourhood", **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"molecule": "CC"}, "the molecule has 2 atoms, but the graph has 5 nodes; use Chem.AddHs"),
        ({"molecule": 7}, "molecule must be SMILES or an RDKit molecule, not 7"),
        ({"molecule": "not smiles"}, "molecule must be SMILES or an RDKit molecule"),
        ({"atoms": ["C", "C", "N", "O", "Xx"]}, "'Xx', which is not a chemical element"),
    ],
)
def test_a_molecule_must_fit_the_graph(nitro, options, message):
    pytest.importorskip("rdkit")
    with pytest.raises(InputError, match=message):
        nitro.plot("neighbourhood", **options)


def test_other_plots_take_no_molecule(nitro):
    with pytest.raises(InputError, match=r"'effects' takes no molecule; .* molecule is for both"):
        nitro.plot("effects", molecule="CC")
