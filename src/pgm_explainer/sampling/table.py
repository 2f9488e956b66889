"""The data D_t of the paper: the state of every variable in every sample."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..arrays import IntArray
from ..scratch import Scratch, ScratchMatrix
from ..variables import Variable, VariableId

__all__ = ["SampleTable"]

Codes = NDArray[np.uint8]

_ALL = slice(None)


class SampleTable:
    """Samples of discrete variables, packed into bit planes.

    A cell takes two bits if variables have four states, and one bit if they are binary. Columns are
    written and read as small integers.

    Args:
        variables: the variables of the columns.
        num_samples: the number of rows.
        scratch: allocates the table; None to keep it in memory.

    Examples:
        >>> table = SampleTable([Variable(0, True, 2), Variable(1, True, 2)], num_samples=3)
        >>> table.write(0, np.array([[0, 3], [1, 2], [2, 1]], dtype=np.uint8))
        >>> table.codes([1]).ravel().tolist()
        [3, 2, 1]
    """

    def __init__(
        self, variables: Sequence[Variable], num_samples: int, scratch: Scratch | None = None
    ) -> None:
        self.variables = tuple(variables)
        self.num_samples = num_samples
        self.cardinalities: IntArray = np.array([v.cardinality for v in variables], dtype=np.int64)
        self.levels: IntArray = np.array([v.levels for v in variables], dtype=np.int64)
        states = int(self.cardinalities.max(initial=2))
        self._bits = (states - 1).bit_length()
        # A row for each bit of each variable: first the lowest bits of all variables.
        shape = (self._bits * len(variables), -(-num_samples // 8))
        self._planes = (
            ScratchMatrix(*shape, np.uint8) if scratch is None else scratch.zeros(*shape, np.uint8)
        )
        self._columns = {variable.id: at for at, variable in enumerate(self.variables)}

    @property
    def nbytes(self) -> int:
        """The size of the samples in bytes, in memory or in a file."""
        rows, width = self._planes.shape
        return rows * width

    @property
    def in_file(self) -> bool:
        """Whether the samples are in a temporary file."""
        return self._planes.in_file

    def column(self, variable: VariableId) -> int:
        """Return the column of a variable."""
        return self._columns[variable]

    def columns(self, nodes: IntArray) -> IntArray:
        """Return the columns of the variables of some nodes."""
        found = map(self._columns.__getitem__, nodes.tolist())
        return np.fromiter(found, np.int64, len(nodes))

    def write(self, first: int, codes: Codes) -> None:
        """Write the states ``[num_samples, columns]`` of the columns from ``first`` on."""
        for bit in range(self._bits):
            plane = (codes >> np.uint8(bit)) & np.uint8(1)
            self._planes.write(bit * len(self.variables) + first, np.packbits(plane, axis=0).T)

    def codes(self, columns: Sequence[int] | IntArray, samples: slice = _ALL) -> Codes:
        """Return the states ``[samples, columns]``, of all samples or a range of them.

        A range must begin at a multiple of 8.
        """
        chosen = np.asarray(columns, dtype=np.int64)
        first, stop, _ = samples.indices(self.num_samples)
        rows = len(self.variables) * np.arange(self._bits)[:, None] + chosen
        octets = slice(first // 8, -(-stop // 8))
        planes = self._planes.take(rows.ravel(), octets)
        planes = planes.reshape(*rows.shape, octets.stop - octets.start)
        bits = np.unpackbits(planes, axis=2, count=stop - first)
        return self._join(bits).T

    @staticmethod
    def _join(bits: Codes) -> Codes:
        codes = bits[0].copy()
        for bit in range(1, len(bits)):
            codes |= bits[bit] << np.uint8(bit)
        return codes
