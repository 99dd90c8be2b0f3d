"""One certification of a toy repository, made once, as starting processes takes seconds."""

import contextlib
import dataclasses
import importlib
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from boostbench.data.dataset import Dataset
from boostbench.experiment.certify import samples
from boostbench.experiment.certify.checkouts import Repository
from boostbench.experiment.certify.samples import Group
from boostbench.experiment.certify.session import Session
from boostbench.experiment.code import fingerprint
from boostbench.experiment.plan import Experiment
from boostbench.experiment.runner import run

from .toy_repository import BASE, MODULES, ToyRepository

N_SPLITS = 40
#: Scaling would make other numbers of those whose sums tie.
PROTOCOL = {"n_folds": 3, "checkpoints": [1], "scale": "none"}


def _dataset(name, n_samples, n_features, n_ties=0):
    """Two classes that the first features tell apart; of the ties, half is of each class."""
    rng = np.random.default_rng(n_features)
    y = rng.integers(0, 2, n_samples)
    X = rng.normal(size=(n_samples, n_features))
    X[:, :3] += y[:, None]
    X[:n_ties, :3] = [0.1, 0.2, 0.3]
    y[:n_ties] = np.arange(n_ties) % 2
    return Dataset(name, X, y, "made here")


DATASETS = {
    "narrow": _dataset("narrow", 200, 3),
    "wide": _dataset("wide", 200, 9),
    "ties": _dataset("ties", 16000, 3, n_ties=24),
}

#: What is on record: class, data, number of splits, grid.
RECORDED = [
    ("formula.Formula", "narrow", N_SPLITS, {}),
    ("branch.Branch", "narrow", 20, {}),
    ("branch.Branch", "wide", 20, {}),
    ("moved.Moved", "narrow", 3, {"shift": [0.0, 0.5]}),
    ("moved.Moved", "wide", 3, {}),
    ("path.Path", "wide", 2, {"shift": [0.0, 0.5]}),
    ("ordered.Ordered", "ties", N_SPLITS, {}),
    ("ordered.Judged", "ties", N_SPLITS, {}),
    ("slower.Slower", "narrow", 2, {}),
    ("rare.Rare", "narrow", 4, {}),
]


def _forget():
    """Forget what has been imported of the toy package."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "toyboost"]:
        del sys.modules[name]
    importlib.invalidate_caches()
    fingerprint.cache_clear()


@pytest.fixture(scope="session")
def toy(tmp_path_factory):
    """A repository of three commits, and records that the second one has made."""
    folder = tmp_path_factory.mktemp("certify")
    patch = pytest.MonkeyPatch()
    patch.setattr(sys, "dont_write_bytecode", True)
    repository = ToyRepository(folder / "repository")
    patch.syspath_prepend(str(repository.root))
    then = {name: source for name, (source, _) in MODULES.items()}
    broken = repository.commit(base="import a_package_that_is_gone\n", __init__="", **then)
    before = repository.commit(base=BASE, **then)
    _forget()
    experiments = [
        Experiment.from_config(
            {
                "algo": {"name": target.partition(".")[2], "_target_": f"toyboost.{target}"}
                | {"grid": grid},
                "protocol": PROTOCOL | {"n_splits": n_splits},
            },
            DATASETS[data],
        )
        for target, data, n_splits, grid in RECORDED
    ]
    results = folder / "results"
    report = run(experiments, results=results)
    assert not report.failed
    after = repository.commit(**{name: today for name, (_, today) in MODULES.items()})
    _forget()
    yield SimpleNamespace(
        repository=repository, results=results, broken=broken, before=before, after=after
    )
    _forget()
    patch.undo()


def changed(group, record=None, **changes):
    """Change all samples of a group, and entries of their records."""
    return Group(
        group.name,
        group.target,
        {
            one: [[_changed(sample, record or {}, **changes) for sample in kind] for kind in kinds]
            for one, kinds in group.configurations.items()
        },
    )


def _changed(sample, record, **changes):
    return dataclasses.replace(sample, record={**sample.record, **record}, **changes)


@pytest.fixture
def find_groups(toy):
    """Find the groups of the toy records, as made by the second commit."""

    def find(*names):
        found, warnings = samples.groups(toy.results)
        assert not warnings
        found = [changed(group, commit=toy.before) for group in found]
        return [group for group in found if not names or group.name in names]

    return find


@pytest.fixture
def certify(toy, tmp_path):
    """Certify groups; the certificates go to another folder, which is returned by `results`."""

    def certify(
        groups,
        results=tmp_path,
        verdict_changes=lambda pairs: [],
        on_event=None,
        datasets=lambda facts: DATASETS[facts["name"]],
        **options,
    ):
        events = []
        session = Session(groups, results, **options)
        session.run(
            Repository(toy.repository.package),
            datasets,
            verdict_changes,
            lambda: contextlib.nullcontext(on_event or events.append),
        )
        return session.findings, events

    return certify
