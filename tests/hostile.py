"""Generated tables, figures, configs, bundles, records and command lines with malicious content.

Each input names an object that would change the machine or reveal its data. The input is accepted
without that effect, or rejected in one line, while `watching` records all events. As in `fuzzing`,
a number determines the input.
"""

import contextlib
import io
import json
import os
import sys
import warnings
from hashlib import sha256
from pathlib import Path
from random import Random

import numpy as np
import yaml
from fitting.examples import RECORD, append
from fuzzing import called, refused
from omegaconf import OmegaConf
from spec.test_trusted_imports import HARMFUL, TREE
from watching import watching

from boostbench.config.compose import ConfigTree, compose_config
from boostbench.config.overrides import parse_overrides
from boostbench.data.loading import load
from boostbench.data.sources import local_files
from boostbench.figures.definition import figure_kinds
from boostbench.records.store import read_records
from boostbench.spec import measures
from boostbench.spec.algorithm import AlgorithmSpec
from boostbench.spec.keys import digest
from boostbench.util import configs
from boostbench.util.errors import UserError

with contextlib.suppress(ImportError):
    # The import loads libraries, which is allowed; objects of the class are watched.
    import lightgbm  # noqa: F401

MARKER = "marker-of-a-secret"
VARIABLE = "SECRET_TOKEN"
#: Modules that are not to be imported; the last two are programs in the current folder.
_MODULES = ("this", "antigravity", "turtledemo", "program", "bag")

_TOPS = [
    "sklearn.ensemble.BaggingClassifier",
    "sklearn.ensemble.AdaBoostClassifier",
    "sklearn.pipeline.Pipeline",
    "sklearn.ensemble.VotingClassifier",
    "sklearn.model_selection.GridSearchCV",
    "sklearn.preprocessing.FunctionTransformer",
    "boostbench.algorithms.BaggedBooster",
    TREE,
]
#: What harms as soon as it is imported, made or called; {made} and {victim} are paths, and in the
#: current folder.
_HARMFUL = [
    *HARMFUL,
    {"_target_": "subprocess.run", "args": ["touch", "{made}"]},
    {"_target_": "posix.system", "command": "touch {made}"},
    {"_target_": "os.remove", "path": "{victim}"},
    {"_target_": "os.getenv", "key": VARIABLE},
    {"_target_": "_pyio.FileIO", "file": "{victim}", "mode": "w"},
    {"_target_": "io.open", "file": "{secret}"},
    {"_target_": "builtins.eval", "_args_": ["open('{made}', 'w')"]},
    {"_target_": "builtins.exec", "_args_": ["open('{made}', 'w')"]},
    {"_target_": "pathlib.Path", "_args_": ["{victim}"]},
    {"_target_": "shelve.DbfilenameShelf", "filename": "{made}"},
    {"_target_": "tempfile.TemporaryDirectory", "dir": "."},
    {"_target_": "socket.create_connection", "address": ["127.0.0.1", 9]},
    {"_target_": "ctypes.CDLL", "name": "{made}.so"},
    {"_target_": "multiprocessing.Process"},
    {"_target_": "threading.Thread"},
    {"_target_": "pickle.Unpickler"},
    {"_target_": "importlib.import_module", "name": "this"},
    {"_target_": "runpy.run_path", "path_name": "program.py"},
    {"_target_": "numpy.load", "file": "{secret}"},
    {"_target_": "pandas.read_csv", "_args_": ["{secret}"]},
    {"_target_": "pandas.HDFStore", "path": "{made}"},
    {"_target_": "joblib.load", "filename": "{secret}"},
    {"_target_": "sklearn.datasets._base.Path", "_args_": ["{victim}"]},
    {"_target_": "sklearn.datasets.load_files", "container_path": "."},
    {"_target_": "sklearn.datasets.fetch_openml", "data_id": 61},
    {"_target_": "sklearn.utils._joblib.Memory", "location": "{made}"},
    {"_target_": "sklearn.__main__.Thing"},
    {"_target_": "lightgbm.LGBMClassifier", "forcedsplits_filename": "{secret}"},
    {"_target_": "lightgbm.LGBMClassifier", "fs": "{secret}"},
    {"_target_": "sklearn.model_selection.GridSearchCV", "param_grid": {"memory": ["{made}"]}},
    {"_target_": "hydra.utils.instantiate", "config": {"_target_": "os.getcwd"}},
    {"_target_": "hydra._internal.utils._locate", "path": "this"},
    {"_target_": "omegaconf.OmegaConf.load", "file_": "{secret}"},
    {"_target_": "yaml.unsafe_load", "stream": "!!python/object/apply:os.mkdir ['{made}']"},
    {"_target_": "openml.config.ConfigurationForExamples"},
    {"_target_": "boostbench.cli._main.main", "argv": ["table", "demo"]},
    {"_target_": "boostbench.__main__.Thing"},
    {"_target_": "pip._internal.cli.main.main", "args": ["download", "x"]},
    {"_target_": "pytest.console_main"},
    {"_target_": "this.Zen"},
    {"_target_": "antigravity.Comic"},
    {"_target_": "turtledemo.__main__.Demo"},
    {"_target_": "program.Mine"},
    {"_target_": "program.RandomForestClassifier"},
    {"_target_": "program.Path", "_args_": ["{victim}"]},
    {"_target_": "bag.inner.Mine"},
    {"_target_": "..program.Mine"},
    {"_target_": ""},
    {"_target_": ["os", "system"]},
    {"_target_": {"_target_": "os.getcwd"}},
]
_RESOLVERS = [
    *("oc.env:V", "oc.env:V,none", " oc.env:V", "oc.env:'V'", "oc.decode:'${oc.env:V}'"),
    *("oc.create:{a: '${oc.env:V}'}", "oc.select:'oc.env'", "oc.dict.values:hydra", "oc.env:${x}"),
    *(
        "hydra:runtime.cwd",
        "hydra.runtime.cwd",
        ".hydra.runtime.cwd",
        "...hydra.job.name",
        "mine:V",
    ),
    *("${oc.env:V}", "[hydra][runtime][cwd]", "hydra[runtime].cwd", "oc.${mine:env}:V", "mine:"),
    *("now:%Y", "python_version:", "oc.deprecated:seed", "mine:V", "oc.env:V}${oc.env:V"),
    *("algo.name", "seed", ".name", "data", "algo", ""),
]


def _harm(rng: Random, folder: Path) -> dict:
    """Draw an object that must not be created, possibly inside a harmless one."""
    paths = {"made": folder / "made", "victim": folder / "victim", "secret": folder / "secret"}
    text = json.dumps(rng.choice(_HARMFUL))
    for name, path in paths.items():
        text = text.replace(f"{{{name}}}", str(path))
    harm = json.loads(text)
    harm |= rng.choice([{}, {}, {"_partial_": True}, {"_recursive_": False}, {"_convert_": "all"}])
    for _ in range(rng.choice([0, 0, 1, 2])):
        place = rng.choice(["estimator", "base_estimator", "max_depth", "class_weight", "cv"])
        inner = rng.choice([harm, [harm], {"a": harm}, [["a", harm]]])
        harm = {"_target_": rng.choice(_TOPS), place: inner}
    return harm


def _resolver(rng: Random) -> str:
    inner = rng.choice(_RESOLVERS).replace("V", VARIABLE)
    frame = rng.choice(
        ["${X}", "a ${X}", "$${seed}{X}", "${X}${X}", r"\\${X}", r"\${X}", "${${X}}"]
    )
    return frame.replace("X", inner)


def _inline(value) -> str:
    """Return a value in the syntax of Hydra's overrides."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{k}:{_inline(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_inline, value)) + "]"
    if isinstance(value, str):
        return "'" + value.replace("'", r"\'") + "'"
    return json.dumps(value)


#: Where something of the machine would be told, or where an object would be made.
_KEYS = [
    *("+algo.estimator", "++algo.estimator", "+algo.note", "algo.name", "algo.title", "algo"),
    *("+algo.grid.estimator", "algo.grid", "algo._target_", "+algo.steps", "+algo.memory", "seed"),
    *("data.name", "data.path", "data", "+data.generate", "data.sklearn", "+data.descriptor"),
    *("protocol.name", "protocol", "+protocol.test", "profile.algo.all", "profile", "measure"),
    *("results", "rerun", "shard", "parallel", "parallel.scheduler", "parallel.backend"),
    *("hydra.searchpath", "+hydra.callbacks.x", "+hydra.callbacks", "hydra.run.dir", "hydra"),
    *("hydra.sweep.dir", "hydra.output_subdir", "+hydra.job.env_set.A", "hydra.job.env_copy"),
    *("hydra.job_logging", "+hydra.hydra_logging.handlers.x", "hydra/launcher", "hydra.job.chdir"),
    *("+hydra.launcher", "hydra.launcher._target_", "+hydra.sweeper.params", "hydra/help"),
    *("+algo@hydra.callbacks.x", "algo@_global_", "+data@hydra.job.env_set", "hydra/job_logging"),
]
_PLACES = {"results", "hydra.run.dir", "hydra.sweep.dir", "hydra.output_subdir", "hydra"}
_TEXTS = [
    *("/tmp/elsewhere", "../elsewhere", "~/elsewhere", "[pkg://this]", "[file:///etc]", "this"),
    *("tcp://127.0.0.1:9", "program.Mine", "antigravity.Comic", "os.system", "wine", "mine", "all"),
    *("../../../../../tmp/elsewhere", "a/../../b", "[PATH]", "true", "null", "[a]"),
]


def _override(rng: Random, folder: Path, typed: bool = False) -> str:
    """Draw an override; a typed one may set the folders of records and of Hydra's output."""
    key = rng.choice(_KEYS)
    kind = rng.randrange(int(typed and key in _PLACES), 4)
    if kind == 0:
        value = rng.choice(_TEXTS)
        return f"{key}={value}" if rng.random() < 0.7 else f"{key}='{value}'"
    if kind == 1:
        value = _resolver(rng)
        wrapped = rng.choice(["X", "'X'", "[X]", "['X']", "{a: X}", "{a: 'X'}"]).replace("X", value)
        return f"{key}={wrapped}"
    harm = _harm(rng, folder)
    if kind == 2 and isinstance(harm["_target_"], str):
        return f"{key.removesuffix('._target_')}._target_={harm['_target_']}"
    return f"{key}={_inline(rng.choice([harm, [harm], {'x': harm}]))}"


def _usual(rng: Random) -> list[str]:
    return ["data=wine", "protocol.n_splits=2", f"algo._target_={rng.choice(_TOPS)}"]


def _yaml(path: Path, content) -> str:
    if not path.parent.exists():
        path.parent.mkdir(parents=True)
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
    return str(path.relative_to(Path.cwd()))


def _table(rng: Random, folder: Path) -> str:
    """Request a table with a malicious row, column, cell, override or name."""

    def few():
        return [_override(rng, folder) for _ in range(rng.randrange(3))]

    column = {"_target_": rng.choice(_TOPS), "overrides": few()}
    if rng.random() < 0.2:
        column["_target_"] = _harm(rng, folder)["_target_"]
    if rng.random() < 0.1:
        column = {"algo": rng.choice([_resolver(rng), *_TEXTS])}
    row = {"data": "wine", "overrides": few(), "cells": {"one": few()}}
    if rng.random() < 0.1:
        row["data"] = rng.choice([_resolver(rng), *_TEXTS])
    content = {"title": _resolver(rng), "rows": [{"a": row}], "columns": [{"one": column}]}
    content |= {"overrides": few(), "remarks": [_resolver(rng)]}
    if rng.random() < 0.1:
        content[rng.choice(["published", "quantity", "columns"])] = rng.choice(_TEXTS)
    name = _yaml(folder / "mine.yaml", content)
    overrides = rng.choice([[], ["rerun=never"], ["results=results"]])
    return called(["table", name, "parallel=serial", *overrides], _check_marker)


def _figure(rng: Random, folder: Path) -> str:
    """Request a figure with malicious overrides."""
    content = {**rng.choice(_FIGURES), "caption": _resolver(rng)}
    content["overrides"] = [_override(rng, folder) for _ in range(rng.randint(1, 2))]
    if rng.random() < 0.2:
        key = rng.choice([key for key in content if key not in ("kind", "overrides")])
        content[key] = rng.choice([_resolver(rng), _harm(rng, folder), rng.choice(_TEXTS)])
    name = _yaml(folder / "mine.yaml", content)
    return called(["figure", name, "parallel=serial", "rerun=never"], _check_marker)


# These kinds may have overrides.
_KINDS = {kind.kind for kind in figure_kinds() if "overrides" in kind.__struct_fields__}
_FIGURES = [
    configs.parse_yaml(path.read_text(encoding="utf-8"))
    for _, path in sorted(configs.definition_files("figure"))
]
_FIGURES = [
    content | {key: wine for key, wine in (("rows", ["wine"]), ("data", "wine")) if key in content}
    for content in _FIGURES
    if content["kind"] in _KINDS
]


def _folder_of_configs(rng: Random, folder: Path) -> str:
    """Run with malicious options of groups, and of Hydra, from a folder of configs."""
    top = folder / "configs"
    harm = _harm(rng, folder)
    title = rng.choice(["Mine", "Mine", _resolver(rng)])
    algo = {"name": "mine", "title": title, "_target_": rng.choice(_TOPS), "grid": {}}
    algo |= rng.choice([{"estimator": harm}, {"note": _resolver(rng)}, harm, harm])
    directive = rng.choice(
        [
            "",
            "",
            "",
            "",
            "",
            "# @package _global_\n",
            "#@package hydra.callbacks.x\n",
            "# @package algo.x\n",
        ]
    )
    if rng.random() < 0.2:
        algo["defaults"] = [
            rng.choice(["/hydra/launcher: mine", "x@_global_", {"/data@x": "mine"}])
        ]
    _yaml(top / "algo" / "mine.yaml", directive + yaml.safe_dump(algo))
    data = {"name": rng.choice(["wine", "wine", _resolver(rng)]), "sklearn": "load_wine"}
    _yaml(top / "data" / "mine.yaml", rng.choice(["", directive]) + yaml.safe_dump(data))
    where = rng.choice(["hydra/launcher/mine", "hydra/job_logging/mine", "config", "parallel/mine"])
    if rng.random() < 0.1:
        hydra = rng.choice([harm, {"hydra": {"callbacks": {"x": harm}}}, {"backend": "dask"}])
        _yaml(top / f"{where}.yaml", hydra)
    argv = ["algo=mine", rng.choice(["data=wine", "data=mine"])]
    argv += rng.choice([*[[]] * 5, ["hydra/launcher=mine"], ["parallel=mine"], ["seed=1,2", "-m"]])
    argv += ["results=results", "protocol.n_splits=2", "--config-dir", str(top)]
    return called(["run", *argv], _check_marker)


def _command(rng: Random, folder: Path) -> str:
    """Run a malicious command line."""
    argv = [_override(rng, folder, typed=True) for _ in range(rng.randint(1, 2))]
    argv += rng.choice([[], [], [], ["-m"], ["--cfg", "job"], ["--cfg", "all", "--resolve"]])
    argv += rng.choice([[], [], [], ["--info", "all"], ["--experimental-rerun", "bundle.pickle"]])
    argv += rng.choice([[], [], [], ["--config-name", "mine"], ["--config-path", "."], ["--help"]])
    return called(["run", *_usual(rng), *argv], _check_marker)


def _python(rng: Random, folder: Path) -> str:
    """Call functions of the package with malicious configs."""
    try:
        kind = rng.randrange(4)
        if kind == 0:
            config = {"_target_": rng.choice(_TOPS), "name": "mine"}
            harm = _harm(rng, folder)
            config |= rng.choice([{"estimator": harm}, {"grid": {"estimator": [harm]}}, harm])
            AlgorithmSpec.from_config(config).build(0)
        elif kind == 1:
            config = compose_config(parse_overrides([*_usual(rng), _override(rng, folder)]))
            _check_told(str({**config, "results": ""}), folder)
            AlgorithmSpec.from_config(config["algo"]).check()
        elif kind == 2:
            measures.find(_harm(rng, folder)["_target_"])
        else:
            spec = {"algo": {"name": _resolver(rng)}, "data": {"name": "wine"}, "seed": 1}
            tree = ConfigTree(spec)
            tree.resolve_references()
            _check_told(str(tree.values), folder)
    except UserError as error:
        return refused(error)
    return "taken"


def _bundle(rng: Random, folder: Path) -> str:
    """Load a data set from a bundle with pickles, or by a name outside the folder."""
    top = folder / "bundle"
    top.mkdir()
    spec = {"name": rng.choice(["toy", "../../victim", "/tmp/toy", "../secret", _resolver(rng)])}
    spec |= rng.choice([{}, {"file": "../secret"}, {"generate": {"function": "make_moons"}}])
    arrays = {"X": np.eye(4), "y": np.array([0, 1, 0, 1]), "classes": np.array(["a", "b"])}
    arrays[rng.choice([*arrays, "meta"])] = np.array([_Pickled(folder / "made")], dtype=object)
    path = local_files.bundle_path(top, "toy")
    np.savez(path, **arrays)
    digest = sha256(path.read_bytes()).hexdigest()
    lines = [f"{digest}  {rng.choice([path.name, '../victim', '/etc/passwd'])}"]
    (top / local_files.CHECKSUM_FILE).write_text("\n".join([f"{digest}  {path.name}", *lines]))
    os.environ["BOOSTBENCH_DATA"] = str(top)
    try:
        load(spec)
    except UserError as error:
        return refused(error)
    finally:
        del os.environ["BOOSTBENCH_DATA"]
    return "taken"


class _Pickled:
    def __init__(self, path: Path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def _record(rng: Random, folder: Path) -> str:
    """Read and report records with malicious configs."""
    path = folder / "results" / "records" / "wine" / "mine.jsonl"
    append(path, RECORD)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    [defined] = [line for line in lines if isinstance(line.get("config"), dict)]
    harm = _harm(rng, folder)
    direct = [harm] if isinstance(harm["_target_"], str) else []
    defined["config"]["algo"] |= rng.choice([{"estimator": harm}, {"x": _resolver(rng)}, *direct])
    before, defined["hash"] = defined["hash"], digest(defined["config"])
    for line in lines:
        if line.get("config") == before:
            line["config"] = defined["hash"]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    _, warnings = read_records(path)
    became = called(
        rng.choice([["export"], ["compare", "mine", "other"], ["report"]]), _check_marker
    )
    return "left out" if warnings else became


def _check_marker(text: str) -> None:
    assert MARKER not in text, "a variable of the environment is told"


def _check_told(text: str, folder: Path) -> None:
    _check_marker(text)
    assert str(folder) not in text.replace(str(folder / "made"), "").replace(
        str(folder / "victim"), ""
    ).replace(str(folder / "secret"), ""), "the current folder is told"


def _watched(make):
    def piece(folder: Path, number: int) -> str:
        """Run an input in a separate folder, and check its effects."""
        rng = Random(number)
        before = dict(os.environ)
        here = Path.cwd()
        victim, secret = folder / "victim", folder / "secret"
        victim.write_text("precious")
        secret.write_text(MARKER)
        (folder / "program.py").write_text(_PROGRAM)
        (folder / "bag").mkdir()
        for name in ("__init__", "inner"):
            (folder / "bag" / f"{name}.py").write_text(_PROGRAM)
        OmegaConf.register_new_resolver("mine", os.environ.get, replace=True)
        os.environ[VARIABLE] = MARKER
        os.chdir(folder)
        writable = [folder / one for one in ("results", "configs", "bundle", "mine.yaml", "out")]
        writable += [Path(os.environ["BOOSTBENCH_CACHE"]), folder / "multirun"]
        out = io.StringIO()
        try:
            with warnings.catch_warnings(), contextlib.redirect_stderr(out):
                warnings.simplefilter("ignore")
                with watching(writable, secret) as watch:
                    became = make(rng, folder)
        finally:
            os.chdir(here)
            changed = {key for key, value in os.environ.items() if before.get(key) != value}
            os.environ.clear()
            os.environ.update(before)
        assert not watch.seen, watch.seen
        assert changed <= {VARIABLE}, changed
        assert not (loaded := [name for name in _MODULES if name in sys.modules]), loaded
        assert victim.read_text() == "precious"
        for path in folder.rglob("*"):
            if path.is_file() and path != secret:
                assert MARKER.encode() not in path.read_bytes(), path
        assert MARKER not in out.getvalue()
        return became

    return piece


_PROGRAM = """from pathlib import Path
from sklearn.ensemble import RandomForestClassifier
Path("made").mkdir()
"""

#: The function of each kind of input.
ALL = {
    "hostile tables": _watched(_table),
    "hostile figures": _watched(_figure),
    "hostile folders of configs": _watched(_folder_of_configs),
    "hostile command lines": _watched(_command),
    "hostile calls": _watched(_python),
    "hostile bundles": _watched(_bundle),
    "hostile records": _watched(_record),
}
