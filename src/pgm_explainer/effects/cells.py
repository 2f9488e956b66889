"""The candidates of several predictions as one array, for vectorised computations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .regression import Fit

__all__ = ["Cells", "StackedFits"]

Integers = NDArray[np.int64]


class StackedFits:
    """Several fits as arrays.

    Attributes:
        residual: the residual of each fit, ``[fits, n]``.
        mean: the mean of each residual.
        row, column, coefficient: for every fitted column of all fits, the index of its fit, the
            column and its coefficient.
    """

    def __init__(self, fits: Sequence[Fit]) -> None:
        self.residual = np.stack([fit.residual for fit in fits])
        self.mean = self.residual.mean(axis=1)
        self.row: Integers = np.repeat(np.arange(len(fits)), [len(fit.active) for fit in fits])
        self.column: Integers = np.concatenate([fit.active for fit in fits])
        self.coefficient = np.concatenate([fit.coefficients for fit in fits])


class Cells:
    """One entry, called a cell, for each pair of a prediction and one of its candidates.

    Attributes:
        columns: the candidates of each prediction, ascending, as columns of the perturbed samples.
        row: the index of the prediction of each cell.
        column: the candidate of each cell.
        slices: the cells of each prediction.
    """

    def __init__(self, columns: Sequence[Integers], num_columns: int) -> None:
        self.columns = columns
        sizes = np.array([len(each) for each in columns])
        self.row: Integers = np.repeat(np.arange(len(columns)), sizes)
        self.column: Integers = np.concatenate(columns)
        ends = np.cumsum(sizes)
        self.slices = [
            slice(start, end)
            for start, end in zip((ends - sizes).tolist(), ends.tolist(), strict=True)
        ]
        self._width = num_columns

    def of_fits(self, fits: StackedFits, first: int) -> tuple[Integers, Integers]:
        """Return the cells of the fitted columns, and the index of each column in ``fits``.

        Args:
            fits: several fits; those from ``first`` on belong to the predictions, in order.
        """
        row = fits.row - first
        active = np.flatnonzero((row >= 0) & (row < len(self.columns)))
        wanted = row[active] * self._width + fits.column[active]
        return np.searchsorted(self.row * self._width + self.column, wanted), active
