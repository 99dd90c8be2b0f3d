"""The YAML files of ``conf/``: groups of options, and the values of ``config.yaml``.

Listing, completing and checking names must be instant, so this module imports nothing slow.
"""

import functools
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from boostbench.util.errors import UserError, unknown_name_error
from boostbench.util.files import user_path
from boostbench.util.terminal import truncated_repr

#: Names of the options of each config group in messages.
OPTION_NOUNS = {
    "algo": "algorithm",
    "data": "data set",
    "protocol": "protocol",
    "profile": "profile",
    "parallel": "parallel backend",
    "table": "table",
    "figure": "figure",
}

#: Suffixes of files that define tables and figures.
DEFINITION_SUFFIXES = (".yaml", ".yml")
# Groups whose files define tables and figures instead of parts of a config.
_DEFINITION_GROUPS = ("table", "figure")

#: Text that Hydra takes as it is; other text needs quotes.
_BARE_TEXT = re.compile(r"(?!(?:true|false|null|nan|inf)$)[a-z_][\w.-]*", re.IGNORECASE | re.ASCII)

#: Start of the names of OpenML tasks' data sets; the number of the task follows.
TASK_PREFIX = "openml-task-"


# PyYAML's loader in C is eight times as fast; not every installation has it.
class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """Loader that reads 1e-2 as a number and refuses duplicate keys, as Hydra does.

    PyYAML itself reads 1e-2, without a point, as a text, and takes the last of duplicate keys.
    """

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        """Return the content of a mapping; raise YAMLError for a duplicate key."""
        keys: set[tuple[str, str]] = set()
        for key, _ in node.value:
            # The keys 1 and "1" have different tags.
            identity = key.tag, str(key.value)
            if identity in keys:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key.value} is a duplicate", key.start_mark
                )
            keys.add(identity)
        return super().construct_mapping(node, deep)


# The last argument has the first characters of such numbers.
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+$"),
    list("-+.0123456789"),
)


#: Maximum number of values of a YAML text, with aliases (``*name``) written out: a few lines of
#: aliases to aliases could stand for billions of values.
MAX_VALUES = 100_000
#: Maximum number of lists and mappings inside one another: PyYAML reads them by recursion.
MAX_DEPTH = 50


def parse_yaml(text: str) -> object:
    """Parse YAML as PyYAML does.

    Raises
    ------
    yaml.YAMLError
        If the text is not YAML, or so large or so deeply nested that PyYAML would crash or hang.
    ValueError
        If a value looks like a number or a date, but is invalid.
    """
    _check_yaml_size(text)
    return yaml.load(text, Loader=_Loader)


def _check_yaml_size(text: str) -> None:
    """Raise YAMLError if a YAML text has too many values or levels, or contains itself.

    The text is read as a sequence of events (start of a list or mapping, scalar, alias, end), which
    needs neither recursion nor the memory of the values. An alias counts as the values of its
    anchor.
    """
    n_values = 0
    # Number of values of each list and mapping with an anchor, by the anchor.
    anchor_sizes: dict[str, int] = {}
    # Anchor of each list and mapping that has not ended, and the number of values before it.
    open_collections: list[tuple[str | None, int]] = []
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            open_collections.append((event.anchor, n_values))
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, n_values_before = open_collections.pop()
            if anchor:
                anchor_sizes[anchor] = n_values - n_values_before
        elif isinstance(event, yaml.AliasEvent):
            if any(event.anchor == anchor for anchor, _ in open_collections):
                raise yaml.YAMLError(f"the value of &{event.anchor} contains itself")
            n_values += anchor_sizes.get(event.anchor, 0)
        # Scalars, aliases and the starts of lists and mappings count as a value each.
        if isinstance(event, yaml.NodeEvent):
            n_values += 1
        if n_values > MAX_VALUES or len(open_collections) > MAX_DEPTH:
            raise yaml.YAMLError(
                f"it holds more than {MAX_VALUES} values, aliases written out, or is more than "
                f"{MAX_DEPTH} levels deep"
            )


def hydra_text(value: object) -> str:
    r"""Return a text, number, truth value or list of them in the grammar of Hydra's overrides.

    Examples
    --------
    >>> hydra_text(["id", "first name", 3, True])
    '[id,"first name",3,true]'
    >>> print(hydra_text('12" disc'))
    "12\" disc"
    """
    if isinstance(value, list | tuple):
        return f"[{','.join(map(hydra_text, value))}]"
    if not isinstance(value, str):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if _BARE_TEXT.fullmatch(value):
        return value
    # A quote mark gets a backslash. Hydra halves the backslashes before a quote mark and at the end
    # of the text, so that these are doubled: ``a\"`` becomes ``a\\\"``.
    escaped = re.sub(r'(\\*)"', r'\1\1\\"', value)
    return '"' + re.sub(r"(\\+)$", r"\1\1", escaped) + '"'


def conf_dir() -> Path:
    """Return the folder of configs: inside the installed package, or at the top of a checkout.

    Returns
    -------
    pathlib.Path
        Absolute path of the folder that holds ``config.yaml``.
    """
    in_package, in_checkout = _conf_dir_candidates(__file__)
    return in_package if os.path.isdir(in_package) else in_checkout


@functools.cache
def _conf_dir_candidates(module: str) -> tuple[Path, Path]:
    """Return the folders of configs of an installed package and of a checkout.

    Parameters
    ----------
    module : str
        Path of this module's file.
    """
    package = Path(module).resolve().parents[1]
    return package / "conf", package.parent / "conf"


class NamedPath(NamedTuple):
    """File or folder of ``conf``, and the name by which commands call its content."""

    name: str
    path: Path


def paper_folders() -> tuple[NamedPath, ...]:
    """Return the folders of papers; each has a name of its own.

    A paper is a folder with a ``paper.yaml`` in ``conf/paper`` or in ``$BOOSTBENCH_PAPERS``. The
    project's papers come first, and cannot be replaced.
    """
    return _paper_folders(conf_dir(), os.environ.get("BOOSTBENCH_PAPERS"))


# A command asks for these folders and files thousands of times, so that they are listed once; see
# `forget_listings`.
@functools.cache
def _paper_folders(conf: Path, user_folder: str | None) -> tuple[NamedPath, ...]:
    """Return the folders of `paper_folders`: the project's in `conf`, and the user's, if any."""
    tops = [conf / "paper", *([Path(user_folder)] if user_folder else [])]
    folders = [
        NamedPath(name, top / name)
        for top in tops
        for name in sorted(_file_names(top))
        if os.path.exists(os.path.join(top, name, "paper.yaml"))
    ]
    return _first_of_each_name(folders)


def definition_files(kind: str) -> tuple[NamedPath, ...]:
    """Return the files that define tables or figures; each has a name of its own.

    ``conf/table/demo.yaml`` defines the table ``demo``, and ``conf/paper/mcboost/table5.yaml`` the
    table ``mcboost5``: the paper's name replaces the kind.

    Parameters
    ----------
    kind : {"table", "figure"}
    """
    return _definition_files(kind, conf_dir() / kind, paper_folders())


@functools.cache
def _definition_files(kind: str, top: Path, papers: tuple[NamedPath, ...]) -> tuple[NamedPath, ...]:
    """Return the files of `definition_files`.

    Parameters
    ----------
    kind : {"table", "figure"}
    top : pathlib.Path
        Folder of the definitions that belong to no paper, which come first.
    papers : tuple of NamedPath
        Folders of papers.
    """
    files = [NamedPath(stem, top / f"{stem}.yaml") for stem in _yaml_stems(top)]
    files += [
        NamedPath(f"{paper}{stem.removeprefix(kind)}", folder / f"{stem}.yaml")
        for paper, folder in papers
        for stem in _yaml_stems(folder)
        if stem.startswith(kind)
    ]
    return _first_of_each_name(files)


def _first_of_each_name(paths: Sequence[NamedPath]) -> tuple[NamedPath, ...]:
    """Return the paths without those whose name an earlier path has."""
    first = {}
    for named_path in paths:
        first.setdefault(named_path.name, named_path)
    return tuple(first.values())


def _file_names(folder: str | os.PathLike) -> list[str]:
    """Return the names in a folder, in a tenth of the time of `Path.glob`; none without access."""
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _yaml_stems(folder: str | os.PathLike) -> list[str]:
    """Return the names of the YAML files in a folder, without their suffix."""
    return [name.removesuffix(".yaml") for name in _file_names(folder) if name.endswith(".yaml")]


def list_options(group: str, folders: Sequence[Path] = ()) -> list[str]:
    """List the options of a config group.

    Parameters
    ----------
    group : str
        One of `OPTION_NOUNS`, e.g. ``"algo"``.
    folders : sequence of pathlib.Path, default=()
        Further folders of configs (Hydra's ``--config-dir``).

    Returns
    -------
    list of str
        Sorted names, with all tables and figures of papers.
    """
    if group in _DEFINITION_GROUPS:
        return sorted(name for name, _ in definition_files(group))
    return _list_options(group, (*folders, conf_dir()))


@functools.cache
def _list_options(group: str, tops: tuple[Path, ...]) -> list[str]:
    """Return the sorted options of a group in several folders of configs."""
    return sorted({stem for top in tops for stem in _yaml_stems(os.path.join(top, group))})


def forget_listings() -> None:
    """List the folders of configs anew: between two commands of a process, files may be added."""
    for listing in (_paper_folders, _definition_files, _list_options):
        listing.cache_clear()


class BaseConfig(NamedTuple):
    """Content of ``config.yaml``, which must not be changed.

    Attributes
    ----------
    options : dict of str to str
        Default option of each group.
    values : dict
        Values without a group, and values that the options of a group share, by key.
    """

    options: dict[str, str]
    values: dict[str, Any]


@functools.cache
def base_config() -> BaseConfig:
    """Return the content of ``config.yaml``."""
    values = parse_yaml((conf_dir() / "config.yaml").read_text(encoding="utf-8"))
    groups = [entry for entry in values.pop("defaults") if isinstance(entry, dict)]
    return BaseConfig(dict(item for entry in groups for item in entry.items()), values)


def is_data_set_name(name: str) -> bool:
    """Return whether a name belongs to a data set in ``conf/data`` or to an OpenML task."""
    return name in list_options("data") or name.startswith(TASK_PREFIX)


def read_option(
    group: str, name: str, folders: Sequence[Path] = (), inheriting: Sequence[str] = ()
) -> dict:
    """Load one option of a group, merged with its ``defaults`` of the same group.

    Parameters
    ----------
    group, name : str
        The file is ``conf/<group>/<name>.yaml``.
    folders : sequence of pathlib.Path, default=()
        Folders that are searched before ``conf/``.
    inheriting : sequence of str, default=()
        Options whose defaults led to this option; they detect a circle.

    Returns
    -------
    dict
        Values as PyYAML reads them; interpolations are not resolved.

    Raises
    ------
    UserError
        If the file is missing, cannot be read or is not YAML, if it changes other groups, or if
        its defaults form a circle.
    """
    # 1) Find and read the file. If there is none, the message names the one in ``conf/``.
    project_file = conf_dir() / group / f"{name}.yaml"
    user_files = [folder / group / f"{name}.yaml" for folder in folders]
    # `Path.is_file` would raise an error if the folder may not be entered.
    path = next(filter(os.path.isfile, user_files), project_file)
    try:
        text = path.read_text(encoding="utf-8")
        # The project's own files are small, and checking their size takes as long as reading them.
        is_project_file = path == project_file
        content = (yaml.load(text, Loader=_Loader) if is_project_file else parse_yaml(text)) or {}
    except (OSError, yaml.YAMLError, ValueError) as error:
        raise UserError(f"cannot read {path}: {' '.join(str(error).split())}") from None
    if not isinstance(content, dict):
        raise UserError(f"{path} holds no KEY: VALUE")
    # 2) Check that the file changes its own group only: `defaults` may name files of other groups,
    #    as mappings or paths, and @package moves the values of the file elsewhere.
    parents = content.pop("defaults", None) or []
    lists_names_only = isinstance(parents, list) and all(
        isinstance(entry, str) and re.fullmatch(r"[\w-]+", entry) for entry in parents
    )
    if not lists_names_only or re.search(r"^\s*#\s*@package", text, re.MULTILINE):
        raise UserError(
            f"{path} changes more than {group}; remove @package, and list only names in defaults"
        )
    # 3) Merge the values of the defaults; later values win, and the file itself wins. Hydra's
    #    _self_ names the file.
    inherited = {}
    for parent in parents:
        if parent != "_self_":
            if parent not in list_options(group, folders):
                raise unknown_name_error(
                    f"{OPTION_NOUNS[group]} in defaults of {path}",
                    parent,
                    list_options(group, folders),
                )
            if parent in (*inheriting, name):
                raise UserError(f"{path}: its defaults form a circle through {parent}")
            inherited |= read_option(group, parent, folders, (*inheriting, name))
    return inherited | content


def read_titles(group: str) -> dict[str, str]:
    """Return the titles of all options of a group, by their names."""
    return {name: read_option(group, name)["title"] for name in list_options(group)}


def read_summary(group: str, name: str) -> str:
    """Return the first clause of the comment at the top of an option's file, or ``""``."""
    path = conf_dir() / group / f"{name}.yaml"
    if not path.is_file():
        return ""
    # The clause may continue on further lines of the comment.
    clause = re.match(r"# ([^.:;]+)", path.read_text(encoding="utf-8"))
    return " ".join(clause[1].replace("\n#", "").split()) if clause else ""


def find_definition(kind: str, name: str) -> Path:
    """Return the path of the file that defines a table or a figure.

    Parameters
    ----------
    kind : {"table", "figure"}
        Kind of the definition.
    name : str
        Name of a table or figure, see `definition_files`, or path of any YAML file.

    Returns
    -------
    pathlib.Path
        Path of the file. A path that the user names may not exist.

    Raises
    ------
    UserError
        If ``conf`` has no such definition.
    """
    if name.endswith(DEFINITION_SUFFIXES):
        return user_path(name)
    files = dict(definition_files(kind))
    if name not in files:
        raise unknown_name_error(kind, name, sorted(files))
    return files[name]


def definition_name(kind: str, path: Path) -> str:
    """Return the name that results of a definition carry.

    It is the stem of the file, or for the file of a paper the paper's name with the number.
    """
    names = (name for name, file in definition_files(kind) if path.samefile(file))
    return next(names, path.stem)


def read_definition(kind: str, name: str) -> tuple[Path, dict]:
    """Read the file that defines a table or a figure.

    Parameters
    ----------
    kind, name : str
        See `find_definition`.

    Returns
    -------
    path : pathlib.Path
    content : dict
        Keys and values, which are not checked yet.

    Raises
    ------
    UserError
        If there is no such definition, the file cannot be read or holds no mapping, or if it has
        the name of a definition of the project.
    """
    path = find_definition(kind, name)
    try:
        content = parse_yaml(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"there is no file {path}; check the path") from None
    except (OSError, yaml.YAMLError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).replace(' in "<unicode string>",', " in").split())
        raise UserError(f"cannot read the {kind} {path}: {reason}") from None
    if not isinstance(content, dict):
        raise UserError(
            f"{path} is not a {kind}: it holds {truncated_repr(content)}, not KEY: VALUE"
        )
    # Results are stored under the name of the file: another file of this name would replace the
    # project's results.
    if path.stem in list_options(kind) and not path.samefile(find_definition(kind, path.stem)):
        raise UserError(
            f"{path}: {path.stem} is a {kind} of the project, in whose place the results of this "
            "would stand; give the file another name"
        )
    return path, content
