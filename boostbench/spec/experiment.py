"""Specification of an experiment, and the config of a run that contains it.

`boostbench.config.compose` makes an `ExperimentConfig` from YAML files and the command line. Its
`spec`, an `ExperimentSpec`, holds all that affects the numbers.
"""

import json
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from boostbench.spec import measures
from boostbench.spec.algorithm import AlgorithmSpec
from boostbench.spec.class_facts import CodeVersion, find_code_version
from boostbench.spec.data import FALLBACK_IMPUTATION, KEEP_MISSING, DataSpec
from boostbench.spec.keys import canonical_json, digest, fill_defaults, remove_defaults
from boostbench.spec.protocol import ProtocolSpec
from boostbench.spec.trusted_imports import class_names
from boostbench.util import validation
from boostbench.util.errors import UserError


class SupportedValues(NamedTuple):
    """Values of features that an estimator gets unchanged; otherwise they become numbers.

    Attributes
    ----------
    missing : bool
        True if the estimator gets missing values.
    categories : bool
        True if the estimator gets categories.
    """

    missing: bool
    categories: bool


class ExperimentSpec(msgspec.Struct, frozen=True, dict=True):
    """Specification of an experiment.

    Attributes
    ----------
    algorithm : AlgorithmSpec
        Estimator and its parameters; without a grid if the protocol chooses no parameters.
    data : DataSpec
        Data set.
    protocol : ProtocolSpec
        Evaluation, restricted to the settings that the measure uses.
    measure : str, default="prediction"
        Name of the measure, see `boostbench.spec.measures`.
    seed : int, default=0
        Seed of all random numbers, together with the numbers of the split and the fold.
    """

    algorithm: AlgorithmSpec
    data: DataSpec
    protocol: ProtocolSpec
    measure: str = "prediction"
    seed: int = 0

    def normalized(self) -> "ExperimentSpec":
        """Return the specification without settings that have no effect, after all checks.

        Raises
        ------
        UserError
            If there is no such class, parameter or measure, or a value is not possible.
        """
        self.algorithm.check()
        # The measure refuses settings that it cannot follow, and drops the settings without effect.
        protocol = measures.find(self.measure).arrange(self.protocol)
        if type(self.seed) is not int or self.seed < 0:
            raise UserError(f"seed is {self.seed!r}; it must be a whole number, 0 or more")
        # The grid has no effect without cross-validation.
        algorithm = self.algorithm
        if protocol.tune == "none":
            algorithm = msgspec.structs.replace(algorithm, grid={})
        return msgspec.structs.replace(self, algorithm=algorithm, protocol=protocol)

    @cached_property
    def supported_values(self) -> SupportedValues:
        """Missing values and categories, if the estimator supports them.

        The estimator's tags state both. An estimator with a parameter `categorical_features` gets
        categories if this parameter is a text such as ``"from_dtype"``. Neither is supported with
        principal components, with samples of unit length, and by measures that need numbers.
        """
        from sklearn.base import BaseEstimator  # slow to import
        from sklearn.utils import get_tags

        estimator = self.algorithm.estimator
        needs_numbers = self.protocol.pca is not None or self.protocol.scale == "unit"
        takes_tables = measures.find(self.measure).takes_tables
        if needs_numbers or not (takes_tables and isinstance(estimator, BaseEstimator)):
            return SupportedValues(missing=False, categories=False)
        tags = get_tags(estimator).input_tags
        takes_categories = tags.categorical
        if hasattr(estimator, "categorical_features"):
            takes_categories = isinstance(estimator.categorical_features, str)
        return SupportedValues(tags.allow_nan, takes_categories)

    def effective_imputation(self, setting: str | None) -> str | None:
        """Return the imputation of missing values for this algorithm.

        Parameters
        ----------
        setting : str or None
            Effective ``data.missing``. None: the data have no missing values, or must have none.

        Returns
        -------
        str or None
            `setting`, but `FALLBACK_IMPUTATION` instead of `KEEP_MISSING` if the estimator takes no
            missing values.
        """
        if setting == KEEP_MISSING and not self.supported_values.missing:
            return FALLBACK_IMPUTATION
        return setting

    @cached_property
    def settings(self) -> dict[str, Any]:
        """Settings that affect the results on any data, with defaults, as JSON types.

        These are ``algo``, ``grid``, ``protocol``, ``seed`` and the settings of the measure. A
        parameter in the grid is left out of ``algo``; settings of cross-validation are left out if
        there is a single point.

        Raises
        ------
        UserError
            If a parameter has no JSON form; the message names one that is nan or infinite.
        """
        # 1) Collect the parameters of the estimator, with defaults, and the points to choose from.
        measure, algorithm = measures.find(self.measure), self.algorithm
        validation.check_finite(algorithm.params, "algo")
        validation.check_finite(algorithm.grid, "algo.grid")
        algo = fill_defaults({"_target_": algorithm.target, **algorithm.params})
        # 2) Leave out the settings of cross-validation where nothing is chosen.
        protocol = self.protocol.to_config()
        if len(algorithm.points()) == 1:
            del protocol["tune"], protocol["n_folds"]
            # A finished split is the same under any limit. With several points, the limit decides
            # which trials fail, and so which point is chosen.
            protocol.pop("time_limit", None)
        # 3) Add the settings of the measure. JSON turns tuples into lists, as a record has them.
        settings = {
            "algo": {name: value for name, value in algo.items() if name not in algorithm.grid},
            "grid": algorithm.grid,
            "protocol": protocol,
            "seed": self.seed,
            **measure.settings,
        }
        if measure.judged_by:
            settings["judged_by"] = measure.judged_by
        return json.loads(canonical_json(settings))

    @cached_property
    def settings_key(self) -> str:
        """Digest of the settings without defaults, see `boostbench.spec.keys.RecordKeys`."""
        return digest(remove_defaults(self.settings))

    @cached_property
    def code_version(self) -> CodeVersion:
        """Version of the code that makes the numbers of the experiment today."""
        targets = class_names(self.settings["algo"])
        return find_code_version(targets, type(measures.find(self.measure)))


class Profile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Reduction of all experiments, such as ``profile=quick``: ``conf/profile/NAME.yaml``.

    Attributes
    ----------
    name : str
    protocol : dict
        Upper limits of settings of the protocol, by setting.
    algo : dict of str to dict
        Upper limits of numbers, and other values of parameters and of the grid, by the name of the
        algorithm and the parameter; ``all`` stands for every algorithm that has the parameter.
    """

    name: Any
    protocol: dict[str, Any]
    algo: dict[str, dict[str, Any]]


class ParallelSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Parallel execution of a run: the fields of ``conf/parallel/NAME.yaml``.

    Attributes
    ----------
    backend : {"loky", "dask"}
        Processes on this machine, or a Dask cluster.
    n_jobs : int
        Number of processes; -1: one per core.
    scheduler : str, default=None
        Address of Dask's scheduler.
    """

    backend: Any
    n_jobs: Any
    scheduler: Any = None


class ExperimentConfig(msgspec.Struct, frozen=True, dict=True):
    """Resolved config: an experiment, and the settings of the run that it belongs to.

    `measure`, `seed`, `rerun` and `shard` may be any values of a command line: `spec` checks the
    first two, and the run the others.

    Attributes
    ----------
    algorithm : AlgorithmSpec
    data : DataSpec
    protocol : ProtocolSpec
        Protocol with the limits of the profile.
    measure : str
    seed : int
    profile : Profile
    parallel : ParallelSettings
    results : pathlib.Path
        Folder of the records.
    rerun : {"never", "missing", "stale", "all"}
        Splits that are run again.
    shard : str or None
        Part of the fits, such as ``"3/20"``. None: all.
    """

    algorithm: AlgorithmSpec
    data: DataSpec
    protocol: ProtocolSpec
    measure: Any
    seed: Any
    profile: Profile
    parallel: ParallelSettings
    results: Path
    rerun: Any
    shard: Any

    @cached_property
    def spec(self) -> ExperimentSpec:
        """Specification of the experiment, see `ExperimentSpec.normalized`."""
        fields = self.algorithm, self.data, self.protocol, self.measure, self.seed
        return ExperimentSpec(*fields).normalized()


class TableCell(NamedTuple):
    """Cell of a table, which is one experiment: an algorithm (column) on a data set (row).

    Attributes
    ----------
    row, column : str
        Names in the definition of the table.
    config : ExperimentConfig
    is_run : bool, default=True
        False: the column leaves out the row.
    departures : tuple of str, default=()
        Settings by which the cell is another experiment than the defined one, such as
        ``"algo.n_iterations=3"``.
    """

    row: str
    column: str
    config: ExperimentConfig
    is_run: bool = True
    departures: tuple[str, ...] = ()
