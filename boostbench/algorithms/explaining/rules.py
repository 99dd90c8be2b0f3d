"""The stumps of a fitted model, one by one, as a table that can be read."""

import numpy as np
import pandas as pd

# A coefficient that is this part of the largest of its stump is 0, but for rounding.
_ZERO = 1e-12


def rules(model):
    """List the stumps of a fitted model; see `BoostingClassifier.rules`."""
    stumps, coefficients, intercept = model.stump_sum()
    names = getattr(model, "feature_names_in_", None)
    features = stumps.feature if names is None else np.asarray(names)[stumps.feature]
    above = (coefficients.T * stumps.polarity).T.reshape(len(stumps), -1)
    # No rounding errors, and no minus signs before zeros.
    size = np.abs(above).max(axis=1, keepdims=True, initial=0.0)
    above = np.where(np.abs(above) > _ZERO * size, above, 0.0)
    outputs = model.classes_[1:] if coefficients.ndim == 1 else model.classes_
    table = pd.DataFrame(
        {
            "round": np.arange(1, len(stumps) + 1),
            "feature": pd.Series(features, dtype=object),
            "threshold": stumps.threshold,
        }
    ).join(pd.DataFrame(above, columns=outputs))
    if not np.any(intercept):
        return table
    first = pd.DataFrame(np.reshape(intercept, (1, -1)), columns=outputs)
    first.insert(0, "round", 0)
    first.insert(1, "feature", None)
    first.insert(2, "threshold", -np.inf)
    return pd.concat([first, table], ignore_index=True)
