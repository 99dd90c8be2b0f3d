"""Support vector machines with kernels of infinitely many weak learners, or random features.

A kernel is the inner product of the outputs of all weak learners of a kind, up to a constant and a
factor. The constant has no effect on a support vector machine with a bias, whose dual variables are
orthogonal to it; the factor acts as a factor of C.
"""

from abc import abstractmethod
from dataclasses import KW_ONLY

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.kernel_approximation import RBFSampler
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.validation import check_is_fitted, validate_data

from boostbench.algorithms.base.categories import check_numeric
from boostbench.algorithms.base.input_validation import check_classes_have_weight, combine_weights
from boostbench.algorithms.base.parameters import (
    ClassWeight,
    DeclaredParameters,
    PositiveFloat,
    PositiveInt,
    Seed,
)


def mean_gamma(X, Y=None):
    """Return the gamma of the kernel ``exp(-gamma |x - y|^2)`` from the mean squared distance.

    Parameters
    ----------
    X, Y : ndarray of shape (n_samples, n_features)
        Samples; distances are taken between the rows of X and of Y, or of X if Y is None.

    Returns
    -------
    float
        1 / (2 mean); 1 if all rows are equal.
    """
    mean = euclidean_distances(X, Y, squared=True).mean()
    return 1 / (2 * mean) if mean > 0 else 1.0


def stump_kernel(X, Y=None, offset=0.0):
    r"""Return the kernel matrix of all decision stumps.

    The products of the outputs, integrated over both polarities and all thresholds between the
    smallest and the largest value of each feature, are 4 times

    .. math:: k(x, x') = \Delta - \|x - x'\|_1, \quad \Delta = \frac12 \sum_d (R_d - L_d).

    Parameters
    ----------
    X : array-like of shape (n_samples_X, n_features)
    Y : array-like of shape (n_samples_Y, n_features), default=None
        Second set of samples; None: X.
    offset : float, default=0.0
        Constant :math:`\Delta`. With the value above, where L and R are the smallest and largest
        values of the features, kernel matrices are positive semidefinite. With 0 they are
        conditionally positive semidefinite, which suffices for a support vector machine with a
        bias.

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
    r"""Return the kernel matrix of all perceptrons ``sign(direction @ x - threshold)``.

    For directions uniform on the sphere, thresholds uniform in [-R, R] and all samples within R of
    the origin, the mean product of the outputs is c / R times

    .. math:: k(x, x') = \Delta - \|x - x'\|_2, \quad \Delta = \frac{R}{c}, \quad
              c = E|\theta_1| = \frac{\Gamma(d/2)}{\sqrt\pi \, \Gamma((d + 1)/2)}.

    Parameters
    ----------
    X, Y, offset
        See `stump_kernel`; the equation is (12) of its reference.

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


class _KernelClassifier(ClassifierMixin, DeclaredParameters):
    """Base of classifiers that wrap a support vector machine of scikit-learn, the *machine*.

    A subclass defines `_fit_machine`.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the margin errors.
    class_weight : dict, "balanced" or None, default=None
        Factors of the sample weights by class, as in scikit-learn.
    """

    C: PositiveFloat = 1.0
    _: KW_ONLY
    class_weight: ClassWeight = None

    def fit(self, X, y, sample_weight=None):
        """Fit the classifier; see `MCBoost.fit`. Sample weights are factors of C."""
        self._validate_params()
        X, y = self._check_input(X, y)
        # Keep the samples of positive weight: SVC mixes up its support vectors if there are weights
        # of 0 and a callable kernel, and LinearSVC's class weights differ from weights of all
        # samples of a class.
        X_present, y_present, weights = combine_weights(X, y, sample_weight, self.class_weight)
        check_classes_have_weight(y, y_present, self)
        self.machine_ = self._fit_machine(X_present, y_present, weights)
        self.classes_ = self.machine_.classes_
        return self

    def decision_function(self, X):
        """Return the scores; see `BoostingClassifier.decision_function`."""
        return self._call_machine("decision_function", X)

    def predict(self, X):
        """Return the predicted labels.

        For two classes the label is the sign of the score. For more classes, a linear machine
        predicts the class of the largest score. A kernel machine (LIBSVM) has one classifier per
        pair of classes and predicts the class with most votes, which can differ from the class of
        the largest score.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._call_machine("predict", X)

    @abstractmethod
    def _fit_machine(self, X, y, sample_weight):
        """Return a fitted support vector machine of scikit-learn.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
        y : ndarray of shape (n_samples,)
            Labels.
        sample_weight : ndarray of shape (n_samples,) or None
            Positive factors of C.
        """

    def _call_machine(self, method, X):
        """Return the result of a method of `machine_` for checked samples."""
        check_is_fitted(self)
        return getattr(self.machine_, method)(self._check_input(X, reset=False))

    def _check_input(self, X, *y, **options):
        """Return X as numbers, and y if it is given, after validation."""
        X = check_numeric(X, type(self).__name__)
        return validate_data(self, X, *y, dtype=np.float64, **options)


class _KernelSVC(_KernelClassifier):
    """Base of the machines with a kernel.

    A subclass has a class attribute `_kernel`, a function of two arrays of samples that returns the
    matrix of kernel values.
    """

    def _fit_machine(self, X, y, sample_weight):
        return SVC(C=self.C, kernel=self._kernel).fit(X, y, sample_weight)


class StumpKernelSVC(_KernelSVC):
    """Support vector machine with the kernel of all stumps: "SVM" of CGENS, Table I.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    machine_ : sklearn.svm.SVC

    See Also
    --------
    stump_kernel : The kernel.

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
    perceptron_kernel : The kernel.
    StumpKernelSVC : The same with stumps; the attributes are equal.

    Notes
    -----
    Distances are inexact if the mean of a feature is large relative to its deviation: centre such
    features.

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
        Parameter :math:`\gamma` of the kernel.
    n_components : int, default=2000
        Number of random features.
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

    # Since edition 2 the solver has a smaller tolerance.
    edition = 2

    gamma: PositiveFloat = 0.1
    n_components: PositiveInt = 2000
    _: KW_ONLY
    random_state: Seed = None

    def _fit_machine(self, X, y, sample_weight):
        """Return a pipeline of random features and a linear machine."""
        features = RBFSampler(
            gamma=self.gamma, n_components=self.n_components, random_state=self.random_state
        )
        # The dual method often ends at its iteration limit, so that the primal is solved even for
        # few samples. At the default tolerance the third digit of a coefficient would depend on
        # rounding.
        machine = LinearSVC(C=self.C, dual=False, tol=1e-8)
        # Pipeline.fit passes weights in different ways with and without metadata routing.
        machine.fit(features.fit_transform(X), y, sample_weight=sample_weight)
        return make_pipeline(features, machine)
