"""Explanations in JSON files: complete and exact, and without executable content."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable

from ...arrays import as_list
from ...errors import FileError, InputError
from ...limits import brief
from ...storage.checked import parse_json
from ...storage.files import PathLike, as_path, as_text, read_file, write_text
from ..explanation import Explanation
from .schema import explanation_to_dict
from .schema_reader import explanation_from_dict

__all__ = [
    "load_explanation",
    "load_explanations",
    "parse_explanations",
    "save_explanation",
    "save_explanations",
]

_REPORT, _PLOT = "explanation.report(path)", "explanation.plot().savefig(path)"
_CALLS = {
    ".htm": "explanation.to_html(path)",
    ".html": "explanation.to_html(path)",
    ".md": _REPORT,
    ".pdf": _REPORT,
    ".docx": _REPORT,
    ".png": _PLOT,
    ".jpg": _PLOT,
    ".svg": _PLOT,
    ".csv": "explanation.to_pandas().to_csv(path)",
    ".xlsx": "explanation.to_pandas().to_excel(path)",
}
"""The call for each file extension that is not JSON."""


def save_explanation(path: PathLike, explanation: Explanation) -> None:
    """Write one explanation to a file, atomically."""
    _check_extension(path)
    write_text(path, f"{_as_json(explanation)}\n")


def save_explanations(path: PathLike, explanations: Iterable[Explanation]) -> None:
    """Write explanations to one file, one per line, atomically.

    Raises:
        FileError: the file cannot be written.
        InputError: something in an explanation cannot be saved, or the file extension is that of
            another format.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer import PGMExplainer
        >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
        >>> x = np.array([[2.0, 0], [0, 1], [0, 1]])
        >>> edges = np.array(path.nonzero())
        >>> explainer = PGMExplainer(lambda x: path @ x, x, edges, num_layers=1)
        >>> import tempfile
        >>> from pgm_explainer import load_explanations, save_explanations
        >>> file = f"{tempfile.mkdtemp()}/all.json"
        >>> save_explanations(file, explainer.explain_many([0, 1]))
        >>> [explanation.target for explanation in load_explanations(file)]
        [0, 1]
    """
    _check_extension(path)
    each = as_list(explanations)
    if each is None:
        raise InputError(f"explanations must be a list of explanations, not {brief(explanations)}")
    lines = ",\n".join(map(_as_json, each))
    write_text(path, f"[\n{lines}\n]\n")


def load_explanation(path: PathLike) -> Explanation:
    """Read a file with one explanation.

    Raises:
        FileError: it does not contain exactly one, or cannot be read; see
            :func:`load_explanations`.
    """
    explanations = load_explanations(path)
    if len(explanations) != 1:
        raise FileError(
            f"{os.fspath(path)} contains {len(explanations)} explanations, not one: read it with "
            f"pgm_explainer.io.load_explanations"
        )
    return explanations[0]


def load_explanations(path: PathLike) -> list[Explanation]:
    """Read all explanations of a file, whether it contains one or a list.

    Raises:
        FileError: the file does not exist, is not JSON, is truncated, has another format or a
            newer version, or is inconsistent; the message names the location.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer import PGMExplainer
        >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
        >>> x = np.array([[2.0, 0], [0, 1], [0, 1]])
        >>> edges = np.array(path.nonzero())
        >>> explainer = PGMExplainer(lambda x: path @ x, x, edges, num_layers=1)
        >>> explanation = explainer.explain(1)
        >>> import tempfile
        >>> from pgm_explainer import load_explanations
        >>> file = f"{tempfile.mkdtemp()}/why.json"
        >>> explanation.save(file)
        >>> load_explanations(file) == [explanation]
        True
    """
    return read_file(path, parse_explanations)


def parse_explanations(document: bytes) -> list[Explanation]:
    """Return the explanations of a JSON document, which holds one or a list of them."""
    content = parse_json(as_text(document), "save the explanation again")
    if not isinstance(content, list):
        return [explanation_from_dict(content, "$")]
    return [explanation_from_dict(each, f"$[{at}]") for at, each in enumerate(content)]


def _check_extension(path: PathLike) -> None:
    """Raise an error if the file extension is that of a page, report, plot or table."""
    extension = as_path(path).suffix.lower()
    if extension in _CALLS:
        raise InputError(
            f"explanations are saved as JSON, not as {extension}: use a path that ends in .json, "
            f"or call {_CALLS[extension]}"
        )


def _as_json(explanation: Explanation) -> str:
    if not isinstance(explanation, Explanation):
        raise InputError(f"only explanations can be saved, not {brief(explanation)}")
    return json.dumps(explanation_to_dict(explanation), allow_nan=False)
