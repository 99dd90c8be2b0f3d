"""Sums of stumps in one form for all estimators whose scores are such sums."""

from itertools import compress
from typing import NamedTuple

import numpy as np

from boostbench.algorithms.base.predictions import rounding_slack
from boostbench.core.stumps.category_sets import StumpsWithSets
from boostbench.core.stumps.stump import Stump, Stumps


class StumpSum(NamedTuple):
    r"""The scores :math:`F(x) = F_0 + \sum_t h_t(x) W_t` with stumps h.

    Attributes
    ----------
    stumps : boostbench.core.stumps.stump.Stumps
        Stumps in the order of the training (except for `AdaBoostMO` and bags). A stump with an
        infinite threshold is constant.
    coefficients : ndarray of shape (n_stumps,) or (n_stumps, n_classes)
        Coefficients W. For two classes one number per stump, positive towards the second class.
    intercept : ndarray of shape () or (n_classes,)
        Constant :math:`F_0`.
    """

    stumps: Stumps
    coefficients: np.ndarray
    intercept: np.ndarray

    def slack(self, model):
        """Return the largest difference of scores that may be a rounding error.

        Parameters
        ----------
        model : BoostingClassifier or BoostingRegressor

        Returns
        -------
        float
            The larger of the slacks of the model's scores and of this sum; 0 for a regressor.
        """
        if not hasattr(model, "classes_"):
            return 0.0
        return max(model.score_slack(), rounding_slack(self.coefficients, self.intercept[None]))

    def expand_category_sets(self, views):
        r"""Replace stumps on sets of categories by stumps on single categories.

        A stump on a set S is :math:`\sum_{v \in S} h_v + |S| - 1` with the stumps on its views.
        Since the stumps on all views of a feature add up to a constant, the median of their
        coefficients can be moved to the intercept, which minimises the sum of absolute
        coefficients. Equal stumps on these features are merged.

        Parameters
        ----------
        views : boostbench.core.stumps.views.Views

        Returns
        -------
        StumpSum
            Sum of stumps on single views; this sum if there are no sets.
        """
        stumps = self.stumps
        if not isinstance(stumps, StumpsWithSets):
            return self
        # 1) Read the sets: members[v, s] is 1 if view v is in set s. A stump on a set has a
        #    negative feature, the index of its set from the end of `stumps.sets`. `stump_votes`,
        #    coefficient times polarity, has the shape (n_stumps, n_outputs).
        stump_votes = (self.coefficients.T * stumps.polarity).T.reshape(len(stumps), -1)
        members = np.zeros((len(views.feature), len(stumps.sets)))
        for column, set_views in zip(members.T, stumps.sets, strict=True):
            column[list(set_views)] = 1.0
        features_of_sets = np.unique(views.feature[members.any(axis=1)])
        is_set = stumps.feature < 0
        is_single = ~is_set & np.isin(views.feature[stumps.tested], features_of_sets)
        is_single &= np.isfinite(stumps.threshold)
        # 2) Add up the votes of each set, and distribute them over its views. Add the votes of the
        #    stumps on single views of the same features.
        set_votes = np.zeros((len(stumps.sets), stump_votes.shape[1]))
        np.add.at(set_votes, stumps.feature[is_set], stump_votes[is_set])
        intercept = self.intercept + (members.sum(axis=0) - 1) @ set_votes
        votes = members @ set_votes
        np.add.at(votes, stumps.feature[is_single], stump_votes[is_single])
        # 3) Move the median of each feature's votes to the intercept. The outputs of the stumps on
        #    all k views of a feature add up to 2 - k, as exactly one of them is +1.
        for feature in features_of_sets:
            is_view = views.feature == feature
            median = np.median(votes[is_view], axis=0)
            votes[is_view] -= median
            intercept = intercept - (is_view.sum() - 2) * median
        # 4) Join the stumps on single views with the stumps on all other features.
        used = np.flatnonzero(votes.any(axis=1))
        is_unchanged = ~(is_set | is_single)
        coefficients = [
            self.coefficients[is_unchanged].reshape(-1, stump_votes.shape[1]),
            votes[used],
        ]
        return StumpSum(
            Stumps([*compress(stumps, is_unchanged), *(Stump(view, 0.5) for view in used)]),
            np.concatenate(coefficients).reshape(-1, *self.coefficients.shape[1:]),
            intercept.reshape(self.intercept.shape),
        )


def output_names(model):
    """Return the names of the scores of a fitted model.

    Parameters
    ----------
    model : estimator

    Returns
    -------
    ndarray of shape (n_outputs,)
        Classes; for two classes the second one; ``prediction`` for a regressor, or
        ``log(prediction)`` if its `link_` is ``"log"``.
    """
    if not hasattr(model, "classes_"):
        return np.array(["log(prediction)" if model.link_ == "log" else "prediction"])
    return model.classes_[1:] if len(model.classes_) == 2 else model.classes_


def feature_names(model):
    """Return the names of the features of a fitted model.

    Parameters
    ----------
    model : estimator

    Returns
    -------
    ndarray of shape (n_features,)
        Names of the training data's features, or ``x0``, ``x1``, ...
    """
    default = [f"x{feature}" for feature in range(model.n_features_in_)]
    return np.asarray(getattr(model, "feature_names_in_", default))


def require_stump_sum(model):
    """Raise ValueError if a model cannot be a sum of stumps, for example a pipeline."""
    if not hasattr(model, "stump_sum"):
        last = getattr(model, "steps", [(None, model)])[-1][1]
        advice = (
            "pass its last step, model[-1], and give that model[:-1].transform(X)"
            if hasattr(last, "stump_sum")
            else "pass a fitted booster of stumps"
        )
        raise ValueError(f"{type(model).__name__} is not a sum of stumps; {advice}")


def require_no_interactions(model):
    """Raise ValueError if a fitted model has tables of pairs besides its stumps."""
    if len(getattr(model, "pairs_", ())):
        raise ValueError(
            f"this {type(model).__name__} has pairs of features, so it is not a sum of stumps: "
            "set interactions=0, or see its shape_functions"
        )


def extract_stump_sum(model):
    """Return the `StumpSum` of an estimator whose weak learners are stumps.

    Parameters
    ----------
    model : estimator
        Fitted estimator with stumps on single features in `hypotheses_`, and one coefficient per
        stump, or per stump and class, in `coefficients_`.

    Returns
    -------
    StumpSum

    Raises
    ------
    ValueError
        If the model does not have this form.
    """
    name, stumps = type(model).__name__, getattr(model, "hypotheses_", None)
    if hasattr(model, "project"):
        raise ValueError(f"the stumps of {name} test projected features, not those of X")
    if not isinstance(stumps, Stumps) or stumps.feature.ndim != 1:
        raise ValueError(f"{name} is not a sum of stumps")
    expected = [(len(stumps),), (len(stumps), len(getattr(model, "classes_", ())))]
    if np.shape(model.coefficients_) not in expected:
        raise ValueError(f"{name} is not a sum of stumps with a coefficient for every class")
    intercept = getattr(model, "intercept_", 0.0)
    if hasattr(model, "intercepts_"):
        intercept = model.intercepts_.sum(axis=0)
    return make_stump_sum(stumps, model.coefficients_, intercept)


def stump_sum_from_trees(model, values):
    """Return the `StumpSum` of an estimator whose weak learners are trees of depth 1.

    Parameters
    ----------
    model : estimator
        Fitted estimator with `hypotheses_` of type `boostbench.core.learners.trees.Trees`, and one
        coefficient per tree in `coefficients_`.
    values : ndarray of shape (n_nodes, n_classes)
        Scores of the nodes, to be multiplied by the coefficients of their trees.

    Returns
    -------
    StumpSum

    Raises
    ------
    ValueError
        If a tree has more than one test.
    """
    trees = model.hypotheses_
    if trees.depth > 1:
        raise ValueError(f"the trees of this {type(model).__name__} are not stumps")
    # The value of a tree is the middle of low and high, plus or minus half of their difference.
    low, high = (values[trees.children[trees.root, side]] for side in (0, 1))
    coefficients = model.coefficients_[:, None]
    stumps = Stumps([*map(Stump, trees.feature[trees.root], trees.threshold[trees.root])])
    middle = (coefficients * (high + low) / 2).sum(axis=0)
    return make_stump_sum(stumps, coefficients * (high - low) / 2, middle)


def make_stump_sum(stumps, coefficients, intercept=0.0):
    """Return a `StumpSum`, with the difference of the coefficients for two classes.

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
