import functools
import sys
from pathlib import Path

import pytest

from . import toy

# Worker processes inherit the path, and so find the classifiers of these tests.
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def dataset():
    return toy.make_dataset()


@pytest.fixture
def make_experiment(dataset):
    """See `toy.make_experiment`."""
    return functools.partial(toy.make_experiment, data=dataset)
