"""Categories: which features are some, and their values as numbers from 0 on."""

from numbers import Integral

import numpy as np
import pandas as pd
from scipy import sparse

from boostbench.dates import are_dates, as_days

# The rarer ones of a feature are unknown. As many as scikit-learn's HistGradientBoostingClassifier
# takes.
_MOST_CATEGORIES = 255

# What pandas calls columns of objects that are numbers.
_NUMBERS = {"integer", "floating", "mixed-integer-float", "boolean", "decimal", "empty"}


def categories(X, asked="from_dtype"):
    """Find the categories of training data.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    asked : array-like, "from_dtype" or None, default="from_dtype"
        Features that are categories: their numbers, their names, or a mask; ``"from_dtype"``: the
        columns of a pandas data frame that are categories, strings, or objects of which some are no
        numbers; None: none are.

    Returns
    -------
    dict of int to ndarray
        For each of these features its categories: in the order that the data type has, or sorted.
        Of more than 255 the most frequent ones.

    Raises
    ------
    ValueError
        If there is no such feature, X is sparse, or a column holds dates, or words among numbers.

    Examples
    --------
    >>> X = pd.DataFrame({"size": [1.5, 2.0, 2.5], "colour": ["red", None, "blue"]})
    >>> {feature: known.tolist() for feature, known in categories(X).items()}
    {1: ['blue', 'red']}
    """
    if asked is None or (isinstance(asked, str) and not isinstance(X, pd.DataFrame)):
        return {}
    if sparse.issparse(X):
        raise ValueError("categorical_features takes a dense X, and this one is sparse")
    X = _frame(X)
    if isinstance(asked, str):
        features = [at for at, dtype in enumerate(X.dtypes) if _is_categorical(X, at, dtype)]
        for at in features:
            _check_words(X.iloc[:, at], X.columns[at])
    else:
        features = _numbered(np.asarray(asked), X)
    return {feature: _known(X.iloc[:, feature]) for feature in features}


def check_numbers(X, name):
    """Refuse a data frame with words or dates where an estimator takes numbers.

    Raises
    ------
    ValueError
        With the name of the first such column, and what makes numbers of it.
    """
    for at, dtype in enumerate(X.dtypes if isinstance(X, pd.DataFrame) else ()):
        values = dtype.categories.dtype if isinstance(dtype, pd.CategoricalDtype) else dtype
        if _is_categorical(X, at, dtype) and values.kind not in "biuf":
            raise ValueError(
                f"column {X.columns[at]!r} holds categories, and {name} takes numbers: make some "
                "of it, for example by scikit-learn's OneHotEncoder in a make_column_transformer"
            )


def coded(X, known):
    """Put numbers in the place of categories.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    known : dict of int to ndarray
        From `categories`.

    Returns
    -------
    array-like of shape (n_samples, n_features)
        NaN where a category is missing or unknown; a data frame, if X is one.
    """
    if not known:
        return X
    is_frame = isinstance(X, pd.DataFrame)
    X = _frame(X).copy(deep=False)
    for feature, of_feature in known.items():
        if feature < X.shape[1]:
            codes = pd.Index(of_feature).get_indexer(X.iloc[:, feature].astype(object))
            X.isetitem(feature, np.where(codes < 0, np.nan, codes))
    return X if is_frame else X.to_numpy(dtype=np.float64)


def decoded(X, known, names=None):
    """Put the categories back; the reverse of `coded`.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    known : dict of int to ndarray
    names : ndarray of shape (n_features,), default=None

    Returns
    -------
    pandas.DataFrame or ndarray
        X itself where there are neither categories nor names.
    """
    if not known and names is None:
        return X
    X = pd.DataFrame(X, columns=names)
    for feature, of_feature in known.items():
        codes = X.iloc[:, feature].fillna(-1).astype(int)
        X.isetitem(feature, np.append(of_feature.astype(object), None)[codes])
    return X


def _frame(X):
    return X if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X))


def _is_categorical(X, at, dtype):
    if dtype.kind in "mM":
        raise ValueError(
            f"column {X.columns[at]!r} holds dates or times; make days of it: "
            f"{as_days(X.columns[at])}"
        )
    if isinstance(dtype, (pd.CategoricalDtype, pd.StringDtype)):
        return True
    return dtype.kind == "O" and pd.api.types.infer_dtype(X.iloc[:, at]) not in _NUMBERS


def _check_words(column, name):
    """Refuse texts that are dates, and a few words among numbers, as no categories are meant."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return
    counts = column.astype(object).value_counts()
    if are_dates([str(word) for word in counts.index]):
        raise ValueError(
            f"column {name!r} holds dates, which are no categories; make days of it: "
            f"{as_days(name)}"
        )
    is_number = pd.to_numeric(counts.index.astype(str), errors="coerce").notna()
    if 0 < counts[~is_number].sum() < counts[is_number].sum():
        column = f"frame[{name!r}]"
        raise ValueError(
            f"column {name!r} holds {counts.index[~is_number][0]!r} among numbers; it becomes a "
            f"missing value by {column} = pandas.to_numeric({column}, errors='coerce')"
        )


def _numbered(asked, X):
    """Numbers of features that are asked for by number, name, or mask."""
    if asked.dtype == bool:
        if len(asked) != X.shape[1]:
            raise ValueError(
                f"categorical_features is a mask of {len(asked)}, and X has {X.shape[1]} features"
            )
        return np.flatnonzero(asked).tolist()
    names, numbers = list(X.columns), []
    for feature in asked.tolist():
        is_number = isinstance(feature, Integral) and 0 <= feature < X.shape[1]
        if not is_number and feature not in names:
            raise ValueError(f"categorical_features names {feature!r}, and X has no such feature")
        numbers.append(int(feature) if is_number else names.index(feature))
    return sorted(set(numbers))


def _known(column):
    counts = column.astype(object).value_counts()
    if isinstance(column.dtype, pd.CategoricalDtype):
        ordered = [value for value in column.cat.categories if value in counts.index]
    else:
        try:
            ordered = sorted(counts.index)
        except TypeError:  # of several types
            ordered = sorted(counts.index, key=str)
    counts = counts.reindex(pd.Index(ordered, dtype=object))
    frequent = counts.to_numpy().argsort(kind="stable")[::-1][:_MOST_CATEGORIES]
    return counts.index.to_numpy()[np.sort(frequent)]
