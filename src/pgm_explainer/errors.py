"""The errors and warnings that this package raises."""

from __future__ import annotations

__all__ = [
    "FileError",
    "InputError",
    "JobError",
    "ModelError",
    "ModelUnavailableError",
    "PGMExplainerError",
    "PGMExplainerWarning",
    "PerturbationError",
    "QueryError",
]


_LONGEST = 2000


class PGMExplainerError(Exception):
    """Base class of all errors of this package.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer import PGMExplainer
        >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
        >>> x = np.array([[2.0, 0], [0, 1], [0, 1]])
        >>> edges = np.array(path.nonzero())
        >>> explainer = PGMExplainer(lambda x: path @ x, x, edges, num_layers=1)
        >>> from pgm_explainer import PGMExplainerError
        >>> try:
        ...     explainer.explain(99)
        ... except PGMExplainerError as error:
        ...     print(error)
        target 99 is out of range: the graph has nodes 0 to 2
    """

    def __str__(self) -> str:
        """Return the message; if it quotes something very long, only its start and end."""
        text, half = super().__str__(), _LONGEST // 2
        return text if len(text) <= _LONGEST else f"{text[: half - 1]}…{text[-half:]}"


class FileError(PGMExplainerError, ValueError):
    """A file cannot be read or written.

    Examples:
        >>> from pgm_explainer import Explanation, FileError
        >>> try:
        ...     Explanation.load("missing.json")
        ... except FileError as error:
        ...     print(error)
        missing.json cannot be read: No such file or directory
    """


class InputError(PGMExplainerError, ValueError):
    """An argument has the wrong shape, type, range or name.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer import InputError, PGMExplainer
        >>> try:
        ...     PGMExplainer(lambda x: x, np.ones((3, 2)), np.array([[0], [1]]), task="nodes")
        ... except InputError as error:
        ...     print(error)
        unknown task 'nodes'; choose one of: node, edge, graph
    """


class JobError(PGMExplainerError, RuntimeError):
    """A job over many targets cannot start or continue; its finished results are kept.

    Examples:
        >>> from pgm_explainer import JobError
        >>> issubclass(JobError, RuntimeError)
        True
    """


class ModelError(PGMExplainerError, RuntimeError):
    """The explained model failed or returned an invalid output.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer import ModelError, PGMExplainer
        >>> edges = np.array([[0, 1], [1, 2]])
        >>> try:
        ...     PGMExplainer(lambda x: x * np.nan, np.eye(3), edges, num_layers=1).explain(1)
        ... except ModelError as error:
        ...     print(error)
        the model returned nan; its scores must be finite numbers
    """


class ModelUnavailableError(ModelError):
    """A remote model cannot be reached or does not respond in time.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer import HttpPredictor, ModelUnavailableError, PGMExplainer
        >>> remote = HttpPredictor("http://127.0.0.1:9/", retries=0)  # nothing listens there
        >>> try:
        ...     PGMExplainer(remote, np.eye(3), np.array([[0, 1], [1, 2]]), num_layers=1).explain(1)
        ... except ModelUnavailableError as error:
        ...     print(str(error).split(" after")[0])
        the model at http://127.0.0.1:9/ is unavailable
    """


class PerturbationError(PGMExplainerError, RuntimeError):
    """The perturbation failed or changes no features.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer import PerturbationError, PGMExplainer
        >>> edges = np.array([[0, 1], [1, 2]])
        >>> try:
        ...     PGMExplainer(
        ...         lambda x: x, np.ones((3, 2)), edges, num_layers=1, perturbation="mean"
        ...     ).explain(1)
        ... except PerturbationError as error:
        ...     print(str(error).split(",")[0])
        the perturbation 'mean' changes no feature of any node
    """


class QueryError(PGMExplainerError, ValueError):
    """A query that the network cannot answer, such as evidence with probability zero.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer import PGMExplainer
        >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
        >>> x = np.array([[2.0, 0], [0, 1], [0, 1]])
        >>> edges = np.array(path.nonzero())
        >>> explainer = PGMExplainer(lambda x: path @ x, x, edges, num_layers=1)
        >>> explanation = explainer.explain(1)
        >>> from pgm_explainer import QueryError
        >>> try:
        ...     explanation.query({7: "original"})
        ... except QueryError as error:
        ...     print(error)
        7 is not in the network; its nodes are 0, 2, 1
    """


class PGMExplainerWarning(UserWarning):
    """An explanation may be unreliable.

    Examples:
        >>> import warnings
        >>> from pgm_explainer import PGMExplainerWarning
        >>> warnings.filterwarnings("ignore", category=PGMExplainerWarning)
    """
