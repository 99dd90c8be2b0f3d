"""Fixtures that hide the user's files, cache and settings, except for `papers_data`."""

import os
from pathlib import Path

import pytest
from openml_server import OpenMLServer

from boostbench.data.sources import openml_client

PAPERS_DATA = os.environ.get("BOOSTBENCH_DATA")


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    """Set empty folders for data, cache and openml's settings; no server is reached, by one try."""
    for variable in ("BOOSTBENCH_DATA", "BOOSTBENCH_CACHE", "XDG_CONFIG_HOME"):
        folder = tmp_path / variable.lower()
        folder.mkdir()
        monkeypatch.setenv(variable, str(folder))
    monkeypatch.setenv("BOOSTBENCH_OPENML_SERVER", "http://127.0.0.1:9/api/v1/xml")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(openml_client, "last_failures", {})
    monkeypatch.setattr(openml_client, "N_ATTEMPTS", 1)


@pytest.fixture
def data_folder():
    return Path(os.environ["BOOSTBENCH_DATA"])


@pytest.fixture
def toy_svm(data_folder):
    path = data_folder / "toy.svm"
    path.write_text("".join(f"{i % 2} 1:{i} 2:1\n" for i in range(1, 7)))
    return path


@pytest.fixture
def papers_data(monkeypatch):
    if not PAPERS_DATA:
        pytest.skip("BOOSTBENCH_DATA, the folder of the papers' data sets, is not set")
    monkeypatch.setenv("BOOSTBENCH_DATA", PAPERS_DATA)
    return Path(PAPERS_DATA)


@pytest.fixture
def server(monkeypatch):
    server = OpenMLServer()
    monkeypatch.setenv("BOOSTBENCH_OPENML_SERVER", server.url)
    yield server
    server.stop()
