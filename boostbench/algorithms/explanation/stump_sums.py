"""What a fitted sum of stumps is made of, in one form for all estimators that have one."""

from itertools import compress
from typing import NamedTuple

import numpy as np

from boostbench.algorithms.base.decisions import rounding_slack
from boostbench.core.stumps.category_sets import StumpsWithSets
from boostbench.core.stumps.stump import Stump, Stumps


class StumpSum(NamedTuple):
    r"""The scores :math:`F(x) = F_0 + \sum_t h_t(x) W_t` with stumps h.

    Attributes
    ----------
    stumps : boostbench.core.stumps.stump.Stumps
        In the order of the training, but of `AdaBoostMO` and bags; one whose threshold is infinite
        is constant.
    coefficients : ndarray of shape (n_stumps,) or (n_stumps, n_classes)
        W. For two classes one number, which moves the scores towards the second class.
    intercept : ndarray of shape () or (n_classes,)
        :math:`F_0`.
    """

    stumps: Stumps
    coefficients: np.ndarray
    intercept: np.ndarray

    def slack(self, model):
        """Give the difference of scores that is rounding only, of the model or of this sum.

        Parameters
        ----------
        model : BoostingClassifier or BoostingRegressor

        Returns
        -------
        float
            0 where numbers are predicted.
        """
        if not hasattr(model, "classes_"):
            return 0.0
        return max(model.score_slack(), rounding_slack(self.coefficients, self.intercept[None]))

    def expand_category_sets(self, views):
        r"""Take sets of categories apart.

        A stump on a set S is :math:`\sum_{v \in S} h_v + |S| - 1` with the stumps on its views. As
        the stumps on all views of a feature add up to a constant, so much of each is left out that
        the median of their coefficients is 0: as little variation as the function can have. Equal
        stumps on these features are one.

        Parameters
        ----------
        views : boostbench.core.stumps.views.Views

        Returns
        -------
        StumpSum
            Of stumps on single views; itself where there are no sets.
        """
        stumps = self.stumps
        if not isinstance(stumps, StumpsWithSets):
            return self
        signed = (self.coefficients.T * stumps.polarity).T.reshape(len(stumps), -1)
        members = np.zeros((len(views.feature), len(stumps.sets)))
        for column, set_views in zip(members.T, stumps.sets, strict=True):
            column[list(set_views)] = 1.0
        grouped = np.unique(views.feature[members.any(axis=1)])
        is_set = stumps.feature < 0
        is_single = ~is_set & np.isin(views.feature[stumps.tested], grouped)
        is_single &= np.isfinite(stumps.threshold)
        set_votes = np.zeros((len(stumps.sets), signed.shape[1]))
        np.add.at(set_votes, stumps.feature[is_set], signed[is_set])
        intercept = self.intercept + (members.sum(axis=0) - 1) @ set_votes
        votes = members @ set_votes
        np.add.at(votes, stumps.feature[is_single], signed[is_single])
        for feature in grouped:
            rows = views.feature == feature
            median = np.median(votes[rows], axis=0)
            votes[rows] -= median
            intercept = intercept - (rows.sum() - 2) * median
        used = np.flatnonzero(votes.any(axis=1))
        is_unchanged = ~(is_set | is_single)
        coefficients = [self.coefficients[is_unchanged].reshape(-1, signed.shape[1]), votes[used]]
        return StumpSum(
            Stumps([*compress(stumps, is_unchanged), *(Stump(view, 0.5) for view in used)]),
            np.concatenate(coefficients).reshape(-1, *self.coefficients.shape[1:]),
            intercept.reshape(self.intercept.shape),
        )


def output_names(model):
    """Name what a fitted model has scores for.

    Parameters
    ----------
    model : estimator

    Returns
    -------
    ndarray of shape (n_outputs,)
        The classes; of two classes the second one; ``prediction`` where numbers are predicted.
    """
    if not hasattr(model, "classes_"):
        return np.array(["prediction"])
    return model.classes_[1:] if len(model.classes_) == 2 else model.classes_


def feature_names(model):
    """Name the features of a fitted model.

    Parameters
    ----------
    model : estimator

    Returns
    -------
    ndarray of shape (n_features,)
        Those of the training data, or ``x0``, ``x1``, ...
    """
    default = [f"x{feature}" for feature in range(model.n_features_in_)]
    return np.asarray(getattr(model, "feature_names_in_", default))


def require_stump_sum(model):
    """Raise ValueError where a model is none that could be a sum of stumps, as a pipeline."""
    if not hasattr(model, "stump_sum"):
        last = getattr(model, "steps", [(None, model)])[-1][1]
        advice = (
            "pass its last step, model[-1], and give that model[:-1].transform(X)"
            if hasattr(last, "stump_sum")
            else "pass a fitted booster of stumps"
        )
        raise ValueError(f"{type(model).__name__} is no sum of stumps; {advice}")


def require_no_interactions(model):
    """Raise ValueError where a fitted model has tables of pairs beside its stumps."""
    if len(getattr(model, "pairs_", ())):
        raise ValueError(
            f"this {type(model).__name__} has pairs of features, so that it is no sum of stumps: "
            "set interactions=0, or see its shape_functions"
        )


def extract_stump_sum(model):
    """Take apart an estimator whose weak learners are stumps.

    Parameters
    ----------
    model : estimator
        Fitted, with stumps on single features in `hypotheses_`, and in `coefficients_` one number
        for each or one for each and every class.

    Returns
    -------
    StumpSum

    Raises
    ------
    ValueError
        If the model is not of that form.
    """
    name, stumps = type(model).__name__, getattr(model, "hypotheses_", None)
    if hasattr(model, "project"):
        raise ValueError(f"the stumps of {name} test projected features, not those of X")
    if not isinstance(stumps, Stumps) or stumps.feature.ndim != 1:
        raise ValueError(f"{name} is no sum of stumps")
    expected = [(len(stumps),), (len(stumps), len(getattr(model, "classes_", ())))]
    if np.shape(model.coefficients_) not in expected:
        raise ValueError(f"{name} is no sum of stumps with a coefficient for every class")
    intercept = getattr(model, "intercept_", 0.0)
    if hasattr(model, "intercepts_"):
        intercept = model.intercepts_.sum(axis=0)
    return stump_sum_from_votes(stumps, model.coefficients_, intercept)


def stump_sum_from_trees(model, values):
    """Take apart an estimator whose weak learners are trees.

    Parameters
    ----------
    model : estimator
        Fitted, with `hypotheses_` of the kind `boostbench.core.learners.trees.Trees`, and a number
        for each in `coefficients_`.
    values : ndarray of shape (n_nodes, n_classes)
        What the nodes of the trees add to the scores of the classes, times the coefficient.

    Returns
    -------
    StumpSum

    Raises
    ------
    ValueError
        If there are trees with more than one test.
    """
    trees = model.hypotheses_
    if trees.depth > 1:
        raise ValueError(f"the trees of this {type(model).__name__} are no stumps")
    low, high = (values[trees.children[trees.root, side]] for side in (0, 1))
    coefficients = model.coefficients_[:, None]
    stumps = Stumps([*map(Stump, trees.feature[trees.root], trees.threshold[trees.root])])
    middle = (coefficients * (high + low) / 2).sum(axis=0)
    return stump_sum_from_votes(stumps, coefficients * (high - low) / 2, middle)


def stump_sum_from_votes(stumps, coefficients, intercept=0.0):
    """Make a `StumpSum`; of two columns of coefficients, the difference is kept.

    Parameters
    ----------
    stumps : boostbench.core.stumps.stump.Stumps
    coefficients : ndarray of shape (n_stumps,) or (n_stumps, n_classes)
    intercept : float or ndarray of shape (n_classes,), default=0.0

    Returns
    -------
    StumpSum
    """
    intercept = np.broadcast_to(np.asarray(intercept, float), coefficients.shape[1:])
    if coefficients.shape[1:] == (2,):
        coefficients, intercept = coefficients @ [-1.0, 1.0], intercept @ [-1.0, 1.0]
    return StumpSum(stumps, coefficients, np.asarray(intercept))
