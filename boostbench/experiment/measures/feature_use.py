"""Which features boosting selects, as records: how often each split's stumps test each of them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from boostbench.data.dataset import Dataset
from boostbench.errors import UserError
from boostbench.experiment.plan import Experiment
from boostbench.experiment.preparation import prepare
from boostbench.experiment.splits import Split
from boostbench.experiment.trial import Trial

#: Records list all features of a data set, which must not be too many for that.
MAX_FEATURES = 5000


class FeatureUseExperiment(Experiment):
    """An algorithm of which only the features that it selects are recorded."""

    @classmethod
    def from_config(cls, config: Mapping, dataset: Dataset) -> "FeatureUseExperiment":
        """Make an experiment from the resolved configuration and the loaded data.

        Parameters
        ----------
        config : mapping
            As for `Experiment`.
        dataset : Dataset
            Of at most 5000 features.

        Raises
        ------
        UserError
            If the configuration or the data set is not fit for this.
        """
        plain = super().from_config(config, dataset)
        if dataset.n_features > MAX_FEATURES:
            raise UserError(
                f"{dataset.name!r} has {dataset.n_features} features; their use is recorded up to "
                f"{MAX_FEATURES}"
            )
        if plain.protocol.pca is not None:
            raise UserError("with protocol.pca no feature of the data is left to be selected")
        # Nothing is measured on the way.
        return replace(plain, protocol=replace(plain.protocol, checkpoints=()))

    @cached_property
    def config(self) -> dict:
        """All that decides the record, in JSON types."""
        return {**super().config, "feature_use": "stumps"}

    def trial(self, split: Split, chosen: Mapping) -> Trial:
        """Plan the fit whose stumps are counted."""
        return FeatureUseTrial(**vars(super().trial(split, chosen)))

    def path(self, results: Path, tuning: bool = False) -> Path:
        """Give the file of the records: ``ALGO.features.jsonl``, or the trials of tuning."""
        path = super().path(results, tuning)
        return path if tuning else path.with_suffix(".features.jsonl")


@dataclass(frozen=True)
class FeatureUseTrial(Trial):
    """A fit on the training part, of which the stumps are counted."""

    def measure(self, X, y: np.ndarray) -> dict:
        """Fit, and count.

        Returns
        -------
        dict
            In JSON types: ``counts``, for each feature the number of stumps that test it;
            ``n_iterations`` done; ``test_error``, a fraction.

        Raises
        ------
        ValueError
            If the classifier has no stumps on single features.
        """
        X_train, X_test = prepare(X[self.train], X[self.test], self.scale)
        estimator = self.algorithm.build(self.seed, **self.chosen).fit(X_train, y[self.train])
        hypotheses = getattr(estimator, "hypotheses_", None)
        features = getattr(hypotheses, "feature", None)
        if features is None or np.shape(features) != (len(hypotheses),):
            raise ValueError(f"{type(estimator).__name__} has no stumps on single features")
        return {
            "counts": np.bincount(features, minlength=X.shape[1]).tolist(),
            "n_iterations": int(estimator.n_iterations_),
            "test_error": float(np.mean(estimator.predict(X_test) != y[self.test])),
        }
