"""Export of a fitted model as a self-contained HTML page.

`export_html` collects the data of the page, and the template ``templates/model.html`` writes them,
with drawings as SVG. `_Page` computes the drawings: positions, texts and paths.
"""

import datetime
from itertools import pairwise
from math import ceil
from pathlib import Path
from typing import NamedTuple

import jinja2
import numpy as np
import pandas as pd

from boostbench.algorithms.base.booster import densify
from boostbench.algorithms.base.categories import convert_to_pandas
from boostbench.algorithms.explanation.stump_sums import require_stump_sum, shortest_decimals
from boostbench.inspection.calibration import evaluate
from boostbench.inspection.displays import most_important_features
from boostbench.inspection.shape_displays import distinct_integers, heat_map_data, visible_steps
from boostbench.util.files import write_output
from boostbench.util.terminal import printable

# Edges of the plot area in units of the SVG view box, whose zero is at the top left.
_LEFT = 46
_RIGHT = 334
_TOP = 8
_BOTTOM = 150

# Width of a digit of a tick label, in the same units.
_DIGIT_WIDTH = 5.6

# Half the width of bands and deviations, in standard deviations: about 95 % of a normal
# distribution.
N_STDS = 2.0

# Minimum number of categories with a search box: fewer are seen at once.
_MIN_SEARCHED = 13

# Horizontal position of the mark of missing values, to the right of all numbers, in SVG units.
_MISSING_X = 316

# Distance in SVG units from the right end of the curves to this mark.
_MISSING_GAP = 24

# Significant digits of the largest contribution, which determine the decimals of all numbers.
_N_DIGITS = 3

# Environment of the page's template, in which an undefined variable is an error.
_TEMPLATES = jinja2.Environment(
    loader=jinja2.PackageLoader("boostbench.inspection"),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=jinja2.StrictUndefined,
)


class _Bar(NamedTuple):
    """Table row with a bar for the contribution to each score.

    Attributes
    ----------
    label : str
        Name of a category, or a feature with its value.
    values : list of float
        Contribution to the score of each output.
    stds : list of float
        Standard deviation of each value; empty if they are not known.
    n_rows : int or None
        Number of samples with the value; None: not shown.
    is_missing : bool
        True for missing values.
    """

    label: str
    values: list
    stds: list = ()
    n_rows: int | None = None
    is_missing: bool = False


def export_html(
    estimator,
    X,
    path,
    *,
    row=0,
    max_terms=20,
    X_test=None,
    y_test=None,
    data_name=None,
    date=None,
):
    """Write an HTML page that explains a fitted model.

    The page shows the training rows and classes, the results on test rows, the importances, the
    explanation of one row, and the shape functions: a curve for each numeric feature, a bar for
    each category, and a mark for missing values. All values are exact. Functions of bags have bands
    of two standard deviations. Importances are the `feature_importances_` of the estimator, over
    its training rows. The page works offline.

    Parameters
    ----------
    estimator : BoostingClassifier or BoostingRegressor
        Fitted model, a sum of stumps.
    X : array-like of shape (n_samples, n_features)
        Samples over which each function is centred to the mean 0, such as the training data. They
        determine the drawn range.
    path : str or pathlib.Path
        Path of the output file.
    row : int, default=0
        Position of the sample to explain.
    max_terms : int, default=20
        Maximum number of features, by decreasing importance.
    X_test : array-like of shape (n_test_samples, n_features), default=None
        Samples that the model was not trained on. None: the page has no test results.
    y_test : array-like of shape (n_test_samples,), default=None
        Labels or numbers of `X_test`.
    data_name : str, default=None
        Name of the data in the title. None: no name.
    date : datetime.date, default=None
        Date in the title. None: today.

    Raises
    ------
    ValueError
        If the estimator is not a sum of stumps, `row` is out of range, `max_terms` is negative, or
        only one of `X_test` and `y_test` is given or they do not fit the model.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from boostbench import MCBoost
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> export_html(MCBoost(n_iterations=50).fit(X, y), X, "wine.html")  # doctest: +SKIP
    """
    # 1) Check the arguments.
    require_stump_sum(estimator)
    X = convert_to_pandas(densify(X))
    n_samples = np.shape(X)[0]
    if not 0 <= row < n_samples:
        raise ValueError(f"there is no row {row}: X has {n_samples}, counted from 0")
    if (X_test is None) != (y_test is None):
        raise ValueError("give both X_test and y_test, or neither")
    # 2) Compute the parts of the page, and write it.
    shapes = estimator.shape_functions(X)
    page = _Page(shapes, shapes.numbers(X), max_terms=max_terms)
    sample = X.iloc[[row]] if isinstance(X, pd.DataFrame) else np.asarray(X)[[row]]
    evaluation = None
    if X_test is not None:
        evaluation = page.evaluation_data(evaluate(estimator, X_test, y_test))
    text = _TEMPLATES.get_template("model.html").render(
        name=type(estimator).__name__,
        data_name=data_name,
        date=_format_date(date or datetime.date.today()),
        training=_training_facts(estimator),
        evaluation=evaluation,
        meaning=_score_meaning(estimator, shapes),
        has_spread=shapes.has_spread,
        n_samples=n_samples,
        n_features=len(shapes.feature_names),
        n_used=int((shapes.importances > 0).sum()),
        is_regressor=shapes.classes_ is None,
        is_logarithm=getattr(estimator, "link_", None) == "log",
        outputs=[str(output) for output in shapes.outputs],
        importances=page.listed_importances(),
        row=row,
        explained=page.explanation_data(estimator, sample, shapes.explain_local(sample)),
        terms=[page.term_data(feature) for feature in page.features],
        pairs=page.pair_data(),
        format_contribution=page.format_contribution,
        format_deviation=page.format_deviation,
        min_searched=_MIN_SEARCHED,
        box={"left": _LEFT, "right": _RIGHT, "top": _TOP, "bottom": _BOTTOM, "missing": _MISSING_X},
    )
    write_output(Path(path), lambda stream: stream.write(printable(text).encode()))


class _Page:
    """Data of the page's parts: labels, numbers, and positions in drawings.

    Methods `*_data` return the variables of the template ``model.html`` for a part of the page.
    Positions are in units of the SVG view box.

    Parameters
    ----------
    shapes : boostbench.algorithms.explanation.shape_functions.ShapeFunctions
        Shape functions of the model.
    X : ndarray of shape (n_samples, n_features), dtype=float64
        Samples with codes of categories; they determine the drawn range of each feature.
    max_terms : int
        Maximum number of features.

    Attributes
    ----------
    shapes, X
        See the parameters.
    features : list of int
        Indices of the visible features, by decreasing importance.
    min_drawn, max_drawn : float
        Lower and upper end of the vertical axis of all curves, in units of the score.
    bar_scale : float
        Absolute contribution that a bar of full length stands for, the largest one of all features.
    n_decimals : int
        Decimals of contributions, so that the largest one has three significant digits.
    """

    def __init__(self, shapes, X, *, max_terms):
        self.shapes = shapes
        self.X = X
        self.features = most_important_features(shapes.importances, max_terms)
        visible = [self._visible_table(shapes.term(feature)) for feature in self.features]
        values = np.concatenate([np.zeros(1), *(table.ravel() for table in visible)])
        # All curves share one vertical axis, so that they can be compared. It includes 0. An axis
        # of zeros only ends at 1, as a length of 0 has no scale.
        self.min_drawn, self.max_drawn = values.min(), values.max() or 1.0
        if shapes.has_spread:
            self.min_drawn, self.max_drawn = self._extend_range()
        self.bar_scale = np.abs(values).max() or 1.0
        self.n_decimals = max(0, _N_DIGITS - 1 - int(np.floor(np.log10(self.bar_scale))))

    def _extend_range(self):
        """Return the ends of the vertical axis, extended for the bands of the curves.

        Wide bands would flatten the curves: the axis grows by at most half its length at each end,
        and bands are cut off there.

        Returns
        -------
        min_drawn, max_drawn : float
        """
        room = (self.max_drawn - self.min_drawn) / 2
        ends = [(self.min_drawn, self.max_drawn)]
        for feature in self.features:
            term = self.shapes.term(feature)
            if term.categories is None and term.std is not None:
                steps = visible_steps(term, self.X)
                band = N_STDS * steps.stds
                ends.append(((steps.values - band).min(), (steps.values + band).max()))
        low, high = np.transpose(ends)
        return max(low.min(), self.min_drawn - room), min(high.max(), self.max_drawn + room)

    def format_deviation(self, value):
        """Return the text of two standard deviations, such as ``± 0.12``.

        Parameters
        ----------
        value : float
            One standard deviation.
        """
        return f"± {N_STDS * value:,.{self.n_decimals}f}"

    def _format_with_deviation(self, value, std):
        """Return the text of a contribution and of two standard deviations."""
        return f"{self.format_contribution(value)} {self.format_deviation(std)}"

    def evaluation_data(self, result):
        """Return the test results with the drawing of the calibration curve.

        Parameters
        ----------
        result : boostbench.inspection.calibration.Evaluation

        Returns
        -------
        dict
            Fields of `result`; position, interval and tooltip of each of the ``points``; ends of
            the ``diagonal``, on which predictions are right; ticks of both axes.
        """
        # 1) Define the positions of values in the drawing.
        points = result.calibration
        ends = [end for point in points for end in (point.predicted, point.low, point.high)]
        # Both axes have the same range: all probabilities, or the numbers that are drawn.
        is_probability = self.shapes.classes_ is not None
        low, high = (0.0, 1.0) if is_probability else (min(ends), max(ends))
        x = _linear_scale(low, high, _LEFT, _RIGHT)
        y = _linear_scale(low, high, _BOTTOM, _TOP)
        # 2) Draw a point with its interval for each bin of the calibration.
        format_value = _format_share if is_probability else "{:.4g}".format
        return result._asdict() | {
            "points": [
                {
                    "x": x(point.predicted),
                    "y": y(point.observed),
                    "low": y(point.low),
                    "high": y(point.high),
                    "text": f"predicted {format_value(point.predicted)}, observed "
                    f"{format_value(point.observed)} ({format_value(point.low)} to "
                    f"{format_value(point.high)}) in {point.n_rows} rows",
                }
                for point in points
            ],
            "diagonal": (x(low), y(low), x(high), y(high)),
            "x_ticks": _x_ticks(x, _round_ticks(low, high)),
            "y_ticks": _tick_positions(y, _round_ticks(low, high)),
        }

    def format_contribution(self, value):
        """Return the text of a contribution, a number, such as ``+0.12``."""
        text = f"{value:+,.{self.n_decimals}f}"
        # A number that is rounded to zero has no sign.
        return text if float(text.replace(",", "")) else text[1:]

    def listed_importances(self):
        """Return name and importance of each visible feature, by decreasing importance."""
        shares = self.shapes.importances
        return [
            (str(self.shapes.feature_names[index]), float(shares[index])) for index in self.features
        ]

    def explanation_data(self, estimator, sample, local):
        """Return the contributions to the score of a sample's predicted class.

        Parameters
        ----------
        estimator : BoostingClassifier or BoostingRegressor
        sample : array-like of shape (1, n_features)
        local : pandas.DataFrame
            Contributions of the sample's features and pairs, see `ShapeFunctions.explain_local`.

        Returns
        -------
        dict
            Prediction and name of the explained ``output``; ``bars`` with the contribution that
            has full length (``scale``); ``intercept`` and ``score``. For models with
            probabilities also the ``probability`` of the output, and for bags its standard
            deviation.
        """
        # 1) Select the score to explain, and the contributions to it. With one score, the explained
        # output is the second class, or the predicted number.
        predicted = estimator.predict(sample)[0]
        outputs, output = self.shapes.outputs, self.shapes.outputs[-1]
        if len(outputs) > 1:
            output, local = predicted, local[predicted]
        values = local.to_numpy()[0]
        # The first column is the intercept. Features follow, and then pairs.
        effects, stds = values[1:], None
        if self.shapes.has_spread:
            std_table = self.shapes.explain_local(sample, return_std=True)[1]
            stds = (std_table[predicted] if len(outputs) > 1 else std_table).to_numpy()[0, 1:]
        cells = sample.iloc[0] if isinstance(sample, pd.DataFrame) else np.asarray(sample)[0]
        # 2) Make a bar for each visible feature and pair, the largest effect first. Effects have
        # the features in the order of X, and then the pairs.
        order = np.argsort(-np.abs(effects), kind="stable")
        n_features = len(self.shapes.feature_names)
        visible = [index for index in order if index in self.features or index >= n_features]
        names = [
            f"{name} = {_format_cell(cells, index)}"
            for index, name in enumerate(self.shapes.feature_names)
        ]
        names += [self.shapes.pair_name(pair) for pair in self.shapes.pairs]
        bars = [
            _Bar(
                names[index], [float(effects[index])], [] if stds is None else [float(stds[index])]
            )
            for index in visible
        ]
        # 3) Add a bar for the sum of the features beyond `max_terms`.
        other_effects = float(effects.sum() - effects[visible].sum())
        # The bar also sums terms of importance 0: they move all scores alike, and are part of the
        # score that is shown.
        if len(self.features) < len(self.shapes.terms):
            bars.append(_Bar("all other features", [other_effects]))
        scale = max([abs(bar.values[0]) for bar in bars], default=1.0) or 1.0
        # 4) Add the prediction and its probability.
        explanation = {
            "predicted": self.format_contribution(predicted)
            if self.shapes.classes_ is None
            else str(predicted),
            "output": str(output),
            "bars": bars,
            "scale": scale,
            "intercept": float(values[0]),
            "score": float(values.sum()),
        }
        if hasattr(estimator, "predict_proba"):
            index = list(self.shapes.classes_).index(output)
            explanation["probability"] = float(estimator.predict_proba(sample)[0, index])
            if self.shapes.has_spread:
                probability_stds = estimator.predict_proba(sample, return_std=True)[1]
                explanation["probability_std"] = float(probability_stds[0, index])
        return explanation

    def term_data(self, feature):
        """Return the drawing of the shape function of a feature.

        Parameters
        ----------
        feature : int
            Index of the feature.

        Returns
        -------
        dict
            Name and importance; for a numeric feature the drawing of `_curves`, for a categorical
            one ``bars`` with the contribution that has full length (``scale``).
        """
        term = self.shapes.term(feature)
        visible = {
            "name": str(self.shapes.feature_names[feature]),
            "importance": float(self.shapes.importances[feature]),
        }
        if term.categories is None:
            return visible | self._curves(term)
        # A bar for each category, with the number of its samples.
        counts = np.bincount(term.row_indices(self.X[:, feature]), minlength=len(term.table))
        stds = np.zeros((len(term.table), 0)) if term.std is None else term.std
        bars = [
            _Bar(
                str(label), list(map(float, values)), list(map(float, stds[row])), int(counts[row])
            )
            for row, (label, values) in enumerate(zip(term.categories, term.values, strict=True))
        ]
        # Categories with a large effect come first: of several scores, the largest one counts.
        bars.sort(
            key=lambda bar: -bar.values[0] if len(bar.values) == 1 else -max(map(abs, bar.values))
        )
        if term.has_missing:
            # The last row of a term's table belongs to missing values.
            values, missing_stds = list(map(float, term.missing)), list(map(float, stds[-1]))
            bars.append(_Bar("missing", values, missing_stds, int(counts[-1]), is_missing=True))
        return visible | {"bars": bars, "scale": self.bar_scale}

    def pair_data(self):
        """Return the drawings of the pairs, by decreasing importance.

        Returns
        -------
        list of dict
            Name, importance and ``largest`` absolute value of each pair, and a heat map for
            each output, see `boostbench.inspection.shape_displays.heat_map_data`.
        """
        importances = self.shapes.pair_importances
        order = np.argsort(-importances, kind="stable")
        largest = max((np.abs(pair.table).max() for pair in self.shapes.pairs), default=1.0) or 1.0
        return [
            {
                "name": self.shapes.pair_name(self.shapes.pairs[number]),
                "importance": float(importances[number]),
                "largest": np.abs(self.shapes.pairs[number].table).max(),
                "maps": [
                    heat_map_data(
                        self.shapes,
                        self.X,
                        index=number,
                        output=output,
                        largest=largest,
                        format_contribution=self.format_contribution,
                        format_deviation=self.format_deviation,
                    )
                    for output in range(len(self.shapes.outputs))
                ],
            }
            for number in order
        ]

    def _curves(self, term):
        """Return the drawing of the shape function of a numeric feature.

        Parameters
        ----------
        term : boostbench.algorithms.explanation.terms.Term

        Returns
        -------
        dict
            SVG paths of the ``curves`` and ``bands``, one for each output; position of the ``zero``
            line; position, width and tooltip of the ``steps``; positions of the ``deciles``; ticks
            of both axes; marks of ``missing`` values.
        """
        # 1) Define the positions of values in the drawing.
        edges, table, stds, deciles = visible_steps(term, self.X)
        low, high = edges[0], edges[-1]
        is_whole = distinct_integers(self.X[:, term.feature]) is not None
        right = _MISSING_X - _MISSING_GAP if term.has_missing else _RIGHT
        x = _linear_scale(low, high, _LEFT, right)
        y = _linear_scale(self.min_drawn, self.max_drawn, _BOTTOM, _TOP)
        # 2) Draw a path of horizontal and vertical lines for each output.
        curves = []
        for column in table.T:
            steps = [f"M{x(edges[0])} {y(column[0])}"]
            for edge, value in zip(edges[1:-1], column[1:], strict=True):
                steps.append(f"H{x(edge)}V{y(value)}")
            curves.append("".join([*steps, f"H{x(edges[-1])}"]))
        # 3) Draw the bands, and write the contributions on each step for the tooltips.
        bands, texts = [], [", ".join(map(self.format_contribution, values)) for values in table]
        if stds is not None:
            half_widths = N_STDS * stds
            bands = [
                _band_path(x, y, edges, *ends)
                for ends in zip((table - half_widths).T, (table + half_widths).T, strict=True)
            ]
            texts = [
                ", ".join(map(self._format_with_deviation, values, row_stds))
                for values, row_stds in zip(table, stds, strict=True)
            ]
        return {
            "curves": curves,
            "bands": bands,
            "zero": y(0.0),
            "steps": [
                {
                    "x": x(left_end),
                    "width": round(max(0.0, x(right_end) - x(left_end)), 1),
                    "text": f"{' to '.join(ends)}: {text}",
                }
                for left_end, right_end, ends, text in zip(
                    edges[:-1],
                    edges[1:],
                    pairwise(shortest_decimals(edges, digits=4)),
                    texts,
                    strict=True,
                )
            ],
            "deciles": list(map(x, deciles)),
            "x_ticks": _x_ticks(x, _round_ticks(low, high, 1.0 if is_whole else 0.0)),
            "y_ticks": _tick_positions(y, _round_ticks(self.min_drawn, self.max_drawn)),
            "missing": self._missing_marks(term, y),
        }

    def _missing_marks(self, term, y):
        """Return the marks of missing values in the drawing of a numeric feature.

        Parameters
        ----------
        term : boostbench.algorithms.explanation.terms.Term
        y : callable
            Function from contributions to vertical positions.

        Returns
        -------
        list of (float, float, float, str)
            Vertical position, lower and upper end of the line of two standard deviations, and
            tooltip of the mark of each output. Empty if the training data had no missing values.
        """
        if not term.has_missing:
            return []
        stds = np.zeros(len(term.missing)) if term.std is None else term.std[-1]
        marks = []
        for value, std in zip(term.missing, stds, strict=True):
            text = (
                self.format_contribution(value)
                if term.std is None
                else self._format_with_deviation(value, std)
            )
            marks.append((y(value), y(value - N_STDS * std), y(value + N_STDS * std), text))
        return marks

    def _visible_table(self, term):
        """Return the contributions of a term that the page draws.

        Returns
        -------
        ndarray of shape (n_visible_rows, n_outputs)
            Rows of the categories, or of the steps within the range of the samples, and the row of
            missing values if the training data had some.
        """
        table = term.table if term.has_missing else term.values
        if term.categories is not None:
            return table
        # The samples have no range without any number: only missing values are visible.
        if np.isnan(self.X[:, term.feature]).all():
            return table[-1:]
        return np.concatenate([visible_steps(term, self.X)[1], table[len(term.values) :]])


def _linear_scale(low, high, start, end):
    """Return the function from numbers to positions that maps `low` to `start` and `high` to `end`.

    Positions are rounded to tenths of a unit of the SVG view box, which are not visible. If `low`
    and `high` are equal, they are mapped to `start`.
    """
    length = (high - low) or 1.0

    def position(value):
        return round(start + (end - start) * (value - low) / length, 1)

    return position


def _band_path(x, y, edges, low, high):
    """Return the SVG path of the outline of a band.

    The path follows the upper ends of the steps to the right, and the lower ends back to the left.

    Parameters
    ----------
    x, y : callable
        Functions from numbers to positions.
    edges : ndarray of shape (n_steps + 1,)
        Edges of the steps.
    low, high : ndarray of shape (n_steps,)
        Lower and upper end of the band on each step.
    """
    path = [f"M{x(edges[0])} {y(high[0])}"]
    path += [f"H{x(edge)}V{y(end)}" for edge, end in zip(edges[1:-1], high[1:], strict=True)]
    path.append(f"H{x(edges[-1])}V{y(low[-1])}")
    path += [f"H{x(edge)}V{y(end)}" for edge, end in zip(edges[-2:0:-1], low[-2::-1], strict=True)]
    return "".join([*path, f"H{x(edges[0])}Z"])


def _training_facts(estimator):
    """Return texts on the training rows of a fitted estimator.

    Returns
    -------
    dict
        Number of rows (``n_rows``), and of each of the ``classes`` its name, and the number and
        share of its rows. A regressor has no classes.
    """
    rows = estimator._training_rows
    facts = {"n_rows": f"{rows.n_rows:,}", "classes": []}
    if rows.class_counts is not None:
        facts["classes"] = [
            (str(label), f"{count:,}", _format_share(count / rows.n_rows))
            for label, count in zip(estimator.classes_, rows.class_counts, strict=True)
        ]
    return facts


def _score_meaning(estimator, shapes):
    """Return a sentence that explains the score of a model in the unit of its predictions."""
    if shapes.classes_ is None:
        if estimator.link_ == "log":
            return "Terms add to the logarithm of the prediction: +0.1 multiplies it by 1.11."
        return "The score is the predicted number itself."
    factor = estimator.inverse_temperature()
    if len(shapes.outputs) > 1:
        return (
            "Each class has a score, and the class with the largest one is predicted. If the "
            f"score of a class is larger by 1, it is {np.exp(factor):.1f} times as probable."
        )
    shares = (_format_share(1 / (1 + np.exp(-factor * score))) for score in (0, 1, -1))
    return "A score of 0 means a probability of {}, a score of +1 {}, and of -1 {}.".format(*shares)


def _format_share(share):
    """Return the text of a fraction in percent."""
    return f"{100 * share:.1f} %"


def _format_date(date):
    """Return the text of a date, such as 1 May 2026."""
    return f"{date.day} {date:%B %Y}"


def _format_cell(cells, index):
    """Return the text of a sample's value of a feature.

    Parameters
    ----------
    cells : pandas.Series or ndarray of shape (n_features,)
        Values of the sample.
    index : int
        Index of the feature.
    """
    value = cells.iloc[index] if isinstance(cells, pd.Series) else cells[index]
    if pd.isna(value):
        return "missing"
    return shortest_decimals([value])[0] if isinstance(value, (float, np.floating)) else str(value)


def _tick_positions(scale, ticks):
    """Return position and text of each tick; `scale` maps a number to its position."""
    return list(zip(map(scale, ticks), shortest_decimals(ticks), strict=True))


def _x_ticks(x, ticks):
    """Return position and text of the ticks of a horizontal axis, without overlapping texts.

    Parameters
    ----------
    x : callable
        Function from numbers to positions.
    ticks : list of float
        Equally distant numbers.
    """
    labels = _tick_positions(x, ticks)
    width = _DIGIT_WIDTH * (max(len(text) for _, text in labels) + 1)
    # If texts are wider than the distance of ticks, every second or third tick and so on is kept.
    distance = abs(labels[1][0] - labels[0][0]) if len(labels) > 1 else width
    return labels[:: ceil(width / distance)] if distance else labels[:1]


def _round_ticks(low, high, min_step=0.0):
    """Return about four round numbers between two limits, at least `min_step` apart."""
    if not high > low:
        return [low]
    quarter = (high - low) / 4
    # The step is 1, 2, 5 or 10 times a power of ten, whichever is nearest to a quarter.
    power = 10.0 ** np.floor(np.log10(quarter))
    step = power * min((1, 2, 5, 10), key=lambda factor: abs(factor * power - quarter))
    step = max(step, min_step)
    # Adding 0.0 turns a negative zero into zero.
    return (np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step + 0.0).tolist()
