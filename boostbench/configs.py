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
TASK = "openml-task-"


# In C, where PyYAML comes with it: eight times as fast.
class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """Reads 1e-2 as a number and refuses a key that comes twice, as Hydra does."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        known: set[tuple[str, str]] = set()
        for key, _ in node.value:
            name = key.tag, str(key.value)
            if name in known:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key.value} comes twice", key.start_mark
                )
            known.add(name)
        return super().construct_mapping(node, deep)


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+$"),
    list("-+.0123456789"),
)


#: How many values a text may hold, aliases written out, and how deep they may be in each other.
MOST, DEEPEST = 100_000, 50


def parse(text: str) -> object:
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
    outer: list[tuple[str | None, int]] = []
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            outer.append((event.anchor, n_values))
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = outer.pop()
            if anchor:
                sizes[anchor] = n_values - before
        elif isinstance(event, yaml.AliasEvent):
            if any(event.anchor == anchor for anchor, _ in outer):
                raise yaml.YAMLError(f"the value of &{event.anchor} holds itself")
            n_values += sizes.get(event.anchor, 0)
        if isinstance(event, yaml.NodeEvent):
            n_values += 1
        if n_values > MOST or len(outer) > DEEPEST:
            raise yaml.YAMLError(
                f"it holds more than {MOST} values, aliases written out, or is more than "
                f"{DEEPEST} levels deep"
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


def names(group: str, folders: Sequence[Path] = ()) -> list[str]:
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


def names_data(name: str) -> bool:
    """Whether a name is that of a data set in ``conf/data``, or of a task of OpenML."""
    return name in names("data") or name.startswith(TASK)


def read(group: str, name: str, folders: Sequence[Path] = (), heirs: Sequence[str] = ()) -> dict:
    """Read one option of a group as it is written, its own ``defaults`` of the same group merged.

    Parameters
    ----------
    group, name : str
        The file is ``conf/<group>/<name>.yaml``.
    folders : sequence of pathlib.Path, default=()
        Folders to look in before ``conf/``.
    heirs : sequence of str, default=()
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
        own = parse(text) or {}
    except (OSError, yaml.YAMLError, ValueError) as error:
        raise UserError(f"cannot read {path}: {' '.join(str(error).split())}") from None
    if not isinstance(own, dict):
        raise UserError(f"{path} holds no KEY: VALUE")
    parents = own.pop("defaults", None) or []
    plain = isinstance(parents, list) and all(
        isinstance(entry, str) and re.fullmatch(r"[\w-]+", entry) for entry in parents
    )
    if not plain or re.search(r"^\s*#\s*@package", text, re.MULTILINE):
        raise UserError(f"{path} reaches beyond {group}: no @package, and only names in defaults")
    inherited = {}
    for parent in parents:
        if parent != "_self_":
            if parent not in names(group, folders):
                raise unknown(
                    f"{KINDS[group]} in defaults of {path}", parent, names(group, folders)
                )
            if parent in (*heirs, name):
                raise UserError(f"{path}: its defaults come back to {parent}")
            inherited |= read(group, parent, folders, (*heirs, name))
    return inherited | own


def titles(group: str) -> dict[str, str]:
    """Give the titles of all options of a group, by their names."""
    return {name: read(group, name)["title"] for name in names(group)}


def summary(group: str, name: str) -> str:
    """Give the first clause of the comment that an option's file begins with; empty without one."""
    path = conf_dir() / group / f"{name}.yaml"
    comment = re.match(r"# ([^.:;]+)", path.read_text(encoding="utf-8")) if path.is_file() else None
    return " ".join(comment[1].replace("\n#", "").split()) if comment else ""
