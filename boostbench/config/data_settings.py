"""Which data a row, a figure or a command names: a set, a task of OpenML, or a file."""

import os
from pathlib import Path
from typing import Any

from boostbench.config.overrides import settings
from boostbench.data.sources.local_files import FORMATS, data_set_name, stem_and_format
from boostbench.util import configs
from boostbench.util.errors import UserError
from boostbench.util.user_paths import user_path


def choose_data(data: str) -> dict[str, Any]:
    """Choose data by the name of a set, a task or the path of a file.

    Raises
    ------
    UserError
        There is no such file.
    """
    if data.startswith(configs.TASK_PREFIX):
        return settings([f"data.openml_task={data.removeprefix(configs.TASK_PREFIX)}"])
    if _is_file(data):
        return {"data.path": data}
    path = Path(data)
    if path.name != data or stem_and_format(path)[1] in FORMATS:
        raise UserError(f"there is no file {data}; check the path")
    return {"data": data}


def title_of(row: str) -> str:
    """Give the heading of a row: its name or, of a file, what the data set in it is called."""
    return data_set_name(Path(row)) if _is_file(row) else row


def _is_file(data: str) -> bool:
    """Whether data are a file, and no data set that is called as one."""
    return os.path.isfile(user_path(data)) and data not in configs.list_options("data")
