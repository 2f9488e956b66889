"""The molecules, compared with what is published about them and with basic chemistry."""

from __future__ import annotations

import os
from collections import Counter

import numpy as np
import pytest

from pgm_explainer_lab.data import DataError
from pgm_explainer_lab.mutagenicity import ATOMS, load_mutagenicity

needs_data = pytest.mark.skipif(
    not os.environ.get("PGM_EXPLAINER_DATA"),
    reason="PGM_EXPLAINER_DATA does not name a folder with the molecules",
)


@pytest.fixture(scope="module")
def molecules():
    return load_mutagenicity()


def motif_bonds(molecule):
    """The bonds, in both directions, within the atoms of the motif."""
    return molecule.edge_index[:, np.isin(molecule.edge_index, list(molecule.motif)).all(axis=0)]


@needs_data
def test_the_molecules_have_the_published_sizes(molecules):
    assert len(molecules) == 4337
    assert Counter(each.label for each in molecules) == {0: 2401, 1: 1936}
    assert sum(len(each.x) for each in molecules) == 131488
    assert sum(each.edge_index.shape[1] for each in molecules) == 266894


@needs_data
def test_every_atom_is_one_of_the_fourteen_and_every_bond_goes_both_ways(molecules):
    for molecule in molecules:
        assert molecule.x.shape[1] == len(ATOMS)
        assert (molecule.x.sum(axis=1) == 1).all()
        bonds = set(map(tuple, molecule.edge_index.T.tolist()))
        assert {(v, u) for u, v in bonds} == bonds
        assert molecule.edge_index.min(initial=0) >= 0
        assert molecule.edge_index.max(initial=0) < len(molecule.x)


@needs_data
def test_motifs_are_the_marked_bonds_of_nitrogen_with_oxygen_or_hydrogen(molecules):
    bonds = 0
    for molecule in molecules:
        kinds = {ATOMS[kind] for kind in molecule.x[sorted(molecule.motif)].argmax(axis=1)}
        assert kinds <= {"N", "O", "H"}
        assert bool(kinds) == ("N" in kinds)
        bonds += motif_bonds(molecule).shape[1]
    assert bonds == 7352


@needs_data
def test_most_molecules_with_a_motif_are_mutagenic(molecules):
    labels = [each.label for each in molecules if each.motif]
    assert np.mean(labels) < 0.3


def test_a_folder_without_the_molecules_is_named_in_the_error(tmp_path, monkeypatch):
    def offline(*asked, **options):
        raise OSError("no network in tests")

    monkeypatch.setattr("urllib.request.urlopen", offline)
    with pytest.raises(DataError, match=r"Mutagenicity_A\.txt\.gz is missing"):
        load_mutagenicity(tmp_path)
