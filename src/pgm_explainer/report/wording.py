"""The words for the parts of an explanation: nouns, verbs and names.

Text, notebook, page and plots use these, so that an edge is called an edge everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..feature_names import feature_titles
from ..printing import label_of, printable
from ..variables import VariableId, is_edge

if TYPE_CHECKING:
    from ..explanation import Explanation
    from ..settings import Settings

__all__ = [
    "Wording",
    "kind_names",
    "part_label",
    "part_mention",
    "wording_for",
    "wording_of",
]


@dataclass(frozen=True)
class Wording:
    """The words for a kind of parts.

    Attributes:
        noun: the noun for one part, such as ``edge``.
        perturbing, perturbed: what happens to it, such as ``removing`` and ``removed``.
        how: the key of these verbs, such as ``remove``; empty if its data are replaced.

    Examples:
        >>> Wording("edge").plural, Wording("edge").counted(1), Wording("edge").counted(3)
        ('edges', '1 edge', '3 edges')
    """

    noun: str
    perturbing: str = "perturbing"
    perturbed: str = "perturbed"
    how: str = ""

    @property
    def plural(self) -> str:
        return f"{self.noun}s"

    def counted(self, count: int) -> str:
        """Return a number of parts in words."""
        return f"1 {self.noun}" if count == 1 else f"{count} {self.plural}"


_NODE, _EDGE, _GROUP, _PART = map(Wording, ("node", "edge", "group", "part"))
_FEATURE, _STEP = Wording("feature"), Wording("step")
_HOW = {
    "remove": ("removing", "removed"),
    "rewire": ("rewiring", "rewired"),
    "attributes": ("replacing the attributes of", "given the attributes of another edge"),
}
_KINDS = {
    "nodes": _NODE,
    "edges": _EDGE,
    "features": _FEATURE,
    "time": _STEP,
    "groups of nodes": _GROUP,
    "groups of edges": replace(_GROUP, perturbing="removing", perturbed="removed", how="remove"),
    "groups of features": _GROUP,
}


def kind_names(settings: Settings) -> list[str]:
    """Return the names of the kinds of parts, several for a mix."""
    return settings.sampling.parts.name.split(" and ")


def wording_of(settings: Settings) -> Wording:
    """Return the words for all parts together; those of a mix are called parts."""
    names = kind_names(settings)
    return _wording(names[0], settings) if len(names) == 1 else _PART


def wording_for(explanation: Explanation, number: int) -> Wording:
    """Return the words for one part, given by its number."""
    settings, label = explanation.settings, explanation.part_labels.get(number)
    names = kind_names(settings)
    if label is None:
        return _NODE
    if len(names) == 1:
        return _wording(names[0], settings)
    groups = [name for name in names if name.startswith("groups")]
    if is_edge(label):
        return _wording("edges", settings)
    last = str(label[-1] if isinstance(label, tuple) else label)
    if "features" in names and last in feature_titles(explanation.feature_names):
        return _FEATURE
    for name, word in (("features", "feature"), ("time", "step")):
        if name in names and last.split(" ")[0] == word:
            return _KINDS[name]
    return _KINDS[groups[0]] if len(groups) == 1 else _GROUP if groups else _PART


def _wording(name: str, settings: Settings) -> Wording:
    if name != "edges":
        return _KINDS.get(name, _PART)
    parts: Any = settings.sampling.parts
    (how,) = [
        getattr(kind, "how", "remove")
        for kind in getattr(parts, "kinds", (parts,))
        if kind.name == "edges"
    ] or ["remove"]
    return Wording("edge", *_HOW[how], how)


def part_mention(explanation: Explanation, number: int, *, typed: bool = False) -> str:
    """Return the name of a part as it follows its noun: ``3 of node 7`` after ``step``.

    Args:
        explanation: the explanation that the part belongs to.
        number: the number of the part.
        typed: whether to name nodes and edges as a user types them, as in ``(2, 3)``, and quote
            the names of groups; False for names as in pictures, such as ``2 – 3``.
    """
    name, label = explanation.names[number], explanation.part_labels.get(number)
    node_name = printable if typed else label_of
    if label is None:
        return node_name(name)
    noun = wording_for(explanation, number).noun
    if noun == "edge":
        return printable(_ends(name)) if typed else part_label(explanation, number)
    if noun in ("feature", "step"):
        node, what = name if isinstance(name, tuple) else (None, name)
        where = "" if node is None else f" of node {node_name(node)}"
        return f"{printable(what).removeprefix(f'{noun} ')}{where}"
    return repr(printable(name)) if typed else label_of(name)


def part_label(explanation: Explanation, number: int) -> str:
    """Return the label of a part in plots and lists: ``5``, ``2 – 3`` or ``node 7, step 3``."""
    name, label = explanation.names[number], explanation.part_labels.get(number)
    if not isinstance(label, tuple) or not isinstance(name, tuple):
        return label_of(name)
    if wording_for(explanation, number).noun == "edge":
        join = " → " if explanation.has_directed_edges else " – "
        return join.join(map(label_of, _ends(name)))
    if len(name) == 2 and isinstance(label[0], int):
        node = f"node {name[0]}" if isinstance(name[0], int) else label_of(name[0])
        return f"{node}, {printable(name[1])}"
    return label_of(name)


def _ends(name: VariableId) -> tuple[Any, ...]:
    """Return the ends of an edge; one that is also the target has a longer name."""
    assert isinstance(name, tuple)
    return name[-2:]
