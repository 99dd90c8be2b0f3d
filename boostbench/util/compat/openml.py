"""Requests and messages of openml-python.

Import this module within a function: openml is slow to import, and makes its cache folder then.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import openml

from boostbench.util.temporary_settings import temporarily_set

download_text = openml._api_calls._download_text_file
read_task_description = openml.tasks.functions._get_task_description


def use_requests(requests):
    """Return a context in which openml makes its requests by a module like `requests`.

    openml itself sets no time limit. `boostbench.data.sources.openml_client` passes a copy of the
    module with time limits and checks of the status.
    """
    return temporarily_set(vars(openml._api_calls), requests=requests)


@contextmanager
def quiet_root_logger() -> Iterator[None]:
    """Drop openml's messages on the root logger: a warning about each uncompressed response."""

    def is_not_from_openml(record: logging.LogRecord) -> bool:
        return record.module != "_api_calls"

    logging.root.addFilter(is_not_from_openml)
    try:
        yield
    finally:
        logging.root.removeFilter(is_not_from_openml)
