"""Sums of stumps as functions of one feature each: what a model does with a feature, exactly."""

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_array

from boostbench.algorithms.decisions import decision, predicted
from boostbench.core.weak.additive import AdditiveTables


class ShapeFunctions:
    r"""A fitted sum of stumps as :math:`F(x) = F_0 + \sum_j f_j(x_j)`, a step function per feature.

    It is what `BoostingClassifier.shape_functions` returns. Nothing is approximated: stumps on the
    same feature add up to a step function of it, and there are no interactions.

    Parameters
    ----------
    model : BoostingClassifier
        Fitted, a sum of stumps.
    X : array-like of shape (n_samples, n_features), default=None
        If given, every :math:`f_j` has the mean 0 over these samples, and :math:`F_0` is the mean
        score. Otherwise they are as the stumps add up, with the intercept that the model has.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    feature_names : ndarray of shape (n_features,)
        Those of the training data, or ``x0``, ``x1``, ...
    outputs : ndarray of shape (n_outputs,)
        The classes that scores are for; of two classes the second one.
    tables : boostbench.core.weak.additive.AdditiveTables
        ``tables.features`` are in use, with ``tables.thresholds`` and the values between them,
        ``tables.tables``.
    intercept : ndarray of shape (n_outputs,)
        :math:`F_0`.
    """

    def __init__(self, model, X=None):
        total = model.stump_sum()
        stumps, coefficients, self._intercept = total
        self._is_binary = coefficients.ndim == 1
        columns = coefficients[:, None] if self._is_binary else coefficients
        self.tables = AdditiveTables(stumps, columns)
        self.classes_ = model.classes_
        self._slack = total.slack(model)
        self._n_features = model.n_features_in_
        self.outputs = self.classes_[1:] if self._is_binary else self.classes_
        default = [f"x{feature}" for feature in range(self._n_features)]
        self.feature_names = np.asarray(getattr(model, "feature_names_in_", default))
        self._fold_constants()
        if X is not None:
            for values, table in zip(self._looked_up(X), self.tables.tables, strict=True):
                self._move(table, values.mean(axis=0))

    def decision_function(self, X):
        """Score the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or (n_samples,) where there are two classes
            As from the classifier, up to rounding.
        """
        scores = self.tables.scores(self._checked(X))
        scores += self._intercept
        return decision(scores[:, 0] if self._is_binary else scores, self._slack)

    def predict(self, X):
        """Predict the labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return predicted(self.decision_function(X), self.classes_)

    @property
    def intercept(self):
        """What the features' terms are added to, of shape (n_outputs,)."""
        return np.broadcast_to(self._intercept, len(self.outputs))

    @property
    def importances(self):
        """Total variation of the shape functions, of shape (n_features,), with sum 1.

        Of more than two classes, the mean over the classes is subtracted first, as what is added to
        all scores alike decides nothing. All are 0 where no feature is in use.
        """
        found = np.zeros(self._n_features)
        for feature, table in zip(self.tables.features, self.tables.tables, strict=True):
            steps = np.diff(table, axis=0)
            if not self._is_binary:
                steps = steps - steps.mean(axis=1, keepdims=True)
            found[feature] = np.abs(steps).sum()
        return found / (found.sum() or 1.0)

    def steps(self, feature):
        """Return the shape function of a feature.

        Parameters
        ----------
        feature : int

        Returns
        -------
        thresholds : ndarray of shape (n_thresholds,)
            Ascending; none where the feature is not in use.
        values : ndarray of shape (n_thresholds + 1, n_outputs)
            Of :math:`f_j` up to and with the first threshold, between that and the second, ...
        """
        at = np.flatnonzero(self.tables.features == feature)
        if not len(at):
            return np.empty(0), np.zeros((1, len(self.outputs)))
        return self.tables.thresholds[at[0]], self.tables.tables[at[0]]

    def explain_global(self):
        """List the shape functions.

        Returns
        -------
        pandas.DataFrame
            A row for each step: ``feature``, and its values from ``left``, which is not part of the
            step, to ``right``, which is; then a column for each of `outputs`, what it adds to the
            score there. Features that are not in use have no rows.
        """
        pieces = []
        tables = zip(self.tables.features, self.tables.thresholds, self.tables.tables, strict=True)
        for feature, thresholds, table in tables:
            ends = np.concatenate([[-np.inf], thresholds, [np.inf]])
            name = self.feature_names[feature]
            steps = pd.DataFrame({"feature": name, "left": ends[:-1], "right": ends[1:]})
            pieces.append(steps.join(pd.DataFrame(table, columns=self.outputs)))
        if not pieces:
            return pd.DataFrame(columns=["feature", "left", "right", *self.outputs])
        return pd.concat(pieces, ignore_index=True)

    def explain_local(self, X):
        """Take the scores of samples apart.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        pandas.DataFrame
            A row for each sample; columns ``intercept`` and the name of each feature. Their sum is
            `decision_function`. Of more than two classes, columns have a level above it, the class:
            ``explain_local(X)[label].sum(axis=1)`` is the score of that class.
        """
        X = self._checked(X)
        terms = np.zeros((len(X), 1 + self._n_features, len(self.outputs)))
        terms[:, 0] = self.intercept
        for feature, values in zip(self.tables.features, self._looked_up(X), strict=True):
            terms[:, 1 + feature] = values
        names = ["intercept", *self.feature_names]
        if self._is_binary:
            return pd.DataFrame(terms[..., 0], columns=names)
        columns = pd.MultiIndex.from_product([self.outputs, names], names=["class", "term"])
        return pd.DataFrame(np.swapaxes(terms, 1, 2).reshape(len(X), -1), columns=columns)

    def _checked(self, X):
        X = check_array(X, dtype=np.float64)
        if X.shape[1] != self._n_features:
            raise ValueError(f"X has {X.shape[1]} features, expected {self._n_features}")
        return X

    def _looked_up(self, X):
        """Yield what each feature in use adds for the samples, of shape (n_samples, n_outputs)."""
        columns = self._checked(X).T[self.tables.features]
        tables = zip(columns, self.tables.thresholds, self.tables.tables, strict=True)
        for values, thresholds, table in tables:
            yield table[thresholds.searchsorted(values)]

    def _move(self, table, constant):
        """Move a constant from a feature to the intercept."""
        table -= constant
        self._intercept = self._intercept + constant

    def _fold_constants(self):
        """Take stumps with an infinite threshold, which nothing is above, for what they are."""
        kept = []
        for at, thresholds in enumerate(self.tables.thresholds):
            finite = thresholds[np.isfinite(thresholds)]
            self.tables.thresholds[at] = finite
            self.tables.tables[at] = self.tables.tables[at][: len(finite) + 1]
            if len(finite):
                kept.append(at)
            else:
                self._move(self.tables.tables[at], self.tables.tables[at][0].copy())
        self.tables.features = self.tables.features[kept]
        self.tables.thresholds = [self.tables.thresholds[at] for at in kept]
        self.tables.tables = [self.tables.tables[at] for at in kept]
