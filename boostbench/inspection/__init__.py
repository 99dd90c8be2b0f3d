"""Inspection of fitted models: displays in scikit-learn's style, HTML page, text; edited models.

The data of the displays come from the estimators: `feature_importances_`, `shape_functions` and the
staged predictions. Displays need matplotlib, the extra ``plots``. For decision boundaries, use
`sklearn.inspection.DecisionBoundaryDisplay`.
"""

from boostbench.inspection.displays import ImportanceDisplay, StagedErrorDisplay
from boostbench.inspection.editing import (
    EditedClassifier,
    EditedRegressor,
    monotonize,
    with_shape,
)
from boostbench.inspection.html_page import export_html
from boostbench.inspection.shape_displays import PairDisplay, ShapeFunctionDisplay
from boostbench.inspection.text_export import export_text

__all__ = [
    "EditedClassifier",
    "EditedRegressor",
    "ImportanceDisplay",
    "PairDisplay",
    "ShapeFunctionDisplay",
    "StagedErrorDisplay",
    "export_html",
    "export_text",
    "monotonize",
    "with_shape",
]
