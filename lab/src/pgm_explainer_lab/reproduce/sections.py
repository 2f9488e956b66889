"""The sections that can be reproduced."""

from __future__ import annotations

from collections.abc import Callable

from ..faithfulness.section import faithfulness_section
from ..part_benchmarks.section import parts_section
from .ablation import ablation_section
from .beyond import beyond_section
from .figures import figures_section
from .mnist import mnist_section
from .model_choice import models_section
from .plan import Plan, Section
from .tables import table1, table2, table3

__all__ = ["SECTIONS"]

SECTIONS: dict[str, Callable[[Plan], Section]] = {
    "table1": table1,
    "table2": table2,
    "table3": table3,
    "figures": figures_section,
    "mnist": mnist_section,
    "beyond": beyond_section,
    "ablation": ablation_section,
    "faithfulness": faithfulness_section,
    "parts": parts_section,
    "models": models_section,
}
"""By the names used on the command line, in the order of the page."""
