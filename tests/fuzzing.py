"""Generated input of every kind, mostly damaged: it is accepted, or rejected in one line.

Each function takes a folder and a number, which determines the input, and returns the outcome in
one word. Unexpected errors are raised. The tests run a few hundred inputs, ``scripts/fuzz.py`` a
million.
"""

import contextlib
import io
import json
import os
import struct
import sys
import tempfile
import warnings
from collections.abc import Callable
from math import isfinite
from pathlib import Path
from random import Random

import msgspec
import yaml
from data.test_damaged_files import FORMATS
from data.test_damaged_files import outcome as outcome_of_file
from data.test_damaged_files import write as written
from fitting.examples import FAILURE, FINDING, RECORD, TRIAL, append

from boostbench.analysis.cells import Cell
from boostbench.cli import main
from boostbench.config.compose import compose_experiment
from boostbench.config.overrides import parse_overrides
from boostbench.data.loading import load
from boostbench.execution import deadline
from boostbench.execution.jobs import execute
from boostbench.fitting.quantities import QUANTITIES
from boostbench.fitting.trial import Outcome
from boostbench.records.store import RecordFile, pack, read_records
from boostbench.records.verified import RefitFindings, verified_path
from boostbench.report.wording import format_number
from boostbench.util import configs
from boostbench.util.errors import UserError

_WORDS = [
    *("", "a", "null", "nan", "=1+1", "a|b", "../x", "x.tuning", "[bold]", "${seed}", "$"),
    *("\udcff", "\0", "a\nb", "wine", "-1", "1e400", "9" * 30, "x" * 300, "ß", "%s", "{0}"),
    *("'", '"', "#"),
]
_NUMBERS = [0, 1, -1, 2, 2**31, 2**63, 10**30, 1.5, 1e308, -0.0, 1e-320]


def _word(rng: Random) -> str:
    return rng.choice(_WORDS)


def _number(rng: Random) -> float:
    kind = rng.randrange(3)
    if kind == 0:
        return rng.choice(_NUMBERS)
    if kind == 1:
        return rng.randint(-5, 50)
    [value] = struct.unpack("d", rng.randbytes(8))
    return value if isfinite(value) else 0.5


def anything(rng: Random, depth: int = 3):
    """Draw a value that JSON or YAML can represent."""
    kind = rng.randrange(6 if depth else 4)
    if kind == 0:
        return rng.choice([None, True, False])
    if kind < 3:
        return _number(rng) if kind == 1 else _word(rng)
    inner = range(rng.randrange(4) if depth else 0)
    if kind == 4 or (kind == 3 and rng.random() < 0.5):
        return [anything(rng, depth - 1) for _ in inner]
    return {_word(rng): anything(rng, depth - 1) for _ in inner}


def damage(rng: Random, content, times: int = 3):
    """Replace, delete, add or move values at random places of a structure of JSON types."""
    content = msgspec.json.decode(msgspec.json.encode(content))
    for _ in range(rng.randint(1, times)):
        inner = content
        while True:
            keys = list(inner) if isinstance(inner, dict) else list(range(len(inner)))
            if not keys:
                break
            key = rng.choice(keys)
            if isinstance(inner[key], dict | list) and inner[key] and rng.random() < 0.5:
                inner = inner[key]
                continue
            how = rng.choice(["replace", "remove", "add", "wrap"])
            if how == "replace":
                # A value of the same type passes the first checks.
                alike = _word if isinstance(inner[key], str) else _number
                inner[key] = (alike if rng.random() < 0.5 else anything)(rng)
            elif how == "remove":
                del inner[key]
            elif how == "wrap":
                inner[key] = [inner[key]]
            elif isinstance(inner, dict):
                inner[_word(rng)] = anything(rng)
            else:
                inner.append(anything(rng))
            break
    return content


def refused(error: UserError, named: str = "") -> str:
    """Check the form of an error message, and return the outcome."""
    assert str(error).strip()
    assert named in str(error)
    return "refused"


def data_file(folder: Path, number: int) -> str:
    """Load a generated file of any format."""
    return outcome_of_file(folder, number)


def long_file(folder: Path, number: int) -> str:
    """Load a generated text whose rows repeat, up to two megabytes."""
    rng = Random(number)
    spec = written(folder, number * len(FORMATS) + rng.randrange(3))
    path = Path(spec["path"])
    head, data, body = path.read_bytes().rpartition(b"@data\n")
    if not data and path.name.startswith("toy.csv"):
        head, data, body = body.partition(b"\n")
    times = rng.randint(1, 2_000_000) // (len(body) + 1) + 1
    path.write_bytes(head + data + (body + b"\n") * times)
    return _loaded(spec)


_CELLS = [
    *("1", "-2.5", "1:1", "2:0", "?", "NA", "class", "@data", "@attribute a real", "@relation r"),
    *("{a,b}", "@attribute class {1,2}", "{0 1, 2 3}", "%", "qid:1"),
]
#: Latin, control characters, Greek to Hebrew, symbols, private use, beyond the basic plane.
_PLANES = [(32, 127), (0, 160), (0x370, 0x5FF), (0x2000, 0x2BFF), (0xE000, 0xFFFF), (65536, 131071)]


def _cell(rng: Random) -> str:
    if rng.random() < 0.6:
        return rng.choice(_CELLS)
    return "".join(chr(rng.randint(*rng.choice(_PLANES))) for _ in range(rng.randrange(7)))


def text(folder: Path, number: int) -> str:
    """Load a text of words and signs in any order."""
    rng = Random(number)
    path = folder / f"toy{rng.choice(['.svm', '.csv', '.arff'])}"
    separator = rng.choice(",;\t ")
    rows = [[_cell(rng) for _ in range(rng.randrange(6))] for _ in range(rng.randrange(9))]
    path.write_bytes("\n".join(separator.join(row) for row in rows).encode())
    return _loaded({"name": "toy", "path": str(path)})


def _loaded(spec: dict) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            load(spec)
        except UserError as error:
            return refused(error, "toy")
        return "read"


# Records, in files whose other lines are whole.
def _lines(kind: str, record: dict) -> list[dict]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"fake{kind}.jsonl"
        append(path, record)
        return [json.loads(line) for line in path.read_text().splitlines()]


# Fields of trials may occur in other records, too.
_JUDGED = {"validation_error": 0.1, "validation_errors": [0.1]}
_PATH = {key: value for key, value in TRIAL.items() if key not in ("point", "validation_error")}
_PATH |= {"points": [{"width": 1.0}], "validation_errors": [0.1], "seconds": [0.5]}
_KINDS = {
    (kind, number): _lines(kind, record)
    for kind, records in (
        ("", (RECORD, RECORD | _JUDGED, FAILURE, FAILURE | _JUDGED)),
        (".tuning", (TRIAL, TRIAL | _JUDGED, _PATH)),
        (".boundary", (FAILURE,)),
    )
    for number, record in enumerate(records)
}


def record(folder: Path, number: int) -> str:
    """Read a file with damaged records, and summarise the others."""
    rng = Random(number)
    kind, which = rng.choice(list(_KINDS))
    damaged = [damage(rng, rng.choice(_KINDS[kind, which])) for _ in range(rng.randint(1, 3))]
    noise, where = rng.randbytes(rng.randrange(7)), rng.randrange(10**6)
    path = folder / f"fake{kind}.jsonl"
    whole = [json.dumps(line).encode() for line in _KINDS[kind, which]]
    body = b"\n".join([*(json.dumps(line).encode() for line in damaged), *whole, b""])
    where %= len(body) + 1
    path.write_bytes(body[:where] + noise + body[where:])
    records, warnings = read_records(path)
    assert all(len(line.splitlines()) == 1 for line in warnings)
    for one in records:
        for quantity in QUANTITIES.values() if kind != ".tuning" else ():
            value = quantity.number(one)
            assert value is None or isfinite(value)
        [again] = RecordFile(folder / f"again{kind}.jsonl").add([one])
        assert again.key == one.key
    if kind == "":
        finished = [one for one in records if not one.is_failed]
        failed = [one for one in records if one.is_failed]
        recorded = _Recorded(finished, failed)
        cell = Cell.from_results(recorded, "toy", "fake", "Fake", quantity=QUANTITIES["test_error"])
        assert format_number(cell)
    return "left out" if warnings else "read"


class _Recorded:
    missing, stale, finding = 0, 0, None

    def __init__(self, records, failures):
        self.records, self.failures = records, failures


def finding(folder: Path, number: int) -> str:
    """Read a damaged finding of a verification, which is skipped with a warning."""
    path = verified_path(folder)
    path.write_text(json.dumps(damage(Random(number), FINDING)) + "\n")
    warnings = RefitFindings.read(folder).warnings
    assert all(len(line.splitlines()) == 1 for line in warnings)
    return "left out" if warnings else "read"


def nested(folder: Path, number: int) -> str:
    """Read an intact record and finding among lines nested up to 200 000 levels deep."""
    rng = Random(number)
    kind, which = rng.choice(list(_KINDS))
    whole = [json.dumps(line).encode() for line in _KINDS[kind, which]]
    path = folder / f"fake{kind}.jsonl"
    path.write_bytes(b"\n".join([_deep(rng, rng.choice(_KINDS[kind, which])), *whole, b""]))
    verified_path(folder).write_bytes(_deep(rng, FINDING) + b"\n" + json.dumps(FINDING).encode())
    if rng.random() < 0.5:
        pack(path)
    records, warnings = read_records(path)
    # A shallow value at an unknown key makes another valid record.
    assert len(records) == 1 or (len(records) == 2 and not warnings)
    findings = RefitFindings.read(folder)
    assert len(findings.by_group) == 1
    warnings += findings.warnings
    assert all(len(line.splitlines()) == 1 for line in warnings)
    return "left out" if warnings else "read"


def _deep(rng: Random, content: dict) -> bytes:
    """Replace a value, or the whole, by a deep structure; brackets may stay open."""
    depth = round(10 ** rng.uniform(0, 5.3))
    opening, closing = rng.choice([("[", "]"), ('{"a":', "}"), ('[{"config":', "}]")])
    deep = (
        opening * depth + "1" + closing * (depth if rng.random() < 0.5 else rng.randint(0, depth))
    )
    if rng.random() < 0.3:
        return deep.encode()
    hole = json.dumps({**content, rng.choice([*content, "config", "b"]): "HOLE"})
    return hole.replace('"HOLE"', deep).encode()


# Command lines: a value for each key of every config.
def _keys(tree: dict, prefix: str = ""):
    for key, value in tree.items():
        yield prefix + key
        if isinstance(value, dict):
            yield from _keys(value, f"{prefix}{key}.")


def _config_keys() -> list[tuple[str, str]]:
    top = configs.parse_yaml((configs.conf_dir() / "config.yaml").read_text())
    pairs = [("", key) for key in top if key != "defaults"]
    for group in ("algo", "data", "protocol", "profile", "parallel"):
        pairs.append(("", group))
        for name in configs.list_options(group):
            pairs += [
                (f"{group}={name}", f"{group}.{k}") for k in _keys(configs.read_option(group, name))
            ]
    return pairs


_KEYS = _config_keys()
_EXPRESSIONS = ["[", "{a: }", "a,b", "${nothing}", "${seed}", "choice(1,2)", "glob(*)"]


def _argv(folder: Path, number: int) -> list[str]:
    rng = Random(number)
    choice, key = rng.choice(_KEYS)
    sign = rng.choice(["", "", "", "+", "++", "~"])
    value = rng.choice(_EXPRESSIONS) if rng.random() < 0.3 else anything(rng)
    shown = value if isinstance(value, str) else yaml.safe_dump(value, default_flow_style=True)
    shown = " ".join(shown.replace("\n...", "").split("\n")).strip()
    given = [choice, f"{sign}{key}" if sign == "~" else f"{sign}{key}={shown}"]
    # Hydra rejects a group that is selected or deleted twice.
    taken = {key, choice.partition("=")[0]}
    usual = [f"results={folder}/results", "protocol.n_splits=2", "algo=adaboost_mh", "data=wine"]
    usual.append("parallel=serial")
    return [one for one in usual if one.partition("=")[0] not in taken] + [g for g in given if g]


def override(folder: Path, number: int) -> str:
    """Plan an experiment with an odd value of the configuration; nothing is fitted."""
    try:
        spec = compose_experiment(parse_overrides(_argv(folder, number)))
        with _fail_all_fits(), contextlib.redirect_stderr(io.StringIO()):
            execute([spec])
    except UserError as error:
        return refused(error)
    return "taken"


def command(folder: Path, number: int) -> str:
    """Plan an experiment with an odd value through the command line."""
    return called(["run", *_argv(folder, number)])


# Definitions of tables and figures.
_TABLE = {
    "title": "Mine",
    "rows": ["wine", {"iris": ["protocol.n_splits=3"]}, {"small": {"data": "wine", "title": "W"}}],
    "columns": [
        "adaboost_mh",
        {"samme": {"title": "SAMME", "group": "G", "overrides": "algo.n_iterations=5"}},
        {"tree": {"_target_": "sklearn.tree.DecisionTreeClassifier", "without": ["small"]}},
    ],
    "overrides": ["protocol.n_splits=2"],
    "published": "randomboost5",
    "classes": True,
    "rounds": [10, 20],
    "seconds": "fit",
    "compare": [["adaboost_mh", "samme"]],
    "remarks": ["So it is."],
}


def table(folder: Path, number: int) -> str:
    """Make a table of a damaged definition; nothing is fitted."""
    content = damage(Random(number), _TABLE)
    path = folder / "mine.yaml"
    path.write_bytes(yaml.safe_dump(content, allow_unicode=True).encode(errors="surrogatepass"))
    return called(["table", str(path), "rerun=never", f"results={folder}/results"])


_FIGURES = [
    configs.parse_yaml(path.read_text(encoding="utf-8"))
    for _, path in sorted(configs.definition_files("figure"))
]


def figure(folder: Path, number: int) -> str:
    """Read a damaged definition of a figure."""
    from boostbench.figures.definition import read_figure

    rng = Random(number)
    content = damage(rng, rng.choice(_FIGURES))
    path = folder / "mine.yaml"
    path.write_bytes(yaml.safe_dump(content, allow_unicode=True).encode(errors="surrogatepass"))
    try:
        read_figure(str(path))
    except UserError as error:
        return refused(error, "mine.yaml")
    return "read"


def called(argv: list[str], check: Callable[[str], None] | None = None) -> str:
    """Call the command line in this process, without fits; `check` validates its output."""
    out = io.TextIOWrapper(io.BytesIO(), "utf-8")
    err = io.TextIOWrapper(io.BytesIO(), "utf-8", errors="backslashreplace")
    with _fail_all_fits(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(argv)
        out.flush()
        err.flush()
    assert code in (0, 1, 2), code
    message = err.buffer.getvalue().decode()
    assert "Traceback" not in message, message
    if check:
        check(message + out.buffer.getvalue().decode(errors="replace"))
    if code == 2:
        lines = message.splitlines()
        # Messages of a table name each row that is left out.
        assert lines, "nothing is said"
        assert all(line.startswith("boostbench: ") for line in lines), message
        return "refused"
    return "taken"


@contextlib.contextmanager
def _fail_all_fits():
    """Let fits fail at once."""
    before = deadline.run_trial
    deadline.run_trial = _not_run
    try:
        yield
    finally:
        deadline.run_trial = before


def _not_run(trial, X, y) -> Outcome:
    return Outcome(error="not run", where="?:0", environment={})


#: The function of each kind of input.
ALL = {
    "data files": data_file,
    "long data files": long_file,
    "texts as data files": text,
    "files of records": record,
    "findings": finding,
    "nested records": nested,
    "values of configs": override,
    "command lines": command,
    "tables": table,
    "figures": figure,
}


@contextlib.contextmanager
def quarantine():
    """Set up a separate folder without network."""
    variables = {
        "BOOSTBENCH_OPENML_SERVER": "http://127.0.0.1:9/api/v1/xml",
        "NO_PROXY": "127.0.0.1",
    }
    before, here = dict(os.environ), Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= variables | {"BOOSTBENCH_CACHE": f"{folder}/cache", "COLUMNS": "80"}
        os.environ.pop("BOOSTBENCH_DATA", None)
        os.chdir(folder)
        try:
            yield Path(folder)
        finally:
            os.chdir(here)
            os.environ.clear()
            os.environ.update(before)
            sys.stdout.flush()
