"""Hash codes as bits, packed into bytes."""

import numpy as np


class PackedCodes:
    """What `transform` gives as bits: one for each coordinate, set where that is positive."""

    def hash(self, X):
        """Compute hash codes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, ceil(n_bits_ / 8)), dtype=uint8
            Bits of a sample, the first in the highest place of the first byte, see
            `numpy.packbits`; zeros fill the last byte.
        """
        return np.packbits(self.transform(X) > 0, axis=1)

    @property
    def n_bits_(self):
        """Number of bits of a code."""
        return self._n_features_out
