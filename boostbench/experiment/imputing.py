"""Missing values, filled within each trial by what its own training part says."""

from dataclasses import dataclass

import numpy as np
from sklearn.impute import SimpleImputer

from boostbench.experiment.trial import Fit, Trial


@dataclass(frozen=True)
class ImputingTrial(Trial):
    """A trial whose features have missing values.

    Attributes
    ----------
    strategy : {"mean", "median", "most_frequent"}
        What takes their place: of the feature, over the rows that are fitted on. Neither tested
        rows nor those that a fold of cross-validation is judged on have a say. A feature of which
        all these rows lack the value becomes 0.
    """

    strategy: str = "median"

    def fit(self, X, y: np.ndarray, **overrides) -> Fit:
        """Fit as `Trial.fit` does, after imputation."""
        imputer = SimpleImputer(strategy=self.strategy, keep_empty_features=True)
        return super().fit(imputer.fit(X[self.split.train]).transform(X), y, **overrides)
