"""Everything that was reproduced as one page of Markdown, and as JSON."""

from __future__ import annotations

import datetime
import json
import platform
from collections.abc import Mapping
from importlib.metadata import version

from ..files import write_text
from .plan import Plan, Section

__all__ = ["write_page"]

_PACKAGES = ("pgm-explainer", "numpy", "scipy", "torch", "torch_geometric", "shap", "captum")
_FAITHFULNESS = "faithfulness"


_ABOUT_SETTINGS = (
    "*Defaults* are the package's: one configuration for all sets. *Published settings* are those "
    "behind the paper's figures."
)


def write_page(sections: Mapping[str, Section], plan: Plan, command: str, name: str) -> str:
    """Write ``name.md`` and ``name.json`` to the plan's folder; return the page.

    Args:
        sections: by their names, in order.
        command: what made them.
    """
    versions = {"Python": platform.python_version(), **{each: version(each) for each in _PACKAGES}}
    today = datetime.date.today().isoformat()
    alone = set(sections) == {_FAITHFULNESS}
    count = plan.faithful_seeds if alone else plan.seeds
    seeds = "one seed" if count == 1 else f"{count} seeds"
    blocks = [
        "# Faithfulness" if alone else "# The paper's experiments",
        f"Written by `{command}` on {today}, not by hand. {seeds.capitalize()} of data, model and "
        f"explanations; ± is the sample standard deviation over seeds. "
        f"{', '.join(' '.join(each) for each in versions.items())}.",
        *([] if alone else [_ABOUT_SETTINGS]),
        *(section.markdown for section in sections.values()),
    ]
    page = "\n\n".join(blocks) + "\n"
    write_text(plan.place.folder / f"{name}.md", page)
    told = {
        "command": command,
        "date": today,
        "versions": versions,
        "seeds": count,
        "results": {each: section.results for each, section in sections.items()},
    }
    write_text(plan.place.folder / f"{name}.json", json.dumps(told, indent=1))
    return page
