"""Baselines of LADDER: linear projections and hash functions, as transformers."""
