"""Random numbers that are a function of *what they are for*.

An ordinary generator hands numbers out in the order they are asked for, so the way the work is
split would change the answer. Here each number depends on the seed, its purpose, the node and the
sample, and on nothing else: any batch size, any group of targets and any machine sees the same
ones. Every node has a SplitMix64 sequence of its own, and the sample is the position in it.
"""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True)
class Draws:
    """The random numbers of some samples (rows) at some nodes (columns).

    Examples:
        >>> everything = Draws(seed=0, samples=np.arange(4), nodes=np.arange(3))
        >>> a_part = Draws(seed=0, samples=np.arange(2, 4), nodes=np.array([1]))
        >>> bool((everything.uniforms("noise")[2:, 1:2] == a_part.uniforms("noise")).all())
        True
    """

    seed: int
    samples: IntArray
    nodes: IntArray

    def coins(self, purpose: str, probability: float) -> NDArray[np.bool_]:
        """Return ``[samples, nodes]`` coin flips that are True with the given probability."""
        return self.uniforms(purpose)[..., 0] < probability

    def uniforms(self, purpose: str, width: int = 1) -> NDArray[np.float64]:
        """Return ``[samples, nodes, width]`` numbers in [0, 1), with 53 random bits each."""
        return (self._words(purpose, width) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def bits(self, purpose: str, width: int) -> NDArray[np.uint8]:
        """Return ``[samples, nodes, width]`` fair zeros and ones."""
        words = self._words(purpose, -(-width // _WORD_BITS))
        # Little-endian on every machine, so that the bits come out in the same order.
        octets = words.astype("<u8", copy=False).view(np.uint8)
        return np.unpackbits(octets, axis=-1, count=width, bitorder="little")

    def generators(self, purpose: str) -> list[np.random.Generator]:
        """Return one ordinary generator per sample, for code that brings its own randomness."""
        return [
            np.random.default_rng(self._seed_sequence(purpose, int(sample)))
            for sample in self.samples
        ]

    def _words(self, purpose: str, width: int) -> NDArray[np.uint64]:
        key = self._seed_sequence(purpose).generate_state(1, np.uint64)
        starts: NDArray[np.uint64] = (self.nodes.astype(np.uint64) + np.uint64(1)) * _GOLDEN
        starts += key
        streams = _mix(starts)
        first = self.samples.astype(np.uint64)[:, None, None] * np.uint64(width)
        positions = first + np.arange(1, width + 1, dtype=np.uint64)
        return _mix(np.add(streams[None, :, None], positions * _GOLDEN))

    def _seed_sequence(self, purpose: str, *more: int) -> np.random.SeedSequence:
        return np.random.SeedSequence(self.seed, spawn_key=(*purpose.encode(), *more))
