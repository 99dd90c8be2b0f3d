"""Run one experiment, or several with -m."""

from collections.abc import Sequence

from boostbench.util.spinner import busy

#: Hydra reads what follows, and completes it.
IS_HYDRA = True


def run(argv: Sequence[str]) -> int:
    """Hand over to Hydra."""
    with busy("starting"):
        from boostbench.cli.run import run

    return run(argv)
