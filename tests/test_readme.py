"""The examples of the README run as they stand, and it states their results correctly."""

import re
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "README.md").read_text()


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """Return the variables of the README's snippets after they have run in an empty folder."""
    for package in ("matplotlib", "networkx"):
        pytest.importorskip(package)
    found: dict[str, object] = {}
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.chdir(tmp_path_factory.mktemp("readme"))
        warnings.simplefilter("ignore")
        for snippet in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
            exec(compile(snippet, "README.md", "exec"), found)
        assert all(Path(name).stat().st_size > 0 for name in ("why.png", "why.html", "why.json"))
    return found


def test_the_stated_effects_are_those_of_the_example(names):
    effects = {effect.node: effect for effect in names["explanation"].effects}
    stated = re.search(
        r"friend 30 lowers the probability of\nthat class by ([\d.]+) percentage points "
        r"\(95% interval ([\d.]+) to ([\d.]+)\)",
        PAGE,
    )
    strongest = effects[30]
    measured = (strongest.effect, strongest.high, strongest.low)
    assert [f"{-100 * value:.1f}" for value in measured] == list(stated.groups())
    signs = {node: effect.effect > 0 for node, effect in effects.items() if effect.significant}
    assert signs == {30: False, 32: False, 33: False, 0: True, 2: True}


def test_everything_that_it_links_to_exists():
    links = re.findall(r"\]\((?!https?:)([^)#]+)", PAGE)
    assert [link for link in links if not (ROOT / link).exists()] == []
