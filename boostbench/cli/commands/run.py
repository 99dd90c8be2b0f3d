"""Run one experiment, or several with -m."""

from collections.abc import Sequence

from boostbench.util.spinner import spinner

#: Hydra reads what follows, and completes it.
IS_HYDRA = True


def run(argv: Sequence[str]) -> int:
    """Hand over to Hydra."""
    with spinner("starting"):
        from boostbench.cli.run import run

    return run(argv)
