import logging

import pytest

from boostbench.data import first_available_source, load
from boostbench.data.sources import DataNotAvailable, Offline, local_files, openml_client
from boostbench.spec.data import DataQuery
from boostbench.util.errors import UserError

from .test_openml_client import ARFF, SPARSE

OPENML = {"name": "toy", "openml": {"id": 7}, "expect": {"samples": 3, "features": 4, "classes": 2}}


def test_path_comes_before_the_data_folder(toy_svm, tmp_path):
    (tmp_path / "mine.csv").write_text("a,kind\n1,x\n2,y\n3,x\n")
    dataset = load({"name": "toy", "path": str(tmp_path / "mine.csv"), "labels": "kind"})
    assert (dataset.name, dataset.n_samples) == ("toy", 3)
    assert dataset.source == f"file {tmp_path / 'mine.csv'}"


def test_data_folder_precedes_openml(toy_svm, server):
    assert load(OPENML | {"expect": {"samples": 6}}).source == f"file {toy_svm}"
    assert server.requests == []


def test_openml_fills_the_cache_and_is_not_asked_again(server):
    server.add(7, ARFF)
    first = load(OPENML)
    server.stop()
    second = load(OPENML)
    assert (second.source, second.checksum) == ("OpenML 7 v3", first.checksum)
    assert len(server.requests) == 2


def test_sparse_data_from_the_cache(server):
    server.add(7, SPARSE)
    spec = OPENML | {"expect": {"samples": 2, "features": 3, "classes": 2}}
    assert load(spec).checksum == load(spec).checksum
    assert len(server.requests) == 2


def test_other_columns_are_downloaded_again(server):
    server.add(7, ARFF)
    load(OPENML)
    spec = OPENML | {"openml": {"id": 7, "drop": ["row"], "expect": {"features": 3}}}
    assert load(spec).n_features == 3


def test_damaged_cache_is_downloaded_again(server, caplog):
    server.add(7, ARFF)
    load(OPENML)
    path = local_files.cache_path("toy")
    path.write_bytes(path.read_bytes()[:500])
    with caplog.at_level(logging.WARNING):
        assert load(OPENML).n_samples == 3
    assert "toy.npz is damaged" in caplog.text
    assert local_files.read_from_cache("toy", DataQuery(id=7)) is not None


def test_damaged_cache_without_a_server_is_refused(server):
    server.add(7, ARFF)
    load(OPENML)
    server.stop()
    local_files.cache_path("toy").write_bytes(b"")
    with pytest.raises(UserError, match=r"toy\.npz is damaged .*OpenML 7: the server cannot be"):
        load(OPENML)


def test_error_if_no_source_has_the_data(data_folder):
    with pytest.raises(UserError) as error:
        load(OPENML)
    message = str(error.value)
    assert message.startswith(
        f"data set 'toy' is not available: no toy.svm, .arff, .csv or .npz in {data_folder}; "
        "not in the cache; OpenML 7: the server cannot be reached. "
        "Put toy.svm, .arff, .csv or .npz into $BOOSTBENCH_DATA, or give data.path=FILE; "
        "annulus, "
    )
    assert message.endswith(", wdbc, wine need no download")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "is not set"),
        ("/nowhere", "is /nowhere, which is not a folder"),
        (f"/{'x' * 300}", "is /x+, which is not a folder"),
        ("~nobody-here/x", "is ~nobody-here/x, which is not a folder"),
    ],
)
def test_no_data_folder(monkeypatch, value, words):
    if value:
        monkeypatch.setenv("BOOSTBENCH_DATA", value)
    else:
        monkeypatch.delenv("BOOSTBENCH_DATA")
    with pytest.raises(UserError, match=rf"\$BOOSTBENCH_DATA {words}\. Put toy\.svm"):
        load({"name": "toy", "openml": None, "sklearn": None})


@pytest.mark.parametrize("openml", [None, {"id": 7}])
def test_impossible_file_name_is_refused(data_folder, openml):
    """The system raises an error for such a file name, as for an inaccessible folder."""
    with pytest.raises(DataNotAvailable, match=r"^data set 'x+' is not available: no x+\.svm, "):
        load({"name": "x" * 300, "openml": openml})


def test_unreachable_server_is_not_asked_again_for_a_minute(server, monkeypatch):
    server.stop()
    with pytest.raises(Offline, match="OpenML 7: the server cannot be reached"):
        load(OPENML)
    with pytest.raises(Offline, match="OpenML 8: the server could not be reached less than 60 sec"):
        load(OPENML | {"openml": {"id": 8}})
    monkeypatch.setattr(openml_client, "RETRY_PAUSE", 0.0)
    with pytest.raises(Offline, match="OpenML 8: the server cannot be reached"):
        load(OPENML | {"openml": {"id": 8}})


def test_other_data_sets_are_downloaded_after_a_missing_one(server):
    server.add(7, ARFF)
    with pytest.raises(UserError, match=r"OpenML 8: .*Unknown dataset") as error:
        load(OPENML | {"openml": {"id": 8}})
    assert not isinstance(error.value, Offline)
    assert load(OPENML).n_samples == 3


def test_scikit_learn_data_sets_are_not_downloaded(server):
    spec = {"name": "wine", "openml": {"id": 7}, "sklearn": "load_wine"}
    assert load(spec | {"expect": {"samples": 178}}).source == "scikit-learn load_wine"
    assert server.requests == []


def test_cache_precedes_scikit_learn(server):
    server.add(7, ARFF)
    load(OPENML)
    assert load(OPENML | {"sklearn": "load_wine"}).source == "OpenML 7 v3"


def test_first_available_source(toy_svm, server, tmp_path):
    assert first_available_source({"name": "toy"}) == "file toy.svm"
    assert first_available_source({"name": "half", "file": "toy"}) == "file toy.svm"
    assert first_available_source({"name": "x", "path": str(tmp_path / "a.csv")}) == "file a.csv"
    toy_svm.unlink()
    assert first_available_source(OPENML) == "OpenML 7"
    assert first_available_source({"name": "x", "sklearn": "load_wine"}) == "scikit-learn"
    assert (
        first_available_source({"name": "x", "generate": {"function": "make_moons"}}) == "generated"
    )
    assert first_available_source({"name": "x"}) == ""
    server.add(7, ARFF)
    load(OPENML)
    assert first_available_source(OPENML) == "cache"
