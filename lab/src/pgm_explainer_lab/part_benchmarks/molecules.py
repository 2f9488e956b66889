"""Molecules whose class follows from known atoms: generated ones, and those of Mutagenicity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader

from ..arrays import IntArray
from ..faithfulness.networks import MoleculeGIN, kept, training_steps
from ..mutagenicity import ATOMS, Molecule, load_mutagenicity
from ..reproduce.jobs import Place

__all__ = [
    "CHOSEN_ON",
    "GENERATED",
    "REPORTED_ON",
    "LabelledMolecule",
    "MoleculeSet",
    "fit",
    "molecule_set",
    "probabilities",
]

GENERATED = {
    "fluoride and carbonyl": (("fluoride", "carbonyl"), ("amine", "hydroxyl")),
    "nitro": (("nitro",), ("amine", "hydroxyl", "carbonyl")),
    "amine and chloride": (("amine", "chloride"), ("nitro", "thiol")),
    "thiol and fluoride": (("thiol", "fluoride"), ("amine", "carbonyl")),
    "nitro and hydroxyl": (("nitro", "hydroxyl"), ("amine", "carbonyl")),
}
"""Sets of generated molecules: the groups of the rule, and other groups. The other sets are rules
on the molecules of Mutagenicity; *mutagenic* is the class of the data set."""
CHOSEN_ON = ("fluoride and carbonyl", "nitro", "amine and chloride", "NO2 or NH2", "C=O")
REPORTED_ON = ("thiol and fluoride", "nitro and hydroxyl", "OH", "CH3", "mutagenic")
"""Sets on which defaults were not chosen."""

_GROUPS = {
    "carbonyl": "O",
    "fluoride": "F",
    "chloride": "Cl",
    "nitro": "N O O",
    "amine": "N H H",
    "thiol": "S H",
    "hydroxyl": "O H",
}
"""Atoms: the first one is attached to a carbon, and the others to the first one."""
_SKELETON = ("C", "C", "C", "C", "C", "N", "O", "S")
_CARBONS = 6
_TRAINED, _HELD_OUT, _EPOCHS = 2000, 1000, 30
_SURE = 0.9


@dataclass(frozen=True)
class LabelledMolecule:
    """A molecule, its class, and the atoms that give it class 1 (empty for class 0)."""

    x: NDArray[np.float32]
    edge_index: IntArray
    label: int
    atoms: frozenset[int]

    def as_data(self) -> Data:
        """Return the molecule as an object of PyTorch Geometric."""
        return Data(
            x=torch.from_numpy(self.x),
            edge_index=torch.from_numpy(self.edge_index),
            y=torch.tensor([self.label]),
        )


@dataclass(frozen=True)
class MoleculeSet:
    """A trained GIN, its accuracy, and held-out molecules of class 1 that it is confident about.

    Attributes:
        population: all held-out molecules.
    """

    model: MoleculeGIN
    accuracy: float
    molecules: Sequence[LabelledMolecule]
    population: Sequence[LabelledMolecule]


def molecule_set(place: Place, name: str, seed: int) -> MoleculeSet:
    """Return one of the sets, with a GIN that is trained on its first molecules."""
    rng = np.random.default_rng([seed, len(name)])
    if name in GENERATED:
        molecules = [_generated(rng, *GENERATED[name]) for _ in range(_TRAINED + _HELD_OUT)]
    else:
        known = load_mutagenicity(place.data)
        order = rng.permutation(len(known))[: _TRAINED + _HELD_OUT]
        molecules = [_labelled(known[at], name) for at in order]
    torch.manual_seed(seed)
    model = MoleculeGIN(len(ATOMS), 2)

    model = kept(
        place,
        f"molecules-{name.replace(' ', '-')}-{seed}",
        model,
        lambda model: fit(model, molecules[:_TRAINED], _EPOCHS, rate=0.01),
    )
    held_out = molecules[_TRAINED:]
    chance = probabilities(model, held_out)
    labels = np.array([each.label for each in held_out])
    sure = (chance > _SURE) & (labels == 1)
    usable = [each for each, ok in zip(held_out, sure, strict=True) if ok and each.atoms]
    return MoleculeSet(model, float(((chance > 0.5) == labels).mean()), usable, held_out)


def fit(model: nn.Module, molecules: Sequence[LabelledMolecule], epochs: int, rate: float) -> None:
    """Train a network on batches of 100 molecules."""
    loader = DataLoader([each.as_data() for each in molecules], batch_size=100, shuffle=True)
    batches = [batch for _ in range(3) for batch in loader]
    for step in training_steps(model, epochs * len(batches) // 3, rate):
        batch = batches[step % len(batches)]
        scores = model(batch.x, batch.edge_index, batch.batch)
        torch.autograd.backward(nn.functional.cross_entropy(scores, batch.y))


@torch.no_grad()
def probabilities(model: nn.Module, molecules: Sequence[LabelledMolecule]) -> NDArray[np.float32]:
    """Return the predicted probabilities of class 1."""
    (batch,) = DataLoader([each.as_data() for each in molecules], batch_size=len(molecules))
    scores = model(batch.x, batch.edge_index, batch.batch)
    return np.asarray(scores.softmax(dim=1)[:, 1].numpy())


def _generated(
    rng: np.random.Generator, rule: Sequence[str], others: Sequence[str]
) -> LabelledMolecule:
    """Return a random skeleton with rings, and groups attached to its carbons.

    Half of the molecules have all groups of the rule, and the others lack at least one of them.
    """
    size = int(rng.integers(12, 22))
    atoms = ["C"] * _CARBONS + rng.choice(_SKELETON, size - _CARBONS).tolist()
    bonds = [(at, int(rng.integers(max(0, at - 3), at))) for at in range(1, size)]
    bonds += [(at, at - 5) for at in range(5, size, 6)]
    # An oxygen with one bond would be a carbonyl, so the ends of the skeleton are carbons.
    degrees = np.bincount(np.ravel(bonds), minlength=size)
    atoms = [atom if degree > 1 else "C" for atom, degree in zip(atoms, degrees, strict=True)]
    label = int(rng.integers(2))
    wanted = rng.permutation(rule)[: len(rule) if label else int(rng.integers(len(rule)))].tolist()
    wanted += [each for each in others if rng.random() < 0.5]
    cause: list[int] = []
    for group, carbon in zip(wanted, rng.permutation(_CARBONS).tolist(), strict=False):
        first, added = len(atoms), _GROUPS[group].split()
        atoms += added
        bonds += [(first, carbon), *((first + at, first) for at in range(1, len(added)))]
        if group in rule:
            cause += range(first, len(atoms))
    ends = np.array(bonds, dtype=np.int64).T
    x = np.eye(len(ATOMS), dtype=np.float32)[[ATOMS.index(atom) for atom in atoms]]
    both = np.concatenate((ends, ends[::-1]), axis=1)
    return LabelledMolecule(x, both, label, frozenset(cause if label else ()))


def _labelled(molecule: Molecule, rule: str) -> LabelledMolecule:
    """Return a molecule of Mutagenicity with the class and the atoms of a rule."""
    found = functional_groups(molecule)
    if rule == "mutagenic":
        label, cause = 1 - molecule.label, found["NO2 or NH2"]
    else:
        label, cause = int(bool(found[rule])), found[rule]
    return LabelledMolecule(
        molecule.x, molecule.edge_index, label, frozenset(cause if label else ())
    )


def functional_groups(molecule: Molecule) -> dict[str, set[int]]:
    """Return the atoms of some functional groups, from the atoms and bonds alone."""
    kinds = [ATOMS[at] for at in molecule.x.argmax(axis=1)]
    near: list[list[int]] = [[] for _ in kinds]
    for u, v in molecule.edge_index.T.tolist():
        near[u].append(v)
    found: dict[str, set[int]] = {name: set() for name in ("NO2 or NH2", "C=O", "OH", "CH3")}
    for atom, kind in enumerate(kinds):
        ends = [other for other in near[atom] if len(near[other]) == 1]
        oxygens = [other for other in ends if kinds[other] == "O"]
        hydrogens = [other for other in ends if kinds[other] == "H"]
        if kind == "N" and max(len(oxygens), len(hydrogens)) == 2:
            found["NO2 or NH2"] |= {atom, *(oxygens if len(oxygens) == 2 else hydrogens)}
        if kind == "C" and len(oxygens) == 1:
            found["C=O"] |= {atom, *oxygens}
        if kind == "O" and hydrogens:
            found["OH"] |= {atom, *hydrogens}
        if kind == "C" and len(hydrogens) == 3:
            found["CH3"] |= {atom, *hydrogens}
    return found
