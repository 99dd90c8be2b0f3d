import dataclasses
import sys
from pathlib import Path

import pytest

from boostbench.experiment.protocol import Protocol
from boostbench.running.plan import Experiment

from .toy import make_dataset

# Worker processes inherit the path, and so find the classifiers of these tests.
sys.path.insert(0, str(Path(__file__).parent))

SETTINGS = {field.name for field in dataclasses.fields(Protocol)} - {"name"}


@pytest.fixture
def dataset():
    return make_dataset()


@pytest.fixture
def make_experiment(dataset):
    """Make an experiment; further keywords are protocol settings or the algorithm's parameters."""

    def make(target="fake_classifiers.Nearest", grid=None, seed=0, data=dataset, **others):
        algo = {"name": "fake", "_target_": target, "grid": grid or {}}
        protocol = {"n_splits": 4, "n_folds": 3, "checkpoints": [1, 2, 5, 50]}
        for name, value in others.items():
            (protocol if name in SETTINGS else algo)[name] = value
        return Experiment.from_config({"algo": algo, "protocol": protocol, "seed": seed}, data)

    return make
