"""The most recent samples, so that explaining the same targets again needs no new ones."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from ..querying import Query
from .samples import Samples

__all__ = ["SampleCache"]


class SampleCache:
    """Keeps the samples that were drawn last, of one explainer.

    The model may have changed since then, for example because it was trained further. So its scores
    on the unperturbed features, and on a few perturbed ones, must still be the same.
    """

    def __init__(self) -> None:
        self._last: tuple[Hashable, Query, Samples] | None = None

    def find(self, key: Hashable, query: Query) -> Samples | None:
        """Return the samples kept for a key if they are still valid; otherwise drop them.

        Args:
            key: what the samples depend on, apart from the model.
            query: the model, called anew on the unperturbed features.
        """
        if self._last is not None:
            its_key, its_query, samples = self._last
            if its_key == key and _same_scores(its_query, query):
                return samples
        self._last = None  # frees the memory before new samples are drawn
        return None

    def keep(self, key: Hashable, query: Query, samples: Samples) -> Samples:
        """Keep samples instead of earlier ones, and return them."""
        self._last = (key, query, samples)
        return samples

    def __getstate__(self) -> dict[str, Any]:
        """Samples may be in temporary files, so a pickled cache is empty."""
        return {"_last": None}


def _same_scores(one: Query, other: Query) -> bool:
    return np.array_equal(one.model.scores, other.model.scores) and np.array_equal(
        one.model.probed, other.model.probed
    )
