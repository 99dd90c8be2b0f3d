"""Data sets from OpenML, through openml-python.

openml is told to keep its files in a folder that is thrown away: it deletes what it has cached
whenever something goes wrong. Of what it offers we take the ARFF file, which it checks against the
MD5 of the description (Parquet files are not checked), and read it ourselves: its own reader loses
empty trailing columns of sparse files and the names of their labels, and fails under pandas 3.
"""

import contextlib
import json
import logging
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from boostbench.changed import changed
from boostbench.data import cache
from boostbench.data.dataset import Dataset
from boostbench.data.fixed_splits import check_split
from boostbench.data.readers.arff import read_arff
from boostbench.data.sparse import dense_unless_large
from boostbench.data.table import features_and_labels
from boostbench.errors import UserError

#: Servers that could not be reached: a run asks each of them once.
given_up: set[str] = set()

#: Seconds to wait for a connection, and for each piece of an answer. openml waits for ever.
TIME_OUT = (3.0, 30.0)
#: Attempts for each request; openml sleeps 1, 2, 3, ... seconds between them.
N_ATTEMPTS = 2


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
        `boostbench.data.table.features_and_labels`.

    Returns
    -------
    Dataset
        Not validated. OpenML's row ids and ignored columns are left out.

    Raises
    ------
    Unreachable
        The server cannot be reached, now or earlier in this run.
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
    with _asking(where) as openml:
        data_id, target, splits = spec.get("id"), spec.get("target"), None
        if spec.get("task"):
            data_id, target, splits = _task(openml, spec["task"], where)
        description = openml.datasets.get_dataset(data_id, download_data=True)
        with open(description.data_file, "rb") as stream:
            table = read_arff(stream, where)
    target = target or description.default_target_attribute
    if target is None:
        raise UserError(f"{where} does not say which column holds the classes; set openml.target")
    X, y, *_ = features_and_labels(
        table,
        target,
        _names(description.ignore_attribute, table.names)
        | _names(description.row_id_attribute, table.names),
        spec.get("keep") or (),
        spec.get("drop") or (),
        missing,
    )
    for number, parts in enumerate(splits or [], 1):
        # A bootstrap draws training rows again; none may be a test row.
        once = tuple(map(np.unique, parts))
        check_split(once, len(y), f"{where}, split {number} of {len(splits)}")
    source = f"OpenML {data_id} v{description.version}"
    if splits is not None:
        source = f"{source} ({description.name}), task {spec['task']}"
    return Dataset(name, dense_unless_large(X), y, source, splits)


def suite(number: int) -> dict[int, str]:
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
    with _asking(where) as openml:
        tasks = openml.study.get_suite(number).tasks
        listed = openml.tasks.list_tasks(task_id=tasks, output_format="dataframe")
        names = {task: str(listed.loc[task, "name"]) for task in tasks}
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(names), encoding="utf-8")
    return names


def _task(openml, number: int, where: str) -> tuple[int, str, list]:
    """Ask for a task: its data set, the column of classes, and its splits, repeat by repeat."""
    # Its own `get_task` reads the whole data set for the names of classes.
    task = openml.tasks.functions._get_task_description(number)
    if task.task_type_id is not openml.tasks.TaskType.SUPERVISED_CLASSIFICATION:
        raise UserError(f"{where} is of {task.task_type}, and not of supervised classification")
    repeats, folds, _ = task.get_split_dimensions()
    splits = [
        task.get_train_test_split_indices(fold=fold, repeat=repeat)
        for repeat in range(repeats)
        for fold in range(folds)
    ]
    return task.dataset_id, task.target_name, splits


@contextmanager
def _asking(where: str) -> Iterator:
    """Lend the openml package; what goes wrong is told in one line, and its server asked once."""
    server = os.environ.get("BOOSTBENCH_OPENML_SERVER", "")
    if server in given_up:
        raise Unreachable(f"{where}: the server was not reached before")
    with tempfile.TemporaryDirectory(prefix="boostbench-") as folder:
        try:
            with _openml(Path(folder), server) as openml:
                yield openml
        except UserError:
            raise
        except Exception as error:  # openml lets errors of requests, XML and missing keys through
            failure = _failure(error, where)
            if isinstance(failure, Unreachable):
                given_up.add(server)
            raise failure from error


@contextmanager
def _openml(folder: Path, server: str) -> Iterator:
    """Lend the openml package, set up for one download: its folder, server, patience, silence."""
    variables = {"OPENML_CACHE_DIR": str(folder), "OPENML_SKIP_PARQUET": "true"}
    with ExitStack() as stack:
        stack.enter_context(changed(os.environ, variables))
        stack.enter_context(_silence())
        import openml  # slow to import; makes the folder named above

        openml.config.set_root_cache_directory(folder)
        settings = {"server": server or openml.config.server, "connection_n_retries": N_ATTEMPTS}
        stack.enter_context(changed(vars(openml.config), settings))
        stack.enter_context(changed(vars(openml._api_calls), {"requests": _requests_in_time()}))
        yield openml


def _requests_in_time():
    """Make a copy of requests whose sessions have a time-out: openml sets none, nor can it."""
    import requests

    class Session(requests.Session):
        def request(self, method, url, **options):
            return super().request(method, url, **{"timeout": TIME_OUT} | options)

    return SimpleNamespace(**vars(requests) | {"Session": Session})


@contextmanager
def _silence() -> Iterator[None]:
    """Leave out what openml says on the root logger: a warning of each answer not compressed."""

    def is_other(record: logging.LogRecord) -> bool:
        return record.module != "_api_calls"

    logging.root.addFilter(is_other)
    try:
        yield
    finally:
        logging.root.removeFilter(is_other)


def _failure(error: Exception, where: str) -> ConnectionError:
    """Say in a few words what went wrong."""
    from requests import exceptions

    if isinstance(error, exceptions.Timeout):
        return Unreachable(f"{where}: the server does not answer (time-out)")
    if isinstance(error, exceptions.ConnectionError):
        return Unreachable(f"{where}: the server cannot be reached")
    if type(error).__name__ == "OpenMLHashException":
        reason = "the downloaded file does not have the MD5 checksum of its description"
    else:
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    return ConnectionError(f"{where}: {reason}")


def _names(attribute: str | list[str] | None, columns: list[str]) -> set[str]:
    """List the columns that an attribute of the description names: one, some, or with commas."""
    entries = [attribute] if isinstance(attribute, str) else attribute or []
    names = set()
    for entry in entries:
        names |= {entry} if entry in columns else {name.strip() for name in entry.split(",")}
    return names
