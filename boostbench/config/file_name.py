"""How the files of a table or of a comparison are called."""

import os
import re
from collections.abc import Sequence

from boostbench.spec.keys import digest

#: Bytes of a name: what file systems allow, less the longest ending.
_LONGEST = 255 - len("-matrix.svg")


def file_name(parts: Sequence[str]) -> str:
    """Name files by what is in them: no folder is in it, and a digest stands for a long end.

    Examples
    --------
    >>> file_name(["mine", "d/my.csv", "n_splits=3"])
    'mine-d_my.csv-n_splits=3'
    """
    name = re.sub(r"[/\\]+", "_", "-".join(parts))
    written = os.fsencode(name)
    if len(written) <= _LONGEST:
        return name
    end = f"-{digest(name)[:8]}"
    return written[: _LONGEST - len(end)].decode(errors="ignore") + end
