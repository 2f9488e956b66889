"""Data files are found, downloaded or rejected, and never read with a wrong checksum."""

from __future__ import annotations

import gzip
import hashlib
import io
import threading
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from pgm_explainer import PGMExplainerError
from pgm_explainer_lab.data import DataError, DataFile, data_folder, read_data

CONTENTS = b"1,2\n3,4\n" * 100
SHA256 = hashlib.sha256(CONTENTS).hexdigest()


def zipped(**members: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, contents in members.items():
            archive.writestr(name, contents)
    return packed.getvalue()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *said: object) -> None:
        pass


@pytest.fixture
def site(tmp_path):
    """A folder served over HTTP, and its address."""
    folder = tmp_path / "site"
    folder.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield folder, f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def store(tmp_path):
    folder = tmp_path / "store"
    folder.mkdir()
    return folder


def files_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_data_folder_is_argument_then_variable_then_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PGM_EXPLAINER_DATA", str(tmp_path / "named"))
    assert data_folder(tmp_path) == tmp_path
    assert data_folder() == tmp_path / "named"
    monkeypatch.delenv("PGM_EXPLAINER_DATA")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert data_folder() == tmp_path / "pgm-explainer"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert data_folder() == Path.home() / ".cache" / "pgm-explainer"


@pytest.mark.parametrize("stored", [CONTENTS, gzip.compress(CONTENTS)], ids=["as is", "gzip"])
def test_a_file_is_read_uncompressed(stored, store, monkeypatch):
    (store / "some.csv.gz").write_bytes(stored)
    assert read_data(DataFile("some.csv.gz", SHA256), store) == CONTENTS
    monkeypatch.setenv("PGM_EXPLAINER_DATA", str(store))
    assert read_data(DataFile("some.csv.gz", SHA256)) == CONTENTS


def test_a_missing_private_file_is_named_in_the_error(store):
    with pytest.raises(DataError, match=r"deep/some\.npz is missing; .*PGM_EXPLAINER_DATA"):
        read_data(DataFile("deep/some.npz", SHA256), store)
    assert issubclass(DataError, PGMExplainerError)
    assert issubclass(DataError, FileNotFoundError)


@pytest.mark.parametrize(
    ("stored", "said"),
    [
        (b"another file", "sha256"),
        (b"", "sha256"),
        (gzip.compress(b"another file"), "sha256"),
        (gzip.compress(CONTENTS)[:-20], "damaged"),
        (gzip.compress(CONTENTS)[:20] + b"\0" * 20, "damaged"),
        (b"\x1f\x8b", "damaged"),
    ],
    ids=["another", "empty", "another, gzip", "cut off", "garbled", "magic only"],
)
def test_a_file_with_a_wrong_checksum_is_reported_and_kept(stored, said, store):
    path = store / "some.csv.gz"
    path.write_bytes(stored)
    with pytest.raises(DataError, match=said) as error:
        read_data(DataFile("some.csv.gz", SHA256, "http://127.0.0.1:9/unused"), store)
    assert str(path) in str(error.value)
    assert path.read_bytes() == stored


@pytest.mark.parametrize(
    ("served", "member"),
    [
        (CONTENTS, None),
        (gzip.compress(CONTENTS), None),
        (zipped(wanted=CONTENTS, other=b"other"), "wanted"),
    ],
    ids=["as is", "gzip", "zip"],
)
@pytest.mark.parametrize("path", ["deep/some.csv.gz", "some.csv"])
def test_a_missing_file_is_downloaded_once(served, member, path, site, store):
    folder, address = site
    (folder / "some").write_bytes(served)
    file = DataFile(path, SHA256, address + "some", member)
    assert read_data(file, store) == CONTENTS
    (folder / "some").unlink()
    assert read_data(file, store) == CONTENTS
    assert files_in(store) == [path]
    kept = (store / path).read_bytes()
    assert kept.startswith(b"\x1f\x8b") is path.endswith(".gz")


@pytest.mark.parametrize(
    ("served", "member"),
    [
        (b"<html>Not found</html>", None),
        (gzip.compress(CONTENTS)[:-20], None),
        (zipped(wanted=b"another file"), "wanted"),
        (zipped(other=CONTENTS), "wanted"),
        (zipped(wanted=CONTENTS)[:-60], "wanted"),
    ],
    ids=["another", "cut off", "another in a zip", "not in the zip", "cut off zip"],
)
def test_a_download_with_a_wrong_checksum_leaves_no_file(served, member, site, store):
    folder, address = site
    (folder / "some").write_bytes(served)
    with pytest.raises(DataError) as error:
        read_data(DataFile("some.csv.gz", SHA256, address + "some", member), store)
    assert address in str(error.value)
    assert files_in(store) == []


def test_a_failed_download_suggests_a_solution(site, store):
    _, address = site
    with pytest.raises(DataError, match=r"could not be downloaded from .*404.*by hand"):
        read_data(DataFile("some.csv", SHA256, address + "not-there"), store)
    assert files_in(store) == []
