"""Small transformers that return codes."""

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin


class RandomBits(TransformerMixin, BaseEstimator):
    """Signs of random projections; a transformer without `predict` and without classes."""

    def __init__(self, n_bits=4, random_state=None):
        self.n_bits = n_bits
        self.random_state = random_state

    def fit(self, X, y=None):
        rng = np.random.default_rng(self.random_state)
        self.directions_ = rng.normal(size=(X.shape[1], self.n_bits))
        self.centre_ = X.mean(axis=0)
        return self

    def transform(self, X):
        return (X - self.centre_) @ self.directions_


class HashMethod(RandomBits):
    """Transformer with a method `hash` that returns packed codes."""

    @property
    def n_bits_(self):
        return self.n_bits

    def hash(self, X):
        return np.packbits(self.transform(X) > 0, axis=1)


class UnpackedHash(HashMethod):
    def hash(self, X):
        return (self.transform(X) > 0).astype(np.uint8)


class OddCodes(RandomBits):
    def __init__(self, n_bits=4, form="flat", random_state=None):
        super().__init__(n_bits, random_state)
        self.form = form

    def transform(self, X):
        codes = super().transform(X)
        return {
            "flat": codes.ravel(),
            "few": codes[:2],
            "text": codes.astype(str),
            "nan": codes * np.nan,
        }[self.form]
