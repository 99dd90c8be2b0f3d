"""Generated files, most of them damaged: each is read, or refused in one line that names it.

The generator is seeded: file number 17 is the same everywhere. ``scripts/fuzz.py`` makes more.
"""

import bz2
import gzip
import io
import lzma
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from boostbench.data.loading import load
from boostbench.data.readers.idx import Idx
from boostbench.util.errors import UserError

#: Files that the tests generate.
N_FILES = 400

#: Bytes that damage a text wherever they are inserted.
SNIPPETS = [
    b"", b",", b";", b"\t", b":", b"::", b"\n", b"\r", b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b'"',
    b"'", b"%", b"#", b"{", b"}", b"?", b"@data\n", b"@attribute", b"@attribute x {\n",
    b"@relation\n", b"nan", b"-inf", b"1e400", b"9" * 25, b"99999999999:1", b"-1:1", b"2:1:1",
    b"qid:x", b"1,5", b"0x1f", b"\xce\xb2", b" " * 40, b"a" * 5000,
]  # fmt: skip
#: Types that an array of an archive may have.
TYPES = [
    "f8",
    "f4",
    "f2",
    "i8",
    "u8",
    "i1",
    "?",
    "c16",
    "U3",
    "S3",
    "M8[s]",
    "m8[s]",
    "V4",
    "i4,f8",
]
COMPRESSIONS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
SPECS = [
    *[{}] * 6,
    {"missing": "drop"},
    {"labels": "b"},
    {"train_rows": 3},
    {"rows": [1, 5]},
    {"classes": 2},
    {"expect": {"samples": 3}},
]


#: Cells that may be anywhere in a file that is not clean.
ODD = ["", "?", "NA", "nan", "1e400", "x", "'y z'", '"q, r"', "True", "1,5", "-1.234,5", "%", "# x"]


def cells(rng, n_rows, kinds, clean):
    """Draw rows of cells: numbers (n), words (w) or labels (l)."""
    draw = {
        "n": lambda: (
            f"{rng.normal():.{rng.integers(5)}g}" if rng.random() < 0.9 else rng.integers(2**62)
        ),
        "w": lambda: rng.choice(["x", "y", "3"]),
        "l": lambda: rng.integers(1, 4),
    }
    return [
        [str(draw[k]() if clean or rng.random() < 0.98 else rng.choice(ODD)) for k in kinds]
        for _ in range(n_rows)
    ]


def kinds_and_rows(rng):
    """Draw the columns, mostly with labels at the end, and the number of rows."""
    kinds = "".join(rng.choice(["n", "w"], rng.integers(1, 4), p=[0.8, 0.2])) + "l"
    return kinds[: -1 if rng.random() < 0.05 else None], int(
        rng.choice([0, 1, 5, 12, 60], p=[0.02, 0.03, 0.3, 0.4, 0.25])
    )


def libsvm(rng):
    (_, n_rows), clean = kinds_and_rows(rng), rng.random() < 0.5
    lines = []
    for label, *values in cells(rng, n_rows, "lnnnn", clean):
        indices = np.sort(rng.choice(9, rng.integers(0, 5), replace=False)) + rng.integers(0, 2)
        pairs = " ".join(f"{i}:{value}" for i, value in zip(indices, values, strict=False))
        lines.append(f"{label if clean else rng.choice([label, 'cat'])} {pairs}")
    return "\n".join(lines).encode()


def csv(rng):
    (kinds, n_rows), clean = kinds_and_rows(rng), rng.random() < 0.5
    separator = str(rng.choice([",", ";", "\t"]))
    rows = cells(rng, n_rows, kinds, clean)
    if not clean and rows and rng.random() < 0.3:
        row = rows[rng.integers(len(rows))]
        row.pop() if rng.random() < 0.5 else row.append("7")
    header = [list("abcd"[: len(kinds)])] if rng.random() < 0.7 else []
    return "\n".join(separator.join(row) for row in header + rows).encode()


def arff(rng):
    (kinds, n_rows), clean = kinds_and_rows(rng), rng.random() < 0.5
    names = {
        "n": ["numeric", "real", "integer"],
        "w": ["string", "{x,y,3}", "{x, y, '3'}"],
        "l": ["{1,2,3}", "real"],
    }
    types = [
        rng.choice(names[k] if clean or rng.random() < 0.95 else ["{}", "date", ""]) for k in kinds
    ]
    lines = ["@relation r", *(f"@attribute {n} {t}" for n, t in zip("abcd", types, strict=False))]
    lines.append("@data")
    sparse = rng.random() < 0.3
    for row in cells(rng, n_rows, kinds, clean):
        if sparse:
            chosen = np.sort(rng.choice(len(row), rng.integers(1, len(row) + 1), replace=False))
            row = [f"{i} {row[i]}" for i in chosen]
        lines.append("{" + ", ".join(row) + "}" if sparse else ",".join(row))
    return "\n".join(lines).encode()


def array(rng, n_samples, n_dimensions, clean):
    n_dimensions = n_dimensions if clean or rng.random() < 0.8 else int(rng.integers(0, 4))
    n_samples += int(not clean and rng.random() < 0.1)
    shape = (n_samples, 2, 3)[:n_dimensions]
    values = rng.integers(0, 3, shape) + (not clean and rng.random() < 0.1) * 0.5
    kind = "f8" if clean or rng.random() < 0.8 else str(rng.choice(TYPES))
    with np.errstate(all="ignore"):
        return values.astype(kind)


def archive(rng, arrays):
    stream = io.BytesIO()
    (np.savez if rng.random() < 0.5 else np.savez_compressed)(stream, **arrays)
    return stream.getvalue()


def npz(rng):
    n, clean = int(rng.integers(1, 15)), rng.random() < 0.5
    if rng.random() < 0.5:
        arrays = {"x": array(rng, n, 2, clean), "y": array(rng, n, 1, clean)}
        if rng.random() < 0.5:
            arrays["is_test"] = rng.random(n) < 0.5 if clean else array(rng, n, 1, clean)
    else:
        names = ["x_train", "y_train", "x_test", "y_test"]
        arrays = {name: array(rng, n, 1 + (name[0] == "x"), clean) for name in names}
    if not clean and rng.random() < 0.1:
        arrays.popitem()
    return archive(rng, arrays)


def idx(rng):
    """Make the images of a training part; the other three files are whole."""
    shape = np.array([3, 2, 2]) if rng.random() < 0.6 else rng.integers(0, 4, rng.integers(0, 5))
    return idx_bytes(shape)


def idx_bytes(shape):
    header = bytes([0, 0, 8, len(shape)]) + np.array(shape, ">u4").tobytes()
    return header + bytes(range(int(np.prod(shape))))


def splits(rng):
    n = int(rng.integers(1, 3))
    train, test = rng.integers(0, 3, (n, 2)), rng.integers(3, 7, (n, 2))
    return archive(
        rng, {"train": train, "test": test if rng.random() < 0.8 else array(rng, n, 2, False)}
    )


IDX = Idx.suffixes[0]
FORMATS = {".svm": libsvm, ".csv": csv, ".arff": arff, ".npz": npz, IDX: idx}


def damaged(rng, content):
    """Put something in, take something out, cut it off, or flip a bit, up to three times."""
    for _ in range(rng.choice([0, 1, 2, 3], p=[0.6, 0.25, 0.1, 0.05])):
        where = int(rng.integers(len(content) + 1))
        before, after = content[:where], content[where:]
        snippet = SNIPPETS[rng.integers(len(SNIPPETS))]
        flipped = bytes([b ^ 1 << int(rng.integers(8)) for b in after[:1]])
        shorter = after[int(rng.integers(1, 30)) :]
        content = before + [snippet + after, shorter, b"", flipped + after[1:]][rng.integers(4)]
    return content


def write(folder, number):
    """Write file `number` and the files beside it; return the config that names it."""
    rng = np.random.default_rng(number)
    ending = list(FORMATS)[number % len(FORMATS)]
    compression = str(rng.choice(list(COMPRESSIONS), p=[0.7, 0.1, 0.1, 0.1]))
    compress = COMPRESSIONS[compression]
    content = compress(damaged(rng, FORMATS[ending](rng)))
    path = folder / f"toy{ending}{compression}"
    path.write_bytes(damaged(rng, content) if rng.random() < 0.1 else content)
    if ending == IDX:
        for part, shape in zip(
            ["train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1"],
            [(3,), (2, 2, 2), (2,)],
            strict=True,
        ):
            (folder / f"toy-{part}-ubyte{compression}").write_bytes(compress(idx_bytes(shape)))
    if rng.random() < 0.1:
        (folder / "toy.splits.npz").write_bytes(damaged(rng, splits(rng)))
    return {"name": "toy", "path": str(path), **SPECS[rng.integers(len(SPECS))]}


def outcome(folder, number):
    """Load file `number`; return its outcome. Errors other than UserError are not caught."""
    with tempfile.TemporaryDirectory(dir=folder) as own_folder, warnings.catch_warnings():
        warnings.simplefilter("error")  # a raw warning of a library is no message either
        try:
            dataset = load(write(Path(own_folder), number))
        except UserError as error:
            message = str(error).replace(own_folder, "")
            return "refused" if "toy" in message and "\n" not in message else f"unclear: {message}"
        assert np.isfinite(dataset.values).all()
        assert len(dataset.y) == dataset.n_samples
        for train, test in dataset.splits or ():
            assert not set(train.tolist()) & set(test.tolist())
        return "read"


@pytest.mark.parametrize("start", range(0, N_FILES, 50))
def test_every_file_is_read_or_refused_in_one_line(tmp_path, start):
    counts = Counter(outcome(tmp_path, number) for number in range(start, start + 50))
    assert counts.keys() == {"read", "refused"}
    # A generator that only makes rubbish, or only whole files, tests nothing.
    assert min(counts.values()) >= 5
