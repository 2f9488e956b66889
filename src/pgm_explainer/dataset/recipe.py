"""How a worker comes to its explainer: it is handed one, or told how to make it."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..errors import InputError, JobError
from ..explainer import PGMExplainer

__all__ = ["Recipe", "load_attribute"]


@dataclass(frozen=True)
class Recipe:
    """What the caller gave: an explainer, a function that makes one, or where that function is.

    Examples:
        >>> Recipe("statistics:mean").explainer
        Traceback (most recent call last):
        ...
        pgm_explainer.errors.JobError: 'statistics:mean' failed to make an explainer: TypeError: ...
    """

    given: PGMExplainer | Callable[[], PGMExplainer] | str

    def __reduce__(self) -> tuple[type[Recipe], tuple[Any]]:
        return Recipe, (self.given,)  # what was made here is made anew elsewhere

    @cached_property
    def explainer(self) -> PGMExplainer:
        """The explainer, one for each process; where it was handed over, that very one."""
        if isinstance(self.given, PGMExplainer):
            return self.given
        factory = load_attribute(self.given) if isinstance(self.given, str) else self.given
        if isinstance(factory, PGMExplainer):
            return factory
        if not callable(factory):
            raise InputError(
                f"explainer must be a PGMExplainer, a function that makes one, or the place of "
                f"such a function ('module:function'), not {self.given!r}"
            )
        try:
            made = factory()
        except Exception as error:  # whatever the caller's function raises
            raise JobError(
                f"{self.given!r} failed to make an explainer: {type(error).__name__}: {error}"
            ) from error
        if not isinstance(made, PGMExplainer):
            raise InputError(f"{self.given!r} made {made!r:.80}, which is no PGMExplainer")
        return made


def load_attribute(place: str) -> Any:
    """Return what ``module:attribute`` names, importing the module.

    Examples:
        >>> load_attribute("math:pi")
        3.141592653589793
    """
    module, colon, attribute = place.partition(":")
    if not (module and colon and attribute):
        raise InputError(f"{place!r} should be 'module:attribute', such as 'my_models:make'")
    try:
        found: Any = importlib.import_module(module)
    except Exception as error:  # the module is the user's, and so is what it raises
        raise InputError(
            f"importing {module} failed with {type(error).__name__}: {error}; it must be "
            f"importable from {Path.cwd()}"
        ) from error
    for name in attribute.split("."):
        if not hasattr(found, name):
            raise InputError(f"{module} has no attribute {attribute!r}")
        found = getattr(found, name)
    return found
