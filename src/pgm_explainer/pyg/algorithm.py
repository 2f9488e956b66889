"""The algorithm that PyTorch Geometric's ``Explainer`` calls."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.explain import ExplainerAlgorithm, HeteroExplanation
from torch_geometric.explain import Explanation as PygExplanation
from torch_geometric.explain.config import ExplainerConfig, MaskType, ModelConfig

from ..errors import InputError
from ..explainer import PGMExplainer
from ..explanation import Explanation
from ..limits import brief
from ..sampling.parts import Edges
from .call import PygCall
from .masks import (
    Found,
    attribute_mask,
    column_mask,
    edge_effects,
    edge_mask,
    node_effects,
    node_mask,
    p_values,
)

__all__ = ["ByTarget", "PGMExplainerAlgorithm"]

_logger = logging.getLogger(__name__)

_SET_BY_THE_EXPLAINER = ("task", "scores", "explained_class", "inputs", "parts")
_NOT_OPTIONS = ("model", "x", "edge_index", *_SET_BY_THE_EXPLAINER)
_OPTIONS = [name for name in inspect.signature(PGMExplainer).parameters if name not in _NOT_OPTIONS]
_NAMES_IN_PYG = {
    "feature_index": "features",
    "perturbation_mode": "perturbation",
    "max_subgraph_size": "max_nodes",
    "significance_threshold": "significance",
    "pred_threshold": "change",
}
"""Options of ``torch_geometric.contrib.explain.PGMExplainer``, and their names here."""


class ByTarget:
    """The full explanations by target, attached to PyTorch Geometric's explanation.

    This is not a dictionary or list, because PyTorch Geometric would treat these as graph data and
    slice them.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer import PGMExplainer
        >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
        >>> x = np.array([[2.0, 0], [0, 1], [0, 1]])
        >>> edges = np.array(path.nonzero())
        >>> explainer = PGMExplainer(lambda x: path @ x, x, edges, num_layers=1)
        >>> explanation = explainer.explain(1)
        >>> from pgm_explainer.pyg import ByTarget
        >>> found = ByTarget({1: explanation})
        >>> found[1].target
        1
    """

    def __init__(self, explanations: dict[Any, Explanation]) -> None:
        self._explanations = explanations

    def __getitem__(self, target: Any) -> Explanation:
        return self._explanations[target]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._explanations)

    def __len__(self) -> int:
        return len(self._explanations)

    def __repr__(self) -> str:
        return f"explanations of {', '.join(map(str, self._explanations))}"


class PGMExplainerAlgorithm(ExplainerAlgorithm):
    """Explains predictions of nodes, edges or a graph with probabilistic graphical models.

    Graphs may be homogeneous or heterogeneous. A mask holds the strength of each significant effect
    (from 0 to 1, see :class:`~pgm_explainer.effects.Effects`), and 0 for all others. If several
    predictions are explained, it holds the maximum over these predictions.

    - ``node_mask_type="object"``: effects of perturbing nodes; 1 for the nodes of the target.
    - ``node_mask_type="attributes"``: a value for each feature of each node. The strongest feature
      of a node has the value of the node; the other features have less, in proportion to their
      effects, which are measured by perturbing each feature independently. Nodes that are neither
      in the network nor in the target have 0.
    - ``node_mask_type="common_attributes"``: effects of perturbing a feature column of all nodes.
    - ``edge_mask_type="object"``: effects of removing edges. Both directions of an undirected edge
      are removed together and have the same value. The same holds for repeated edges.

    If both a node and an edge mask are requested, each is computed from its own samples, and is the
    same as if it were requested alone.

    PyTorch Geometric's explanation also gets the attribute ``pgm``: the full explanations by
    target, with their effects, rankings and networks. Their parts are nodes or features
    or, if only an edge mask is requested, edges. ``pgm_edges`` has the explanations whose parts are
    edges. Masks have no sign; the signed effects, on the target that changes most, are in
    ``pgm_edge_effects`` ``[E]`` and, unless feature columns are explained, in ``pgm_effects``
    ``[N]``. ``pgm_stats`` ``[N]`` has the p-value of each node's dependence with the prediction.

    Args:
        edges: how edges are perturbed; None to remove them.
        options: options of :class:`~pgm_explainer.PGMExplainer`, except those that the
            ``Explainer`` already sets (task, type of scores, class, parts, other inputs). The
            option names of ``torch_geometric.contrib.explain.PGMExplainer`` work, too. For a
            heterogeneous graph, ``target_type`` is needed in an edge task, and in a node task
            unless exactly one node type has as many nodes as there are predictions.

    Examples:
        >>> import torch
        >>> from torch_geometric.explain import Explainer
        >>> from torch_geometric.nn import GCN
        >>> from pgm_explainer.pyg import PGMExplainerAlgorithm
        >>> model = GCN(2, hidden_channels=4, num_layers=1, out_channels=2)
        >>> explainer = Explainer(
        ...     model,
        ...     algorithm=PGMExplainerAlgorithm(num_samples=100),
        ...     explanation_type="model",
        ...     node_mask_type="object",
        ...     model_config={
        ...         "mode": "multiclass_classification", "task_level": "node", "return_type": "raw"
        ...     },
        ... )
        >>> found = explainer(torch.rand(3, 2), torch.tensor([[0, 1, 2, 1], [1, 0, 1, 2]]), index=1)
        >>> tuple(found.node_mask.shape), found.pgm[1].target
        ((3, 1), 1)
    """

    def __init__(self, *, edges: Edges | None = None, **options: Any) -> None:
        super().__init__()
        if not isinstance(edges, (Edges, type(None))):
            raise InputError(f"edges must be an instance of Edges, not {brief(edges)}")
        options = _own_names(options)
        known = [name for name in _SET_BY_THE_EXPLAINER if name in options]
        if known:
            raise InputError(
                f"{', '.join(known)}: already set by the arguments and the call of the Explainer; "
                f"leave it out"
            )
        unknown = [name for name in options if name not in _OPTIONS]
        if unknown:
            raise InputError(
                f"unknown options: {', '.join(unknown)}; known: edges, {', '.join(_OPTIONS)}"
            )
        self.edges = edges or Edges()
        self.options = options

    def supports(self) -> bool:
        """Return whether the configuration is supported; called by PyTorch Geometric."""
        reason = self._unsupported()
        if reason is not None:
            _logger.error(reason)
        return reason is None

    def connect(self, explainer_config: ExplainerConfig, model_config: ModelConfig) -> None:
        """Connect an explainer and model configuration; called by PyTorch Geometric.

        Raises:
            InputError: the configuration is not supported; the message says why.
        """
        try:
            super().connect(explainer_config, model_config)
        except ValueError:
            reason = self._unsupported()
            if reason is None:
                raise
            raise InputError(reason) from None

    def _unsupported(self) -> str | None:
        """Return why the configuration is not supported; None if it is."""
        if self.explainer_config.edge_mask_type is None:
            return None
        by_edges_only = self.explainer_config.node_mask_type is None
        feature_options = [name for name in ("perturbation", "features") if name in self.options]
        if by_edges_only and feature_options:
            apply = "applies" if len(feature_options) == 1 else "apply"
            return (
                f"{' and '.join(feature_options)} {apply} to node features, but only an edge mask "
                f"is requested; leave it out, or set node_mask_type"
            )
        return None

    def forward(
        self,
        model: torch.nn.Module,
        x: Tensor | dict[str, Tensor],
        edge_index: Tensor | dict[tuple[str, str, str], Tensor],
        *,
        target: Tensor,
        index: int | Tensor | None = None,
        **kwargs: Any,
    ) -> PygExplanation | HeteroExplanation:
        """Explain; called by ``torch_geometric.explain.Explainer``."""
        if isinstance(x, Tensor) and (x.is_nested or x.dim() != 2):
            raise InputError(
                f"x must have the shape [nodes, features] for PyTorch Geometric's masks, not "
                f"{x.dim()} dimensions; use PGMExplainer for features with time steps"
            )
        for name, value in (("x", x), ("edge_index", edge_index)):
            tensors = list(value.values()) if isinstance(value, dict) else [value]
            if not tensors or not all(map(_is_usable, tensors)) or not len(value):
                raise InputError(f"{name} must be a tensor, or a dictionary, not {brief(value)}")
        if not isinstance(target, Tensor) or target.is_nested:
            raise InputError(f"target must be a tensor, not {brief(target)}")
        inputs = {name: value for name, value in kwargs.items() if value is not None}
        call = PygCall(model, x, edge_index, target, index, inputs, self.model_config, self.options)
        result = PygExplanation() if isinstance(x, Tensor) else HeteroExplanation()
        wanted = self.explainer_config
        if wanted.edge_mask_type is not None:
            self._add_edge_mask(result, call)
        if wanted.node_mask_type is not None:
            self._add_node_mask(result, call, wanted.node_mask_type)
        return result

    def _add_edge_mask(self, result: Any, call: PygCall) -> None:
        found = call.without("perturbation", "features").explain(self.edges)
        result.pgm = result.pgm_edges = _by_target(found)
        values = {
            "edge_mask": edge_mask(found, self.edges),
            "pgm_edge_effects": edge_effects(found, self.edges),
        }
        for name, mask in values.items():
            if isinstance(call.x, Tensor):
                result[name] = _as_mask(mask, call.x)
                continue
            sizes = [pairs.shape[1] for pairs in call.edge_index.values()]
            blocks = np.split(mask, np.cumsum(sizes)[:-1])
            some = next(iter(call.x.values()))
            tensors = [_as_mask(block, some) for block in blocks]
            result.set_value_dict(name, dict(zip(call.edge_index, tensors, strict=True)))

    def _add_node_mask(self, result: Any, call: PygCall, kind: MaskType) -> None:
        by_column = kind is MaskType.common_attributes
        found = call.explain("features" if by_column else "nodes")
        result.pgm = _by_target(found)
        make = {MaskType.object: node_mask, MaskType.attributes: attribute_mask}
        values = {"node_mask": make.get(kind, column_mask)(found)}
        if not by_column:
            values |= {"pgm_stats": p_values(found), "pgm_effects": node_effects(found)}
        for name, mask in values.items():
            if isinstance(call.x, Tensor):
                result[name] = _as_mask(mask, call.x)
                continue
            sizes = [1 if by_column else len(x) for x in call.x.values()]
            blocks = zip(call.x.items(), np.split(mask, np.cumsum(sizes)[:-1]), strict=True)
            result.set_value_dict(
                name, {key: _as_mask(_own_columns(block, x), x) for (key, x), block in blocks}
            )


def _own_columns(mask: NDArray[np.float64], x: Tensor) -> NDArray[np.float64]:
    """Return a mask without the columns that only other node types have."""
    return mask[:, : x.shape[1]] if mask.ndim == 2 else mask


def _is_usable(value: Any) -> bool:
    return isinstance(value, Tensor) and not value.is_nested and value.dim() > 0


def _as_mask(values: NDArray[np.float64], x: Tensor) -> Tensor:
    """Return values as a tensor on the device of the features, with their precision if floats."""
    precision = x.dtype if x.is_floating_point() else torch.get_default_dtype()
    return torch.from_numpy(values).to(x.device, precision)


def _by_target(found: Found) -> ByTarget:
    return ByTarget({explanation.target: explanation for _, explanation in found})


def _own_names(options: dict[str, Any]) -> dict[str, Any]:
    """Rename options to the names that :class:`~pgm_explainer.PGMExplainer` uses."""
    found: dict[str, Any] = {}
    for name, value in options.items():
        own = _NAMES_IN_PYG.get(name, name)
        if own in found:
            raise InputError(f"{own} is given twice, also as {name}; leave one out")
        found[own] = value
    chosen = found.get("perturbation")
    if isinstance(chosen, str) and chosen == "randint" and "perturbation_mode" in options:
        found["perturbation"] = "random"  # 0 or 1, under another name
    return found
