"""How variables are selected: the options of step 2."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..arrays import check_flag, check_whole_number
from .independence import GTest, IndependenceTest, as_test

__all__ = ["SelectionConfig"]


@dataclass(frozen=True, kw_only=True)
class SelectionConfig:
    """How variables are selected.

    Attributes:
        test: of dependence; a name is looked up when the configuration is made.
        no_child: U(t) of Theorem 2, the variables dependent on the target, which becomes a leaf of
            the network; if False, U(t) of Theorem 1, the variables dependent on any of those.
        max_nodes: the most nodes of the network, not counting the target; None for no limit.
        only_significant: if False, nodes that are not significant fill up the remaining room.

    Raises:
        InputError: a value that cannot be used.
    """

    test: IndependenceTest = field(default=GTest())
    no_child: bool = True
    max_nodes: int | None = 5
    only_significant: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "test", as_test(self.test))
        check_flag(self.no_child, "no_child")
        check_flag(self.only_significant, "only_significant")
        if self.max_nodes is not None:
            most = check_whole_number(self.max_nodes, "max_nodes", at_least=1)
            object.__setattr__(self, "max_nodes", most)
