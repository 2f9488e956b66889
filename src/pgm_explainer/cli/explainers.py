"""The explainer of a command line, from the options for model, graph and settings."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from os.path import isdir, isfile
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..explainer import PGMExplainer
from ..querying import TypedNodes
from ..sampling import VariableId
from .csv_graph import Columns, read_csv_graph
from .inputs import GraphInput, read_folder, read_graph, read_model
from .parts import GroupsFile
from .setting_options import add_settings

__all__ = ["SOURCES", "NamedExplainer", "add_explainer", "check_counterfactual"]

SOURCES = """\
the model is one of
  mymodel:net      (or mymodel.py:net)
                   the object 'net' of mymodel.py or of an installed module: a
                   PyTorch module, a function of features, or an explainer
                   (which includes a graph and settings); or a class or
                   function without arguments that returns one of these.
                   IMPORTING A MODULE EXECUTES IT.
  model.pt2        saved by torch.export   } loading it can execute any code,
  model.pt         saved as TorchScript    } so it needs --trust

the graph is one of
  --graph g.npz    arrays x [nodes, features] and edge_index [2, edges], and
                   optionally 'names' of the nodes and 'feature_names'; other
                   arrays, such as edge_weight, are passed to the model if it
                   has an argument of that name
  --graph data.pt  a Data or HeteroData object of PyTorch Geometric, written by
                   torch.save; or a list of Data objects
  --graph folder   many graphs (--task graph): the .npz files of a folder, in
                   the order of their names; targets are positions from 0
  --features n.csv --edges e.csv
                   one line per node (name, features) and one line per edge
                   (source, target); a header names the features, and
                   --drop-columns label,date leaves columns out
"""
"""Help text about how to specify a model and a graph."""


def add_explainer(parser: argparse.ArgumentParser) -> None:
    """Add the options for model, graph and settings, which :class:`NamedExplainer` reads."""
    group = parser.add_argument_group("model and graph")
    group.add_argument("--model", help="module:attribute or a file; see below")
    group.add_argument(
        "--weights",
        type=Path,
        metavar="PATH",
        help="weights to load into module:attribute: .safetensors, or a state_dict saved by "
        "torch.save",
    )
    group.add_argument(
        "--graph", type=Path, metavar="PATH", help=".npz, .pt or a folder; see below"
    )
    group.add_argument("--features", type=Path, metavar="PATH", help="CSV of the nodes")
    group.add_argument("--edges", type=Path, metavar="PATH", help="CSV of the edges")
    group.add_argument(
        "--drop-columns",
        type=_names,
        metavar="A,B",
        help="columns of the CSV files, by name, that the model does not take, such as labels and "
        "dates",
    )
    group.add_argument(
        "--use-columns",
        type=_names,
        metavar="A,B",
        help="the columns of the CSV of the nodes that the model takes, in this order",
    )
    group.add_argument(
        "--undirected", action="store_true", help="add each edge of the CSV in both directions"
    )
    group.add_argument(
        "--target-type", metavar="TYPE", help="the node type to explain, with HeteroData"
    )
    group.add_argument(
        "--trust",
        action="store_true",
        help="allow files that can execute code when loaded (programs, pickles)",
    )
    add_settings(parser.add_argument_group("how to explain"))


def _names(text: str) -> tuple[str, ...]:
    """Return the names of a list such as ``a,b``; names with commas are quoted as in CSV."""
    return tuple(name.strip() for name in next(csv.reader([text], skipinitialspace=True), []))


@dataclass(frozen=True)
class NamedExplainer:
    """A factory that creates an explainer from the options of the command line.

    The explainer is created once per process. Only the options are sent to other processes, so
    model and graph need not be picklable.

    Attributes:
        model: ``module:attribute`` of a model, an explainer or a factory; or a program file.
        weights: a file of weights for the model.
        graph: a file with the graph.
        features: a table of nodes, used with ``edges`` instead of ``graph``.
        edges: a table of edges.
        drop_columns: columns of the table of nodes that are not features.
        use_columns: the columns of the table of nodes that are features, in order.
        undirected: whether each edge of the table is added in both directions.
        target_type: the node type to explain, in a heterogeneous graph.
        trust: whether to load files that can execute code.
        settings: the options of the explainer that were given.
    """

    model: str | None
    weights: Path | None
    graph: Path | None
    features: Path | None
    edges: Path | None
    drop_columns: tuple[str, ...] | None
    use_columns: tuple[str, ...] | None
    undirected: bool
    target_type: str | None
    trust: bool
    settings: Mapping[str, Any]

    @classmethod
    def of(cls, options: argparse.Namespace) -> NamedExplainer:
        """Create it from the options of :func:`add_explainer`, without reading any file."""
        return cls(**{each.name: getattr(options, each.name) for each in fields(cls)})

    def __reduce__(self) -> tuple[type[NamedExplainer], tuple[Any, ...]]:
        model, (file, *_) = self.model, (self.model or "").split(":", 1)
        if model and isfile(file):  # a program, or a module as mymodel.py:net
            model = str(Path(model).absolute())
        others = [getattr(self, each.name) for each in fields(self)[1:]]
        # Another process may have another working directory.
        return NamedExplainer, (
            model,
            *(each.absolute() if isinstance(each, Path) else each for each in others),
        )

    def __call__(self) -> PGMExplainer:
        """Return the explainer.

        Raises:
            PGMExplainerError: the model, the graph or a setting cannot be used.
        """
        return self._built[0]

    @property
    def node_names(self) -> Sequence[VariableId] | None:
        """The names of the nodes in the graph file or explainer, if they have any.

        The explainer itself uses node numbers; explanations get their names afterwards.
        """
        return self._built[1]

    @property
    def target_names(self) -> Sequence[VariableId] | None:
        """The names by which targets are given; in a HeteroData graph, those of the target type."""
        types = self._built[2]
        if types is None or not types.labels or not isinstance(types.default, str):
            return self.node_names
        labels = types.labels[types.kinds.index(types.default)]
        return labels.of(range(len(types.predicted))) if labels else None

    @cached_property
    def _built(self) -> tuple[PGMExplainer, Sequence[VariableId] | None, TypedNodes | None]:
        if self.model is None:
            raise InputError("no model was given: add --model module:attribute, or a file")
        self._check_graph_options()
        model = read_model(self.model, self.weights, self.trust)
        if isinstance(model, PGMExplainer):
            self._refuse_included_options()
            return _without_names(model, None)
        graph = self._read_graph()
        settings = dict(self.settings)
        if isinstance(settings.get("parts"), GroupsFile):
            settings["parts"] = settings["parts"].groups(graph.names)
        explainer = PGMExplainer(
            model,
            graph.x,
            graph.edge_index,
            inputs=graph.inputs_for(model) or None,
            target_type=self.target_type,
            **{"feature_names": graph.feature_names, **settings},
        )
        return _without_names(explainer, graph.names)

    def _check_graph_options(self) -> None:
        in_tables = self.features is not None
        if in_tables != (self.edges is not None) or (in_tables and self.graph is not None):
            raise InputError("give the graph with --graph, or with both --features and --edges")
        if self.undirected and not in_tables:
            raise InputError("--undirected applies only to --edges")
        columns = [name for name in ("drop_columns", "use_columns") if getattr(self, name)]
        if columns and not in_tables:
            raise InputError(f"--{columns[0].replace('_', '-')} applies only to --features")

    def _refuse_included_options(self) -> None:
        """Raise an error if options are given that the explainer already includes."""
        named = ("graph", "features", "edges", "drop_columns", "use_columns", "target_type")
        given = [f"--{name.replace('_', '-')}" for name in named if getattr(self, name) is not None]
        if given or self.settings:
            raise InputError(
                f"{self.model} is an explainer, which includes its graph and settings: "
                f"omit {', '.join((*given, *self.settings))}"
            )

    def _read_graph(self) -> GraphInput:
        if self.edges is not None and self.features is not None:
            columns = Columns(self.drop_columns or (), self.use_columns or ())
            return read_csv_graph(self.edges, self.features, self.undirected, columns)
        if self.graph is None:
            raise InputError(
                f"{self.model} is a model: give the graph with --graph, or with both --features "
                f"and --edges"
            )
        if isdir(self.graph):
            return read_folder(self.graph)
        return read_graph(self.graph, self.trust)


def _without_names(
    explainer: PGMExplainer, names: Sequence[VariableId] | None
) -> tuple[PGMExplainer, Sequence[VariableId] | None, TypedNodes | None]:
    """Return an explainer by numbers, the names of its nodes if they have any, and node types."""
    if explainer.types is not None:  # its names keep their types
        return explainer, names, explainer.types
    if explainer.offsets is not None:  # each graph has its own names
        return explainer, None, None
    if names is None and explainer.names:
        names = explainer.names.of(range(explainer.graph.num_nodes))
    return explainer.unnamed(), names, None


def check_counterfactual(explainer: PGMExplainer) -> None:
    """Check that predictions are classes, so that ``--counterfactual`` applies.

    Raises:
        InputError: the model predicts values.
    """
    if explainer.settings.model.is_regression:
        raise InputError(
            "--counterfactual searches for another predicted class, but the model predicts values: "
            "omit it, or call explanation.counterfactual(change=...) in Python"
        )
