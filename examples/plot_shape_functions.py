"""
Looking into MCBoost
====================

MCBoost is a sum of stumps. So a fitted model is a sum of step functions, one for each feature and
class, and these can be drawn and read without an approximation.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split

from boostbench import MCBoost
from boostbench.inspection import ImportanceDisplay, ShapeFunctionDisplay, export_text

iris = load_iris(as_frame=True)
X, y = iris.data, iris.target_names[iris.target]
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
model = MCBoost(n_iterations=100, loss="logistic", kappa=0.5).fit(X_train, y_train)
print(f"test error: {1 - model.score(X_test, y_test):.1%}")

# %%
# The first five rules of the model.
print(export_text(model, n_rules=5))

# %%
# The function that each feature adds to the score of each class.
ShapeFunctionDisplay.from_estimator(model, X_train)
plt.show()

# %%
# How much each feature moves the scores.
ImportanceDisplay.from_estimator(model)
plt.show()

# %%
# Why one flower gets its label: the terms of its scores. Their sum is the score, up to rounding.
flower = X_test.iloc[:1]
terms = model.shape_functions(X_train).explain_local(flower)
print(terms.T.round(2))
print("scores:", model.decision_function(flower).round(2), model.predict(flower))
