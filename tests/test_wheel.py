"""The wheel contains the library and nothing else."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("hatchling", reason="building a wheel needs hatchling")

ROOT = Path(__file__).parents[1]
LARGEST = 700_000


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel that a user gets, built as pip builds it, without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet", "-w", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, str(ROOT)], check=True)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def files(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def test_it_holds_the_whole_library(files):
    source = ROOT / "src"
    ours = {path for path in (source / "pgm_explainer").rglob("*") if path.is_file()}
    expected = {str(path.relative_to(source)) for path in ours if path.suffix != ".pyc"}
    assert {name for name in files if ".dist-info/" not in name} == expected


def test_nothing_of_the_lab_is_in_it(files):
    lab = ROOT / "lab" / "src" / "pgm_explainer_lab"
    rooms = {path.parent.name for path in lab.glob("*/__init__.py")}
    assert {"benchmarks", "faithfulness", "rivals"} <= rooms
    assert not rooms & {part for name in files for part in Path(name).parts}
    assert not [name for name in files if name.endswith(".safetensors")]
    assert {name.split("/")[0].split("-")[0] for name in files} == {"pgm_explainer"}


def test_it_declares_no_command_of_the_lab(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [each for each in archive.namelist() if each.endswith("entry_points.txt")]
        assert "pgm_explainer.commands" not in archive.read(name).decode()


def test_it_is_small(wheel):
    assert wheel.stat().st_size < LARGEST
