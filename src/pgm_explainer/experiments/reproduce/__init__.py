"""The paper's experiments, one command each: cells that are computed once, and tables of them."""

from .cells import Plan, compute
from .report import write_report

__all__ = ["Plan", "compute", "write_report"]
