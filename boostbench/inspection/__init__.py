"""Looking into fitted models: displays as scikit-learn has them, a page of HTML, rules as text.

What is drawn comes from the estimators: `feature_importances_`, `shape_functions` and the staged
predictions. Drawing needs matplotlib, the extra ``plots``. The boundary between classes draws
scikit-learn's own `sklearn.inspection.DecisionBoundaryDisplay`.
"""

from boostbench.inspection.html_page import export_html
from boostbench.inspection.importances import ImportanceDisplay
from boostbench.inspection.pairs import PairDisplay
from boostbench.inspection.shapes import ShapeFunctionDisplay
from boostbench.inspection.staged_errors import StagedErrorDisplay
from boostbench.inspection.text_export import export_text

__all__ = [
    "ImportanceDisplay",
    "PairDisplay",
    "ShapeFunctionDisplay",
    "StagedErrorDisplay",
    "export_html",
    "export_text",
]
