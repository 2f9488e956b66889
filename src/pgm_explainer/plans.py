"""From options to what each step is told: only what it needs, names turned into what they mean."""

from __future__ import annotations

from functools import partial

from .arrays import call_own, resolve
from .effects import STAGES, EffectPlan
from .learning import LearningPlan
from .memory import check_memory
from .sampling import Population, SamplingPlan, as_change, as_perturbation, check_columns
from .selection import ChoicePlan, SelectionPlan, as_test
from .settings import AUTO, Settings
from .structure import SEARCHES, as_score

__all__ = ["choice_plan", "effect_plan", "learning_plan", "sampling_plan", "selection_plan"]

_BYTES_PER_CELL = 64


def sampling_plan(settings: Settings, population: Population) -> SamplingPlan:
    """Return how to draw samples (step 1)."""
    columns = check_columns(settings.features, population.x.shape[1])
    return SamplingPlan(
        num_samples=STAGES[0] if settings.num_samples == AUTO else int(settings.num_samples),
        probability=float(settings.perturb_probability),
        perturbation=as_perturbation(settings.perturbation, population, columns, settings.task),
        columns=columns,
        change=as_change(settings.change, settings.scores),
        seed=int(settings.seed),
        max_memory=check_memory(settings.max_memory),
        samples_per_call=settings.samples_per_call,
    )


def selection_plan(settings: Settings) -> SelectionPlan:
    """Return how to select variables (step 2)."""
    return SelectionPlan(
        test=as_test(settings.test),
        significance=float(settings.significance),
        correction=settings.correction,
        no_child=settings.no_child,
        cells=min(max(check_memory(settings.max_memory) // _BYTES_PER_CELL, 1 << 20), 1 << 22),
    )


def effect_plan(settings: Settings) -> EffectPlan:
    """Return how to estimate effects."""
    return EffectPlan(
        probability=float(settings.perturb_probability),
        significance=float(settings.significance),
        correction=settings.correction,
    )


def choice_plan(settings: Settings) -> ChoicePlan:
    """Return how to choose the nodes of a network."""
    most = settings.max_nodes
    return ChoicePlan(None if most is None else int(most), settings.only_significant)


def learning_plan(settings: Settings) -> LearningPlan | None:
    """Return how to learn networks (step 3); None if none are wanted."""
    search = settings.structure
    if search is None:
        return None
    named = resolve(search, "structure", SEARCHES)
    if named is not None:
        search = partial(named, score=settings.score, max_parents=settings.max_parents)
    else:
        assert callable(search)  # settings have checked it
        usage = "(data [n, variables], cardinalities) -> DAG"
        search = partial(call_own, search, what="the structure search", usage=usage)
    return LearningPlan(
        search=search,
        score=as_score(settings.score),
        no_child=settings.no_child,
        test=as_test(settings.test),
        significance=float(settings.significance),
        smoothing=float(settings.smoothing),
        target_table=settings.target_table,
    )
