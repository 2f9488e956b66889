"""Candidates beyond the receptive field have no effect; they must not get that of other parts."""

import numpy as np
import pytest

from pgm_explainer import Deviation, Features, Groups, PGMExplainer, Time

COUNT = 12
SENT = np.arange(COUNT)
RING = np.concatenate(
    (np.stack((SENT, (SENT + 1) % COUNT)), np.stack(((SENT + 1) % COUNT, SENT))), 1
)
TARGET = 6
NEAR = (TARGET - 1, TARGET + 1)


def neighbours(x, edge_index):
    """One layer: the sum of the neighbours' features, over all time steps."""
    total = x.reshape(*x.shape[:2], -1).sum(axis=2)
    out = np.zeros(total.shape)
    np.add.at(out, (slice(None), edge_index[1]), total[:, edge_index[0]])
    return out[..., None]


def difference(x, edge_index, pairs):
    out = neighbours(x, edge_index)
    return out[:, pairs[0]] - out[:, pairs[1]]


def explained(hops, x=None, **options):
    options = {"model": neighbours, "num_layers": 1, "target": TARGET, **options}
    target, model = options.pop("target"), options.pop("model")
    x = np.ones((COUNT, 1)) if x is None else x
    fixed = {"scores": "values", "change": Deviation(0.5), "num_samples": 400, "hops": hops}
    return PGMExplainer(model, x, RING, **fixed, **options).explain(target)


ZERO = {"perturbation": "zero"}
CASES = {
    "edges": {"parts": "edges"},
    "groups": {"parts": Groups({str(node): [node] for node in range(COUNT)}), **ZERO},
    "features of nodes": {"parts": Features(list(range(COUNT))), **ZERO},
    "time steps of nodes": {"parts": Time(per_node=True), "x": np.ones((COUNT, 2, 1)), **ZERO},
    "lone nodes": {"own_predictions": False, **ZERO},
    "pairs": {"model": difference, "task": "edge", "target": (TARGET, 0), **ZERO},
}


def near(case, label):
    """Whether perturbing a part can change the prediction at all."""
    if case == "edges":
        return TARGET in label
    node = int(label) if isinstance(label, str) else label[0] if isinstance(label, tuple) else label
    return node in NEAR or (case == "pairs" and node in (1, COUNT - 1))


@pytest.mark.parametrize("case", CASES)
def test_far_parts_have_no_effect_and_near_ones_keep_theirs(case):
    close, far = (explained(hops, **CASES[case]) for hops in (1, 5))
    assert len(far.effects) > len(close.effects)
    known = {row.node: row.effect for row in close.effects}
    for row in far.effects:
        if near(case, row.node):
            assert row.effect == pytest.approx(known[row.node], abs=1e-3)
            assert row.effect != 0
        else:
            assert row.effect == pytest.approx(0, abs=1e-3)


def test_any_number_of_hops_may_be_given():
    assert len(explained(10**9, parts="edges").effects) == COUNT
