import pytest
from fitting.conftest import dataset, make_experiment  # noqa: F401

from boostbench.records.environment import environment


@pytest.fixture(autouse=True)
def environment_of_now():
    """Other tests, in the same process, may have had another number of cores."""
    environment.cache_clear()
