"""What makes the numbers of a config today, as far as a record can be held against it.

A class of boostbench says by its attribute ``edition`` which of its numbers it gives: whoever
changes them on purpose counts it up. A class of an installed distribution goes by the version of
that, and any other class by the text of its module's file.
"""

import functools
import hashlib
import importlib.metadata
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from boostbench.spec.trusted_imports import class_names, distribution_of, import_class
from boostbench.util.errors import UserError

_PACKAGE = "boostbench"
#: The edition of records and classes that name none.
FIRST_EDITION = 1


class Maker(NamedTuple):
    """What makes the numbers of a config today.

    Attributes
    ----------
    edition : int
        Of the estimator's class; editions of objects within its parameters above the first add up.
    source : str or None
        16 hex digits of the SHA-256 of the files of the user's own classes; None without any.
    versions : dict of str to str
        Versions of the installed distributions that classes come from.
    """

    edition: int
    source: str | None
    versions: Mapping[str, str]

    @classmethod
    def of(cls, algo: Mapping, measure: type) -> "Maker":
        """Look at the classes of a config's ``algo`` and at that of the measure."""
        targets = tuple(class_names(algo))
        return _maker(targets, (*(name.rpartition(".")[0] for name in targets), measure.__module__))

    def facts(self) -> dict:
        """Say what a record holds of it; the environment holds the versions."""
        facts = {"edition": self.edition} if self.edition != FIRST_EDITION else {}
        return facts | ({"source": self.source} if self.source else {})

    def made(self, record: Mapping) -> bool:
        """Whether a record was made by an equal one."""
        environment = record["environment"] or {}
        return (
            record.get("edition", FIRST_EDITION) == self.edition
            # What was recorded before there were such hashes has none.
            and record.get("source", self.source) == self.source
            and all(environment.get(name, now) == now for name, now in self.versions.items())
        )


@functools.cache
def _maker(targets: tuple[str, ...], modules: tuple[str, ...]) -> Maker:
    packages = {module: module.partition(".")[0] for module in modules}
    own = sorted(module for module, package in packages.items() if package != _PACKAGE)
    origins = {module: distribution_of(packages[module]) for module in own}
    versions = {name: importlib.metadata.version(name) for name in set(origins.values()) - {None}}
    own = [module for module in own if origins[module] is None]
    edition = FIRST_EDITION + sum(_edition(target) - FIRST_EDITION for target in targets)
    return Maker(edition, _digest(own) if own else None, versions)


def _edition(target: str) -> int:
    if distribution_of(target.partition(".")[0]) not in (None, _PACKAGE):
        return FIRST_EDITION
    edition = getattr(import_class(target), "edition", FIRST_EDITION)
    if not isinstance(edition, int) or edition < FIRST_EDITION:
        raise UserError(f"{target}.edition is {edition!r}; it must be 1, 2, ...")
    return edition


def _digest(modules: list[str]) -> str:
    digest = hashlib.sha256()
    for module in modules:
        path = getattr(sys.modules[module], "__file__", None)
        if path is None:  # a notebook or a prompt
            raise UserError(
                f"the classes of {module} are in no file; put them into a module beside the "
                "working folder, as records name the source of a class"
            )
        digest.update(module.encode() + b"\0" + Path(path).read_bytes())
    return digest.hexdigest()[:16]
