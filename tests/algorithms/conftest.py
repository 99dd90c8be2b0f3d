"""Fixtures of the tests of algorithms."""

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(scope="package", autouse=True)
def _one_thread():
    """Products of matrices this small are slower on several threads than on one."""
    with threadpool_limits(1):
        yield
