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
    """Base class of all errors of this package."""

    def __str__(self) -> str:
        """Return the message; if it quotes something very long, only its start and end."""
        text, half = super().__str__(), _LONGEST // 2
        return text if len(text) <= _LONGEST else f"{text[: half - 1]}…{text[-half:]}"


class FileError(PGMExplainerError, ValueError):
    """A file cannot be read or written."""


class InputError(PGMExplainerError, ValueError):
    """An argument has the wrong shape, type, range or name."""


class JobError(PGMExplainerError, RuntimeError):
    """A job over many targets cannot start or continue; its finished results are kept."""


class ModelError(PGMExplainerError, RuntimeError):
    """The explained model failed or returned an invalid output."""


class ModelUnavailableError(ModelError):
    """A remote model cannot be reached or does not respond in time."""


class PerturbationError(PGMExplainerError, RuntimeError):
    """The perturbation failed or changes no features."""


class QueryError(PGMExplainerError, ValueError):
    """A query that the network cannot answer, such as evidence with probability zero."""


class PGMExplainerWarning(UserWarning):
    """An explanation may be unreliable."""
