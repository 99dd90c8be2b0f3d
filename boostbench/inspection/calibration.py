"""Test errors and calibration of a fitted model, for the HTML page.

Calibration compares predictions with outcomes: test rows with similar predictions are put into
bins, and a point for each bin shows the mean prediction and the share (or mean) that occurred.
"""

from typing import NamedTuple

import numpy as np
from sklearn.metrics import log_loss, r2_score, roc_auc_score
from sklearn.utils import check_consistent_length

# Maximum number of points of the calibration curve.
_MAX_BINS = 10

# Quantile of the normal distribution for two-sided intervals of 95 %.
_Z = 1.96


class CalibrationPoint(NamedTuple):
    """Test rows with similar predictions.

    Attributes
    ----------
    predicted : float
        Mean probability or number that is predicted.
    observed : float
        Share of the rows of the class, or mean number.
    low, high : float
        Ends of an interval of 95 % around `observed`.
    n_rows : int
    """

    predicted: float
    observed: float
    low: float
    high: float
    n_rows: int


class Evaluation(NamedTuple):
    """Results of a model on test rows.

    Attributes
    ----------
    n_rows : int
    metrics : list of (str, str, str)
        Name of each measure, its value for the model, and its value for the baseline, which knows
        no features and predicts the same for all rows.
    baseline : str
        Prediction of the baseline, in words.
    calibration : list of CalibrationPoint
        Points by increasing prediction.
    calibrated_quantity : str
        Quantity of the calibration curve, in words.
    """

    n_rows: int
    metrics: list
    baseline: str
    calibration: list
    calibrated_quantity: str


def evaluate(estimator, X, y):
    """Return the results of a fitted model on test rows.

    Parameters
    ----------
    estimator : BoostingClassifier or BoostingRegressor
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)

    Returns
    -------
    Evaluation
        Error, area under the ROC curve (the mean over the classes against the rest), and log-loss;
        for a regressor root mean squared error, mean absolute error and R².

    Raises
    ------
    ValueError
        If X and y differ in length, are empty, or y has labels that the training data do not have.
    """
    check_consistent_length(X, y)
    y = np.asarray(y)
    if not len(y):
        raise ValueError("X_test has no rows")
    if hasattr(estimator, "classes_"):
        return _evaluate_classifier(estimator, X, y)
    return _evaluate_regressor(estimator, X, y)


def _evaluate_classifier(estimator, X, y):
    """Return the results of a classifier; the baseline predicts the shares of the training rows."""
    # 1) Compute the predictions of the model and of the baseline.
    classes = estimator.classes_
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        label = unknown.tolist()[0]
        raise ValueError(f"y_test has a label that the training data do not have: {label!r}")
    labels = classes.searchsorted(y)
    counts = estimator._training_rows.class_counts
    shares = counts / counts.sum()
    probabilities = estimator.predict_proba(X)
    winner = classes.searchsorted(estimator.predict(X))
    constant = np.broadcast_to(shares, probabilities.shape)
    every_label = np.arange(len(classes))
    # 2) Compute the measures of both.
    metrics = [
        ("error", _percent(np.mean(winner != labels)), _percent(np.mean(labels != shares.argmax())))
    ]
    is_present = np.bincount(labels, minlength=len(classes)) > 0
    if is_present.sum() > 1:
        # The area is computed for each class that occurs, against the other classes. With two
        # classes the two areas are equal, so that their mean is the usual AUC.
        areas = [
            roc_auc_score(labels == index, probabilities[:, index])
            for index in np.flatnonzero(is_present)
        ]
        metrics.append(("AUC", f"{np.mean(areas):.3f}", "0.500"))
    losses = (log_loss(labels, p, labels=every_label) for p in (probabilities, constant))
    metrics.append(("log-loss", *(f"{loss:.3f}" for loss in losses)))
    # 3) Compare predicted probabilities with shares of rows, in bins of similar probabilities.
    if len(classes) == 2:
        predicted, is_observed = probabilities[:, 1], labels == 1
        calibrated_quantity = f"probability of {classes[1]}"
    else:
        predicted, is_observed = probabilities.max(axis=1), winner == labels
        calibrated_quantity = "probability of the predicted class"
    points = []
    for rows in _quantile_bins(predicted):
        low, high = _wilson_interval(is_observed[rows].sum(), len(rows))
        means = predicted[rows].mean(), is_observed[rows].mean()
        points.append(CalibrationPoint(*map(float, (*means, low, high)), len(rows)))
    return Evaluation(
        n_rows=len(y),
        metrics=metrics,
        baseline=str(classes[shares.argmax()]),
        calibration=points,
        calibrated_quantity=calibrated_quantity,
    )


def _evaluate_regressor(estimator, X, y):
    """Return the results of a regressor; the baseline predicts the mean of the test rows."""
    # 1) Compute the measures of the model and of the baseline.
    predicted = estimator.predict(X)
    y = y.astype(float)
    residuals, deviations = y - predicted, y - y.mean()
    metrics = [
        (
            "root mean squared error",
            *(f"{np.sqrt(np.mean(r**2)):.4g}" for r in (residuals, deviations)),
        ),
        ("mean absolute error", *(f"{np.mean(np.abs(r)):.4g}" for r in (residuals, deviations))),
    ]
    if len(y) > 1:
        metrics.append(("R²", f"{r2_score(y, predicted):.3f}", "0.000"))
    # 2) Compare predicted and observed means, in bins of similar predictions. The interval is the
    # mean plus and minus 1.96 standard errors.
    points = []
    for rows in _quantile_bins(predicted):
        mean = y[rows].mean()
        half_width = _Z * y[rows].std(ddof=1) / np.sqrt(len(rows)) if len(rows) > 1 else 0.0
        interval = mean - half_width, mean + half_width
        points.append(
            CalibrationPoint(*map(float, (predicted[rows].mean(), mean, *interval)), len(rows))
        )
    return Evaluation(
        n_rows=len(y),
        metrics=metrics,
        baseline="the mean of the test rows",
        calibration=points,
        calibrated_quantity="number",
    )


def _percent(share):
    """Return the text of a fraction in percent."""
    return f"{100 * share:.1f} %"


def _quantile_bins(predictions):
    """Return the indices of the rows of each quantile bin; equal predictions share a bin.

    Parameters
    ----------
    predictions : ndarray of shape (n_rows,)

    Returns
    -------
    list of ndarray of int
        Rows of each bin, by increasing prediction.
    """
    edges = np.unique(np.quantile(predictions, np.arange(1, _MAX_BINS) / _MAX_BINS))
    bins = edges.searchsorted(predictions)
    return [np.flatnonzero(bins == index) for index in np.unique(bins)]


def _wilson_interval(n_successes, n_trials):
    """Return Wilson's score interval of 95 % of a share, its lower and upper end."""
    share, ratio = n_successes / n_trials, _Z**2 / n_trials
    centre = (share + ratio / 2) / (1 + ratio)
    half_width = np.sqrt(share * (1 - share) * ratio + ratio**2 / 4) / (1 + ratio)
    return max(0.0, centre - half_width), min(1.0, centre + half_width)
