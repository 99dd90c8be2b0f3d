"""Data sets from OpenML, through openml-python.

openml is told to keep its files in a folder that is thrown away: it deletes what it has cached
whenever something goes wrong. Of what it offers we take the ARFF file, which it checks against the
MD5 of the description (Parquet files are not checked), and read it ourselves: its own reader loses
empty trailing columns of sparse files and the names of their labels, and fails under pandas 3.
"""

import contextlib
import io
import json
import logging
import math
import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np

from boostbench.data.data_table import dense_unless_large, features_and_labels
from boostbench.data.dataset import Dataset
from boostbench.data.fixed_splits import Split, check_split
from boostbench.data.readers.arff import read_arff
from boostbench.data.sources import cache
from boostbench.errors import UserError
from boostbench.util.temporary_settings import temporarily_set
from boostbench.whole import write_text

logger = logging.getLogger(__name__)

#: Time of the last failure to reach each server, in seconds of `time.monotonic`.
last_failures: dict[str, float] = {}
#: Seconds during which a server is not asked again after a failure. A table with many data sets
#: does not wait for each of them, and a process that lives for days finds a server that is back.
RETRY_PAUSE = 60.0

#: Seconds to wait for a connection, and for each piece of an answer. openml waits for ever.
TIMEOUT = (3.0, 30.0)
#: Attempts for each request; openml sleeps 1, 2, 3, ... seconds between them.
N_ATTEMPTS = 2
#: Status of HTTP after which the request is repeated, as after errors of the server (5xx).
_TOO_MANY_REQUESTS = 429


class Unreachable(ConnectionError):
    """The server is not there, or does not answer."""


def download(name: str, spec: Mapping, missing: str | None = None) -> Dataset:
    """Download a data set, or that of a task with the task's splits.

    Parameters
    ----------
    name : str
        What to call it.
    spec : mapping
        ``id`` on OpenML; ``target`` column (default: as OpenML says); patterns of the columns to
        ``keep`` and ``drop``. Or ``task``, the number of a task.
    missing : str, default=None
        What becomes of rows with missing features, see
        `boostbench.data.data_table.features_and_labels`.

    Returns
    -------
    Dataset
        Not validated. OpenML's row ids and ignored columns are left out.

    Raises
    ------
    Unreachable
        The server cannot be reached, or could not in the last minute.
    ConnectionError
        The data set is not there, or damaged, with the reason.
    UserError
        It was downloaded, but it is not what the config takes it for: such as a task that is not
        of classification.
    """
    where = f"OpenML task {spec['task']}" if spec.get("task") else f"OpenML {spec['id']}"
    if spec.get("task") and missing == "drop":
        raise UserError(
            f"data.missing=drop leaves rows out, which the splits of {where} count; take "
            "data.missing=median"
        )
    with _openml_session(where) as openml:
        data_id, target, task = spec.get("id"), spec.get("target"), None
        if spec.get("task"):
            task = _read_task(openml, spec["task"], where)
            data_id, target = task.dataset_id, task.target_name
            splits_url = task.estimation_procedure["data_splits_url"]
            splits_text = openml._api_calls._download_text_file(splits_url)
        description = openml.datasets.get_dataset(data_id, download_data=True)
        _warn_if_inactive(Path(description.data_file), where)
        with open(description.data_file, "rb") as stream:
            table = read_arff(stream, where)
    target = target or description.default_target_attribute
    if target is None:
        raise UserError(f"{where} does not say which column holds the classes; set openml.target")
    X, y, *_ = features_and_labels(
        table,
        target,
        _named_columns(description.ignore_attribute, table.names)
        | _named_columns(description.row_id_attribute, table.names),
        spec.get("keep") or (),
        spec.get("drop") or (),
        missing,
    )
    source, splits = f"OpenML {data_id} v{description.version}", None
    if task is not None:
        source = f"{source} ({description.name}), task {spec['task']}"
        splits = _read_splits(splits_text, task.estimation_procedure, len(y), where)
    return Dataset(name, dense_unless_large(X), y, source, splits)


def read_suite(number: int) -> dict[int, str]:
    """Look up the tasks of a suite; what it was told once is kept in the cache.

    Parameters
    ----------
    number : int
        Of the suite.

    Returns
    -------
    dict of int to str
        By number of the task, what its data are called.

    Raises
    ------
    Unreachable, ConnectionError
        As `download`.
    """
    path, where = cache.cache_folder() / f"openml-suite-{number}.json", f"OpenML suite {number}"
    with contextlib.suppress(OSError, ValueError):
        return {int(task): name for task, name in json.loads(path.read_text("utf-8")).items()}
    with _openml_session(where) as openml:
        tasks = openml.study.get_suite(number).tasks
        listed = openml.tasks.list_tasks(task_id=tasks, output_format="dataframe")
        names = {task: str(listed.loc[task, "name"]) for task in tasks}
    with contextlib.suppress(OSError):
        write_text(path, json.dumps(names))
    return names


def _read_task(openml, number: int, where: str):
    """Return openml's description of a task."""
    # Its own `get_task` reads the whole data set for the names of classes.
    task = openml.tasks.functions._get_task_description(number)
    if task.task_type_id is not openml.tasks.TaskType.SUPERVISED_CLASSIFICATION:
        raise UserError(f"{where} is of {task.task_type}, and not of supervised classification")
    return task


def _read_splits(text: str, procedure: Mapping, n_samples: int, where: str) -> list[Split]:
    """Read the splits of a task, repeat by repeat.

    OpenML has no checksum of this file, so that it is compared with the task: a file that ends
    early would give fewer or smaller test sets.

    Parameters
    ----------
    text : str
        ARFF file of the splits.
    procedure : mapping
        openml's description of the estimation procedure: ``type`` and ``parameters``.
    n_samples : int
        Number of rows of the data set.
    where : str
        What to call the task in messages.

    Raises
    ------
    ConnectionError
        The file is damaged, or has fewer splits or test rows than the task.
    UserError
        A row of a split does not exist, or is in both parts; a part is empty.
    """
    import pandas as pd  # slow to import

    damage = f"{where}: the file of its splits is damaged"
    try:
        table = read_arff(io.BytesIO(text.encode()), f"{where}, file of splits")
    except UserError as error:
        raise ConnectionError(str(error)) from None
    names = [name.lower() for name in table.names]
    if not {"type", "rowid", "repeat", "fold"} <= set(names):
        raise ConnectionError(f"{damage}: it needs the columns type, rowid, repeat and fold")
    frame = pd.DataFrame({name: table.column(j) for j, name in enumerate(names)})
    if frame.isna().any(axis=None):
        raise ConnectionError(f"{damage}: it has missing values")
    frame = frame.astype(np.int64)
    frame["type"] = np.array(table.categories[names.index("type")])[frame["type"]]

    n_folds = frame.groupby("repeat")["fold"].nunique()
    for name, numbers in (("repeats", [len(n_folds)]), ("folds", n_folds)):
        expected = procedure["parameters"].get(f"number_{name}", "")
        unexpected = [n for n in numbers if expected.isdecimal() and n != int(expected)]
        if unexpected:
            raise ConnectionError(
                f"{damage}: it has {unexpected[0]} {name}, and the task {expected}"
            )
    splits = [
        tuple(part.loc[part["type"] == kind, "rowid"].to_numpy() for kind in ("TRAIN", "TEST"))
        for _, part in frame.groupby(["repeat", "fold"])
    ]
    for number, parts in enumerate(splits, 1):
        # A bootstrap draws training rows again; none may be a test row.
        unique_rows = tuple(map(np.unique, parts))
        check_split(unique_rows, n_samples, f"{where}, split {number} of {len(splits)}")
    is_cross_validation = procedure["type"] in ("crossvalidation", "leaveoneout")
    if is_cross_validation or procedure["type"] == "holdout":
        n_rows = frame.groupby(["repeat", "fold"])["rowid"].nunique()
        if (n_rows != n_samples).any():
            raise ConnectionError(f"{damage}: a split has {n_rows.min()} of {n_samples} rows")
    if is_cross_validation:
        n_test_rows = frame[frame["type"] == "TEST"].groupby(["repeat", "rowid"]).size()
        if len(n_test_rows) != len(n_folds) * n_samples or (n_test_rows != 1).any():
            raise ConnectionError(f"{damage}: it does not test each row once in each repeat")
    return splits


def _warn_if_inactive(data_file: Path, where: str) -> None:
    """Warn of a data set that OpenML has deactivated, or has not checked yet."""
    description = ElementTree.parse(data_file.with_name("description.xml"))
    status = description.findtext("{http://openml.org/openml}status", "active")
    if status != "active":
        logger.warning(
            "%s is %s on OpenML: problems may be known, and another version may replace it",
            where,
            status.replace("_", " "),
        )


@contextmanager
def _openml_session(where: str) -> Iterator:
    """Lend the openml package; report an error in one line, and note a failed server."""
    server = os.environ.get("BOOSTBENCH_OPENML_SERVER", "")
    if time.monotonic() - last_failures.get(server, -math.inf) < RETRY_PAUSE:
        raise Unreachable(
            f"{where}: the server could not be reached less than {RETRY_PAUSE:g} seconds ago"
        )
    with tempfile.TemporaryDirectory(prefix="boostbench-") as folder:
        try:
            with _configured_openml(Path(folder), server) as openml:
                yield openml
        except UserError:
            raise
        except Exception as error:  # openml lets errors of requests, XML and missing keys through
            failure = _connection_error(error, where)
            if isinstance(failure, Unreachable):
                last_failures[server] = time.monotonic()
            raise failure from error


@contextmanager
def _configured_openml(folder: Path, server: str) -> Iterator:
    """Lend the openml package, set up for one download: its folder, server, patience, silence."""
    variables = {"OPENML_CACHE_DIR": str(folder), "OPENML_SKIP_PARQUET": "true"}
    with ExitStack() as stack:
        stack.enter_context(temporarily_set(os.environ, variables))
        stack.enter_context(_quiet_logging())
        import openml  # slow to import; makes the folder named above

        openml.config.set_root_cache_directory(folder)
        settings = {"server": server or openml.config.server, "connection_n_retries": N_ATTEMPTS}
        stack.enter_context(temporarily_set(vars(openml.config), settings))
        stack.enter_context(
            temporarily_set(vars(openml._api_calls), {"requests": _requests_with_timeout()})
        )
        yield openml


def _requests_with_timeout():
    """Make a copy of requests for openml, whose sessions have a time-out and check the status.

    openml sets no time-out. It takes each error for an XML message of OpenML's own, which a page
    of a proxy is not, and asks again after errors of the connection only.
    """
    import requests

    class Session(requests.Session):
        def request(self, method, url, **options):
            response = super().request(method, url, **{"timeout": TIMEOUT} | options)
            if response.status_code >= 400 and b"<oml:error" not in response.content:
                try:
                    response.raise_for_status()
                except requests.HTTPError as error:
                    if response.status_code < 500 and response.status_code != _TOO_MANY_REQUESTS:
                        raise
                    raise requests.ConnectionError(str(error), response=response) from None
            return response

    return SimpleNamespace(**vars(requests) | {"Session": Session})


@contextmanager
def _quiet_logging() -> Iterator[None]:
    """Leave out what openml says on the root logger: a warning of each answer not compressed."""

    def is_not_from_openml(record: logging.LogRecord) -> bool:
        return record.module != "_api_calls"

    logging.root.addFilter(is_not_from_openml)
    try:
        yield
    finally:
        logging.root.removeFilter(is_not_from_openml)


def _connection_error(error: Exception, where: str) -> ConnectionError:
    """Say in a few words what went wrong."""
    from requests import exceptions

    response = getattr(error, "response", None)
    if response is not None:
        status = f"{response.status_code} ({response.reason})"
        return ConnectionError(f"{where}: the server answers {status}")
    if isinstance(error, exceptions.Timeout):
        return Unreachable(f"{where}: the server does not answer (time-out)")
    if isinstance(error, exceptions.ConnectionError):
        return Unreachable(f"{where}: the server cannot be reached")
    if type(error).__name__ == "OpenMLHashException":
        reason = "the downloaded file does not have the MD5 checksum of its description"
    else:
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    return ConnectionError(f"{where}: {reason}")


def _named_columns(attribute: str | list[str] | None, columns: list[str]) -> set[str]:
    """List the columns that an attribute of the description names: one, some, or with commas."""
    entries = [attribute] if isinstance(attribute, str) else attribute or []
    names = set()
    for entry in entries:
        names |= {entry} if entry in columns else {name.strip() for name in entry.split(",")}
    return names
