"""Fitted sums of stumps for programs without Python: ONNX and treelite."""

from boostbench.conversion.forest import to_treelite
from boostbench.conversion.graph import to_onnx

__all__ = ["to_onnx", "to_treelite"]
