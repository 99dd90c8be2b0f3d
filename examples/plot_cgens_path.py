"""
The path of CGENS
=================

CGENS adds one stump in a round, and then solves for all coefficients: those of a support vector
machine on the stumps so far. One fit keeps the coefficients of all rounds, and so contains every
shorter training.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from boostbench import CGENS
from boostbench.inspection import StagedErrorDisplay

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
model = CGENS(n_iterations=150, C=0.1).fit(X_train, y_train)

# %%
# The objective falls in every round, as a new stump can only help.
assert (np.diff(model.objective_) <= 1e-6 * model.objective_[:-1]).all()
plt.plot(np.arange(1, model.n_iterations_ + 1), model.objective_)
plt.xlabel("boosting rounds")
plt.ylabel("objective of the support vector machine")
plt.show()

# %%
# The coefficients of the first eight stumps, which later stumps take over in part.
paths = np.zeros((model.n_iterations_, 8))
for t, w in enumerate(model.weight_path_):
    paths[t, : min(len(w), 8)] = w[:8]
plt.plot(np.arange(1, model.n_iterations_ + 1), paths)
plt.xlabel("boosting rounds")
plt.ylabel("coefficient")
plt.show()

# %%
# The error on samples that it has not seen.
StagedErrorDisplay.from_estimator(model, X_test, y_test)
plt.show()
