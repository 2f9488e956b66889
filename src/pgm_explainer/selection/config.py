"""The options of step 2, variable selection."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..arrays import check_flag, check_optional_flag, check_whole_number
from ..independence import GTest, IndependenceTest, as_test

__all__ = ["SelectionConfig"]


@dataclass(frozen=True, kw_only=True)
class SelectionConfig:
    """How variables are selected.

    Attributes:
        test: the independence test; a name is converted to a test on creation.
        no_child: make the target a leaf and select U(t) of Theorem 2, the variables that depend on
            the target; if False, select U(t) of Theorem 1, which adds their dependents. None is
            True for Bayesian networks; the other families have no such constraint, and select as
            if it were True.
        max_nodes: the maximum number of nodes in the network, not counting the target; None for no
            limit.
        only_significant: if False, nodes that are not significant are added up to ``max_nodes``.

    Raises:
        InputError: invalid value.

    Examples:
        >>> from pgm_explainer.selection import SelectionConfig
        >>> SelectionConfig(max_nodes=3).test.name
        'g'
    """

    test: IndependenceTest = field(default=GTest())
    no_child: bool | None = None
    max_nodes: int | None = 5
    only_significant: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "test", as_test(self.test))
        check_optional_flag(self.no_child, "no_child")
        check_flag(self.only_significant, "only_significant")
        if self.max_nodes is not None:
            most = check_whole_number(self.max_nodes, "max_nodes", at_least=1)
            object.__setattr__(self, "max_nodes", most)
