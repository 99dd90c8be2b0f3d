import errno
import io
import os
import shutil
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from boostbench.data.dataset import Dataset
from boostbench.data.loading import load
from boostbench.data.sources import first_available_source, local_files
from boostbench.spec.data import DataSpec
from boostbench.util import configs
from boostbench.util.errors import UserError

SPEC = {"name": "toy", "path": None, "rows": [0, 4]}


def make(X=None, y=("a", "b", "a", "c"), splits=None):
    X = np.arange(12.0).reshape(4, 3) if X is None else X
    return Dataset("toy", X, np.array(y), "file /home/me/toy.csv", splits)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("BOOSTBENCH_DATA", str(tmp_path))
    return tmp_path


SPLITS = [(np.array([0, 1]), np.array([2, 3])), (np.array([3]), np.array([0, 2]))]


@pytest.mark.parametrize(
    "dataset", [make(), make(csr_matrix(np.eye(4))), make(y=(1, 2, 3, 1), splits=SPLITS)]
)
def test_bundle_round_trip(folder, dataset):
    local_files.write_bundle(folder, DataSpec.from_config(SPEC), dataset)
    loaded = load(SPEC)
    assert (loaded.checksum, loaded.is_sparse) == (dataset.checksum, dataset.is_sparse)
    assert loaded.y.tolist() == dataset.y.tolist()
    assert (loaded.splits is None) == (dataset.splits is None)
    for first, second in zip(loaded.splits or [], dataset.splits or [], strict=True):
        assert [part.tolist() for part in first] == [part.tolist() for part in second]
    assert "/home/me" not in loaded.source
    assert first_available_source(SPEC) == "bundle"


def test_bundle_hides_the_folder_of_its_source(folder):
    away = replace(make(), source="file C:\\Users\\me\\toy.svm")
    local_files.write_bundle(folder, DataSpec.from_config(SPEC), away)
    assert load(SPEC).source.endswith(", of file toy.svm")


def test_other_query_is_not_answered(folder):
    local_files.write_bundle(folder, DataSpec.from_config(SPEC), make())
    for change in ({"rows": [0, 3]}, {"classes": 2}):
        message = (
            r"not available: .*toy\.bundle\.npz was made for other settings of data; no toy\.svm"
        )
        with pytest.raises(UserError, match=message):
            load(SPEC | change)
    assert load(SPEC | {"expect": {"samples": 4}, "labels": None}).n_samples == 4


def test_each_changed_byte_is_refused(folder):
    path = local_files.write_bundle(folder, DataSpec.from_config(SPEC), make())
    whole = path.read_bytes()
    # The checksum covers all bytes, so that a sample of bytes suffices.
    for place in range(0, len(whole), len(whole) // 50):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(
            UserError, match=r"differs from its checksum in .*SHA256SUMS"
        ) as refused:
            load(SPEC)
        assert "\n" not in str(refused.value)
    path.write_bytes(whole)
    assert load(SPEC).n_samples == 4


def test_file_without_a_checksum_is_an_error(folder):
    local_files.write_bundle(folder, DataSpec.from_config(SPEC), make())
    (folder / local_files.CHECKSUM_FILE).unlink()
    with pytest.raises(UserError, match=r"is not in .*SHA256SUMS"):
        load(SPEC)


@pytest.mark.parametrize("name", ["toy.bundle.npz", local_files.CHECKSUM_FILE])
def test_unreadable_file_is_an_error(folder, monkeypatch, name):
    local_files.write_bundle(folder, DataSpec.from_config(SPEC), make())
    opened = io.open

    def refuse(file, *args, **kwargs):
        if Path(file).name == name:
            raise PermissionError(errno.EACCES, "Permission denied", str(file))
        return opened(file, *args, **kwargs)

    monkeypatch.setattr(io, "open", refuse)
    with pytest.raises(UserError, match=rf"{name} cannot be read: Permission denied"):
        load(SPEC)


@pytest.mark.skipif(not shutil.which("sha256sum"), reason="there is no sha256sum")
def test_checksums_equal_sha256sum(folder):
    local_files.write_bundle(folder, DataSpec.from_config(SPEC), make())
    local_files.write_bundle(folder, DataSpec.from_config(SPEC | {"name": "b"}), make())
    subprocess.run(["sha256sum", "--check", local_files.CHECKSUM_FILE], cwd=folder, check=True)


def test_concurrent_writers_keep_all_checksums(folder, monkeypatch):
    """Each reads the sums, adds its own and writes them all."""
    read = local_files._read_checksums

    def slow(folder):
        sums = read(folder)
        time.sleep(0.1)
        return sums

    monkeypatch.setattr(local_files, "_read_checksums", slow)
    with ThreadPoolExecutor(4) as threads:
        for name in "abcd":
            threads.submit(
                local_files.write_bundle,
                folder,
                DataSpec.from_config(SPEC),
                replace(make(), name=name),
            )
    assert [checksum.name for checksum in read(folder)] == [f"{n}.bundle.npz" for n in "abcd"]


def test_full_disk_keeps_the_checksums(folder, monkeypatch):
    local_files.write_bundle(folder, DataSpec.from_config(SPEC), make())
    before, replaced = (folder / local_files.CHECKSUM_FILE).read_bytes(), os.replace

    def replacing(old, new):
        if new.name == local_files.CHECKSUM_FILE:
            raise OSError(28, "No space left on device")
        replaced(old, new)

    monkeypatch.setattr(os, "replace", replacing)
    with pytest.raises(UserError, match=r"^cannot write .*: No space left .*; choose another f"):
        local_files.write_bundle(folder, DataSpec.from_config(SPEC), replace(make(), name="other"))
    assert (folder / local_files.CHECKSUM_FILE).read_bytes() == before
    assert not list(folder.glob("*.part"))


def assert_comes_back(name, folder, monkeypatch):
    spec = configs.read_option("data", name)
    dataset = load(spec)
    local_files.write_bundle(folder, DataSpec.from_config(spec), dataset)
    monkeypatch.setenv("BOOSTBENCH_DATA", str(folder))
    loaded = load(spec)
    assert "bundle" in loaded.source
    assert loaded.checksum == dataset.checksum
    assert len(loaded.splits or []) == len(dataset.splits or [])


@pytest.mark.usefixtures("papers_data")
@pytest.mark.parametrize("name", ["vowel", "banana"])
def test_bundle_keeps_the_files_of_the_papers(tmp_path, monkeypatch, name):
    assert_comes_back(name, tmp_path, monkeypatch)


@pytest.mark.parametrize("name", ["disc", "wine"])
def test_bundle_keeps_data_without_a_file(tmp_path, monkeypatch, name):
    assert_comes_back(name, tmp_path, monkeypatch)
