"""Experiments, and the tasks that they consist of."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sklearn.base import BaseEstimator
from sklearn.utils import get_tags

from boostbench.data.dataset import Dataset
from boostbench.fitting.measures.base import Measure
from boostbench.fitting.splits import Split, splits
from boostbench.fitting.trial import Outcome, Trial
from boostbench.fitting.tuning import Point, Validation, inner_splits, trials
from boostbench.records.codec import make_record
from boostbench.records.environment import commit
from boostbench.records.schema import Config, Provenance, Record
from boostbench.records.store import record_path
from boostbench.spec import measures
from boostbench.spec.data import KEEP
from boostbench.spec.experiment import ExperimentSpec
from boostbench.spec.keys import canonical_json
from boostbench.util.errors import UserError

# Numbers that a projection of sparse features may come to: 1 GiB, of which PCA needs copies.
_MAX_DENSE = 2**27


@dataclass(frozen=True, eq=False)
class Experiment:
    """An experiment: its specification and its data set.

    Attributes
    ----------
    spec : ExperimentSpec
        Algorithm, protocol, measure and seed.
    dataset : Dataset
        Loaded data.
    """

    spec: ExperimentSpec
    dataset: Dataset

    @classmethod
    def from_config(cls, config: Mapping, dataset: Dataset) -> "Experiment":
        """Return the experiment of a resolved config and the loaded data.

        Parameters
        ----------
        config : mapping
            Resolved config, see `ExperimentSpec.from_config`.
        dataset : Dataset
            Data set of ``config["data"]``.

        Raises
        ------
        UserError
            If a setting is unknown, or has an impossible value for this data set.
        """
        data = dataset.spec or {"name": dataset.name}
        return cls.from_spec(ExperimentSpec.from_config({"data": data, **config}), dataset)

    @classmethod
    def from_spec(cls, spec: ExperimentSpec, dataset: Dataset) -> "Experiment":
        """Return the experiment of a specification and the loaded data, see `from_config`."""
        experiment = cls(spec, dataset)
        experiment.measure.check(spec.algorithm.import_class())
        record_path(Path(), dataset.name, spec.algorithm.name)
        _check_text(dataset)
        experiment.measure.check_data(dataset)
        return experiment

    @property
    def label(self) -> str:
        """Name of the experiment in messages."""
        return f"{self.spec.algorithm.name} on {self.dataset.name}"

    @property
    def is_tuned(self) -> bool:
        """True if cross-validation chooses among several points of the grid."""
        return len(self.spec.points) > 1

    @cached_property
    def measure(self) -> Measure:
        """Measure of the fits."""
        return measures.find(self.spec.measure)

    @cached_property
    def imputation(self) -> str | None:
        """Imputation of missing values, or `KEEP`; None without missing values."""
        return self.spec.effective_imputation(self.dataset.imputation)

    @cached_property
    def takes_categories(self) -> bool:
        """True if the estimator gets codes as categories; filled features are numbers."""
        is_unfilled = self.imputation in (None, KEEP)
        return bool(self.dataset.categories and is_unfilled and self.spec.supports[1])

    @cached_property
    def config(self) -> Config:
        """Config of the records: all that affects the results, with defaults, and nothing else."""
        data = {
            "name": self.dataset.name,
            "checksum": self.dataset.checksum,
            "n_samples": self.dataset.n_samples,
            "n_features": self.dataset.n_features,
            "n_classes": self.dataset.n_classes,
        }
        if self.imputation:
            data["missing"] = self.imputation
        if self.takes_categories:
            data["words"] = "categories"
        if self.dataset.spec and self.dataset.spec.overrides:
            data["cut"] = self.dataset.spec.overrides
        return Config({"data": data, "measure": self.measure.name, **self.spec.settings})

    @cached_property
    def splits(self) -> list[Split]:
        """The divisions of the data; raises UserError where they are impossible."""
        division = self.dataset, self.spec.protocol, self.spec.seed
        return self.measure.splits(*division) or splits(*division)

    def check(self) -> None:
        """Raise an error if the classifier declares that it cannot take the data.

        Raises
        ------
        UserError
            If it takes two classes only and there are more, or no sparse features and these are,
            or if sparse features are too large to be projected.
        """
        self._check_projection()
        estimator = self.spec.algorithm.estimator
        if not isinstance(estimator, BaseEstimator):
            return
        tags = get_tags(estimator)
        n_classes, name = self.dataset.n_classes, self.dataset.name
        algorithm = self.spec.algorithm.name
        if n_classes > 2 and tags.classifier_tags and not tags.classifier_tags.multi_class:
            raise UserError(f"{algorithm} takes two classes, and data set {name!r} has {n_classes}")
        projected = self.spec.protocol.pca is not None
        if self.dataset.is_sparse and not projected and not tags.input_tags.sparse:
            raise UserError(
                f"{algorithm} takes no sparse features, and those of {name!r} are sparse"
            )

    def _check_projection(self) -> None:
        dataset = self.dataset
        if self.spec.protocol.pca is None or not dataset.is_sparse:
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
        """Return the split on whose training part the parameters for `split` are chosen."""
        return self.splits[0] if self.spec.protocol.tune == "first_split" else split

    def trial(self, split: Split, chosen: Point) -> Trial:
        """Return the fit on a split's training part with the chosen parameters."""
        about = self.spec.protocol, self.measure, self.imputation, self.dataset.category_counts
        return Trial(self.spec.algorithm, chosen, split, *about, self.takes_categories)

    def key(self, split: Split) -> str:
        """Return the key of a split's record."""
        return self.config.keys.split_key(split.index, split.checksum)

    def shard_key(self, split: Split) -> str:
        """Return the key that assigns a split, with its tuning, to a shard."""
        return self.key(self.tuning_split(split) if self.is_tuned else split)

    def path(self, results: Path, tuning: bool = False) -> Path:
        """Return the file of the experiment's records, or of its cross-validation trials."""
        kind = "tuning" if tuning else self.measure.suffix
        return record_path(results, self.dataset.name, self.spec.algorithm.name, kind)


def _check_text(dataset: Dataset) -> None:
    """Refuse settings that JSON cannot hold, such as a file name that is no text."""
    for key, value in (dataset.spec.to_config() if dataset.spec else {}).items():
        try:
            canonical_json(value)
        except UserError:
            raise UserError(
                f"data.{key} is {value!r}, which is not Unicode, and records name it; rename it"
            ) from None


@dataclass(frozen=True, eq=False)
class Task:
    """Trial of an experiment: a split, or a cross-validation trial.

    Attributes
    ----------
    experiment : Experiment
    trial : Trial
    key : str
        Key of the record.
    split : int
        Number of the split, or of the split whose training part is divided.
    validation_error : float, default=None
        Mean validation error of the chosen point; None without tuning.
    """

    experiment: Experiment
    trial: Trial
    key: str
    split: int
    validation_error: float | None = None

    @property
    def dataset(self) -> Dataset:
        """Data set of the trial."""
        return self.experiment.dataset

    @property
    def is_tuning(self) -> bool:
        """True for a cross-validation trial."""
        return isinstance(self.trial.measure, Validation)

    @property
    def points(self) -> list[Point]:
        """Points of the grid that this cross-validation trial fits."""
        return list(self.trial.measure.points)

    @property
    def label(self) -> str:
        """Description of the task in messages."""
        label = f"{self.experiment.label}, split {self.split}"
        if not self.is_tuning:
            return label
        points = f"{len(self.points)} points"
        if len(self.points) == 1:
            points = ", ".join(f"{name}={value}" for name, value in self.points[0].items())
        return f"{label}, fold {self.trial.split.index}, {points}"

    def record(self, outcome: Outcome) -> Record:
        """Return the record of an outcome of the trial.

        Raises
        ------
        BadLine
            If a result has an impossible value, or has no JSON form.
        """
        # 1) Facts that every record has.
        entries = dict(outcome.results)
        entries |= {"split": self.split, "rows": self.trial.split.checksum}
        facts = {"finished": outcome.finished, "error": outcome.error, "where": outcome.where}
        # 2) There are many trials, so that their records leave some facts out.
        if self.is_tuning:
            points = self.points
            entries["fold"] = self.trial.split.index
            entries |= {"points": points} if len(points) > 1 else {"point": points[0]}
        else:
            entries |= {
                "chosen": dict(self.trial.chosen),
                "validation_error": self.validation_error,
            }
            facts |= {"n_train": outcome.n_train, "n_test": outcome.n_test}
            facts |= {"started": outcome.started, "warnings": outcome.warnings}
        # 3) The facts of a fit whose process is gone are unknown.
        entries |= {name: value for name, value in facts.items() if value is not None}
        provenance = {
            **self.experiment.spec.code_version.to_record(),
            "commit": commit(),
            "environment": outcome.environment,
        }
        kind = "tuning" if self.is_tuning else self.experiment.measure.suffix
        return make_record(kind, self.experiment.config, Provenance(provenance), entries)


def split_task(
    experiment: Experiment, split: Split, chosen: Point, validation_error: float | None
) -> Task:
    """Return the task of a split."""
    trial, key = experiment.trial(split, chosen), experiment.key(split)
    return Task(experiment, trial, key, split.index, validation_error)


def tuning_tasks(experiment: Experiment, split: Split) -> Iterator[Task]:
    """Yield the tasks of the cross-validation inside a training part: by fold, then by point.

    Points that share a fit are one trial for each fold, see `boostbench.fitting.tuning`.
    """
    y = experiment.dataset.y[split.train]
    where = f"the training part of split {split.index} of {experiment.dataset.name}"
    for inner in inner_splits(split, y, experiment.spec.protocol.n_folds, where):
        for trial in trials(experiment.trial(inner, {}), experiment.spec.points):
            points = list(trial.measure.points)
            key = experiment.config.keys.trial_key(split.index, inner.index, points, inner.checksum)
            yield Task(experiment, trial, key, split.index)
