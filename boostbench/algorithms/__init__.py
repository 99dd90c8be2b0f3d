"""Boosting algorithms and their baselines as scikit-learn estimators, a file per family.

The framework of all boosters is in `boostbench.algorithms.base`. A module is imported when one of
its names is first used, so that a command imports only the algorithms that it needs.
"""

from typing import TYPE_CHECKING

from boostbench.util.lazy_imports import lazy_attributes

# Editors and type checkers read these imports, which `__getattr__` makes at run time.
if TYPE_CHECKING:
    from boostbench.algorithms.adaboost import (
        AdaBoost,
        AdaBoostMH,
        PerceptronAdaBoost,
        ProjectedAdaBoostMH,
    )
    from boostbench.algorithms.bagging.bagged_booster import BaggedBooster
    from boostbench.algorithms.bagging.bagged_ls_boost import BaggedLsBoostRegressor
    from boostbench.algorithms.bagging.bagged_mcboost import BaggedMCBoost
    from boostbench.algorithms.bagging.bagged_quantiles import BaggedQuantileRegressor
    from boostbench.algorithms.cgens import CGENS, CGENSSLS
    from boostbench.algorithms.gradboost import GradBoost
    from boostbench.algorithms.hashing.hashers import BRE, ITQ, KSH, LSH, SupervisedITQ
    from boostbench.algorithms.hashing.linear_projections import LPP, NPE
    from boostbench.algorithms.kernel_svc import (
        FourierFeaturesSVC,
        PerceptronKernelSVC,
        StumpKernelSVC,
    )
    from boostbench.algorithms.ladder import LADDER, CodewordBoosting, CodewordMCBoost
    from boostbench.algorithms.lpboost import ERLPBoost, LPBoost, NMBoost
    from boostbench.algorithms.mcboost import MCBoost
    from boostbench.algorithms.multiboost import MultiBoost
    from boostbench.algorithms.optimal_coefficients import final_solve
    from boostbench.algorithms.output_codes import AdaBoostECC, AdaBoostMO, AdaBoostSIP
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
    "BaggedQuantileRegressor",
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

#: Module of each name, in this package.
_MODULES = {
    "BRE": "hashing.hashers",
    "CGENS": "cgens",
    "CGENSSLS": "cgens",
    "ITQ": "hashing.hashers",
    "KSH": "hashing.hashers",
    "LADDER": "ladder",
    "LPP": "hashing.linear_projections",
    "LSH": "hashing.hashers",
    "NPE": "hashing.linear_projections",
    "SAMME": "samme",
    "AdaBoost": "adaboost",
    "AdaBoostECC": "output_codes",
    "AdaBoostMH": "adaboost",
    "AdaBoostMO": "output_codes",
    "AdaBoostSIP": "output_codes",
    "BaggedBooster": "bagging.bagged_booster",
    "BaggedLsBoostRegressor": "bagging.bagged_ls_boost",
    "BaggedMCBoost": "bagging.bagged_mcboost",
    "BaggedQuantileRegressor": "bagging.bagged_quantiles",
    "CodewordBoosting": "ladder",
    "CodewordMCBoost": "ladder",
    "ERLPBoost": "lpboost",
    "FourierFeaturesSVC": "kernel_svc",
    "GradBoost": "gradboost",
    "LPBoost": "lpboost",
    "LsBoost": "rpboost",
    "LsBoostRegressor": "rpboost",
    "MCBoost": "mcboost",
    "MultiBoost": "multiboost",
    "NMBoost": "lpboost",
    "PerceptronAdaBoost": "adaboost",
    "PerceptronKernelSVC": "kernel_svc",
    "ProjectedAdaBoostMH": "adaboost",
    "RBoostProj": "rboost_proj",
    "RBoostRank": "rboost_rank",
    "RBoostRankTC": "rboost_rank",
    "ReducedMCBoost": "reduced_mcboost",
    "RpBoost": "rpboost",
    "StumpKernelSVC": "kernel_svc",
    "SupervisedITQ": "hashing.hashers",
    "final_solve": "optimal_coefficients",
    "reweight": "reweighting",
}

__getattr__, __dir__ = lazy_attributes(__name__, _MODULES)
