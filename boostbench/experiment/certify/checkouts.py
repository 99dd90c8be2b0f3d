"""Checkouts of commits, side by side with the one that is at work, by ``git worktree``."""

import contextlib
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from boostbench.errors import UserError


class Repository:
    """The git checkout that a package is imported from.

    Parameters
    ----------
    package : Path
        Folder of the package.

    Attributes
    ----------
    root : Path
        Top of the checkout.
    head : str
        The commit that is checked out.

    Raises
    ------
    UserError
        If there is no git, no checkout, or if the package holds what is not committed: what is
        certified has to be found again.
    """

    def __init__(self, package: Path):
        package = package.resolve()
        try:
            self.root = Path(_git(package, "rev-parse", "--show-toplevel"))
        except (OSError, subprocess.CalledProcessError) as error:
            raise UserError(
                f"{package} is in no git checkout ({_reason(error)}); certify needs one, with the "
                "commits that made the records"
            ) from None
        if not _git(package, "ls-files", "--", "."):
            raise UserError(f"git does not know {package}; certify needs a checkout that it is of")
        changed = _git(package, "status", "--porcelain", "--untracked-files=all", "--", ".")
        if changed:
            first, *others = [line[3:] for line in changed.splitlines()]
            more = f" and {len(others)} more" if others else ""
            raise UserError(
                f"{first}{more} changed since the last commit; commit or stash it first"
            )
        self.head = _git(self.root, "rev-parse", "HEAD")
        #: Where modules are imported from, below the top.
        self.source = package.parent.relative_to(self.root)

    @contextlib.contextmanager
    def checkout(self, commit: str) -> Iterator[Path]:
        """Check a commit out into a folder that lasts as long as the context.

        Yields
        ------
        Path
            The folder that modules are imported from.

        Raises
        ------
        UserError
            If there is no such commit here.
        """
        with tempfile.TemporaryDirectory(prefix="boostbench-") as folder:
            tree = Path(folder, commit[:12])
            try:
                _git(self.root, "worktree", "add", "--detach", str(tree), commit)
            except subprocess.CalledProcessError as error:
                raise UserError(
                    f"cannot check out commit {commit[:12]}: {_reason(error)}; fetch it first"
                ) from None
            try:
                yield tree / self.source
            finally:
                with contextlib.suppress(subprocess.CalledProcessError):
                    _git(self.root, "worktree", "remove", "--force", str(tree))


def _git(folder: Path, *arguments: str) -> str:
    call = ["git", "-C", str(folder), *arguments]
    done = subprocess.run(call, capture_output=True, text=True, check=True)
    return done.stdout.rstrip("\n")


def _reason(error: OSError | subprocess.CalledProcessError) -> str:
    if isinstance(error, OSError):
        return f"git: {error.strerror}"
    lines = error.stderr.strip().splitlines()
    return lines[-1] if lines else f"git gave {error.returncode}"
