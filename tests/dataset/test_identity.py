"""User-defined options are recognised in any process, and changes in them are detected."""

import os
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from job_models import explainer
from job_options import (
    OPTIONS,
    Locked,
    Search,
    Threshold,
    above,
    closure,
    no_edges,
)

from pgm_explainer import JobError, PGMExplainer
from pgm_explainer.dataset import explain_dataset
from pgm_explainer.dataset.identity import NoIdentityError, identity


def test_identities_and_settings_are_the_same_in_every_process():
    def lines(seed):
        environment = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        }
        command = [sys.executable, "-m", "job_options"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    one, other = lines("1"), lines("2")
    assert len(one) == len(OPTIONS)
    assert one == other
    assert " at 0x" not in "".join(one)


def test_different_objects_have_different_identities():
    known = [identity(option) for option in OPTIONS.values()]
    assert len(set(known)) == len(known)
    pairs = [
        (partial(above, t=0.2), partial(above, t=0.0001)),
        (Threshold(0.2), Threshold(0.3)),
        (Search("a"), Search("b")),
        (closure(0.1), closure(0.2)),
        (lambda x: x + 1, lambda x: x + 2),
        (lambda x, t=1: x + t, lambda x, t=2: x + t),
        (partial(above, t=np.array([0.2])), partial(above, t=np.array([0.3]))),
        (Locked("a"), Locked("b")),
        (0, False),
        (0.2, np.float64(0.2)),
    ]
    for one, other in pairs:
        assert identity(one) != identity(other), (one, other)


def test_a_model_argument_is_identified_by_its_weights():
    torch = pytest.importorskip("torch")
    one, other = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    assert identity(partial(above, t=one)) != identity(partial(above, t=other))
    other.load_state_dict(one.state_dict())
    assert identity(partial(above, t=one)) == identity(partial(above, t=other))


@pytest.mark.parametrize("option", [Locked(), (each for each in ())], ids=["lock", "generator"])
def test_an_object_without_identity_is_an_error(option):
    with pytest.raises(NoIdentityError):
        identity(option)


def test_a_job_resumes_with_the_same_partial_and_refuses_another(tmp_path):
    explain_dataset(explainer(change=partial(above, t=0.2)), [1, 2], tmp_path)
    again = explain_dataset(explainer(change=partial(above, t=0.2)), [1, 2], tmp_path)
    assert again.complete
    assert again[1].settings.sampling.change.name == "above(t=0.2)"
    with pytest.raises(JobError, match="the change that you passed has other code, arguments or"):
        explain_dataset(explainer(change=partial(above, t=0.0001)), [1, 2], tmp_path)
    with pytest.raises(JobError, match="the change that you passed"):
        explain_dataset(explainer(), [1, 2], tmp_path)


def noise(x, rng, size):
    return x + size * rng.normal(size=x.shape)


class OwnTest:
    def __init__(self, factor):
        self.factor, self.name = factor, "own"

    def statistic(self, counts):
        return self.factor * counts.sum(axis=(-1, -2))


class OwnScore:
    def __init__(self, price):
        self.price = price

    def terms(self, counts, cells):
        return np.zeros(np.shape(counts))

    def penalty(self, configurations, states, samples):
        return self.price * configurations * (states - 1)


@pytest.mark.parametrize(
    ("option", "make"),
    [
        ("structure", lambda t: partial(no_edges, note=t)),
        ("structure", Search),
        ("change", Threshold),
        ("perturbation", lambda t: partial(noise, size=t)),
        ("test", OwnTest),
        ("score", OwnScore),
    ],
)
def test_every_user_defined_option_is_recognised(tmp_path, option, make):
    for _ in range(2):
        explain_dataset(explainer(**{option: make(0.2)}), [1], tmp_path)
    with pytest.raises(JobError, match=f"the {option} that you passed"):
        explain_dataset(explainer(**{option: make(0.3)}), [1], tmp_path)


def test_only_jobs_refuse_an_option_without_identity(tmp_path):
    made = explainer(structure=Locked())
    assert made.explain(1).settings.network.structure.name == "Locked"
    with pytest.raises(JobError, match=r"structure=.* has no identity.*use a function of a module"):
        explain_dataset(made, [1], tmp_path / "new")
    assert not (tmp_path / "new").exists(), "nothing was begun"


@pytest.mark.parametrize(
    "others", [{"max_memory": "10MB"}, {"samples_per_call": 7}, {"progress": False}], ids=str
)
def test_execution_options_may_change_between_runs(tmp_path, others):
    before = [*explain_dataset(explainer(), range(4), tmp_path, shard_size=2)]
    (tmp_path / "shards" / "000001.parquet").unlink()
    after = explain_dataset(explainer(**others), range(4), tmp_path, shard_size=2)
    assert [each.nodes for each in after] == [each.nodes for each in before]
    assert after.complete


def test_the_settings_describe_the_bound_values_of_a_partial(tmp_path):
    x, edges = np.eye(3), np.array([[0, 1], [1, 2]])
    made = PGMExplainer(lambda x: x, x, edges, perturbation=partial(noise, size=0.5))
    assert made.settings.sampling.perturbation.name == "noise(size=0.5)"


def test_a_module_with_an_address_in_its_repr_is_recognised(tmp_path):
    """Like a module whose activation is a function, at a different address in each process."""
    torch = pytest.importorskip("torch")

    class Net(torch.nn.Linear):
        place = 0

        def extra_repr(self):
            Net.place += 1
            return f"act=<function relu at 0x{Net.place:012x}>"

        def forward(self, x, edge_index):
            return super().forward(x)

    net = Net(3, 2)
    for _ in range(2):
        explain_dataset(explainer(net, num_layers=1), [1], tmp_path)
