"""Malformed calls, which must be refused by an error of the package, and odd but valid ones.

Of every ten cases, six call the Python API with odd values, two the command line, and two are
valid calls with an answer that can be checked (``valid.py``).
"""

from __future__ import annotations

import math
import random
from typing import Any

from pgm_explainer import BayesianNetwork, Explanation, PGMExplainerError

from . import commands, valid
from .odd import spoiled
from .surface import surface

FULL = 5_000
"""Cases of a full round."""
MOST_CPU = 10.0
MOST_WALL = 120.0
MOST_MEMORY = 800


def case(seed: int, number: int) -> str | None:
    """Run one case; return what is wrong."""
    chance = random.Random(f"calls {seed} {number}")
    if number % 10 in (3, 7):
        return commands.attack(chance)
    if number % 10 in (1, 9):
        return valid.attack(chance)
    return _malformed(chance)


def _malformed(chance: random.Random) -> str | None:
    groups = surface()
    group = groups[chance.choice(sorted(groups))]
    name = chance.choice(sorted(group))
    call, arguments = group[name]
    count = min(len(arguments), chance.choice((1, 1, 1, 1, 2, 3)))
    changed = dict(arguments)
    for each in chance.sample(sorted(arguments), count):
        changed[each] = spoiled(arguments[each], chance)
    if chance.random() < 0.02:
        changed[chance.choice(("nothing", "self", "x y"))] = 1
        return None  # Python itself rejects an unknown argument
    written = ", ".join(
        f"{each}={_shown(changed[each])}" for each in changed if _differs(changed, arguments, each)
    )
    try:
        answer = call(**changed)
        # A call may return a value that was passed to it.
        given = any(answer is each for each in changed.values())
        what = None if given else _checked(answer)
    except PGMExplainerError as error:
        return None if str(error) else f"{name}({written}): an error without a message"
    except Exception as error:
        raise type_named(error, f"{name}({written})") from error
    return what and f"{name}({written}): {what}"


class RawError(Exception):
    """An exception that is not of the package."""


def type_named(error: Exception, call: str) -> RawError:
    """Return an exception that says which call raised which error, and where."""
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    where = f"{at.tb_frame.f_code.co_filename}:{at.tb_lineno}" if at else "?"
    return RawError(f"{call}: {type(error).__name__}: {str(error)[:200]} at {where}")


def _differs(changed: dict[str, Any], arguments: dict[str, Any], name: str) -> bool:
    return name not in arguments or changed[name] is not arguments[name]


def _shown(value: Any) -> str:
    try:
        return f"{value!r:.120}".replace("\n", " ")
    except Exception:
        return f"<{type(value).__name__}>"


def _checked(answer: Any) -> str | None:
    """Return what is wrong with an answer that a malformed call was given."""
    if isinstance(answer, list) and answer and isinstance(answer[0], Explanation):
        answer = answer[0]
    if isinstance(answer, Explanation):
        return _explanation(answer)
    if isinstance(answer, BayesianNetwork):
        total = answer.query(answer.nodes[0]).sum()
        return None if abs(total - 1) < 1e-6 else f"probabilities add up to {total}"
    if isinstance(answer, float) and not math.isfinite(answer):
        return f"the answer is {answer}"
    return None


def _explanation(found: Explanation) -> str | None:
    str(found)
    if not 0 <= found.held <= 1:
        return f"held is {found.held}"
    if not all(map(math.isfinite, found.values)):
        return f"values are {found.values}"
    if len(set(found.nodes)) != len(found.nodes):
        return f"nodes are {found.nodes}"
    if found.network is not None and not -1e-9 <= found.query() <= 1 + 1e-9:
        return f"the probability is {found.query()}"
    return None
