"""BIF and XMLBIF that pgmpy and pyAgrum read as the same network, and theirs read by us."""

import time
import warnings

import numpy as np
import pytest

from pgm_explainer import BayesianNetwork, FileError
from pgm_explainer.network.formats import tables

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # both warn while they are imported
    gum = pytest.importorskip("pyagrum")
    pytest.importorskip("pgmpy")
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.models import DiscreteBayesianNetwork
    from pgmpy.readwrite import BIFReader, BIFWriter, XMLBIFReader, XMLBIFWriter

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")

READERS = {"bif": BIFReader, "xmlbif": XMLBIFReader}
WRITERS = {"bif": BIFWriter, "xmlbif": XMLBIFWriter}


def rows_by_words(network):
    """P(state | parents' states) by words alone: what two networks must agree on to be the same."""
    rows = {}
    for node, attributes in network.to_networkx().nodes.items():
        for index, value in np.ndenumerate(attributes["probabilities"]):
            given = {
                (str(parent), network.variable(parent).states[state])
                for parent, state in zip(attributes["parents"], index, strict=False)
            }
            rows[str(node), attributes["states"][index[-1]], frozenset(given)] = value
    return rows


def agree(one, other, within=1e-9):
    assert one.keys() == other.keys()
    assert max(abs(one[key] - other[key]) for key in one) <= within
    return True


def pgmpy_rows(model, names):
    rows = {}
    for table in model.get_cpds():
        values = table.get_values().reshape(table.cardinality)
        for index, value in np.ndenumerate(values):
            states = [
                (names[name], table.state_names[name][at])
                for name, at in zip(table.variables, index, strict=True)
            ]
            rows[(*states[0], frozenset(states[1:]))] = value
    return rows


def pyagrum_rows(model, names):
    rows = {}
    for at in model.nodes():
        table = model.cpt(at)
        for states in table.loopIn():
            known = {
                names[variable.name()]: variable.label(states.val(variable))
                for variable in table.variablesSequence()
            }
            own = names[model.variable(at).name()]
            rest = frozenset((name, state) for name, state in known.items() if name != own)
            rows[own, known[own], rest] = table[states]
    return rows


def in_words(network):
    """What other packages call the network's variables and states."""
    from pgm_explainer.network.formats.naming import state_words, words_for

    words = {word: str(name) for name, word in words_for(network.nodes).items()}
    states = {
        (str(variable.id), state): word
        for variable in network.variables
        for state, word in zip(variable.states, state_words(variable), strict=True)
    }
    rows = {
        (
            node,
            states[node, state],
            frozenset((name, states[name, of]) for name, of in given),
        ): value
        for (node, state, given), value in rows_by_words(network).items()
    }
    return rows, words


@pytest.fixture(params=["mixed", "graph", "levels"])
def network(request, explanations, mixed_network):
    if request.param == "mixed":
        return mixed_network
    return explanations[request.param].network


@pytest.mark.parametrize("ending", ["bif", "xmlbif"])
def test_written_networks_can_be_read(network, ending, tmp_path):
    network.save(tmp_path / f"network.{ending}")
    loaded = BayesianNetwork.load(tmp_path / f"network.{ending}")
    assert loaded.variables == network.variables
    assert loaded.dag == network.dag
    for node in network.nodes:
        assert loaded.cpt(node).values.tobytes() == network.cpt(node).values.tobytes()
        assert not loaded.cpt(node).counts.any()


@pytest.mark.parametrize("ending", ["bif", "xmlbif"])
def test_pgmpy_reads_the_same_network(network, ending, tmp_path):
    path = tmp_path / f"network.{ending}"
    network.save(path)
    model = READERS[ending](str(path)).get_model()
    assert model.check_model()
    rows, names = in_words(network)
    assert agree(pgmpy_rows(model, names), rows)


@pytest.mark.parametrize("ending", ["bif", "bifxml"])
def test_pyagrum_reads_the_same_network(network, ending, tmp_path):
    path = tmp_path / f"network.{ending}"
    network.save(path)
    model = gum.loadBN(str(path))
    rows, names = in_words(network)
    single_precision = 1e-7  # it reads BIF, its own too, as such
    assert agree(pyagrum_rows(model, names), rows, single_precision if ending == "bif" else 1e-9)


@pytest.mark.parametrize("ending", ["bif", "xmlbif"])
def test_we_read_what_pgmpy_writes(network, ending, tmp_path):
    path = tmp_path / f"network.{ending}"
    WRITERS[ending](network.to_pgmpy()).write(str(path))
    assert agree(rows_by_words(BayesianNetwork.load(path)), rows_by_words(network))


@pytest.mark.parametrize("ending", ["bif", "bifxml"])
def test_we_read_what_pyagrum_writes(network, ending, tmp_path):
    path = tmp_path / f"network.{ending}"
    gum.saveBN(network.to_pyagrum(), str(path))
    six_digits = 1e-5  # it writes XMLBIF so
    theirs = rows_by_words(BayesianNetwork.load(path))
    assert agree(theirs, rows_by_words(network), six_digits if ending == "bifxml" else 1e-9)


def test_objects_of_pgmpy_and_pyagrum_are_the_same_network(network):
    rows, names = in_words(network)
    assert agree(pgmpy_rows(network.to_pgmpy(), names), rows)
    assert agree(pyagrum_rows(network.to_pyagrum(), names), rows)


def test_identifiers_of_other_networks_are_unchanged(explanations, tmp_path):
    model = explanations["node"].network.to_pgmpy()
    model.name = "theirs"
    BIFWriter(model).write(str(tmp_path / "theirs.bif"))
    nodes = BayesianNetwork.load(tmp_path / "theirs.bif").nodes
    assert sorted(nodes) == sorted(f"node_{node}" for node in explanations["node"].network.nodes)


@pytest.mark.parametrize("ending", ["bif", "xmlbif"])
def test_networks_of_another_sort_are_refused(ending, tmp_path):
    model = DiscreteBayesianNetwork()
    model.add_node("rain")
    model.add_cpds(TabularCPD("rain", 2, [[0.2], [0.8]], state_names={"rain": ["yes", "no"]}))
    path = tmp_path / f"network.{ending}"
    WRITERS[ending](model).write(str(path))
    with pytest.raises(FileError, match=r"network\.\w+: the states of 'rain' are yes, no: not"):
        BayesianNetwork.load(path)


def test_the_extension_determines_the_format(explanations, tmp_path):
    network = explanations["node"].network
    for name in ("network.txt", "network"):
        with pytest.raises(FileError, match=r"must be one of \.bif, .*\.uai, \.json"):
            network.save(tmp_path / name)
        with pytest.raises(FileError, match=r"must be one of"):
            BayesianNetwork.load(tmp_path / name)


BIF = """network pgm_explainer {
}
// a comment
variable node_1 { type discrete [ 2 ] { original, perturbed }; property position = 7 ; }
variable graph { type discrete[2] { "kept" "changed" }; }
probability ( node_1 ) { table 0.25, 7.5e-1; }
probability ( graph | node_1 ) { (perturbed) 0.1 0.9; /* in any
order */ (original) 1, 0; }
"""


def load_bif(text, folder):
    (folder / "it.bif").write_text(text)
    return BayesianNetwork.load(folder / "it.bif")


def test_bif_in_its_freedoms(tmp_path):
    network = load_bif(BIF, tmp_path)
    assert network.nodes == [1, "graph"]
    assert network.cpt("graph").values.tolist() == [[1, 0], [0.1, 0.9]]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("table 0.25", "table 0.5", "'node_1' do not add up to 1 in every row"),
        ("table 0.25", "table nan", "'node_1' should hold probabilities only"),
        ("table 0.25", "table -0.25", "'node_1' should hold probabilities only"),
        ("table 0.25", "default 0.25", "line 6 should have a row .* not 'default'"),
        ("(perturbed)", "table", "line 7 should have a row .* not 'table'"),
        ("(perturbed)", "(original)", "line 8 should have each row once, not 'original'"),
        ("(perturbed)", "(wet)", r"'graph' should have a row \( perturbed \) of 2 numbers"),
        ("0.1 0.9", "0.1 0.8 0.1", r"'graph' should have a row \( perturbed \) of 2 numbers"),
        ("0.1 0.9", "0.1 zero", "line 7 should have numbers, not"),
        ("(perturbed) 0.1 0.9;", "", "'graph' should have 2 rows, not 1"),
        ("[ 2 ]", "[ 3 ]", "should have 3 states, not '2 of them'"),
        ("graph |", "node_1 |", "line 8 should have each variable once, not 'node_1'"),
        ("| node_1", "| node_2", "a parent of 'graph' is 'node_2', which is not a variable"),
        ("| node_1", "| graph", "should have a row|form a cycle"),
        ("network", "net", "line 1 should have 'network', 'variable' or 'probability', not 'net'"),
        ("order */", "order", "ends where .* should be; it may be truncated"),
        (
            BIF[BIF.index("variable") :],
            "",
            "must have a 'probability' for each 'variable', and at least one variable",
        ),
    ],
)
def test_bif_that_does_not_fit_is_refused(old, new, message, tmp_path):
    assert old in BIF
    with pytest.raises(FileError, match=message) as caught:
        load_bif(BIF.replace(old, new), tmp_path)
    assert str(caught.value).startswith(str(tmp_path / "it.bif"))


def test_many_parents_in_a_short_file_take_no_memory(tmp_path):
    variables = [f"variable v{n} {{ type discrete [ 2 ] {{ kept, changed }}; }}" for n in range(99)]
    alone = [f"probability ( v{n} ) {{ table 0.5, 0.5; }}" for n in range(98)]
    parents = ", ".join(f"v{n}" for n in range(98))
    last = f"probability ( v98 | {parents} ) {{ }}"
    with pytest.raises(FileError, match=r"'v98' should have 31\d+ rows, not 0"):
        load_bif("\n".join([*variables, *alone, last]), tmp_path)


def xml_of(network, folder):
    network.save(folder / "network.xml")
    return (folder / "network.xml").read_text()


def load_xml(text, folder):
    (folder / "it.xml").write_text(text)
    return BayesianNetwork.load(folder / "it.xml")


ELEMENTS = "<!ELEMENT BIF (NETWORK)*> <!ATTLIST BIF VERSION CDATA #REQUIRED>"
LAUGHS = "".join(f'<!ENTITY a{n + 1} "{f"&a{n};" * 10}">' for n in range(9))


@pytest.mark.parametrize(
    "declaration",
    [
        '<!ENTITY a0 "ha">' + LAUGHS,
        '<!ENTITY secret SYSTEM "file:///etc/passwd">',
        '<!ENTITY % outside SYSTEM "http://127.0.0.1:9/x.dtd"> %outside;',
        '<!ENTITY harmless "ha">',
    ],
)
def test_entities_are_refused(explanations, declaration, tmp_path):
    text = xml_of(explanations["node"].network, tmp_path)
    document = f"<!DOCTYPE BIF [ {declaration} {ELEMENTS} ]>\n<BIF "
    with pytest.raises(FileError, match=r"declares the entity .* refused"):
        load_xml(text.replace("<BIF ", document, 1), tmp_path)


@pytest.mark.parametrize("declared", [f"[ {ELEMENTS} ]", 'SYSTEM "file:///nowhere/x.dtd"'])
def test_other_declarations_are_welcome(explanations, declared, tmp_path):
    network = explanations["node"].network
    text = xml_of(network, tmp_path).replace("<BIF ", f"<!DOCTYPE BIF {declared}>\n<BIF ", 1)
    assert load_xml(text, tmp_path).nodes == network.nodes


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<BIF ", "<BUF ", "not XML"),
        ("NETWORK>", "NET>", "one <BIF> with one <NETWORK>"),
        ("<FOR>", "<FOR>x", "one definition for each variable, as of 'x"),
        ("<NAME>", "<NAME>x</NAME><NAME>", "should have one <NAME>, not 2"),
        ("<TABLE>", "<TABLE>some ", "should hold numbers: could not convert"),
        ("<TABLE>", "<TABLE>1 ", r"should have \d+ numbers, not \d+"),
        ("DEFINITION", "PROPERTY", "must have a <DEFINITION> for each <VARIABLE>"),
        ('encoding="UTF-8"', 'encoding="EBCDIC"', "not XML"),
        ('encoding="UTF-8"', 'encoding="shift_jis"', "not XML"),
        ("</BIF>", "", "not XML, or is truncated"),
        ("<VARIABLE ", "<a>" * 9 + "<VARIABLE ", "<a> is nested too deep"),
    ],
)
def test_xmlbif_that_does_not_fit_is_refused(explanations, old, new, message, tmp_path):
    text = xml_of(explanations["node"].network, tmp_path)
    assert old in text
    with pytest.raises(FileError, match=message) as caught:
        load_xml(text.replace(old, new), tmp_path)
    assert str(caught.value).startswith(str(tmp_path / "it.xml"))


def independent(count):
    """So many variables in BIF, none of which depends on another."""
    variables = (f"variable v{at} {{ type discrete [ 2 ] {{ kept, changed }}; }}\n" for at in count)
    tables = (f"probability ( v{at} ) {{ table 0.5, 0.5; }}\n" for at in count)
    return "".join(("network other {}\n", *variables, *tables))


def test_the_number_of_variables_is_limited(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "NETWORK_VARIABLES", 20)
    path = tmp_path / "net.bif"
    path.write_text(independent(range(20)))
    network = BayesianNetwork.load(path)
    network.save(tmp_path / "net.xmlbif")
    assert len(BayesianNetwork.load(tmp_path / "net.xmlbif").nodes) == 20
    path.write_text(independent(range(21)))
    monkeypatch.setattr(tables, "NETWORK_VARIABLES", 19)
    for name in ("net.bif", "net.xmlbif"):
        with pytest.raises(FileError, match=rf"{name}: a network may have at most 19 variables"):
            BayesianNetwork.load(tmp_path / name)


def test_a_network_of_many_variables_is_read_soon(tmp_path):
    """Reading was quadratic: 20,000 variables took 30 s."""
    path = tmp_path / "net.bif"
    path.write_text(independent(range(10_000)))
    started = time.process_time()
    assert len(BayesianNetwork.load(path).nodes) == 10_000
    assert time.process_time() - started < 6


def test_the_size_of_a_network_file_is_limited(tmp_path):
    path = tmp_path / "net.bif"
    path.write_bytes(b" " * (8 * 2**20 + 1))
    with pytest.raises(
        FileError, match="it has 8 MB, and a file of this kind may have at most 8 MB"
    ):
        BayesianNetwork.load(path)
