"""Declaration of constructor parameters: one annotated line per parameter.

scikit-learn's estimators repeat each parameter in `__init__`, in its assignment, in a table of
constraints and in the docstring. Here a class writes ``n_iterations: PositiveInt = 1000``, and
`DeclaredParameters` makes the constructor and the constraints from it.
"""

import inspect
import re
from dataclasses import KW_ONLY
from inspect import Parameter, Signature
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Annotated, ClassVar, Literal, Union, dataclass_transform, get_args, get_origin

from sklearn.base import BaseEstimator

from boostbench.util.compat import Interval, InvalidParameterError, StrOptions

# Types of parameters: a Python type with the interval or the check that scikit-learn validates. In
# the intervals, None is infinity, and `closed` names the ends that belong to the interval.
PositiveInt = Annotated[int, Interval(Integral, 1, None, closed="left")]
NonNegativeInt = Annotated[int, Interval(Integral, 0, None, closed="left")]
TwoOrMore = Annotated[int, Interval(Integral, 2, None, closed="left")]
PositiveFloat = Annotated[float, Interval(Real, 0, None, closed="neither")]
NonNegativeFloat = Annotated[float, Interval(Real, 0, None, closed="left")]
Fraction = Annotated[float, Interval(Real, 0, 1, closed="neither")]
FractionOrOne = Annotated[float, Interval(Real, 0, 1, closed="right")]

# Seeds, and parameters that the estimators check themselves.
Seed = Annotated[object, "random_state"]
CategoricalFeatures = Annotated[object, "array-like"] | Literal["from_dtype"] | None
Quantiles = Annotated[object, "array-like"]
MonotonicConstraints = Annotated[object, "array-like"] | dict | None
Interactions = NonNegativeInt | Annotated[object, "array-like"]
ClassWeight = dict | Literal["balanced"] | None

# Heading of the parameters in a docstring.
_SECTION = "Parameters\n----------\n"


@dataclass_transform()
class DeclaredParameters(BaseEstimator):
    """Estimator whose annotated attributes are the parameters of its constructor.

    A line ``name: type = default`` of the class or of a base declares a parameter. The type defines
    the values that `fit` accepts: a type of this module, a `Literal`, ``bool``, another type, or a
    union such as ``PositiveInt | None``. A subclass inherits the parameters of its bases. It may
    declare a parameter again with another default; ``name: ClassVar = value`` turns it into a class
    attribute. Parameters after ``_: KW_ONLY`` are keyword-only. A docstring inherits the parameter
    descriptions of the bases.

    A class that defines ``__init__`` itself follows scikit-learn's conventions instead: the
    arguments of its constructor are its parameters.

    Examples
    --------
    >>> class Booster(DeclaredParameters):
    ...     n_iterations: PositiveInt = 1000
    ...     _: KW_ONLY
    ...     random_state: Seed = None
    >>> class Stagewise(Booster):
    ...     n_iterations: PositiveInt = 200
    ...     loss: Literal["logistic", "exponential"] = "logistic"
    >>> inspect.signature(Stagewise)
    <Signature (n_iterations=200, loss='logistic', *, random_state=None)>
    >>> Stagewise(50, random_state=0)
    Stagewise(n_iterations=50, random_state=0)
    """

    def __init_subclass__(cls, **kwargs):
        """Add constraints, constructor and parameter descriptions to a new class."""
        # 1) Collect the parameters of the class and its bases, and convert their types to
        # scikit-learn's constraints.
        super().__init_subclass__(**kwargs)
        declared = _declared_parameters(cls)
        if "_parameter_constraints" not in vars(cls):
            constraints = {
                name: _sklearn_constraints(value_type) for name, (value_type, _) in declared.items()
            }
            cls._parameter_constraints = getattr(cls, "_parameter_constraints", {}) | constraints
        # 2) Make the constructor. The attribute `__signature__` marks the constructors of
        # `_make_constructor`. A constructor that a class defines itself does not have it, and
        # stays.
        if cls.__init__ is object.__init__ or hasattr(cls.__init__, "__signature__"):
            cls.__init__ = _make_constructor(
                cls, {name: parameter_kind for name, (_, parameter_kind) in declared.items()}
            )
        # 3) Add the descriptions of inherited parameters to the docstring.
        _inherit_parameter_docs(cls, declared)

    def _validate_params(self):
        """Check the parameters as scikit-learn does, but refuse booleans in place of numbers."""
        super()._validate_params()
        for name, value in self.get_params(deep=False).items():
            # A parameter without constraints accepts every value.
            constraints = self._parameter_constraints.get(name, ["boolean"])
            # Python treats a boolean as an integer.
            if isinstance(value, bool) and "boolean" not in constraints:
                raise InvalidParameterError(
                    f"The {name!r} parameter of {type(self).__name__} must not be a boolean. "
                    f"Got {value!r} instead."
                )


def _declared_parameters(cls):
    """Return the type of the values and the `Parameter.kind` of each parameter, by its name.

    Later classes of the inheritance override earlier ones, but keep the kind of the parameter.
    """
    declared = {}
    for base in (base for base in reversed(cls.__mro__) if issubclass(base, DeclaredParameters)):
        parameter_kind = Parameter.POSITIONAL_OR_KEYWORD
        for name, value_type in inspect.get_annotations(base, eval_str=True).items():
            if value_type is KW_ONLY:
                parameter_kind = Parameter.KEYWORD_ONLY
            elif ClassVar in (value_type, get_origin(value_type)):
                declared.pop(name, None)
            else:
                declared[name] = (
                    value_type,
                    declared[name][1] if name in declared else parameter_kind,
                )
    return declared


def _inherit_parameter_docs(cls, declared):
    """Add the descriptions of inherited parameters to the docstring of a class.

    Parameters
    ----------
    cls : type
    declared : dict of str to object
        Result of `_declared_parameters`, of which only the names are used.
    """
    # 1) Split the docstring at its parameter section. Without it, `heading` is empty, and
    # `parameter_section` holds the summary, the text before the first other section.
    text = inspect.cleandoc(cls.__doc__ or "")
    text_before, heading, text_after = text.partition(_SECTION)
    parameter_section, *later_sections = re.split(
        r"\n\n(?=\w[^\n]*\n-{3,})", text_after if heading else text, maxsplit=1
    )
    # 2) Store the description of each parameter. An entry may describe several: "a, b : int".
    entries = re.split(r"\n(?=\S)", parameter_section) if heading else []
    cls._parameter_docs = {
        name: entry
        for entry in entries
        for name in entry.splitlines()[0].partition(" :")[0].split(", ")
    }
    # 3) Collect the descriptions of parameters that only the bases describe.
    docs = {}
    for base in reversed(cls.__mro__):
        docs |= vars(base).get("_parameter_docs", {})
    inherited = [
        docs[name] for name in declared if name in docs and name not in cls._parameter_docs
    ]
    # 4) Append them to the parameter section.
    if text and inherited:
        text_before = text_before if heading else parameter_section + "\n\n"
        section_text = _SECTION + "\n".join([*entries, *dict.fromkeys(inherited)])
        cls.__doc__ = "\n\n".join([text_before + section_text, *later_sections])


def _sklearn_constraints(value_type):
    """Return scikit-learn's list of constraints for a type of values."""
    if get_origin(value_type) is Annotated:
        return list(value_type.__metadata__)
    if get_origin(value_type) is Literal:
        return [StrOptions(set(get_args(value_type)))]
    if get_origin(value_type) in (Union, UnionType):
        return [
            constraint for part in get_args(value_type) for constraint in _sklearn_constraints(part)
        ]
    # scikit-learn has special names for two types, and accepts instances of any other.
    return [{bool: "boolean", NoneType: None}.get(value_type, value_type)]


def _make_constructor(cls, parameter_kinds):
    """Return a constructor that stores its arguments as attributes.

    Parameters
    ----------
    cls : type
        Class whose attributes are the defaults of the parameters.
    parameter_kinds : dict of str to inspect kind
        `Parameter.kind` of each parameter, by its name.

    Returns
    -------
    callable
        Function ``__init__`` whose ``__signature__`` lists the parameters.
    """
    parameters = [Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)]
    for name, parameter_kind in sorted(parameter_kinds.items(), key=lambda item: item[1]):
        parameters.append(Parameter(name, parameter_kind, default=getattr(cls, name)))
    signature = Signature(parameters)

    # A user's mistake in the arguments is reported with the name of the class.
    def __init__(*args, **kwargs):
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{cls.__name__} {error}") from None
        bound.apply_defaults()
        self = bound.arguments.pop("self")
        vars(self).update(bound.arguments)

    __init__.__signature__ = signature
    __init__.__qualname__ = f"{cls.__qualname__}.__init__"
    return __init__
