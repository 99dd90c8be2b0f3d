"""Fixtures of the tests of algorithms."""

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(scope="package", autouse=True)
def _one_thread():
    """Use one thread, since several threads slow down products of small matrices."""
    with threadpool_limits(1):
        yield
