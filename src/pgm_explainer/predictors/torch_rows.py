"""Features as a tensor whose products with weights are computed once for equal rows.

In the samples of an explanation, most nodes keep their features. If these are wide, such as bags of
words, a model spends most of its time on multiplying them by the weights of its first layer.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_map

__all__ = ["RowTensor"]

_PRODUCTS = {torch.ops.aten.mm.default: 0, torch.ops.aten.addmm.default: 1}
"""Products of matrices, and the position of the first matrix among their arguments."""
_VIEWS = (torch.ops.aten.detach.default, torch.ops.aten.alias.default)


class RowTensor(Tensor):
    """A matrix whose rows are rows of a smaller table.

    Multiplying it by another matrix multiplies the table. Any other operation first creates the
    whole matrix.

    Attributes:
        table: the distinct rows.
        rows: the row of the table for each row of the matrix.
        was_created: whether an operation needed the whole matrix.

    Examples:
        >>> rows = RowTensor(torch.eye(2), torch.tensor([1, 1, 0]))
        >>> (rows @ torch.tensor([[1.0], [2.0]])).tolist(), rows.was_created
        ([[2.0], [2.0], [1.0]], False)
        >>> rows.sum().item(), rows.was_created
        (3.0, True)
    """

    table: Tensor
    rows: Tensor
    was_created: bool

    @staticmethod
    def __new__(cls, table: Tensor, rows: Tensor) -> RowTensor:
        shape = (len(rows), table.shape[1])
        made = Tensor._make_wrapper_subclass(cls, shape, dtype=table.dtype, device=table.device)
        made.table, made.rows, made.was_created = table, rows, False
        return made

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if func in _VIEWS:
            return args[0]
        at = _PRODUCTS.get(func)
        others = [each for place, each in enumerate(args) if place != at]
        plain = not any(isinstance(each, cls) for each in others)
        # Not if a matrix is added to the product: it has a row for each row of the whole matrix.
        if at is not None and plain and all(each.dim() < 2 for each in args[:at]):
            x = args[at]
            return func(*args[:at], x.table, *args[at + 1 :], **(kwargs or {}))[x.rows]
        if func._schema.is_mutable:
            raise NotImplementedError(f"{func} would change the features in place")
        return func(*tree_map(cls._whole, args), **tree_map(cls._whole, kwargs or {}))

    @classmethod
    def _whole(cls, value: Any) -> Any:
        if not isinstance(value, cls):
            return value
        value.was_created = True
        return value.table[value.rows]
