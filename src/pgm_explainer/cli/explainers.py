"""The explainer that a command line names: a model, its graph, and how to explain."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from os.path import isfile
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..explainer import PGMExplainer
from ..sampling import VariableId
from .csv_graph import read_csv_graph
from .inputs import GraphInput, read_graph, read_model
from .setting_options import add_settings

__all__ = ["SOURCES", "NamedExplainer", "add_explainer"]

SOURCES = """\
the model is one of
  mymodel:net      the object 'net' of mymodel.py, or of an installed module: a
                   PyTorch module, a function of features, or an explainer,
                   which has a graph and settings of its own; or a class or
                   function without arguments that makes one of these.
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
"""
"""What can be named, for the end of a command's help."""


def add_explainer(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what explains: those that :class:`NamedExplainer` is made of."""
    group = parser.add_argument_group("the model and its graph")
    group.add_argument("--model", help="module:attribute or a file; see below")
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
        "--target-type", metavar="KIND", help="the kind of node predicted, with HeteroData"
    )
    group.add_argument(
        "--trust",
        action="store_true",
        help="also read files that may execute code (programs, pickles); only if you trust them",
    )
    add_settings(parser.add_argument_group("how to explain"))


@dataclass(frozen=True)
class NamedExplainer:
    """How an explainer is made from what the command line names.

    It is made once in a process. What is sent to another process is the names alone, which it is
    made from anew; a model or graph need not be picklable.

    Attributes:
        model: ``module:attribute`` of a model, an explainer or what makes one; or a program file.
        weights: a file of weights for the model.
        graph: a file with the graph.
        features: a table of nodes, with ``edges`` instead of ``graph``.
        edges: a table of edges.
        undirected: whether each edge of the table goes both ways.
        target_type: the kind of node predicted, in a graph of several kinds.
        trust: whether files may be read that may execute code.
        settings: options of the explainer, as far as they are given.
    """

    model: str | None
    weights: Path | None
    graph: Path | None
    features: Path | None
    edges: Path | None
    undirected: bool
    target_type: str | None
    trust: bool
    settings: Mapping[str, Any]

    @classmethod
    def of(cls, options: argparse.Namespace) -> NamedExplainer:
        """Return what the options of :func:`add_explainer` name; nothing is read yet."""
        return cls(**{each.name: getattr(options, each.name) for each in fields(cls)})

    def __reduce__(self) -> tuple[type[NamedExplainer], tuple[Any, ...]]:
        is_file = self.model is not None and isfile(self.model)
        model = str(Path(self.model or "").absolute()) if is_file else self.model
        others = [getattr(self, each.name) for each in fields(self)[1:]]
        # Another process may be in another folder.
        return NamedExplainer, (
            model,
            *(each.absolute() if isinstance(each, Path) else each for each in others),
        )

    def __call__(self) -> PGMExplainer:
        """Return the explainer.

        Raises:
            PGMExplainerError: in one of its forms, for anything that cannot be used.
        """
        return self._made[0]

    @property
    def node_names(self) -> Sequence[VariableId] | None:
        """What the nodes are called in the graph's file, if not by their numbers."""
        return self._made[1]

    @cached_property
    def _made(self) -> tuple[PGMExplainer, Sequence[VariableId] | None]:
        if self.model is None:
            raise InputError("name the model: --model module:attribute, or a file")
        self._check_graph_options()
        model = read_model(self.model, self.weights, self.trust)
        if isinstance(model, PGMExplainer):
            self._refuse_what_it_has()
            return model, None
        graph = self._read_graph()
        explainer = PGMExplainer(
            model,
            graph.x,
            graph.edge_index,
            inputs=graph.inputs_for(model) or None,
            target_type=self.target_type,
            **self.settings,
        )
        return explainer, graph.names

    def _check_graph_options(self) -> None:
        in_tables = self.features is not None
        if in_tables != (self.edges is not None) or (in_tables and self.graph is not None):
            raise InputError("give the graph by --graph, or by both --features and --edges")
        if self.undirected and not in_tables:
            raise InputError(
                "--undirected is for --edges; a graph in one file says both ways itself"
            )

    def _refuse_what_it_has(self) -> None:
        """Refuse what an explainer has of its own."""
        named = ("graph", "features", "edges", "target_type")
        given = [f"--{name.replace('_', '-')}" for name in named if getattr(self, name) is not None]
        if given or self.settings:
            raise InputError(
                f"{self.model} is an explainer, with a graph and settings of its own: "
                f"leave {', '.join((*given, *self.settings))} away"
            )

    def _read_graph(self) -> GraphInput:
        if self.edges is not None and self.features is not None:
            return read_csv_graph(self.edges, self.features, self.undirected)
        if self.graph is None:
            raise InputError(
                f"{self.model} is a model: give the graph by --graph, or by both --features and "
                f"--edges"
            )
        return read_graph(self.graph, self.trust)
