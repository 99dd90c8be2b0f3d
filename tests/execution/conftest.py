import pytest
from fitting.conftest import dataset, make_experiment  # noqa: F401

from boostbench.records.environment import environment


@pytest.fixture(autouse=True)
def environment_of_now():
    """Forget the cached environment, since earlier tests may set another number of cores."""
    environment.cache_clear()
