"""Data frames as training data: conversion to pandas, and categorical features as codes.

A categorical feature becomes a column of codes: the positions of its values in the list of its
categories, with NaN for missing and unknown values. `find_categories` finds the lists in a fit, and
`encode_categories` makes the codes, in fits and predictions.
"""

import re
import warnings
from numbers import Integral

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.utils import check_array

from boostbench.util.text_columns import (
    MAX_CATEGORIES,
    classify_values,
    days_conversion_code,
    text_problem,
)

# A number with commas between thousands.
_THOUSANDS_SEPARATED = re.compile(r"[-+]?\d{1,3}(,\d{3})+(\.\d*)?", re.ASCII)

# Results of `pandas.api.types.infer_dtype` for columns of objects that are all numbers.
_NUMERIC_KINDS = {"integer", "floating", "mixed-integer-float", "boolean", "decimal", "empty"}


def find_categories(X, requested="from_dtype", weights=None):
    """Find the categories of training data.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    requested : array-like, "from_dtype" or None, default="from_dtype"
        Categorical features: their indices, their names, or a mask. ``"from_dtype"``: the columns
        of a pandas data frame that are categories, strings, or objects that are not all numbers.
        None: no feature is categorical.
    weights : ndarray of shape (n_samples,), default=None
        Sample weights in the category frequencies; None: all are 1.

    Returns
    -------
    dict of int to ndarray
        Categories of each categorical feature, by its index: sorted, or in the order of an ordered
        data type. If there are more than 255, the most frequent ones.

    Raises
    ------
    ValueError
        If a requested feature does not exist, X is sparse, or a column holds dates, numbers as
        text, texts among numbers, or unhashable values such as lists. A column that `requested`
        names, or whose data type is categorical, may hold any hashable values.

    Warns
    -----
    UserWarning
        If the number of distinct values of a text column exceeds both 20 and half of the rows, as
        for identifiers.

    Examples
    --------
    >>> X = pd.DataFrame({"size": [1.5, 2.0, 2.5], "colour": ["red", None, "blue"]})
    >>> {feature: values.tolist() for feature, values in find_categories(X).items()}
    {1: ['blue', 'red']}
    """
    # Arrays have no data types of columns to look at.
    if requested is None or (isinstance(requested, str) and not isinstance(X, pd.DataFrame)):
        return {}
    if sparse.issparse(X):
        raise ValueError("categorical_features takes a dense X, and this one is sparse")
    X = _make_frame(X)
    if isinstance(requested, str):
        features = [
            index for index, dtype in enumerate(X.dtypes) if _is_categorical(X, index, dtype)
        ]
        for index in features:
            _check_text(X.iloc[:, index], X.columns[index])
    else:
        features = _feature_indices(np.asarray(requested), X)
    return {feature: _column_categories(X.iloc[:, feature], weights) for feature in features}


def may_be_truncated(categories):
    """Return True if a feature has the maximum number of categories.

    The training data may then have had more categories, of which the rarest were dropped.

    Parameters
    ----------
    categories : dict of int to ndarray
        Result of `find_categories`.

    Returns
    -------
    bool
    """
    return any(
        len(feature_categories) == MAX_CATEGORIES for feature_categories in categories.values()
    )


def check_numeric(X, name):
    """Check that all columns of a data frame are numeric, and return X with numeric data types.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    name : str
        Name of the estimator in an error message.

    Returns
    -------
    array-like of shape (n_samples, n_features)
        Samples with NaN for missing values of object columns.

    Raises
    ------
    ValueError
        If a column holds texts or dates. The message names the first such column and a conversion.
    """
    X = convert_to_pandas(X)
    for index, dtype in enumerate(X.dtypes if isinstance(X, pd.DataFrame) else ()):
        # Categories that are booleans, integers or floats (kinds b, i, u, f) can be used as
        # numbers.
        values = dtype.categories.dtype if isinstance(dtype, pd.CategoricalDtype) else dtype
        if _is_categorical(X, index, dtype) and values.kind not in "biuf":
            _check_text(X.iloc[:, index], X.columns[index], takes_categories=False)
            raise ValueError(
                f"column {X.columns[index]!r} holds categories, and {name} takes numbers: "
                "convert it, for example by scikit-learn's OneHotEncoder in a "
                "make_column_transformer"
            )
    return encode_categories(X, {})


def encode_categories(X, categories):
    """Replace categories by their codes, and other columns of a data frame by numbers.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    categories : dict of int to ndarray
        Result of `find_categories`.

    Returns
    -------
    array-like of shape (n_samples, n_features)
        Codes, with NaN for missing and unknown categories; a data frame if X is one.

    Raises
    ------
    ValueError
        If a column holds neither numbers nor known categories. The message names the first one.
    """
    is_frame = isinstance(X, pd.DataFrame)
    if not categories and not is_frame:
        return X
    # 1) Convert each column that is not numeric.
    X = _make_frame(X)
    numbers = {}
    for index, dtype in enumerate(X.dtypes):
        if index in categories:
            numbers[index] = _category_codes(X.iloc[:, index], categories[index])
        elif isinstance(dtype, pd.CategoricalDtype) or dtype.kind not in "biufc":
            numbers[index] = _parse_floats(X.iloc[:, index])
    # 2) Replace these columns in a copy that shares the other ones.
    X = X.copy(deep=False)
    for index, column in numbers.items():
        X.isetitem(index, column)
    return X if is_frame else X.to_numpy(dtype=np.float64)


def decode_categories(X, categories, names=None):
    """Replace codes by their categories, the inverse of `encode_categories`.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Encoded samples; a sparse X has no categorical features.
    categories : dict of int to ndarray
        Result of `find_categories`.
    names : ndarray of shape (n_features,), default=None
        Names of the columns. None: 0, 1, ....

    Returns
    -------
    pandas.DataFrame, ndarray or sparse matrix
        X itself if there are neither categories nor names.
    """
    if not categories and names is None:
        return X
    if sparse.issparse(X):
        return pd.DataFrame.sparse.from_spmatrix(X, columns=names)
    X = pd.DataFrame(X, columns=names)
    for feature, feature_categories in categories.items():
        # Code -1, for a missing value, selects the last entry, None.
        codes = X.iloc[:, feature].fillna(-1).astype(int)
        X.isetitem(feature, np.append(feature_categories.astype(object), None)[codes])
    return X


def drop_unused_categories(categories, X, *other_samples):
    """Drop the categories that do not occur in X, and renumber the codes.

    Parameters
    ----------
    categories : dict of int to ndarray
        Result of `find_categories`.
    X : ndarray of shape (n_samples, n_features)
        Encoded samples; renumbered in place.
    *other_samples : ndarray of shape (n_others, n_features)
        Further encoded samples, such as a validation set; renumbered in place. A category that
        occurs only here is dropped.

    Returns
    -------
    dict of int to ndarray
        Categories that occur in X. `other_samples` get NaN in place of dropped categories.

    Examples
    --------
    >>> X, other = np.array([[0.0], [2.0]]), np.array([[2.0], [1.0]])
    >>> drop_unused_categories({0: np.array(["ash", "elm", "oak"])}, X, other)
    {0: array(['ash', 'oak'], dtype='<U3')}
    >>> X.T, other.T
    (array([[0., 1.]]), array([[ 1., nan]]))
    """
    used_categories = {}
    for feature, all_categories in categories.items():
        is_present = np.isin(np.arange(len(all_categories)), X[:, feature])
        used_categories[feature] = all_categories[is_present]
        # New code of each old code. NaN becomes -1, which selects the last entry, NaN.
        new_codes = np.append(np.where(is_present, is_present.cumsum() - 1.0, np.nan), np.nan)
        for samples in (X, *other_samples):
            samples[:, feature] = new_codes[
                np.nan_to_num(samples[:, feature], nan=-1.0).astype(int)
            ]
    return used_categories


def _make_frame(X):
    """Return X as a data frame; an array becomes one with the names 0, 1, ..."""
    if isinstance(X, pd.DataFrame):
        return X
    return pd.DataFrame(check_array(X, dtype=None, ensure_all_finite=False, ensure_min_samples=0))


def _is_categorical(X, index, dtype):
    """Return True if a column holds categories, strings, or objects that are not all numbers.

    Raise ValueError if it holds dates or times.
    """
    _check_not_datetime(dtype, X.columns[index])
    if isinstance(dtype, pd.CategoricalDtype):
        return True
    # String types of pandas or Arrow.
    if pd.api.types.is_extension_array_dtype(dtype) and pd.api.types.is_string_dtype(dtype):
        return True
    return dtype.kind == "O" and pd.api.types.infer_dtype(X.iloc[:, index]) not in _NUMERIC_KINDS


def _check_not_datetime(dtype, name):
    """Raise ValueError with a conversion to days if a column has dates or times."""
    if dtype.kind not in "mM":
        return
    frame = f"frame[{name!r}]"
    if dtype.kind == "m":
        advice = f"{frame} = {frame}.dt.days"
    elif getattr(dtype, "tz", None) is None:
        advice = days_conversion_code(name)
    else:
        naive = f"{frame}.dt.tz_localize(None)"
        advice = f"{frame} = ({naive} - pandas.Timestamp('2000-01-01')).dt.days"
    raise ValueError(f"column {name!r} holds dates or times; make days of it: {advice}")


def _parse_floats(column):
    """Return a column as float64, with NaN for missing values of any kind."""
    _check_not_datetime(column.dtype, column.name)
    values = column.to_numpy(dtype=object, na_value=np.nan)
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        text = next(value for value in values if not _is_number(value))
        raise ValueError(f"column {column.name!r} holds {text!r}, which is no number") from None


def _is_number(value):
    """Return True if Python converts a value to a float."""
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _hashable_values(column):
    """Return the values of a column as objects; raise ValueError if they are unhashable."""
    values = column.astype(object)
    try:
        set(values)
    except TypeError as error:
        raise ValueError(f"column {column.name!r} holds no categories: {error}") from None
    return values


def _check_text(column, name, takes_categories=True):
    """Raise ValueError for dates and numbers as text, and warn about identifiers.

    Parameters
    ----------
    column : pandas.Series
        Column of strings or objects; a column of categories is not checked.
    name : object
        Name of the column in messages.
    takes_categories : bool, default=True
        False: the estimator takes numbers only, so that identifiers need no warning.
    """
    # 1) Find the problem, from the distinct texts and their counts.
    if isinstance(column.dtype, pd.CategoricalDtype):
        return
    counts = _hashable_values(column).value_counts()
    texts = [str(text) for text in counts.index]
    # A pair of the kind of problem and an example, or None.
    problem = text_problem(texts, counts.to_numpy(), len(column))
    frame = f"frame[{name!r}]"
    category_conversion_code = f"{frame} = {frame}.astype('category')"
    # 2) Report it, with code that mends it.
    match problem:
        case ("dates", _):
            advice = days_conversion_code(name, texts)
            if isinstance(column.dtype, pd.PeriodDtype):
                start = f"{frame}.dt.to_timestamp()"
                advice = f"{frame} = ({start} - pandas.Timestamp('2000-01-01')).dt.days"
            raise ValueError(
                f"column {name!r} holds dates, which are no categories; make days of it: {advice}"
            )
        case ("mostly_numbers", text):
            raise ValueError(
                f"column {name!r} holds {text!r} among numbers; it becomes a missing value by "
                f"{frame} = pandas.to_numeric({frame}, errors='coerce')"
            )
        case ("numbers" | "commas", text):
            raise ValueError(
                f"column {name!r} holds numbers as text, as {text!r}; make numbers of it, "
                f"such as by {frame} = {_numeric_conversion_code(frame, texts)}, or categories "
                f"by {category_conversion_code}"
            )
        case ("identifiers", text) if takes_categories:
            warnings.warn(
                f"column {name!r} holds {len(texts)} different texts in {len(column)} rows, such "
                f"as {text!r}, and becomes categories; drop it if they are identifiers, or write "
                f"{category_conversion_code}",
                UserWarning,
                stacklevel=2,
            )


def _numeric_conversion_code(frame, texts):
    """Return code that converts a column of text to numbers.

    Commas are decimal commas, unless all of them can be thousands separators.
    """
    kinds = classify_values(texts)
    with_comma = np.array(texts)[kinds.has_comma].tolist()
    if with_comma and all(map(_THOUSANDS_SEPARATED.fullmatch, with_comma)):
        frame += ".replace(',', '', regex=True)"
    elif with_comma:
        frame += ".replace({r'\\.': '', ',': '.'}, regex=True)"
    option = ", errors='coerce'" if kinds.is_other_text.any() else ""
    return f"pandas.to_numeric({frame}{option})"


def _feature_indices(requested, X):
    """Return the sorted indices of features that are given by index, name, or mask."""
    if requested.dtype == bool:
        if len(requested) != X.shape[1]:
            raise ValueError(
                f"categorical_features is a mask of {len(requested)}, and X has "
                f"{X.shape[1]} features"
            )
        return np.flatnonzero(requested).tolist()
    names, numbers = list(X.columns), []
    for feature in requested.tolist():
        is_number = isinstance(feature, Integral) and 0 <= feature < X.shape[1]
        if not is_number and feature not in names:
            raise ValueError(f"categorical_features names {feature!r}, and X has no such feature")
        numbers.append(int(feature) if is_number else names.index(feature))
    return sorted(set(numbers))


def _category_codes(column, categories):
    """Return the position of each value among the known categories; NaN if it is unknown."""
    index = pd.Index(categories)
    if isinstance(column.dtype, pd.CategoricalDtype):
        # Look up the distinct values only. Codes of pandas index them, with -1 for a missing value.
        code_table = np.append(index.get_indexer(column.cat.categories.astype(object)), -1)
        codes = code_table[column.cat.codes]
    else:
        codes = index.get_indexer(_hashable_values(column))
    return np.where(codes < 0, np.nan, codes)


def _column_categories(column, weights):
    """Return the categories of a column, at most the `MAX_CATEGORIES` most frequent ones."""
    # 1) Count the values, which pandas numbers. A missing value has the code -1.
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes, distinct = column.cat.codes.to_numpy(), column.cat.categories.astype(object)
    else:
        codes, distinct = pd.factorize(_hashable_values(column))
        distinct = pd.Index(distinct, dtype=object)
    is_present = codes >= 0
    codes, weights = codes[is_present], None if weights is None else weights[is_present]
    counts = np.bincount(codes, weights, len(distinct))
    present_indices = np.flatnonzero(np.bincount(codes, minlength=len(distinct)))
    # 2) Sort the values that occur, unless the data type has an order.
    if not (isinstance(column.dtype, pd.CategoricalDtype) and column.cat.ordered):
        try:
            present_indices = sorted(present_indices, key=distinct.__getitem__)
        except TypeError:  # categories of several types
            present_indices = sorted(
                present_indices,
                key=lambda index: (str(distinct[index]), type(distinct[index]).__name__),
            )
    # 3) Keep the most frequent ones, in this order.
    present_indices = np.array(present_indices, dtype=np.intp)
    most_frequent = counts[present_indices].argsort(kind="stable")[::-1][:MAX_CATEGORIES]
    return distinct.take(present_indices[np.sort(most_frequent)]).to_numpy()


def convert_to_pandas(X):
    """Return a polars data frame or a pyarrow table as a pandas data frame.

    Unlike the conversion of polars, this one does not need pyarrow.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)

    Returns
    -------
    array-like of shape (n_samples, n_features)
        X itself if it is a pandas data frame or not a data frame known to narwhals. The categories
        of an enumeration keep their order; other categories are sorted, as their order in polars
        depends on earlier data of the process.

    Examples
    --------
    >>> convert_to_pandas([[1.0, 2.0]])
    [[1.0, 2.0]]
    """
    if isinstance(X, pd.DataFrame):
        return X
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return X
    return pd.DataFrame({name: _pandas_column(frame[name]) for name in frame.columns})


def _pandas_column(series):
    """Return a column of a data frame as a pandas object or an array."""
    if isinstance(series.dtype, nw.Enum):
        return pd.Categorical(series.to_list(), list(series.dtype.categories))
    if isinstance(series.dtype, nw.Categorical):
        return pd.Categorical(series.to_list())
    if isinstance(series.dtype, nw.String) or series.dtype.is_nested():
        return pd.Series(series.to_list(), dtype=object)
    return series.to_numpy()
