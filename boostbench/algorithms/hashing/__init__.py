"""Baselines of LADDER, as transformers: linear projections and hash functions.

`PackedCodesMixin` is for all estimators whose `transform` defines hash codes: the hashers, and the
boosters with codewords.
"""

import numpy as np


class PackedCodesMixin:
    """Mixin for hash codes: a bit for each coordinate of `transform`, 1 where it is positive."""

    def hash(self, X):
        """Return the packed hash codes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, ceil(n_bits_ / 8)), dtype=uint8
            Codes, with the first bit as the most significant bit of the first byte, see
            `numpy.packbits`; the last byte is padded with zeros.
        """
        return np.packbits(self.transform(X) > 0, axis=1)

    @property
    def n_bits_(self):
        """Number of bits of a code."""
        return self._n_features_out
