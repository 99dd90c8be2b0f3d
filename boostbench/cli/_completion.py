"""Completion of command lines by a shell: ``eval "$(boostbench -sc install=bash)"``.

The installed function calls ``boostbench -sc query=bash`` with the line so far in ``COMP_LINE``.
"""

import os

from boostbench.cli._commands import command_names, find_command
from boostbench.util.errors import UserError
from boostbench.util.terminal import echo

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
