"""Sources of data sets: local files, bundles, the cache, OpenML, scikit-learn, generators."""
