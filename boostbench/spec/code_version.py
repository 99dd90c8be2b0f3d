"""Version of the code that makes the numbers of a config, to be compared with records.

A class of boostbench states the version of its numbers by its attribute ``edition``: whoever
changes the numbers on purpose increases it. The version of a class of an installed distribution is
the distribution's version, and the version of any other class is the text of its module's file.
"""

import functools
import hashlib
import importlib.metadata
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from boostbench.spec.class_facts import class_attribute
from boostbench.spec.trusted_imports import class_names, distribution_of
from boostbench.util.errors import UserError

_PACKAGE = "boostbench"
#: Edition of records and classes that state none.
FIRST_EDITION = 1


class ProvenanceLike(Protocol):
    """Facts of a record's provenance that belong to a version, see `boostbench.records.schema`."""

    edition: int
    source: str | None
    environment: Mapping[str, Any]


class CodeVersion(NamedTuple):
    """Version of the code that makes the numbers of a config today.

    Attributes
    ----------
    edition : int
        Edition of the estimator's class, plus the increases of the editions of objects in its
        parameters.
    source : str or None
        First 16 hex digits of the SHA-256 of the files of user classes; None: no such class.
    versions : dict of str to str
        Versions of the installed distributions that classes come from.
    """

    edition: int
    source: str | None
    versions: Mapping[str, str]

    @classmethod
    def from_config(cls, algo: Mapping[str, Any], measure: type) -> "CodeVersion":
        """Return the version of the classes of a config's ``algo`` and of the measure's class."""
        targets = tuple(class_names(algo))
        modules = (*(name.rpartition(".")[0] for name in targets), measure.__module__)
        return _code_version(targets, modules)

    def to_record(self) -> dict[str, Any]:
        """Return the fields of a record; its environment holds the versions."""
        fields = {"edition": self.edition} if self.edition != FIRST_EDITION else {}
        return fields | ({"source": self.source} if self.source else {})

    def matches(self, provenance: ProvenanceLike) -> bool:
        """Return True if records of a provenance were made by this version."""
        environment = provenance.environment
        return (
            provenance.edition == self.edition
            # Older records have no such digest.
            and provenance.source in (None, self.source)
            and all(environment.get(name, now) == now for name, now in self.versions.items())
        )


@functools.cache
def _code_version(targets: tuple[str, ...], modules: tuple[str, ...]) -> CodeVersion:
    packages = {module: module.partition(".")[0] for module in modules}
    foreign = sorted(module for module, package in packages.items() if package != _PACKAGE)
    origins = {module: distribution_of(packages[module]) for module in foreign}
    versions = {name: importlib.metadata.version(name) for name in set(origins.values()) - {None}}
    edition = FIRST_EDITION + sum(_edition(target) - FIRST_EDITION for target in targets)
    user_modules = [module for module in foreign if origins[module] is None]
    return CodeVersion(edition, _digest_files(user_modules) if user_modules else None, versions)


def _edition(target: str) -> int:
    if distribution_of(target.partition(".")[0]) not in (None, _PACKAGE):
        return FIRST_EDITION
    edition = class_attribute(target, "edition", FIRST_EDITION)
    if not isinstance(edition, int) or edition < FIRST_EDITION:
        raise UserError(f"{target}.edition is {edition!r}; it must be 1, 2, ...")
    return edition


def _digest_files(modules: list[str]) -> str:
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
