"""What stands beside a result on a file of one's own: the constant, and a logistic regression."""

from collections.abc import Mapping, Sequence

from boostbench import configs
from boostbench.report import numbers
from boostbench.report.cells import Cell

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
    algos = [configs.read("algo", name) for name in _BASELINES]
    return [
        {**spec, "algo": algo} for algo in algos if algo["_target_"] != spec["algo"]["_target_"]
    ]


def below_the_constant(cell: Cell, others: Sequence[Cell]) -> str | None:
    """Say so where a number is no better than that of the constant, as both are printed."""
    constant = next((other for other in others if other.algo == _BASELINES[0]), None)
    # A loss that is not a number is not at least another.
    if constant is None or not _loss(cell) >= _loss(constant):
        return None
    return (
        f"{cell.title} is no better than the constant, which predicts the most frequent class of "
        "the training part for every sample."
    )


def _loss(cell: Cell) -> float:
    return numbers.rounded(cell.quantity.sign * cell.mean, cell.quantity.digits)
