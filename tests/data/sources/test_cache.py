import logging
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from boostbench.data import Dataset
from boostbench.data.sources import local_files
from boostbench.spec.data import DataQuery

TOY = Dataset("toy", np.array([[0.1, 0], [2, 3]]), np.array(["b", "a"]), "OpenML 1 v1")
ORIGIN = DataQuery(id=1, keep=["a"])


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("labels", [np.array([1, 2]), np.array(["ä", "b c"])])
def test_cache_round_trip(sparse, labels):
    stored = replace(TOY, X=csr_matrix(TOY.X) if sparse else TOY.X, y=labels)
    local_files.write_to_cache(stored, ORIGIN)
    fetched = local_files.read_from_cache("toy", ORIGIN)
    assert fetched.is_sparse == sparse
    assert fetched.y.tolist() == labels.tolist()
    assert (fetched.checksum, fetched.source) == (stored.checksum, stored.source)


def test_fetch_without_a_cached_file_is_none():
    assert local_files.read_from_cache("toy", ORIGIN) is None


def test_other_query_is_not_answered():
    local_files.write_to_cache(TOY, ORIGIN)
    assert local_files.read_from_cache("toy", DataQuery(id=2, keep=["a"])) is None


def test_only_whole_files_are_left_behind():
    local_files.write_to_cache(TOY, ORIGIN)
    assert [p.name for p in local_files.cache_folder().iterdir()] == ["toy.npz"]


@pytest.mark.parametrize("keep", [0, 10, 400, -1])
def test_truncated_files(keep):
    local_files.write_to_cache(TOY, ORIGIN)
    path = local_files.cache_path("toy")
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ValueError, match=r"toy\.npz is damaged"):
        local_files.read_from_cache("toy", ORIGIN)


def test_changed_contents():
    local_files.write_to_cache(TOY, ORIGIN)
    path = local_files.cache_path("toy")
    with np.load(path) as archive:
        arrays = dict(archive)
    np.savez(path, **arrays | {"X": arrays["X"] + 1e-9})
    with pytest.raises(ValueError, match=r"toy\.npz is damaged \(its checksum"):
        local_files.read_from_cache("toy", ORIGIN)


def test_unwritable_folder_is_a_warning(tmp_path, monkeypatch, caplog):
    (tmp_path / "file").touch()
    monkeypatch.setenv("BOOSTBENCH_CACHE", str(tmp_path / "file"))
    with caplog.at_level(logging.WARNING):
        local_files.write_to_cache(TOY, ORIGIN)
    assert "toy is not cached" in caplog.text


def test_default_folder(monkeypatch):
    monkeypatch.delenv("BOOSTBENCH_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert local_files.cache_folder() == Path("/somewhere/boostbench")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert local_files.cache_folder() == Path.home() / ".cache" / "boostbench"
