"""Files that once failed: each is refused by a package error, soon and without much memory."""

import json
import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from job_models import exact_explainer
from readers import READ, no_longer_than

from pgm_explainer import PGMExplainerError
from pgm_explainer.cli import main
from pgm_explainer.dataset import ExplanationDataset, explain_dataset

CORPUS = Path(__file__).parents[1] / "corpus"
FILES = [path for path in sorted(CORPUS.glob("*/*")) if path.parent.name in READ]
SETTINGS = sorted((CORPUS / "setting").iterdir())
FOLDERS = sorted((CORPUS / "folder").iterdir())


def called(path):
    return f"{path.parent.name}-{path.stem}"


def test_every_file_of_the_corpus_is_read_by_a_test():
    known = {CORPUS / "README.md", *FILES, *SETTINGS, *FOLDERS}
    assert {path for path in CORPUS.rglob("*") if path.is_file()} == known


@pytest.fixture(scope="module")
def imported():
    """What takes seconds to import, before any time is taken."""
    pytest.importorskip("torch_geometric.data")


@pytest.mark.usefixtures("imported")
@pytest.mark.parametrize("path", FILES, ids=called)
def test_a_file_is_refused(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    may_be_read = path.name.startswith("read-")
    expected = suppress(PGMExplainerError) if may_be_read else pytest.raises(PGMExplainerError)
    with no_longer_than(10), expected:
        READ[path.parent.name](path.read_bytes(), tmp_path)
    assert not (tmp_path / "sprung").exists(), "it was executed"


@pytest.mark.parametrize("path", SETTINGS, ids=called)
def test_a_setting_is_refused(path, capsys):
    with no_longer_than(10), pytest.raises(SystemExit):
        main(["explain", "--model", "job_models:gnn", "--set", path.read_text()])
    assert capsys.readouterr().err.startswith("pgm-explainer: error: ")


def run(folder):
    return explain_dataset(exact_explainer(), [1, 2, 5, 7], folder, shard_size=2)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    run(folder)
    return folder


@pytest.mark.parametrize("path", FOLDERS, ids=called)
def test_a_data_set_is_refused_or_read_correctly(path, whole, tmp_path):
    case = json.loads(path.read_text())
    folder = shutil.copytree(whole, tmp_path / "copy")
    file = folder / case["file"]
    before, sound = "", file.read_text()
    if case["file"] == "journal.jsonl":
        before, _, sound = sound.rpartition("\n")
    new = case.get("raw") or json.dumps({**json.loads(sound), **case["set"]})
    file.write_bytes(f"{before}\n{new}".encode(errors="surrogatepass"))
    with no_longer_than(10):
        if "read" in case:
            assert len(list(ExplanationDataset(folder))) == case["read"]
            assert run(folder).complete
            return
        if case.get("goes_on", True):
            with pytest.raises(PGMExplainerError):
                list(ExplanationDataset(folder))
        with pytest.raises(PGMExplainerError):
            run(folder)
