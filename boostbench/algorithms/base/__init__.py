"""Framework of the boosting algorithms: the classes that an algorithm derives from."""

from boostbench.algorithms.base.booster import Booster, Tabular, Weighted
from boostbench.algorithms.base.estimators import (
    BinaryClassifier,
    BoostingClassifier,
    BoostingRegressor,
    WithoutEarlyStopping,
)
from boostbench.algorithms.base.master import NO_EDGE, Master
from boostbench.algorithms.base.totally_corrective import TotallyCorrective

__all__ = [
    "NO_EDGE",
    "BinaryClassifier",
    "Booster",
    "BoostingClassifier",
    "BoostingRegressor",
    "Master",
    "Tabular",
    "TotallyCorrective",
    "Weighted",
    "WithoutEarlyStopping",
]
