"""Decision stumps: search, tie-breaking, missing values and categories."""
