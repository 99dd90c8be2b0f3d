"""Retrieval of samples of the same class by codes: mean average precision.

A code is a vector of bits that a hash function or a transformer gives to a sample.
"""

import time
from typing import ClassVar

import numpy as np
from msgspec.structs import asdict

from boostbench.fitting.measures.base import FIT_TIMES, Measure
from boostbench.fitting.quantities import TIME_DIGITS
from boostbench.fitting.stages import digest_of_labels
from boostbench.fitting.trial import Fit, Trial
from boostbench.records.fit_results import SplitResults, record_type
from boostbench.records.schema import Duration, Fraction, Positive, Seconds
from boostbench.util.numbers import round_significant

# Number of distances in a block of queries: 2 MB of 8 bytes each, which stay in the cache.
_BLOCK_SIZE = 2**18


class RetrievalSeconds(Seconds, frozen=True, kw_only=True, gc=False):
    """CPU seconds of the parts of the fit, and of hashing a sample (`hash_per_instance`)."""

    hash_per_instance: Duration


class RetrievalResults(SplitResults, kw_only=True):
    """Mean average precision of the codes of a fit.

    `digests` has one item, the digest of the codes of the queries.

    Attributes
    ----------
    mean_average_precision : float
        A fraction, see the function of this name.
    n_bits : int
        Length of the codes.
    n_database : int
        Number of samples in the data base.
    seconds : RetrievalSeconds
    """

    mean_average_precision: Fraction
    n_bits: Positive
    n_database: Positive
    seconds: RetrievalSeconds


RetrievalRecord = record_type(RetrievalResults)


class Retrieval(Measure):
    """Mean average precision of queries in a data base of codes.

    The queries are the test part. The data base is the other side of the split: the training part
    and the samples that ``protocol.train_size`` or ``protocol.train_per_class`` left out. An
    estimator computes codes by its method ``hash``, packed as by `numpy.packbits`, with their
    length in ``n_bits_``, or by ``transform``, whose positive numbers are bits of 1. The samples of
    the data base are ranked by the Hamming distance of their codes from the query's code; a sample
    is relevant if it has the class of the query.
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

    def take(self, trial: Trial, X, y: np.ndarray) -> RetrievalResults:
        """Fit on the training part, and rank the data base for each query."""
        # 1) Fit, and compute the codes of the queries.
        fit = trial.fit(X, y)
        start = time.process_time()
        queries = self.outputs(fit)["end"]
        seconds = time.process_time() - start
        # 2) Compute the codes of the data base: the training part, and the samples that a reduction
        #    of the training part left out.
        spare = trial.split.spare
        codes, labels = _codes(fit, fit.X_train), fit.y_train
        if len(spare):
            codes = np.concatenate([codes, _codes(fit, fit.prepare(X[spare]))])
            labels = np.concatenate([labels, y[spare]])
        return RetrievalResults(
            mean_average_precision=mean_average_precision(queries, fit.y_test, codes, labels),
            n_bits=queries.shape[1],
            n_database=len(labels),
            n_iterations=fit.count("n_iterations_"),
            n_parameters=fit.count("n_parameters_"),
            digests=[digest_of_labels(queries)],
            seconds=RetrievalSeconds(
                **asdict(fit.times()),
                hash_per_instance=round_significant(seconds / len(queries), TIME_DIGITS),
            ),
        )

    def outputs(self, fit: Fit, rounds=()) -> dict[str, np.ndarray]:
        """Return the codes of the test part at the end; there are no checkpoints."""
        return {"end": _codes(fit, fit.X_test)}

    def loss(self, fit: Fit, output: np.ndarray) -> float:
        """Return 1 minus the mean average precision in a fold of cross-validation.

        The codes of the validation part (`output`) are the queries. The data base is the training
        part of the fold.
        """
        database = _codes(fit, fit.X_train)
        return 1 - mean_average_precision(output, fit.y_test, database, fit.y_train)


def mean_average_precision(
    queries: np.ndarray, query_labels: np.ndarray, codes: np.ndarray, labels: np.ndarray
) -> float:
    """Return the mean average precision of codes ranked by their Hamming distance from queries.

    The average precision of a query is the mean, over the relevant codes, of the share of relevant
    codes among those ranked up to it. Codes at the same distance have no order: their part is the
    expected value over all orders, in closed form (McSherry and Najork, "Computing information
    retrieval performance measures efficiently in the presence of tied scores", ECIR 2008,
    equation (4)). Let n codes have one distance, r of them relevant, behind t codes of smaller
    distance, R of them relevant. The code in place t + i is relevant with probability r/n; then the
    expected number of relevant codes before it is R + (i - 1)(r - 1)/(n - 1). The n codes add

        r/n sum_{i=1..n} (R + 1 + (i - 1)(r - 1)/(n - 1)) / (t + i).

    Parameters
    ----------
    queries : ndarray of shape (n_queries, n_bits), dtype=bool
        Codes of the queries.
    query_labels : ndarray of shape (n_queries,)
        Classes of the queries.
    codes : ndarray of shape (n_samples, n_bits), dtype=bool
        Codes of the data base.
    labels : ndarray of shape (n_samples,)
        Classes of the data base.

    Returns
    -------
    float
        Mean over the queries, between 0 and 1. A query of a class that is not among `labels` counts
        as 0.

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
    # Sort the data base by class, so that the relevant codes of a query are consecutive.
    order = np.argsort(labels, kind="stable")
    words, labels = _pack_words(codes[order]), labels[order]
    query_words = _pack_words(queries)
    total = 0.0
    for label in np.unique(query_labels):
        relevant = slice(
            np.searchsorted(labels, label), np.searchsorted(labels, label, side="right")
        )
        words_of_label = query_words[:, query_labels == label]
        step = max(1, _BLOCK_SIZE // len(codes))
        for start in range(0, words_of_label.shape[1], step):
            distances = _hamming_distances(words_of_label[:, start : start + step], words)
            total += _average_precisions(distances, relevant, queries.shape[1]).sum()
    return float(total / len(queries))


def _pack_words(bits: np.ndarray) -> np.ndarray:
    """Pack bits into words of 64 bits, the last one filled with zeros.

    Parameters
    ----------
    bits : ndarray of shape (n_samples, n_bits), dtype=bool

    Returns
    -------
    ndarray of shape (n_words, n_samples), dtype=uint64
    """
    packed = np.packbits(bits, axis=1)
    packed = np.pad(packed, [(0, 0), (0, -packed.shape[1] % 8)])
    # `view` needs the bytes of a sample side by side, and a transformer may return columns.
    return np.ascontiguousarray(np.ascontiguousarray(packed).view(np.uint64).T)


def _hamming_distances(queries: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the Hamming distance of each query from each code.

    Parameters
    ----------
    queries, codes : ndarray of shape (n_words, n_queries) and (n_words, n_codes), dtype=uint64

    Returns
    -------
    ndarray of shape (n_queries, n_codes), dtype=int64
    """
    distances = np.zeros((queries.shape[1], codes.shape[1]), np.int64)
    for query_word, code_word in zip(queries, codes, strict=True):
        distances += np.bitwise_count(query_word[:, None] ^ code_word)
    return distances


def _average_precisions(distances: np.ndarray, relevant: slice, n_bits: int) -> np.ndarray:
    """Return the expected average precision of each query, see `mean_average_precision`.

    Parameters
    ----------
    distances : ndarray of shape (n_queries, n_codes), dtype=int64
        Hamming distances, from 0 to `n_bits`.
    relevant : slice
        Codes that are relevant for all of these queries.
    n_bits : int
        Length of the codes.

    Returns
    -------
    ndarray of shape (n_queries,)
    """
    # 1) Count the codes and the relevant codes at each distance, and at smaller distances: n, r, t
    #    and R, of shape (n_queries, n_bits + 1).
    #    `flat_indices` are the places of (query, distance) in such an array, row by row.
    n_queries, n_distances = len(distances), n_bits + 1
    flat_indices = distances + n_distances * np.arange(n_queries)[:, None]
    n_cells = n_queries * n_distances
    n = np.bincount(flat_indices.ravel(), minlength=n_cells).reshape(n_queries, n_distances)
    r = np.bincount(flat_indices[:, relevant].ravel(), minlength=n_cells).reshape(
        n_queries, n_distances
    )
    t, R = n.cumsum(axis=1) - n, r.cumsum(axis=1) - r
    # 2) Sum over i = 1 .. n in closed form: 1 / (t + i) by harmonic numbers, and
    #    (i - 1) / (t + i) = 1 - (t + 1) / (t + i).
    harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, distances.shape[1] + 1))])
    inverse_sum = harmonic[t + n] - harmonic[t]
    slope = (r - 1) / np.maximum(n - 1, 1)
    precision_sum = (R + 1) * inverse_sum + slope * (n - (t + 1) * inverse_sum)
    # 3) Weight by the probability r/n that a code is relevant, and average over relevant codes.
    gains = (r / np.maximum(n, 1)) * precision_sum
    return gains.sum(axis=1) / np.maximum(r.sum(axis=1), 1)


def _codes(fit: Fit, X) -> np.ndarray:
    """Return the codes of samples, after a check of their type and shape.

    Parameters
    ----------
    fit : Fit
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Prepared features.

    Returns
    -------
    ndarray of shape (n_samples, n_bits), dtype=bool

    Raises
    ------
    ValueError
        If the estimator returns another type or shape, or numbers that are not finite.
    """
    method = "hash" if hasattr(fit.estimator, "hash") else "transform"
    codes = np.asarray(getattr(fit.estimator, method)(X))
    if method == "hash":
        n_bits = fit.estimator.n_bits_
        n_bytes = -(-n_bits // 8)
        expected = f"{n_bits} bits in {n_bytes} bytes for each"
        is_valid = codes.dtype == np.uint8 and codes.shape[1:] == (n_bytes,)
    else:
        expected = "a row of bits for each"
        is_valid = codes.dtype.kind in "biuf"  # booleans, integers or floats
    if codes.ndim != 2 or len(codes) != X.shape[0] or not is_valid:
        raise ValueError(
            f"{method} gives {codes.dtype} of shape {codes.shape}, not {expected} of the "
            f"{X.shape[0]} samples"
        )
    if method == "hash":
        return np.unpackbits(codes, axis=1, count=n_bits).astype(bool)
    if not np.isfinite(codes).all():
        raise ValueError(f"{method} gives NaN or infinite numbers, which are no bits")
    return codes > 0
