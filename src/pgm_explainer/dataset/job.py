"""A job: it explains many targets, and can be stopped and resumed at any time."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

from ..arrays import check_flag, check_optional_flag, check_whole_number
from ..engines import Engine, Lost, as_engine
from ..errors import InputError, JobError, PGMExplainerError
from ..explainer import PGMExplainer
from ..limits import SHARD_ROWS
from ..progress import Progress, duration, is_watched
from ..sampling import VariableId
from ..storage.files import PathLike
from .fingerprint import check_unchanged, fingerprint
from .folder import DatasetFolder
from .job_file import JobFile, NamesEntry
from .planning import plan_shards, read_names, read_targets
from .reading import ExplanationDataset
from .recipe import Recipe
from .rows import check_pyarrow, failed_row, joined, parquet_bytes, table_of
from .threads import one_thread
from .work import ExplainPieces, Piece, PieceDone

__all__ = ["explain_dataset"]

_logger = logging.getLogger(__name__)

_MAX_CRASHES = 3
"""If this many workers have crashed on the same targets, the targets are considered the cause."""


def explain_dataset(
    explainer: PGMExplainer | Callable[[], PGMExplainer] | str,
    targets: Iterable[Any] | None,
    folder: PathLike,
    *,
    engine: str | Engine = "local",
    shard_size: int = 500,
    keep_candidates: int = 20,
    with_features: bool = False,
    with_counterfactual: bool = False,
    names: Sequence[VariableId] | None = None,
    retry_failed: bool = False,
    progress: bool | None = None,
) -> ExplanationDataset:
    """Explain many targets into a folder of Parquet files, one row per explanation.

    The job may be stopped at any time; calling this function again with the same arguments resumes
    it. A target that fails is recorded with its error, and the job continues. On one machine, the
    final data set is the same to the last byte for any engine and number of workers. It also does
    not depend on how often the job was stopped or a worker crashed (up to twice on the same group
    of targets).

    Args:
        explainer: an explainer; or, if it cannot be sent to other processes, a function that
            creates one, or the location of such a function (``"module:function"``).
        targets: nodes, pairs, or positions of graphs, each explained once; None for all nodes or
            all graphs.
        folder: the folder of the data set, created if it does not exist.
        engine: ``local`` (this process), ``processes`` (one per core), ``ray``, or an engine such
            as ``pgm_explainer.RayEngine(workers=8, address="auto")``.
        shard_size: the number of explanations in each file, called a shard. After a stop, each
            worker repeats at most one shard. Targets of a shard share samples.
        keep_candidates: the number of candidates to store from each ranking; nodes of the network
            are always stored.
        with_features: whether to explain features too, as ``explanation.features``; this doubles
            the number of samples of each target.
        with_counterfactual: whether to search for a smallest change of each prediction too, as
            ``explanation.smallest_change``; each search calls the model on up to 20,000 graphs.
        names: names of the nodes; explanations that are read back have these names. None for the
            names of the explainer, if it has any.
        retry_failed: whether to repeat shards with failed targets, for example after a service
            was down.
        progress: whether to show a progress bar; None to show it in a terminal or notebook.

    Raises:
        JobError: the job cannot start or continue. Finished work is saved, and the message says
            what to do. For example, the model, graph, settings or names differ from those of the
            job in the folder, or another job is running in it.
        FileError: a file cannot be written, for example because the disk is full.
        InputError: an argument cannot be used.

    Examples:
        >>> import numpy as np, tempfile
        >>> ring = np.arange(6)
        >>> edges = np.stack((ring, np.roll(ring, 1)))
        >>> model = lambda x, edge_index: x[:, np.argsort(edge_index[1])] @ np.array([[3.0, -3.0]])
        >>> explainer = PGMExplainer(model, np.eye(6)[:, :1], edges, num_layers=1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     data = explain_dataset(explainer, [5, 2], folder)
        ...     data[5].nodes, len(data), data.complete
        ([0], 2, True)
    """
    check_pyarrow()
    size = check_whole_number(shard_size, "shard_size", at_least=1)
    keep = check_whole_number(keep_candidates, "keep_candidates", at_least=0)
    check_flag(with_features, "with_features")
    check_flag(with_counterfactual, "with_counterfactual")
    check_flag(retry_failed, "retry_failed")
    check_optional_flag(progress, "progress")
    chosen_engine, recipe = as_engine(engine), Recipe(explainer)
    made, chosen_targets = recipe.explainer, read_targets(recipe.named, targets)
    if with_features:
        made.check_features()
    if with_counterfactual and made.settings.model.is_regression:
        raise InputError(
            "with_counterfactual searches for another predicted class, but the model predicts "
            "values: omit it, or call explanation.counterfactual(change=...)"
        )
    if min(size, len(chosen_targets)) > SHARD_ROWS:
        raise InputError(f"shard_size must be at most {SHARD_ROWS:,}, not {size:,}")
    shards = plan_shards(made, chosen_targets, size)
    many = made.offsets is not None  # whose names are in the explanations
    if names is None and made.types is None and recipe.named.names and not many:
        names = recipe.named.names.of(range(made.graph.num_nodes))
    node_names = None if names is None else read_names(made, names)
    place = DatasetFolder.at(folder)
    place.read_job()  # checked before creating anything in the folder
    storing = {"shard_size": size, "keep_candidates": keep, "with_features": with_features}
    if with_counterfactual:  # absent otherwise, as in folders made before there was this option
        storing["with_counterfactual"] = True
    with one_thread():
        now = fingerprint(made, chosen_targets, storing)
    with place.locked():
        job = _open_job(
            place,
            JobFile(
                task=made.settings.model.task,
                targets=len(chosen_targets),
                target_type=_target_type(made),
                shard_size=size,
                max_memory=made.execution.memory,
                names=None if node_names is None else NamesEntry.of(node_names),
                fingerprint=now,
            ),
            node_names,
        )
        place.clear_leftovers()
        finished = place.finished(job)
        done = {at for at, entry in finished.items() if not (retry_failed and entry.failed)}
        pieces = [Piece(at, each) for at, each in enumerate(shards) if at not in done]
        _logger.info("%s: %d of %d shards to do", folder, len(pieces), len(shards))
        # Fixed, because free memory differs from run to run, and batches should not.
        bound = made.execution.memory if made.execution.max_memory else job.max_memory
        # If no progress bar is shown, the workers log their progress within a shard.
        quiet = False if progress is not None or is_watched(sys.stderr) else None
        work = ExplainPieces(recipe, keep, with_features, with_counterfactual, bound, quiet)
        _Job(place, chosen_engine, work, made.settings.model.task).run(pieces, progress)
    return ExplanationDataset(folder)


def _target_type(explainer: PGMExplainer) -> str | None:
    """Return the explained node type, if the graph has several."""
    chosen = None if explainer.types is None else explainer.types.default
    if isinstance(chosen, tuple):
        raise InputError(
            "a data set of pairs of nodes of a HeteroData graph is not supported; use explain_many"
        )
    return chosen


def _open_job(place: DatasetFolder, now: JobFile, names: Sequence[str | int] | None) -> JobFile:
    """Start a job in a new folder, or check that the job of an existing folder is the same.

    Returns:
        The content of ``job.json``.
    """
    before = place.read_job()
    if before is not None:
        check_unchanged(before.fingerprint, now.fingerprint, place.path)
        _check_names(before.names, now.names, place.path)
        if replace(now, max_memory=before.max_memory, fingerprint=before.fingerprint) != before:
            raise JobError(
                f"{place.path / 'job.json'} is damaged and inconsistent: restore it from a "
                f"copy, or choose another folder"
            )
    elif place.has_shards() or place.journal():
        raise JobError(
            f"{place.path} has shards of explanations but no job.json: restore job.json from a "
            f"copy, or choose another folder"
        )
    if before is None and names is not None:
        place.check_no_other_names(names)
    if names is not None:  # first, so that job.json never refers to missing names
        place.write_names(names)
    if before is None:
        place.write_job(now)
    return before or now


def _check_names(before: NamesEntry | None, now: NamesEntry | None, folder: Any) -> None:
    """Check that the names are those of the folder's explanations."""
    if before == now:
        return
    if before is None:
        was, then = "without names", "omit the names"
    elif now is None:
        was, then = f"with names for its {before.count} nodes", "give the same names again"
    else:
        was, then = "with other names", "give the names that it was made with"
    raise JobError(f"{folder} contains a data set made {was}: {then}, or choose another folder")


@dataclass
class _Job:
    """Sends pieces (some targets of a shard) to the engine until every shard is written."""

    place: DatasetFolder
    engine: Engine
    work: ExplainPieces
    task: str
    waiting: dict[int, list[PieceDone]] = field(default_factory=dict)

    def run(self, pieces: list[Piece], show: bool | None) -> None:
        """Run all pieces; those whose workers crashed are run again in another round."""
        total = sum(piece.size for piece in pieces)
        started, done = time.monotonic(), 0
        with Progress("explaining", total, show, unit="targets") as bar:
            while pieces:
                retried: list[Piece] = []
                # The iterator is always closed, so that an error here stops the workers, too.
                with closing(_closable(self.engine.map(self.work, pieces))) as answers:
                    for answer in answers:
                        each = self._result_of(answer, retried)
                        if each is None:
                            continue
                        self._collect(each)
                        bar.advance(len(each.places))
                        done += len(each.places)
                        rate = done / (time.monotonic() - started)
                        _logger.info(
                            "%d of %d targets (shard %d), %.3g a second, %s left",
                            *(done, total, each.piece.shard, rate),
                            duration((total - done) / rate),
                        )
                pieces = retried

    def _result_of(self, answer: PieceDone | Lost[Piece], retried: list[Piece]) -> PieceDone | None:
        """Return a finished piece, or None for a lost one, which is added to ``retried``.

        A lost piece is first retried as a whole, then by groups of targets, then in halves.
        """
        if isinstance(answer, PieceDone):
            return answer
        piece = replace(answer.task, crashes=answer.task.crashes + 1)
        _logger.warning(
            "a worker crashed (%s) on %d targets of shard %d",
            *(answer.reason, piece.size, piece.shard),
        )
        if piece.crashes < _MAX_CRASHES:
            retried.append(piece)
        elif piece.size > 1:
            retried.extend(piece.halves(self.work.recipe.explainer, _MAX_CRASHES))
        else:
            return self._failure_of(piece, answer.reason)
        return None

    def _failure_of(self, piece: Piece, reason: str) -> PieceDone:
        """Return the recorded failure of a target that crashes every worker."""
        error = f"JobError: {piece.crashes} workers crashed on this target, the last one {reason}"
        ((place,),) = piece.planned(self.work.recipe.explainer)
        target = piece.targets[place].tolist()
        data = parquet_bytes(table_of([failed_row(target, error)], self.task))
        return PieceDone(piece, [place], data, failed=1, seconds=0.0)

    def _collect(self, done: PieceDone) -> None:
        """Write a shard once all its pieces are done; usually it is a single piece."""
        number, shard_rows = done.piece.shard, len(done.piece.targets)
        parts = [*self.waiting.pop(number, []), done]
        if sum(len(each.places) for each in parts) < shard_rows:
            self.waiting[number] = parts
            return
        whole = [(each.data, each.places) for each in parts]
        data = done.data if len(parts) == 1 else joined(whole, self.task)
        failed = sum(each.failed for each in parts)
        seconds = sum(each.seconds for each in parts)
        try:
            self.place.write_shard(number, data, shard_rows, failed, seconds)
        except PGMExplainerError as error:
            raise JobError(
                f"{error}. Finished work is saved: fix the problem and run the job again"
            ) from error


def _closable(answers: Iterable[Any]) -> Generator[PieceDone | Lost[Piece], None, None]:
    """Wrap an engine's iterator in a generator, so that it can be closed."""
    yield from answers
