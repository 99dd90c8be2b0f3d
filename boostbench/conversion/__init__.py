"""Fitted sums of stumps for programs without Python: ONNX and treelite."""

import numpy as np

from boostbench.conversion.onnx_graph import booster_to_onnx
from boostbench.conversion.skl2onnx_converters import pipeline_to_onnx, register_with_skl2onnx
from boostbench.conversion.treelite import to_treelite

__all__ = ["register_with_skl2onnx", "to_onnx", "to_treelite"]


def to_onnx(model, dtype=np.float32):
    """Turn a fitted sum of stumps into a model of ONNX.

    Its graph is of operators that every runtime has. It compares and adds up in double precision.
    Pipelines are converted by skl2onnx, see `register_with_skl2onnx`.

    Parameters
    ----------
    model : BoostingClassifier, BoostingRegressor or Pipeline
        Fitted, a sum of stumps, perhaps with tables of pairs of features; or a pipeline that ends
        in one and takes numbers.
    dtype : {numpy.float32, numpy.float64}, default=numpy.float32
        Of the features that it takes. A feature in single precision may fall on the other side of a
        threshold than the same one in double precision.

    Returns
    -------
    onnx.ModelProto
        It takes ``X`` of shape (n_samples, n_features). In the place of a category is its number in
        the model's ``categories_``, and NaN where a value is missing or a category is unknown. It
        gives ``label``, of type int64 or string; ``probabilities`` of shape (n_samples, n_classes),
        dtype=float64; and ``scores``, dtype=float64, as of `decision_function`. A model of numbers
        gives ``prediction``, dtype=float64, of shape (n_samples,). A pipeline gives what skl2onnx
        calls outputs: ``label`` and ``probabilities``, or ``variable`` of shape (n_samples, 1);
        their float type is `dtype`.

    Raises
    ------
    ImportError
        If onnx is not installed, or skl2onnx for a pipeline.
    ValueError
        If the model is not fitted, or no sum of stumps, or the labels are neither whole numbers of
        64 bits nor strings; or if `dtype` is another.
    """
    if np.dtype(dtype) not in (np.float32, np.float64):
        raise ValueError(f"dtype must be float32 or float64, got {dtype!r}")
    final_step = getattr(model, "steps", [(None, None)])[-1][1]
    is_pipeline = hasattr(final_step, "stump_sum")
    return pipeline_to_onnx(model, dtype) if is_pipeline else booster_to_onnx(model, dtype)
