"""The configs in ``conf/data/``: their form and their expectations of the papers' files."""

import pytest
import yaml

from boostbench.data import first_available_source, load
from boostbench.spec.data import DataCounts, DataSpec
from boostbench.util.configs import conf_dir

SPECS = {
    path.stem: yaml.safe_load(path.read_text()) for path in (conf_dir() / "data").glob("*.yaml")
}
#: Data sets with fewer entries than this are read in the tests.
SMALL = 100_000


def size(spec):
    return spec["expect"].get("samples", 0) * spec["expect"].get("features", 0)


def test_configs_cover_every_kind_of_source():
    assert len(SPECS) > 60
    for source in ("openml", "sklearn", "generate"):
        assert any(spec.get(source) for spec in SPECS.values())


@pytest.mark.parametrize("name", SPECS)
def test_config_has_the_required_keys(name):
    spec = SPECS[name]
    assert spec["name"] == name
    assert {"name", "expect"} <= spec.keys()
    assert "path" not in spec
    DataSpec.from_config(spec)
    assert "seed" not in spec or spec.get("generate") or spec.get("redraw") or spec.get("pools")


def test_openml_data_sets_have_one_config_each():
    seen = {}
    for name, spec in SPECS.items():
        if spec.get("openml"):
            seen.setdefault(spec["openml"]["id"], []).append(spec.get("file", name))
    assert {data_id: names for data_id, names in seen.items() if len(set(names)) > 1} == {}


@pytest.mark.parametrize("name", [n for n, s in SPECS.items() if s.get("sklearn")])
def test_scikit_learn_data_are_as_expected(name):
    assert load(SPECS[name] | {"openml": None}).source.startswith("scikit-learn")


@pytest.mark.parametrize("name", [n for n, s in SPECS.items() if s.get("generate")])
def test_generated_data_are_as_expected(name):
    assert load(SPECS[name]).source.startswith("generated")


def test_every_data_set_of_the_papers_has_its_file(papers_data):
    files = {
        name for name, spec in SPECS.items() if first_available_source(spec).startswith("file ")
    }
    there = {path.name.split(".")[0] for path in papers_data.glob("*.svm.gz")}
    there |= {path.name.split(".")[0] for path in papers_data.glob("*.npz")}
    there |= {path.name.split("-train-")[0] for path in papers_data.glob("*-train-images-*")}
    assert there - files == set()
    assert "vowel528" in files


@pytest.mark.parametrize("name", [n for n, s in SPECS.items() if size(s) < SMALL])
def test_small_files_are_as_expected(name, papers_data):
    spec = SPECS[name]
    if not first_available_source(spec).startswith("file "):
        pytest.skip(f"no file of {name} in BOOSTBENCH_DATA")
    dataset = load(spec)
    if spec.get("redraw"):
        # `load` compared the expected counts with the data before this step.
        assert set(dataset.class_counts.values()) == {spec["redraw"]}
        assert dataset.n_classes == spec["expect"]["classes"]
    else:
        assert dataset.expect == DataCounts(**spec["expect"])
    if spec.get("train_rows"):
        assert len(dataset.splits[0][0]) == spec["train_rows"]


def test_sparse_data_set_stays_sparse(papers_data):
    dataset = load(SPECS["20news-bydate"])
    assert dataset.is_sparse
    assert len(dataset.splits[0][0]) == 11314


@pytest.mark.parametrize(
    ("name", "n_splits", "n_train"), [("banana", 10, 400), ("image", 9, 1300), ("mnist", 1, 60000)]
)
def test_fixed_splits(name, n_splits, n_train, papers_data):
    splits = load(SPECS[name]).splits
    assert len(splits) == n_splits
    assert all(len(train) == n_train for train, _ in splits)
