"""Counter-based random numbers.

The numbers of an ordinary generator depend on the order of calls, and so on how work is split into
batches. Here each number is a function of the seed, the purpose, the node and the sample only. It
is the same for any batch size, any group of targets and any machine. Every node has its own
SplitMix64 sequence, and the sample is the position in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import IntArray

__all__ = ["Draws"]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_WORD_BITS = 64


def _mix(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64's output function (Steele, Lea and Flood, 2014), in place."""
    state ^= state >> np.uint64(30)
    state *= np.uint64(0xBF58476D1CE4E5B9)
    state ^= state >> np.uint64(27)
    state *= np.uint64(0x94D049BB133111EB)
    state ^= state >> np.uint64(31)
    return state


def hashed(values: NDArray[Any], places: IntArray) -> NDArray[np.uint64]:
    """Return a 64-bit hash of each whole number and its place."""
    return _mix(values.astype(np.uint64) + (places.astype(np.uint64) + np.uint64(1)) * _GOLDEN)


@dataclass(frozen=True)
class Draws:
    """The random numbers of nodes in samples.

    Attributes:
        samples, nodes: the samples and nodes; two arrays that can be broadcast to one shape.

    Examples:
        >>> everything = Draws.grid(seed=0, samples=np.arange(4), nodes=np.arange(3))
        >>> chosen = np.zeros((4, 3), dtype=bool); chosen[2, 1] = True
        >>> everything.where(chosen).uniforms("noise") == everything.uniforms("noise")[2, 1]
        array([[ True]])
    """

    seed: int
    samples: IntArray
    nodes: IntArray

    @classmethod
    def grid(cls, seed: int, samples: IntArray, nodes: IntArray) -> Draws:
        """Return the draws of every node (columns) in every sample (rows)."""
        return cls(seed, samples[:, None], nodes)

    def where(self, chosen: NDArray[np.bool_]) -> Draws:
        """Return the draws selected by a mask, as one dimension."""
        samples, nodes = np.broadcast_arrays(self.samples, self.nodes)
        return Draws(self.seed, samples[chosen], nodes[chosen])

    def at(self, some: slice) -> Draws:
        """Return a slice of one-dimensional draws."""
        return Draws(self.seed, self.samples[some], self.nodes[some])

    @property
    def shape(self) -> tuple[int, ...]:
        return np.broadcast_shapes(self.samples.shape, self.nodes.shape)

    def coins(self, purpose: str, probability: float) -> NDArray[np.bool_]:
        """Return booleans ``[*shape]`` that are True with the given probability."""
        return self.uniforms(purpose)[..., 0] < probability

    def uniforms(self, purpose: str, width: int = 1) -> NDArray[np.float64]:
        """Return ``[*shape, width]`` numbers in [0, 1), with 53 random bits each."""
        return (self._words(purpose, width) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def bits(self, purpose: str, width: int) -> NDArray[np.uint8]:
        """Return random bits ``[*shape, width]``."""
        words = self._words(purpose, -(-width // _WORD_BITS))
        # Little-endian on every machine, so that the bits come out in the same order.
        octets = words.astype("<u8", copy=False).view(np.uint8)
        return np.unpackbits(octets, axis=-1, count=width, bitorder="little")

    def generators(self, purpose: str) -> dict[int, np.random.Generator]:
        """Return a NumPy generator for each sample, for custom functions."""
        return {
            sample: np.random.default_rng(self._seed_sequence(purpose, sample))
            for sample in np.unique(self.samples).tolist()
        }

    def _words(self, purpose: str, width: int) -> NDArray[np.uint64]:
        key = self._seed_sequence(purpose).generate_state(1, np.uint64)
        starts: NDArray[np.uint64] = (self.nodes.astype(np.uint64) + np.uint64(1)) * _GOLDEN
        starts += key
        streams = _mix(starts)
        first = self.samples.astype(np.uint64)[..., None] * np.uint64(width)
        positions = first + np.arange(1, width + 1, dtype=np.uint64)
        return _mix(np.add(streams[..., None], positions * _GOLDEN))

    def _seed_sequence(self, purpose: str, *more: int) -> np.random.SeedSequence:
        return np.random.SeedSequence(self.seed, spawn_key=(*purpose.encode(), *more))
