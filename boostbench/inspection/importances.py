"""Bar chart of the feature importances of a fitted model."""

import numpy as np

from boostbench.algorithms.explanation.stump_sums import feature_names
from boostbench.inspection.axes import get_axes


def most_important(importances, n):
    """Return the indices of the (at most n) features of the largest positive importance."""
    if n < 0:
        raise ValueError(f"the number of features must be 0 or more, got {n!r}")
    return [
        int(feature)
        for feature in np.argsort(-importances, kind="stable")[:n]
        if importances[feature] > 0
    ]


class ImportanceDisplay:
    """Bar chart of the most important features.

    Use `from_estimator` to create it.

    Parameters
    ----------
    importances : ndarray of shape (n_features,)
        Importance of each feature.
    feature_names : ndarray of shape (n_features,)
        Name of each feature.

    Attributes
    ----------
    bars_ : matplotlib.container.BarContainer
        Bars of the chart.
    ax_ : matplotlib.axes.Axes
        Axes of the chart.
    figure_ : matplotlib.figure.Figure
        Figure of the chart.
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
            Fitted estimator with `feature_importances_`.
        n_features : int, default=10
            Maximum number of features. Features of importance 0 are not drawn.
        ax : matplotlib.axes.Axes, default=None
            Existing axes; None: a new figure.

        Returns
        -------
        ImportanceDisplay
        """
        display = cls(
            importances=estimator.feature_importances_, feature_names=feature_names(estimator)
        )
        return display.plot(n_features=n_features, ax=ax)

    def plot(self, *, n_features=10, ax=None):
        """Draw the bars; see `from_estimator` for the parameters.

        Returns
        -------
        self
        """
        self.figure_, self.ax_ = get_axes(ax)
        order = most_important(self.importances, n_features)[::-1]
        self.bars_ = self.ax_.barh(self.feature_names[order].astype(str), self.importances[order])
        self.ax_.set(xlabel="Importance", xlim=(0, None))
        return self
