"""Words on a command line that several commands take."""

from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from boostbench.config import definition_files as files
from boostbench.config.words import split_words
from boostbench.records.installed import find_results, installed_folder
from boostbench.util.errors import UserError, print_error


def add_definition(parser: ArgumentParser, kind: str) -> None:
    """Take the name of a table or a figure, or the path of a file that defines one."""

    def known(name: str) -> str:
        files.find(kind, name)
        return name

    named = f"see 'boostbench list {kind}s'; or a YAML file"
    parser.add_argument("name", metavar="NAME", type=known, help=named)


def add_overrides(parser: ArgumentParser, text: str) -> None:
    """Take Hydra overrides as `words`."""
    parser.add_argument("words", nargs="*", metavar="KEY=VALUE", help=text)


def add_names(parser: ArgumentParser, flag: str, text: str, **options) -> None:
    """Take names by a flag, several times or with commas between them."""
    parser.add_argument(flag, action="extend", type=_split, default=[], help=text, **options)


def find_tables(command: str, words: Sequence[str]) -> None:
    """Refuse names of tables that do not exist."""
    for name in split_words(command, words)[0]:
        files.find("table", name)


def names_on_record(command: str, words: Sequence[str]) -> tuple[list[str], Path]:
    """Split words as `split_words`, and refuse a folder of records that is not there."""
    names, results = split_words(command, words)
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
    return [name for name in text.split(",") if name]
