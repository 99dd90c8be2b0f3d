"""Generated input of every kind, most of it damaged: each piece is taken, or refused in one line.

Each function takes a folder and what `hypothesis` generates, and says in a word what became of it;
whatever else happens escapes. The tests run a few hundred pieces, ``scripts/fuzz.py`` any number.
"""

import contextlib
import copy
import io
import json
import os
import sys
import tempfile
import warnings
from math import isfinite
from pathlib import Path

import yaml
from data.test_fuzz import outcome as outcome_of_file
from experiment.examples import FAILURE, RECORD, TRIAL, certificate
from hypothesis import strategies as st

from boostbench import configs
from boostbench.cli import main
from boostbench.data.load import load
from boostbench.definitions.compose import experiments
from boostbench.definitions.execute import execute
from boostbench.errors import UserError
from boostbench.experiment import deadline
from boostbench.experiment.certificates import Certificates, certificates_path, file_certificate
from boostbench.experiment.quantities import QUANTITIES
from boostbench.experiment.records import append, read
from boostbench.report.cells import Cell

_WORDS = st.sampled_from(
    ["", "a", "null", "nan", "=1+1", "a|b", "../x", "x.tuning", "[bold]", "${seed}", "$", "\udcff"]
) | st.sampled_from(
    ["\0", "a\nb", "wine", "-1", "1e400", "9" * 30, "x" * 300, "ß", "%s", "{0}", "'", '"', "#"]
)
_NUMBERS = st.one_of(
    st.sampled_from([0, 1, -1, 2, 2**31, 2**63, 10**30, 1.5, 1e308, -0.0, 1e-320]),
    st.integers(-5, 50),
    st.floats(allow_nan=False, allow_infinity=False),
)
_SCALARS = st.one_of(st.none(), st.booleans(), _NUMBERS, _WORDS)
#: Whatever JSON or YAML can hold.
JSON = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_WORDS, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def changed(draw, content, times=3):
    """Replace, take out, add or move some values anywhere in a structure of JSON types."""
    content = copy.deepcopy(content)
    for _ in range(draw(st.integers(1, times))):
        inner = content
        while True:
            keys = list(inner) if isinstance(inner, dict) else list(range(len(inner)))
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            if isinstance(inner[key], dict | list) and inner[key] and draw(st.booleans()):
                inner = inner[key]
                continue
            how = draw(st.sampled_from(["replace", "remove", "add", "wrap"]))
            if how == "replace":
                # Something of the same type gets further than the first check.
                alike = _WORDS if isinstance(inner[key], str) else _NUMBERS
                inner[key] = draw(alike if draw(st.booleans()) else JSON)
            elif how == "remove":
                del inner[key]
            elif how == "wrap":
                inner[key] = [inner[key]]
            elif isinstance(inner, dict):
                inner[draw(_WORDS)] = draw(JSON)
            else:
                inner.append(draw(JSON))
            break
    return content


def _refused(error: UserError, named: str = "") -> str:
    """Hold a message against what each has to say."""
    assert str(error).strip()
    assert named in str(error)
    return "refused"


# Data files. The generator of `data.test_fuzz` goes by a number.
data_files = st.integers(0, 2**60)


def data_file(folder: Path, number: int) -> str:
    """Load a generated file of any format."""
    return outcome_of_file(folder, number)


_CELL = st.one_of(
    st.text(st.characters(codec="utf-8"), max_size=6),
    st.sampled_from(["1", "-2.5", "1:1", "2:0", "?", "NA", "class", "@data", "@attribute a real"]),
    st.sampled_from(["@relation r", "{a,b}", "@attribute class {1,2}", "{0 1, 2 3}", "%", "qid:1"]),
)
texts = st.tuples(
    st.sampled_from([".svm", ".csv", ".arff"]),
    st.sampled_from([",", ";", "\t", " "]),
    st.lists(st.lists(_CELL, max_size=5), max_size=8),
)


def text(folder: Path, case: tuple) -> str:
    """Load a text of words and signs in any order."""
    ending, separator, rows = case
    path = folder / f"toy{ending}"
    path.write_bytes("\n".join(separator.join(row) for row in rows).encode())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            load({"name": "toy", "path": str(path)})
        except UserError as error:
            return _refused(error, "toy")
        return "read"


# Records, in files whose other lines are whole.
def _lines(kind: str, record: dict) -> list[dict]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"fake{kind}.jsonl"
        append(path, record)
        return [json.loads(line) for line in path.read_text().splitlines()]


_KINDS = {
    (kind, number): _lines(kind, record)
    for kind, records in (("", (RECORD, FAILURE)), (".tuning", (TRIAL,)), (".boundary", (FAILURE,)))
    for number, record in enumerate(records)
}
records = st.sampled_from(list(_KINDS)).flatmap(
    lambda kind: st.tuples(
        st.just(kind),
        st.lists(st.sampled_from(_KINDS[kind]).flatmap(changed), min_size=1, max_size=3),
        st.binary(max_size=6),
        st.integers(0, 10**6),
    )
)


def record(folder: Path, case: tuple) -> str:
    """Read a file of records with damaged ones among them, and all that they amount to."""
    (kind, number), damaged, noise, where = case
    path = folder / f"fake{kind}.jsonl"
    whole = [json.dumps(line).encode() for line in _KINDS[kind, number]]
    body = b"\n".join([*(json.dumps(line).encode() for line in damaged), *whole, b""])
    where %= len(body) + 1
    path.write_bytes(body[:where] + noise + body[where:])
    found, told = read(path)
    assert all(len(line.splitlines()) == 1 for line in told)
    for one in found:
        for quantity in QUANTITIES.values():
            value = quantity.of(one)
            assert value is None or isfinite(value)
        again = append(folder / f"again{kind}.jsonl", one)
        assert again["key"] == one["key"]
    if kind == "":
        finished = [one for one in found if "error" not in one]
        failed = [one for one in found if "error" in one]
        recorded = _Recorded(finished, failed)
        cell = Cell.of(recorded, "toy", "fake", "Fake", quantity=QUANTITIES["test_error"])
        assert cell.text
    return "left out" if told else "read"


class _Recorded:
    missing, stale, certified = 0, 0, {}

    def __init__(self, records, failures):
        self.records, self.failures = records, failures


def _certificate() -> dict:
    with tempfile.TemporaryDirectory() as folder:
        file_certificate(Path(folder), certificate("0" * 16, "1" * 16))
        return json.loads(certificates_path(Path(folder)).read_text())


certificates = changed(_certificate())


def certified(folder: Path, content: dict) -> str:
    """Read a damaged certificate: it is left out, and named."""
    path = certificates_path(folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content) + "\n")
    told = Certificates.read(folder).warnings
    assert all(len(line.splitlines()) == 1 for line in told)
    return "left out" if told else "read"


# Command lines: a value for each key of every config.
def _keys(tree: dict, prefix: str = ""):
    for key, value in tree.items():
        yield prefix + key
        if isinstance(value, dict):
            yield from _keys(value, f"{prefix}{key}.")


def _all_keys() -> list[tuple[str, str]]:
    top = configs.parse((configs.conf_dir() / "config.yaml").read_text())
    found = [("", key) for key in top if key not in ("defaults", "hydra")]
    for group in ("algo", "data", "protocol", "profile", "parallel"):
        found.append(("", group))
        for name in configs.names(group):
            found += [(f"{group}={name}", f"{group}.{k}") for k in _keys(configs.read(group, name))]
    return found


_OVERRIDE_VALUES = st.one_of(
    _SCALARS,
    JSON,
    st.sampled_from(["[", "{a: }", "a,b", "${nothing}", "${seed}", "choice(1,2)", "glob(*)"]),
)
overrides = st.tuples(
    st.sampled_from(_all_keys()),
    st.sampled_from(["", "", "", "+", "++", "~"]),
    _OVERRIDE_VALUES,
)


def _argv(folder: Path, case: tuple) -> list[str]:
    (choice, key), sign, value = case
    shown = value if isinstance(value, str) else yaml.safe_dump(value, default_flow_style=True)
    shown = " ".join(shown.replace("\n...", "").split("\n")).strip()
    given = [choice, f"{sign}{key}" if sign == "~" else f"{sign}{key}={shown}"]
    # What is chosen or deleted must not be given twice.
    taken = {key, choice.partition("=")[0]}
    usual = [f"results={folder}/results", "protocol.n_splits=2", "algo=adaboost_mh", "data=wine"]
    usual.append("parallel=serial")
    return [one for one in usual if one.partition("=")[0] not in taken] + [g for g in given if g]


def override(folder: Path, case: tuple) -> str:
    """Plan an experiment with an odd value of the configuration; nothing is fitted."""
    try:
        [spec] = experiments([_argv(folder, case)])
        dataset = load(spec["data"])
        with _no_fits(), contextlib.redirect_stderr(io.StringIO()):
            execute([spec], [dataset])
    except UserError as error:
        return _refused(error)
    return "taken"


def command(folder: Path, case: tuple) -> str:
    """The same through the command line, Hydra and all."""
    return _called(["run", *_argv(folder, case)])


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
tables = changed(_TABLE)


def table(folder: Path, content: dict) -> str:
    """Make a table of a damaged definition; nothing is fitted."""
    path = folder / "mine.yaml"
    path.write_bytes(yaml.safe_dump(content, allow_unicode=True).encode(errors="surrogatepass"))
    return _called(["table", str(path), "rerun=never", f"results={folder}/results"])


figures = st.sampled_from(configs.names("figure")).flatmap(
    lambda name: changed(configs.read("figure", name))
)


def figure(folder: Path, content: dict) -> str:
    """Read a damaged definition of a figure."""
    from boostbench.figures.definition import read_figure

    path = folder / "mine.yaml"
    path.write_bytes(yaml.safe_dump(content, allow_unicode=True).encode(errors="surrogatepass"))
    try:
        read_figure(str(path))
    except UserError as error:
        return _refused(error, "mine.yaml")
    return "read"


def _called(argv: list[str]) -> str:
    """Call the command line in this process, where nothing is fitted."""
    out = io.TextIOWrapper(io.BytesIO(), "utf-8")
    err = io.TextIOWrapper(io.BytesIO(), "utf-8", errors="backslashreplace")
    with _no_fits(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(argv)
        out.flush()
        err.flush()
    assert code in (0, 1, 2), code
    said = err.buffer.getvalue().decode()
    assert "Traceback" not in said, said
    if code == 2:
        lines = said.splitlines()
        # A table tells of each row that is left out, too.
        assert lines, "nothing is said"
        assert all(line.startswith("boostbench: ") for line in lines), said
        return "refused"
    return "taken"


@contextlib.contextmanager
def _no_fits():
    """Let fits fail at once."""
    before = deadline.run_trial
    deadline.run_trial = _not_run
    try:
        yield
    finally:
        deadline.run_trial = before


def _not_run(trial, X, y) -> dict:
    return {"error": "not run", "where": "?:0", "environment": {}}


#: Strategy and function of each kind of input.
ALL = {
    "data files": (data_files, data_file),
    "texts as data files": (texts, text),
    "files of records": (records, record),
    "certificates": (certificates, certified),
    "values of configs": (overrides, override),
    "command lines": (overrides, command),
    "tables": (tables, table),
    "figures": (figures, figure),
}


@contextlib.contextmanager
def quarantine():
    """A folder of its own, without network."""
    kept = {"BOOSTBENCH_OPENML_SERVER": "http://127.0.0.1:9/api/v1/xml", "NO_PROXY": "127.0.0.1"}
    before, here = dict(os.environ), Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= kept | {"BOOSTBENCH_CACHE": f"{folder}/cache", "COLUMNS": "80"}
        os.environ.pop("BOOSTBENCH_DATA", None)
        os.chdir(folder)
        try:
            yield Path(folder)
        finally:
            os.chdir(here)
            os.environ.clear()
            os.environ.update(before)
            sys.stdout.flush()
