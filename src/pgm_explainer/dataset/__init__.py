"""Data sets of explanations: made by a job that can be resumed, stored as Parquet files."""

from .job import explain_dataset
from .overview import ClassCauses, Influence, Overview, Shared
from .reading import ExplanationDataset

__all__ = [
    "ClassCauses",
    "ExplanationDataset",
    "Influence",
    "Overview",
    "Shared",
    "explain_dataset",
]
