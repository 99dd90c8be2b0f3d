"""The half sentence that helps with a misspelt word."""

import difflib
from collections.abc import Iterable


def hint(word: str, known: Iterable[str]) -> str:
    """Name what is near a word, or all there is.

    Examples
    --------
    >>> hint("stratifed", ["stratified", "plain"])
    'did you mean stratified?'
    >>> hint("loo", ["stratified", "plain"])
    'there are: stratified, plain'
    """
    known = list(known)
    near = difflib.get_close_matches(str(word), known, n=3)
    return f"did you mean {', '.join(near)}?" if near else f"there are: {', '.join(known)}"
