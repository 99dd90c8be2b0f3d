"""``boostbench run``: a Hydra application."""

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import NoReturn

import hydra
from omegaconf import DictConfig

from boostbench.cli.sweeps import JobFailed, results_of, settings_of, swept
from boostbench.config import overrides as checks
from boostbench.config.compose import one_line_errors
from boostbench.util import configs
from boostbench.util.atomic_write import check_folders
from boostbench.util.compat.hydra import (
    allow_lazy_help,
    get_args_parser,
    raise_from_jobs,
    skip_mode,
)
from boostbench.util.errors import RESULTS_ELSEWHERE, UserError, is_debugging, os_error_reason
from boostbench.util.spinner import spinner
from boostbench.util.temporary_settings import temporarily_set

#: Flags of Hydra for another configuration, the last of which runs what is in a pickle.
_REFUSED = ("config_path", "config_name", "experimental_rerun")


def run(argv: Sequence[str]) -> int:
    """Hand the arguments to Hydra, which composes the config and calls `boostbench.cli.job.job`.

    Parameters
    ----------
    argv : sequence of str
        Everything after ``boostbench run``.

    Returns
    -------
    int
        Exit code.
    """
    # A launcher is a config group, which Hydra writes with a slash; the dot is easily typed.
    argv = [re.sub(r"^hydra\.(launcher|sweeper)=", r"hydra/\1=", arg) for arg in argv]
    with allow_lazy_help():
        parser = get_args_parser()
    parser.error = _refuse
    args = parser.parse_intermixed_args(argv)
    flags = [arg for arg in argv if arg not in args.overrides]
    checks.check_once(args.overrides)
    folders = [Path(args.config_dir)] if args.config_dir else []
    for flag in _REFUSED:
        if getattr(args, flag):
            raise UserError(f"--{flag.replace('_', '-')} is not for boostbench; see --config-dir")
    if sum(map(bool, (args.run, args.multirun, args.cfg, args.info, args.shell_completion))) > 1:
        raise UserError("only one of --run, --multirun, --cfg, --info and --shell-completion goes")
    for folder in folders:
        if (folder / "hydra").exists():
            raise UserError(f"{folder / 'hydra'}: a folder of configs cannot change Hydra itself")
    if not args.shell_completion:
        written = [checks.written_out(override, folders) for override in args.overrides]
        args.overrides = checks.allow_new_parameters(written)
    # Hydra takes no flags behind overrides.
    argv = flags + args.overrides
    _check_working_directory()
    has_mode = bool(args.config_dir) or any("hydra.mode=" in o for o in args.overrides)
    with (
        one_line_errors(),
        _hydra_environment(argv),
        allow_lazy_help(),
        raise_from_jobs(JobFailed),
    ):
        if not args.shell_completion:
            checks.check(args.overrides, folders)
        settings = settings_of(args.overrides) if args.multirun else []
        # Another folder for each job, or one that is called as it is written.
        if "results" in swept(settings) or (settings and "${" in str(results_of(settings))):
            raise UserError("a sweep has one folder of results; run it once for each folder")
        sweep_file = results_of(settings) / "multirun" / "multirun.yaml" if settings else None
        if sweep_file:
            _remove_link(sweep_file)
        is_shown = not any(override.startswith("shard=") for override in args.overrides)
        code = 0
        try:
            with nullcontext() if has_mode else skip_mode():
                hydra.main(str(configs.conf_dir()), "config", version_base="1.3")(_task(settings))()
        except JobFailed as failure:
            code = failure.args[0]
        except OSError as error:
            # Hydra writes a sweep down before the first job.
            named = Path(error.filename or "")
            if sweep_file is None or named not in (sweep_file, *sweep_file.parents[:-1]):
                raise
            raise _cannot_write(sweep_file, error) from error
        if len(settings) > 1 and is_shown and not args.config_dir:
            from boostbench.cli.job import print_sweep

            print_sweep(settings)
    return code


def _task(settings: Sequence[Sequence[str]]) -> Callable[[DictConfig], float]:
    """Make the task function of Hydra, which imports what it needs when it is called."""

    def task(cfg: DictConfig) -> float:
        with spinner("starting"):
            from boostbench.cli.job import job

        return job(cfg, swept(settings))

    return task


def _check_working_directory() -> None:
    try:
        os.getcwd()
    except FileNotFoundError:
        told = "the working directory does not exist any more; change to another one"
        raise UserError(told) from None


def _remove_link(path: Path) -> None:
    """Remove a symbolic link from the place of a file that Hydra writes, as it follows links."""
    try:
        check_folders(path, depth=1)
        if path.is_symlink():
            path.unlink()
    except OSError as error:
        raise _cannot_write(path, error) from None


def _cannot_write(path: Path, error: OSError) -> UserError:
    return UserError(f"cannot write {path}: {os_error_reason(error)}; {RESULTS_ELSEWHERE}")


def _refuse(message: str) -> NoReturn:
    raise UserError(f"{message}; 'boostbench run --hydra-help' shows the flags")


@contextmanager
def _hydra_environment(argv: Sequence[str]) -> Iterator[None]:
    """Let Hydra read `argv`, and raise its errors instead of printing them and leaving."""
    variables = {"BOOSTBENCH_DEBUG": str(int(is_debugging())), "HYDRA_FULL_ERROR": "1"}
    arguments = {"argv": ["boostbench", *argv]}
    with temporarily_set(os.environ, variables), temporarily_set(vars(sys), arguments):
        yield
