import ast
import graphlib
import importlib
import json
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest
import yaml

import boostbench
from boostbench import algorithms
from boostbench.papers.metadata import library

ROOT = Path(__file__).parents[1]


def test_all_algorithms_have_a_short_name():
    functions = {"predictions", "published", "results"}
    assert set(boostbench.__all__) == {*algorithms.__all__, *functions}
    for name in algorithms.__all__:
        assert getattr(boostbench, name) is getattr(algorithms, name)


def test_dir_lists_public_names_only():
    assert set(dir(boostbench)) == {*boostbench.__all__, "__version__"}


@pytest.mark.parametrize("path", ["__init__.py", "algorithms/__init__.py"])
def test_type_checkers_see_all_algorithms(path):
    tree = ast.parse((ROOT / "boostbench" / path).read_text(encoding="utf-8"))
    [block] = [
        node for node in tree.body if isinstance(node, ast.If) and node.test.id == "TYPE_CHECKING"
    ]
    imported = {alias.name: node.module for node in block.body for alias in node.names}
    assert imported.keys() == set(algorithms.__all__)
    for name, module in imported.items():
        assert getattr(importlib.import_module(module), name) is getattr(algorithms, name)
    assert (ROOT / "boostbench" / "py.typed").exists()


def test_importing_the_package_imports_no_algorithm():
    code = (
        "import sys, boostbench, boostbench.util.configs\n"
        "from boostbench.util import errors\n"
        "dir(boostbench), hasattr(boostbench, 'nothing')\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'boostbench.algorithms'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "from boostbench import MCBoost, AdaBoostMH\n"
        "assert MCBoost.__module__ == 'boostbench.algorithms.mcboost'\n"
        "from boostbench import *\n"
        "assert SAMME.__name__ == 'SAMME'\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_algorithms_are_imported_lazily():
    code = (
        "import pickle, sys\n"
        "from boostbench import algorithms\n"
        "assert not [name for name in sys.modules if name.startswith(algorithms.__name__ + '.')]\n"
        "algorithms.SAMME\n"
        "assert 'boostbench.algorithms.samme' in sys.modules\n"
        "assert 'boostbench.algorithms.mcboost' not in sys.modules\n"
        "from boostbench.algorithms import *\n"
        "assert pickle.loads(pickle.dumps(MCBoost)) is algorithms.MCBoost\n"
        "assert dir(algorithms) == sorted(algorithms.__all__)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_each_module_of_the_algorithms_can_be_imported_first():
    code = (
        "import sys, pathlib, importlib\n"
        "import numpy, pandas, scipy.optimize, sklearn.ensemble\n"
        "root = pathlib.Path(sys.argv[1])\n"
        "for path in sorted((root / 'boostbench' / 'algorithms').rglob('*.py')):\n"
        "    parts = path.relative_to(root).with_suffix('').parts\n"
        "    importlib.import_module('.'.join(parts).removesuffix('.__init__'))\n"
        "    for name in [name for name in sys.modules if name.startswith('boostbench.algo')]:\n"
        "        del sys.modules[name]\n"
    )
    subprocess.run([sys.executable, "-c", code, str(ROOT)], check=True)


def test_no_module_hides_an_algorithm():
    """The import of a module sets its name in the package, over the name of a function."""
    modules = {path.stem for path in (ROOT / "boostbench" / "algorithms").iterdir()}
    assert modules.isdisjoint(algorithms.__all__)


@pytest.mark.parametrize("package", [boostbench, algorithms])
def test_unknown_name_is_an_error(package):
    with pytest.raises(AttributeError, match=f"'{package.__name__}' has no attribute 'XGBoost'"):
        package.XGBoost  # noqa: B018
    with pytest.raises(ImportError, match="XGBoost"):
        from boostbench import XGBoost  # noqa: F401


def test_oldest_versions_equal_the_lower_bounds():
    """`make test-oldest` installs the lower bounds of pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    promised = [*project["dependencies"], *(line for one in extras.values() for line in one)]
    pins = (ROOT / "tests" / "oldest.txt").read_text().splitlines()
    pinned = dict(line.split("==") for line in pins if not line.startswith("#"))
    bounds = dict(line.split(",")[0].split(">=") for line in promised if ">=" in line)
    assert {name: bounds[name] for name in pinned} == pinned
    assert set(pinned) >= {line.split(">=")[0] for line in project["dependencies"]}


def test_pinned_versions_cover_all_dependencies_and_made_the_records():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = (ROOT / "tests" / "pinned.txt").read_text().splitlines()
    pinned = dict(re.findall(r"^(\S+)==(\S+) --hash=sha256:[0-9a-f]{64}$", "\n".join(lines), re.M))
    assert len(pinned) == len([line for line in lines if not line.startswith("#")])
    names = {re.match(r"[\w-]+", line)[0] for line in project["dependencies"]}
    assert names | {"scikit-image", "hatchling"} <= pinned.keys()
    record_file = ROOT / "results" / "records" / "wine" / "cgens_sls.jsonl"
    environments = [
        record["provenance"]["environment"]
        for record in map(json.loads, record_file.read_text(encoding="utf-8").splitlines())
        if record.keys() == {"hash", "provenance"}
    ]
    for name in ("numpy", "scipy", "scikit-learn"):
        assert {environment[name] for environment in environments} == {pinned[name]}


def imports(path, modules):
    """Yield (module, is_top_level) for the package's modules that a file imports."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            imported = [name if name in modules else node.module for name in names]
        elif isinstance(node, ast.Import):
            imported = [alias.name for alias in node.names]
        else:
            continue
        yield from ((name, node in tree.body) for name in imported if name in modules)


def test_imports_go_down_only():
    """Imports go to a lower layer of docs/architecture.md or stay in a folder, without cycles."""
    drawn = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    layers = {
        folder: int(layer)
        for folder, layer in re.findall(r"^ {6}(\w+)(?:/|\.py) +layer (\d)\.", drawn, re.M)
    }
    files = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in (ROOT / "boostbench").rglob("*.py")
    }
    folders = {
        path.name for path in (ROOT / "boostbench").iterdir() if (path / "__init__.py").exists()
    }
    assert folders == {*layers, "cli"} - {"testing"}

    def place(name):
        part = name.split(".")[1] if "." in name else ""
        return part, layers.get(part, {"": 10, "cli": 10, "__main__": 11}.get(part, 0))

    at_once = {name: set() for name in files}
    for name, path in files.items():
        part, layer = place(name)
        for other, is_at_once in imports(path, files):
            other_part, other_layer = place(other)
            is_below = other_layer < layer or other_layer == 0 or not other_part
            assert is_below or part == other_part, (name, other)
            if is_at_once:
                at_once[name].add(other)
    list(graphlib.TopologicalSorter(at_once).static_order())


def test_library_imports_nothing_of_the_runner():
    """The library knows arrays and estimators; the runner knows specifications and records."""
    library = ("core", "algorithms", "inspection", "conversion", "testing.py")
    package = ROOT / "boostbench"
    files = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in package.rglob("*.py")
    }
    allowed = {"util", "", *(name.removesuffix(".py") for name in library)}
    uphill = {
        (name, other)
        for name, path in files.items()
        if path.relative_to(package).parts[0] in library
        for other, _ in imports(path, files)
        if (other.split(".")[1] if "." in other else "") not in allowed
    }
    assert uphill == set()


def private_accesses(path):
    """Yield the private names of other packages that a file imports or reads off a module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    modules = set()
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name, alias in zip(names, node.names, strict=True):
            if not name.startswith("boostbench."):
                modules.add((alias.asname or alias.name).partition(".")[0])
                if re.search(r"(^|\.)_[^_]", name):
                    yield name
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and re.match("_[^_]", node.attr):
            name = ast.unparse(node)
            # The name is public in spite of its underscore: Python documents it.
            if name.partition(".")[0] in modules and name != "os._exit":
                yield name


def test_only_compat_accesses_private_names_of_other_packages():
    package = ROOT / "boostbench"
    accesses = {path: set(private_accesses(path)) for path in package.rglob("*.py")}
    files = {path.relative_to(package): names for path, names in accesses.items() if names}
    assert list(files) == [Path("util", "compat.py")]


#: Types of references in CFF 1.2.0 that papers need. The format has no type for a chapter.
TYPES = {"article", "book", "conference-paper", "generic", "report", "thesis", "unpublished"}

CITATION = ROOT / "CITATION.cff"


def test_citation_names_the_papers():
    told = yaml.safe_load(CITATION.read_text(encoding="utf-8"))["references"]
    assert {one["type"] for one in told} <= TYPES
    for paper, cited in zip(library().papers, told, strict=True):
        assert (cited["title"], str(cited["year"])) == (paper.work, paper.year)
        names = [f"{one['given-names']} {one['family-names']}" for one in cited["authors"]]
        assert ", ".join(names) == paper.authors


def test_metadata_files_agree_on_version_date_and_identifiers():
    citation = yaml.safe_load(CITATION.read_text(encoding="utf-8"))
    codemeta = json.loads((ROOT / "codemeta.json").read_text(encoding="utf-8"))
    zenodo = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf-8"))
    assert citation["version"] == codemeta["version"] == zenodo["version"]
    assert boostbench.__version__.startswith(citation["version"])
    assert str(citation["date-released"]) == codemeta["dateModified"]
    assert citation["keywords"] == codemeta["keywords"] == zenodo["keywords"]
    identifiers = {paper["doi"] for paper in citation["references"] if "doi" in paper}
    assert identifiers == {
        paper["@id"].removeprefix("https://doi.org/") for paper in codemeta["referencePublication"]
    }
    assert identifiers == {paper["identifier"] for paper in zenodo["related_identifiers"]}


def test_modules_have_names_of_their_own():
    # Commands have the names that users type, and the two base classes have documented paths.
    folders = (path for path in (ROOT / "boostbench").rglob("*.py") if path.parent.name != "cli")
    names = [path.stem for path in folders if path.stem not in ("__init__", "base")]
    assert [name for name, count in Counter(names).items() if count > 1] == []
    assert [name for name in names if f"{name}s" in names] == []
