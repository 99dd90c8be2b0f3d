"""Boosting algorithms of five papers, and a runner that reproduces their tables and figures.

The algorithms are imported when they are first asked for, so that the command line, which needs
none of them to answer, does not wait for scikit-learn.
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

__version__ = "1.0.0"


def results(folder="results"):
    """Read all splits on record.

    Parameters
    ----------
    folder : path-like, default="results"
        Folder of the results.

    Returns
    -------
    pandas.DataFrame
        A row for each split, finished or failed, in the order of data set, algorithm, settings and
        split. What is wrong with the files are its ``attrs["warnings"]``. Columns:

        - ``data`` (name; where several data sets have one, also in what they differ, such as
          ``data (a/data.csv)``), ``algo`` (name), ``measure`` (kind of the file, ``prediction``
          where it has none), ``seed``, ``split``, ``n_train``, ``n_test``;
        - results, NaN where a record does not tell: ``test_error``, ``accuracy`` and
          ``balanced_accuracy`` in percent; ``log_loss`` in nats; ``mean_average_precision``,
          ``brier``, ``auc``; ``n_iterations`` (rounds), ``n_nonzero`` (coefficients that are not
          0), ``n_parameters``;
        - CPU times: ``fit`` and its parts ``weak_learner`` and ``coefficients`` in seconds,
          ``predict_per_instance`` and ``hash_per_instance`` in microseconds, ``calibration`` (the
          reference job, which tells how fast the machine is) in seconds;
        - shares of 1: ``train_error``, ``validation_error`` (of the chosen hyper-parameters, in
          cross-validation) and ``checkpoints`` (test errors by rounds, as JSON);
        - as JSON, ``chosen`` (hyper-parameters) and ``settings`` (what is not at its default);
        - ``error`` of a failure; ``digest`` of the predictions; and where it comes from:
          ``config``, ``checksum`` of the data, ``rows``, ``edition``, ``commit``, ``cpu``,
          ``finished``.

    Raises
    ------
    boostbench.util.errors.UserError
        If nothing is on record.
    """
    from boostbench.report.frame import read_frame

    frame, frame.attrs["warnings"] = read_frame(folder)
    return frame


def predictions(folder="results"):
    """Read all predictions that ``measure=predictions`` has kept.

    Parameters
    ----------
    folder
        As of `results`.

    Returns
    -------
    pandas.DataFrame
        A row for each tested sample: ``data``, ``algo``, ``settings`` (what is not at its default,
        as JSON), ``split``, ``row`` of the data set, from 0; ``truth`` and ``predicted``, numbers
        of classes in the order of their labels, from 0; and, where there are probabilities,
        ``p0``, ``p1``, ... of each class. What is wrong with the files are its
        ``attrs["warnings"]``.

    Raises
    ------
    boostbench.util.errors.UserError
        If none are on record.
    """
    from boostbench.report.frame import predictions_frame

    frame, frame.attrs["warnings"] = predictions_frame(folder)
    return frame


def published(table=None):
    """Read the numbers that the papers print.

    Parameters
    ----------
    table : str, default=None
        Name of a table, such as ``"randomboost5"``; by default all.

    Returns
    -------
    pandas.DataFrame
        A row for each number: ``table`` (as in ``conf/table``), ``paper``, ``number`` (what the
        paper calls the table by), ``data`` and ``algo`` (names, as in ``conf``), ``quantity`` (a
        column of `results`), ``unit``, ``mean``, ``std`` (NaN where the paper gives none) and
        ``n``, the number of repeats; between them, columns of what else tells lines of the table
        apart, such as ``loss``.

    Raises
    ------
    boostbench.util.errors.UserError
        An unknown table.

    Examples
    --------
    >>> import boostbench
    >>> frame = boostbench.published("randomboost5")
    >>> frame.query("data == 'wine'").set_index("algo")["mean"].round(1).to_dict()["rboost_rank"]
    3.2
    """
    from boostbench.report.frame import published_frame

    return published_frame(table)


def __getattr__(name):
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = getattr(import_module("boostbench.algorithms"), name)
    return globals()[name]


def __dir__():
    return [*__all__, "__version__"]
