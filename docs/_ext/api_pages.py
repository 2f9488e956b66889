"""Write one page of the API reference for each public module, from its ``__all__``."""

from __future__ import annotations

import inspect
import re
import textwrap
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer

GROUPS = {
    "Explaining": ("PGMExplainer explain_graphs Explanation FeatureEffects MinimalSet"),
    "Networks": "BayesianNetwork MarkovNetwork DependencyNetwork GraphicalModel",
    "Models": "Predictor SubgraphFunction WholeGraphFunction HttpPredictor",
    "What is perturbed": "Nodes Edges Features Groups Time Perturbation",
    "What counts as a change": (
        "Change LargeFall LargeMove Fall Flip Absolute Deviation TopDeviation TopFraction Levels"
    ),
    "Tests of independence": "GTest ChiSquareTest",
    "How networks are learned": (
        "BDeuScore BDsScore QNMLScore FNMLScore HeldOutScore GESSearch PCSearch MMHCSearch "
        "OrderSearch BootstrapSearch Decomposable Neighbourhood"
    ),
    "Many targets": (
        "explain_dataset ExplanationDataset Engine LocalEngine ProcessEngine RayEngine"
    ),
    "Files and pages": "save_explanations load_explanations to_html",
    "Errors and warnings": (
        "PGMExplainerError FileError InputError JobError ModelError ModelUnavailableError "
        "PerturbationError QueryError PGMExplainerWarning"
    ),
}
"""The sections of the page of ``pgm_explainer``; names that are in none of them come last."""

APART = ("Networks", "How networks are learned")
"""The sections with a separate page."""

STOP = (
    "Exception, tuple, dict, Protocol, ABC, Module, ExplainerAlgorithm, GraphicalModel, Described, "
    "UserDefined"
)
"""Base classes whose methods are not ours, or are described with the base class."""


def public_modules(docs: Path) -> list[str]:
    """The public modules, as the page about the architecture lists them."""
    text = (docs / "architecture.md").read_text(encoding="utf-8")
    line = re.search(r"^- Public modules: (.*)$", text, re.MULTILINE)
    assert line is not None
    return re.findall(r"`([\w.]+)`", line[1])


def directive(module: str, name: str) -> str:
    """The directive of autodoc that documents a name."""
    thing = getattr(import_module(module), name)
    if inspect.isclass(thing):
        kind = "autoexception" if issubclass(thing, Exception) else "autoclass"
        options = (
            "" if kind == "autoexception" else f"   :members:\n   :inherited-members: {STOP}\n"
        )
        return f".. {kind}:: {module}.{name}\n{options}"
    if inspect.isfunction(thing):
        return f".. autofunction:: {module}.{name}\n"
    text = textwrap.indent(described(module, name), "   ")
    return f".. py:data:: {name}\n   :module: {module}\n\n{text}\n"


def described(module: str, name: str) -> str:
    """What the module that defines a constant says about it, or else its value."""
    found = import_module(module)
    inside = [each.name for each in iter_modules(getattr(found, "__path__", ()))]
    for each in (module, *(f"{module}.{name}" for name in inside if not name.startswith("_"))):
        if not hasattr(import_module(each), name):
            continue
        documented = ModuleAnalyzer.for_module(each).find_attr_docs()
        if ("", name) in documented:
            return "\n".join(documented["", name])
    return f"``{getattr(found, name)!r}``\n"


def heading(text: str, line: str) -> str:
    """A heading of reStructuredText."""
    return f"{text}\n{line * len(text)}\n"


def section(module: str, title: str, group: str) -> list[str]:
    """A heading and the names below it."""
    return [heading(title, "-"), *(directive(module, name) for name in group.split())]


def page_of_networks() -> str:
    """The sections of the package that have a separate page, so that no page is too large."""
    parts = [heading("pgm_explainer: networks", "=")]
    parts.append("These names are imported from ``pgm_explainer`` too.\n")
    for title in APART:
        parts += section("pgm_explainer", title, GROUPS[title])
    return "\n".join(parts)


def page(module: str, elsewhere: dict[str, str]) -> str:
    """The page of a module; ``elsewhere`` says which module documents a name already."""
    found: Any = import_module(module)
    names = list(found.__all__)
    parts = [heading(module, "="), f".. automodule:: {module}\n   :no-members:\n"]
    if module == "pgm_explainer":
        rest = [name for name in names if not any(name in each.split() for each in GROUPS.values())]
        for title, group in {**GROUPS, "Other": " ".join(rest)}.items():
            if title not in APART:
                parts += section(module, title, group)
        return "\n".join(parts)
    same = [name for name in names if name in elsewhere]
    parts += [directive(module, name) for name in names if name not in elsewhere]
    if same:
        links = ", ".join(f":py:obj:`~{elsewhere[name]}.{name}`" for name in same)
        parts.append(f"Also importable from here: {links}.\n")
    return "\n".join(parts)


def write(app: Sphinx) -> None:
    """Write all pages, and leave those alone that have not changed."""
    docs = Path(app.srcdir)
    modules = public_modules(docs)
    elsewhere = dict.fromkeys(import_module("pgm_explainer").__all__, "pgm_explainer")
    texts = {"pgm_explainer.networks": page_of_networks()}
    for module in modules:
        texts[module] = page(module, elsewhere)
        elsewhere = {**dict.fromkeys(import_module(module).__all__, module), **elsewhere}
    for name, text in texts.items():
        path = docs / "api" / f"{name}.rst"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages before Sphinx looks for them."""
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
