"""Draw the picture of README: verdicts on a table, functions of a model, boundaries.

    python scripts/readme_picture.py       # writes docs/images/boostbench.png

The verdicts are read from `results/tables/mcboost5.csv`.
"""

import csv
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris
from sklearn.inspection import DecisionBoundaryDisplay

from boostbench import MCBoost, RpBoost
from boostbench.analysis.verdicts import VERDICTS
from boostbench.figures.style import COLOURS as LINES
from boostbench.figures.style import style

ROOT = Path(__file__).resolve().parents[1]
COLUMN = "exponential"


def main():
    """Draw the three panels and write the file."""
    with style():
        figure, (table, shape, boundary) = plt.subplots(
            1, 3, figsize=(8.6, 2.9), width_ratios=[1.25, 1, 1], layout="constrained"
        )
        draw_verdicts(table)
        draw_shape(shape)
        draw_boundary(boundary)
        figure.savefig(
            ROOT / "docs" / "images" / "boostbench.png", dpi=180, metadata={"Software": None}
        )


def draw_verdicts(panel):
    """Draw our numbers and the published numbers."""
    path = ROOT / "results" / "tables" / "mcboost5.csv"
    with path.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["column"] == COLUMN]
    panel.set_axis_off()
    panel.set(xlim=(0, 1), ylim=(len(rows) + 0.5, -1))
    panel.set_title("A published table, judged: MCBoost, Table V", loc="left")
    for x, head in zip((0, 0.52, 0.7, 1), ("", "published", "ours", "verdict"), strict=True):
        panel.text(x, -0.4, head, ha="right", color="#666666")
    for y, row in enumerate(rows):
        panel.text(0, y + 0.5, row["data"])
        for x, name in ((0.52, "published_mean"), (0.7, "test_error_mean")):
            panel.text(x, y + 0.5, f"{float(row[name]):.1f}", ha="right")
        colour = VERDICTS[row["verdict"]].colour
        panel.text(1, y + 0.5, row["verdict"], ha="right", color=colour, fontweight="bold")


def draw_shape(panel):
    """Draw the shape functions of one feature."""
    iris = load_iris(as_frame=True)
    X, feature = iris.data, "petal width (cm)"
    model = MCBoost(n_iterations=100, loss="logistic", kappa=0.5)
    model.fit(X, iris.target_names[iris.target])
    table = model.shape_functions(X).explain_global()
    rows = table[table["feature"] == feature]
    low, high = X[feature].min(), X[feature].max()
    edges = np.append(rows["left"].clip(low), high)
    for name, colour in zip(model.classes_, LINES, strict=False):
        panel.stairs(rows[name], edges, baseline=None, color=colour, label=name, linewidth=1.3)
    panel.axhline(0, color="#bbbbbb", linewidth=0.6)
    panel.set_title("A model, looked into: MCBoost on iris", loc="left")
    panel.set(xlabel=feature, ylabel="added to the score")
    panel.legend(frameon=False)


def draw_boundary(panel):
    """Draw the classes that RpBoost finds on a checkerboard."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 3, (1200, 2))
    y = (np.floor(X).sum(axis=1) % 2).astype(int)
    model = RpBoost(n_iterations=300, random_state=0).fit(X, y)
    colours = plt.matplotlib.colors.ListedColormap(LINES[:2])
    DecisionBoundaryDisplay.from_estimator(
        model, X, response_method="predict", ax=panel, alpha=0.35, eps=0, cmap=colours
    )
    panel.scatter(*X.T, c=y, s=1.5, cmap=colours)
    panel.set_title("Boundaries: RpBoost on a checkerboard", loc="left")
    panel.set(xticks=[], yticks=[])


if __name__ == "__main__":
    main()
