"""Explanations in JSON files and as dictionaries: the public functions."""

from .explanation.formats.json_file import load_explanations, save_explanations
from .explanation.formats.schema import explanation_to_dict
from .explanation.formats.schema_reader import explanation_from_dict

__all__ = [
    "explanation_from_dict",
    "explanation_to_dict",
    "load_explanations",
    "save_explanations",
]
