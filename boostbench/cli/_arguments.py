"""Arguments that several commands have."""

from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from boostbench.records.installed import find_results, installed_folder
from boostbench.util import configs
from boostbench.util.errors import UserError, print_error


def add_definition_argument(parser: ArgumentParser, kind: str) -> None:
    """Add the positional argument `name` of a table or a figure, or the path of its YAML file.

    Parameters
    ----------
    parser : ArgumentParser
    kind : {"table", "figure"}
    """

    def check_name(name: str) -> str:
        configs.find_definition(kind, name)
        return name

    names = f"see 'boostbench list {kind}s'; or a YAML file"
    parser.add_argument("name", metavar="NAME", type=check_name, help=names)


def add_overrides_argument(parser: ArgumentParser, text: str) -> None:
    """Add the positional argument `words`, the overrides; `text` is their help."""
    parser.add_argument("words", nargs="*", metavar="KEY=VALUE", help=text)


def add_names_option(parser: ArgumentParser, flag: str, text: str, **options) -> None:
    """Add an option for names, which may be repeated, or have commas between the names.

    Parameters
    ----------
    parser : ArgumentParser
    flag : str
        The option, such as ``"--tables"``.
    text : str
        Help text.
    **options
        Further arguments of `ArgumentParser.add_argument`.
    """
    parser.add_argument(flag, action="extend", type=_split, default=[], help=text, **options)


def check_tables_exist(command: str, words: Sequence[str]) -> None:
    """Raise an error for the first name that is no table.

    Parameters
    ----------
    command : str
        Name of the command, for messages.
    words : sequence of str
        Names of tables, and perhaps ``results=DIR``.
    """
    from boostbench.config.overrides import parse_names_and_results

    for name in parse_names_and_results(command, words)[0]:
        configs.find_definition("table", name)


def names_and_results(command: str, words: Sequence[str]) -> tuple[list[str], Path]:
    """Split the words of a command that reads records into names and the folder of results.

    Parameters
    ----------
    command : str
        Name of the command, for messages.
    words : sequence of str
        Names, and perhaps ``results=DIR``.

    Returns
    -------
    names : list of str
    results : Path
        The folder, or the installed results if the default folder does not exist.

    Raises
    ------
    UserError
        If the folder does not exist.
    """
    from boostbench.config.overrides import parse_names_and_results

    names, results = parse_names_and_results(command, words)
    results = find_results(results)
    if results == installed_folder():
        print_error(f"there are no results here; {command} reads the installed ones in {results}")
    if not results.is_dir():
        raise UserError(
            f"there are no results in {results}; 'boostbench table NAME' makes some, and "
            "results=DIR says where they are"
        )
    return names, results


def _split(text: str) -> list[str]:
    """Return the names between the commas of a text."""
    return [name for name in text.split(",") if name]
