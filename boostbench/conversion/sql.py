"""Conversion of sums of stumps, with or without tables of pairs, to SQL.

The query is built from texts: the functions of this module return SQL expressions.
"""

import numpy as np
from sklearn.base import is_regressor

from boostbench.algorithms.explanation.shape_functions import ShapeFunctions
from boostbench.conversion.stump_tests import extract_stump_sum, value_cells

# Number of terms that are added without parentheses. A sum of all terms would exceed the largest
# depth of an expression, 1000 in SQLite.
_MAX_ADDENDS = 100


def to_sql(model, table, keep=()):
    """Convert a fitted sum of stumps to an SQL query that predicts for the rows of a table.

    A score is a sum of CASE expressions, one for each feature and each pair of features. The query
    uses standard SQL and the function EXP, and runs in SQLite (3.35 or later, with mathematical
    functions) and DuckDB among others.

    Parameters
    ----------
    model : BoostingClassifier, BoostingRegressor or BaggedBooster
        Fitted sum of stumps, with or without tables of pairs of features.
    table : str
        Name of a table whose columns have the names of the features, or ``x0``, ``x1``, ... without
        names. Points separate a schema from a table. Numeric features may be numbers or booleans.
        NULL is a missing value, and DuckDB's NaN is not. Values that are no category of the
        training data count as missing.
    keep : iterable of str, default=()
        Names of columns to copy to the result, such as the key of the rows.

    Returns
    -------
    str
        A SELECT statement, with a row for each row of the table. The columns after `keep` are

        - two classes: ``score``, ``probability`` (of the second class) and ``label``;
        - more classes: ``score_<class>`` and ``probability_<class>`` of each class, and ``label``;
        - regressors: ``prediction``.

        Scores equal `decision_function` up to rounding errors, and labels equal `predict`.

    Raises
    ------
    ValueError
        If the model is not a fitted sum of stumps, the labels or the categories are neither texts
        nor numbers, or `keep` contains the name of an output.

    Examples
    --------
    >>> import numpy as np
    >>> import boostbench as bb
    >>> model = bb.LsBoostRegressor(n_iterations=1).fit(np.array([[1.0], [2.0]]), [10.0, 20.0])
    >>> print(to_sql(model, "houses"))
    SELECT "score" AS "prediction"
    FROM (
      SELECT (
          15e0
        + CASE WHEN "x0" IS NULL THEN -5e0 WHEN "x0" <= 1.5e0 THEN -5e0 ELSE 5e0 END
      ) AS "score"
      FROM (
        SELECT CAST("t"."x0" AS DOUBLE PRECISION) AS "x0"
        FROM "houses" AS "t"
      ) AS "features"
    ) AS "scores"
    """
    # The innermost selection names the columns "kept_0", ... and "x0", ...; the middle one computes
    # the scores; the outer one computes the results, and gives kept columns their own names again.
    # 1) Name the scores and the results, and check the names of the columns to copy.
    _, inverse_temperature, slack = extract_stump_sum(model)
    shapes = ShapeFunctions(model)
    names = ["score"] if len(shapes.outputs) == 1 else [f"score_{name}" for name in shapes.outputs]
    results = _result_expressions(model, names, inverse_temperature, slack)
    keep = list(keep)
    for name in keep:
        if name in [*names, *results]:
            raise ValueError(f"keep contains {name!r}, which is the name of an output")
    # 2) Select the columns of the features in use as "x0", "x1", .... A cast lets booleans be
    # compared with thresholds.
    used_features = {term.feature for term in shapes.terms}
    used_features |= {axis.feature for pair in shapes.pairs for axis in pair.axes}
    columns = [f'"t".{_quote_name(name)} AS "kept_{index}"' for index, name in enumerate(keep)]
    for feature in sorted(used_features):
        column = f'"t".{_quote_name(str(shapes.feature_names[feature]))}'
        if feature not in getattr(model, "categories_", {}):
            column = f"CAST({column} AS DOUBLE PRECISION)"
        columns.append(f'{column} AS "x{feature}"')
    # 3) Compute the scores.
    key_columns = [f'"kept_{index}"' for index in range(len(keep))]
    scores = [
        f"(\n      {_add(_addends(model, shapes, index))}\n  ) AS {_quote_name(name)}"
        for index, name in enumerate(names)
    ]
    # 4) Compute the results from the scores, and nest the three selections.
    final = [f"{sql} AS {_quote_name(name)}" for sql, name in zip(key_columns, keep, strict=True)]
    final += [f"{sql} AS {_quote_name(name)}" for name, sql in results.items()]
    source = ".".join(map(_quote_name, table.split(".")))
    return (
        f"SELECT {_join_lines(final, 2)}\n"
        f"FROM (\n  SELECT {_join_lines([*key_columns, *scores], 4)}\n"
        f'  FROM (\n    SELECT {_join_lines(columns, 6) or "NULL"}\n    FROM {source} AS "t"\n'
        '  ) AS "features"\n) AS "scores"'
    )


def _join_lines(expressions, indentation):
    """Return expressions with commas between them, each on a line with `indentation` spaces."""
    return (",\n" + " " * indentation).join(expressions)


def _result_expressions(model, names, inverse_temperature, slack):
    """Return the results as expressions of the scores, by their names.

    Parameters
    ----------
    model : estimator
    names : list of str
        Names of the scores.
    inverse_temperature : float
        Factor of the scores in the probabilities.
    slack : float
        Difference of scores up to which they count as equal.

    Returns
    -------
    dict of str to str
    """
    scores = list(map(_quote_name, names))
    if is_regressor(model):
        return {"prediction": f"EXP({scores[0]})" if model.link_ == "log" else scores[0]}
    labels = [_literal(label) for label in np.asarray(model.classes_).tolist()]
    beta = _literal(float(inverse_temperature))
    if len(scores) == 1:
        [score] = scores
        is_second = f"{score} > {_literal(float(slack))}"
        return {
            "score": score,
            "probability": f"1e0 / (1e0 + EXP(-{beta} * {score}))",
            "label": f"CASE WHEN {is_second} THEN {labels[1]} ELSE {labels[0]} END",
        }
    results = dict(zip(names, scores, strict=True))
    # The probability of class r is 1 / sum_s exp(beta (F_s - F_r)).
    for label, score in zip(model.classes_, scores, strict=True):
        inverse_probability = _add([f"EXP({beta} * ({other} - {score}))" for other in scores])
        results[f"probability_{label}"] = f"1e0 / ({inverse_probability})"
    # The first class whose score is the largest, up to rounding errors, is predicted.
    whens = [
        f"WHEN {_is_largest(score, scores, slack)} THEN {label}"
        for label, score in zip(labels[:-1], scores[:-1], strict=True)
    ]
    return results | {"label": f"CASE {' '.join(whens)} ELSE {labels[-1]} END"}


def _is_largest(score, scores, slack):
    """Return the condition that no score exceeds a score by more than `slack`."""
    return " AND ".join(
        f"{score} >= {other} - {_literal(float(slack))}" for other in scores if other != score
    )


def _addends(model, shapes, index):
    """Return the addends of a score: the intercept, the terms and the tables of pairs.

    Parameters
    ----------
    model : estimator
    shapes : boostbench.algorithms.explanation.shape_functions.ShapeFunctions
        Terms of the features, and pairs.
    index : int
        Index of the score.

    Returns
    -------
    list of str
    """
    addends = [_literal(float(shapes.intercept[index]))]
    for term in shapes.terms:
        *values, missing = map(_literal, term.table[:, index].tolist())
        is_number = term.categories is None
        keys = term.thresholds if is_number else term.categories
        addends.append(_case(f'"x{term.feature}"', keys, values, missing, is_number=is_number))
    for pair in shapes.pairs:
        row_axis, column_axis = pair.axes
        rows = [
            _axis_case(model, column_axis, [*map(_literal, row[:, index].tolist())])
            for row in pair.table
        ]
        addends.append(_axis_case(model, row_axis, rows))
    return addends


def _axis_case(model, axis, expressions):
    """Return a CASE expression that selects one of several expressions, by the cell of a sample.

    Parameters
    ----------
    model : estimator
    axis : boostbench.core.learners.feature_interactions.Axis
        Cells of a feature in a pair.
    expressions : list of str
        Expression for each cell: a contribution, or the CASE expression of the other feature.

    Returns
    -------
    str
    """
    cells_of_categories, missing_cell = value_cells(model, axis)
    missing, column = expressions[missing_cell], f'"x{axis.feature}"'
    if cells_of_categories is None:
        values = expressions[: len(axis.thresholds) + 1]
        return _case(column, axis.thresholds, values, missing, is_number=True)
    values = [expressions[cell] for cell in cells_of_categories]
    return _case(column, model.categories_[axis.feature], values, missing, is_number=False)


def _case(column, keys, values, missing, is_number):
    """Return a CASE expression of one column.

    Parameters
    ----------
    column : str
    keys : iterable
        Ascending thresholds of a number, or categories.
    values : list of str
        Expressions up to each threshold and above the last one, or of each category.
    missing : str
        Expression for NULL and for unknown categories.
    is_number : bool
        True for thresholds.

    Returns
    -------
    str
    """
    if is_number:
        whens = [f"WHEN {column} IS NULL THEN {missing}"]
        whens += [
            f"WHEN {column} <= {_literal(float(key))} THEN {value}"
            for key, value in zip(keys, values[:-1], strict=True)
        ]
        return f"CASE {' '.join(whens)} ELSE {values[-1]} END"
    whens = [f"WHEN {_literal(key)} THEN {value}" for key, value in zip(keys, values, strict=True)]
    return f"CASE {column} {' '.join(whens)} ELSE {missing} END"


def _add(addends):
    """Return the sum of expressions, with parentheses that bound its depth.

    Many addends are summed in groups, and the groups are addends again.
    """
    while len(addends) > _MAX_ADDENDS:
        starts = range(0, len(addends), _MAX_ADDENDS)
        addends = [f"({_add(addends[start : start + _MAX_ADDENDS])})" for start in starts]
    return "\n    + ".join(addends)


def _literal(value):
    """Return a text, a number or a boolean as a literal of SQL."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        # An exponent makes a number double precision; without it, DuckDB reads a decimal.
        text = repr(value).removesuffix(".0")
        return text if "e" in text else f"{text}e0"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    raise ValueError(
        f"SQL takes texts, numbers and booleans as labels and categories, and {value!r} is a "
        f"{type(value).__name__}"
    )


def _quote_name(name):
    """Return an identifier in double quotes."""
    return '"' + name.replace('"', '""') + '"'
