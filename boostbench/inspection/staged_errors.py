"""The error of a model after each boosting round."""

import numpy as np
from sklearn.utils import check_consistent_length, column_or_1d

from boostbench.inspection.canvas import canvas


class StagedErrorDisplay:
    """Share of samples that are predicted wrongly, by boosting round.

    Use `from_estimator` to make one. To see several curves in one picture, hand the `ax_` of the
    first to the others.

    Parameters
    ----------
    errors : ndarray of shape (n_iterations,)
        Fractions, after 1, 2, ... rounds.
    name : str, default=None
        Of the curve, in the legend.

    Attributes
    ----------
    line_ : matplotlib.lines.Line2D
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure
    """

    def __init__(self, *, errors, name=None):
        self.errors = errors
        self.name = name

    @classmethod
    def from_estimator(cls, estimator, X, y, *, name=None, ax=None, **kwargs):
        """Draw the errors of a fitted classifier.

        Parameters
        ----------
        estimator : estimator
            Fitted, with `staged_predict`, as those of boostbench and scikit-learn have it.
        X : array-like of shape (n_samples, n_features)
            Samples that it was not fitted on.
        y : array-like of shape (n_samples,)
            Their labels.
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
        errors = np.array([np.mean(labels != y) for labels in estimator.staged_predict(X)])
        name = type(estimator).__name__ if name is None else name
        return cls(errors=errors, name=name).plot(ax=ax, **kwargs)

    def plot(self, *, ax=None, **kwargs):
        """Draw; parameters as of `from_estimator`.

        Returns
        -------
        self
        """
        self.figure_, self.ax_ = canvas(ax)
        rounds = np.arange(1, len(self.errors) + 1)
        (self.line_,) = self.ax_.plot(rounds, self.errors, **{"label": self.name, **kwargs})
        self.ax_.set(xlabel="Boosting rounds", ylabel="Error (fraction of samples)")
        self.ax_.set_ylim(bottom=0)
        # Without a name, matplotlib gives the curve one that no legend shows.
        if not self.line_.get_label().startswith("_"):
            self.ax_.legend()
        return self
