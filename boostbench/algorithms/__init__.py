"""Floor 2: the algorithms as scikit-learn estimators, one file per family.

What the files name in ``__all__`` is here as well.
"""

from importlib import import_module
from pkgutil import iter_modules

__all__ = []
for _module in [import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__)]:
    for _name in getattr(_module, "__all__", ()):
        globals()[_name] = getattr(_module, _name)
        __all__ += [_name]
