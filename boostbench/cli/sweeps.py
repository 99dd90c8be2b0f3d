"""The jobs of a sweep, ``boostbench run -m``."""

from collections.abc import Sequence
from pathlib import Path

from boostbench.config import overrides as checks
from boostbench.util.compat.hydra import split_sweep


class JobFailed(Exception):
    """A job of a sweep failed, and has said so; its argument is the exit code."""


def settings_of(overrides: Sequence[str]) -> list[list[str]]:
    """Give the overrides of each job of a sweep, each once.

    There are none where not Hydra's own sweeper decides.
    """
    if any("hydra/sweeper" in override for override in overrides):
        return []
    parsed = [checks.parse(override) for override in overrides]
    own = [
        tuple(override for override in job if not override.startswith("hydra"))
        for job in split_sweep(parsed)
    ]
    return list(map(list, dict.fromkeys(own)))


def results_of(settings: Sequence[Sequence[str]]) -> Path:
    """Give the folder of results, which all jobs share, as Hydra reads it: without quotes."""
    given = {checks.name_of(key): value for key, value in checks.settings(settings[0]).items()}
    return Path(str(given.get("results", "results")))


def swept(settings: Sequence[Sequence[str]]) -> list[str]:
    """Give the keys that are not alike in all jobs of a sweep.

    Examples
    --------
    >>> swept([["algo=a", "seed=1", "data=x"], ["algo=b", "seed=1", "data=x"]])
    ['algo']
    """
    columns = zip(*settings, strict=True)
    return [column[0].partition("=")[0] for column in columns if len(set(column)) > 1]
