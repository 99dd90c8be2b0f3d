"""Edited models: sums of stumps with functions of features that a person has changed.

A *term* is the function of one feature: a table of contributions to each score, with a row for each
step between thresholds or each category, and a last row for missing values. `Term.spread` holds
the standard deviations of a bag's table, as components whose squares add up to the variance.
`TermSizes.row_weights` holds the weight of the training rows in each row of a table. *Views* are
the numeric columns that stumps test, derived from the features.

`with_shape` and `monotonize` replace a term, and return an `EditedClassifier` or `EditedRegressor`.
"""

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.isotonic import isotonic_regression
from sklearn.utils.validation import check_is_fitted

from boostbench.algorithms.base.decision_values import rounding_slack
from boostbench.algorithms.base.estimators import ScoringClassifier
from boostbench.algorithms.base.input_validation import InputValidationMixin
from boostbench.algorithms.explanation.explainable import ExplainableMixin
from boostbench.algorithms.explanation.shape_functions import ShapeFunctions
from boostbench.algorithms.explanation.spread import (
    UncertainClassifierMixin,
    UncertainRegressorMixin,
)
from boostbench.algorithms.explanation.stump_sums import StumpSum, require_stump_sum
from boostbench.algorithms.explanation.terms import TermSizes, mean_absolute, terms_to_stumps
from boostbench.core.stumps.views import identity_views

# Fitted attributes of the original model that the edited model shares, if the original has them.
_SHARED_ATTRIBUTES = (
    "n_features_in_",
    "feature_names_in_",
    "classes_",
    "categories_",
    "views_",
    "_accepts_sparse",
    "_accepts_tables",
    "_training_rows",
    "link_",
)


def with_shape(model, feature, shape, X=None):
    """Return a model with another function of one feature.

    All other functions, the intercept and the tables of pairs stay the same. Nothing is
    approximated: the scores of the result are the sums of its shape functions.

    Parameters
    ----------
    model : BoostingClassifier, BoostingRegressor, EditedClassifier or EditedRegressor
        Fitted model, a sum of stumps.
    feature : str or int
        Name or index of the feature.
    shape : pandas.DataFrame, array-like or callable
        Contributions to the scores, as in ``model.shape_functions(X)``.

        - A data frame has the columns of `ShapeFunctions.explain_global`: ``left`` and ``right``
          ends of consecutive intervals from minus to plus infinity, for a categorical feature
          ``category``, and one column per output at the end. Rows of other features are ignored.
          The row of missing values (neither ends nor category) may be left out.
        - An array replaces the contributions in the rows of `explain_global`; its shape is
          (n_rows,) or (n_rows, n_outputs).
        - A callable takes an array of numbers or of categories and returns an array like this. It
          is evaluated in the middle of each step of the present function, at the lowest threshold
          for the first step and at the highest one for the last step. NaN asks for the contribution
          of a missing value, which stays as it is if the result is NaN.
    X : array-like of shape (n_samples, n_features), default=None
        Samples over which functions are centred to the mean 0, as in `shape_functions`. None: the
        functions are not centred. Required if the function gets new thresholds: the importance of
        the feature is then computed over these samples.

    Returns
    -------
    EditedClassifier or EditedRegressor
        Fitted model. The standard deviations of the edited function are 0, since it is not
        estimated.

    Raises
    ------
    ValueError
        If the model is not a sum of stumps, the feature does not exist, or `shape` has other
        intervals, categories or outputs than it needs, or numbers that are not finite.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from boostbench import LsBoostRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = LsBoostRegressor(n_iterations=50).fit(X, y)
    >>> table = model.shape_functions(X).explain_global()
    >>> table["prediction"] = table["prediction"].clip(upper=30.0)
    >>> edited = with_shape(model, "bmi", table, X)
    >>> bool(edited.predict(X).max() < model.predict(X).max())
    True
    """
    # 1) Read the new contributions into a copy of the present term.
    require_stump_sum(model)
    shapes = model.shape_functions(X)
    index = shapes.feature_index(feature)
    old_term = shapes.term(index)
    if callable(shape):
        new_term = _evaluate_function(old_term, shape)
    elif isinstance(shape, pd.DataFrame):
        new_term = _read_table(old_term, shape, shapes)
    else:
        new_term = _replace_values(old_term, np.asarray(shape, dtype=float))
    if not np.isfinite(new_term.table).all():
        raise ValueError(f"the function of {feature!r} has contributions that are not finite")
    # 2) Make the model.
    new_term = _fill_missing_row(new_term, shapes.views)
    weights = _table_row_weights(model, shapes, old_term=old_term, new_term=new_term, X=X)
    return _edited_model(model, shapes, new_term, weights)


def monotonize(model, feature, direction):
    """Return a model whose function of one feature only increases or only decreases.

    The function is replaced by the nearest monotonic function in the sense of least squares over
    the training rows (isotonic regression), which has the same mean. The contribution of missing
    values stays as it is. The deviation of a merged step is the deviation of its mean.

    Parameters
    ----------
    model : BoostingClassifier, BoostingRegressor, EditedClassifier or EditedRegressor
        Fitted model, a sum of stumps with one score: a regressor, or a classifier of two classes.
    feature : str or int
        Name or index of a numeric feature that is in no pair.
    direction : {1, -1}
        1: the prediction, or the score of the second class, increases with the feature; -1: it
        decreases.

    Returns
    -------
    EditedClassifier or EditedRegressor
        Fitted model.

    Raises
    ------
    ValueError
        If the model is not a sum of stumps or has several scores; if the feature does not exist, is
        categorical or is in a pair; or if the direction is neither 1 nor -1.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_diabetes
    >>> from boostbench import LsBoostRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = LsBoostRegressor(n_iterations=50).fit(X, y)
    >>> table = monotonize(model, "bp", 1).shape_functions().explain_global()
    >>> bool((np.diff(table["prediction"][table["feature"] == "bp"]) >= 0).all())
    True
    """
    # 1) Check that the model and the feature have one function with an order.
    require_stump_sum(model)
    if direction not in (1, -1):
        raise ValueError(f"direction must be 1 (increasing) or -1 (decreasing), got {direction!r}")
    shapes = model.shape_functions()
    index = shapes.feature_index(feature)
    if len(shapes.outputs) > 1:
        raise ValueError(
            f"monotonize needs numbers or two classes; the model has {len(shapes.outputs)} classes"
        )
    term = shapes.term(index)
    if term.categories is not None:
        raise ValueError(f"feature {feature!r} is categorical: categories have no order")
    if any(axis.feature == index for pair in shapes.pairs for axis in pair.axes):
        raise ValueError(
            f"feature {feature!r} is in a pair, whose table would break the order: fit the model "
            f"with monotonic_cst={{{feature!r}: {direction}}}"
        )
    if not len(term.thresholds):
        # The feature is not in use, so that its function is constant.
        return _edited_model(model, shapes)
    # 2) Fit the monotonic function to the steps, weighted by their training rows.
    row_weights = _table_row_weights(model, shapes, old_term=term, new_term=term, X=None)
    # Steps without training rows get a weight that does not move the others.
    step_weights = np.maximum(row_weights[:-1], 1e-9 * max(row_weights.sum(), 1.0))
    values = isotonic_regression(
        term.values[:, 0], sample_weight=step_weights, increasing=direction > 0
    )
    # 3) Replace the contributions; the last row, of missing values, stays.
    table = term.table.copy()
    table[:-1, 0] = values
    spread = term.spread
    if spread is not None:
        spread = _average_merged_steps(spread, values, step_weights)
    new_term = _fill_missing_row(term._replace(table=table, spread=spread), shapes.views)
    return _edited_model(model, shapes, new_term, row_weights)


def _average_merged_steps(spread, values, step_weights):
    """Return the spread of a function whose steps of equal values are merged.

    A merged step is the weighted mean of its steps. So are the components of its deviation, since a
    mean is linear.

    Parameters
    ----------
    spread : ndarray of shape (n_steps + 1, n_outputs, n_components)
        Components of the deviations of each row of the term's table, see `Term.spread`. The last
        row, of missing values, is returned as it is.
    values : ndarray of shape (n_steps,)
        Monotonic function, with equal values on merged steps.
    step_weights : ndarray of shape (n_steps,)

    Returns
    -------
    ndarray of shape (n_steps + 1, n_outputs, n_components)
    """
    # The row of missing values is a group of its own.
    group_of_row = np.append(np.cumsum(np.diff(values, prepend=values[0]) != 0), len(values))
    row_weights = np.append(step_weights, 1.0)
    group_sums = np.zeros(spread.shape)
    np.add.at(group_sums, group_of_row, spread * row_weights[:, None, None])
    group_weights = np.bincount(group_of_row, row_weights)
    return group_sums[group_of_row] / group_weights[group_of_row][:, None, None]


def _edited_model(model, shapes, new_term=None, row_weights=None):
    """Return an edited model, a copy of a model with one new term.

    Parameters
    ----------
    model : estimator
    shapes : ShapeFunctions
        Functions of the model.
    new_term : boostbench.algorithms.explanation.terms.Term, default=None
        New term; its spread is None if its deviations are 0. None: no term is replaced.
    row_weights : ndarray of shape (n_rows,), default=None
        Weight of the training rows in each row of the new table. Required with `new_term`.

    Returns
    -------
    EditedClassifier or EditedRegressor
    """
    # 1) Make the model, with the original's facts on features and classes.
    is_regressor = shapes.classes_ is None
    edited = EditedRegressor() if is_regressor else EditedClassifier()
    for name in _SHARED_ATTRIBUTES:
        if hasattr(model, name):
            setattr(edited, name, getattr(model, name))
    # 2) Replace the term.
    terms = {old_term.feature: old_term for old_term in shapes.terms}
    if new_term is not None:
        terms[new_term.feature] = new_term
    edited._terms = [terms[feature]._replace(spread=None) for feature in sorted(terms)]
    edited.pairs_ = shapes.pairs
    is_single = len(shapes.outputs) == 1
    edited._intercept = shapes.intercept[0] if is_single else shapes.intercept.copy()
    edited._inverse_temperature = model.inverse_temperature()
    # 3) Bound the rounding errors of the scores, so that ties are decided as in an export: by the
    # bound for sums of terms, or for sums of the stumps that they are converted to, whichever is
    # larger. `StumpSum.slack` reads the first bound from `edited`, and returns the larger one.
    largest_contributions = [np.abs(term.table).max(axis=0) for term in edited._terms]
    terms_slack = rounding_slack(*largest_contributions, shapes.intercept)
    edited._slack = 0.0 if is_regressor else terms_slack
    edited._slack = edited.stump_sum().slack(edited)
    # 4) Replace the importance and the spread of the term.
    edited._term_sizes = model._fitted_term_sizes()
    if shapes.has_spread:
        edited._spread = model._spread
    if new_term is not None:
        edited._term_sizes = _replace_size(edited._term_sizes, new_term, row_weights)
        if shapes.has_spread:
            edited._spread = _replace_spread(model._spread, shapes, new_term)
    return edited


def _replace_size(sizes, new_term, row_weights):
    """Return term sizes with the size of one term replaced or added.

    Parameters
    ----------
    sizes : boostbench.algorithms.explanation.terms.TermSizes
        Mean absolute contribution of each term over the training rows, and the weights of the rows
        of its table.
    new_term : boostbench.algorithms.explanation.terms.Term
        New term.
    row_weights : ndarray of shape (n_rows,)
        Weight of the training rows in each row of the new table.
    """
    features = np.union1d(sizes.features, [new_term.feature]).astype(np.int64)
    size_of_feature = dict(zip(sizes.features, sizes.sizes, strict=True))
    weights_of_feature = dict(zip(sizes.features, sizes.row_weights, strict=True))
    # Importances are computed from the mean absolute contributions.
    size_of_feature[new_term.feature] = mean_absolute(new_term.table, row_weights)
    weights_of_feature[new_term.feature] = row_weights
    return TermSizes(
        features,
        np.array([size_of_feature[feature] for feature in features]),
        sizes.pair_sizes,
        [weights_of_feature[feature] for feature in features],
    )


def _replace_spread(spread, shapes, new_term):
    """Return the spread of a bag with the deviations of one term replaced.

    Parameters
    ----------
    spread : boostbench.algorithms.explanation.spread.Spread
        Deviations of all terms. Its `tables` have the shape (n_rows, n_outputs, n_components); they
        are stored as float16, divided by `spread.unit`.
    shapes : ShapeFunctions
        Functions of the model.
    new_term : boostbench.algorithms.explanation.terms.Term
        New term; its deviations are 0 if its spread is None.
    """
    tables = {
        old_term.feature: table for old_term, table in zip(shapes.terms, spread.tables, strict=True)
    }
    if new_term.spread is None:
        tables[new_term.feature] = np.zeros(
            (*new_term.table.shape, spread.intercept.shape[-1]), np.float16
        )
    else:
        tables[new_term.feature] = (new_term.spread / spread.unit).astype(np.float16)
    return spread._replace(tables=[tables[feature] for feature in sorted(tables)])


def _table_row_weights(model, shapes, old_term, new_term, X):
    """Return the weight of the samples in each row of a new term's table.

    The samples are the training rows if their weights are known in these rows: the new term has no
    thresholds that the old one lacks. Otherwise they are X.

    Parameters
    ----------
    model : estimator
    shapes : ShapeFunctions
    old_term, new_term : boostbench.algorithms.explanation.terms.Term
        Present and new term of the feature.
    X : array-like of shape (n_samples, n_features) or None
        Samples to count if the new term has other thresholds.

    Returns
    -------
    ndarray of shape (n_rows,)
    """
    sizes = model._fitted_term_sizes()
    if old_term.feature in sizes.features:
        old_weights = sizes.row_weights[sizes.features.tolist().index(old_term.feature)]
        if old_term.categories is not None:
            return old_weights
        if np.isin(new_term.thresholds, old_term.thresholds).all():
            # A new step covers whole old steps. An old step, which includes its upper end, belongs
            # to the new step that includes this end. The last weight is of missing values.
            new_steps = new_term.thresholds.searchsorted(np.append(old_term.thresholds, np.inf))
            step_weights = np.bincount(new_steps, old_weights[:-1], len(new_term.thresholds) + 1)
            return np.append(step_weights, old_weights[-1])
    if X is None:
        name = shapes.feature_names[new_term.feature]
        raise ValueError(
            f"the function of {str(name)!r} has new steps: pass X, such as the training data, over "
            "which the importance of the feature is computed"
        )
    values = shapes.numbers(X)[:, new_term.feature]
    return np.bincount(new_term.row_indices(values), minlength=len(new_term.table)).astype(float)


def _evaluate_function(old_term, function):
    """Return a term whose contributions are the values of a function; see `with_shape`."""
    table = old_term.table.copy()
    if old_term.categories is not None:
        table[:-1] = _check_contributions(
            function(old_term.categories), len(old_term.categories), table.shape[1]
        )
    elif not len(old_term.thresholds):
        raise ValueError("a feature that is not in use has no steps: pass a table instead")
    else:
        ends = old_term.thresholds
        points = np.concatenate([ends[:1], (ends[:-1] + ends[1:]) / 2, ends[-1:]])
        table[:-1] = _check_contributions(function(points), len(points), table.shape[1])
        missing = _check_contributions(function(np.array([np.nan])), 1, table.shape[1])[0]
        table[-1] = np.where(np.isnan(missing), table[-1], missing)
    return old_term._replace(table=table, spread=None)


def _replace_values(old_term, values):
    """Return a term with new contributions in the rows that `explain_global` shows.

    It shows the row of missing values only if the training data had some.

    Parameters
    ----------
    old_term : boostbench.algorithms.explanation.terms.Term
        Present term of the feature.
    values : ndarray of shape (n_rows,) or (n_rows, n_outputs)
    """
    n_rows = len(old_term.table) - (not old_term.has_missing)
    table = old_term.table.copy()
    table[:n_rows] = _check_contributions(values, n_rows, table.shape[1])
    return old_term._replace(table=table, spread=None)


def _check_contributions(values, n_rows, n_outputs):
    """Return contributions as an array of shape (n_rows, n_outputs); (n_rows,) is one output."""
    values = np.asarray(values, dtype=float)
    columns = values[:, None] if values.ndim == 1 else values
    if columns.shape != (n_rows, n_outputs):
        expected = f"({n_rows}, {n_outputs})" + (f" or ({n_rows},)" if n_outputs == 1 else "")
        raise ValueError(f"the function must have the shape {expected}, got {values.shape}")
    return columns


def _read_table(old_term, frame, shapes):
    """Return the term that a data frame with the columns of `explain_global` describes.

    Parameters
    ----------
    old_term : boostbench.algorithms.explanation.terms.Term
        Present term of the feature.
    frame : pandas.DataFrame
    shapes : ShapeFunctions
        Functions of the model, for the names of features and outputs.
    """
    # 1) Select the rows of the feature, and split the columns into keys and contributions.
    name, n_outputs = shapes.feature_names[old_term.feature], len(shapes.outputs)
    # Select by position, since a class may have the name of another column.
    keys, values = frame.iloc[:, :-n_outputs], frame.iloc[:, -n_outputs:]
    expected = ["category"] if old_term.categories is not None else ["left", "right"]
    lacking = [column for column in expected if column not in keys]
    if lacking:
        raise ValueError(f"the table of {str(name)!r} needs the column {lacking[0]!r}")
    if "feature" in keys:
        is_row = (keys["feature"] == name).to_numpy()
        if not is_row.any():
            raise ValueError(f"the table has no rows of the feature {str(name)!r}")
        keys, values = keys[is_row], values[is_row]
    # 2) Split off the row of missing values, which may be absent.
    values = values.to_numpy(dtype=float)
    is_missing = keys[expected].isna().all(axis=1).to_numpy()
    missing = values[is_missing] if is_missing.any() else old_term.table[-1:]
    if len(missing) > 1:
        raise ValueError(f"the table of {str(name)!r} has {len(missing)} rows of missing values")
    keys, values = keys[~is_missing], values[~is_missing]
    # 3) Sort the rows by category, or by interval.
    if old_term.categories is not None:
        order = pd.Index(keys["category"]).get_indexer_for(old_term.categories)
        if len(keys) != len(old_term.categories) or (order < 0).any():
            raise ValueError(
                f"the table of {str(name)!r} must have one row for each of the categories "
                f"{', '.join(map(str, old_term.categories))}"
            )
        return old_term._replace(table=np.concatenate([values[order], missing]), spread=None)
    left_ends, right_ends = keys[["left", "right"]].to_numpy(dtype=float).T
    order = np.argsort(right_ends)
    left_ends, right_ends, values = left_ends[order], right_ends[order], values[order]
    ends = np.append(-np.inf, right_ends)
    # The ends of the intervals must meet, and the last one must be infinite.
    is_gapless = np.array_equal(left_ends, ends[:-1])
    is_partition = len(right_ends) and is_gapless and right_ends[-1] == np.inf
    if not is_partition or not (np.diff(ends) > 0).all():
        raise ValueError(
            f"the intervals of {str(name)!r} must be consecutive, from -inf to inf: each left end "
            "is the right end of the interval before"
        )
    table = np.concatenate([values, missing])
    return old_term._replace(thresholds=right_ends[:-1], table=table, spread=None)


def _fill_missing_row(term, views):
    """Return a term whose last row, of missing values, agrees with the views of the model.

    If the training data had no missing values of the feature, they count as its mean, or as its
    most frequent category, and get the contribution of this value. Otherwise the row remains.

    Parameters
    ----------
    term : boostbench.algorithms.explanation.terms.Term
    views : boostbench.core.stumps.views.Views
        Their `fill` is the value of each view for a missing value.
    """
    if term.has_missing:
        return term
    feature_views = np.flatnonzero(views.feature == term.feature)
    fill = views.fill[feature_views]
    if term.categories is None:
        # A number without missing values has one view, which is filled with its mean.
        row = int(term.row_indices(fill[:1])[0])
    else:
        # A view is the indicator of a category; its fill is 1 for the most frequent category. If no
        # view has the fill 1, the most frequent category is the one without a view, as a feature of
        # two categories has a view for one of them.
        codes = views.category[feature_views]
        codes_without_view = np.setdiff1d(np.arange(len(term.categories)), codes)
        most_frequent = np.append(codes[fill == 1], codes_without_view)[0]
        row = int(most_frequent)
    table = term.table.copy()
    table[-1] = table[row]
    spread = term.spread
    if spread is not None:
        spread = spread.copy()
        spread[-1] = spread[row]
    return term._replace(table=table, spread=spread)


class _EditedModel(ExplainableMixin, InputValidationMixin, BaseEstimator):
    """Sum of functions of features, of which some were edited.

    `_edited_model` makes it, and sets its attributes. Besides those below it has the public
    attributes of the original model, `_SHARED_ATTRIBUTES`.

    Attributes
    ----------
    pairs_ : list of boostbench.algorithms.bagging.interactions.Pair
        Tables of pairs of features.
    _terms : list of boostbench.algorithms.explanation.terms.Term
        Functions of the features in use.
    _intercept : float or ndarray of shape (n_outputs,)
        Constant of the scores; a float if there is one score.
    _inverse_temperature : float
        Factor of the scores in the probabilities.
    _slack : float
        Largest difference of scores that may be a rounding error; 0 for a regressor.
    _term_sizes : boostbench.algorithms.explanation.terms.TermSizes
        Sizes of the terms, from which `ExplainableMixin` computes importances.
    _spread : boostbench.algorithms.explanation.spread.Spread
        Deviations of the terms. Absent if the original model has none.
    """

    def fit(self, X, y=None):
        """Raise an error: an edited model is made from a fitted one.

        Raises
        ------
        NotImplementedError
        """
        raise NotImplementedError(
            f"{type(self).__name__} cannot be fitted: fit the original model, and edit it again"
        )

    def __sklearn_is_fitted__(self):
        return hasattr(self, "_terms")

    # `InputValidationMixin` reads the next two attributes for scikit-learn's tags.
    @property
    def _takes_sparse(self):
        """True if the original model accepts sparse X."""
        return getattr(self, "_accepts_sparse", False)

    @property
    def _takes_tables(self):
        """True if the original model accepts missing values and categories."""
        return getattr(self, "_accepts_tables", False)

    def _build_terms(self):
        """Return terms, intercept and slack, of which `ShapeFunctions` computes the scores."""
        return list(self._terms), self._intercept, self._slack

    def _scores(self, X):
        """Return the scores of samples, which `ScoringClassifier` turns into predictions."""
        check_is_fitted(self)
        return ShapeFunctions(self).scores(X)

    def predict(self, X):
        """Predict numbers; classifiers predict labels instead.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return ShapeFunctions(self).predict(X)

    def inverse_temperature(self):
        """Return the inverse temperature of the original model; see `BoostingClassifier`."""
        return self._inverse_temperature

    def stump_sum(self):
        """Return the scores as a sum of stumps; see `BoostingClassifier.stump_sum`."""
        check_is_fitted(self)
        views = getattr(self, "views_", None) or identity_views(self.n_features_in_)
        stumps, coefficients, constant = terms_to_stumps(self._terms, views)
        if np.ndim(self._intercept) == 0:
            return StumpSum(stumps, coefficients[:, 0], self._intercept + constant[0])
        return StumpSum(stumps, coefficients, self._intercept + constant)


class EditedClassifier(UncertainClassifierMixin, ScoringClassifier, _EditedModel):
    """Classifier with edited functions, the result of `with_shape` or `monotonize`.

    It predicts, and is explained, exported and edited, like the model that it was made from. It
    cannot be fitted.
    """

    def score_slack(self):
        """Return the largest difference of scores that may be a rounding error."""
        return self._slack


class EditedRegressor(UncertainRegressorMixin, RegressorMixin, _EditedModel):
    """Regressor with edited functions, the result of `with_shape` or `monotonize`.

    It predicts, and is explained, exported and edited, like the model that it was made from. It
    cannot be fitted.
    """
