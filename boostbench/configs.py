"""Where the YAML files of ``conf/`` are, and what is in them, without Hydra.

Listing, completing and checking names must answer at once; importing Hydra alone takes longer.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path

import yaml

from boostbench.errors import UserError, unknown

#: What an option of a config group is called in messages.
KINDS = {
    "algo": "algorithm",
    "data": "data set",
    "protocol": "protocol",
    "profile": "profile",
    "parallel": "parallel backend",
    "table": "table",
    "figure": "figure",
}

#: What the data of a task of OpenML are called, with its number behind.
TASK_PREFIX = "openml-task-"


# In C, where PyYAML comes with it: eight times as fast.
class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """Reads 1e-2 as a number and refuses a key that comes twice, as Hydra does."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        keys: set[tuple[str, str]] = set()
        for key, _ in node.value:
            identity = key.tag, str(key.value)
            if identity in keys:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key.value} comes twice", key.start_mark
                )
            keys.add(identity)
        return super().construct_mapping(node, deep)


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+$"),
    list("-+.0123456789"),
)


#: How many values a text may hold, aliases written out, and how deep they may be in each other.
MAX_VALUES, MAX_DEPTH = 100_000, 50


def parse_yaml(text: str) -> object:
    """Parse YAML as PyYAML does.

    Raises
    ------
    yaml.YAMLError
        If it is none, or too large or too deep, where PyYAML would crash or never end.
    ValueError
        For what looks like a number or a date, and is none.
    """
    _check_size(text)
    return yaml.load(text, Loader=_Loader)


def _check_size(text: str) -> None:
    n_values = 0
    sizes: dict[str, int] = {}
    open_collections: list[tuple[str | None, int]] = []
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            open_collections.append((event.anchor, n_values))
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, n_before = open_collections.pop()
            if anchor:
                sizes[anchor] = n_values - n_before
        elif isinstance(event, yaml.AliasEvent):
            if any(event.anchor == anchor for anchor, _ in open_collections):
                raise yaml.YAMLError(f"the value of &{event.anchor} holds itself")
            n_values += sizes.get(event.anchor, 0)
        if isinstance(event, yaml.NodeEvent):
            n_values += 1
        if n_values > MAX_VALUES or len(open_collections) > MAX_DEPTH:
            raise yaml.YAMLError(
                f"it holds more than {MAX_VALUES} values, aliases written out, or is more than "
                f"{MAX_DEPTH} levels deep"
            )


def conf_dir() -> Path:
    """Find the folder of configs: inside the installed package, or at the top of a checkout.

    Returns
    -------
    pathlib.Path
        Absolute path of the folder that holds ``config.yaml``.
    """
    package = Path(__file__).resolve().parent
    inside = package / "conf"
    return inside if inside.is_dir() else package.parent / "conf"


def list_options(group: str, folders: Sequence[Path] = ()) -> list[str]:
    """List the options of a config group.

    Parameters
    ----------
    group : str
        One of `KINDS`, e.g. ``"algo"``.
    folders : sequence of pathlib.Path, default=()
        More folders of configs (Hydra's ``--config-dir``).

    Returns
    -------
    list of str
        Sorted.
    """
    return sorted({f.stem for top in (*folders, conf_dir()) for f in (top / group).glob("*.yaml")})


def is_data_set_name(name: str) -> bool:
    """Whether a name is that of a data set in ``conf/data``, or of a task of OpenML."""
    return name in list_options("data") or name.startswith(TASK_PREFIX)


def read_option(
    group: str, name: str, folders: Sequence[Path] = (), children: Sequence[str] = ()
) -> dict:
    """Read one option of a group as it is written, its own ``defaults`` of the same group merged.

    Parameters
    ----------
    group, name : str
        The file is ``conf/<group>/<name>.yaml``.
    folders : sequence of pathlib.Path, default=()
        Folders to look in before ``conf/``.
    children : sequence of str, default=()
        Options that are being read, as this one is in their defaults.

    Returns
    -------
    dict
        Values as PyYAML reads them; interpolations are not resolved.

    Raises
    ------
    UserError
        When it is not there, cannot be read or is no YAML, would change more than its group, or
        comes back to itself.
    """
    for top in (*folders, conf_dir()):
        path = top / group / f"{name}.yaml"
        if os.path.isfile(path):  # False, and no error, in a folder that may not be entered
            break
    try:
        text = path.read_text(encoding="utf-8")
        content = parse_yaml(text) or {}
    except (OSError, yaml.YAMLError, ValueError) as error:
        raise UserError(f"cannot read {path}: {' '.join(str(error).split())}") from None
    if not isinstance(content, dict):
        raise UserError(f"{path} holds no KEY: VALUE")
    parents = content.pop("defaults", None) or []
    is_plain = isinstance(parents, list) and all(
        isinstance(entry, str) and re.fullmatch(r"[\w-]+", entry) for entry in parents
    )
    if not is_plain or re.search(r"^\s*#\s*@package", text, re.MULTILINE):
        raise UserError(f"{path} reaches beyond {group}: no @package, and only names in defaults")
    inherited = {}
    for parent in parents:
        if parent != "_self_":
            if parent not in list_options(group, folders):
                raise unknown(
                    f"{KINDS[group]} in defaults of {path}", parent, list_options(group, folders)
                )
            if parent in (*children, name):
                raise UserError(f"{path}: its defaults come back to {parent}")
            inherited |= read_option(group, parent, folders, (*children, name))
    return inherited | content


def read_titles(group: str) -> dict[str, str]:
    """Give the titles of all options of a group, by their names."""
    return {name: read_option(group, name)["title"] for name in list_options(group)}


def read_summary(group: str, name: str) -> str:
    """Give the first clause of the comment that an option's file begins with; empty without one."""
    path = conf_dir() / group / f"{name}.yaml"
    comment = re.match(r"# ([^.:;]+)", path.read_text(encoding="utf-8")) if path.is_file() else None
    return " ".join(comment[1].replace("\n#", "").split()) if comment else ""
