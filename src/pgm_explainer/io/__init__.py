"""Explanations and their networks in files, and as objects of other packages."""

from .json_file import load_explanations, save_explanations
from .schema import explanation_to_dict
from .schema_reader import explanation_from_dict

__all__ = [
    "explanation_from_dict",
    "explanation_to_dict",
    "load_explanations",
    "save_explanations",
]
