"""Constructor parameters that all subclasses of an estimator have, declared once."""

import functools
import inspect


def share(cls, defaults):
    """Let a class take more constructor parameters, by keyword.

    They are in its signature, so that scikit-learn counts them among its parameters, and they are
    attributes once the constructor of the class is done.

    Parameters
    ----------
    cls : type
        Its ``__init__`` may be inherited, and may have the parameters already.
    defaults : dict of str to object
        Default values by name.
    """
    init = cls.__init__
    if init is object.__init__:
        return
    signature = inspect.signature(init)
    missing = {name: value for name, value in defaults.items() if name not in signature.parameters}
    if not missing:
        return

    @functools.wraps(init)
    def __init__(self, *args, **kwargs):
        values = {name: kwargs.pop(name, default) for name, default in missing.items()}
        init(self, *args, **kwargs)
        vars(self).update(values)

    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
        for name, default in missing.items()
    ]
    __init__.__signature__ = signature.replace(parameters=[*signature.parameters.values(), *more])
    cls.__init__ = __init__
