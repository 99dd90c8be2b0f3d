import logging
import os
import time

import numpy as np
import pytest

from boostbench.data import load
from boostbench.data.sources import openml_client
from boostbench.data.sources.openml_client import download
from boostbench.spec.data import DataQuery, TaskQuery
from boostbench.util.errors import UserError

ARFF = """@relation toy
@attribute row numeric
@attribute Feature_0 numeric
@attribute Feature_1 {'low', 'high'}
@attribute 'Sex, really' {m, f}
@attribute class {'build wind float', 'head lamps', never}
@data
1, 0.5, low, m, 'build wind float'
2, -1, high, f, 'head lamps'
3, 2, low, f, 'build wind float'
"""

SPARSE = """@relation toy
@attribute a numeric
@attribute b numeric
@attribute empty numeric
@attribute class {1,-1}
@data
{0 1.5, 3 1}
{1 2, 3 -1}
"""


def test_data_set_is_downloaded(server):
    server.add(7, ARFF, row_id="row", ignore=["Sex, really"])
    dataset = download("toy", DataQuery(id=7))
    assert dataset.X.tolist() == [[0.5, 0], [-1, 1], [2, 0]]
    assert dataset.y.tolist() == ["build wind float", "head lamps", "build wind float"]
    assert dataset.source == "OpenML 7 v3"
    assert server.requests == ["/api/v1/xml/data/7", "/data/v1/download/7/set.arff"]


def test_keep_and_drop_select_columns(server):
    server.add(7, ARFF)
    assert download("toy", DataQuery(id=7, keep=["Feature_?"])).n_features == 2
    assert download("toy", DataQuery(id=7, drop=["row"])).n_features == 3


def test_ignored_column_may_be_the_target(server):
    server.add(7, ARFF, target="row", ignore=["class"])
    dataset = download("toy", DataQuery(id=7, target="class", drop=["row"]))
    assert (dataset.n_features, dataset.n_classes) == (3, 2)


def test_names_with_commas_in_one_ignore_attribute(server):
    server.add(7, ARFF, ignore=["row, Feature_0"])
    assert download("toy", DataQuery(id=7)).n_features == 2


def test_sparse_data_set_is_downloaded(server):
    server.add(8, SPARSE)
    dataset = download("toy", DataQuery(id=8))
    assert dataset.X.tolist() == [[1.5, 0, 0], [0, 2, 0]]
    assert dataset.y.tolist() == [1, -1]


def test_missing_values(server):
    server.add(7, ARFF.replace("-1, high", "-1, ?"))
    with pytest.raises(UserError, match=r"OpenML 7: 1 rows have missing values.*'Feature_1'"):
        download("toy", DataQuery(id=7))
    assert download("toy", DataQuery(id=7, missing="drop")).n_samples == 2


@pytest.mark.parametrize(
    ("text", "about", "kind", "message"),
    [
        (ARFF, {"target": None}, UserError, "does not say which column.*openml.target"),
        (ARFF.replace("0.5", "half"), {}, UserError, "Invalid numerical value, at line 8"),
        (ARFF, {"md5": "0" * 32}, ConnectionError, ".* does not have the MD5 checksum"),
    ],
)
def test_unusable_data_sets_are_an_error(server, text, about, kind, message):
    server.add(7, text, **about)
    with pytest.raises(kind, match=f"OpenML 7:? {message}"):
        download("toy", DataQuery(id=7))


def test_unknown_id(server):
    with pytest.raises(ConnectionError, match=r"OpenML 99: .*Unknown dataset"):
        download("toy", DataQuery(id=99))


def test_file_not_found(server):
    server.add(7, ARFF)
    server.remove_file(7)
    with pytest.raises(ConnectionError, match=r"OpenML 7: .*404"):
        download("toy", DataQuery(id=7))


def test_time_out(server, monkeypatch):
    server.silent = True
    monkeypatch.setattr(openml_client, "TIMEOUT", (0.2, 0.2))
    with pytest.raises(ConnectionError, match=r"OpenML 7: the server does not answer"):
        download("toy", DataQuery(id=7))
    while not server.requests:  # which a busy machine notes after the time-out
        time.sleep(0.01)
    assert server.requests == ["/api/v1/xml/data/7"]


def test_no_server(server):
    server.stop()
    with pytest.raises(ConnectionError, match="OpenML 7: the server cannot be reached"):
        download("toy", DataQuery(id=7))


def test_failed_attempt_is_repeated(server, monkeypatch):
    monkeypatch.setattr(openml_client, "N_ATTEMPTS", 2)
    server.add(7, ARFF, md5="0" * 32)
    with pytest.raises(ConnectionError):
        download("toy", DataQuery(id=7))
    assert server.requests.count("/data/v1/download/7/set.arff") == 2


def test_settings_are_restored(server):
    import openml

    def settings():
        return (
            openml.config.server,
            openml.config.connection_n_retries,
            openml._api_calls.requests,
            os.environ.get("OPENML_SKIP_PARQUET"),
            os.environ.get("OPENML_CACHE_DIR"),
            list(logging.root.filters),
        )

    before = settings()
    with pytest.raises(ConnectionError):
        download("toy", DataQuery(id=99))
    assert settings() == before


def test_only_openml_gets_the_time_out(server, monkeypatch):
    """A download does not change other requests of the process."""
    import openml
    import requests

    seen = []

    def look(*_, **__):
        seen.append((requests.Session, requests.adapters.HTTPAdapter.send, logging.root.disabled))
        seen.append(openml._api_calls.requests.Session is requests.Session)
        raise requests.exceptions.ConnectionError

    before = (requests.Session, requests.adapters.HTTPAdapter.send, logging.root.disabled)
    monkeypatch.setattr(openml.datasets, "get_dataset", look)
    with pytest.raises(ConnectionError):
        download("toy", DataQuery(id=7))
    assert seen == [before, False]


def test_messages_of_openml_are_silenced(server, caplog):
    server.add(7, ARFF)
    server.compressed = False
    download("toy", DataQuery(id=7))
    assert caplog.messages == [
        "OpenML 7: words become categories: Feature_1 (high=1), Sex, really (f=1)"
    ]


def test_features_are_float(server):
    server.add(7, ARFF.replace("0.5", "0").replace("-1", "1"))
    assert download("toy", DataQuery(id=7)).X.dtype == np.float64


@pytest.mark.parametrize(
    ("train", "test", "message"),
    [
        ([0, 1], [1, 2], r"row 1 \(counted from 0\) is 1 times in train and 1 times in test"),
        ([0, 1], [2, 3], r"row numbers do not fit the 3 rows"),
        ([0, 1], [], r"its test part is empty"),
        ([0, 0, 1], [2], None),
    ],
)
def test_task_splits_are_validated(server, train, test, message):
    server.add(7, ARFF)
    splits = {(0, 0): ([0, 1], [2]), (0, 1): (train, test)}
    server.add_task(3, 7, splits, procedure="bootstrapping")
    if message is None:
        assert [part.tolist() for part in download("toy", TaskQuery(task=3)).splits[1]] == [
            train,
            test,
        ]
        return
    with pytest.raises(UserError, match=rf"^OpenML task 3, split 2 of 2: .*{message}"):
        download("toy", TaskQuery(task=3))


FOLDS = {
    (repeat, fold): (np.setdiff1d(range(3), [test]), [test])
    for repeat in range(2)
    for fold, test in enumerate([2, 0, 1])
}


def test_splits_may_count_from_one_and_have_other_headings(server):
    server.add(7, ARFF)
    server.add_task(3, 7, {(r + 1, f + 1): split for (r, f), split in FOLDS.items()})
    server.edit_splits(3, lambda lines: [line.replace("rowid", "RowId") for line in lines])
    for split, expected in zip(
        download("toy", TaskQuery(task=3)).splits, FOLDS.values(), strict=True
    ):
        for rows, expected_rows in zip(split, expected, strict=True):
            np.testing.assert_array_equal(rows, expected_rows)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda lines: lines[:-1], "split 6 of 6: its test part is empty"),
        (lambda lines: lines[:-3], "it has 2 folds, and the task 3"),
        (lambda lines: lines[:-9], "it has 1 repeats, and the task 2"),
        (
            lambda lines: [*lines[:-1], "TEST,0,1,2\n"],
            "row 0 .* 1 times in train and 1 times in te",
        ),
        (lambda lines: [*lines[:-3], "TEST,1,1,2\n"], "its training part is empty"),
        (lambda lines: [*lines, "TEST,1,1"], "file of splits: Bad @DATA"),
        (lambda lines: [*lines, "TEST,?,1,2\n"], "it has missing values"),
        (lambda lines: [x.replace("fold", "part") for x in lines], "it needs the columns type"),
    ],
)
def test_damaged_file_of_splits_is_not_kept(server, edit, message):
    server.add(7, ARFF)
    server.add_task(3, 7, FOLDS)
    server.edit_splits(3, edit)
    with pytest.raises(UserError, match=f"OpenML task 3.*{message}"):
        load({"name": "toy", "openml_task": 3})
    server.add_task(3, 7, FOLDS)
    assert len(load({"name": "toy", "openml_task": 3}).splits) == 6


@pytest.mark.parametrize(
    ("procedure", "second", "n_cut", "message"),
    [
        ("crossvalidation", ([0], [1, 2]), 1, "a split has 2 of 3 rows"),
        ("holdout", ([0], [1, 2]), 1, "a split has 2 of 3 rows"),
        ("crossvalidation", ([1], [0, 2]), 0, "it does not test each row once in each repeat"),
        ("holdout", ([1], [0, 2]), 0, None),
    ],
)
def test_splits_are_compared_with_the_procedure(server, procedure, second, n_cut, message):
    """A file that ends within the test rows of its last fold gives a smaller fold."""
    server.add(7, ARFF)
    server.add_task(3, 7, {(0, 0): ([1, 2], [0]), (0, 1): second}, procedure=procedure)
    server.edit_splits(3, lambda lines: lines[: len(lines) - n_cut])
    if message is None:
        assert len(download("toy", TaskQuery(task=3)).splits) == 2
        return
    with pytest.raises(ConnectionError, match=message):
        download("toy", TaskQuery(task=3))


@pytest.mark.parametrize(("status", "n_requests"), [(503, 2), (500, 2), (429, 2), (403, 1)])
def test_html_of_an_error_is_reported_by_its_status(server, monkeypatch, status, n_requests):
    monkeypatch.setattr(openml_client, "N_ATTEMPTS", 2)
    monkeypatch.setattr(time, "sleep", lambda _: None)
    server.add(7, ARFF)
    server.failures = [status] * n_requests
    with pytest.raises(
        ConnectionError, match=rf"^OpenML 7: the server answers {status} \(\w"
    ) as error:
        download("toy", DataQuery(id=7))
    assert not isinstance(error.value, openml_client.Unreachable)
    assert len(server.requests) == n_requests
    server.failures = [status] * (n_requests - 1)
    assert download("toy", DataQuery(id=7)).n_samples == 3


def test_inactive_data_set_is_named(server, caplog):
    server.add(8, SPARSE, status="deactivated")
    download("toy", DataQuery(id=8))
    assert "OpenML 8 is deactivated on OpenML: problems may be known" in caplog.text
