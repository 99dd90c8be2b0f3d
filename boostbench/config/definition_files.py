"""Files that define tables and figures: how they are named, found and read."""

from pathlib import Path
from typing import Any

import yaml

from boostbench.util import configs
from boostbench.util.errors import UserError, unknown_name_error
from boostbench.util.user_paths import user_path

#: How the names of such files end.
ENDINGS = (".yaml", ".yml")


def find(kind: str, name: str) -> Path:
    """Find the file of a definition.

    Parameters
    ----------
    kind : {"table", "figure"}
        What it defines.
    name : str
        Name of a file in ``conf/KIND``, or path of any YAML file.

    Returns
    -------
    Path

    Raises
    ------
    UserError
        No such definition in ``conf``; whether there is such a file of one's own, reading tells.
    """
    if name.endswith(ENDINGS):
        return user_path(name)
    if name not in configs.list_options(kind):
        raise unknown_name_error(kind, name, configs.list_options(kind))
    return configs.conf_dir() / kind / f"{name}.yaml"


def read(kind: str, name: str) -> tuple[Path, dict]:
    """Find and parse a definition.

    Parameters
    ----------
    kind, name
        As of `find`.

    Returns
    -------
    path : Path
    content : dict
        What the file holds, unchecked.

    Raises
    ------
    UserError
        No such definition, or a file that cannot be read, holds no keys with values or has the name
        of one of ``conf``.
    """
    path = find(kind, name)
    try:
        content = configs.parse_yaml(path.read_text(encoding="utf-8"))
    # Values that look like a number or a date, and are none, are errors of other classes.
    except FileNotFoundError:
        raise UserError(f"there is no file {path}; check the path") from None
    except (OSError, yaml.YAMLError, ValueError, RecursionError) as error:
        why = " ".join(str(error).replace(' in "<unicode string>",', " in").split())
        raise UserError(f"cannot read the {kind} {path}: {why}") from None
    if not isinstance(content, dict):
        raise UserError(f"{path} is not a {kind}: it holds {shorten(content)}, not KEY: VALUE")
    # What is made of a definition is called by the name of its file.
    if path.stem in configs.list_options(kind) and not path.samefile(find(kind, path.stem)):
        raise UserError(
            f"{path}: {path.stem} is a {kind} of the project, in whose place the results of this "
            "would stand; give the file another name"
        )
    return path, content


def shorten(value: Any) -> str:
    """Write a value in a message, cut where it is long."""
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
