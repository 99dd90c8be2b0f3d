"""Bags: ensembles whose members are trained on parts of the samples, separately or jointly."""
