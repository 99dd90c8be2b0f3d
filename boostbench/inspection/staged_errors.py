"""Plot of the error of a model after each boosting round."""

import numpy as np
from sklearn.base import is_regressor
from sklearn.utils import check_consistent_length, column_or_1d

from boostbench.inspection.axes import get_axes


class StagedErrorDisplay:
    """Plot of the error after each boosting round: error rate, or mean squared error.

    Use `from_estimator` to create it. To draw several curves into one plot, pass the `ax_` of the
    first display to the others.

    Parameters
    ----------
    errors : ndarray of shape (n_iterations,)
        Error after each round: fraction of wrong labels, or mean squared error.
    name : str, default=None
        Name of the curve in the legend.
    ylabel : str, default="Error (fraction of samples)"
        Label of the vertical axis.

    Attributes
    ----------
    line_ : matplotlib.lines.Line2D
        Curve of the errors.
    ax_ : matplotlib.axes.Axes
        Axes of the plot.
    figure_ : matplotlib.figure.Figure
        Figure of the plot.
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
            Fitted estimator of boostbench or scikit-learn with `staged_predict`.
        X : array-like of shape (n_samples, n_features)
            Test samples.
        y : array-like of shape (n_samples,)
            True labels or numbers of the samples.
        name : str, default=None
            Name of the curve; None: the name of the estimator's class.
        ax : matplotlib.axes.Axes, default=None
            Existing axes; None: a new figure.
        **kwargs
            Arguments of `matplotlib.axes.Axes.plot`.

        Returns
        -------
        StagedErrorDisplay

        Raises
        ------
        ValueError
            If the estimator has no staged predictions (such as bags), or the numbers of samples and
            labels differ.
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
        """Draw the curve; see `from_estimator` for the parameters.

        Returns
        -------
        self
        """
        self.figure_, self.ax_ = get_axes(ax)
        rounds = np.arange(1, len(self.errors) + 1)
        (self.line_,) = self.ax_.plot(rounds, self.errors, **{"label": self.name, **kwargs})
        self.ax_.set(xlabel="Boosting rounds", ylabel=self.ylabel)
        self.ax_.set_ylim(bottom=0)
        # matplotlib gives a curve without a name a label "_child0", which legends skip.
        if not self.line_.get_label().startswith("_"):
            self.ax_.legend()
        return self
