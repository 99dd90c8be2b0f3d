"""Export of fitted sums of stumps to ONNX, treelite and SQL, for prediction without Python.

A sum of stumps is a model whose scores are ``F_0 + sum_t h_t(x) W_t`` with stumps h; bags may add
tables for pairs of features.
"""

import numpy as np

from boostbench.conversion.onnx_graph import add_metadata, booster_to_onnx, split_input_into_columns
from boostbench.conversion.skl2onnx_converters import pipeline_to_onnx, register_with_skl2onnx
from boostbench.conversion.sql import to_sql
from boostbench.conversion.treelite import to_treelite

__all__ = ["register_with_skl2onnx", "to_onnx", "to_sql", "to_treelite"]


def to_onnx(model, dtype=np.float32, *, named_inputs=False):
    """Convert a fitted sum of stumps to an ONNX model.

    The graph consists of standard operators. It compares and adds in double precision. skl2onnx
    converts pipelines, see `register_with_skl2onnx`.

    Parameters
    ----------
    model : BoostingClassifier, BoostingRegressor or Pipeline
        A fitted sum of stumps, with or without tables of pairs of features, or a fitted pipeline
        of numeric features whose last step is one.
    dtype : {numpy.float32, numpy.float64}, default=numpy.float32
        Data type of the features. A feature in single precision may fall on the other side of a
        threshold than the same feature in double precision, which changes the prediction.
    named_inputs : bool, default=False
        True: the model has one input of shape (n_samples, 1) for each feature, with the name of the
        feature, and encodes categories itself. Numbers have the type `dtype`, with NaN for missing
        values; categories that are texts are texts; and categories that are numbers or booleans
        have the type double. Not for pipelines.

    Returns
    -------
    onnx.ModelProto
        The input is ``X`` of shape (n_samples, n_features), unless inputs are named. A category is
        replaced by its position in the model's ``categories_``, and a missing value or an unknown
        category by NaN. The metadata have the key ``boostbench`` with a JSON object: ``features``
        is a list of the ``name`` and the ``categories`` of each feature, and ``missing_text`` a
        text that is no category and may stand for a missing text. Pipelines have no such metadata.

        The outputs of a classifier are ``label``, of type int64 or string; ``probabilities`` of
        shape (n_samples, n_classes), dtype=float64; and ``scores``, dtype=float64, the result of
        `decision_function`. The output of a regressor is ``prediction`` of shape (n_samples,),
        dtype=float64. The outputs of a pipeline are ``label`` and ``probabilities``, or
        ``variable`` of shape (n_samples, 1); their float type is `dtype`.

    Raises
    ------
    ImportError
        If onnx is not installed, or skl2onnx for a pipeline.
    ValueError
        If the model is not a fitted sum of stumps, if the labels are neither 64-bit integers nor
        strings, if `dtype` is not supported, or if inputs cannot have the names of the features.
    """
    if np.dtype(dtype) not in (np.float32, np.float64):
        raise ValueError(f"dtype must be float32 or float64, got {dtype!r}")
    # A pipeline has `steps`, a list of (name, estimator).
    if hasattr(model, "steps") and hasattr(model.steps[-1][1], "stump_sum"):
        if named_inputs:
            raise ValueError(
                "named_inputs is for boosters and bags; skl2onnx.to_onnx(pipeline, frame[:1]) "
                "names the inputs of a pipeline, after register_with_skl2onnx()"
            )
        return pipeline_to_onnx(model, dtype)
    onnx_model = booster_to_onnx(model, np.float64 if named_inputs else dtype)
    if named_inputs:
        split_input_into_columns(onnx_model, model, dtype)
    add_metadata(onnx_model, model)
    return onnx_model
