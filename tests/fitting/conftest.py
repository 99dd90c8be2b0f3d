import functools
import sys
from pathlib import Path

import pytest

from . import toy

# Worker processes inherit the path, so that they find the classifiers of these tests.
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def dataset():
    return toy.make_dataset()


@pytest.fixture
def make_experiment(dataset):
    """Return `toy.make_experiment`, bound to the data set."""
    return functools.partial(toy.make_experiment, data=dataset)
