"""Definitions of tables and figures: YAML files in ``conf``, or anywhere."""

from pathlib import Path

import yaml

from boostbench import configs
from boostbench.errors import UserError, unknown


def read_definition(kind: str, name: str) -> tuple[Path, object]:
    """Find and parse a definition.

    Parameters
    ----------
    kind : {"table", "figure"}
        What it defines.
    name : str
        Name of a file in ``conf/KIND``, or path of any YAML file.

    Returns
    -------
    path : Path
    content : object
        What the file holds, unchecked.

    Raises
    ------
    UserError
        No such definition, or a file that cannot be read.
    """
    path = Path(name)
    if path.suffix != ".yaml":
        if name not in configs.names(kind):
            raise unknown(kind, name, configs.names(kind))
        path = configs.conf_dir() / kind / f"{name}.yaml"
    try:
        return path, yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        why = " ".join(str(error).split())
        raise UserError(f"cannot read the {kind} {path}: {why}") from None
