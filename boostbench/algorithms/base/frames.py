"""Conversion of data frames of other libraries to pandas."""

import narwhals.stable.v2 as nw
import pandas as pd


def to_pandas(X):
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
    >>> to_pandas([[1.0, 2.0]])
    [[1.0, 2.0]]
    """
    if isinstance(X, pd.DataFrame):
        return X
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return X
    return pd.DataFrame({name: _column(frame[name]) for name in frame.columns})


def _column(series):
    """Return a column of a data frame as a pandas object or an array."""
    if isinstance(series.dtype, nw.Enum):
        return pd.Categorical(series.to_list(), list(series.dtype.categories))
    if isinstance(series.dtype, nw.Categorical):
        return pd.Categorical(series.to_list())
    if isinstance(series.dtype, nw.String) or series.dtype.is_nested():
        return pd.Series(series.to_list(), dtype=object)
    return series.to_numpy()
