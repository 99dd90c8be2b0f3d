"""Bundles: data sets as they are after all preparation, in files with checksums.

A bundle outlives the servers that the data came from. It is a folder for ``$BOOSTBENCH_DATA`` with
a file ``NAME.bundle.npz`` for each data set, and ``SHA256SUMS``, which ``sha256sum -c`` reads too.
"""

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from boostbench.alone import alone
from boostbench.data.dataset import Dataset
from boostbench.data.sources import cache
from boostbench.errors import UserError, cause
from boostbench.whole import write_whole

CHECKSUM_FILE = "SHA256SUMS"
_SUFFIX = ".bundle.npz"
_REMEDY = "fetch the bundle again, or make it anew by boostbench data --bundle"


def bundle_path(folder: Path, name: str) -> Path:
    """Give the file of a data set."""
    return Path(folder) / f"{name}{_SUFFIX}"


def write_bundle(folder: Path, spec: Mapping[str, Any], dataset: Dataset) -> Path:
    """Put a data set into a bundle.

    Parameters
    ----------
    folder : Path
        The bundle; made if it is not there.
    spec : mapping
        Config of the data set; the bundle answers to the same alone.
    dataset : Dataset
        What `boostbench.data.load` gives for it.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    UserError
        If it cannot be written.
    """
    path = bundle_path(folder, dataset.name)
    # Two that write at once would each put its own sum beside those that were there before both.
    with alone(path, remedy="choose another folder"):
        # The folder that it came from is of no use elsewhere.
        portable = replace(dataset, source=re.sub(r"^file .*[/\\]", "file ", dataset.source))
        cache.write(path, portable, _identifying_spec(spec))
        checksums = _read_checksums(path.parent) | {path.name: _sha256(path)}
        lines = "".join(f"{digest}  {name}\n" for name, digest in sorted(checksums.items()))
        write_whole(path.parent / CHECKSUM_FILE, lambda stream: stream.write(lines.encode()))
    return path


def read_bundle(folder: Path, spec: Mapping[str, Any]) -> Dataset | None:
    """Read a data set from a bundle.

    Parameters
    ----------
    folder : Path
        Perhaps a bundle.
    spec : mapping
        Config of the data set.

    Returns
    -------
    Dataset or None
        None if it holds no such data set, or only for another config.

    Raises
    ------
    UserError
        If the file cannot be read, or a byte of it is another than when it was written.
    """
    path = bundle_path(folder, spec["name"])
    if not os.path.isfile(path):
        return None
    try:
        _verify_checksum(path)
        dataset = cache.read(path, spec["name"], _identifying_spec(spec))
    except UserError:
        raise
    except OSError as error:
        raise UserError(f"{error.filename or path} cannot be read: {cause(error)}") from None
    except Exception as error:
        raise UserError(f"{path} cannot be read ({error}); {_REMEDY}") from None
    return dataset and replace(dataset, source=f"file {path}, of {dataset.source}")


def _verify_checksum(path: Path) -> None:
    expected = _read_checksums(path.parent).get(path.name)
    if expected is None:
        raise UserError(f"{path} is not in {path.parent / CHECKSUM_FILE}; {_REMEDY}")
    if _sha256(path) != expected:
        raise UserError(f"{path} is not what {path.parent / CHECKSUM_FILE} says; {_REMEDY}")


def _identifying_spec(spec: Mapping[str, Any]) -> dict:
    """Give what decides the data."""
    identifying = {k: v for k, v in spec.items() if v is not None and k not in ("expect", "openml")}
    openml = spec.get("openml")
    if openml:
        identifying["openml"] = {k: v for k, v in openml.items() if v is not None and k != "expect"}
    return identifying


def _read_checksums(folder: Path) -> dict[str, str]:
    path = folder / CHECKSUM_FILE
    if not os.path.isfile(path):
        return {}
    text = path.read_text(encoding="utf-8", errors="replace")
    entries = re.findall(r"^([0-9a-f]{64}) [ *](.+)$", text, re.MULTILINE)
    return {name: digest for digest, name in entries}


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
