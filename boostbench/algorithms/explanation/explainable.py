"""Methods that explain an estimator whose scores are a sum of stumps."""

from typing import NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from boostbench.algorithms.explanation.shape_functions import ShapeFunctions
from boostbench.algorithms.explanation.stump_sums import extract_stump_sum, rules
from boostbench.algorithms.explanation.terms import build_terms, term_sizes
from boostbench.core.stumps.views import identity_views


class TrainingRows(NamedTuple):
    """Rows that a model was trained on, without rows of weight 0 and held-out rows.

    Attributes
    ----------
    n_rows : int
    class_counts : ndarray of shape (n_classes,), dtype=int64, or None
        Number of rows of each class; None for a regressor.
    """

    n_rows: int
    class_counts: np.ndarray | None


class ExplainableMixin:
    """Mixin that explains an estimator whose scores are a sum of stumps."""

    @property
    def feature_importances_(self):
        """Mean absolute term of each feature, of shape (n_features_in_,), with sum 1.

        The term of a feature is the value of its shape function, centred to the mean 0 over the
        training rows; its size is the weighted mean of the absolute value over these rows. For more
        than two classes, the mean over the classes is subtracted first, since a constant added to
        all scores changes no prediction, and sizes are averaged over the classes. Importances are
        sizes divided by their sum; all are 0 if no feature is in use. Rows that early stopping held
        out are not included. Interactions of two features count for neither of them. A model that
        is not a sum of stumps has no importances.
        """
        importances = np.zeros(self.n_features_in_)
        sizes = self._fitted_term_sizes()
        importances[sizes.features] = sizes.sizes / sizes.total
        return importances

    def _fitted_term_sizes(self):
        """Return the mean absolute terms over the training rows, computed by `fit`.

        Returns
        -------
        boostbench.algorithms.explanation.terms.TermSizes

        Raises
        ------
        AttributeError
            If the model is not fitted, or is not a sum of stumps.
        """
        check_is_fitted(self)
        if not hasattr(self, "_term_sizes"):
            try:
                self.stump_sum()
            except ValueError as error:
                raise AttributeError(str(error)) from None
            raise AttributeError("importances are computed at the end of fit")
        return self._term_sizes

    def _store_training_rows(self, y):
        """Store the number of training rows, and of the rows of each class."""
        class_counts = None
        if hasattr(self, "classes_"):
            class_counts = np.bincount(self.classes_.searchsorted(y), minlength=len(self.classes_))
        self._training_rows = TrainingRows(len(y), class_counts)

    def _store_term_sizes(self, X, weights=None):
        """Store the mean absolute terms of the training rows, if the model is a sum of stumps."""
        try:
            shapes = self.shape_functions()
        except ValueError:
            return
        self._term_sizes = term_sizes(shapes, X, weights)

    def shape_functions(self, X=None):
        """Return the scores as a sum of functions of one feature each.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), default=None
            Samples over which the functions are centred to the mean 0. None: not centred.

        Returns
        -------
        boostbench.algorithms.explanation.shape_functions.ShapeFunctions
            Shape functions. `explain_global` returns them as a table, and `explain_local` the
            contribution of each feature to the score of a sample.

        Raises
        ------
        ValueError
            If the model is not a sum of stumps.
        """
        check_is_fitted(self)
        return ShapeFunctions(self, X)

    def _build_terms(self):
        """Return the terms of the features, the constant of the scores, and their slack.

        Returns
        -------
        terms : list of boostbench.algorithms.explanation.terms.Term
        constant : ndarray of shape () or (n_classes,)
        slack : float
            Scores that differ by at most this number are tied; see
            `boostbench.algorithms.base.decision_values.decision_values`.
        """
        views = getattr(self, "views_", None) or identity_views(self.n_features_in_)
        stump_sum = self.stump_sum().expand_category_sets(views)
        coefficients = stump_sum.coefficients
        columns = coefficients[:, None] if coefficients.ndim == 1 else coefficients
        categories = getattr(self, "categories_", {})
        terms, constant = build_terms(stump_sum.stumps, columns, views, categories)
        constant = constant.reshape(coefficients.shape[1:])
        return terms, stump_sum.intercept + constant, stump_sum.slack(self)

    def rules(self):
        """Return the stumps as a table, in the order of the training.

        Returns
        -------
        pandas.DataFrame
            One row per stump, with ``round``, ``feature`` (name, or index if there are no names),
            ``threshold``, and one column per class (two classes: only the second one; regressors:
            ``prediction``). The number in the column of a class is added to its score if the
            feature is above the threshold, and subtracted otherwise. If the training data have
            categories or missing values, a column ``test`` describes the test, and tests of these
            have no threshold. An intercept is added to all scores; its row has the round 0, the
            feature ``intercept`` and no threshold. `AdaBoostMO` and bags list their stumps by
            feature or by member, and ``round`` is a running number.

        Raises
        ------
        ValueError
            If the model is not a sum of stumps.
        """
        return rules(self)

    def stump_sum(self):
        """Return the scores as a sum of stumps.

        The tables of pairs of a bag, `pairs_`, are not part of it; add them to the sum.

        Returns
        -------
        boostbench.algorithms.explanation.stump_sums.StumpSum

        Raises
        ------
        ValueError
            If the model is not a sum of stumps.
        """
        return extract_stump_sum(self)
