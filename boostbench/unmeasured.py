"""A mark for functions that no recorded number depends on."""


def unmeasured(function):
    """Keep a function out of the fingerprints that records carry.

    Estimators give more than what the experiments measure: probabilities, rules, explanations.
    A function with this mark may change, come or go, and no record becomes stale. In return no code
    that makes a record may use it, not even by its name, unless from another function with the
    mark; a test goes through the whole package for that. What only such functions need, they import
    themselves: an import at the top of a file counts.

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
