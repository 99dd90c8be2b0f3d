"""What stands beside a result on a file of one's own: the constant, and a logistic regression."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from boostbench.analysis.cells import Cell
from boostbench.analysis.merge import join
from boostbench.fitting.quantities import QUANTITIES, SCORES, Quantity
from boostbench.util import configs, numbers

_BASELINES = ("constant", "logistic_regression")
#: Measures that any classifier has.
_MEASURES = ("prediction", "predictions", "scores", "scores_by_auc", "scores_by_log_loss")


def baselines(spec: Mapping) -> list[dict]:
    """Give the experiments that stand beside one.

    Parameters
    ----------
    spec : mapping
        A resolved config.

    Returns
    -------
    list of dict
        The same with another algorithm; none where the data are not a file that the user names, or
        where what is measured is not what any classifier has.
    """
    if not spec["data"].get("path") or spec["measure"] not in _MEASURES:
        return []
    algos = [configs.read_option("algo", name) for name in _BASELINES]
    return [
        {**spec, "algo": algo} for algo in algos if algo["_target_"] != spec["algo"]["_target_"]
    ]


def below_the_constant(cell: Cell, others: Sequence[Cell]) -> str | None:
    """Say that a classifier is no better than the constant, as the numbers are printed.

    All quantities that were recorded of both count: where one class is rare, the constant has a low
    test error, and a classifier that ranks the samples well may not have a lower one.

    Parameters
    ----------
    cell : Cell
        What was run.
    others : sequence of Cell
        The baselines beside it.

    Returns
    -------
    str or None
        None where the quantity that the cell shows is better.
    """
    constant = next((other for other in others if other.algo == _BASELINES[0]), None)
    if constant is None:
        return None
    quantities = [cell.quantity, *(QUANTITIES[name] for name in ("test_error", *SCORES))]
    losses = {
        quantity.phrase: (_loss(cell, quantity), _loss(constant, quantity))
        for quantity in quantities
    }
    better = [name for name, (ours, theirs) in losses.items() if ours < theirs]
    worse = [name for name, (ours, theirs) in losses.items() if ours >= theirs]
    if cell.quantity.phrase not in worse:
        return None
    text = (
        f"By {join(worse)}, {cell.title} is no better than the constant, which predicts the most "
        "frequent class of the training part for every sample."
    )
    if better:
        return f"{text} By {join(better)} it is better."
    is_alone = len(worse) == 1
    return f"{text} measure=scores records log-loss and ROC AUC, too." if is_alone else text


def _loss(cell: Cell, quantity: Quantity) -> float:
    """Return the mean of a quantity as it is printed, the lower the better; NaN without one."""
    mean = replace(cell, quantity=quantity).mean
    return numbers.rounded(quantity.sign * mean, quantity.digits)
