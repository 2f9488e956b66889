"""XMLBIF, the interchange format of Bayesian networks in XML."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from ...errors import FileError
from ...limits import NESTING, brief
from ..bayesian_network import BayesianNetwork
from .naming import NETWORK_NAME
from .tables import WordTable, check_count, network_from_words, network_in_words

__all__ = ["network_from_xmlbif", "network_to_xmlbif"]

_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
"""Without the DOCTYPE of the format, which pyAgrum cannot read."""


def network_to_xmlbif(network: BayesianNetwork) -> str:
    """Return a network as XMLBIF."""
    tables = list(network_in_words(network))  # all words are safe in XML
    lines = ['<BIF VERSION="0.3">', "<NETWORK>", f"<NAME>{NETWORK_NAME}</NAME>"]
    for table in tables:
        outcomes = "".join(f"  <OUTCOME>{state}</OUTCOME>\n" for state in table.states)
        lines.append(
            f'<VARIABLE TYPE="nature">\n  <NAME>{table.name}</NAME>\n{outcomes}</VARIABLE>'
        )
    for table in tables:
        given = "".join(f"  <GIVEN>{parent}</GIVEN>\n" for parent in table.parents)
        numbers = " ".join(map(repr, table.numbers))
        lines.append(
            f"<DEFINITION>\n  <FOR>{table.name}</FOR>\n{given}"
            f"  <TABLE>{numbers}</TABLE>\n</DEFINITION>"
        )
    return _HEAD + "\n".join([*lines, "</NETWORK>", "</BIF>", ""])


def network_from_xmlbif(document: bytes) -> BayesianNetwork:
    """Return the network that an XMLBIF document describes.

    A document that declares entities is refused: they can expand without limit, or read files.

    Raises:
        FileError: the document is not XMLBIF, or not the network of an explanation.
    """
    root = _parse(document)
    networks = root.findall("NETWORK")
    if root.tag != "BIF" or len(networks) != 1:
        raise FileError("an XMLBIF document must be one <BIF> with one <NETWORK>")
    states: dict[str, list[str]] = {}
    for variable in networks[0].iter("VARIABLE"):
        name = _only(variable, "NAME")
        if name in states:
            raise FileError(f"there are two variables called {brief(name)}")
        states[name] = list(_texts(variable, "OUTCOME"))
        check_count(len(states))
    tables = {}
    for definition in networks[0].iter("DEFINITION"):
        name = _only(definition, "FOR")
        if name in tables or name not in states:
            raise FileError(f"there must be one definition for each variable, as of {brief(name)}")
        parents = list(_texts(definition, "GIVEN"))
        numbers = _numbers(_only(definition, "TABLE"), name)
        tables[name] = WordTable(name, states[name], parents, numbers)
    if not states or len(tables) < len(states):
        raise FileError(
            "XMLBIF must have a <DEFINITION> for each <VARIABLE>, and at least one variable"
        )
    return network_from_words([tables[name] for name in states], _only(networks[0], "NAME"))


def _only(parent: Element, tag: str) -> str:
    texts = list(_texts(parent, tag))
    if len(texts) != 1:
        raise FileError(f"a <{parent.tag}> should have one <{tag}>, not {len(texts)}")
    return texts[0]


def _texts(parent: Element, tag: str) -> Iterator[str]:
    return ((child.text or "").strip() for child in parent.findall(tag))


def _numbers(text: str, name: str) -> list[float]:
    try:
        return [float(word) for word in text.split()]
    except ValueError as error:
        raise FileError(f"the table of {brief(name)} should hold numbers: {error}") from None


def _parse(document: bytes) -> Element:
    """Parse XML; declarations of entities are refused."""
    builder, depth = TreeBuilder(), 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > NESTING:
            raise FileError(f"<{tag:.60}> is nested too deep for XMLBIF")
        builder.start(tag, attributes)

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(tag)

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = builder.data
    parser.EntityDeclHandler = _refuse_entity
    try:
        parser.Parse(document, True)
        return builder.close()
    except FileError:
        raise
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise FileError(f"this is not XML, or is truncated: {error}") from None


def _refuse_entity(name: str, *_: Any) -> None:
    raise FileError(f"it declares the entity {brief(name)}, which is refused in XMLBIF")
