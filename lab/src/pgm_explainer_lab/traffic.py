"""Generated traffic on roads, where the cause of each forecast is known, and a model of it.

Every road has one main inflow and some side roads. The flow on a road is the flow on these a few
steps earlier, weighted by their shares, and noise. So the cause of a forecast is the main inflow at
that lag.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch_geometric.nn import GraphConv

__all__ = ["Traffic", "TrafficNet", "make_traffic", "train_traffic_net"]

_MAIN, _SIDE = 0.8, 0.05


@dataclass(frozen=True, eq=False)
class Traffic:
    """Flows on roads.

    Attributes:
        flows: ``[T, roads]``, around 0.
        edge_index, edge_weight: which road flows into which, with its share.
        main: the main inflow of each road.
        lag: how many steps the traffic takes from a road to the next.
    """

    flows: NDArray[np.float32]
    edge_index: NDArray[np.int64]
    edge_weight: NDArray[np.float32]
    main: NDArray[np.int64]
    lag: int

    def window(self, stop: int, steps: int) -> NDArray[np.float32]:
        """Return features ``[roads, steps, 2]`` before a time: the flow, and the time of day."""
        flow = self.flows[stop - steps : stop].T
        clock = np.sin(np.arange(stop - steps, stop) / 20, dtype=np.float32)
        return np.stack((flow, np.broadcast_to(clock, flow.shape)), axis=-1)


def make_traffic(
    roads: int = 120, length: int = 400, lag: int = 3, side_roads: int = 2, seed: int = 0
) -> Traffic:
    """Return flows on random roads."""
    rng = np.random.default_rng(seed)
    inflows = np.stack([rng.permutation(roads - 1)[: side_roads + 1] for _ in range(roads)])
    inflows += inflows >= np.arange(roads)[:, None]  # no road flows into itself
    share = np.array([_MAIN, *[_SIDE] * side_roads], dtype=np.float32)
    flows = rng.normal(size=(length, roads)).astype(np.float32)
    for now in range(lag, length):
        flows[now] += flows[now - lag][inflows] @ share
    target = np.repeat(np.arange(roads), side_roads + 1)
    edge_index = np.stack((inflows.ravel(), target))
    return Traffic(flows, edge_index, np.tile(share, roads), inflows[:, 0], lag)


class TrafficNet(nn.Module):
    """A convolution over time on each road, then one over roads; it forecasts the next flow."""

    def __init__(self, steps: int, hidden: int = 8) -> None:
        super().__init__()
        self.over_time = nn.Conv1d(2, hidden, kernel_size=3)
        self.over_roads = GraphConv(hidden * (steps - 2), 32)
        self.last = nn.Linear(32, 1)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        """Return the forecast ``[n, 1]`` of features ``[n, T, 2]``."""
        hidden = self.over_time(x.transpose(1, 2)).relu().flatten(1)
        forecast: Tensor = self.last(self.over_roads(hidden, edge_index, edge_weight).relu())
        return forecast


def train_traffic_net(
    traffic: Traffic, steps: int = 8, epochs: int = 2, seed: int = 0
) -> TrafficNet:
    """Return a model that has learned to forecast the flow of the next step."""
    torch.manual_seed(seed)
    model = TrafficNet(steps)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    edges = torch.from_numpy(traffic.edge_index), torch.from_numpy(traffic.edge_weight)
    order = np.random.default_rng(seed)
    for _ in range(epochs):
        for now in order.permutation(np.arange(steps, len(traffic.flows))).tolist():
            x, y = torch.from_numpy(traffic.window(now, steps)), traffic.flows[now]
            loss = nn.functional.mse_loss(model(x, *edges)[:, 0], torch.from_numpy(y))
            optimizer.zero_grad()
            torch.autograd.backward(loss)
            optimizer.step()
    return model.eval()
