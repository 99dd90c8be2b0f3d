"""Framework of the boosting algorithms: the classes that an algorithm derives from."""

from boostbench.algorithms.base.booster import Booster, TabularBooster, WeightedBooster
from boostbench.algorithms.base.estimators import (
    BinaryClassifier,
    BoostingClassifier,
    BoostingRegressor,
    NoEarlyStoppingMixin,
    TotallyCorrective,
)
from boostbench.algorithms.base.master import MIN_EDGE, Master

__all__ = [
    "MIN_EDGE",
    "BinaryClassifier",
    "Booster",
    "BoostingClassifier",
    "BoostingRegressor",
    "Master",
    "NoEarlyStoppingMixin",
    "TabularBooster",
    "TotallyCorrective",
    "WeightedBooster",
]
