"""Data sets from OpenML, through openml-python.

openml is told to keep its files in a folder that is thrown away: it deletes what it has cached
whenever something goes wrong. Of what it offers we take the ARFF file, which it checks against the
MD5 of the description (Parquet files are not checked), and read it ourselves: its own reader loses
empty trailing columns of sparse files and the names of their labels, and fails under pandas 3.
"""

import logging
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from boostbench.data.dataset import Dataset
from boostbench.data.readers.arff import read_arff
from boostbench.data.sparse import dense_unless_large
from boostbench.data.table import features_and_labels
from boostbench.errors import UserError

#: Seconds to wait for a connection, and for each piece of an answer. openml waits for ever.
TIME_OUT = (3.0, 30.0)
#: Attempts for each request; openml sleeps 1, 2, 3, ... seconds between them.
N_ATTEMPTS = 2


def download(name: str, spec: Mapping, missing: str | None = None) -> Dataset:
    """Download a data set.

    Parameters
    ----------
    name : str
        What to call it.
    spec : mapping
        ``id`` on OpenML; ``target`` column (default: as OpenML says); patterns of the columns to
        ``keep`` and ``drop``.
    missing : {None, "drop"}, default=None
        Whether rows with missing features are an error or left out.

    Returns
    -------
    Dataset
        Not validated. OpenML's row ids and ignored columns are left out.

    Raises
    ------
    ConnectionError
        The data set cannot be had, with the reason.
    UserError
        It was had, but it is not what the config takes it for.
    """
    where = f"OpenML {spec['id']}"
    with tempfile.TemporaryDirectory(prefix="boostbench-") as folder:
        try:
            with _openml(Path(folder)) as openml:
                description = openml.datasets.get_dataset(spec["id"], download_data=True)
        except Exception as error:  # openml lets errors of requests, XML and missing keys through
            raise ConnectionError(f"{where}: {_reason(error)}") from error
        with open(description.data_file, "rb") as stream:
            table = read_arff(stream, where)
    target = spec.get("target") or description.default_target_attribute
    if target is None:
        raise UserError(f"{where} does not say which column holds the classes; set openml.target")
    X, y = features_and_labels(
        table,
        target,
        _names(description.ignore_attribute, table.names)
        | _names(description.row_id_attribute, table.names),
        spec.get("keep") or (),
        spec.get("drop") or (),
        missing,
    )
    return Dataset(name, dense_unless_large(X), y, f"{where} v{description.version}")


@contextmanager
def _openml(folder: Path) -> Iterator:
    """Lend the openml package, set up for one download: its folder, server, patience, silence."""
    before = {key: os.environ.get(key) for key in ("OPENML_CACHE_DIR", "OPENML_SKIP_PARQUET")}
    os.environ |= {"OPENML_CACHE_DIR": str(folder), "OPENML_SKIP_PARQUET": "true"}
    level = logging.root.manager.disable
    logging.disable(logging.WARNING)  # openml warns of every answer that is not compressed
    try:
        import openml  # slow to import; makes the folder named above

        settings = openml.config.server, openml.config.connection_n_retries
        openml.config.set_root_cache_directory(folder)
        openml.config.server = os.environ.get("BOOSTBENCH_OPENML_SERVER") or openml.config.server
        openml.config.connection_n_retries = N_ATTEMPTS
        try:
            with _time_out():
                yield openml
        finally:
            openml.config.server, openml.config.connection_n_retries = settings
    finally:
        logging.disable(level)
        for key, value in before.items():
            if value is None:
                del os.environ[key]
            else:
                os.environ[key] = value


@contextmanager
def _time_out() -> Iterator[None]:
    """Give every HTTP request a time-out: openml sets none, and has no option for it."""
    from requests.adapters import HTTPAdapter

    send = HTTPAdapter.send

    def send_in_time(self, request, **options):
        options["timeout"] = options.get("timeout") or TIME_OUT
        return send(self, request, **options)

    HTTPAdapter.send = send_in_time
    try:
        yield
    finally:
        HTTPAdapter.send = send


def _reason(error: Exception) -> str:
    """Say in a few words what went wrong."""
    from requests.exceptions import ConnectionError, Timeout

    if isinstance(error, Timeout):
        return "the server does not answer (time-out)"
    if isinstance(error, ConnectionError):
        return "the server cannot be reached"
    if type(error).__name__ == "OpenMLHashException":
        return "the downloaded file does not have the MD5 checksum of its description"
    words = " ".join(str(error).split())
    return f"{type(error).__name__}: {words[:200]}"


def _names(attribute: str | list[str] | None, columns: list[str]) -> set[str]:
    """List the columns that an attribute of the description names: one, some, or with commas."""
    entries = [attribute] if isinstance(attribute, str) else attribute or []
    names = set()
    for entry in entries:
        names |= {entry} if entry in columns else {name.strip() for name in entry.split(",")}
    return names
