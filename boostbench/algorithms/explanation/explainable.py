"""What estimators have to show, where their scores are a sum of stumps."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from boostbench.algorithms.explanation.rules import rules
from boostbench.algorithms.explanation.shape_functions import ShapeFunctions
from boostbench.algorithms.explanation.stump_sums import extract_stump_sum
from boostbench.algorithms.explanation.term_sizes import term_sizes


class ExplainableMixin:
    """What shows an estimator whose scores are a sum of stumps, and what others have not."""

    @property
    def feature_importances_(self):
        """Mean absolute term of each feature, of shape (n_features_in_,), with sum 1.

        It is the mean, over the training rows with their weights, of the absolute value that the
        feature adds to the score, where its shape function has the mean 0 over these rows. For more
        than two classes, the mean over the classes is subtracted first, as what is added to all
        scores alike decides nothing, and the mean over the classes is taken. Importances are
        divided by their sum; they are 0 where no feature is in use. Rows that early stopping held
        out do not count, and tables of pairs have no share. A model that is no sum of stumps has no
        importances.
        """
        importances = np.zeros(self.n_features_in_)
        sizes = self._fitted_term_sizes()
        importances[sizes.features] = sizes.sizes / sizes.total
        return importances

    def _fitted_term_sizes(self):
        """Return the mean absolute terms over the training rows, which `fit` has computed.

        Returns
        -------
        boostbench.algorithms.explanation.term_sizes.TermSizes

        Raises
        ------
        AttributeError
            If the model is not fitted, or no sum of stumps.
        """
        check_is_fitted(self)
        if not hasattr(self, "_term_sizes"):
            try:
                self.stump_sum()
            except ValueError as error:
                raise AttributeError(str(error)) from None
            raise AttributeError("importances are computed at the end of fit")
        return self._term_sizes

    def _store_term_sizes(self, X, weights=None):
        """Compute the mean absolute terms of the training rows, if the model is a sum of stumps."""
        try:
            shapes = self.shape_functions()
        except ValueError:
            return
        self._term_sizes = term_sizes(shapes, X, weights)

    def shape_functions(self, X=None):
        """Return the scores as a sum of functions of one feature each, where they are one.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), default=None
            Samples over which the functions are to have the mean 0.

        Returns
        -------
        boostbench.algorithms.explanation.shape_functions.ShapeFunctions
            With `explain_global`, the functions as a table, and `explain_local`, what each feature
            adds to the score of a sample.

        Raises
        ------
        ValueError
            If the model is no sum of stumps.
        """
        check_is_fitted(self)
        return ShapeFunctions(self, X)

    def rules(self):
        """List the stumps in the order in which they were found, where the model is a sum of them.

        Returns
        -------
        pandas.DataFrame
            A row for each stump: ``round``, ``feature`` (its name, or else its number),
            ``threshold``, and a column for each class, for two classes for the second only, for
            numbers ``prediction``. Where the feature is above the threshold, the number there is
            added to the score of the class; else it is subtracted. Where the training data had
            categories or missing values, there is a column ``test`` as well, which says what is
            tested in words, and no threshold for tests of these. The intercept, where there is one,
            is round 0. `AdaBoostMO` and bags list their stumps by feature or by member, and
            ``round`` only counts them.

        Raises
        ------
        ValueError
            If the model is no sum of stumps.
        """
        return rules(self)

    def stump_sum(self):
        """Return the scores as a sum of stumps, where they are one.

        The tables of pairs that a bag may have, `pairs_`, are added to it.

        Returns
        -------
        boostbench.algorithms.explanation.stump_sums.StumpSum

        Raises
        ------
        ValueError
            If the model is no sum of stumps.
        """
        return extract_stump_sum(self)
