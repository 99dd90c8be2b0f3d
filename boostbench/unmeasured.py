"""A mark for functions that no recorded number depends on."""


def unmeasured(function):
    """Keep a function out of the fingerprints that records carry.

    Estimators give more than what the experiments measure: probabilities, rules, explanations.
    A function with this mark may change, come or go, and no record becomes stale. What only such
    functions need, they import themselves: an import at the top of a file counts.

    A function counts nevertheless where its name is in code that makes a record, for example in a
    measure of one's own. Only what other libraries call by themselves is not seen: nothing may be
    marked that Python or scikit-learn call by its name in a fit or a prediction.

    Parameters
    ----------
    function : callable
        A function or method. Of other decorators, such as ``property``, this one is the lowest.

    Returns
    -------
    callable
        The same function.

    See Also
    --------
    boostbench.experiment.code : Leaves these functions out.
    """
    return function
