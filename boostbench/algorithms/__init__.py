"""Floor 2: the algorithms as scikit-learn estimators, one file per family."""
