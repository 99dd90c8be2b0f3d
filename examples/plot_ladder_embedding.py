"""
Digits in the plane, by LADDER
==============================

LADDER learns a map to few dimensions together with a point for each class, its codeword. MCBoost
with codewords has the same map and leaves the codewords where they are. Both are classifiers and
transformers.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from boostbench import LADDER, CodewordMCBoost

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)

# %%
# Codewords that learn give the digits more room than the fixed ones. Each number is at the mean of
# the points of its digit. Two dimensions are few for ten classes, so that both err often.
figure, panels = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
for panel, algorithm in zip(panels, (CodewordMCBoost, LADDER), strict=True):
    model = algorithm(n_iterations=200, n_components=2, random_state=0).fit(X_train, y_train)
    points = model.transform(X_test)
    panel.scatter(*points.T, c=y_test, cmap="tab10", s=10)
    for digit in model.classes_:
        x, height = points[y_test == digit].mean(axis=0)
        box = {"boxstyle": "round", "facecolor": "white", "alpha": 0.8}
        panel.text(x, height, str(digit), fontsize=13, ha="center", va="center", bbox=box)
    panel.set_title(f"{algorithm.__name__}: test error {1 - model.score(X_test, y_test):.1%}")
    panel.set_axis_off()
plt.show()
