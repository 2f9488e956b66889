"""``pgm-explainer explain``: explain predictions of the user's own model."""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError, PGMExplainerWarning
from ..settings import Settings
from ..tasks import TASKS

if TYPE_CHECKING:
    from ..explanation import Explanation
    from .inputs import GraphInput

__all__ = ["configure", "run"]

_SETTINGS = (
    "task",
    "num_layers",
    "hops",
    "num_samples",
    "perturbation",
    "perturb_probability",
    "change",
    "scores",
    "max_nodes",
    "seed",
    "class_names",
)

_EPILOG = """\
the model is one of
  mymodel:net      the object 'net' of mymodel.py, or of an installed module: a
                   PyTorch module or a function of features; or a class or
                   function without arguments that makes one.
                   IMPORTING A MODULE EXECUTES IT.
  model.pt2        a program of torch.export   } may do anything once loaded,
  model.pt         a program in TorchScript    } so only with --trust

the graph is one of
  --graph g.npz    arrays x [nodes, features] and edge_index [2, edges]; 'names'
                   if the nodes have any; others, such as edge_weight, go to
                   the model if it takes them by that name
  --graph data.pt  a Data or HeteroData object of PyTorch Geometric, written by
                   torch.save
  --features n.csv --edges e.csv
                   a line for each node: its name, its features; for each edge:
                   source, target

examples:
  pgm-explainer explain --model mymodel:net --graph g.npz --target 304
  pgm-explainer explain --model mymodel:Net --weights net.safetensors \\
      --graph data.pt --target 300-310 400 --output why.html --output why.json
  pgm-explainer explain --model mymodel:net --features people.csv \\
      --edges friends.csv --undirected --target Ann Bob --class-names yes,no
  pgm-explainer explain --model mymodel:links --graph g.npz --task edge \\
      --target 3,5
  pgm-explainer explain --model model.pt2 --trust --graph molecule.npz \\
      --task graph --json
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.description = (
        "Explain predictions of a model on a graph: which nodes each depends on, and how. Without "
        "--output the explanations are printed in words."
    )
    parser.usage = "%(prog)s --model MODEL --graph PATH --target TARGET ... [options]"
    parser.epilog = _EPILOG
    _add_inputs(parser.add_argument_group("the model and its graph"))
    _add_targets(parser.add_argument_group("what to explain"))
    _add_settings(parser.add_argument_group("how to explain it"))
    output = parser.add_argument_group("what to do with the explanations")
    output.add_argument(
        "--output",
        type=Path,
        action="append",
        default=[],
        metavar="PATH",
        help="write this file instead of words: .html (can be asked), .json (can be read again), "
        ".png, .pdf or .svg (one target only); repeatable",
    )
    output.add_argument("--json", action="store_true", help="print JSON, for machines")


def _add_inputs(group: Any) -> None:
    group.add_argument("--model", required=True, help="module:attribute or a file; see below")
    group.add_argument(
        "--weights",
        type=Path,
        metavar="PATH",
        help="weights to load into module:attribute: .safetensors, or a state_dict by torch.save",
    )
    group.add_argument("--graph", type=Path, metavar="PATH", help=".npz or .pt; see below")
    group.add_argument("--features", type=Path, metavar="PATH", help="CSV of the nodes")
    group.add_argument("--edges", type=Path, metavar="PATH", help="CSV of the edges")
    group.add_argument(
        "--undirected", action="store_true", help="each edge of the CSV goes both ways"
    )
    group.add_argument(
        "--trust",
        action="store_true",
        help="also read files that may execute code (programs, pickles); only if you trust them",
    )


def _add_targets(group: Any) -> None:
    group.add_argument("--task", choices=tuple(TASKS), default=Settings.task, help="default: node")
    group.add_argument(
        "--target",
        nargs="+",
        action="extend",
        default=[],
        help="numbers, names, ranges such as 300-310, or 'all'; pairs such as 3,5 in an edge task; "
        "none in a graph task",
    )
    group.add_argument(
        "--targets-file", type=Path, metavar="PATH", help="a file with a target in each line"
    )
    group.add_argument(
        "--target-type", metavar="KIND", help="the kind of node predicted, with HeteroData"
    )


def _add_settings(group: Any) -> None:
    def add(name: str, kind: Any, text: str) -> None:
        default = getattr(Settings, name)
        shown = "" if default is None else f"; default: {default}"
        option = f"--{name.replace('_', '-')}"
        metavar = {int: "N", float: "P"}.get(kind, "WHAT")
        group.add_argument(option, type=kind, default=default, metavar=metavar, help=text + shown)

    add("num_layers", int, "how far the model sees; counted in PyTorch Geometric's modules, else 3")
    add("hops", int, "how far away a node may be to explain a target; as far as the model sees")
    add("num_samples", int, "how many perturbed graphs the model is asked about")
    add("perturbation", str, "mean, zero, max, random, uniform or permute")
    add("perturb_probability", float, "how likely each node is perturbed")
    add("change", _change, "what a changed prediction is: a fall such as 0.1, flip, absolute, …")
    add("scores", str, "what the model gives: logits, probabilities, log_probabilities or values")
    add("max_nodes", int, "the most nodes in an explanation")
    add("seed", int, "the same seed gives the same explanation")
    add("class_names", _listed, "what to call the classes, in their order: base,middle,top")


def _change(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


def _listed(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


def run(options: argparse.Namespace) -> None:
    """Read, explain and show."""
    from ..explainer import PGMExplainer
    from .inputs import read_model
    from .outputs import check_outputs, print_json, print_words, write_outputs

    check_outputs(options.output, 1)
    graph = _graph(options)
    targets = _targets(options, graph)
    check_outputs(options.output, len(targets))
    model = read_model(options.model, options.weights, options.trust)
    explainer = PGMExplainer(
        model,
        graph.x,
        graph.edge_index,
        inputs=graph.inputs_for(model) or None,
        target_type=options.target_type,
        **{name: getattr(options, name) for name in _SETTINGS},
    )
    in_words = not options.output and not options.json
    with warnings.catch_warnings():
        if in_words:  # they say themselves what weakens them
            warnings.simplefilter("ignore", PGMExplainerWarning)
        explanations = _explain(explainer, targets, graph)
    write_outputs(options.output, explanations)
    if options.json:
        print_json(explanations)
    elif in_words:
        print_words(explanations)


def _explain(explainer: Any, targets: list[Any], graph: GraphInput) -> list[Explanation]:
    if len(targets) == 1:
        found = [explainer.explain(targets[0])]
    else:
        found = explainer.explain_many(targets)
    return found if graph.names is None else [each.named(graph.names) for each in found]


def _graph(options: argparse.Namespace) -> GraphInput:
    from .csv_graph import read_csv_graph
    from .inputs import read_graph

    tables = options.features is not None and options.edges is not None
    if (options.graph is not None) == tables or (options.features is None) != (
        options.edges is None
    ):
        raise InputError("give the graph by --graph, or by both --features and --edges")
    if tables:
        return read_csv_graph(options.edges, options.features, options.undirected)
    if options.undirected:
        raise InputError("--undirected is for --edges; a graph in one file says both ways itself")
    return read_graph(options.graph, options.trust)


def _targets(options: argparse.Namespace, graph: GraphInput) -> list[Any]:
    from ..io.files import as_text, read_file
    from .names import read_targets

    texts = list(options.target)
    if options.targets_file is not None:
        lines = read_file(options.targets_file, as_text).splitlines()
        texts += [line.strip() for line in lines if line.strip()]
    if options.task == "graph":
        if texts:
            raise InputError(f"a graph task explains the whole graph, not the target {texts[0]!r}")
        return [None]
    if not texts:
        raise InputError("name what to explain: --target 304, or --target all")
    return read_targets(texts, options.task, graph.num_nodes(options.target_type), graph.names)
