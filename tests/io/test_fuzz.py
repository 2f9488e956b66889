"""Mutated files: a package error or the right result, never another error or a hang."""

import json
from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgm_explainer import FileError
from pgm_explainer.explanation.formats.json_file import parse_explanations
from pgm_explainer.io import explanation_from_dict, explanation_to_dict
from pgm_explainer.network.formats.bif import network_from_bif, network_to_bif
from pgm_explainer.network.formats.xmlbif import network_from_xmlbif, network_to_xmlbif
from pgm_explainer.report.html.payload import page_payload

ANYTHING = st.recursive(
    st.one_of(
        *(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
        st.sampled_from([2**63, -1, 10**400, "-inf", "nan", 1e308, 0.5, 2, "graph"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


def places(value, way=()):
    """Every place in a document, the outermost first."""
    yield way
    if isinstance(value, (dict, list)):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(each, (*way, key))


def use(explanation):
    """What a user does with an explanation; all of it must work on one that was accepted."""
    str(explanation)
    explanation._repr_html_()
    page_payload([explanation])
    explanation_to_dict(explanation)
    if explanation.network is not None:
        assert 0 <= explanation.query() <= 1 + 1e-9
        explanation.network.to_dot()
    assert explanation.neighbourhood is None or len(explanation.neighbourhood.nodes) > 0


def attempt(read, document):
    """Return the result of reading; None if it is refused by a package error."""
    try:
        return read(document)
    except FileError:
        return None


@pytest.fixture(scope="module")
def documents(explanations):
    kinds = ("node", "graph", "pair", "named", "regression")
    return [explanation_to_dict(explanations[kind]) for kind in kinds]


@given(data=st.data())
def test_json_with_other_values(documents, data):
    document = deepcopy(data.draw(st.sampled_from(documents)))
    *way, last = data.draw(st.sampled_from([each for each in places(document) if each]))
    parent = document
    for step in way:
        parent = parent[step]
    if data.draw(st.booleans()):
        del parent[last]
    else:
        parent[last] = data.draw(ANYTHING)
    explanation = attempt(explanation_from_dict, document)
    if explanation is not None:
        use(explanation)


def mutated(data, document: bytes) -> bytes:
    """A few pieces of a document replaced, removed or doubled."""
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(document)))
        end = start + data.draw(st.integers(0, 40))
        piece = data.draw(
            st.one_of(
                st.binary(max_size=6),
                st.sampled_from([b"{", b"}", b"<", b"&a;", b"nan", b"1e999", b'"', b"/*", b"\0"]),
                st.just(2 * document[start:end]),
            )
        )
        document = document[:start] + piece + document[end:]
    return document


@given(data=st.data())
def test_json_with_other_bytes(documents, data):
    whole = json.dumps(data.draw(st.sampled_from(documents))).encode()
    for explanation in attempt(parse_explanations, mutated(data, whole)) or []:
        use(explanation)


@given(data=st.data())
def test_bif_with_other_bytes(mixed_network, data):
    document = mutated(data, network_to_bif(mixed_network).encode())
    network = attempt(network_from_bif, document)
    if network is not None:
        assert network.query(network.nodes[0]).sum() == pytest.approx(1)


@given(data=st.data())
def test_xmlbif_with_other_bytes(mixed_network, data):
    document = mutated(data, network_to_xmlbif(mixed_network).encode())
    network = attempt(network_from_xmlbif, document)
    if network is not None:
        assert network.query(network.nodes[0]).sum() == pytest.approx(1)


@pytest.mark.parametrize("text", ["/* ", '" ', "( ", "{ ", "variable a {", "9", "//", "<a ", "[["])
@pytest.mark.parametrize("read", [parse_explanations, network_from_bif, network_from_xmlbif])
def test_long_invalid_files_are_refused_soon(text, read):
    with pytest.raises(FileError):
        read(text.encode() * 100_000)
