"""Download of data sets from OpenML by openml-python.

openml stores its files in a temporary folder, as it deletes its cache after any error. The ARFF
file is downloaded, which openml compares with the MD5 of the description; it does not check Parquet
files. The project's reader parses it, as openml's reader loses empty trailing columns of sparse
files and the names of their labels, and fails under pandas 3.
"""

import contextlib
import io
import json
import logging
import math
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree

import numpy as np

from boostbench.data.data_table import features_and_labels
from boostbench.data.dataset import Dataset
from boostbench.data.fixed_splits import Split, check_split
from boostbench.data.readers.arff import Arff
from boostbench.data.readers.base import ReadOptions
from boostbench.data.sources.local_files import cache_folder
from boostbench.spec.data import DataQuery, TaskQuery
from boostbench.util.errors import UserError
from boostbench.util.files import atomic_write_text
from boostbench.util.process import temporarily_set

if TYPE_CHECKING:
    import pandas as pd

logger = logging.getLogger(__name__)

#: Time of the last failure to reach each server, in seconds of `time.monotonic`.
last_failures: dict[str, float] = {}
#: Seconds after a failure in which a server is not tried again, so that a table with many data sets
#: waits once. Later requests reach a server that has recovered.
RETRY_PAUSE = 60.0

#: Seconds to wait for a connection, and seconds for each part of a response. openml has no limit.
TIMEOUT = (3.0, 30.0)
#: Attempts per request; openml sleeps 1, 2, 3, ... seconds between them.
N_ATTEMPTS = 2
#: HTTP status after which the request is repeated, as after server errors (5xx).
_TOO_MANY_REQUESTS = 429
#: Maximum number of characters of another program's error text in a message.
_MAX_REASON = 200


class Unreachable(ConnectionError):
    """Error for a server that does not exist or does not answer."""


def download(name: str, query: DataQuery | TaskQuery) -> Dataset:
    """Download a data set, or the data set of a task with the task's splits.

    Parameters
    ----------
    name : str
        Name of the data set.
    query : DataQuery or TaskQuery
        Data set or task, and the treatment of rows with missing features, see
        `boostbench.data.data_table.features_and_labels`.

    Returns
    -------
    Dataset
        Data set without OpenML's row ids and ignored columns; it is not validated.

    Raises
    ------
    Unreachable
        If the server cannot be reached, or could not be reached in the last minute.
    ConnectionError
        If the data set does not exist or is damaged; the message has the reason.
    UserError
        If the data do not suit the config: for instance a task that is not classification.
    """
    is_task = isinstance(query, TaskQuery)
    origin = f"OpenML task {query.task}" if is_task else f"OpenML {query.id}"
    if is_task and query.missing == "drop":
        raise UserError(
            f"data.missing=drop leaves rows out, which the splits of {origin} count; take "
            "data.missing=median"
        )
    with _openml_session(origin) as openml:
        from boostbench.util.compat import download_openml_text

        # 1) Download the splits of a task, the description of the data set and its file.
        # For a task, `data_query` becomes the query of the data set that the task names.
        data_query = query
        if is_task:
            task = _read_task(openml, query.task, origin)
            splits_text = download_openml_text(task.estimation_procedure["data_splits_url"])
            data_query = DataQuery(task.dataset_id, task.target_name, missing=query.missing)
        description = openml.datasets.get_dataset(data_query.id, download_data=True)
        _warn_if_inactive(Path(description.data_file), origin)
        with open(description.data_file, "rb") as stream:
            table = Arff().read(stream, origin, ReadOptions())
    # 2) Separate the labels from the features, and leave out columns that OpenML ignores.
    target = data_query.target or description.default_target_attribute
    if target is None:
        raise UserError(f"{origin} does not say which column holds the classes; set openml.target")
    data = features_and_labels(
        table,
        target,
        ignore=_named_columns(description.ignore_attribute, table.names)
        | _named_columns(description.row_id_attribute, table.names),
        keep=data_query.keep or (),
        drop=data_query.drop or (),
        missing=query.missing,
        drop_key="openml.drop",
    )
    # 3) Add the source and the splits of a task.
    source, splits = f"OpenML {data_query.id} v{description.version}", None
    if is_task:
        source = f"{source} ({description.name}), task {query.task}"
        splits = _read_splits(splits_text, _read_procedure(task), len(data.y), origin)
    dataset = Dataset(
        name, data.X, data.y, source=source, splits=splits, categories=data.categories
    )
    return dataset.one_hot_encoded()


class SuiteTask(NamedTuple):
    """Task of a suite: its number, and the name of its data set."""

    number: int
    name: str


def read_suite(number: int) -> list[SuiteTask]:
    """Return the tasks of a suite, from the cache after the first request.

    Parameters
    ----------
    number : int
        Number of the suite.

    Returns
    -------
    list of SuiteTask

    Raises
    ------
    Unreachable, ConnectionError
        See `download`.
    """
    path, origin = cache_folder() / f"openml-suite-{number}.json", f"OpenML suite {number}"
    with contextlib.suppress(OSError, ValueError):
        names = json.loads(path.read_text("utf-8"))
        return [SuiteTask(int(task), name) for task, name in names.items()]
    with _openml_session(origin) as openml:
        tasks = openml.study.get_suite(number).tasks
        listed = openml.tasks.list_tasks(task_id=tasks, output_format="dataframe")
        names = {task: str(listed.loc[task, "name"]) for task in tasks}
    with contextlib.suppress(OSError):
        atomic_write_text(path, json.dumps(names))
    return [SuiteTask(task, name) for task, name in names.items()]


class _Procedure(NamedTuple):
    """Estimation procedure of a task.

    Attributes
    ----------
    kind : str
        OpenML's name, such as ``"crossvalidation"``, ``"holdout"`` or ``"bootstrapping"``.
    n_repeats, n_folds : str
        Numbers as text; empty if the procedure has no such number.
    """

    kind: str
    n_repeats: str
    n_folds: str


def _read_procedure(task) -> _Procedure:
    """Return the estimation procedure in openml's description of a task."""
    parameters = task.estimation_procedure["parameters"]
    return _Procedure(
        kind=task.estimation_procedure["type"],
        n_repeats=parameters.get("number_repeats", ""),
        n_folds=parameters.get("number_folds", ""),
    )


def _read_task(openml, number: int, origin: str):
    """Return openml's description of a task.

    Parameters
    ----------
    openml : module
        The package, configured by `_openml_session`.
    number : int
        Number of the task.
    origin : str
        Name of the task in messages.

    Raises
    ------
    UserError
        If the task is not supervised classification.
    """
    from boostbench.util.compat import read_openml_task

    # openml's `get_task` would load the data set for the names of its classes.
    task = read_openml_task(number)
    if task.task_type_id is not openml.tasks.TaskType.SUPERVISED_CLASSIFICATION:
        raise UserError(f"{origin} is {task.task_type}, not supervised classification")
    return task


def _read_splits(text: str, procedure: _Procedure, n_samples: int, origin: str) -> list[Split]:
    """Return the splits of a task, repeat by repeat and fold by fold.

    OpenML has no checksum of this file, so it is compared with the task's description: a truncated
    file would have fewer or smaller test sets.

    Parameters
    ----------
    text : str
        Content of the ARFF file of the splits.
    procedure : _Procedure
    n_samples : int
        Number of rows of the data set.
    origin : str
        Name of the task in messages.

    Returns
    -------
    list of (ndarray of int, ndarray of int)
        Row numbers of the training and the test part of each split.

    Raises
    ------
    ConnectionError
        If the file is damaged, or has fewer splits or test rows than the task.
    UserError
        If a row of a split does not exist or is in both parts, or a part is empty.
    """
    damage_prefix = f"{origin}: the file of its splits is damaged"
    rows = _read_split_rows(text, origin, damage_prefix)
    _check_repeats_and_folds(rows, procedure, damage_prefix)
    splits = []
    for _, split_rows in rows.groupby(["repeat", "fold"]):
        train, test = (
            split_rows.loc[split_rows["type"] == part, "rowid"] for part in ("TRAIN", "TEST")
        )
        splits.append((train.to_numpy(), test.to_numpy()))
    for number, parts in enumerate(splits, 1):
        # A bootstrap repeats training rows; a test row may not be among them.
        unique_rows = tuple(map(np.unique, parts))
        check_split(unique_rows, n_samples, f"{origin}, split {number} of {len(splits)}")
    _check_split_rows(rows, procedure.kind, n_samples, damage_prefix)
    return splits


def _read_split_rows(text: str, origin: str, damage_prefix: str) -> "pd.DataFrame":
    """Return the table of a file of splits.

    Parameters
    ----------
    text, origin
        See `_read_splits`.
    damage_prefix : str
        Start of messages on a damaged file.

    Returns
    -------
    pandas.DataFrame
        A line for each row of the data set in each split: its number ``rowid``, the ``repeat`` and
        ``fold`` of the split, and ``type``, which is TRAIN or TEST.

    Raises
    ------
    ConnectionError
        If the file is not ARFF, or a column or a value is missing.
    """
    import pandas as pd  # slow to import

    try:
        table = Arff().read(io.BytesIO(text.encode()), f"{origin}, file of splits", ReadOptions())
    except UserError as error:
        raise ConnectionError(str(error)) from None
    names = [name.lower() for name in table.names]
    if not {"type", "rowid", "repeat", "fold"} <= set(names):
        raise ConnectionError(f"{damage_prefix}: it needs the columns type, rowid, repeat and fold")
    rows = pd.DataFrame({name: table.column(j) for j, name in enumerate(names)})
    if rows.isna().any(axis=None):
        raise ConnectionError(f"{damage_prefix}: it has missing values")
    rows = rows.astype(np.int64)
    # The type is read as the code of a category.
    rows["type"] = np.array(table.categories[names.index("type")])[rows["type"]]
    return rows


def _check_repeats_and_folds(
    rows: "pd.DataFrame", procedure: _Procedure, damage_prefix: str
) -> None:
    """Raise ConnectionError if the repeats or their folds are not as many as the task has.

    Parameters
    ----------
    rows : pandas.DataFrame
        See `_read_split_rows`.
    procedure : _Procedure
    damage_prefix : str
        Start of messages on a damaged file.
    """
    n_folds = rows.groupby("repeat")["fold"].nunique()
    for name, numbers, expected in (
        ("repeats", [len(n_folds)], procedure.n_repeats),
        ("folds", n_folds, procedure.n_folds),
    ):
        unexpected = [n for n in numbers if expected.isdecimal() and n != int(expected)]
        if unexpected:
            raise ConnectionError(
                f"{damage_prefix}: it has {unexpected[0]} {name}, and the task {expected}"
            )


def _check_split_rows(rows: "pd.DataFrame", kind: str, n_samples: int, damage_prefix: str) -> None:
    """Raise ConnectionError if rows of the data set are absent from the splits.

    Each split of a holdout or a cross-validation has all rows, and a cross-validation tests each
    row once in each repeat. Other procedures, such as bootstraps, may leave rows out.

    Parameters
    ----------
    rows : pandas.DataFrame
        See `_read_split_rows`.
    kind : str
        Kind of the estimation procedure, see `_Procedure`.
    n_samples : int
        Number of rows of the data set.
    damage_prefix : str
        Start of messages on a damaged file.
    """
    is_cross_validation = kind in ("crossvalidation", "leaveoneout")
    if is_cross_validation or kind == "holdout":
        n_rows = rows.groupby(["repeat", "fold"])["rowid"].nunique()
        if (n_rows != n_samples).any():
            raise ConnectionError(
                f"{damage_prefix}: a split has {n_rows.min()} of {n_samples} rows"
            )
    if is_cross_validation:
        n_tests = rows[rows["type"] == "TEST"].groupby(["repeat", "rowid"]).size()
        n_repeats = rows["repeat"].nunique()
        if len(n_tests) != n_repeats * n_samples or (n_tests != 1).any():
            raise ConnectionError(f"{damage_prefix}: it does not test each row once in each repeat")


def _warn_if_inactive(data_file: Path, origin: str) -> None:
    """Warn about a data set that OpenML has deactivated or not checked yet."""
    description = ElementTree.parse(data_file.with_name("description.xml"))
    status = description.findtext("{http://openml.org/openml}status", "active")
    if status != "active":
        logger.warning(
            "%s is %s on OpenML: problems may be known, and another version may replace it",
            origin,
            status.replace("_", " "),
        )


@contextmanager
def _openml_session(origin: str) -> Iterator:
    """Provide the openml package; convert its errors, and remember a server that failed.

    Parameters
    ----------
    origin : str
        Name of the data set, task or suite in messages.

    Raises
    ------
    Unreachable, ConnectionError
        See `download`.
    """
    server = os.environ.get("BOOSTBENCH_OPENML_SERVER", "")
    if time.monotonic() - last_failures.get(server, -math.inf) < RETRY_PAUSE:
        raise Unreachable(
            f"{origin}: the server could not be reached less than {RETRY_PAUSE:g} seconds ago"
        )
    with tempfile.TemporaryDirectory(prefix="boostbench-") as folder:
        try:
            with _configured_openml(Path(folder), server) as openml:
                yield openml
        except UserError:
            raise
        except Exception as error:  # openml does not wrap errors of requests, XML and missing keys
            failure = _connection_error(error, origin)
            if isinstance(failure, Unreachable):
                last_failures[server] = time.monotonic()
            raise failure from error


@contextmanager
def _configured_openml(folder: Path, server: str) -> Iterator:
    """Provide the openml package, configured for one download."""
    variables = {"OPENML_CACHE_DIR": str(folder), "OPENML_SKIP_PARQUET": "true"}
    with ExitStack() as stack:
        stack.enter_context(temporarily_set(os.environ, **variables))
        import openml  # slow to import; makes the folder named above

        from boostbench.util.compat import openml_requests_by, openml_root_messages_dropped

        openml.config.set_root_cache_directory(folder)
        settings = {"server": server or openml.config.server, "connection_n_retries": N_ATTEMPTS}
        stack.enter_context(temporarily_set(vars(openml.config), **settings))
        stack.enter_context(openml_root_messages_dropped())
        stack.enter_context(openml_requests_by(_requests_with_timeout()))
        yield openml


def _requests_with_timeout():
    """Return a copy of the requests module whose sessions have a time-out and check the status.

    openml sets no time-out. It parses each error as an XML message of OpenML, which an error page
    of a proxy is not, and repeats a request after connection errors only.
    """
    import requests

    class Session(requests.Session):
        """Session with a time-out; server errors are connection errors, which openml repeats."""

        def request(self, method, url, **options):
            """Send a request, and raise an error for a failure that OpenML does not describe."""
            response = super().request(method, url, **{"timeout": TIMEOUT} | options)
            # openml reads OpenML's own errors. It repeats a request after a ConnectionError, which
            # may help for errors of the server and too many requests.
            if response.status_code >= 400 and b"<oml:error" not in response.content:
                try:
                    response.raise_for_status()
                except requests.HTTPError as error:
                    if response.status_code < 500 and response.status_code != _TOO_MANY_REQUESTS:
                        raise
                    raise requests.ConnectionError(str(error), response=response) from None
            return response

    return SimpleNamespace(**vars(requests) | {"Session": Session})


def _connection_error(error: Exception, origin: str) -> ConnectionError:
    """Return a `ConnectionError` that explains an error in a few words."""
    from requests import exceptions

    response = getattr(error, "response", None)
    if response is not None:
        status = f"{response.status_code} ({response.reason})"
        return ConnectionError(f"{origin}: the server answers {status}")
    if isinstance(error, exceptions.Timeout):
        return Unreachable(f"{origin}: the server does not answer (time-out)")
    if isinstance(error, exceptions.ConnectionError):
        return Unreachable(f"{origin}: the server cannot be reached")
    if type(error).__name__ == "OpenMLHashException":
        reason = "the downloaded file does not have the MD5 checksum of its description"
    else:
        # The text of an unknown error may be long.
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:_MAX_REASON]}"
    return ConnectionError(f"{origin}: {reason}")


def _named_columns(attribute: str | list[str] | None, columns: list[str]) -> set[str]:
    """Return the columns that an attribute of the description names.

    The attribute is a name, a list of names, or names separated by commas. A name of a column may
    itself have a comma.
    """
    entries = [attribute] if isinstance(attribute, str) else attribute or []
    names = set()
    for entry in entries:
        names |= {entry} if entry in columns else {name.strip() for name in entry.split(",")}
    return names
