"""Floor 1: pure NumPy/SciPy mathematics. Knows no file, no config, no table of a paper."""
