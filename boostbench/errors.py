"""The one exception that a user's mistake raises, whatever the floor it is found on."""

import difflib
from collections.abc import Iterable


class UserError(Exception):
    """Something that the user can put right.

    The message is one line that says what is wrong and what to do. The command line prints it on
    stderr, without a traceback, and exits with code 2.
    """


def unknown(kind: str, name: str, known: Iterable[str], listed: bool = True) -> UserError:
    """Make the error for a name that does not exist, with the near matches.

    Parameters
    ----------
    kind : str
        What the name was taken for, e.g. ``"algorithm"``.
    name : str
        The name as the user wrote it.
    known : iterable of str
        The names that exist.
    listed : bool, default=True
        Whether ``boostbench list`` shows them.

    Returns
    -------
    UserError
        The exception, to be raised by the caller.

    Examples
    --------
    >>> str(unknown("data set", "vowle", ["glass", "vowel", "wine"]))
    "unknown data set 'vowle'; did you mean vowel? ('boostbench list' shows all 3)"
    """
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    hint = f"did you mean {', '.join(near)}?" if near else "no name is near it"
    where = f" ('boostbench list' shows all {len(known)})" if listed else ""
    return UserError(f"unknown {kind} {name!r}; {hint}{where}")
