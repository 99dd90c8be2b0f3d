"""Boosting algorithms and their baselines as scikit-learn estimators, a file per family.

The framework of all boosters is in `boostbench.algorithms.base`. A module is imported when one of
its names is first used, so that a command imports only the algorithms that it needs.
"""

from typing import TYPE_CHECKING

from boostbench.util.process import lazy_attributes

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

#: Names of each module of this package.
_NAMES = {
    "adaboost": ("AdaBoost", "AdaBoostMH", "PerceptronAdaBoost", "ProjectedAdaBoostMH"),
    "bagging.bagged_booster": ("BaggedBooster",),
    "bagging.bagged_ls_boost": ("BaggedLsBoostRegressor",),
    "bagging.bagged_mcboost": ("BaggedMCBoost",),
    "bagging.bagged_quantiles": ("BaggedQuantileRegressor",),
    "cgens": ("CGENS", "CGENSSLS"),
    "gradboost": ("GradBoost",),
    "hashing.hashers": ("BRE", "ITQ", "KSH", "LSH", "SupervisedITQ"),
    "hashing.linear_projections": ("LPP", "NPE"),
    "kernel_svc": ("FourierFeaturesSVC", "PerceptronKernelSVC", "StumpKernelSVC"),
    "ladder": ("CodewordBoosting", "CodewordMCBoost", "LADDER"),
    "lpboost": ("ERLPBoost", "LPBoost", "NMBoost"),
    "mcboost": ("MCBoost",),
    "multiboost": ("MultiBoost",),
    "optimal_coefficients": ("final_solve",),
    "output_codes": ("AdaBoostECC", "AdaBoostMO", "AdaBoostSIP"),
    "rboost_proj": ("RBoostProj",),
    "rboost_rank": ("RBoostRank", "RBoostRankTC"),
    "reduced_mcboost": ("ReducedMCBoost",),
    "reweighting": ("reweight",),
    "rpboost": ("LsBoost", "LsBoostRegressor", "RpBoost"),
    "samme": ("SAMME",),
}

__getattr__, __dir__ = lazy_attributes(
    __name__, {name: module for module, names in _NAMES.items() for name in names}
)
