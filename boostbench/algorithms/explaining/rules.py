"""The stumps of a fitted model, one by one, as a table that can be read."""

import numpy as np
import pandas as pd

from boostbench.algorithms.explaining.stump_sums import outputs_of, refuse_pairs

# A coefficient that is this part of the largest of its stump is 0, but for rounding.
_ZERO = 1e-12


def rules(model):
    """List the stumps of a fitted model; see `BoostingClassifier.rules`."""
    refuse_pairs(model)
    stumps, coefficients, intercept = model.stump_sum()
    names = getattr(model, "feature_names_in_", None)
    views = getattr(model, "views_", None)
    tested = stumps.tested if views is None else views.feature[stumps.tested]
    features = tested if names is None else np.asarray(names)[tested]
    outputs = outputs_of(model)
    above = (coefficients.T * stumps.polarity).T.reshape(len(stumps), len(outputs))
    # No rounding errors, and no minus signs before zeros.
    size = np.abs(above).max(axis=1, keepdims=True, initial=0.0)
    above = np.where(np.abs(above) > _ZERO * size, above, 0.0)
    is_plain = views is None or views.is_plain
    thresholds = stumps.threshold
    if not is_plain:
        thresholds = np.where(np.isnan(views.category[stumps.tested]), thresholds, np.nan)
    table = pd.DataFrame(
        {
            "round": np.arange(1, len(stumps) + 1),
            "feature": pd.Series(features, dtype=object),
            "threshold": thresholds,
        }
    )
    if not is_plain:
        table["test"] = _tests(model, stumps, features)
    if np.any(intercept):
        first = pd.DataFrame({"round": [0], "feature": [None], "threshold": [-np.inf]})
        table = pd.concat([first, table], ignore_index=True)
        above = np.concatenate([np.reshape(intercept, (1, -1)), above])
    # Side by side, as a class may have the name of another column.
    return pd.concat([table, pd.DataFrame(above, columns=outputs)], axis=1)


def _tests(model, stumps, names):
    """Say in words what stumps on numbers, categories and missing values test."""
    views, tests = model.views_, []
    is_above = views.above_if_missing(stumps.tested, stumps.threshold)
    for at, view, threshold, name, missing in zip(
        stumps.feature, stumps.tested, stumps.threshold, names, is_above, strict=True
    ):
        feature, category = views.feature[view], views.category[view]
        name = name if isinstance(name, str) else f"x{name}"
        if at < 0:
            known = model.categories_[feature]
            codes = views.category[list(stumps.sets[at])]
            words = ["missing" if np.isinf(code) else str(known[int(code)]) for code in codes]
            tests.append(f"{name} = {', '.join(words[:-1])} or {words[-1]}")
        elif np.isinf(threshold):
            tests.append("never")
        elif np.isinf(category):
            tests.append(f"{name} is missing")
        elif np.isnan(category):
            may_miss = missing and views.has_missing(feature)
            tests.append(f"{name} > {threshold:.6g}{' or missing' if may_miss else ''}")
        else:
            tests.append(f"{name} = {model.categories_[feature][int(category)]}")
    return tests
