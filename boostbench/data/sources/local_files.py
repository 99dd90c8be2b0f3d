"""Local data files: look-up by name, and reading in any supported format.

Modules of this folder test for a file by `os.path`: `Path` raises an error if a folder may not be
entered, or a name is too long.
"""

import bz2
import gzip
import lzma
import os
import re
import unicodedata
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from boostbench.data.data_table import LabelledData, dense_unless_large, features_and_labels
from boostbench.data.decompression import decompress
from boostbench.data.fixed_splits import read_splits, remap_rows
from boostbench.data.readers.arff import read_arff
from boostbench.data.readers.csv import read_csv
from boostbench.data.readers.idx import read_idx
from boostbench.data.readers.libsvm import read_libsvm
from boostbench.data.readers.npz import join_parts, read_npz
from boostbench.util.errors import UserError
from boostbench.util.user_paths import slug, user_path

#: Endings of IDX files, images and labels: first the training part, then the test part.
IDX_PARTS = (
    ("-train-images-idx3-ubyte", "-train-labels-idx1-ubyte"),
    ("-t10k-images-idx3-ubyte", "-t10k-labels-idx1-ubyte"),
)
IDX = IDX_PARTS[0][0]

#: Formats in the order of the search.
FORMATS = (".svm", ".arff", ".csv", ".npz", IDX)
#: Formats of other endings of a user's files.
ALIASES = {".libsvm": ".svm", ".svmlight": ".svm", ".scale": ".svm", ".data": ".csv"}
#: For each key of a config that applies to some formats only: the names of these formats for
#: messages, and their endings.
FORMAT_OPTIONS = {
    "labels": ("CSV and ARFF", (".csv", ".arff")),
    "na_values": ("CSV", (".csv",)),
    "header": ("CSV", (".csv",)),
}
#: Functions that open a file, by the ending of its compression.
OPENERS = {"": open, ".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def data_folder() -> Path | None:
    """Return the folder of data files, ``$BOOSTBENCH_DATA``; None if it is not set."""
    folder = os.environ.get("BOOSTBENCH_DATA")
    return user_path(folder) if folder else None


def file_stem(spec: Mapping[str, Any]) -> str:
    """Return the name of a data set's files, without endings."""
    return spec.get("file") or spec["name"]


def local_file(spec: Mapping[str, Any]) -> Path | None:
    """Return the local file of a data set; None if there is none."""
    if spec.get("path"):
        return user_path(spec["path"])
    folder = data_folder()
    return find_file(file_stem(spec), folder) if folder else None


def find_file(stem: str, folder: Path) -> Path | None:
    """Return the file of a data set in a folder.

    Parameters
    ----------
    stem : str
        File name without endings.
    folder : Path
        Folder of data files.

    Returns
    -------
    Path or None
        First existing file among ``STEM.svm``, ``STEM.svm.gz``, ...; for IDX files the images of
        the training part. None: there is no such file.
    """
    for ending in FORMATS:
        for compression in OPENERS:
            path = folder / f"{stem}{ending}{compression}"
            if os.path.isfile(path):
                return path
    return None


def read_file(
    path: Path,
    labels: str | None = None,
    missing: str | None = None,
    na_values: Sequence[str | float] = (),
    header: bool | None = None,
) -> LabelledData:
    """Load a data file, compressed or not.

    Fixed splits are read from ``STEM.splits.npz`` in the same folder, if it exists.

    Parameters
    ----------
    path : Path
        Path of the file. Its ending names the format: .svm (.libsvm, .svmlight, .scale), .arff,
        .csv (.data), .npz, or the IDX images of a training part.
    labels : str, default=None
        Column of the classes in ARFF and CSV files. None: the column named ``class``, else the
        last one.
    missing : str, default=None
        Treatment of rows with missing features, see
        `boostbench.data.data_table.features_and_labels`. None: an error in ARFF and CSV files.
    na_values : sequence of str or float, default=()
        Further words or numbers that mark missing values in CSV files.
    header : bool, default=None
        Whether the first line of a CSV file is a header. None: see
        `boostbench.data.csv_header.guess_header`.

    Returns
    -------
    LabelledData

    Raises
    ------
    UserError
        If the file does not exist, its format is unknown, or it cannot be read.
    """
    if not os.path.isfile(path):
        raise UserError(f"there is no file {path}; check the path")
    stem, ending = stem_and_format(path)
    if ending in FORMATS:
        options = {"labels": labels, "na_values": na_values, "header": header}
        check_format_options(options, ending, f"{path.name} has another format")
    location = str(path)
    with _open_file(path) as stream:
        if ending == ".svm":
            X, y = read_libsvm(stream, location)
            data = LabelledData(dense_unless_large(X), y)
        elif ending == ".arff":
            data = features_and_labels(read_arff(stream, location), labels, missing=missing)
        elif ending == ".csv":
            table = read_csv(stream, location, labels, na_values, header)
            data = features_and_labels(table, labels, missing=missing)
        elif ending == ".npz":
            X, y, splits = read_npz(stream, location)
            data = LabelledData(X, y, splits=splits)
        elif ending == IDX:
            X, y, splits = _read_idx_parts(path)
            data = LabelledData(X, y, splits=splits)
        else:
            raise UserError(
                f"{path}: the ending does not say the format; name it *.svm, *.arff, *.csv or "
                "*.npz, perhaps with .gz, .bz2 or .xz"
            )
    if missing == "drop" and data.kept_rows is None:
        data = data.drop_incomplete_rows(location)
    splits_path = path.with_name(f"{stem}.splits.npz")
    if os.path.isfile(splits_path):
        kept_rows = data.kept_rows
        splits = read_splits(splits_path, len(data.y if kept_rows is None else kept_rows))
        data = data._replace(splits=remap_rows(splits, kept_rows, str(splits_path)))
    if data.names and not data.categories and _is_column_numbering(data.names):
        data = data._replace(names=None)
    return data


def _is_column_numbering(names: Sequence[str]) -> bool:
    """Return whether n names are the numbers from 0 to n in order, without one of them.

    The absent number belongs to the class column if a header counts from 0. It is 0 if the header
    counts from 1 and the class column is the last one.
    """
    name_set, numbers = set(names), map(str, range(len(names) + 1))
    return names == [number for number in numbers if number in name_set]


def check_format_options(options: Mapping[str, Any], ending: str, explanation: str) -> None:
    """Check that the format of an ending supports all options of a config.

    Raises
    ------
    UserError
        If the format does not support an option; the message ends with `explanation`.
    """
    for key, (formats, endings) in FORMAT_OPTIONS.items():
        if options.get(key) not in (None, (), []) and ending not in endings:
            raise UserError(f"data.{key} applies to {formats} files only; {explanation}")


def stem_and_format(path: Path) -> tuple[str, str]:
    """Return the stem of a file name and its format, without compression.

    Examples
    --------
    >>> stem_and_format(Path("/x/vowel.svm.gz"))
    ('vowel', '.svm')
    >>> stem_and_format(Path("my.scale"))
    ('my', '.svm')
    """
    name = path.name.removesuffix(path.suffix) if path.suffix in OPENERS else path.name
    if name.endswith(IDX):
        return name.removesuffix(IDX), IDX
    stem, ending = os.path.splitext(name)
    return stem, ALIASES.get(ending.lower(), ending.lower())


def data_set_name(path: Path) -> str:
    """Return the name of the data set in a file, which its records are filed under.

    Different files may have equal names: `boostbench.records.data_sets` distinguishes their
    records.

    Examples
    --------
    >>> [data_set_name(Path(name)) for name in ("x/v1.0.csv.gz", "my = data.csv", "..x.csv")]
    ['v1.0', 'my_data', '_x']
    """
    # Some file systems decompose accented letters.
    name = slug(unicodedata.normalize("NFC", stem_and_format(path)[0]), ".+-")
    return name if re.match(r"\w", name) else f"_{name.lstrip('.+-')}"


@contextmanager
def _open_file(path: Path) -> Iterator[BinaryIO]:
    """Open and decompress a file; raise a UserError for any error of reading it."""
    opener = OPENERS.get(path.suffix, open)
    try:
        with opener(path, "rb") as stream:
            yield stream if opener is open else decompress(stream, path)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise UserError(f"{path} cannot be read, or is damaged ({error})") from None


def _read_idx_parts(path: Path):
    """Return images and labels of both parts, given the images of the training part."""
    parts = []
    for names in IDX_PARTS:
        files = [path.with_name(path.name.replace(IDX, name)) for name in names]
        arrays = []
        for file in files:
            with _open_file(file) as stream:
                arrays.append(read_idx(stream, str(file)))
        parts.append(tuple(arrays))
    return join_parts(parts, str(path))
