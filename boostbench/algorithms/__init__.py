"""Floor 2: the algorithms as scikit-learn estimators, one file per family."""

from boostbench.algorithms.adaboost import AdaBoost, AdaBoostMH
from boostbench.algorithms.adaboost_ecc import AdaBoostECC
from boostbench.algorithms.adaboost_mo import AdaBoostMO
from boostbench.algorithms.adaboost_sip import AdaBoostSIP
from boostbench.algorithms.gradboost import GradBoost
from boostbench.algorithms.mcboost import MCBoost
from boostbench.algorithms.multiboost import MultiBoost
from boostbench.algorithms.projected import ProjectedAdaBoostMH
from boostbench.algorithms.rboost_proj import RBoostProj
from boostbench.algorithms.rboost_rank import RBoostRank
from boostbench.algorithms.rboost_rank_tc import RBoostRankTC
from boostbench.algorithms.samme import SAMME

__all__ = [
    "SAMME",
    "AdaBoost",
    "AdaBoostECC",
    "AdaBoostMH",
    "AdaBoostMO",
    "AdaBoostSIP",
    "GradBoost",
    "MCBoost",
    "MultiBoost",
    "ProjectedAdaBoostMH",
    "RBoostProj",
    "RBoostRank",
    "RBoostRankTC",
]
