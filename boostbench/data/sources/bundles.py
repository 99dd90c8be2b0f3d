"""Bundles: prepared data sets in files with checksums.

A bundle makes results reproducible after a server is gone. It is a folder for ``$BOOSTBENCH_DATA``
with a file ``NAME.bundle.npz`` for each data set, and ``SHA256SUMS`` for ``sha256sum -c``.
"""

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from boostbench.data.dataset import Dataset
from boostbench.data.sources import cache
from boostbench.spec.data import DataSpec
from boostbench.util.errors import UserError, os_error_reason
from boostbench.util.file_lock import file_lock
from boostbench.util.files import atomic_write, file_sha256

CHECKSUM_FILE = "SHA256SUMS"
_SUFFIX = ".bundle.npz"
_REMEDY = "fetch the bundle again, or create it by boostbench data --bundle"


def bundle_path(folder: Path, name: str) -> Path:
    """Return the path of a data set in a bundle."""
    return Path(folder) / f"{name}{_SUFFIX}"


def write_bundle(folder: Path, spec: DataSpec, dataset: Dataset) -> Path:
    """Add a data set to a bundle.

    Parameters
    ----------
    folder : Path
        Folder of the bundle; created if it is missing.
    spec : DataSpec
        Specification; `read_bundle` returns the data set for an equal one only.
    dataset : Dataset
        Result of `boostbench.data.load` for this specification.

    Returns
    -------
    Path
        Path of the written file.

    Raises
    ------
    UserError
        If the file cannot be written.
    """
    path = bundle_path(folder, dataset.name)
    # A lock keeps one of two concurrent writers from dropping the other's checksum.
    with file_lock(path, remedy="choose another folder"):
        # The folder of the source means nothing on another machine.
        portable = replace(dataset, source=re.sub(r"^file .*[/\\]", "file ", dataset.source))
        cache.write(path, portable, _identifying_spec(spec))
        checksums = _read_checksums(path.parent) | {path.name: file_sha256(path)}
        lines = "".join(f"{digest}  {name}\n" for name, digest in sorted(checksums.items()))
        atomic_write(path.parent / CHECKSUM_FILE, lambda stream: stream.write(lines.encode()))
    return path


def read_bundle(folder: Path, spec: DataSpec) -> Dataset | None:
    """Load a data set from a bundle.

    Parameters
    ----------
    folder : Path
        Folder, with or without a bundle.
    spec : DataSpec
        Specification of the data set.

    Returns
    -------
    Dataset or None
        None if the folder has no data set of this name, or one for another specification.

    Raises
    ------
    UserError
        If the file cannot be read, or differs from its checksum.
    """
    path = bundle_path(folder, spec.name)
    if not os.path.isfile(path):
        return None
    try:
        _verify_checksum(path)
        dataset = cache.read(path, spec.name, _identifying_spec(spec))
    except UserError:
        raise
    except OSError as error:
        raise UserError(
            f"{error.filename or path} cannot be read: {os_error_reason(error)}"
        ) from None
    except Exception as error:
        raise UserError(f"{path} cannot be read ({error}); {_REMEDY}") from None
    return dataset and replace(dataset, source=f"file {path}, of {dataset.source}")


def _verify_checksum(path: Path) -> None:
    expected = _read_checksums(path.parent).get(path.name)
    if expected is None:
        raise UserError(f"{path} is not in {path.parent / CHECKSUM_FILE}; {_REMEDY}")
    if file_sha256(path) != expected:
        sums = path.parent / CHECKSUM_FILE
        raise UserError(f"{path} differs from its checksum in {sums}; {_REMEDY}")


def _identifying_spec(spec: DataSpec) -> dict[str, Any]:
    """Return the keys of a config that determine the data."""
    config = spec.to_config()
    config.pop("expect", None)
    if openml := config.get("openml"):
        config["openml"] = {k: v for k, v in openml.items() if v is not None and k != "expect"}
    return config


def _read_checksums(folder: Path) -> dict[str, str]:
    path = folder / CHECKSUM_FILE
    if not os.path.isfile(path):
        return {}
    text = path.read_text(encoding="utf-8", errors="replace")
    entries = re.findall(r"^([0-9a-f]{64}) [ *](.+)$", text, re.MULTILINE)
    return {name: digest for digest, name in entries}
