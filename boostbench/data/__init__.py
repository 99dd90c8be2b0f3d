"""Floor 2: data sets by name, from files, OpenML, scikit-learn or generators."""
