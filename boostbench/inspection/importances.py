"""Bars of how much each feature matters to a fitted model."""

import numpy as np

from boostbench.algorithms.explanation.stump_sums import feature_names
from boostbench.inspection.axes import get_axes


def most_important(importances, n):
    """List n features at most, by their numbers: those of the largest importance above 0."""
    if n < 0:
        raise ValueError(f"the number of features must be 0 or more, got {n!r}")
    return [
        int(feature)
        for feature in np.argsort(-importances, kind="stable")[:n]
        if importances[feature] > 0
    ]


class ImportanceDisplay:
    """The features that matter most, as bars.

    Use `from_estimator` to make one.

    Parameters
    ----------
    importances : ndarray of shape (n_features,)
    feature_names : ndarray of shape (n_features,)

    Attributes
    ----------
    bars_ : matplotlib.container.BarContainer
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure
    """

    def __init__(self, *, importances, feature_names):
        self.importances = importances
        self.feature_names = feature_names

    @classmethod
    def from_estimator(cls, estimator, *, n_features=10, ax=None):
        """Draw the `feature_importances_` of a fitted estimator.

        Parameters
        ----------
        estimator : estimator
            Fitted, with `feature_importances_`.
        n_features : int, default=10
            As many at most; features of no importance are left out.
        ax : matplotlib.axes.Axes, default=None
            None makes a new figure.

        Returns
        -------
        ImportanceDisplay
        """
        display = cls(
            importances=estimator.feature_importances_, feature_names=feature_names(estimator)
        )
        return display.plot(n_features=n_features, ax=ax)

    def plot(self, *, n_features=10, ax=None):
        """Draw; parameters as of `from_estimator`.

        Returns
        -------
        self
        """
        self.figure_, self.ax_ = get_axes(ax)
        order = most_important(self.importances, n_features)[::-1]
        self.bars_ = self.ax_.barh(self.feature_names[order].astype(str), self.importances[order])
        self.ax_.set(xlabel="Importance", xlim=(0, None))
        return self
