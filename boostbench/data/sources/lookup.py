"""The sources of data in their order, and what is said when none has them."""

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from boostbench import configs
from boostbench.data.dataset import Dataset
from boostbench.data.missing_values import chosen
from boostbench.data.sources import bundles, cache
from boostbench.data.sources.builtin import as_in_libsvm, bundled, generate
from boostbench.data.sources.local_files import (
    check_format,
    data_folder,
    local_file,
    read_file,
    stem_of,
)
from boostbench.data.sources.openml_client import Unreachable, download
from boostbench.errors import UserError

logger = logging.getLogger(__name__)

# What is asked of OpenML, and so decides whether the copy in the cache answers it.
_ASKED = ("id", "target", "keep", "drop")


class NotAtHand(UserError):
    """No source has a data set."""


class Offline(NotAtHand):
    """A data set is not at hand, and OpenML, which has it, cannot be reached."""


class Found(NamedTuple):
    """Data as a source has them.

    Attributes
    ----------
    dataset : Dataset
    about : mapping
        The part of the config that says what to take of them, and how many there are.
    is_prepared : bool
        Whether all that the config asks for is done already.
    kept : ndarray of shape (n_rows,), bool, or None
        Which rows of the source these are, where some were left out.
    """

    dataset: Dataset
    about: Mapping[str, Any]
    is_prepared: bool = False
    kept: np.ndarray | None = None


def find(spec: Mapping[str, Any]) -> Found:
    """Take data from the first source that has them.

    Parameters
    ----------
    spec : mapping
        As for `boostbench.data.load`.

    Returns
    -------
    Found

    Raises
    ------
    NotAtHand
        No source has them; `Offline` if OpenML may have.
    UserError
        They cannot be read.
    """
    tried: list[str | Exception] = []
    for _, fetch in _sources(spec):
        found = fetch()
        if isinstance(found, Found):
            return found
        tried.append(found)
    is_offline = any(isinstance(reason, Unreachable) for reason in tried)
    others = f"; {', '.join(_at_hand())} need no download" if is_offline else ""
    raise (Offline if is_offline else NotAtHand)(
        f"data set {spec['name']!r} is not at hand: {'; '.join(map(str, filter(None, tried)))}. "
        f"Put {stem_of(spec)}.svm (or .arff, .csv, .npz) into $BOOSTBENCH_DATA, or give "
        f"data.path=FILE{others}"
    )


def available(spec: Mapping[str, Any]) -> str:
    """Say which source would be asked first, without loading anything.

    Parameters
    ----------
    spec : mapping
        As for `boostbench.data.load`.

    Returns
    -------
    str
        ``"bundle"``, ``"file vowel.svm.gz"``, ``"cache"``, ``"scikit-learn"``, ``"generated"``,
        what `source_of` gives, or ``""``: a file is needed.
    """
    return next((name for name, _ in _sources(spec) if name), "")


def source_of(spec: Mapping[str, Any]) -> str:
    """Say where OpenML has a data set: ``"OpenML 307"``, ``"OpenML task 3"``, or ``""``."""
    if spec.get("openml_task"):
        return f"OpenML task {spec['openml_task']}"
    return f"OpenML {spec['openml']['id']}" if spec.get("openml") else ""


def _sources(
    spec: Mapping[str, Any],
) -> Iterator[tuple[str, Callable[[], Found | str | Exception]]]:
    """Yield what to say of each source, "" where it is not there, and what fetches data from it.

    That gives a reason where it has none, "" where nobody would look there.
    """
    folder, name, seed = data_folder(), spec["name"], spec.get("seed") or 0
    if folder and not spec.get("path"):
        is_there = os.path.isfile(bundles.bundle_path(folder, name))
        yield "bundle" if is_there else "", lambda: _from_bundle(folder, spec)
    path = local_file(spec)
    yield f"file {path.name}" if path else "", lambda: _from_file(path, spec)
    openml = _openml(spec)
    if openml:
        is_there = os.path.isfile(cache.cache_path(stem_of(spec)))
        yield "cache" if is_there else "", lambda: _from_cache(openml, spec)
    if spec.get("sklearn"):
        yield "scikit-learn", lambda: _from_sklearn(spec)
    if spec.get("generate"):
        yield "generated", lambda: Found(generate(name, spec["generate"], seed), spec)
    if openml:
        yield source_of(spec), lambda: _from_openml(openml, spec)


def _from_bundle(folder: Path, spec: Mapping[str, Any]) -> Found | str:
    dataset = bundles.fetch_bundle(folder, spec)
    if dataset is not None:
        return Found(dataset, spec, is_prepared=True)
    path = bundles.bundle_path(folder, spec["name"])
    return f"{path} is of other settings of data" if os.path.isfile(path) else ""


def _from_file(path: Path | None, spec: Mapping[str, Any]) -> Found | str:
    if path is None:
        check_format(spec, "", "and needs data.path")
        return _no_file(spec)
    labels = None if spec.get("labels") is None else str(spec["labels"])
    na_values = spec.get("na_values") or ()
    header = spec.get("header")
    X, y, splits, words, names, kept = read_file(path, labels, chosen(spec), na_values, header)
    dataset = Dataset(spec["name"], X, y, f"file {path}", splits, names=names)
    if spec.get("path") and words and not (spec.get("features") or dataset.is_sparse):
        dataset = replace(dataset, words=words)
        template = "%s: algorithms that take categories get columns of 3 or more words as such"
        logger.warning(template, path)
    return Found(dataset, spec, kept=kept)


def _no_file(spec: Mapping[str, Any]) -> str:
    folder = data_folder()
    if folder is None:
        return "$BOOSTBENCH_DATA is not set"
    if not os.path.isdir(folder):
        return f"$BOOSTBENCH_DATA is {folder}, which is no folder"
    return f"no {stem_of(spec)}.svm, .arff, .csv or .npz in {folder}"


def _openml(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give what is asked of OpenML, if anything."""
    task = spec.get("openml_task")
    return {"task": task} if task else spec.get("openml") or {}


def _check_counted(openml: Mapping[str, Any], spec: Mapping[str, Any]) -> None:
    """Refuse to leave out rows that the training part counts: a copy does not say which."""
    if openml.get("train_rows") and spec.get("missing") == "drop":
        raise UserError(
            f"data.missing=drop leaves rows out, which openml.train_rows of {source_of(spec)} "
            "counts; take data.missing=median"
        )


def _from_cache(openml: Mapping[str, Any], spec: Mapping[str, Any]) -> Found | str | Exception:
    _check_counted(openml, spec)
    try:
        copy = cache.fetch(stem_of(spec), _origin(openml, spec))
    except ValueError as error:
        logger.warning("%s; it is not used", error)
        return error
    return "not in the cache" if copy is None else Found(copy, openml)


def _from_sklearn(spec: Mapping[str, Any]) -> Found:
    copy = bundled(spec["name"], spec["sklearn"])
    return Found(as_in_libsvm(copy) if spec.get("as_in_libsvm") else copy, spec)


def _from_openml(openml: Mapping[str, Any], spec: Mapping[str, Any]) -> Found | Exception:
    _check_counted(openml, spec)
    try:
        dataset = download(stem_of(spec), _asked(openml), spec.get("missing"))
    except ConnectionError as error:
        return error
    cache.store(dataset, _origin(openml, spec))
    return Found(dataset, openml)


def _asked(openml: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give what decides what OpenML answers."""
    return openml if "task" in openml else {key: openml.get(key) for key in _ASKED}


def _origin(openml: Mapping[str, Any], spec: Mapping[str, Any]) -> dict:
    """Give what decides what the cache answers."""
    return {**_asked(openml), "missing": spec.get("missing")}


def _at_hand() -> list[str]:
    """List the data sets that need neither a file nor a network."""
    specs = {name: configs.read("data", name) for name in configs.names("data")}
    return [name for name, spec in specs.items() if spec.get("sklearn") or spec.get("generate")]
