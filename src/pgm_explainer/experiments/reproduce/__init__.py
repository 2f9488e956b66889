"""The paper's experiments, one command each: work that is done once, and pages that tell of it."""

from collections.abc import Callable

from .ablation import ablation
from .beyond import beyond
from .figures import figures
from .jobs import Job, Place, compute
from .mnist import mnist
from .page import write_page
from .plan import Plan, Section
from .tables import table1, table2, table3

__all__ = ["SECTIONS", "Job", "Place", "Plan", "Section", "compute", "write_page"]

SECTIONS: dict[str, Callable[[Plan], Section]] = {
    "table1": table1,
    "table2": table2,
    "table3": table3,
    "figures": figures,
    "mnist": mnist,
    "beyond": beyond,
    "ablation": ablation,
}
"""What can be reproduced, in the order of the page."""
