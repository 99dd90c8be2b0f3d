"""What estimators have to show, where their scores are a sum of stumps."""

from sklearn.utils.validation import check_is_fitted

from boostbench.algorithms.explaining.rules import rules
from boostbench.algorithms.explaining.shape_functions import ShapeFunctions
from boostbench.algorithms.explaining.stump_sums import of_stumps


class Explainable:
    """What shows an estimator whose scores are a sum of stumps, and what others have not."""

    @property
    def feature_importances_(self):
        """How much each feature moves the scores, of shape (n_features_in_,), with sum 1.

        It is the sum of the absolute coefficients of the stumps on a feature, equal stumps counted
        as one: the total variation of its shape functions. Of more than two classes, the mean over
        the classes is subtracted first. There is none where the model is no sum of stumps.
        """
        try:
            return self.shape_functions().importances
        except ValueError as error:
            raise AttributeError(str(error)) from None

    def shape_functions(self, X=None):
        """Return the scores as a sum of functions of one feature each, where they are one.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), default=None
            Samples over which the functions are to have the mean 0.

        Returns
        -------
        boostbench.algorithms.explaining.shape_functions.ShapeFunctions
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
        boostbench.algorithms.explaining.stump_sums.StumpSum

        Raises
        ------
        ValueError
            If the model is no sum of stumps.
        """
        return of_stumps(self)
