"""Retrieval of samples of the same class by codes: mean average precision."""

import time
from typing import ClassVar

import numpy as np

from boostbench.fitting.measures.base import FIT_TIMES, Measure
from boostbench.fitting.quantities import TIME_DIGITS
from boostbench.fitting.stages import digest_of_labels
from boostbench.fitting.trial import Fit, Trial
from boostbench.records.schema import Duration, Fraction, Measured, Positive
from boostbench.util.numbers import round_significant

# Number of distances, of 8 bytes each, that are computed at a time, so that they stay in the
# cache.
_AT_ONCE = 2**18


class RetrievalRecord(Measured, kw_only=True):
    """Mean average precision of the codes of a fit."""

    mean_average_precision: Fraction
    n_bits: Positive
    n_database: Positive
    seconds: dict[str, Duration | None]


class Retrieval(Measure):
    """Codes of queries against the codes of a data base.

    The queries are the test part. The data base is the other side of the split: the training part
    and the samples that a smaller ``protocol.train_size`` or ``protocol.train_per_class`` left
    out. An estimator gives codes by ``hash``, packed as by `numpy.packbits`, with their length in
    ``n_bits_``, or by ``transform``, whose positive numbers are ones. Samples are ranked by the
    Hamming distance; a sample is relevant if it has the class of the query.
    """

    form = RetrievalRecord
    quantities = (
        *("mean_average_precision", "n_iterations", "n_parameters", "hash_per_instance"),
        *FIT_TIMES,
    )
    suffix = "retrieval"
    settings: ClassVar = {"retrieval": "hamming"}
    needs = ("hash|transform",)
    kind = "transformer"
    judged_by = "mean average precision"
    quantity = "mean_average_precision"

    def take(self, trial: Trial, X, y: np.ndarray) -> dict:
        """Fit on the training part, and look the queries up.

        Returns
        -------
        dict
            ``mean_average_precision``, see `mean_average_precision`; ``n_bits``; ``n_database``;
            ``n_iterations`` done and ``n_parameters``, None if the estimator does not have them;
            ``digests``, with the ``end`` of the codes of the queries; CPU ``seconds``, also
            ``hash_per_instance``.
        """
        fit = trial.fit(X, y)
        start = time.process_time()
        queries = self.outputs(fit)["end"]
        seconds = time.process_time() - start
        spare = trial.split.spare
        codes, labels = _codes(fit, fit.X_train), fit.y_train
        if len(spare):
            codes = np.concatenate([codes, _codes(fit, fit.prepare(X[spare]))])
            labels = np.concatenate([labels, y[spare]])
        return {
            "mean_average_precision": mean_average_precision(queries, fit.y_test, codes, labels),
            "n_bits": queries.shape[1],
            "n_database": len(labels),
            "n_iterations": fit.count("n_iterations_"),
            "n_parameters": fit.count("n_parameters_"),
            "digests": {"end": digest_of_labels(queries)},
            "seconds": {
                **fit.times(),
                "hash_per_instance": round_significant(seconds / len(queries), TIME_DIGITS),
            },
        }

    def outputs(self, fit: Fit, rounds=()) -> dict[str, np.ndarray]:
        """Give the codes of the test part; there are no checkpoints."""
        return {"end": _codes(fit, fit.X_test)}

    def loss(self, fit: Fit, output: np.ndarray) -> float:
        """Look the test part up in the training part: 1 minus the mean average precision."""
        database = _codes(fit, fit.X_train)
        return 1 - mean_average_precision(output, fit.y_test, database, fit.y_train)


def mean_average_precision(
    queries: np.ndarray, query_labels: np.ndarray, codes: np.ndarray, labels: np.ndarray
) -> float:
    """Rank codes by their Hamming distance from queries, and average the precision.

    Codes at the same distance have no order. The average precision of a query is the expected value
    over all their orders, in closed form: McSherry and Najork, "Computing information retrieval
    performance measures efficiently in the presence of tied scores", ECIR 2008, equation (4). Let n
    codes have one distance, r of them relevant, behind t codes of smaller distance, R of them
    relevant. The code in place t + i is relevant with probability r/n; then the expected number of
    relevant codes before it is R + (i - 1)(r - 1)/(n - 1).

    Parameters
    ----------
    queries : ndarray of shape (n_queries, n_bits), bool
    query_labels : ndarray of shape (n_queries,)
    codes : ndarray of shape (n_samples, n_bits), bool
    labels : ndarray of shape (n_samples,)

    Returns
    -------
    float
        The mean over the queries, between 0 and 1; a query of a class that is not among `labels`
        counts 0.

    Raises
    ------
    ValueError
        If the codes differ in their number of bits.

    Examples
    --------
    >>> codes = np.array([[0, 0], [0, 1], [1, 1]], bool)
    >>> labels = np.array([7, 8, 7])
    >>> round(mean_average_precision(codes[:1], labels[:1], codes, labels), 6)  # (1 + 2/3) / 2
    0.833333
    """
    if queries.shape[1] != codes.shape[1]:
        raise ValueError(
            f"the queries have codes of {queries.shape[1]} bits, and the data base of "
            f"{codes.shape[1]}"
        )
    order = np.argsort(labels, kind="stable")
    words, labels = _words(codes[order]), labels[order]
    of_queries = _words(queries)
    total = 0.0
    for label in np.unique(query_labels):
        # Codes of one class are side by side, so that no mask has to pick them.
        relevant = slice(
            np.searchsorted(labels, label), np.searchsorted(labels, label, side="right")
        )
        rows = of_queries[:, query_labels == label].T
        step = max(1, _AT_ONCE // len(codes))
        for start in range(0, len(rows), step):
            distances = _distances(rows[start : start + step], words)
            total += _average_precisions(distances, relevant, queries.shape[1]).sum()
    return float(total / len(queries))


def _words(bits: np.ndarray) -> np.ndarray:
    """Pack bits into words of 64, filled with zeros, of shape (n_words, n_samples)."""
    packed = np.packbits(bits, axis=1)
    packed = np.pad(packed, [(0, 0), (0, -packed.shape[1] % 8)])
    # A transformer may give its codes column by column.
    return np.ascontiguousarray(np.ascontiguousarray(packed).view(np.uint64).T)


def _distances(queries: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Hamming distances of words, of shape (n_queries, n_codes), dtype=int64."""
    distances = np.zeros((len(queries), codes.shape[1]), np.int64)
    for of_query, of_code in zip(queries.T, codes, strict=True):
        distances += np.bitwise_count(of_query[:, None] ^ of_code)
    return distances


def _average_precisions(distances: np.ndarray, relevant: slice, n_bits: int) -> np.ndarray:
    """Expected average precision of each query, from the counts of codes at each distance."""
    shape = len(distances), n_bits + 1
    places = distances + shape[1] * np.arange(shape[0])[:, None]
    n = np.bincount(places.ravel(), minlength=shape[0] * shape[1]).reshape(shape)
    r = np.bincount(places[:, relevant].ravel(), minlength=shape[0] * shape[1]).reshape(shape)
    t, before = n.cumsum(axis=1) - n, r.cumsum(axis=1) - r
    # Sums over i = 1 .. n of 1 / (t + i) and of (i - 1) / (t + i).
    harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, distances.shape[1] + 1))])
    inverse = harmonic[t + n] - harmonic[t]
    slope = (r - 1) / np.maximum(n - 1, 1)
    expected = (before + 1) * inverse + slope * (n - (t + 1) * inverse)
    gains = (r / np.maximum(n, 1)) * expected
    return gains.sum(axis=1) / np.maximum(r.sum(axis=1), 1)


def _codes(fit: Fit, X) -> np.ndarray:
    """Compute the bits of some samples, as the estimator sees these, and check their shape."""
    how = "hash" if hasattr(fit.estimator, "hash") else "transform"
    codes = np.asarray(getattr(fit.estimator, how)(X))
    expected = "a row of bits for each"
    is_right = codes.dtype.kind in "biuf"
    if how == "hash":
        n_bits = fit.estimator.n_bits_
        expected = f"{n_bits} bits in {-(-n_bits // 8)} bytes for each"
        is_right = codes.dtype == np.uint8 and codes.shape[1:] == (-(-n_bits // 8),)
    if codes.ndim != 2 or len(codes) != X.shape[0] or not is_right:
        raise ValueError(
            f"{how} gives {codes.dtype} of shape {codes.shape}, not {expected} of the "
            f"{X.shape[0]} samples"
        )
    if how == "hash":
        return np.unpackbits(codes, axis=1, count=n_bits).astype(bool)
    if not np.isfinite(codes).all():
        raise ValueError(f"{how} gives NaN or infinite numbers, which are no bits")
    return codes > 0
