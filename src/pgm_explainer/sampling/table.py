"""The data D_t: what every variable was in every sample, at two bits a cell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..arrays import IntArray
from .variables import Variable, VariableId

__all__ = ["SampleTable"]

Codes = NDArray[np.uint8]


class SampleTable:
    """Samples of discrete variables, packed into bit planes.

    A table of four-state variables takes two bits a cell, one of binary variables a single bit.
    Rows are written in blocks and columns are read back as small integers.

    Examples:
        >>> table = SampleTable([Variable(0, True, 2), Variable(1, True, 2)], num_samples=3)
        >>> table.write(0, np.array([[0, 3], [1, 2], [2, 1]], dtype=np.uint8))
        >>> table.codes([1]).ravel().tolist()
        [3, 2, 1]
    """

    def __init__(self, variables: Sequence[Variable], num_samples: int) -> None:
        self.variables = tuple(variables)
        self.num_samples = num_samples
        self.cardinalities: IntArray = np.array([v.cardinality for v in variables], dtype=np.int64)
        self.levels: IntArray = np.array([v.levels for v in variables], dtype=np.int64)
        states = int(self.cardinalities.max(initial=2))
        self._bits = (states - 1).bit_length()
        self._planes = np.zeros((self._bits, len(variables), -(-num_samples // 8)), np.uint8)
        self._columns = {variable.id: at for at, variable in enumerate(self.variables)}

    @property
    def nbytes(self) -> int:
        """Memory the samples take."""
        return int(self._planes.nbytes)

    def column(self, variable: VariableId) -> int:
        """Return the column of a variable."""
        return self._columns[variable]

    def write(self, start: int, codes: Codes) -> None:
        """Store the states ``[rows, variables]`` of samples ``start`` onward, once for each."""
        first, into_byte = divmod(start, 8)
        if into_byte:
            codes = np.pad(codes, ((into_byte, 0), (0, 0)))
        last = first + -(-len(codes) // 8)
        for bit in range(self._bits):
            plane = (codes >> np.uint8(bit)) & np.uint8(1)
            # Joined, not assigned: the first byte may hold the end of the block before.
            self._planes[bit, :, first:last] |= np.packbits(plane, axis=0).T

    def codes(self, columns: Sequence[int] | IntArray) -> Codes:
        """Return the states ``[num_samples, columns]``."""
        planes = self._planes[:, np.asarray(columns, dtype=np.int64)]
        bits = np.unpackbits(planes, axis=2, count=self.num_samples)
        return self._join(bits).T

    @staticmethod
    def _join(bits: Codes) -> Codes:
        codes = bits[0].copy()
        for bit in range(1, len(bits)):
            codes |= bits[bit] << np.uint8(bit)
        return codes
