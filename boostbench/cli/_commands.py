"""Commands: their discovery, their parser, shared arguments, and completion by a shell.

Each file of this folder without an underscore is a command.

The first line of a command's docstring is its help text. The module defines

- ``arguments(parser)``, which adds its arguments to an `argparse.ArgumentParser`;
- ``run(args)``, which returns the exit code, or None for 0;
- perhaps ``complete(before, word)``, which returns candidates for the word that a shell completes;
- perhaps ``epilog()``, which returns text below the help.

The help of the program imports all commands, so that a command imports slow modules in its
functions, after it has checked the names that it was given.

A shell completes command lines after ``eval "$(boostbench -sc install=bash)"``. The installed
function calls ``boostbench -sc query=bash`` with the line so far in ``COMP_LINE``.
"""

import argparse
import os
import pkgutil
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import NoReturn

from boostbench import __version__
from boostbench.util import configs
from boostbench.util.errors import UserError, print_error
from boostbench.util.files import parse_names_and_results
from boostbench.util.terminal import echo

_EXAMPLES = """\
examples:
  boostbench run algo=rboost_proj data=wine
  boostbench run -m algo=rboost_proj,adaboost_mh data=wine,iris
  boostbench table demo
  boostbench compare rboost_proj adaboost_mh
  boostbench list algos

'boostbench run --help' shows all configuration groups and values.
"""

# Bash splits words at "=" and replaces the part behind it only, so the function removes the rest.
_BASH = """\
_boostbench_completion() {
    local line="${COMP_LINE:0:COMP_POINT}" word prefix=""
    word="${line##* }"
    if [[ "$word" == *=* && "$COMP_WORDBREAKS" == *=* ]]; then prefix="${word%=*}="; fi
    local IFS=$'\\n'
    COMPREPLY=($(COMP_LINE="$line" boostbench -sc query=bash))
    COMPREPLY=("${COMPREPLY[@]#"$prefix"}")
}
complete -o nospace -o default -F _boostbench_completion boostbench"""
_ZSH = "autoload -U +X bashcompinit && bashcompinit"
_FISH = "complete -c boostbench -a '(COMP_LINE=(commandline -cp) boostbench -sc query=fish)'"
_SCRIPTS = {"bash": _BASH, "zsh": f"{_ZSH}\n{_BASH}", "fish": _FISH}


def command_names() -> list[str]:
    """Return the names of all commands."""
    modules = pkgutil.iter_modules(import_module(__package__).__path__)
    return sorted(module.name for module in modules if not module.name.startswith("_"))


def find_command(name: str) -> ModuleType:
    """Import a command."""
    return import_module(f"{__package__}.{name}")


class _Parser(argparse.ArgumentParser):
    """Parser with errors of one line, and with an epilog that is made for the help alone.

    Attributes
    ----------
    make_epilog : callable, default=None
        Function without arguments that returns the text below the help. It is called when the help
        is printed, as it may read configs. None: `epilog` is the text.
    """

    make_epilog: Callable[[], str] | None = None

    def error(self, message: str) -> NoReturn:
        """Raise the error; argparse would print the usage before it."""
        raise UserError(f"{message}; '{self.prog} --help' shows how")

    def format_help(self) -> str:
        """Return the help text."""
        if self.make_epilog:
            self.epilog = self.make_epilog()
        return super().format_help()


def make_parser(modules: Iterable[ModuleType]) -> argparse.ArgumentParser:
    """Return the parser of the program.

    Parameters
    ----------
    modules : iterable of module
        Modules of the commands that it knows, see the module.
    """
    parser = _Parser(
        prog="boostbench",
        description="Reproduce the tables and figures of five boosting papers, cell by cell.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--papers", metavar="DIR", help="folder of papers of your own; stands before COMMAND"
    )
    parser.add_argument("--version", action="version", version=f"boostbench {__version__}")
    parsers = parser.add_subparsers(dest="command", metavar="COMMAND")
    for command in modules:
        summary = command.__doc__.splitlines()[0]
        # argparse lists commands with phrases in lower case.
        phrase = f"{summary[0].lower()}{summary[1:]}".rstrip(".")
        subparser = parsers.add_parser(
            command.__name__.rpartition(".")[2],
            help=phrase,
            description=summary,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        subparser.make_epilog = getattr(command, "epilog", None)
        command.arguments(subparser)
    return parser


def complete_shell(action: str) -> int:
    """Print the function to install, or the words that can end the line in ``COMP_LINE``.

    Parameters
    ----------
    action : str
        ``install=SHELL`` or ``query=SHELL``; SHELL is ``bash``, ``zsh`` or ``fish``.

    Returns
    -------
    int
        0.

    Raises
    ------
    UserError
        If it is another action or shell.
    """
    verb, _, shell = action.partition("=")
    if verb not in ("install", "query") or shell not in _SCRIPTS:
        raise UserError(
            f"-sc {action} is no action of completion; install it by "
            "'eval \"$(boostbench -sc install=bash)\"' (zsh, or fish: ... | source)"
        )
    if verb == "install":
        echo(_SCRIPTS[shell])
        return 0
    *before, word = os.environ.get("COMP_LINE", "").split(" ")[1:] or [""]
    before = [previous for previous in before if previous]
    candidates = command_names()
    if before:
        command = find_command(before[0]) if before[0] in candidates else None
        complete = getattr(command, "complete", None)
        candidates = complete(before[1:], word) if complete else []
    for candidate in dict.fromkeys(candidates):
        if candidate.startswith(word):
            # A space ends a whole word; a value or a part of a key follows otherwise.
            echo(candidate if candidate.endswith(("=", ".")) else f"{candidate} ")
    return 0


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
    for name in parse_names_and_results(command, words)[0]:
        configs.find_definition("table", name)


def resolve_names_and_results(command: str, words: Sequence[str]) -> tuple[list[str], Path]:
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
    from boostbench.records.installed import find_results, installed_folder

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
