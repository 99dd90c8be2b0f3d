"""The error of a model after each boosting round."""

import numpy as np
from sklearn.base import is_regressor
from sklearn.utils import check_consistent_length, column_or_1d

from boostbench.inspection.axes import get_axes


class StagedErrorDisplay:
    """The error after each boosting round: share of wrong labels, or mean squared error.

    Use `from_estimator` to make one. To see several curves in one picture, hand the `ax_` of the
    first to the others.

    Parameters
    ----------
    errors : ndarray of shape (n_iterations,)
        After 1, 2, ... rounds: fractions of wrong labels, or mean squared errors.
    name : str, default=None
        Of the curve, in the legend.
    ylabel : str, default="Error (fraction of samples)"
        Label of the vertical axis.

    Attributes
    ----------
    line_ : matplotlib.lines.Line2D
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure
    """

    def __init__(self, *, errors, name=None, ylabel="Error (fraction of samples)"):
        self.errors = errors
        self.name = name
        self.ylabel = ylabel

    @classmethod
    def from_estimator(cls, estimator, X, y, *, name=None, ax=None, **kwargs):
        """Draw the errors of a fitted classifier or regressor.

        Parameters
        ----------
        estimator : estimator
            Fitted, with `staged_predict`, as those of boostbench and scikit-learn have it.
        X : array-like of shape (n_samples, n_features)
            Samples that it was not fitted on.
        y : array-like of shape (n_samples,)
            Their labels or numbers.
        name : str, default=None
            Of the curve; None for the name of the class.
        ax : matplotlib.axes.Axes, default=None
            None makes a new figure.
        **kwargs
            Of `matplotlib.axes.Axes.plot`.

        Returns
        -------
        StagedErrorDisplay

        Raises
        ------
        ValueError
            If the estimator keeps no stages, as bags, or there is not one label for each sample.
        """
        if not hasattr(estimator, "staged_predict"):
            raise ValueError(
                f"{type(estimator).__name__} keeps no stages: it has no staged_predict"
            )
        y = column_or_1d(y)
        check_consistent_length(X, y)
        name = type(estimator).__name__ if name is None else name
        stages = estimator.staged_predict(X)
        if is_regressor(estimator):
            errors = np.array([np.mean((prediction - y) ** 2) for prediction in stages])
            display = cls(errors=errors, name=name, ylabel="Mean squared error")
        else:
            errors = np.array([np.mean(labels != y) for labels in stages])
            display = cls(errors=errors, name=name)
        return display.plot(ax=ax, **kwargs)

    def plot(self, *, ax=None, **kwargs):
        """Draw; parameters as of `from_estimator`.

        Returns
        -------
        self
        """
        self.figure_, self.ax_ = get_axes(ax)
        rounds = np.arange(1, len(self.errors) + 1)
        (self.line_,) = self.ax_.plot(rounds, self.errors, **{"label": self.name, **kwargs})
        self.ax_.set(xlabel="Boosting rounds", ylabel=self.ylabel)
        self.ax_.set_ylim(bottom=0)
        # Without a name, matplotlib gives the curve one that no legend shows.
        if not self.line_.get_label().startswith("_"):
            self.ax_.legend()
        return self
