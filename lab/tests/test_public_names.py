"""The lab uses only public names of public modules of the library."""

import ast
import importlib
from pathlib import Path

import pytest

import pgm_explainer_lab

PUBLIC = {
    "pgm_explainer",
    "pgm_explainer.effects",
    "pgm_explainer.engines",
    "pgm_explainer.graph",
    "pgm_explainer.io",
    "pgm_explainer.learning",
    "pgm_explainer.network",
    "pgm_explainer.predictors",
    "pgm_explainer.pyg",
    "pgm_explainer.report.plots",
    "pgm_explainer.sampling",
    "pgm_explainer.selection",
    "pgm_explainer.structure",
}
"""The modules that docs/architecture.md calls public and that the lab uses."""

ROOT = Path(pgm_explainer_lab.__file__).parent
ARCHITECTURE = Path(__file__).parents[2] / "docs" / "architecture.md"


def breaches(source):
    """Return descriptions of all uses of private parts of the library in a source."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [each.name for each in node.names]
            # Otherwise the name of the library would give access to all its modules.
            found += [f"import {each}" for each in names if each.split(".")[0] == "pgm_explainer"]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            if (node.module or "").split(".")[0] == "pgm_explainer":
                found += _not_public(node.module, [each.name for each in node.names])
        elif isinstance(node, ast.Attribute) and _is_private(node.attr):
            own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            found += [] if own else [f"attribute {node.attr}"]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            # Modules that are imported by name or run with python -m.
            found += [node.value] if node.value.startswith("pgm_explainer.") else []
    return found


def _not_public(module, names):
    if module not in PUBLIC:
        return [module]
    known = importlib.import_module(module).__all__
    return [f"{module}.{name}" for name in names if name not in known]


def _is_private(name):
    return name.startswith("_") and not name.startswith("__")


@pytest.mark.parametrize(
    "path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT))
)
def test_only_public_names_are_used(path):
    assert breaches(path.read_text()) == []


@pytest.mark.parametrize(
    "source",
    [
        "import pgm_explainer",
        "import pgm_explainer.storage.files as files",
        "from pgm_explainer.storage.files import write_text",
        "from pgm_explainer.sampling import generate",
        "def late():\n    from pgm_explainer import _private",
        "explainer._sampling.seed",
        "importlib.import_module('pgm_explainer.settings')",
    ],
)
def test_the_check_finds_private_names(source):
    assert len(breaches(source)) == 1


def test_the_architecture_page_lists_these_modules_as_public():
    (line,) = [each for each in ARCHITECTURE.read_text().splitlines() if "Public modules" in each]
    assert {name for name in PUBLIC if f"`{name}`" not in line} == set()
