"""Boosting algorithms and their baselines as scikit-learn estimators, a file per family.

The framework of all boosters is in `boostbench.algorithms.base`.
"""

from boostbench.algorithms.adaboost import AdaBoost, AdaBoostMH, ProjectedAdaBoostMH
from boostbench.algorithms.bagged_ls_boost import BaggedLsBoostRegressor
from boostbench.algorithms.bagged_mcboost import BaggedMCBoost
from boostbench.algorithms.bagging import BaggedBooster
from boostbench.algorithms.cgens import CGENS, CGENSSLS
from boostbench.algorithms.erlp_boost import ERLPBoost
from boostbench.algorithms.gradboost import GradBoost
from boostbench.algorithms.hashing.kernel_hashing import BRE, KSH
from boostbench.algorithms.hashing.linear_hashing import ITQ, LSH, SupervisedITQ
from boostbench.algorithms.hashing.linear_projections import LPP, NPE
from boostbench.algorithms.kernel_svc import FourierFeaturesSVC, PerceptronKernelSVC, StumpKernelSVC
from boostbench.algorithms.ladder import LADDER, CodewordBoosting, CodewordMCBoost
from boostbench.algorithms.lpboost import LPBoost
from boostbench.algorithms.mcboost import MCBoost
from boostbench.algorithms.multiboost import MultiBoost
from boostbench.algorithms.nm_boost import NMBoost
from boostbench.algorithms.optimal_coefficients import final_solve
from boostbench.algorithms.output_codes import AdaBoostECC, AdaBoostMO, AdaBoostSIP
from boostbench.algorithms.perceptron_adaboost import PerceptronAdaBoost
from boostbench.algorithms.rboost_proj import RBoostProj
from boostbench.algorithms.rboost_rank import RBoostRank, RBoostRankTC
from boostbench.algorithms.reduced_mcboost import ReducedMCBoost
from boostbench.algorithms.reweighting import reweight
from boostbench.algorithms.rpboost import LsBoost, LsBoostRegressor, RpBoost
from boostbench.algorithms.samme import SAMME

__all__ = [
    "BRE",
    "CGENS",
    "CGENSSLS",
    "ITQ",
    "KSH",
    "LADDER",
    "LPP",
    "LSH",
    "NPE",
    "SAMME",
    "AdaBoost",
    "AdaBoostECC",
    "AdaBoostMH",
    "AdaBoostMO",
    "AdaBoostSIP",
    "BaggedBooster",
    "BaggedLsBoostRegressor",
    "BaggedMCBoost",
    "CodewordBoosting",
    "CodewordMCBoost",
    "ERLPBoost",
    "FourierFeaturesSVC",
    "GradBoost",
    "LPBoost",
    "LsBoost",
    "LsBoostRegressor",
    "MCBoost",
    "MultiBoost",
    "NMBoost",
    "PerceptronAdaBoost",
    "PerceptronKernelSVC",
    "ProjectedAdaBoostMH",
    "RBoostProj",
    "RBoostRank",
    "RBoostRankTC",
    "ReducedMCBoost",
    "RpBoost",
    "StumpKernelSVC",
    "SupervisedITQ",
    "final_solve",
    "reweight",
]
