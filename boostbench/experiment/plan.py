"""What is to be done: experiments, and the pieces of work that they consist of."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags

from boostbench.data.dataset import Dataset
from boostbench.errors import UserError
from boostbench.experiment.algorithm import Algorithm
from boostbench.experiment.code import fingerprint
from boostbench.experiment.protocol import Protocol
from boostbench.experiment.records import digest, record_path
from boostbench.experiment.splits import Split, folds, splits
from boostbench.experiment.trial import Trial
from boostbench.experiment.tuning import Walk, can_walk

# Numbers that a projection of sparse features may come to: 1 GiB, of which PCA needs copies.
_MAX_DENSE = 2**27
_VALIDATION = {"test_error": "validation_error", "test_errors": "validation_errors"}
_TUNING_RESULTS = (*_VALIDATION, "seconds", "error", "where", "finished")


def request(algorithm: Algorithm, protocol: Protocol, seed: int) -> dict:
    """Say what is asked of any data, in JSON types: all that decides the results, nothing else.

    A parameter that the grid decides is left out of the algorithm's own, and how it is tuned where
    there is nothing to choose.
    """
    asked = protocol.to_config()
    grid = dict(algorithm.grid) if protocol.tune != "none" else {}
    if len(_points(algorithm, protocol)) == 1:
        del asked["tune"], asked["n_folds"]
    params = {name: value for name, value in algorithm.params.items() if name not in grid}
    return {
        "algo": {"_target_": algorithm.target, **params},
        "grid": grid,
        "protocol": asked,
        "seed": seed,
    }


def _points(algorithm: Algorithm, protocol: Protocol) -> list[dict]:
    return algorithm.points() if protocol.tune != "none" else [{}]


@dataclass(frozen=True, eq=False)
class Experiment:
    """An algorithm on a data set under a protocol.

    Attributes
    ----------
    dataset : Dataset
    algorithm : Algorithm
    protocol : Protocol
    seed : int
        All randomness comes from here, the number of the split and the number of the fold.
    """

    dataset: Dataset
    algorithm: Algorithm
    protocol: Protocol
    seed: int = 0

    @classmethod
    def from_config(cls, config: Mapping, dataset: Dataset) -> "Experiment":
        """Make an experiment from the resolved configuration and the loaded data.

        Parameters
        ----------
        config : mapping
            Plain types; ``algo``, ``protocol`` and ``seed`` are looked at.
        dataset : Dataset
            What ``config["data"]`` asks for.

        Raises
        ------
        UserError
            If the configuration asks for something that does not exist or cannot be.
        """
        return cls(
            dataset,
            Algorithm.from_config(config["algo"]),
            Protocol.from_config(config["protocol"]),
            config.get("seed", 0),
        )

    @property
    def label(self) -> str:
        """The experiment in words."""
        return f"{self.algorithm.name} on {self.dataset.name}"

    @cached_property
    def points(self) -> list[dict]:
        """Points of the grid to choose from; a single one where nothing is tuned."""
        return _points(self.algorithm, self.protocol)

    @property
    def is_tuned(self) -> bool:
        """Whether there is anything to choose."""
        return len(self.points) > 1

    @cached_property
    def config(self) -> dict:
        """All that decides the results, in JSON types, and nothing else.

        What would be the same under another name or wording gives the same `config`: see `request`.
        """
        data = {
            "name": self.dataset.name,
            "checksum": self.dataset.checksum,
            "n_samples": self.dataset.n_samples,
            "n_features": self.dataset.n_features,
            "n_classes": self.dataset.n_classes,
        }
        return {"data": data, **request(self.algorithm, self.protocol, self.seed)}

    @cached_property
    def config_hash(self) -> str:
        """Digest of `config`: one for all splits of the experiment."""
        return digest(self.config)

    @cached_property
    def fingerprint(self) -> str:
        """Name of the estimator's code as it is now."""
        return fingerprint(self.algorithm.locate())

    @cached_property
    def splits(self) -> list[Split]:
        """The divisions of the data; raises UserError where they are impossible."""
        return splits(self.dataset, self.protocol, self.seed)

    def check(self) -> None:
        """Make sure that the classifier takes such data, as far as it tells.

        Raises
        ------
        UserError
            If it takes two classes only and there are more, or no sparse features and these are,
            or if sparse features are too large to be projected.
        """
        self._check_projection()
        estimator = self.algorithm.build(self.seed)
        if not isinstance(estimator, BaseEstimator):
            return
        tags = get_tags(estimator)
        n_classes, name = self.dataset.n_classes, self.dataset.name
        if n_classes > 2 and tags.classifier_tags and not tags.classifier_tags.multi_class:
            raise UserError(
                f"{self.algorithm.name} takes two classes, and data set {name!r} has {n_classes}"
            )
        projected = self.protocol.pca is not None
        if self.dataset.is_sparse and not projected and not tags.input_tags.sparse:
            raise UserError(
                f"{self.algorithm.name} takes no sparse features, and those of {name!r} are sparse"
            )

    def _check_projection(self) -> None:
        dataset = self.dataset
        if self.protocol.pca is None or not dataset.is_sparse:
            return
        split = self.splits[0]
        n_samples = len(split.train) + len(split.test)
        n_components = min(len(split.train), dataset.n_features)
        if n_samples * n_components > _MAX_DENSE:
            raise UserError(
                f"protocol.pca makes the features of {dataset.name!r} dense, and {n_samples} x up "
                f"to {n_components} are too many; lower protocol.samples_per_class"
            )

    def tuning_split(self, split: Split) -> Split:
        """Give the split on whose training part the parameters for `split` are chosen."""
        return self.splits[0] if self.protocol.tune == "first_split" else split

    def trial(self, split: Split, chosen: Mapping) -> Trial:
        """Plan the fit on a split's training part with the chosen parameters."""
        return Trial(
            self.algorithm,
            chosen,
            split.train,
            split.test,
            split.seed,
            self.protocol.scale,
            self.protocol.checkpoints,
            self.protocol.pca,
        )

    def key(self, split: Split) -> str:
        """Give the key of a split's record."""
        return digest([self.config_hash, split.index, split.checksum])

    def path(self, results: Path, tuning: bool = False) -> Path:
        """Give the file of the experiment's records."""
        return record_path(results, self.dataset.name, self.algorithm.name, tuning)


@dataclass(frozen=True, eq=False)
class Task:
    """A trial together with how its outcome is to be filed.

    Attributes
    ----------
    experiment : Experiment
    trial : Trial
    key : str
        Key of the record.
    tuning : bool
        Whether it is a cross-validation trial.
    labels : dict
        What the record says besides the outcome.
    """

    experiment: Experiment
    trial: Trial
    key: str
    tuning: bool
    labels: Mapping

    @property
    def label(self) -> str:
        """The piece of work in words."""
        fold = f", fold {self.labels['fold']}, {self._point()}" if self.tuning else ""
        return f"{self.experiment.label}, split {self.labels['split']}{fold}"

    @property
    def points(self) -> list[dict]:
        """Points of the grid that this cross-validation trial is about."""
        return self.labels["points"] if "points" in self.labels else [self.labels["point"]]

    def _point(self) -> str:
        if len(self.points) > 1:
            return f"{len(self.points)} points"
        return ", ".join(f"{name}={value}" for name, value in self.points[0].items())

    def record(self, outcome: dict) -> dict:
        """File an outcome of the trial; there are many tuning trials, so they say little."""
        if self.tuning:
            outcome = {name: outcome[name] for name in _TUNING_RESULTS if name in outcome}
            for test, validation in _VALIDATION.items():
                if test in outcome:
                    outcome[validation] = outcome.pop(test)
        return {"key": self.key, **self.labels, **outcome}

    def validation_error(self, point: Mapping, record: Mapping) -> float:
        """Look up one of the `points` in a record of this cross-validation trial."""
        if "points" in self.labels:
            return record["validation_errors"][self.points.index(point)]
        return record["validation_error"]


def split_task(experiment: Experiment, split: Split, chosen: Mapping, validation_error) -> Task:
    """Plan an experiment's fit on a split, and what its record says."""
    labels = {
        **_labels(experiment, split),
        "config": experiment.config,
        "chosen": dict(chosen),
        "validation_error": validation_error,
    }
    return Task(experiment, experiment.trial(split, chosen), experiment.key(split), False, labels)


def tuning_tasks(experiment: Experiment, split: Split) -> Iterator[Task]:
    """Plan the cross-validation inside a split's training part: fold by fold, point by point.

    Points that an estimator can walk through are one trial for each fold. The key leaves out what
    does not touch a trial, so that a grid of single points can grow and keep its trials.
    """
    config = {name: experiment.config[name] for name in ("algo", "data")}
    y = experiment.dataset.y[split.train]
    where = f"the training part of split {split.index} of {experiment.dataset.name}"
    scale, pca = experiment.protocol.scale, experiment.protocol.pca
    # No projection is left out, as in the config of the protocol.
    prepared = scale if pca is None else [scale, pca]
    parts = folds(y, experiment.protocol.n_folds, split.seed, where)
    for fold, (train, test) in enumerate(parts):
        seed = int(np.random.SeedSequence([split.seed, fold]).generate_state(1)[0])
        inner = Split(fold, seed, split.train[train], split.train[test])
        for name, points, trial in _trials(experiment, inner):
            key = digest([config, prepared, points, seed, inner.checksum])
            labels = {**_labels(experiment, split), "fold": fold, name: points}
            yield Task(experiment, trial, key, True, labels)


def _trials(experiment: Experiment, inner: Split) -> Iterator[tuple[str, object, Trial]]:
    """Give a fold's trials, each after what records call its part of the grid, and that part."""
    algorithm, points = experiment.algorithm, experiment.points
    data = inner.train, inner.test, inner.seed, experiment.protocol.scale
    pca = experiment.protocol.pca
    if can_walk(algorithm):
        yield "points", points, Walk(algorithm, {}, *data, pca=pca, points=points)
        return
    for point in points:
        yield "point", point, Trial(algorithm, point, *data, pca=pca)


def _labels(experiment: Experiment, split: Split) -> dict:
    return {
        "algo": experiment.algorithm.name,
        "data": experiment.dataset.name,
        "seed": experiment.seed,
        "split": split.index,
        "config_hash": experiment.config_hash,
        "fingerprint": experiment.fingerprint,
    }
