"""The rules of a fitted model as text."""

import numpy as np


def export_text(estimator, *, n_rules=None, decimals=2):
    """Write down the stumps of a fitted classifier.

    Parameters
    ----------
    estimator : BoostingClassifier
        Fitted, a sum of stumps.
    n_rules : int, default=None
        As many of the first stumps; None for all.
    decimals : int, default=2
        Of what is added to the scores. What is 0 then is left out.

    Returns
    -------
    str
        A line for each stump, in the order in which they were found.

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
    """
    table = estimator.rules()
    intercept = table["round"] == 0
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


def _votes(row, decimals):
    votes = {label: vote for label, vote in list(row.items())[3:] if np.round(vote, decimals)}
    return ", ".join(f"{label} {vote:+.{decimals}f}" for label, vote in votes.items()) or "nothing"
