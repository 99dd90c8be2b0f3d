"""
Boundaries that stumps cannot have
==================================

A sum of stumps cannot separate the black and the white fields of a checkerboard, as the class
depends on both features together. RpBoost draws a random projection in each round, and finds its
stumps there.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.inspection import DecisionBoundaryDisplay

from boostbench import AdaBoost, RpBoost

rng = np.random.default_rng(0)
X = rng.uniform(0, 3, (1200, 2))
y = (np.floor(X).sum(axis=1) % 2).astype(int)
X_test = rng.uniform(0, 3, (1200, 2))
y_test = (np.floor(X_test).sum(axis=1) % 2).astype(int)

figure, panels = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
for panel, model in zip(
    panels, (AdaBoost(n_iterations=300), RpBoost(n_iterations=300, random_state=0)), strict=True
):
    model.fit(X, y)
    DecisionBoundaryDisplay.from_estimator(
        model, X, response_method="predict", ax=panel, alpha=0.4, eps=0
    )
    panel.scatter(*X.T, c=y, s=4)
    panel.set_title(f"{type(model).__name__}: test error {1 - model.score(X_test, y_test):.1%}")
plt.show()
