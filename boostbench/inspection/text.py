"""The rules of a fitted model as text."""

from itertools import pairwise

import numpy as np

#: Of a model with more stumps than the first number, so many features are written down by default.
_MANY, _FEW = 100, 5


def export_text(estimator, *, n_rules=None, decimals=2, max_terms=None):
    """Write down the stumps of a fitted classifier.

    Parameters
    ----------
    estimator : BoostingClassifier
        Fitted, a sum of stumps.
    n_rules : int, default=None
        As many of the first stumps; None for all of up to 100.
    decimals : int, default=2
        Of what is added to the scores. What is 0 then is left out.
    max_terms : int, default=None
        So many features at most, those of the largest importance, each with what it adds to the
        scores in intervals of its values: all stumps on it together. Neighbours that print alike
        are one interval. None: a line for each stump, or 5 features of a model with more than 100
        stumps, unless `n_rules` is given.

    Returns
    -------
    str
        A line for each stump, in the order in which they were found; or, with `max_terms`, for each
        interval, which does not hold its left end.

    Raises
    ------
    ValueError
        If the estimator is no sum of stumps.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from boostbench.algorithms import AdaBoostMH
    >>> iris = load_iris(as_frame=True)
    >>> X = iris.data.iloc[:, :3]
    >>> model = AdaBoostMH(n_iterations=3).fit(X, iris.target_names[iris.target])
    >>> print(export_text(model, n_rules=2))
    Added to the scores where a test holds, subtracted where it fails:
    petal length (cm) > 2.45: setosa -0.63, versicolor +0.63, virginica +0.63
    petal length (cm) > 4.75: setosa -0.76, versicolor -0.76, virginica +0.76
    ... 1 more
    >>> print(export_text(model, max_terms=1))
    Added to the scores:
    petal length (cm), importance 1.00
      up to 2.45: setosa +1.38, versicolor +0.13, virginica -1.38
      2.45 to 4.75: setosa +0.13, versicolor +1.38, virginica -0.13
      above 4.75: setosa -1.38, versicolor -0.13, virginica +1.38
    """
    if max_terms is not None:
        return _by_feature(estimator.shape_functions(), max_terms, decimals)
    table = estimator.rules()
    intercept = table["round"] == 0
    if n_rules is None and (~intercept).sum() > _MANY:
        return _by_feature(estimator.shape_functions(), _FEW, decimals)
    lines = [
        f"Intercept: {_votes(row, decimals)}" for row in table[intercept].to_dict(orient="records")
    ]
    lines.append("Added to the scores where a test holds, subtracted where it fails:")
    rules = table[~intercept]
    for row in rules.head(n_rules if n_rules is not None else len(rules)).to_dict(orient="records"):
        feature = row["feature"] if isinstance(row["feature"], str) else f"x{row['feature']}"
        test = f"{feature} > {row['threshold']:.6g}"
        # No number is above the threshold of a constant stump.
        lines.append(
            f"{test if np.isfinite(row['threshold']) else 'never'}: {_votes(row, decimals)}"
        )
    left_out = len(rules) - (len(lines) - 1 - int(intercept.sum()))
    if left_out:
        lines.append(f"... {left_out} more")
    return "\n".join(lines)


def _by_feature(shapes, max_terms, decimals):
    importances = shapes.importances
    chosen = [
        feature
        for feature in np.argsort(-importances, kind="stable")[:max_terms]
        if importances[feature] > 0
    ]
    outputs = list(shapes.outputs)
    lines = ["Added to the scores"]
    if np.round(shapes.intercept, decimals).any():
        lines[0] += f", with the intercept {_added(outputs, shapes.intercept, decimals)}"
    lines[0] += ":"
    for feature in chosen:
        lines.append(f"{shapes.feature_names[feature]}, importance {importances[feature]:.2f}")
        thresholds, values = shapes.steps(feature)
        printed = [_added(outputs, value, decimals) for value in values]
        changes = [at for at in range(len(thresholds)) if printed[at] != printed[at + 1]]
        ends = [f"{thresholds[at]:.6g}" for at in changes]
        told = [*(printed[at] for at in changes), printed[-1]]
        names = ["everywhere"]
        if ends:
            names = [f"up to {ends[0]}", *map(" to ".join, pairwise(ends)), f"above {ends[-1]}"]
        lines += [f"  {name}: {what}" for name, what in zip(names, told, strict=True)]
    left_out = int((importances > 0).sum()) - len(chosen)
    if left_out:
        lines.append(f"... {left_out} more features")
    return "\n".join(lines)


def _votes(row, decimals):
    labels, votes = zip(*list(row.items())[3:], strict=True)
    return _added(labels, votes, decimals)


def _added(labels, numbers, decimals):
    votes = {
        label: vote for label, vote in zip(labels, numbers, strict=True) if np.round(vote, decimals)
    }
    return ", ".join(f"{label} {vote:+.{decimals}f}" for label, vote in votes.items()) or "nothing"
