"""Where the YAML files of ``conf/`` are, and what is in them, without Hydra.

Listing, completing and checking names must answer at once; importing Hydra alone takes longer.
"""

from collections.abc import Sequence
from pathlib import Path

import yaml

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


# The same in C, where PyYAML comes with it: eight times as fast.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def parse(text: str) -> object:
    """Parse YAML as PyYAML does."""
    return yaml.load(text, Loader=_LOADER)


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


def read(group: str, name: str, folders: Sequence[Path] = ()) -> dict:
    """Read one option of a group as it is written, its own ``defaults`` of the same group merged.

    Parameters
    ----------
    group, name : str
        The file is ``conf/<group>/<name>.yaml``.
    folders : sequence of pathlib.Path, default=()
        Folders to look in before ``conf/``.

    Returns
    -------
    dict
        Values as PyYAML reads them; interpolations are not resolved.

    Raises
    ------
    FileNotFoundError
        When there is no such file.
    """
    for top in (*folders, conf_dir()):
        path = top / group / f"{name}.yaml"
        if path.is_file():
            break
    own = parse(path.read_text(encoding="utf-8")) or {}
    inherited = {}
    for parent in own.pop("defaults", []):
        if isinstance(parent, str) and parent != "_self_":
            inherited |= read(group, parent, folders)
    return inherited | own
