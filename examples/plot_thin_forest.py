"""
A forest with fewer trees
=========================

`reweight` finds new coefficients for the members of an ensemble that is fitted already. An L1 norm
sets most of them to 0. Trees of depth 3 make errors on their own samples, so that the same samples
serve for the coefficients. Large trees make none on theirs, and need other samples.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from boostbench import reweight

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
forest = RandomForestClassifier(200, max_depth=3, random_state=0).fit(X_train, y_train)
print(f"forest: {len(forest.estimators_)} trees, error {1 - forest.score(X_test, y_test):.1%}")

# %%
# The weight of the norm, `nu`, trades size for error.
sizes, errors = [], []
for nu in (0.001, 0.003, 0.01, 0.02, 0.03, 0.05, 0.1):
    thin = reweight(forest, X_train, y_train, nu=nu)
    sizes.append(len(thin.members_))
    errors.append(100 * (1 - thin.score(X_test, y_test)))
    print(f"nu = {nu:g}: {sizes[-1]} trees, error {errors[-1]:.1f}%")

# %%
# Beside it: forests that were grown with as many trees, all of which have one vote.
plain = []
for size in sizes:
    small = RandomForestClassifier(size, max_depth=3, random_state=0).fit(X_train, y_train)
    plain.append(100 * (1 - small.score(X_test, y_test)))
plt.plot(sizes, errors, "o", label="200 trees, thinned")
plt.plot(sizes, plain, "s", label="a forest of this size")
plt.axhline(100 * (1 - forest.score(X_test, y_test)), color="grey", ls=":", label="all 200 trees")
plt.xlabel("trees")
plt.ylabel("test error, %")
plt.ylim(bottom=0)
plt.legend()
plt.show()
