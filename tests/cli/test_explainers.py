"""The explainer that a command line names, here and in other processes."""

import argparse
import pickle

import pytest

from pgm_explainer import InputError, PGMExplainer
from pgm_explainer.cli.explainers import NamedExplainer, add_explainer

TABLES = ("--features", "people.csv", "--edges", "friends.csv")


def named(*typed):
    parser = argparse.ArgumentParser()
    add_explainer(parser)
    return NamedExplainer.of(parser.parse_args(typed))


def test_the_explainer_is_created_once(folder):
    maker = named("--model", "visits_model:model", "--graph", "graph.npz", "--seed", "3")
    assert isinstance(maker(), PGMExplainer)
    assert maker() is maker()
    assert maker().settings.sampling.seed == 3


@pytest.mark.parametrize("graph", [("--graph", "named.npz"), TABLES], ids=str)
def test_it_can_be_sent_to_a_process_in_another_folder(
    folder, tmp_path_factory, monkeypatch, graph
):
    maker = named("--model", "visits_model:model", *graph, "--set", "no_child=false")
    maker()
    sent = pickle.dumps(maker)
    assert len(sent) < 2000, "names, not what they are of"
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    found = pickle.loads(sent)
    assert found().settings == maker().settings
    assert found.node_names == maker.node_names
    assert (found().population.x == maker().population.x).all()


def test_an_explainer_rejects_graph_and_settings_options(folder):
    assert isinstance(named("--model", "job_models:explainer")(), PGMExplainer)
    given = ("--graph", "graph.npz", "--seed", "3", "--set", "no_child=false")
    with pytest.raises(InputError, match="omit --graph, seed, no_child"):
        named("--model", "job_models:explainer", *given)()
