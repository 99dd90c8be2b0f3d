"""Parser, sweeps and changes of Hydra 1.3."""

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra._internal.hydra import Hydra
from hydra._internal.utils import get_args_parser
from hydra.core.override_parser.types import Override
from hydra.core.utils import JobReturn

__all__ = ["allow_lazy_help", "get_args_parser", "raise_from_jobs", "skip_mode", "split_sweep"]


def split_sweep(overrides: Sequence[Override]) -> Sequence[Sequence[str]]:
    """Return the overrides of each job of a sweep."""
    [jobs] = BasicSweeper.split_arguments(list(overrides), max_batch_size=None)
    return jobs


@contextmanager
def allow_lazy_help() -> Iterator[None]:
    """Let Hydra have a help text that is not yet a string, which Python 3.14 refuses."""
    check = getattr(argparse.ArgumentParser, "_check_help", None)
    if check is None:  # before Python 3.14
        yield
        return

    def check_strings(parser: argparse.ArgumentParser, action: argparse.Action) -> None:
        if isinstance(action.help, str):
            check(parser, action)

    argparse.ArgumentParser._check_help = check_strings
    try:
        yield
    finally:
        argparse.ArgumentParser._check_help = check


@contextmanager
def raise_from_jobs(kind: type[Exception]) -> Iterator[None]:
    """Let Hydra raise an error of this kind from a job without printing a line before it."""
    before = JobReturn.return_value

    def value(job: JobReturn) -> float:
        if isinstance(job._return_value, kind):
            raise job._return_value
        return before.fget(job)

    JobReturn.return_value = property(value, before.fset)
    try:
        yield
    finally:
        JobReturn.return_value = before


@contextmanager
def skip_mode() -> Iterator[None]:
    """Let Hydra not look for a mode, for which it composes the config: a tenth of a second."""
    before = Hydra.get_mode
    Hydra.get_mode = lambda *_, **__: None
    try:
        yield
    finally:
        Hydra.get_mode = before
