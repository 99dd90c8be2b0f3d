"""Experiments, and the tasks that they consist of.

`boostbench.execution.runner` makes tasks of the missing splits of an `Experiment`, and of the
cross-validation trials that choose their parameters.
"""

from collections.abc import Iterator
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
from boostbench.spec.class_facts import FIRST_EDITION
from boostbench.spec.data import KEEP_MISSING
from boostbench.spec.experiment import ExperimentSpec
from boostbench.spec.keys import canonical_json
from boostbench.util.errors import UserError

# Limit of the size of projected features that were sparse, as a number of floats: 1 GiB, of which
# PCA makes copies.
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
    def from_spec(cls, spec: ExperimentSpec, dataset: Dataset) -> "Experiment":
        """Return the experiment of a specification and the loaded data.

        Raises
        ------
        UserError
            If a setting is not possible for this data set.
        """
        experiment = cls(spec, dataset)
        experiment.measure.check(spec.algorithm.import_class())
        # The path is not used: names that cannot be names of files raise an error here.
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
        return len(self.spec.algorithm.points()) > 1

    @cached_property
    def measure(self) -> Measure:
        """Measure of the fits."""
        return measures.find(self.spec.measure)

    @cached_property
    def imputation(self) -> str | None:
        """Statistic that replaces missing values, or `KEEP_MISSING`; None: no value is missing."""
        return self.spec.effective_imputation(self.dataset.imputation)

    @cached_property
    def takes_categories(self) -> bool:
        """True if the estimator gets categories; if missing values are filled, it gets numbers."""
        is_unfilled = self.imputation in (None, KEEP_MISSING)
        return bool(
            self.dataset.categories and is_unfilled and self.spec.supported_values.categories
        )

    @cached_property
    def config(self) -> Config:
        """Config of the records: all settings that affect the results, with their defaults."""
        data = {
            "name": self.dataset.name,
            "checksum": self.dataset.checksum,
            "n_samples": self.dataset.n_samples,
            "n_features": self.dataset.n_features,
            "n_classes": self.dataset.n_classes,
        }
        # Optional entries have the names of the file format, see `boostbench.records.schema.Data`.
        if self.imputation:
            data["missing"] = self.imputation
        if self.takes_categories:
            data["words"] = "categories"
        if self.dataset.spec and self.dataset.spec.differences_from_shipped:
            data["cut"] = self.dataset.spec.differences_from_shipped
        return Config({"data": data, "measure": self.measure.name, **self.spec.settings})

    @cached_property
    def splits(self) -> list[Split]:
        """Splits of the data; raises UserError if the data cannot be divided."""
        # A measure that returns None leaves the division to the protocol.
        division = self.dataset, self.spec.protocol, self.spec.seed
        return self.measure.splits(*division) or splits(*division)

    def check(self) -> None:
        """Raise an error if the tags of the classifier exclude the data.

        Raises
        ------
        UserError
            If the classifier takes two classes only and there are more, if it takes no sparse
            features and the features are sparse, or if sparse features are too large to be
            projected.
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
        """Raise an error if a projection would make sparse features too large."""
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
        """Return the split on whose training part cross-validation chooses for `split`.

        With ``protocol.tune=first_split``, all splits take the choice of the first one.
        """
        return self.splits[0] if self.spec.protocol.tune == "first_split" else split

    def trial(self, split: Split, chosen: Point) -> Trial:
        """Return the fit on a split's training part with the chosen parameters.

        `tuning_tasks` passes a fold of cross-validation as the split, and an empty point.
        """
        return Trial(
            algorithm=self.spec.algorithm,
            chosen=chosen,
            split=split,
            protocol=self.spec.protocol,
            measure=self.measure,
            imputation=self.imputation,
            categories=self.dataset.category_counts,
            takes_categories=self.takes_categories,
        )

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
    """Raise an error for a data setting without a JSON form, such as a file name of raw bytes."""
    for key, value in (dataset.spec.to_config() if dataset.spec else {}).items():
        try:
            canonical_json(value)
        except UserError:
            raise UserError(
                f"data.{key} is {value!r}, which is not Unicode, and records name it; rename it"
            ) from None


@dataclass(frozen=True, eq=False)
class Task:
    """Fit of a split or of a fold of cross-validation, which leaves one record.

    Both are described by a `Trial`. A *cross-validation trial* is the fit of a fold.

    Attributes
    ----------
    experiment : Experiment
        Experiment that the fit belongs to.
    trial : Trial
        Description of the fit.
    key : str
        Key of the record.
    split : int
        Number of the split, or of the split whose training part cross-validation divides.
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
        # 1) Collect the facts of a trial or of a split. Trials are many, so that they have fewer.
        facts = {"finished": outcome.finished, "error": outcome.error, "where": outcome.where}
        if self.is_tuning:
            points = self.points
            facts["fold"] = self.trial.split.index
            facts |= {"points": points} if len(points) > 1 else {"point": points[0]}
        else:
            facts |= {"n_train": outcome.n_train, "n_test": outcome.n_test}
            facts |= {"started": outcome.started, "warnings": outcome.warnings}
            facts["chosen"] = dict(self.trial.chosen)
        # 2) Leave out facts that are unknown, such as the times of a fit whose process is gone. A
        #    split without tuning is recorded with a validation error of None.
        facts = {name: value for name, value in facts.items() if value is not None}
        if not self.is_tuning:
            facts["validation_error"] = self.validation_error
        # 3) Make the record. Its provenance leaves out the first edition; versions of libraries are
        #    a part of the environment.
        version = self.experiment.spec.code_version
        provenance = {"edition": version.edition} if version.edition != FIRST_EDITION else {}
        if version.source:
            provenance["source"] = version.source
        provenance |= {"commit": commit(), "environment": outcome.environment}
        kind = "tuning" if self.is_tuning else self.experiment.measure.suffix
        return make_record(
            kind,
            self.experiment.config,
            Provenance(provenance),
            outcome.results,
            split=self.split,
            rows=self.trial.split.checksum,
            **facts,
        )


def split_task(
    experiment: Experiment, split: Split, chosen: Point, validation_error: float | None
) -> Task:
    """Return the task of a split with its chosen point and the validation error of this point."""
    trial, key = experiment.trial(split, chosen), experiment.key(split)
    return Task(experiment, trial, key, split.index, validation_error)


def tuning_tasks(experiment: Experiment, split: Split) -> Iterator[Task]:
    """Yield the tasks of cross-validation on the training part of a split.

    Tasks are in the order of the folds, then of the points of the grid. Points that share a fit are
    one trial for each fold, see `boostbench.fitting.tuning`.
    """
    y = experiment.dataset.y[split.train]
    part_name = f"the training part of split {split.index} of {experiment.dataset.name}"
    for fold in inner_splits(split, y, experiment.spec.protocol.n_folds, part_name):
        for trial in trials(experiment.trial(fold, {}), experiment.spec.algorithm.points()):
            points = list(trial.measure.points)
            key = experiment.config.keys.trial_key(split.index, fold.index, points, fold.checksum)
            yield Task(experiment, trial, key, split.index)
