"""Boosting algorithms of five papers, and a runner that reproduces their tables and figures.

Algorithms are imported on first access, so that commands that need none of them do not wait for
scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING

# Editors and type checkers read these imports, which `__getattr__` makes at run time.
if TYPE_CHECKING:
    from boostbench.algorithms import (
        BRE,
        CGENS,
        CGENSSLS,
        ITQ,
        KSH,
        LADDER,
        LPP,
        LSH,
        NPE,
        SAMME,
        AdaBoost,
        AdaBoostECC,
        AdaBoostMH,
        AdaBoostMO,
        AdaBoostSIP,
        BaggedBooster,
        BaggedLsBoostRegressor,
        BaggedMCBoost,
        BaggedQuantileRegressor,
        CodewordBoosting,
        CodewordMCBoost,
        ERLPBoost,
        FourierFeaturesSVC,
        GradBoost,
        LPBoost,
        LsBoost,
        LsBoostRegressor,
        MCBoost,
        MultiBoost,
        NMBoost,
        PerceptronAdaBoost,
        PerceptronKernelSVC,
        ProjectedAdaBoostMH,
        RBoostProj,
        RBoostRank,
        RBoostRankTC,
        ReducedMCBoost,
        RpBoost,
        StumpKernelSVC,
        SupervisedITQ,
        final_solve,
        reweight,
    )

__all__ = [
    "BRE",
    "CGENS",
    "CGENSSLS",
    "ITQ",
    "KSH",
    "LADDER",
    "LPP",
    "LSH",
    "NPE",
    "SAMME",
    "AdaBoost",
    "AdaBoostECC",
    "AdaBoostMH",
    "AdaBoostMO",
    "AdaBoostSIP",
    "BaggedBooster",
    "BaggedLsBoostRegressor",
    "BaggedMCBoost",
    "BaggedQuantileRegressor",
    "CodewordBoosting",
    "CodewordMCBoost",
    "ERLPBoost",
    "FourierFeaturesSVC",
    "GradBoost",
    "LPBoost",
    "LsBoost",
    "LsBoostRegressor",
    "MCBoost",
    "MultiBoost",
    "NMBoost",
    "PerceptronAdaBoost",
    "PerceptronKernelSVC",
    "ProjectedAdaBoostMH",
    "RBoostProj",
    "RBoostRank",
    "RBoostRankTC",
    "ReducedMCBoost",
    "RpBoost",
    "StumpKernelSVC",
    "SupervisedITQ",
    "final_solve",
    "predictions",
    "published",
    "results",
    "reweight",
]

__version__ = "1.1.0"


def results(folder="results"):
    """Load the results of all recorded splits.

    Parameters
    ----------
    folder : path-like, default="results"
        Folder of the results. If the default folder does not exist, installed results are read.

    Returns
    -------
    pandas.DataFrame
        A row for each split, finished or failed, in the order of data set, algorithm, settings and
        split. Warnings about damaged files are in ``attrs["warnings"]``. Columns:

        - ``data`` (name; data sets of equal names have a distinguishing suffix, such as
          ``data (a/data.csv)``), ``algo`` (name), ``measure`` (kind of the record),
          ``seed``, ``split``, ``n_train``, ``n_test``;
        - results, NaN where a record has none: ``test_error``, ``accuracy`` and
          ``balanced_accuracy`` in percent; ``log_loss`` in nats; ``mean_average_precision``,
          ``brier``, ``auc``; ``n_iterations`` (rounds), ``n_nonzero`` (coefficients that are not
          0), ``n_parameters``;
        - CPU times: ``fit`` and its parts ``weak_learner`` and ``coefficients`` in seconds,
          ``predict_per_instance`` and ``hash_per_instance`` in microseconds, ``calibration`` (the
          reference job, a measure of the machine's speed) in seconds;
        - shares of 1: ``train_error``, ``validation_error`` (of the chosen hyper-parameters, in
          cross-validation) and ``checkpoints`` (test errors by rounds, as JSON);
        - as JSON, ``chosen`` (hyper-parameters) and ``settings`` (those that differ from the
          defaults);
        - ``error`` of a failure; ``digest`` of the predictions; and the provenance: ``config``,
          ``checksum`` of the data, ``rows``, ``edition``, ``commit``, ``cpu``, ``finished``.

    Raises
    ------
    boostbench.util.errors.UserError
        If there are no records.
    """
    from boostbench.analysis.frame import read_frame

    frame, frame.attrs["warnings"] = read_frame(folder)
    return frame


def predictions(folder="results"):
    """Load all predictions recorded with ``measure=predictions``.

    Parameters
    ----------
    folder : path-like, default="results"
        Folder of the results.

    Returns
    -------
    pandas.DataFrame
        A row for each tested sample: ``data``, ``algo``, ``settings`` (those that differ from the
        defaults, as JSON), ``split``, ``row`` of the data set, from 0; ``truth`` and
        ``predicted``, class numbers in the order of the labels, from 0; and ``p0``, ``p1``, ...,
        the probabilities of the classes, if they are recorded. Warnings about damaged files are
        in ``attrs["warnings"]``.

    Raises
    ------
    boostbench.util.errors.UserError
        If there are no predictions.
    """
    from boostbench.analysis.frame import read_predictions

    frame, frame.attrs["warnings"] = read_predictions(folder)
    return frame


def published(table=None):
    """Load the published numbers of the papers.

    Parameters
    ----------
    table : str, default=None
        Name of a table, such as ``"randomboost5"``; None: all tables.

    Returns
    -------
    pandas.DataFrame
        A row for each number: ``table`` (as in ``conf/table``), ``paper``, ``number`` (of the table
        in the paper), ``data`` and ``algo`` (names, as in ``conf``), ``quantity`` (a column of
        `results`), ``unit``, ``mean``, ``std`` (NaN if the paper gives none) and ``n`` (number of
        repeats); some tables have further columns that distinguish their lines, such as ``loss``.

    Raises
    ------
    boostbench.util.errors.UserError
        If the table is unknown.

    Examples
    --------
    >>> import boostbench
    >>> frame = boostbench.published("randomboost5")
    >>> frame.query("data == 'wine'").set_index("algo")["mean"].round(1).to_dict()["rboost_rank"]
    3.2
    """
    from boostbench.papers.published import published_frame

    return published_frame(table)


def __getattr__(name):
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = getattr(import_module("boostbench.algorithms"), name)
    return globals()[name]


def __dir__():
    return [*__all__, "__version__"]
