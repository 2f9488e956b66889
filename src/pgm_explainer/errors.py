"""Every error and warning this package raises on purpose."""

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


class PGMExplainerError(Exception):
    """Parent of all errors below: catch this one to catch them all."""


class FileError(PGMExplainerError, ValueError):
    """A file that cannot be read, or written; says which, where in it, and why."""


class InputError(PGMExplainerError, ValueError):
    """An argument has the wrong shape, type, range or name."""


class JobError(PGMExplainerError, RuntimeError):
    """A job over many targets that cannot start, or cannot go on; what it has finished is safe."""


class ModelError(PGMExplainerError, RuntimeError):
    """The explained model answered with something that cannot be used."""


class ModelUnavailableError(ModelError):
    """The explained model, somewhere else, cannot be reached or does not answer in time."""


class PerturbationError(PGMExplainerError, RuntimeError):
    """The perturbation changes nothing, so nothing could be learnt from it."""


class QueryError(PGMExplainerError, ValueError):
    """A question the network cannot answer, such as evidence of probability zero."""


class PGMExplainerWarning(UserWarning):
    """Something weakens an answer without making it wrong."""
