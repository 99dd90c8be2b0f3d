"""A small data set with known properties, and experiments on it."""

import numpy as np

from boostbench.data.dataset import Dataset
from boostbench.execution.plan import Experiment
from boostbench.execution.runner import Run
from boostbench.records.index import Records
from boostbench.spec.algorithm import AlgorithmSpec
from boostbench.spec.data import DataSpec
from boostbench.spec.experiment import ExperimentSpec
from boostbench.spec.protocol import ProtocolSpec
from boostbench.util.validation import struct_from_config

SETTINGS = set(ProtocolSpec.__struct_fields__) - {"name"}


def make_dataset(counts=(40, 40, 40), name="toy", splits=None, seed=0):
    """Return a data set of 3 noisy features with given numbers of samples per class."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(counts)), counts)
    X = y[:, None] + rng.normal(scale=0.8, size=(len(y), 3))
    order = rng.permutation(len(y))
    labels = np.array(["a", "b", "c", "d", "e"])[y]
    return Dataset(name=name, X=X[order], y=labels[order], source="generated", splits=splits)


def make_experiment(
    target="fake_classifiers.Nearest",
    grid=None,
    seed=0,
    data=None,
    measure="prediction",
    name="fake",
    **settings,
):
    """Make an experiment; further keywords are protocol settings or the algorithm's parameters."""
    algo = {"name": name, "_target_": target, "grid": grid or {}}
    protocol = {"n_splits": 4, "n_folds": 3, "checkpoints": [1, 2, 5, 50]}
    for key, value in settings.items():
        (protocol if key in SETTINGS else algo)[key] = value
    config = {"algo": algo, "protocol": protocol, "seed": seed, "measure": measure}
    return experiment_from_config(config, make_dataset() if data is None else data)


def experiment_from_config(config, dataset):
    """Make the experiment of a config, whose ``data`` are by default those of the data set."""
    data = dataset.spec or DataSpec(dataset.name)
    return Experiment.from_spec(spec_from_config({"data": data, **config}), dataset)


def spec_from_config(config):
    """Make the specification in a config of JSON types."""
    return ExperimentSpec(
        AlgorithmSpec.from_config(config["algo"]),
        DataSpec.from_config(config["data"]),
        struct_from_config(ProtocolSpec, config["protocol"], "protocol"),
        config.get("measure", "prediction"),
        config.get("seed", 0),
    ).normalized()


def run(experiments, *, results, on_event=lambda event: None, **settings):
    """Run the missing fits of experiments; `results` is a folder, or its `Records`."""
    records = results if isinstance(results, Records) else Records(results)
    return Run.plan(experiments, records, **settings).carry_out(on_event)


def bare(records):
    """Return the sorted records without times, which differ between runs."""
    from fitting.examples import flat  # other processes import this module without its package

    times = ("seconds", "started", "finished")
    return [
        {name: value for name, value in flat(record).items() if name not in times}
        for record in sorted(records, key=lambda record: record.key)
    ]
