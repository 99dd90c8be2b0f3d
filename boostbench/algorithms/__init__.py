"""Floor 2: the algorithms as scikit-learn estimators, one file per family."""

from boostbench.algorithms.adaboost import AdaBoost, AdaBoostMH
from boostbench.algorithms.rboost import RBoostProj, RBoostRank

__all__ = ["AdaBoost", "AdaBoostMH", "RBoostProj", "RBoostRank"]
