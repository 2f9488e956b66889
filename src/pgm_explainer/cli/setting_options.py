"""The explainer's settings as options: common ones by name, all of them by ``--set``."""

from __future__ import annotations

import argparse
import inspect
import json
from typing import Any

from ..errors import InputError
from ..explainer import PGMExplainer
from ..limits import NESTING, SHOWN, brief
from ..querying import TASKS
from ..sampling import Change
from ..sampling.change import CHANGE_TYPES
from .parts import read_parts

__all__ = ["add_settings"]

_SET_ELSEWHERE = ("model", "x", "edge_index", "inputs", "target_type", "progress")
"""Parameters that the command line sets by other options."""
_OPTIONS: dict[str, Any] = {
    name: each.default
    for name, each in inspect.signature(PGMExplainer).parameters.items()
    if name not in _SET_ELSEWHERE
}


def add_settings(group: Any) -> None:
    """Add the options; ``options.settings`` will contain the given settings by name."""

    def add(name: str, kind: Any, text: str, **more: Any) -> None:
        default = _OPTIONS[name]
        shown = "" if default is None else f"; default: {default}"
        more = {"metavar": {int: "N", float: "P"}.get(kind, "WHAT"), **more}
        option = f"--{name.replace('_', '-')}"
        group.add_argument(
            option, type=kind, action=_Keep, default=argparse.SUPPRESS, help=text + shown, **more
        )

    add("task", str, "what is predicted", choices=tuple(TASKS), metavar=None)
    add(
        "num_layers",
        int,
        "message-passing layers of the model; default: counted for PyTorch Geometric, else 3",
    )
    add("hops", int, "maximum distance of candidate nodes; default: the number of layers")
    add("num_samples", _count, "number of perturbed graphs, or auto")
    add(
        "parts",
        read_parts,
        "what is perturbed: nodes, edges, features, several such as nodes,edges, or a .json or "
        ".csv file of groups",
    )
    add("perturbation", str, "mean, zero, max, min, random, uniform, permute or substitute")
    add("perturb_probability", float, "probability that a node is perturbed")
    add(
        "change",
        _change,
        "when a prediction counts as changed: a fall in probability such as 0.1, flip, absolute, …",
    )
    add("scores", str, "model output: logits, probabilities, log_probabilities or values")
    add("max_nodes", int, "maximum number of nodes in the network")
    add("seed", int, "random seed")
    add("class_names", _listed, "names of the classes in order: base,middle,top")
    group.add_argument(
        "--set",
        dest="settings",
        type=_read_setting,
        action=_Keep,
        default={},
        metavar="NAME=VALUE",
        help="any setting of PGMExplainer, such as no_child=false or max_memory=2GB; repeatable",
    )


class _Keep(argparse.Action):
    """Adds a setting to those given before; the last value of a setting wins."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        name, value = values if self.dest == "settings" else (self.dest, values)
        namespace.settings = {**namespace.settings, name: value}


def _read_setting(text: str) -> tuple[str, Any]:
    """Return the name and the value of ``name=value``; values that are not JSON are strings.

    Raises:
        argparse.ArgumentTypeError: the text has another form, or there is no such setting.

    Examples:
        >>> _read_setting("features=[0, 2]"), _read_setting("perturbation=zero")
        (('features', [0, 2]), ('perturbation', 'zero'))
    """
    name, equals, value = text.partition("=")
    if not equals or name not in _OPTIONS:
        known = ", ".join(_OPTIONS)
        raise argparse.ArgumentTypeError(
            f"{brief(text)} is not a setting; write name=value with one of these names: {known}"
        )
    try:
        read = json.loads(value)
    except ValueError:
        if name == "parts":
            return name, read_parts(value)
        return name, _change(value) if name == "change" else value
    except RecursionError:
        raise _too_deep(text) from None
    if _depth(read) > NESTING:
        raise _too_deep(text)
    return name, read


def _too_deep(text: str) -> argparse.ArgumentTypeError:
    return argparse.ArgumentTypeError(
        f"{text[:SHOWN]!r} … is nested more than {NESTING} levels deep"
    )


def _depth(value: Any) -> int:
    """Return the nesting depth of lists and objects, without recursion."""
    depth, level = 0, [value]
    while level:
        inner = [each for each in level if isinstance(each, (list, dict))]
        level = [
            each for held in inner for each in (held.values() if isinstance(held, dict) else held)
        ]
        depth += bool(inner)
    return depth


def _change(text: str) -> str | float | Change:
    """Parse a threshold, a change with parameters such as ``fall(0.1)``, or a name."""
    try:
        return float(text)
    except ValueError:
        if not text.endswith(")"):
            return text
    name, _, numbers = text.removesuffix(")").partition("(")
    try:
        values = [float(number) for number in numbers.split(",")]
        return CHANGE_TYPES[name](*([values] if name == "levels" else values))
    except (InputError, KeyError, TypeError, ValueError):
        raise argparse.ArgumentTypeError(
            f"cannot read the change {brief(text[:SHOWN])}; write, for example, 'fall(0.1)', "
            f"'large_fall(0.4, 0.15)' or 'levels(0.05, 0.3)'"
        ) from None


def _count(text: str) -> str | int:
    return int(text) if text.isdecimal() else text


def _listed(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]
