"""Explanations by the million: made in a job that survives, stored as Parquet, read back."""

from .job import explain_dataset
from .overview import Influence, Overview, Shared
from .reading import ExplanationDataset

__all__ = ["ExplanationDataset", "Influence", "Overview", "Shared", "explain_dataset"]
