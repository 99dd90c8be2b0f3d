"""
How many random projections RBoost^proj needs
=============================================

RBoost^proj has one coefficient vector for all classes. A random matrix with n rows turns the
outputs of the weak learners into scores of the classes. This example varies n.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from boostbench import RBoostProj

X, y = load_digits(return_X_y=True)
splits = [
    train_test_split(X, y, train_size=600, test_size=600, stratify=y, random_state=seed)
    for seed in range(3)
]

# %%
# The test error of three splits, after 50 boosting rounds.
sizes = [2, 5, 20, 100, 500]
errors = np.array(
    [
        [
            1
            - RBoostProj(n_iterations=50, n_projections=n, random_state=0)
            .fit(X_train, y_train)
            .score(X_test, y_test)
            for X_train, X_test, y_train, y_test in splits
        ]
        for n in sizes
    ]
)
for n, row in zip(sizes, errors, strict=True):
    print(f"n = {n:3}: {100 * row.mean():.1f}% ({100 * row.std(ddof=1):.1f})")

# %%
# A few rows are too few for ten classes. From some number on, more rows change little.
plt.errorbar(
    sizes, 100 * errors.mean(axis=1), 100 * errors.std(axis=1, ddof=1), marker="o", capsize=3
)
plt.xscale("log")
plt.xlabel("rows of the random matrix, n")
plt.ylabel("test error, %")
plt.ylim(bottom=0)
plt.show()
