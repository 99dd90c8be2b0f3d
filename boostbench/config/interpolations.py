"""What a value may refer to: other values of the same configuration, by ``${seed}``.

OmegaConf calls functions for ``${NAME:...}``, its resolvers: ``${oc.env:TOKEN}`` copies a variable
of the environment to where records and reports show it. None is called here. They are looked for
before anything is resolved.
"""

import re
from collections.abc import Mapping
from typing import Any

from boostbench.util.errors import UserError

#: ``${seed}``, ``${algo.nu}``, ``${.nu}``; of Hydra's own part, as it holds paths, nothing.
_REFERENCE = re.compile(r"\$\{\s*(?!hydra\b)\.*\w+(\.\w+)*\s*\}")
#: In values of Hydra's own part, such as the folder of a sweep.
_OF_HYDRA = re.compile(r"\$\{\s*(\w+(\.\w+)*|(now|hydra):[^${}]*)\s*\}")


def check(value: Any, where: str, *, of_hydra: bool = False) -> None:
    """Refuse values that call something when they are resolved.

    Parameters
    ----------
    value : object
        Texts, and lists and mappings of them, before they are resolved.
    where : str
        Names the value in messages.
    of_hydra : bool, default=False
        Whether it is of Hydra's own part of the configuration, where ``${now:...}`` is usual.

    Raises
    ------
    UserError
        If there is one.
    """
    if isinstance(value, Mapping):
        for key, inner in value.items():
            check(inner, f"{where}.{key}" if where else str(key), of_hydra=of_hydra)
    elif isinstance(value, list | tuple):
        for inner in value:
            check(inner, where, of_hydra=of_hydra)
    elif isinstance(value, str) and "${" in value:
        allowed = _OF_HYDRA if of_hydra else _REFERENCE
        if "${" in allowed.sub("", value):
            raise UserError(
                f"{where} is refused: ${{...}} may name another value, as ${{seed}} does, and "
                "nothing of the machine or the environment"
            )
