"""Where the data of a config come from: the order of sources, and what is said when none has it."""

import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from boostbench import configs
from boostbench.data import bundles, cache
from boostbench.data.bundled import as_in_libsvm, bundled, generate
from boostbench.data.dataset import Dataset
from boostbench.data.files import data_folder, local_file, read_file, stem_of
from boostbench.data.fixed_splits import drawn_pools, first_rows
from boostbench.data.missing import chosen, validate
from boostbench.data.openml_source import Unreachable, download
from boostbench.data.spec import check
from boostbench.errors import UserError

logger = logging.getLogger(__name__)

# What is asked of OpenML, and so decides whether the copy in the cache answers it.
_ASKED = ("id", "target", "keep", "drop")


class NotAtHand(UserError):
    """No source has a data set."""


class Offline(NotAtHand):
    """A data set is not at hand, and OpenML, which has it, cannot be reached."""


def load(spec: Mapping[str, Any]) -> Dataset:
    """Load and validate a data set.

    The first source that has it is taken: the file ``path``; a bundle in ``$BOOSTBENCH_DATA``
    (`boostbench.data.bundles`), if it was made for the same config; ``NAME.svm``, ``.arff``,
    ``.csv`` or ``.npz``, perhaps compressed, in ``$BOOSTBENCH_DATA``; the local cache;
    scikit-learn; a generator; OpenML, which fills the cache.

    Parameters
    ----------
    spec : mapping
        A config of ``conf/data/``, resolved. Keys, of which only ``name`` is required:

        - ``name``: what to call the data set;
        - ``path``: a file, taken before all else;
        - ``openml_task``: number of a task of OpenML, whose splits are the fixed splits;
        - ``labels``: the column of a CSV or ARFF file that holds the classes;
        - ``missing``: ``drop``, which leaves rows with missing values out; ``mean``, ``median``,
          ``most_frequent``, by which they are filled when it is fitted; ``keep``, which does so for
          algorithms that take no missing values, by the median; or null, an error, and of the file
          ``path`` ``keep``;
        - ``na_values``: what else means a missing value in a CSV file, a list of words or numbers;
        - ``file``: stem of the file in ``$BOOSTBENCH_DATA`` and in the cache, default ``name``;
        - ``features``: ``[start, stop]``, the features of a file to take (``openml`` has its own
          ``keep`` and ``drop``);
        - ``rows``: ``[start, stop]``, the rows to take;
        - ``classes``: the classes to take, a list of labels or the number of the first ones;
        - ``positive``: the labels that are class 1, and all others class -1;
          ``expect`` is of the data before that;
        - ``pools``: ``[number, splits, per_class]``, so many drawings of so many rows of each
          class, each divided so many times: the fixed splits, drawn by ``seed``;
        - ``redraw``: so many rows of each class, drawn with replacement by ``seed``; ``expect`` is
          of the data before that;
        - ``train_rows``: the official training part is that many first rows of the file;
        - ``openml``: ``id``, ``target``, ``keep``, ``drop``, ``train_rows``, ``expect``;
        - ``sklearn``: a loader, e.g. ``load_wine``;
        - ``as_in_libsvm``: whether scikit-learn's copy is scaled as the file of LIBSVM's collection
          is, and so equal to it;
        - ``generate``: ``function`` and its arguments;
        - ``descriptor``: ``kind`` (gist, hog or hog_pyramid) and ``shape`` of the images that it
          takes the place of; ``expect`` is of what comes out;
        - ``seed``: of the generator, of ``pools`` and of ``redraw``, default 0;
        - ``expect``: numbers of ``samples``, ``features``, ``classes``, as far as known;
          ``openml.expect`` takes its place for data from OpenML.

    Returns
    -------
    Dataset

    Raises
    ------
    Offline
        OpenML has the data, and nothing else, but it cannot be reached.
    NotAtHand
        No source has the data.
    UserError
        The data cannot be read or used, or are not as expected.
    """
    check(spec)
    path = spec.get("path")
    anywhere = {"path": str(Path(path).expanduser().absolute())} if path else {}
    return replace(_load(spec), spec={**spec, **anywhere})


def _load(spec: Mapping[str, Any]) -> Dataset:
    name, openml, folder = spec["name"], _openml(spec), data_folder()
    if folder and not spec.get("path"):
        whole = bundles.fetch_bundle(folder, spec)
        if whole is not None:
            return whole
    path = local_file(spec)
    if path is not None:
        labels = None if spec.get("labels") is None else str(spec["labels"])
        na_values = spec.get("na_values") or ()
        X, y, splits, words, names = read_file(path, labels, chosen(spec), na_values)
        dataset, about = Dataset(name, X, y, f"file {path}", splits, names=names), spec
        if spec.get("path") and words and not (spec.get("features") or dataset.is_sparse):
            dataset = replace(dataset, words=words)
            template = "%s: algorithms that take categories get columns of 3 or more words as such"
            logger.warning(template, path)
        if spec.get("features"):
            span = _span(spec, "features", dataset)
            dataset = replace(dataset, X=X[:, span], names=names and names[span])
    elif spec.get("na_values"):
        raise UserError("data.na_values is of CSV files, and needs data.path")
    else:
        dataset, about = _without_file(spec, openml)
    n_train, n_samples = about.get("train_rows"), dataset.n_samples
    if n_train and dataset.splits is None:
        if n_train >= n_samples:
            raise UserError(
                f"data.train_rows is {n_train}, but {dataset.source} has {n_samples} rows; some "
                "must be left to test"
            )
        dataset = replace(dataset, splits=[first_rows(n_train, n_samples)])
    if spec.get("rows"):
        dataset = dataset.take(_span(spec, "rows", dataset))
    if spec.get("descriptor"):
        from boostbench.data.descriptors import described  # slow to import

        kind, shape = (spec["descriptor"][key] for key in ("kind", "shape"))
        X = described(dataset.X, kind, tuple(shape))
        dataset = replace(dataset, X=X, words=(), names=None)
    expect = about.get("expect", spec.get("expect")) or {}
    dataset = validate(replace(dataset, name=name, expect=expect), chosen(spec))
    if spec.get("classes") is not None:
        dataset = dataset.take_classes(spec["classes"])
    if spec.get("redraw"):
        dataset = dataset.redrawn(spec["redraw"], spec.get("seed") or 0)
    if spec.get("pools"):
        pools = drawn_pools(dataset.y, *spec["pools"], spec.get("seed") or 0)
        dataset = replace(dataset, splits=pools)
    return dataset.against_the_rest(spec["positive"]) if spec.get("positive") else dataset


def _span(spec: Mapping[str, Any], key: str, dataset: Dataset) -> slice:
    """Give the rows or features to take, which must be there."""
    (start, stop), size = spec[key], {"rows": dataset.n_samples, "features": dataset.n_features}
    if stop > size[key]:
        raise UserError(
            f"data.{key} is [{start}, {stop}], but {dataset.source} has {size[key]} {key}"
        )
    return slice(start, stop)


def available(spec: Mapping[str, Any]) -> str:
    """Say where `load` would look first, without loading anything.

    Parameters
    ----------
    spec : mapping
        As for `load`.

    Returns
    -------
    str
        ``"bundle"``, ``"file vowel.svm.gz"``, ``"cache"``, ``"scikit-learn"``, ``"generated"``,
        what `source_of` gives, or ``""``: a file is needed.
    """
    folder = data_folder()
    if folder and not spec.get("path") and bundles.bundle_path(folder, spec["name"]).is_file():
        return "bundle"
    path = local_file(spec)
    if path is not None:
        return f"file {path.name}"
    if _openml(spec) and cache.cache_path(stem_of(spec)).is_file():
        return "cache"
    if spec.get("sklearn"):
        return "scikit-learn"
    if spec.get("generate"):
        return "generated"
    return source_of(spec)


def source_of(spec: Mapping[str, Any]) -> str:
    """Say where OpenML has a data set: ``"OpenML 307"``, ``"OpenML task 3"``, or ``""``."""
    if spec.get("openml_task"):
        return f"OpenML task {spec['openml_task']}"
    return f"OpenML {spec['openml']['id']}" if spec.get("openml") else ""


def _openml(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give what is asked of OpenML, if anything."""
    task = spec.get("openml_task")
    return {"task": task} if task else spec.get("openml") or {}


def _without_file(spec: Mapping[str, Any], openml: Mapping[str, Any]):
    """Load from the cache, scikit-learn or OpenML; also return the part of the config that fits."""
    tried = [_no_file(spec)]
    stem, missing = stem_of(spec), spec.get("missing")
    asked = openml if "task" in openml else {key: openml.get(key) for key in _ASKED}
    origin = asked | {"missing": missing}
    if openml:
        try:
            cached = cache.fetch(stem, origin)
            if cached is not None:
                return cached, openml
            tried.append("not in the cache")
        except ValueError as error:
            logger.warning("%s; it is not used", error)
            tried.append(str(error))
    if spec.get("sklearn"):
        copy = bundled(spec["name"], spec["sklearn"])
        return as_in_libsvm(copy) if spec.get("as_in_libsvm") else copy, {}
    if spec.get("generate"):
        return generate(spec["name"], spec["generate"], spec.get("seed") or 0), {}
    kind = NotAtHand
    if openml:
        try:
            dataset = download(stem, asked, missing)
            cache.store(dataset, origin)
            return dataset, openml
        except ConnectionError as error:
            tried.append(str(error))
            kind = Offline if isinstance(error, Unreachable) else NotAtHand
    others = f"; {', '.join(_at_hand())} need no download" if kind is Offline else ""
    raise kind(
        f"data set {spec['name']!r} is not at hand: {'; '.join(tried)}. "
        f"Put {stem}.svm (or .arff, .csv, .npz) into $BOOSTBENCH_DATA, or give data.path=FILE"
        + others
    )


def _at_hand() -> list[str]:
    """List the data sets that need neither a file nor a network."""
    specs = {name: configs.read("data", name) for name in configs.names("data")}
    return [name for name, spec in specs.items() if spec.get("sklearn") or spec.get("generate")]


def _no_file(spec: Mapping[str, Any]) -> str:
    folder = data_folder()
    if folder is None:
        return "$BOOSTBENCH_DATA is not set"
    if not folder.is_dir():
        return f"$BOOSTBENCH_DATA is {folder}, which is no folder"
    return f"no {stem_of(spec)}.svm, .arff, .csv or .npz in {folder}"
