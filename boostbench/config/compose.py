"""Composer of configs: from the overrides of one experiment to its resolved config.

A *group*, such as ``algo``, is a folder of ``conf/``, and an *option* a file in it. Groups, values
and overrides are merged as Hydra merges them, for the layout of ``conf/`` alone. Hydra itself takes
a tenth of a second for each experiment, and a table has a hundred.
"""

import functools
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from boostbench.config.overrides import (
    Settings,
    allow_new_parameters,
    check_references,
    quote_override,
    strip_prefix,
)
from boostbench.spec.algorithm import AlgorithmSpec
from boostbench.spec.data import DataSpec
from boostbench.spec.experiment import ExperimentConfig, ParallelSettings, Profile
from boostbench.spec.protocol import ProtocolSpec
from boostbench.util import configs
from boostbench.util.errors import UserError, invalid_folder_error, unknown_name_error
from boostbench.util.files import user_path
from boostbench.util.validation import struct_from_config, struct_from_yaml

# Modules that read data and look up classes import NumPy or scikit-learn. Functions import them
# when they need them, so that an unknown name on a command line is reported at once.


def compose_experiment(
    overrides: Settings,
    user_keys: Collection[str] | None = None,
    folders: Sequence[Path] = (),
) -> ExperimentConfig:
    """Compose one experiment, see `compose_config`."""
    completed = _compose(overrides, user_keys, folders)[1]
    return ExperimentConfig(
        algorithm=AlgorithmSpec.from_config(completed.algo),
        data=DataSpec.from_config(completed.data),
        protocol=struct_from_config(ProtocolSpec, completed.protocol, "protocol"),
        measure=completed.measure,
        seed=completed.seed,
        profile=completed.profile,
        parallel=completed.parallel,
        results=Path(completed.results),
        rerun=completed.rerun,
        shard=completed.shard,
    )


def compose_config(
    overrides: Settings,
    user_keys: Collection[str] | None = None,
    folders: Sequence[Path] = (),
) -> dict[str, Any]:
    """Compose the config of one experiment, as ``--cfg job`` prints it.

    Parameters
    ----------
    overrides : Settings
        Overrides of a command line, and of the definition of a table or a figure.
    user_keys : collection of str, default=None
        Keys of `overrides` that a person gave on a command line. A profile leaves their values as
        they are; its numbers are upper limits on the values of a definition. None: all keys.
    folders : sequence of pathlib.Path, default=()
        Folders of configs that are searched before ``conf/``.

    Returns
    -------
    dict
        Values by the keys ``algo``, ``data``, ``protocol``, ``profile``, ``parallel``, ``seed``,
        ``measure``, ``results``, ``rerun`` and ``shard``. The profile is applied. A class given by
        ``algo._target_=`` does not inherit the parameters and the grid of the algorithm whose
        config it replaces. A file given by ``data.path=`` alone, or an OpenML task, does not
        inherit the name, the expected shape and the sources of the default data set.

    Raises
    ------
    UserError
        If a group has no such option, a key is unknown, or a value is not valid for its key.
    """
    tree, completed = _compose(overrides, user_keys, folders)
    # `_CompletedConfig` completes these keys; the others are as in the tree.
    completed_keys = ("algo", "data", "protocol", "results")
    return tree.values | {key: getattr(completed, key) for key in completed_keys}


def _compose(
    overrides: Settings, user_keys: Collection[str] | None, folders: Sequence[Path]
) -> tuple["ConfigTree", "_CompletedConfig"]:
    """Return the config before and after its completion; see `compose_config`.

    `compose_config` needs both: the parts that are completed, and the other keys as they are in the
    tree.

    Returns
    -------
    tree : ConfigTree
        Config as Hydra composes it.
    completed : _CompletedConfig
        Config without values of a replaced algorithm or of replaced data, with the profile applied.
    """
    overrides = Settings(zip(allow_new_parameters(overrides), overrides.values(), strict=True))
    tree = merge_configs(overrides, tuple(folders))
    override_keys = [*map(strip_prefix, overrides)]
    user_keys = override_keys if user_keys is None else [*map(strip_prefix, user_keys)]
    completed = _CompletedConfig.from_config(tree)
    # 1) Drop the values that belong to a replaced algorithm or to replaced data.
    if "algo._target_" in override_keys:
        option = load_option("algo", _chosen_option("algo", overrides), tuple(folders))
        completed.drop_inherited_algorithm_values(ConfigTree(option), override_keys)
    completed.drop_inherited_data_values(override_keys)
    completed.use_openml_splits(override_keys)
    # 2) Apply the profile, and check the values that it may have changed.
    completed.apply_profile(override_keys, user_keys)
    completed.check()
    return tree, completed


class ConfigTree:
    """Nested values of a config, as YAML gives them, to which overrides are applied.

    Parameters
    ----------
    values : dict
        Values by key. Its nodes may be shared with the cache of `load_option`: methods copy a node
        before they change it.
    """

    def __init__(self, values: dict[str, Any]):
        self.values = values

    def apply(self, key: str, value: Any) -> None:
        """Apply one override in place, as Hydra does.

        Parameters
        ----------
        key : str
            Dotted key. Without a prefix, the value of an existing key changes; ``+`` adds a key,
            ``++`` adds it or changes its value, ``~`` deletes it.
        value : object
            New value. With ``~``, the value that the key must have, or None or "" for any.

        Raises
        ------
        UserError
            If there is no such key, a key to add exists, or the value to delete is another one.
        """
        name = strip_prefix(key)
        is_addition, is_deletion = key.startswith("+"), key.startswith("~")
        # 1) Find the node that holds the value, and copy the nodes on the way.
        *outer, last = name.split(".")
        node = self.values
        for part in outer:
            inner = node.get(part)
            if not isinstance(inner, dict):
                if not is_addition:
                    raise unknown_key_error(name, self.keys())
                inner = {}
            node[part] = dict(inner)
            node = node[part]
        old = node.get(last)
        if last not in node and not is_addition:
            raise unknown_key_error(name, self.keys())
        # 2) Delete, merge or set the value.
        if is_deletion:
            if value not in (None, "", old):
                raise UserError(f"cannot delete {name}={value}: it is {old}")
            del node[last]
        elif isinstance(value, dict) and isinstance(old, dict):
            for inner_key, inner in value.items():
                self.apply(f"{key}.{inner_key}", inner)
        # A single `+` adds, and must not change a number or a text that is there.
        elif key == f"+{name}" and old is not None and not isinstance(value, dict | list):
            raise UserError(f"{key} is there already, as {old}; {name}=... changes it")
        else:
            node[last] = value

    def keys(self) -> list[str]:
        """Return the dotted key of every node: ``algo``, ``algo.grid``, ``algo.grid.nu``."""
        return list(_dotted_keys(self.values))

    def resolve_references(self) -> None:
        """Replace references such as ``${seed}`` by the values that they refer to.

        Raises
        ------
        UserError
            If a reference calls a resolver, or its value does not exist.
        """
        # Most configs hold no reference and are spared the conversion by OmegaConf.
        if "${" not in repr(self.values):
            return
        check_references(self.values, "")
        try:
            nodes = OmegaConf.create(self.values)
            self.values = OmegaConf.to_container(nodes, resolve=True, throw_on_missing=True)
        except OmegaConfBaseException as error:
            # OmegaConf's message has lines with inner names below the first ones.
            lines = str(error).splitlines()
            inner_names = ("full_key:", "object_type=", "reference_type=")
            texts = [line.strip() for line in lines if not line.strip().startswith(inner_names)]
            raise UserError("; ".join(text for text in texts if text)) from error


def _dotted_keys(value: object, prefix: str = "") -> Iterator[str]:
    """Yield the dotted keys below a value, see `ConfigTree.keys`."""
    for key, inner in value.items() if isinstance(value, dict) else ():
        yield f"{prefix}{key}"
        yield from _dotted_keys(inner, f"{prefix}{key}.")


def unknown_key_error(key: str, valid_keys: Iterable[str]) -> UserError:
    """Return the error for a key that the config does not have."""
    return UserError(
        f"{unknown_name_error('key', key, valid_keys, is_listed=False)} (+{key}=... would add it)"
    )


def merge_configs(overrides: Settings, folders: tuple[Path, ...] = ()) -> ConfigTree:
    """Merge ``config.yaml``, the chosen options and the overrides, and resolve references.

    Parameters
    ----------
    overrides : Settings
        Overrides, among them the options of groups such as ``algo=mcboost``.
    folders : tuple of pathlib.Path, default=()
        Folders of configs that are searched before ``conf/``.
    """
    base = configs.base_config()
    tree = ConfigTree(dict(base.values))
    for group in base.options:
        option = load_option(group, _chosen_option(group, overrides), folders)
        tree.values[group] = tree.values.get(group, {}) | option
    for key, value in overrides.items():
        if key not in base.options:
            tree.apply(key, value)
    tree.resolve_references()
    return tree


def _chosen_option(group: str, overrides: Settings) -> str:
    """Return the option of a group that the overrides choose, or the one of ``config.yaml``."""
    option = overrides.get(group, configs.base_config().options[group])
    return "null" if option is None else str(option)


@functools.cache
def load_option(group: str, name: str, folders: tuple[Path, ...] = ()) -> dict:
    """Return the content of an option; it is cached, so callers must not change it.

    Parameters
    ----------
    group : str
        Group of configs, such as ``"algo"``.
    name : str
        Option of the group: the name of a file in its folder, without the suffix.
    folders : tuple of pathlib.Path, default=()
        Folders of configs that are searched before ``conf/``.

    Raises
    ------
    UserError
        If the group has no such option, or its file is not valid.
    """
    check_option(group, name, configs.list_options(group, folders))
    return configs.read_option(group, name, folders)


def check_option(group: str, name: str, valid_names: Sequence[str]) -> None:
    """Raise an error if a group has no such option, with advice if it is the path of a file.

    Parameters
    ----------
    group : str
        Group of configs, such as ``"algo"``.
    name : str
        Name that the user wrote.
    valid_names : sequence of str
        Options of the group.
    """
    if name in valid_names:
        return
    if group == "data" and os.path.isfile(user_path(name)):
        raise UserError(
            f"no data set is called {name!r}; the file is {quote_override('data.path', name)}"
        )
    raise unknown_name_error(
        configs.OPTION_NOUNS[group], name, valid_names, group in ("algo", "data")
    )


class _CompletedConfig(msgspec.Struct):
    """Merged config of one experiment, which is completed in place.

    Attributes
    ----------
    algo, data, protocol : dict
        Values of the chosen option with the overrides, until they become specifications.
    profile : Profile
        Limits, which `apply_profile` applies to `algo` and `protocol`.
    parallel : ParallelSettings
    seed, measure, rerun, shard : object
        Values that are checked where they are used.
    results : str
        Folder of the records.
    """

    algo: dict[str, Any]
    data: dict[str, Any]
    protocol: dict[str, Any]
    profile: Profile
    parallel: ParallelSettings
    seed: Any
    measure: Any
    results: str
    rerun: Any
    shard: Any

    @classmethod
    def from_config(cls, tree: ConfigTree) -> "_CompletedConfig":
        """Return the values of a merged config, after checking their types.

        Raises
        ------
        UserError
            If a key is missing or has a value of another type, or the algorithm has no name.
        """
        content = {key: tree.values[key] for key in cls.__struct_fields__ if key in tree.values}
        results = content.get("results")
        # A folder may have a number as its name.
        if isinstance(results, int | float) and results is not True:
            content["results"] = str(results)
        try:
            completed = msgspec.convert(content, cls)
        except msgspec.ValidationError:
            # The slower check raises the error again, with the key and advice.
            completed = struct_from_yaml(cls, content, "the configuration", allow_empty=True)
        if not completed.results:
            raise invalid_folder_error(completed.results)
        completed.results = str(user_path(completed.results))
        if "name" not in completed.algo:
            raise UserError("the configuration lacks algo.name, which names the files of records")
        if not isinstance(completed.algo["name"], str):
            raise UserError(f"algo.name is {completed.algo['name']!r}; it must be text")
        completed.algo.setdefault("title", completed.algo["name"])
        return completed

    def drop_inherited_algorithm_values(
        self, old_option: ConfigTree, override_keys: Sequence[str]
    ) -> None:
        """Drop the values of the chosen option if ``algo._target_`` names another class than its.

        The new class gets a name, a title and an empty grid, unless overrides give them.

        Parameters
        ----------
        old_option : ConfigTree
            Content of the chosen option of ``algo``, whose class is replaced.
        override_keys : sequence of str
            Keys of all overrides, without prefixes; their values stay.
        """
        algo, old_algo = self.algo, old_option.values
        # `~algo._target_` deletes the class; the error is raised where the class is needed.
        if algo.get("_target_") in (None, old_algo["_target_"]):
            return
        for key in old_algo.keys() - {"_target_"}:
            if not _is_overridden(f"algo.{key}", override_keys):
                del algo[key]
        # An override of the grid has been merged with the grid of the replaced class, whose
        # candidates are dropped. The candidates of an override have a key of their own, as in
        # `algo.grid.nu=[0.1]`, or they differ from the replaced ones, as in `algo.grid={nu:[0.1]}`.
        grid, old_grid = algo.get("grid"), old_algo["grid"]
        if isinstance(grid, dict):
            algo["grid"] = {
                parameter: candidates
                for parameter, candidates in grid.items()
                if f"algo.grid.{parameter}" in override_keys
                or candidates != old_grid.get(parameter)
            }
        class_name = str(algo["_target_"]).rpartition(".")[2]
        defaults = {"name": class_name, "title": class_name, "paper": None, "grid": {}}
        for key, value in defaults.items():
            algo.setdefault(key, value)

    def drop_inherited_data_values(self, override_keys: Sequence[str]) -> None:
        """Drop the values of the default data set if a file or an OpenML task replaces it.

        ``data=NAME data.path=FILE`` gives another file to a known data set, whose values stay.
        """
        path, task = self.data.get("path"), self.data.get("openml_task")
        if (path or task) and "data" not in override_keys:
            # The settings of labels and of missing values concern any data.
            for key in self.data.keys() - {"name", "path", "openml_task", "labels", "missing"}:
                if not _is_overridden(f"data.{key}", override_keys):
                    del self.data[key]
            if "data.name" not in override_keys:
                from boostbench.data.sources.local_files import data_set_name

                name = f"{configs.TASK_PREFIX}{task}" if task else data_set_name(Path(str(path)))
                self.data["name"] = name

    def use_openml_splits(self, override_keys: Sequence[str]) -> None:
        """Set the protocol to the splits of an OpenML task, unless overrides give another one.

        Parameters
        ----------
        override_keys : sequence of str
            Keys of all overrides, without prefixes.
        """
        if self.data.get("openml_task"):
            for key, value in {"sampling": "fixed", "n_splits": None}.items():
                if not _is_overridden(f"protocol.{key}", override_keys):
                    self.protocol[key] = value

    def apply_profile(self, override_keys: Sequence[str], user_keys: Sequence[str]) -> None:
        """Apply the profile to the protocol and the algorithm.

        There are four cases for a key of the profile:

        - a person gave the value, or the config lacks the key: nothing changes;
        - both values are numbers: the smaller one is taken;
        - the definition of a table or a figure gave a value, and the values are not both
          numbers: the value of the definition stays;
        - the value is a default, and one of both is no number: the profile's value replaces it.

        Parameters
        ----------
        override_keys : sequence of str
            Keys of all overrides, without prefixes.
        user_keys : sequence of str
            Keys that a person gave on a command line, without prefixes.
        """
        # 1) Apply the keys of the profile, as described above.
        limits, algo = self.profile.algo, self.algo
        algo_limits = limits.get("all", {}) | limits.get(algo["name"], {})
        for group, section, section_limits in (
            ("protocol", self.protocol, self.profile.protocol),
            ("algo", algo, algo_limits),
        ):
            for key, limit in section_limits.items():
                if key not in section or _is_overridden(f"{group}.{key}", user_keys):
                    continue
                if isinstance(limit, int | float) and isinstance(section[key], int | float):
                    section[key] = min(limit, section[key])
                elif not _is_overridden(f"{group}.{key}", override_keys):
                    section[key] = limit
        # 2) Apply the limit on the boosting rounds to the candidates of the grid, too, if all are
        #    integers. Candidates above the limit become equal, and are taken once.
        grid, limit = algo.get("grid"), algo_limits.get("n_iterations")
        if isinstance(grid, dict) and not _is_overridden("algo.grid", user_keys):
            rounds = grid.get("n_iterations")
            if isinstance(rounds, list) and all(isinstance(n, int) for n in [limit, *rounds]):
                limited = dict.fromkeys(min(number, limit) for number in rounds)
                algo["grid"] = grid | {"n_iterations": list(limited)}

    def check(self) -> None:
        """Check data and protocol; a key that is deleted from the protocol has its default.

        Some commands read these values without making an experiment, which checks them as well.
        """
        # All fields have a default.
        names, defaults = ProtocolSpec.__struct_fields__, ProtocolSpec.__struct_defaults__
        for name, default in zip(names, defaults, strict=True):
            self.protocol.setdefault(name, default)
        DataSpec.from_config(self.data)
        struct_from_config(ProtocolSpec, self.protocol, "protocol")


def _is_overridden(key: str, override_keys: Sequence[str]) -> bool:
    """Return whether one of the keys is `key` itself or a key below it."""
    return any(other == key or other.startswith(f"{key}.") for other in override_keys)
