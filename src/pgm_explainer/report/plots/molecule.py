"""A molecule drawn by RDKit, with atoms and bonds coloured by their effects."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any

from matplotlib.colors import to_rgb
from matplotlib.image import imread
from matplotlib.patches import Patch

from ...arrays import as_list
from ...errors import InputError, PGMExplainerWarning
from ...limits import brief
from ..colours import BAR_COLOURS, INK
from ..effects import ShownEffect
from ..measure import measure_of
from ..names import label_of
from ..surroundings import Surroundings
from .style import finish, inches, legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ...explanation import Explanation

__all__ = ["draw_molecule", "read_atoms", "read_molecule"]

_PIXELS = 900
_PICTURE = 0.8
"""The share of the height that the picture takes; the rest is for title and legend."""
_LEAST = 0.25
"""The share of colour in the weakest effect, which must differ from white."""


def read_atoms(explanation: Explanation, atoms: Any) -> list[str]:
    """Return the symbol of each node.

    Raises:
        InputError: the number of symbols is not the number of nodes.
    """
    symbols = as_list(atoms)
    if symbols is None or not all(isinstance(each, str) for each in symbols):
        raise InputError(
            f"atoms must list a symbol for each node, such as ['C', 'O'], not {brief(atoms)}"
        )
    _check_count(explanation, len(symbols), "atoms has", "symbols")
    return symbols


def read_molecule(explanation: Explanation, molecule: Any, atoms: Sequence[str] | None) -> Any:
    """Return an RDKit molecule whose atoms are the nodes; None if RDKit is not installed.

    Args:
        explanation: the explanation of a prediction about the molecule.
        molecule: SMILES or an RDKit molecule; None to build one from atoms and single bonds.
        atoms: the symbol of each node, used without a molecule.

    Raises:
        InputError: it is not a molecule, or the graph has another number of nodes.
    """
    try:
        from rdkit import Chem
    except ImportError:
        warnings.warn(
            "RDKit is not installed, so the molecule is drawn as a graph; "
            "pip install 'pgm-explainer[molecules]'",
            PGMExplainerWarning,
            stacklevel=2,
        )
        return None
    if molecule is None:
        return _from_atoms(Chem, explanation, atoms or ())
    found = Chem.MolFromSmiles(molecule) if isinstance(molecule, str) else molecule
    if not isinstance(found, Chem.Mol):
        raise InputError(f"molecule must be SMILES or an RDKit molecule, not {brief(molecule)}")
    hint = "; use Chem.AddHs if hydrogens are nodes"
    _check_count(explanation, found.GetNumAtoms(), "the molecule has", "atoms", hint)
    return Chem.Mol(found)


def _from_atoms(chem: Any, explanation: Explanation, atoms: Sequence[str]) -> Any:
    molecule = chem.RWMol()
    for symbol in atoms:
        try:
            atom = chem.Atom(symbol)
        except RuntimeError:
            raise InputError(
                f"atoms has {brief(symbol)}, which is not a chemical element"
            ) from None
        atom.SetNoImplicit(True)  # hydrogens that are not nodes are not drawn
        molecule.AddAtom(atom)
    graph: Any = explanation.neighbourhood
    pairs = [] if graph is None else graph.nodes[graph.edge_index].T.tolist()
    for u, v in sorted({(min(pair), max(pair)) for pair in pairs}):
        if u != v:
            molecule.AddBond(u, v, chem.BondType.SINGLE)
    molecule.UpdatePropertyCache(strict=False)
    return molecule.GetMol()


def _check_count(explanation: Explanation, count: int, what: str, of: str, hint: str = "") -> None:
    graph: Any = explanation.graph
    size = getattr(graph, "whole_nodes", None) or getattr(graph, "num_nodes", None)
    if size is None:
        raise InputError("a molecule needs the graph, which the explanation does not have")
    if count != size:
        raise InputError(f"{what} {count} {of}, but the graph has {size} nodes{hint}")


def draw_molecule(explanation: Explanation, axes: Axes, molecule: Any) -> None:
    """Draw a molecule with the names of its nodes, and its parts coloured by their effects."""
    from rdkit.Chem.Draw import rdMolDraw2D

    view = Surroundings(explanation, molecule.GetNumAtoms())
    ends = explanation.ends.tolist()
    for atom in molecule.GetAtoms():
        atom.SetProp("atomNote", _note(atom, explanation) + " (target)" * (atom.GetIdx() in ends))
    atoms = dict(_atom_colours(view))
    bonds = dict(_bond_colours(view, molecule))
    wide, high = inches(axes)
    drawing = rdMolDraw2D.MolDraw2DCairo(_PIXELS, round(_PIXELS * max(0.3, _PICTURE * high / wide)))
    drawing.drawOptions().useBWAtomPalette()  # colours are for effects
    made = rdMolDraw2D.PrepareMolForDrawing(molecule, kekulize=False, addChiralHs=False)
    drawing.DrawMolecule(
        made,
        highlightAtoms=list(atoms),
        highlightAtomColors=atoms,
        highlightBonds=list(bonds),
        highlightBondColors=bonds,
    )
    drawing.FinishDrawing()
    axes.imshow(imread(BytesIO(drawing.GetDrawingText()), format="png"))
    directions = {each.direction for each in view.effects.values()}
    entries = [
        (Patch(facecolor=BAR_COLOURS[kind], edgecolor=INK), text)
        for kind, text in measure_of(explanation).directions.items()
        if kind in directions
    ]
    if entries:
        place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0)}
        legend(axes, entries, ncols=2, frameon=False, **place)
    finish(axes, "The molecule, coloured by effect (numbers are nodes)")


def _note(atom: Any, explanation: Explanation) -> str:
    """Return the name of an atom's node; a name such as ``O9`` without the symbol."""
    name = label_of(explanation.names[atom.GetIdx()])
    return name.removeprefix(atom.GetSymbol()) or name


def _colour(effect: ShownEffect) -> tuple[float, ...]:
    """Return the colour of an effect: the stronger, the further from white."""
    full = to_rgb(BAR_COLOURS[effect.direction])
    share = _LEAST + (1 - _LEAST) * effect.effect.strength
    return tuple(1 - share * (1 - each) for each in full)


def _atom_colours(view: Surroundings) -> Iterator[tuple[int, tuple[float, ...]]]:
    for group in view.groups:
        if group.effect is not None:
            yield from ((int(view.nodes[at]), _colour(group.effect)) for at in group.nodes)
    for number, effect in view.effects.items():
        if number not in view.explanation.part_labels:
            yield number, _colour(effect)


def _bond_colours(view: Surroundings, molecule: Any) -> Iterator[tuple[int, tuple[float, ...]]]:
    """Yield the bonds that are parts, and those inside of groups."""
    for edge in view.part_edges:
        bond = molecule.GetBondBetweenAtoms(*(int(view.nodes[at]) for at in edge.ends))
        if edge.effect is not None and bond is not None:
            yield bond.GetIdx(), _colour(edge.effect)
    for group in view.groups:
        members = {int(view.nodes[at]) for at in group.nodes}
        for bond in molecule.GetBonds():
            inside = members >= {bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()}
            if group.effect is not None and inside:
                yield bond.GetIdx(), _colour(group.effect)
