"""MCBoost with codewords on features of reduced dimension, a baseline of LADDER."""

from typing import ClassVar, Literal

from sklearn.decomposition import PCA, FactorAnalysis, KernelPCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from boostbench.algorithms.base.parameters import PositiveInt
from boostbench.algorithms.hashing.linear_projections import LPP, NPE
from boostbench.algorithms.kernel_svc import mean_gamma
from boostbench.algorithms.ladder import CodewordMCBoost
from boostbench.core.linear_algebra import canonical_signs


def _kernel_pca(n_components, X):
    """Return kernel PCA with a Gaussian kernel, whose width follows from the mean distance of X."""
    return KernelPCA(n_components, kernel="rbf", gamma=mean_gamma(X), random_state=0)


class _CanonicalSignLDA(LinearDiscriminantAnalysis):
    """Linear discriminant analysis of scikit-learn with canonical signs of the directions.

    The sign of a direction is arbitrary, and differs between libraries of linear algebra.
    """

    def fit(self, X, y):
        """Fit the discriminants; raise ValueError if there are none."""
        try:
            super().fit(X, y)
        except IndexError:  # scikit-learn fails for a matrix of rank 0
            raise ValueError(
                "X has no linear discriminants: its features are almost constant in all samples, "
                "or within each class"
            ) from None
        self.scalings_ = self.scalings_ * canonical_signs(self.scalings_)
        return self


# Function that makes the unfitted reduction of each name, from the number of components, X and the
# number of classes. There are at most as many components as the data allow.
_REDUCTIONS = {
    "pca": lambda n_components, X, n_classes: PCA(min(n_components, *X.shape), svd_solver="full"),
    "lda": lambda n_components, X, n_classes: _CanonicalSignLDA(
        solver="svd", n_components=min(n_components, n_classes - 1, X.shape[1])
    ),
    "factor_analysis": lambda n_components, X, n_classes: FactorAnalysis(
        min(n_components, X.shape[1]), random_state=0
    ),
    "kernel_pca": lambda n_components, X, n_classes: _kernel_pca(min(n_components, len(X)), X),
    "lpp": lambda n_components, X, n_classes: LPP(n_components),
    "npe": lambda n_components, X, n_classes: NPE(n_components),
}


class ReducedMCBoost(CodewordMCBoost):
    r"""`CodewordMCBoost` with a simplex of codewords on features that are reduced to d dimensions.

    Parameters
    ----------
    n_iterations : int, default=200
        Maximum number of boosting rounds; see `CodewordMCBoost`.
    n_components : int, default=2
        Number d of reduced features; fewer if the reduction has fewer components.
    reduction : {"pca", "lda", "factor_analysis", "kernel_pca", "lpp", "npe"}, default="pca"
        Principal components; linear discriminants; factor analysis (for probabilistic PCA); kernel
        PCA with a Gaussian kernel whose variance is the mean squared distance of the samples;
        locality preserving projections; neighbourhood preserving embedding.
    max_depth, leaf_values, max_bins, random_state
        See `CodewordMCBoost`. `fit` has no sample weights, because the reductions do not support
        them.

    Attributes
    ----------
    reducer_ : transformer
        Fitted reduction, of scikit-learn or `boostbench.algorithms.hashing.linear_projections`.
    codewords_, first_codewords_, hypotheses_, coefficients_, log_risks_
        See `CodewordMCBoost`.

    References
    ----------
    .. [1] M. Saberian, J. Costa Pereira, C. Xu, J. Yang and N. Vasconcelos, "Large margin
       discriminant dimensionality reduction in prediction space", NIPS 2016: Figure 3.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> ReducedMCBoost(n_iterations=50, reduction="lda").fit(X, y).score(X, y) > 0.95
    True
    """

    n_components: PositiveInt = 2
    reduction: Literal[*_REDUCTIONS] = "pca"
    class_weight: ClassVar = None
    categorical_features: ClassVar = None
    _takes_tables: ClassVar = False

    def fit(self, X, y):
        """Train the estimator with equal sample weights; see `CodewordMCBoost.fit`."""
        return super().fit(X, y)

    def stump_sum(self):
        """Raise ValueError, as the stumps test reduced features."""
        name = type(self).__name__
        raise ValueError(f"the stumps of {name} test reduced features, not those of X")

    def _make_master(self, X, labels, random_state, weights=None):
        """Fit the reduction, and return the master on reduced features."""
        reducer = _REDUCTIONS[self.reduction](self.n_components, X, len(self.classes_))
        self.reducer_ = reducer.fit(X, labels)
        return super()._make_master(self._reduce_features(X), labels, random_state)

    def _store_model(self, master):
        """Store the model, and add the parameters of the reduction; see `Booster._store_model`."""
        super()._store_model(master)
        # The tree search of the master has a stump search, whose columns are the reduced features.
        n_reduced = master.search.search.X.shape[1]
        n_features = self.n_features_in_
        if self.reduction == "kernel_pca":
            # The training samples, and a coefficient of each sample in each component.
            self.n_parameters_ += len(self.reducer_.X_fit_) * (n_features + n_reduced)
        else:
            # A direction for each component, and the mean.
            self.n_parameters_ += n_features * (n_reduced + 1)

    def _codeword_dimension(self):
        """Return None, for a simplex of codewords in n_classes - 1 dimensions."""
        return None

    def _reduce_features(self, X):
        return self.reducer_.transform(X)
