"""How a worker gets its explainer: as an object, or from a factory function."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

from ..errors import InputError, JobError
from ..explainer import PGMExplainer
from ..limits import brief

__all__ = ["Recipe", "load_attribute"]


@dataclass(frozen=True)
class Recipe:
    """An explainer, a function that creates one, or the location of such a function.

    Examples:
        >>> Recipe("statistics:mean").explainer
        Traceback (most recent call last):
        ...
        pgm_explainer.errors.JobError: 'statistics:mean' failed to create an explainer: ...
    """

    given: PGMExplainer | Callable[[], PGMExplainer] | str

    def __reduce__(self) -> tuple[type[Recipe], tuple[Any]]:
        return Recipe, (self.given,)  # other processes create their own explainer

    @cached_property
    def explainer(self) -> PGMExplainer:
        """The explainer without its names of nodes: a data set stores these separately."""
        return self.named.unnamed() if self.named.names else self.named

    @cached_property
    def named(self) -> PGMExplainer:
        """The explainer, created once per process unless it was given."""
        if isinstance(self.given, PGMExplainer):
            return self.given
        factory = load_attribute(self.given) if isinstance(self.given, str) else self.given
        if isinstance(factory, PGMExplainer):
            return factory
        if not callable(factory):
            raise InputError(
                f"explainer must be a PGMExplainer, a function that creates one, or the location "
                f"of such a function ('module:function'), not {brief(self.given)}"
            )
        try:
            made = factory()
        except Exception as error:  # user code may raise anything
            raise JobError(
                f"{brief(self.given)} failed to create an explainer: {type(error).__name__}: "
                f"{error}"
            ) from error
        if not isinstance(made, PGMExplainer):
            raise InputError(
                f"{brief(self.given)} returned {brief(made)}, which is not a PGMExplainer"
            )
        return made


def load_attribute(place: str) -> Any:
    """Import a module and return the object at ``module:attribute``.

    Examples:
        >>> load_attribute("math:pi")
        3.141592653589793
    """
    module, colon, attribute = place.partition(":")
    if not (module and colon and attribute):
        raise InputError(
            f"{brief(place)} is not of the form 'module:attribute', such as 'my_models:make'"
        )
    try:
        found: Any = importlib.import_module(module)
    except Exception as error:  # user code may raise anything
        files = [each.stem for each in Path.cwd().glob("*.py")]
        raise InputError(
            f"importing {module} failed with {type(error).__name__}: {error}; it must be "
            f"importable from {Path.cwd()}{_similar(module, files)}"
        ) from error
    for name in attribute.split("."):
        if not hasattr(found, name):
            known = [each for each in dir(found) if not each.startswith("_")]
            raise InputError(f"{module} has no attribute {brief(attribute)}{_similar(name, known)}")
        found = getattr(found, name)
    return found


def _similar(name: str, known: Sequence[str]) -> str:
    """Return a suggestion of similar names."""
    close = [each for each in get_close_matches(name, known, n=3) if each != name]
    return f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
