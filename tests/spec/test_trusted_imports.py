"""Check that other classes than estimators are neither imported nor instantiated."""

import sys

import pytest
from sklearn.gaussian_process.kernels import RBF, Sum
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from boostbench.spec import measures, trusted_imports
from boostbench.spec.algorithm import AlgorithmSpec
from boostbench.spec.keys import json_defaults
from boostbench.spec.trusted_imports import import_class, import_estimator, instantiate
from boostbench.util.errors import UserError

ADA = "sklearn.ensemble.AdaBoostClassifier"
TREE = "sklearn.tree.DecisionTreeClassifier"
#: Classes whose objects touch the machine as soon as they are made, and functions that do.
HARMFUL = [
    {"_target_": "subprocess.Popen", "args": ["touch", "made"]},
    {"_target_": "os.system", "command": "touch made"},
    {"_target_": "os.mkdir", "path": "made"},
    {"_target_": "io.FileIO", "file": "victim", "mode": "w"},
    {"_target_": "_io.FileIO", "file": "victim", "mode": "w"},
    {"_target_": "builtins.open", "file": "victim", "mode": "w"},
    {"_target_": "logging.FileHandler", "filename": "victim", "mode": "w"},
    {"_target_": "zipfile.ZipFile", "file": "made", "mode": "w"},
    {"_target_": "sqlite3.Connection", "database": "made"},
    {"_target_": "numpy.memmap", "filename": "made", "mode": "w+", "shape": [3]},
    {"_target_": "joblib.Memory", "location": "made"},
    {"_target_": "pathlib.Path"},
    {"_target_": "sklearn.datasets._base.Path"},
    {"_target_": "functools.partial", "_args_": ["touch"]},
    {"_target_": "hydra.utils.get_object", "path": "os.environ"},
    {"_target_": "boostbench.execution.queue.Locks", "folder": "made"},
    {"_target_": "sklearn.pipeline.Pipeline", "steps": [["t", {"_target_": TREE}]], "memory": "m"},
]


@pytest.fixture
def watched(tmp_path, monkeypatch):
    """Check that a test leaves its working folder and the file in it unchanged."""
    monkeypatch.chdir(tmp_path)
    victim = tmp_path / "victim"
    victim.write_text("precious")
    opened = []
    yield opened
    assert victim.read_text() == "precious"
    assert [path.name for path in tmp_path.iterdir()] == ["victim"]


@pytest.mark.parametrize("harmful", HARMFUL, ids=lambda config: config["_target_"])
def test_only_estimators_are_instantiated(harmful, watched):
    places = [
        harmful,
        {"_target_": ADA, "estimator": harmful},
        {"_target_": ADA, "grid": {"estimator": [{"_target_": TREE}, harmful]}},
        {"_target_": ADA, "estimator": {"_target_": TREE, "max_depth": harmful}},
        {"_target_": ADA, "estimator": {"_target_": TREE, "max_depth": [harmful]}},
        {"_target_": ADA, "estimator": {"_target_": TREE, "class_weight": {"a": harmful}}},
    ]
    for config in places:
        with pytest.raises(UserError) as error:
            AlgorithmSpec.from_config(config).check()
        assert "\n" not in str(error.value)
        config = {"grid": {}, **config}
        params = {k: v for k, v in config.items() if k not in ("_target_", "grid")}
        point = {name: values[-1] for name, values in config["grid"].items()}
        with pytest.raises(UserError):
            AlgorithmSpec("", config["_target_"], params).build(0, **point)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("this.Zen", "this is a module of Python itself"),
        ("antigravity.Comic", "antigravity is a module of Python itself"),
        ("pip._internal.Command", "pip is not known to build on scikit-learn"),
        ("pytest.Item", "pytest is not known to build on scikit-learn"),
        ("openml.config.ConfigurationForExamples", "openml is not known to build on scikit-learn"),
        ("sklearn.__main__.Thing", "not a module of classes"),
        ("boostbench.__main__.Thing", "not a module of classes"),
        ("program.RandomForestClassifier", "program defines no such class"),
        ("program.Path", "program defines no such class; "),
        ("program.Thing", "program defines no such class"),
        ("folder.program.Thing", "folder.program defines no such class"),
        ("folder.nothing.Thing", "No module named 'folder.nothing'"),
        ("program.inner.Thing", "No module named 'program'"),
        ("..program.Thing", "package.module.Class is expected"),
        ("program", "package.module.Class is expected"),
        ("", "package.module.Class is expected"),
        ("a b.C", "package.module.Class is expected"),
    ],
)
def test_modules_are_inspected_before_import(target, message, tmp_path, monkeypatch):
    (tmp_path / "folder").mkdir()
    for name in ("program.py", "folder/program.py", "folder/__init__.py"):
        (tmp_path / name).write_text(
            "from pathlib import Path\nfrom sklearn.ensemble import RandomForestClassifier\n"
            "raise SystemExit('it runs')\n"
        )
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    with pytest.raises(UserError, match=message):
        import_estimator(target)
    with pytest.raises(UserError):
        measures.find(f"{target}.x")
    json_defaults.cache_clear()
    assert json_defaults(target) == []
    started = {name.partition(".")[0] for name in set(sys.modules) - before}
    assert not started & {"this", "antigravity", "program", "folder"}


def test_user_modules_and_packages_for_scikit_learn_are_imported(tmp_path, monkeypatch):
    (tmp_path / "ownmodule.py").write_text(
        "class Mine:\n    def __init__(self, depth=1):\n        self.depth = depth\n"
        "    def fit(self, X, y):\n        pass\n\nclass Other:\n    pass\n"
    )
    (tmp_path / "ownpackage").mkdir()
    (tmp_path / "ownpackage" / "__init__.py").write_text("from ownmodule import Mine as Own\n")
    (tmp_path / "ownpackage" / "inner.py").write_text("class Mine:\n    fit = None\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert instantiate({"_target_": "ownmodule.Mine", "depth": 3}).depth == 3
    assert import_estimator("ownpackage.Own") is import_estimator("ownmodule.Mine")
    assert import_estimator("ownpackage.inner.Mine").__module__ == "ownpackage.inner"
    with pytest.raises(UserError, match="is no classifier: it has no fit"):
        import_estimator("ownmodule.Other")
    pytest.importorskip("lightgbm")
    assert hasattr(import_class("lightgbm.LGBMClassifier"), "fit")


@pytest.fixture
def foreign(tmp_path, monkeypatch):
    """A class of an installed package, which takes any parameter, and a file beside."""
    (tmp_path / "foreign.py").write_text(
        "class Other:\n    def __init__(self, objective=None, **more):\n        self.more = more\n"
        "    def get_params(self):\n        return {}\n    def fit(self, X, y):\n        pass\n"
    )
    (tmp_path / "splits").write_text("{}")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert instantiate({"_target_": "foreign.Other", "forcedsplits_filename": "s.json"}).more
    before = trusted_imports.distribution_of
    monkeypatch.setattr(
        trusted_imports, "distribution_of", lambda top: top == "foreign" or before(top)
    )
    monkeypatch.setattr(trusted_imports, "_builds_on_scikit_learn", lambda distribution: True)
    return "foreign.Other"


@pytest.mark.parametrize(
    "params",
    [
        {"forcedsplits_filename": "x"},
        {"train_dir": "x"},
        {"output_path": "x"},
        {"fs": "splits.json"},
        {"fs": "splits"},
        {"fs": "../splits"},
        {"fs": [["~"]]},
        {"more": {"fs": "splits"}},
        {"memory": "x"},
    ],
    ids=str,
)
def test_text_parameters_of_other_packages_may_not_be_files(foreign, params):
    harmless = {
        "objective": "binary:logistic",
        "metric": ["auc", None],
        "filled": 3,
        "in": {"a": 1},
    }
    model = instantiate({"_target_": foreign, **harmless})
    assert model.more.keys() == harmless.keys() - {"objective"}
    search = "sklearn.model_selection.GridSearchCV"
    other = {"_target_": foreign}
    for config in (
        {"_target_": foreign, **params},
        {"_target_": ADA, "estimator": {"_target_": foreign, **params}},
        {"_target_": search, "estimator": other, "param_grid": {k: [v] for k, v in params.items()}},
        {"_target_": search, "estimator": other, "param_grid": [{"a__fs": ["splits"]}]},
        {"_target_": search, "estimator": other, "param_grid": {"steps__memory": [None, "x"]}},
    ):
        with pytest.raises(UserError, match="is refused"):
            instantiate(config)
    trees = {"_target_": search, "estimator": {"_target_": TREE}}
    assert instantiate({**trees, "param_grid": {"criterion": ["gini", "entropy"]}}).param_grid


def test_lightgbm_reads_no_file_of_a_config(tmp_path, monkeypatch):
    pytest.importorskip("lightgbm")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "forced").write_text('{"feature": 0, "threshold": 0.5}')
    light = {"_target_": "lightgbm.LGBMClassifier", "n_estimators": 2, "metric": "auc"}
    assert instantiate(light).n_estimators == 2
    for name in ("forcedsplits_filename", "fs", "forced_splits", "machine_list_file"):
        with pytest.raises(UserError, match=f"algo.{name}=forced is refused, as it may name a fil"):
            instantiate({**light, name: "forced"})


def test_nested_objects_may_be_estimators_kernels_and_splitters():
    rbf = {"_target_": "sklearn.gaussian_process.kernels.RBF", "length_scale": 2.0}
    made = instantiate({"_target_": "sklearn.gaussian_process.kernels.Sum", "k1": rbf, "k2": rbf})
    assert made == Sum(RBF(2.0), RBF(2.0))
    folds = instantiate({"_target_": "sklearn.model_selection.StratifiedKFold", "n_splits": 3})
    assert isinstance(folds, StratifiedKFold)
    vote = "sklearn.ensemble.VotingClassifier"
    [[name, tree]] = instantiate(
        {"_target_": vote, "estimators": [["t", {"_target_": TREE}]]}
    ).estimators
    assert (name, type(tree)) == ("t", DecisionTreeClassifier)


def test_plain_values_are_unchanged():
    for value in (3, None, "text", [1, [2.0]], {"a": {"b": [None]}}, (1, 2)):
        assert instantiate(value) == value
