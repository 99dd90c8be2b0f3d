"""``boostbench data``: fetch a data set and say what it is, or put several into a bundle."""

import textwrap
from collections.abc import Sequence
from pathlib import Path

from boostbench.config.compose import choose_data, experiment
from boostbench.config.overrides import settings
from boostbench.data.description import describe
from boostbench.data.loading import load
from boostbench.data.sources.bundles import write_bundle
from boostbench.execution.progress import counted
from boostbench.util import configs
from boostbench.util.errors import UserError, print_error, unknown_name_error
from boostbench.util.printable import echo, shortened
from boostbench.util.spinner import spinner


def print_dataset(name: str, overrides: Sequence[str]) -> None:
    """Print where a data set comes from, its shape, its classes and its checksum.

    Parameters
    ----------
    name : str
        Name of a data set, or path of a file.
    overrides : sequence of str
        Hydra overrides, e.g. ``data.labels=species``.

    Raises
    ------
    UserError
        When there is no such data set, or it is not available.
    """
    spec = experiment(choose_data(name) | settings(overrides))
    with spinner("loading data"):
        rows = describe(load(spec["data"]))
    width = max(len(label) for label, _ in rows) + 2
    for label, value in rows:
        text = f"{label:{width}}{shortened(value)}"
        echo(textwrap.fill(text, 80, subsequent_indent=" " * width))


def make_bundle(folder: Path, names: Sequence[str]) -> int:
    """Put data sets into a bundle, each as it is after all preparation.

    Parameters
    ----------
    folder : Path
        Where it is; what it holds already stays.
    names : sequence of str
        Names of data sets; all if there are none.

    Returns
    -------
    int
        0, or 1 where one is not available.

    Raises
    ------
    UserError
        An unknown name, or a folder that cannot be written to.
    """
    known = configs.list_options("data")
    for name in names:
        if not configs.is_data_set_name(name):
            raise unknown_name_error("data set", name, known)
    n_absent = 0
    with spinner("loading data") as show:
        for name in names or known:
            show(name)
            spec = experiment(choose_data(name))
            try:
                dataset = load(spec["data"])
            except UserError as error:
                print_error(f"{name} is left out: {error}")
                n_absent += 1
                continue
            write_bundle(folder, spec["data"], dataset)
    written = counted(len(names or known) - n_absent, "data set")
    echo(f"{folder}: {written}; export BOOSTBENCH_DATA={folder} makes use of them")
    return int(n_absent > 0)
