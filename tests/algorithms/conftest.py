"""What tests of algorithms share."""

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(scope="package", autouse=True)
def _one_thread():
    """Products of matrices this small are slower on several threads than on one."""
    with threadpool_limits(1):
        yield


def pytest_collection_modifyitems(items):
    """Leave out scikit-learn's checks that need not hold: whether they do is asked by nobody."""
    for item in items:
        for expected in item.iter_markers("xfail"):
            expected.kwargs["run"] = False
