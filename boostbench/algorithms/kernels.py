"""Support vector machines on the kernels of infinitely many weak learners, and on samples of them.

A kernel here is the inner product of the outputs of all weak learners of a kind, up to a constant
and a factor. The constant does not matter to a support vector machine with a bias, whose dual
variables are orthogonal to it; the factor is one of C.
"""

from dataclasses import KW_ONLY

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.kernel_approximation import RBFSampler
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.validation import check_is_fitted, validate_data

from boostbench.algorithms.parameters import ClassWeight, Declared, PositiveFloat, PositiveInt, Seed
from boostbench.algorithms.training.categories import check_numbers
from boostbench.algorithms.training.labels import check_classes_have_weight
from boostbench.algorithms.training.weights import weighted

__all__ = ["FourierFeaturesSVC", "PerceptronKernelSVC", "StumpKernelSVC"]


def mean_gamma(X, Y=None):
    """Give the gamma of a Gaussian kernel by the mean squared distance.

    Parameters
    ----------
    X, Y : ndarray of shape (n_samples, n_features)
        Distances are those of the rows of the one from those of the other, or, without Y, of X.

    Returns
    -------
    float
        Half of the reciprocal of the mean; 1 where all rows are the same.
    """
    mean = euclidean_distances(X, Y, squared=True).mean()
    return 1 / (2 * mean) if mean > 0 else 1.0


def stump_kernel(X, Y=None, offset=0.0):
    r"""Kernel of all decision stumps.

    Of stumps of both polarities with the threshold anywhere between the smallest and the largest
    value of a feature, the products of the outputs integrate to 4 times

    .. math:: k(x, x') = \Delta - \|x - x'\|_1, \quad \Delta = \frac12 \sum_d (R_d - L_d).

    Parameters
    ----------
    X : array-like of shape (n_samples_X, n_features)
    Y : array-like of shape (n_samples_Y, n_features), default=None
        None: X itself.
    offset : float, default=0.0
        :math:`\Delta`. With the value above, L and R the smallest and largest values of the
        features, kernel matrices are positive semidefinite; with 0 they are conditionally so, which
        is enough for a support vector machine with a bias.

    Returns
    -------
    ndarray of shape (n_samples_X, n_samples_Y)

    References
    ----------
    .. [1] H.-T. Lin and L. Li, "Support vector machinery for infinite ensemble learning", JMLR 9,
       2008: eq. (9).

    Examples
    --------
    >>> stump_kernel([[0.0, 0.0], [1.0, 3.0]], offset=2.0)
    array([[ 2., -2.],
           [-2.,  2.]])
    """
    return offset - manhattan_distances(X, Y)


def perceptron_kernel(X, Y=None, offset=0.0):
    r"""Kernel of all perceptrons ``sign(direction @ x - threshold)``.

    Of directions uniform on the sphere and thresholds uniform in [-R, R], with all samples within
    R of the origin, the mean of the product of the outputs is c / R times

    .. math:: k(x, x') = \Delta - \|x - x'\|_2, \quad \Delta = \frac{R}{c}, \quad
              c = E|\theta_1| = \frac{\Gamma(d/2)}{\sqrt\pi \, \Gamma((d + 1)/2)}.

    Parameters
    ----------
    X, Y, offset
        As of `stump_kernel`, whose reference has this in eq. (12).

    Returns
    -------
    ndarray of shape (n_samples_X, n_samples_Y)

    Examples
    --------
    >>> perceptron_kernel([[0.0, 0.0], [3.0, 4.0]], offset=5.0)
    array([[5., 0.],
           [0., 5.]])
    """
    return offset - euclidean_distances(X, Y)


class _KernelClassifier(ClassifierMixin, Declared):
    """A support vector machine of scikit-learn behind a constructor that names its parameters.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the margin errors.
    class_weight : dict, "balanced" or None, default=None
        Factors of the weights of the samples, by class; as in scikit-learn.
    """

    C: PositiveFloat = 1.0
    _: KW_ONLY
    class_weight: ClassWeight = None

    def fit(self, X, y, sample_weight=None):
        """Train the classifier; as `MCBoost.fit`, where weights of samples are factors of C."""
        self._validate_params()
        X, y = self._numbers(X, y)
        # SVC mixes up its support vectors where there are weights of 0 and the kernel is ours, and
        # LinearSVC's weights of classes are not those of all their samples.
        X, y_present, weights = weighted(X, y, sample_weight, self.class_weight)
        check_classes_have_weight(y, y_present, self)
        self.machine_ = self._fitted(X, y_present, weights)
        self.classes_ = self.machine_.classes_
        return self

    def decision_function(self, X):
        """Score the classes; as `BoostingClassifier.decision_function`."""
        return self._checked("decision_function", X)

    def predict(self, X):
        """Predict the labels, as the machine does.

        Of two classes it is the sign of the score. Of more, a linear machine takes the class of the
        largest score. LIBSVM, which those with a kernel are, has a machine for each pair of classes
        and takes the class with the most votes, which need not be that of the largest score.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._checked("predict", X)

    def _checked(self, method, X):
        check_is_fitted(self)
        return getattr(self.machine_, method)(self._numbers(X, reset=False))

    def _numbers(self, X, *y, **options):
        """Check X, and y if there is one."""
        X = check_numbers(X, type(self).__name__)
        return validate_data(self, X, *y, dtype=np.float64, **options)


class _KernelSVC(_KernelClassifier):
    def _fitted(self, X, y, sample_weight):
        return SVC(C=self.C, kernel=self._kernel).fit(X, y, sample_weight)


class StumpKernelSVC(_KernelSVC):
    """Support vector machine with the kernel of all stumps: "SVM" of CGENS, Table I.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    machine_ : sklearn.svm.SVC

    See Also
    --------
    stump_kernel : Its kernel.

    References
    ----------
    .. [1] C. Shen and F. Liu, "From kernel machines to ensemble learning", 2014 (CGENS).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> StumpKernelSVC().fit(X, y).score(X, y) > 0.95
    True
    """

    _kernel = staticmethod(stump_kernel)


class PerceptronKernelSVC(_KernelSVC):
    """Support vector machine with the kernel of all perceptrons: "SVM" of CGENS, Table II.

    See Also
    --------
    perceptron_kernel : Its kernel.
    StumpKernelSVC : The same with stumps; its attributes.

    Notes
    -----
    Distances lose their digits where features lie far from 0, in terms of how much they vary:
    centre such features.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> PerceptronKernelSVC().fit(X, y).score(X, y) > 0.95
    True
    """

    _kernel = staticmethod(perceptron_kernel)


class FourierFeaturesSVC(_KernelClassifier):
    r"""Linear support vector machine on random Fourier features: "RFF" of CGENS, Table II.

    The features are :math:`\cos(\theta^\top x - \kappa)`, with :math:`\theta` from
    :math:`N(0, 2 \gamma I)`. Their inner product approximates the kernel
    :math:`\exp(-\gamma \|x - x'\|^2)`.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the squared margin errors.
    gamma : float, default=0.1
        :math:`\gamma` of the kernel.
    n_components : int, default=2000
        Random features.
    random_state : int, RandomState instance or None, default=None
        Seed of the features.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    machine_ : sklearn.pipeline.Pipeline

    References
    ----------
    .. [1] A. Rahimi and B. Recht, "Random features for large-scale kernel machines", NIPS 2007.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> FourierFeaturesSVC(random_state=0).fit(X, y).score(X, y) > 0.95
    True
    """

    # It is solved to a smaller tolerance.
    edition = 2

    gamma: PositiveFloat = 0.1
    n_components: PositiveInt = 2000
    _: KW_ONLY
    random_state: Seed = None

    def _fitted(self, X, y, sample_weight):
        features = RBFSampler(
            gamma=self.gamma, n_components=self.n_components, random_state=self.random_state
        )
        # In the primal, with few samples as well: the dual method often ends at its limit.
        # By default it stops where the third digit of a coefficient depends on rounding.
        machine = LinearSVC(C=self.C, dual=False, tol=1e-8)
        # Pipeline.fit hands the weights on in one way with metadata routing, in another without.
        machine.fit(features.fit_transform(X), y, sample_weight=sample_weight)
        return make_pipeline(features, machine)
