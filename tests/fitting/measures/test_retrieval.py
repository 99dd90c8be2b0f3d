import itertools
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from msgspec import structs
from sklearn.metrics import average_precision_score

from boostbench.fitting.measures import retrieval
from boostbench.fitting.measures.retrieval import mean_average_precision
from boostbench.records.store import read_records
from boostbench.util.errors import UserError
from fitting.toy import run

from ..toy import make_dataset, make_experiment

BITS = "fake_hashing.RandomBits"
experiment = partial(make_experiment, target=BITS, measure="retrieval", n_splits=3)


def average_precision(ranked):
    """Return the mean precision at the relevant places, by the definition."""
    hits = np.flatnonzero(ranked)
    return np.mean([(i + 1) / (place + 1) for i, place in enumerate(hits)]) if len(hits) else 0.0


def mean_over_all_orders(distances, relevant):
    """Return the mean over all orders of the codes with ascending distances."""
    orders = [
        order
        for order in itertools.permutations(range(len(distances)))
        if all(distances[a] <= distances[b] for a, b in itertools.pairwise(order))
    ]
    return np.mean([average_precision(relevant[list(order)]) for order in orders])


def draw(rng, n, n_bits, n_classes=3):
    return rng.integers(0, 2, size=(n, n_bits)).astype(bool), rng.integers(0, n_classes, size=n)


@pytest.mark.parametrize("n_bits", [1, 2, 6])
@pytest.mark.parametrize("seed", range(4))
def test_precision_with_ties_equals_the_mean_over_all_orders(n_bits, seed):
    rng = np.random.default_rng(seed)
    queries, query_labels = draw(rng, 3, n_bits)
    codes, labels = draw(rng, 7, n_bits)
    expected = [
        mean_over_all_orders((codes != query).sum(axis=1), labels == label)
        for query, label in zip(queries, query_labels, strict=True)
    ]
    precision = mean_average_precision(queries, query_labels, codes, labels)
    assert precision == pytest.approx(np.mean(expected), abs=1e-12)


def test_precision_without_ties_equals_scikit_learn():
    codes = np.tri(41, 40, -1).astype(bool)  # each at another distance from the first
    labels = np.random.default_rng(0).integers(0, 2, size=41)
    [query], [label] = codes[:1], [1]
    expected = average_precision_score(labels == label, -(codes != query).sum(axis=1))
    precision = mean_average_precision(query[None], np.array([label]), codes, labels)
    assert precision == pytest.approx(expected, abs=1e-12)


def test_precision_of_perfect_and_constant_codes():
    codes, labels = draw(np.random.default_rng(0), 60, 8, n_classes=2)
    same = np.ones((60, 8), bool)
    assert mean_average_precision(same, labels, same, np.zeros(60)) == pytest.approx(
        np.mean(labels == 0)
    )
    class_codes = np.repeat(labels[:, None] == 1, 8, axis=1)
    assert mean_average_precision(class_codes, labels, class_codes, labels) == 1
    assert mean_average_precision(codes, labels + 5, codes, labels) == 0


def test_precision_does_not_depend_on_the_block_size(monkeypatch):
    rng = np.random.default_rng(1)
    data = (*draw(rng, 50, 9), *draw(rng, 80, 9))
    whole = mean_average_precision(*data)
    monkeypatch.setattr(retrieval, "_BLOCK_SIZE", 200)
    assert mean_average_precision(*data) == pytest.approx(whole, abs=1e-14)


def test_record_of_a_transformer(tmp_path):
    dataset = make_dataset()
    asked = experiment(data=dataset)
    [outcome] = run([asked], results=tmp_path).results
    path = tmp_path / "records" / "toy" / "fake.retrieval.jsonl"
    assert len(read_records(path)[0]) == len(outcome.records) == 3
    for record, split in zip(outcome.records, asked.splits, strict=True):
        assert 1 / 3 < record.mean_average_precision < 1
        assert (record.n_bits, record.n_database, record.n_test) == (4, 90, 30)
        fit = asked.trial(split, {}).fit(dataset.X, dataset.y)
        codes = fit.estimator.transform(fit.X_test), fit.estimator.transform(fit.X_train)
        expected = mean_average_precision(codes[0] > 0, fit.y_test, codes[1] > 0, fit.y_train)
        assert record.mean_average_precision == expected
        assert len(record.last_digest) == 10
    assert read_records(path)[0] == outcome.records


def test_hash_method_equals_signs_of_the_transform(tmp_path):
    targets = (BITS, "fake_hashing.HashMethod")
    results = []
    for target in targets:
        asked = experiment(target=target)
        [outcome] = run([asked], results=tmp_path / target).results
        results.append([(r.mean_average_precision, r.digests) for r in outcome.records])
    assert results[0] == results[1]


def test_database_includes_the_rows_outside_the_training_part(tmp_path):
    """LADDER learns from 2000 of the 59 000 images of the database."""
    dataset = make_dataset()
    few = experiment(data=dataset, train_size=20, test_size=12)
    [outcome] = run([few], results=tmp_path).results
    for record, split in zip(outcome.records, few.splits, strict=True):
        assert (record.n_train, record.n_test, record.n_database) == (20, 12, 108)
        fit = few.trial(split, {}).fit(dataset.X, dataset.y)
        rows = np.setdiff1d(np.arange(120), split.test)
        codes = [fit.estimator.transform(fit.prepare(dataset.X[r])) > 0 for r in (split.test, rows)]
        labels = [dataset.y[r] for r in (split.test, rows)]
        expected = mean_average_precision(codes[0], labels[0], codes[1], labels[1])
        assert record.mean_average_precision == pytest.approx(expected, abs=1e-14)


def test_tuning_maximises_precision(tmp_path):
    asked = experiment(grid={"n_bits": [1, 2, 12]})
    [outcome] = run([asked], results=tmp_path).results
    trials, _ = read_records(asked.path(tmp_path, tuning=True))
    means = {
        bits: np.mean([t.validation_error for t in trials if t.points == [{"n_bits": bits}]])
        for bits in (1, 2, 12)
    }
    assert len(trials) == 9
    assert outcome.records[0].chosen == {"n_bits": min(means, key=means.get)}
    assert all(0 < trial.validation_error < 2 / 3 for trial in trials)


@pytest.mark.parametrize("form", ["flat", "few", "text", "nan"])
def test_codes_of_wrong_shape_are_a_failure(form, tmp_path):
    asked = experiment(target="fake_hashing.OddCodes")
    algorithm = structs.replace(asked.spec.algorithm, params={"form": form})
    asked = replace(asked, spec=structs.replace(asked.spec, algorithm=algorithm))
    [outcome] = run([asked], results=tmp_path).results
    assert len(outcome.failures) == 3
    assert all(f.error.startswith("ValueError: transform gives") for f in outcome.failures)


def test_unpacked_bits_are_a_failure(tmp_path):
    asked = experiment(target="fake_hashing.UnpackedHash")
    [outcome] = run([asked], results=tmp_path).results
    wanted = "ValueError: hash gives uint8 of shape (30, 4), not 4 bits in 1 bytes for each of the"
    assert all(f.error.startswith(wanted) for f in outcome.failures)
    assert len(outcome.failures) == 3


def test_codes_of_different_lengths_raise():
    (queries, of_queries), (codes, labels) = (
        draw(np.random.default_rng(0), 5, n_bits) for n_bits in (8, 9)
    )
    with pytest.raises(ValueError, match="queries have codes of 8 bits, and the data base of 9"):
        mean_average_precision(queries, of_queries, codes, labels)


@pytest.mark.parametrize("n_bits", [8, 63, 64, 65, 130])
def test_codes_of_any_length_are_ranked_by_all_bits(n_bits):
    rng = np.random.default_rng(n_bits)
    queries, codes = (rng.random((n, n_bits)) < 0.5 for n in (4, 50))
    of_queries, labels = (rng.integers(0, 3, size=n) for n in (4, 50))
    precision = mean_average_precision(queries, of_queries, codes, labels)
    # The expectation is estimated by breaking ties at random, many times.
    drawn = []
    for _ in range(300):
        order = rng.permutation(50)
        for query, label in zip(queries, of_queries, strict=True):
            ranks = order[np.argsort((codes[order] != query).sum(axis=1), kind="stable")]
            drawn.append(average_precision(labels[ranks] == label))
    assert precision == pytest.approx(np.mean(drawn), abs=4 * np.std(drawn) / np.sqrt(len(drawn)))


def test_estimator_without_codes_raises():
    with pytest.raises(UserError, match="is no transformer: it has no hash or transform"):
        experiment(target="sklearn.tree.DecisionTreeClassifier")
    with pytest.raises(UserError, match="is no classifier: it has no predict"):
        experiment(measure="prediction")


def test_memory_layout_of_codes_does_not_matter():
    rng = np.random.default_rng(0)
    (queries, of_queries), (codes, labels) = draw(rng, 5, 70), draw(rng, 9, 70)
    expected = mean_average_precision(queries, of_queries, codes, labels)
    by_columns = map(np.asfortranarray, (queries, codes))
    first, second = by_columns
    assert mean_average_precision(first, of_queries, second, labels) == expected
