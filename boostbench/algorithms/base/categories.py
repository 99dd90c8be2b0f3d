"""Categories: which features are some, and their values as numbers from 0 on."""

import re
import warnings
from numbers import Integral

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.utils import check_array

from boostbench.algorithms.base.frames import to_pandas
from boostbench.util.dates import days_conversion_code
from boostbench.util.text_columns import classify_words, find_problem

# The rarer ones of a feature are unknown. As many as scikit-learn's HistGradientBoostingClassifier
# takes.
_MOST_CATEGORIES = 255

# A number with commas between thousands.
_WITH_THOUSANDS = re.compile(r"[-+]?\d{1,3}(,\d{3})+(\.\d*)?", re.ASCII)

# What pandas calls columns of objects that are numbers.
_NUMBERS = {"integer", "floating", "mixed-integer-float", "boolean", "decimal", "empty"}


def categories(X, asked="from_dtype", weights=None):
    """Find the categories of training data.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    asked : array-like, "from_dtype" or None, default="from_dtype"
        Features that are categories: their numbers, their names, or a mask; ``"from_dtype"``: the
        columns of a pandas data frame that are categories, strings, or objects of which some are no
        numbers; None: none are.
    weights : ndarray of shape (n_samples,), default=None
        How often each sample counts in frequencies; None: once.

    Returns
    -------
    dict of int to ndarray
        For each of these features its categories, sorted; ordered ones in the order that the data
        type has. Of more than 255 the most frequent ones.

    Raises
    ------
    ValueError
        If there is no such feature, X is sparse, or a column holds dates, numbers as text, words
        among numbers, or values that cannot be counted, such as lists. A column that `asked` names,
        or whose data type is categorical, may hold any of these but the last.

    Warns
    -----
    UserWarning
        If a column of text has a value of its own in most rows, as identifiers do.

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
            _check_text(X.iloc[:, at], X.columns[at])
    else:
        features = _numbered(np.asarray(asked), X)
    return {feature: _known(X.iloc[:, feature], weights) for feature in features}


def are_by_frequency(known):
    """Tell whether some features may have more categories than are known: the most frequent ones.

    Parameters
    ----------
    known : dict of int to ndarray
        As of `categories`.

    Returns
    -------
    bool
    """
    return any(len(of_feature) == _MOST_CATEGORIES for of_feature in known.values())


def check_numbers(X, name):
    """Refuse a data frame with words or dates where an estimator takes numbers.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    name : str
        Of the estimator, for the error.

    Returns
    -------
    array-like of shape (n_samples, n_features)
        With NaN where an object says that a value is missing.

    Raises
    ------
    ValueError
        With the name of the first such column, and what makes numbers of it.
    """
    X = to_pandas(X)
    for at, dtype in enumerate(X.dtypes if isinstance(X, pd.DataFrame) else ()):
        values = dtype.categories.dtype if isinstance(dtype, pd.CategoricalDtype) else dtype
        if _is_categorical(X, at, dtype) and values.kind not in "biuf":
            _check_text(X.iloc[:, at], X.columns[at], takes_categories=False)
            raise ValueError(
                f"column {X.columns[at]!r} holds categories, and {name} takes numbers: make some "
                "of it, for example by scikit-learn's OneHotEncoder in a make_column_transformer"
            )
    return coded(X, {})


def coded(X, known):
    """Put numbers in the place of categories, and of what else a data frame holds.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    known : dict of int to ndarray
        From `categories`.

    Returns
    -------
    array-like of shape (n_samples, n_features)
        NaN where a category is missing or unknown; a data frame, if X is one.

    Raises
    ------
    ValueError
        With the name of the first column that holds no categories, and no numbers either.
    """
    is_frame = isinstance(X, pd.DataFrame)
    if not known and not is_frame:
        return X
    X = _frame(X)
    numbers = {}
    for at, dtype in enumerate(X.dtypes):
        if at in known:
            numbers[at] = _places(X.iloc[:, at], known[at])
        elif isinstance(dtype, pd.CategoricalDtype) or dtype.kind not in "biufc":
            numbers[at] = _as_numbers(X.iloc[:, at])
    X = X.copy(deep=False)
    for at, column in numbers.items():
        X.isetitem(at, column)
    return X if is_frame else X.to_numpy(dtype=np.float64)


def decoded(X, known, names=None):
    """Put the categories back; the reverse of `coded`.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        A sparse one has no categories.
    known : dict of int to ndarray
    names : ndarray of shape (n_features,), default=None

    Returns
    -------
    pandas.DataFrame, ndarray or sparse matrix
        X itself where there are neither categories nor names.
    """
    if not known and names is None:
        return X
    if sparse.issparse(X):
        return pd.DataFrame.sparse.from_spmatrix(X, columns=names)
    X = pd.DataFrame(X, columns=names)
    for feature, of_feature in known.items():
        codes = X.iloc[:, feature].fillna(-1).astype(int)
        X.isetitem(feature, np.append(of_feature.astype(object), None)[codes])
    return X


def without_absent(known, X, *others):
    """Forget the categories that no sample has.

    Parameters
    ----------
    known : dict of int to ndarray
    X : ndarray of shape (n_samples, n_features)
        From `coded`. It is changed in place, as the others are.
    *others : ndarray of shape (n_others, n_features)
        More samples, whose categories do not count.

    Returns
    -------
    dict of int to ndarray
        The categories that samples of X have. All samples hold their new numbers, and NaN for what
        is forgotten.

    Examples
    --------
    >>> X, other = np.array([[0.0], [2.0]]), np.array([[2.0], [1.0]])
    >>> without_absent({0: np.array(["ash", "elm", "oak"])}, X, other)
    {0: array(['ash', 'oak'], dtype='<U3')}
    >>> X.T, other.T
    (array([[0., 1.]]), array([[ 1., nan]]))
    """
    present = {}
    for feature, of_feature in known.items():
        is_there = np.isin(np.arange(len(of_feature)), X[:, feature])
        present[feature] = of_feature[is_there]
        # The last entry is for NaN, which stays what it is.
        anew = np.append(np.where(is_there, is_there.cumsum() - 1.0, np.nan), np.nan)
        for part in (X, *others):
            part[:, feature] = anew[np.nan_to_num(part[:, feature], nan=-1.0).astype(int)]
    return present


def _frame(X):
    if isinstance(X, pd.DataFrame):
        return X
    return pd.DataFrame(check_array(X, dtype=None, ensure_all_finite=False, ensure_min_samples=0))


def _is_categorical(X, at, dtype):
    _check_no_times(dtype, X.columns[at])
    if isinstance(dtype, pd.CategoricalDtype):
        return True
    # Of pandas or of Arrow.
    if pd.api.types.is_extension_array_dtype(dtype) and pd.api.types.is_string_dtype(dtype):
        return True
    return dtype.kind == "O" and pd.api.types.infer_dtype(X.iloc[:, at]) not in _NUMBERS


def _check_no_times(dtype, name):
    """Refuse types of dates and times, and say what makes days of them."""
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


def _as_numbers(column):
    """Read the numbers of a column of another type; what is missing is NaN, whatever says so."""
    _check_no_times(column.dtype, column.name)
    values = column.to_numpy(dtype=object, na_value=np.nan)
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        word = next(value for value in values if not _is_number(value))
        raise ValueError(f"column {column.name!r} holds {word!r}, which is no number") from None


def _is_number(value):
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _objects(column):
    """Give the values of a column as they are; refuse those that cannot be looked up, as lists."""
    values = column.astype(object)
    try:
        set(values)
    except TypeError as error:
        raise ValueError(f"column {column.name!r} holds no categories: {error}") from None
    return values


def _check_text(column, name, takes_categories=True):
    """Refuse dates and numbers that are written as text, and warn of identifiers."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return
    counts = _objects(column).value_counts()
    words = [str(word) for word in counts.index]
    problem = find_problem(words, counts.to_numpy(), len(column))
    frame = f"frame[{name!r}]"
    declared = f"{frame} = {frame}.astype('category')"
    match problem:
        case ("dates", _):
            advice = days_conversion_code(name, words)
            if isinstance(column.dtype, pd.PeriodDtype):
                start = f"{frame}.dt.to_timestamp()"
                advice = f"{frame} = ({start} - pandas.Timestamp('2000-01-01')).dt.days"
            raise ValueError(
                f"column {name!r} holds dates, which are no categories; make days of it: {advice}"
            )
        case ("words", word):
            raise ValueError(
                f"column {name!r} holds {word!r} among numbers; it becomes a missing value by "
                f"{frame} = pandas.to_numeric({frame}, errors='coerce')"
            )
        case ("numbers" | "commas", word):
            raise ValueError(
                f"column {name!r} holds numbers as text, as {word!r}; make numbers of it, "
                f"such as by {frame} = {_to_numbers(frame, words)}, or categories by {declared}"
            )
        case ("identifiers", word) if takes_categories:
            warnings.warn(
                f"column {name!r} holds {len(words)} different texts in {len(column)} rows, such "
                f"as {word!r}, and becomes categories; drop it if they are identifiers, or write "
                f"{declared}",
                UserWarning,
                stacklevel=2,
            )


def _to_numbers(frame, words):
    """Write the code that makes numbers of a column of text.

    Commas are decimal ones, if one of them cannot stand between thousands.
    """
    kinds = classify_words(words)
    with_comma = np.array(words)[kinds.has_comma].tolist()
    if with_comma and all(map(_WITH_THOUSANDS.fullmatch, with_comma)):
        frame += ".replace(',', '', regex=True)"
    elif with_comma:
        frame += ".replace({r'\\.': '', ',': '.'}, regex=True)"
    option = ", errors='coerce'" if kinds.is_word.any() else ""
    return f"pandas.to_numeric({frame}{option})"


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


def _places(column, known):
    """Return the place of each value among the known categories; NaN if it is not there."""
    index = pd.Index(known)
    if isinstance(column.dtype, pd.CategoricalDtype):
        # Only the distinct values are looked up: pandas has codes of them, -1 for a missing one.
        of_codes = np.append(index.get_indexer(column.cat.categories.astype(object)), -1)
        places = of_codes[column.cat.codes]
    else:
        places = index.get_indexer(_objects(column))
    return np.where(places < 0, np.nan, places)


def _known(column, weights):
    """Return the categories of a column: all, or the `_MOST_CATEGORIES` of the largest weight."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes, distinct = column.cat.codes.to_numpy(), column.cat.categories.astype(object)
    else:
        codes, distinct = pd.factorize(_objects(column))
        distinct = pd.Index(distinct, dtype=object)
    codes, weights = codes[codes >= 0], None if weights is None else weights[codes >= 0]
    counts = np.bincount(codes, weights, len(distinct))
    present = np.flatnonzero(np.bincount(codes, minlength=len(distinct)))
    if not (isinstance(column.dtype, pd.CategoricalDtype) and column.cat.ordered):
        try:
            present = sorted(present, key=distinct.__getitem__)
        except TypeError:  # of several types
            present = sorted(
                present, key=lambda place: (str(distinct[place]), type(distinct[place]).__name__)
            )
    present = np.array(present, dtype=np.intp)
    frequent = counts[present].argsort(kind="stable")[::-1][:_MOST_CATEGORIES]
    return distinct.take(present[np.sort(frequent)]).to_numpy()
