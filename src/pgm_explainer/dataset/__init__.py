"""Data sets of explanations: made by a job that can be resumed, stored as Parquet files."""

from .job import explain_dataset
from .overview import Influence, Overview, Shared
from .reading import ExplanationDataset

__all__ = ["ExplanationDataset", "Influence", "Overview", "Shared", "explain_dataset"]
