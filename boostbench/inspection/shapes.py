"""What a sum of stumps does with each feature, as curves."""

import numpy as np
from sklearn.utils.validation import check_array

from boostbench.inspection.canvas import pyplot

# Inches.
_WIDTH, _HEIGHT = 3.2, 2.6


class ShapeFunctionDisplay:
    """The shape functions of the features that matter most, one picture each.

    Use `from_estimator` to make one. A curve is what the feature adds to the score of a class: for
    two classes, of the second one. Marks at the bottom are the deciles of the samples.

    Parameters
    ----------
    shapes : boostbench.algorithms.explaining.shape_functions.ShapeFunctions
    X : ndarray of shape (n_samples, n_features)
        Its range is drawn.

    Attributes
    ----------
    axes_ : list of matplotlib.axes.Axes
        In the order of importance.
    lines_ : list of list of matplotlib.patches.StepPatch
        For each of `axes_`, a curve for each class.
    figure_ : matplotlib.figure.Figure
    """

    def __init__(self, *, shapes, X):
        self.shapes = shapes
        self.X = X

    @classmethod
    def from_estimator(cls, estimator, X, *, features=6, n_columns=3):
        """Draw the shape functions of a fitted classifier.

        Parameters
        ----------
        estimator : BoostingClassifier
            Fitted, a sum of stumps.
        X : array-like of shape (n_samples, n_features)
            Samples, for example those of the training: over these, each function has the mean 0.
        features : int or list of int or str, default=6
            So many at most, those of the largest importance; or which, by number or name.
        n_columns : int, default=3
            Pictures side by side.

        Returns
        -------
        ShapeFunctionDisplay

        Raises
        ------
        ValueError
            If the estimator is no sum of stumps, or there is no such feature.
        """
        shapes = estimator.shape_functions(X)
        display = cls(shapes=shapes, X=check_array(X, dtype=np.float64))
        return display.plot(features=features, n_columns=n_columns)

    def plot(self, *, features=6, n_columns=3):
        """Draw; parameters as of `from_estimator`.

        Returns
        -------
        self
        """
        at = self._chosen(features)
        n_columns = max(1, min(n_columns, len(at)))
        n_rows = max(1, -(-len(at) // n_columns))
        self.figure_, grid = pyplot().subplots(
            n_rows,
            n_columns,
            sharey=True,
            squeeze=False,
            layout="constrained",
            figsize=(_WIDTH * n_columns, _HEIGHT * n_rows),
        )
        self.axes_ = list(grid.ravel()[: len(at)])
        for ax in grid.ravel()[len(at) :]:
            ax.remove()
        self.lines_ = [
            self._curves(ax, feature) for ax, feature in zip(self.axes_, at, strict=True)
        ]
        for row in grid:
            row[0].set_ylabel("Added to the score")
        if self.axes_ and len(self.shapes.outputs) > 1:
            labels = [str(label) for label in self.shapes.outputs]
            self.figure_.legend(
                self.lines_[0], labels, loc="outside upper center", ncols=len(labels)
            )
        return self

    def _chosen(self, features):
        names = list(self.shapes.feature_names)
        if isinstance(features, int):
            order = np.argsort(-self.shapes.importances, kind="stable")[:features]
            return [int(feature) for feature in order if self.shapes.importances[feature] > 0]
        for feature in features:
            if feature not in names and feature not in range(len(names)):
                raise ValueError(f"there is no feature {feature!r}")
        return [names.index(f) if f in names else int(f) for f in features]

    def _curves(self, ax, feature):
        values = self.X[:, feature]
        low, high = values.min(), values.max()
        thresholds, table = self.shapes.steps(feature)
        inside = (thresholds > low) & (thresholds < high)
        # The step that a sample at the low end is on, and those that follow.
        first = int(thresholds.searchsorted(low))
        edges = np.concatenate([[low], thresholds[inside], [high]])
        table = table[first : first + len(edges) - 1]
        curves = [
            ax.stairs(column, edges, baseline=None, color=f"C{number % 10}", linewidth=1.5)
            for number, column in enumerate(table.T)
        ]
        ax.axhline(0.0, color="0.7", linewidth=0.8, zorder=0)
        deciles = np.quantile(values, np.arange(1, 10) / 10)
        ax.vlines(deciles, 0, 0.04, transform=ax.get_xaxis_transform(), color="k", linewidth=0.8)
        ax.set_xlabel(str(self.shapes.feature_names[feature]))
        return curves
