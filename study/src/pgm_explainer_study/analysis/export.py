"""Raw answers as CSV and Parquet, with a codebook."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

from pgm_explainer import InputError

from ..files import make_folder, write_bytes, write_text
from ..simulate import LABEL
from ..store import Store
from ..study_file import Study
from .tables import COLUMNS, answers_table

__all__ = ["export"]


def export(study: Study, store: Store, folder: Path, pilot: bool = False) -> None:
    """Write ``answers.csv``, ``answers.parquet`` and ``codebook.md`` into a folder.

    They include all raters, even those that a report excludes, but neither personal links nor
    identifiers of recruiting services.
    """
    table = answers_table(study, store, pilot)
    if table.empty:
        raise InputError(f"{store.path} has no answers{' of a pilot' if pilot else ''} yet")
    make_folder(folder)
    write_text(folder / "answers.csv", table.to_csv(index=False))
    data = BytesIO()
    table.to_parquet(data, index=False)
    write_bytes(folder / "answers.parquet", data.getvalue())
    simulated = (table.source == "simulated").any()
    warning = f"\n> **{LABEL.upper()}**\n" if simulated else ""
    rows = "\n".join(f"| `{name}` | {meaning} |" for name, meaning in COLUMNS.items())
    arms = "\n".join(f"| `{arm.id}` | {arm.kind} |" for arm in study.arms)
    write_text(
        folder / "codebook.md",
        f"# Codebook\n{warning}\nAnswers to the study with the code {study.code}: "
        f"{table.rater.nunique()} raters, {len(table)} answers. A row is a question that a rater "
        f"answered.\n\n| column | meaning |\n|---|---|\n{rows}\n\nRatings are whole numbers from "
        f"{study.scale.least} to {study.scale.most}. The arms are:\n\n| arm | kind |\n|---|---|\n"
        f"{arms}\n",
    )
