"""Fetch a data set and describe it."""

from __future__ import annotations

import textwrap
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

from boostbench.cli._commands import add_overrides_argument
from boostbench.util import configs
from boostbench.util.errors import UserError, print_error, unknown_name_error
from boostbench.util.files import user_path
from boostbench.util.terminal import echo, shortened, spinner


def arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    name_help = "see 'boostbench list data', several with --bundle; or a data file"
    parser.add_argument("name", nargs="?", metavar="NAME", help=name_help)
    bundle_help = "write NAME [NAME ...], or all data sets, to this folder"
    parser.add_argument("--bundle", type=user_path, metavar="DIR", help=bundle_help)
    add_overrides_argument(parser, "e.g. data.labels=species")


def epilog() -> str:
    """Return the formats of data files, for the help."""
    from boostbench.data.readers import readers

    lines = ["formats of data files, perhaps with .gz, .bz2 or .xz:"]
    for reader in readers():
        lines += [f"  {' '.join(reader.suffixes)}", f"      {reader.title}: {reader.content}"]
        if reader.options:
            options = " ".join(f"data.{name}=" for name in reader.options)
            lines.append(textwrap.indent(textwrap.fill(options, 72), " " * 6))
    return "\n".join(lines)


def complete(before: list[str], word: str) -> list[str]:
    """Return the names that may come next.

    `before` has the words before the cursor's word, and `word` is the beginning of that word.
    """
    return [] if before else configs.list_options("data")


def run(args: Namespace) -> int:
    """Describe a data set, or write a bundle."""
    if args.bundle:
        return make_bundle(args.bundle, [args.name, *args.words] if args.name else [])
    if args.name is None:
        raise UserError("data needs the name of a data set, a file, or --bundle DIR")
    other_names = [word for word in args.words if "=" not in word and not word.startswith("~")]
    if other_names:
        raise UserError(f"data describes one data set; {_advice([args.name, *other_names])}")
    print_dataset(args.name, args.words)
    return 0


def _advice(names: list[str]) -> str:
    """Return the advice for several names; a bundle takes no files."""
    if all(map(configs.is_data_set_name, names)):
        return f"'data --bundle DIR {' '.join(names)}' writes several"
    return "name each in a command of its own"


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
        If there is no such data set, or it is not available.
    """
    with spinner("starting"):
        from boostbench.config.choices import data_settings
        from boostbench.config.compose import compose_experiment
        from boostbench.config.overrides import parse_overrides
        from boostbench.data.loading import describe, load

    spec = compose_experiment(data_settings(name) | parse_overrides(overrides)).data
    with spinner("loading data"):
        rows = describe(load(spec))
    width = max(len(label) for label, _ in rows) + 2
    for label, value in rows:
        text = f"{label:{width}}{shortened(value)}"
        echo(textwrap.fill(text, 80, subsequent_indent=" " * width))


def make_bundle(folder: Path, names: Sequence[str]) -> int:
    """Write data sets to a bundle, after all preparation.

    Parameters
    ----------
    folder : Path
        Folder of the bundle; data sets in it that are not named stay.
    names : sequence of str
        Names of data sets. Empty: all data sets.

    Returns
    -------
    int
        0, or 1 if a data set is not available.

    Raises
    ------
    UserError
        If a name is unknown, or the folder cannot be written to.
    """
    with spinner("starting"):
        from boostbench.config.choices import data_settings
        from boostbench.config.compose import compose_experiment
        from boostbench.data.loading import load
        from boostbench.data.sources.local_files import write_bundle
        from boostbench.execution.progress import counted

    all_names = configs.list_options("data")
    for name in names:
        if not configs.is_data_set_name(name):
            raise unknown_name_error("data set", name, all_names)
    n_absent = 0
    with spinner("loading data") as show:
        for name in names or all_names:
            show(name)
            spec = compose_experiment(data_settings(name)).data
            try:
                dataset = load(spec)
            except UserError as error:
                print_error(f"{name} is left out: {error}")
                n_absent += 1
                continue
            write_bundle(folder, spec, dataset)
    written = counted(len(names or all_names) - n_absent, "data set")
    echo(f"{folder}: {written}; export BOOSTBENCH_DATA={folder} makes use of them")
    return int(n_absent > 0)
