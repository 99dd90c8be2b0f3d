"""``boostbench data``: fetch a data set and say what it is."""

import textwrap
from collections.abc import Sequence
from pathlib import Path

from boostbench import configs
from boostbench.busy import busy
from boostbench.data.describe import describe
from boostbench.data.load import load
from boostbench.definitions.compose import experiments
from boostbench.errors import unknown


def print_dataset(name: str, overrides: Sequence[str]) -> int:
    """Print where a data set comes from, its shape, its classes and its checksum.

    Parameters
    ----------
    name : str
        Name of a data set, or path of a file.
    overrides : sequence of str
        Hydra overrides, e.g. ``data.labels=species``.

    Returns
    -------
    int
        0.

    Raises
    ------
    UserError
        When there is no such data set, or it cannot be had.
    """
    known = configs.names("data")
    if name in known:
        chosen = f"data={name}"
    elif Path(name).exists():
        # Quoted, as Hydra would read some characters of a path as its own.
        chosen = f"data.path='{name}'"
    else:
        raise unknown("data set", name, known)
    (spec,) = experiments([[chosen, *overrides]])
    with busy("loading data"):
        rows = describe(load(spec["data"]))
    width = max(len(label) for label, _ in rows) + 2
    for label, value in rows:
        print(textwrap.fill(f"{label:{width}}{value}", 80, subsequent_indent=" " * width))
    return 0
