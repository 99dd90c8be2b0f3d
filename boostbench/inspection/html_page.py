"""Export of a fitted model as a self-contained HTML page."""

from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import jinja2
import numpy as np
import pandas as pd

from boostbench.algorithms.base.booster import to_dense
from boostbench.algorithms.base.frames import to_pandas
from boostbench.algorithms.explanation.number_format import shortest_decimals
from boostbench.algorithms.explanation.stump_sums import require_stump_sum
from boostbench.inspection.heat_maps import heat_map_data
from boostbench.inspection.importances import most_important
from boostbench.inspection.shapes import visible_steps
from boostbench.util.atomic_write import write_output
from boostbench.util.printable import printable

# Edges of the plot area in units of the SVG view box.
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 334, 8, 150
# Horizontal position of the mark of missing values, to the right of all numbers.
_MISSING_X = 316

_TEMPLATES = jinja2.Environment(
    loader=jinja2.PackageLoader("boostbench.inspection"),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=jinja2.StrictUndefined,
)


class _Bar(NamedTuple):
    """Table row with a bar for each value."""

    label: str
    values: list
    is_missing: bool = False


def export_html(estimator, X, path, *, row=0, max_terms=20):
    """Write an HTML page that explains a fitted model.

    The page shows the importances, the explanation of one row, and the shape functions: a curve for
    each numeric feature, a bar for each category, and a mark for missing values. All values are
    exact. Importances are the `feature_importances_` of the estimator, over its training rows. The
    page works offline.

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

    Raises
    ------
    ValueError
        If the estimator is not a sum of stumps, `row` is out of range, or `max_terms` is negative.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from boostbench import MCBoost
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> export_html(MCBoost(n_iterations=50).fit(X, y), X, "wine.html")  # doctest: +SKIP
    """
    require_stump_sum(estimator)
    X = to_pandas(to_dense(X))
    n_samples = np.shape(X)[0]
    if not 0 <= row < n_samples:
        raise ValueError(f"there is no row {row}: X has {n_samples}, counted from 0")
    shapes = estimator.shape_functions(X)
    page = _Page(shapes, shapes.numbers(X), max_terms)
    sample = X.iloc[[row]] if isinstance(X, pd.DataFrame) else np.asarray(X)[[row]]
    text = _TEMPLATES.get_template("model.html").render(
        name=type(estimator).__name__,
        n_samples=n_samples,
        n_features=len(shapes.feature_names),
        n_used=int((shapes.importances > 0).sum()),
        is_number=shapes.classes_ is None,
        is_logarithm=getattr(estimator, "link_", None) == "log",
        outputs=[str(output) for output in shapes.outputs],
        importances=page.importances(),
        row=row,
        explained=page.explain_row(estimator, sample, shapes.explain_local(sample)),
        terms=[page.term(feature) for feature in page.features],
        pairs=page.pairs(),
        number=page.number,
        box={"left": _LEFT, "right": _RIGHT, "top": _TOP, "bottom": _BOTTOM, "missing": _MISSING_X},
    )
    write_output(Path(path), lambda stream: stream.write(printable(text).encode()))


class _Page:
    """Data of the page's parts: labels, numbers, and positions in drawings."""

    def __init__(self, shapes, X, max_terms):
        self.shapes = shapes
        self.X = X
        self.features = most_important(shapes.importances, max_terms)
        visible = [self._visible_table(shapes.term(feature)) for feature in self.features]
        values = np.concatenate([np.zeros(1), *(table.ravel() for table in visible)])
        # All curves share one scale, so that they can be compared.
        self.low, self.high = values.min(), values.max() or 1.0
        self.size = np.abs(values).max() or 1.0
        self.decimals = max(0, 2 - int(np.floor(np.log10(self.size))))

    def number(self, value):
        """Return the text of a contribution, with its sign."""
        text = f"{value:+,.{self.decimals}f}"
        return text if float(text.replace(",", "")) else text[1:]

    def importances(self):
        """Return (name, importance) pairs."""
        shares = self.shapes.importances
        return [
            (str(self.shapes.feature_names[index]), float(shares[index])) for index in self.features
        ]

    def explain_row(self, estimator, sample, local):
        """Return the contributions to the score of a sample's predicted class."""
        predicted = estimator.predict(sample)[0]
        outputs, output = self.shapes.outputs, self.shapes.outputs[-1]
        if len(outputs) > 1:
            output, local = predicted, local[predicted]
        values = local.to_numpy()[0]
        effects = values[1:]
        cells = sample.iloc[0] if isinstance(sample, pd.DataFrame) else np.asarray(sample)[0]
        order = np.argsort(-np.abs(effects), kind="stable")
        n_features = len(self.shapes.feature_names)
        visible = [index for index in order if index in self.features or index >= n_features]
        names = [
            f"{name} = {_format_cell(cells, index)}"
            for index, name in enumerate(self.shapes.feature_names)
        ]
        names += [self.shapes.pair_name(pair) for pair in self.shapes.pairs]
        bars = [_Bar(names[index], [float(effects[index])]) for index in visible]
        other_effects = float(effects.sum() - effects[visible].sum())
        # Terms of importance 0, which change all scores equally, are contributions as well.
        if len(self.features) < len(self.shapes.terms):
            bars.append(_Bar("all other features", [other_effects]))
        scale = max([abs(bar.values[0]) for bar in bars], default=1.0) or 1.0
        explanation = {
            "predicted": self.number(predicted) if self.shapes.classes_ is None else str(predicted),
            "output": str(output),
            "bars": bars,
            "scale": scale,
            "intercept": float(values[0]),
            "score": float(values.sum()),
        }
        if hasattr(estimator, "predict_proba"):
            index = list(self.shapes.classes_).index(output)
            explanation["probability"] = float(estimator.predict_proba(sample)[0, index])
        return explanation

    def term(self, feature):
        """Return the drawing of a shape function."""
        term = self.shapes.term(feature)
        visible = {
            "name": str(self.shapes.feature_names[feature]),
            "importance": float(self.shapes.importances[feature]),
        }
        if term.categories is None:
            return visible | self._curves(term)
        bars = [
            _Bar(str(category), [float(value) for value in values])
            for category, values in zip(term.categories, term.values, strict=True)
        ]
        if term.has_missing:
            bars.append(_Bar("missing", [float(value) for value in term.missing], True))
        return visible | {"bars": bars, "scale": self.size}

    def pairs(self):
        """Return the drawings of the pairs, one heat map per output."""
        importances = self.shapes.pair_importances
        order = np.argsort(-importances, kind="stable")
        largest = max((np.abs(pair.table).max() for pair in self.shapes.pairs), default=1.0) or 1.0
        return [
            {
                "name": self.shapes.pair_name(self.shapes.pairs[number]),
                "importance": float(importances[number]),
                "size": np.abs(self.shapes.pairs[number].table).max(),
                "maps": [
                    heat_map_data(
                        self.shapes, self.shapes.pairs[number], output, largest, self.number
                    )
                    for output in range(len(self.shapes.outputs))
                ],
            }
            for number in order
        ]

    def _curves(self, term):
        edges, table, _, deciles = visible_steps(term, self.X)
        low, high = edges[0], edges[-1]
        height = (self.high - self.low) or 1.0
        right = _MISSING_X - 24 if term.has_missing else _RIGHT

        def x(value):
            return round(_LEFT + (right - _LEFT) * (value - low) / ((high - low) or 1.0), 1)

        def y(value):
            return round(_BOTTOM - (_BOTTOM - _TOP) * (value - self.low) / height, 1)

        curves = []
        for column in table.T:
            steps = [f"M{x(edges[0])} {y(column[0])}"]
            for edge, value in zip(edges[1:-1], column[1:], strict=True):
                steps.append(f"H{x(edge)}V{y(value)}")
            curves.append("".join([*steps, f"H{x(edges[-1])}"]))
        return {
            "curves": curves,
            "zero": y(0.0),
            "steps": [
                {
                    "x": x(left),
                    "width": round(max(0.0, x(right_end) - x(left)), 1),
                    "text": f"{' to '.join(ends)}: " + ", ".join(map(self.number, values)),
                }
                for left, right_end, ends, values in zip(
                    edges[:-1],
                    edges[1:],
                    pairwise(shortest_decimals(edges, digits=4)),
                    table,
                    strict=True,
                )
            ],
            "deciles": list(map(x, deciles)),
            "x_ticks": _tick_positions(x, _round_ticks(low, high)),
            "y_ticks": _tick_positions(y, _round_ticks(self.low, self.high)),
            "missing": [(y(value), float(value)) for value in term.missing]
            if term.has_missing
            else [],
        }

    def _visible_table(self, term):
        """Return the visible rows of a term's table."""
        table = term.table if term.has_missing else term.values
        if term.categories is not None:
            return table
        if np.isnan(self.X[:, term.feature]).all():
            return table[-1:]
        return np.concatenate([visible_steps(term, self.X)[1], table[len(term.values) :]])


def _format_cell(cells, index):
    value = cells.iloc[index] if isinstance(cells, pd.Series) else cells[index]
    if pd.isna(value):
        return "missing"
    return shortest_decimals([value])[0] if isinstance(value, (float, np.floating)) else str(value)


def _tick_positions(place, ticks):
    return list(zip(map(place, ticks), shortest_decimals(ticks), strict=True))


def _round_ticks(low, high):
    """Return about four round numbers between two limits."""
    if not high > low:
        return [low]
    raw = (high - low) / 4
    unit = 10.0 ** np.floor(np.log10(raw))
    step = unit * min((1, 2, 5, 10), key=lambda factor: abs(factor * unit - raw))
    # Adding 0.0 turns a negative zero into zero.
    return (np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step + 0.0).tolist()
