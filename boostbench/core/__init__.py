"""Mathematics in NumPy and SciPy, without files and configurations."""
