"""Base class of measures.

A measure names the packages that fit in annotations only, so that reading records, which needs the
facts of measures, does not import them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from boostbench.fitting.quantities import Quantity, add_quantity
from boostbench.fitting.stages import predictions
from boostbench.records.fit_results import Results, SplitRecord
from boostbench.spec.measures import MEASURES, name_of_class
from boostbench.util.errors import UserError

if TYPE_CHECKING:
    from boostbench.data.dataset import Dataset
    from boostbench.fitting.splits import Split
    from boostbench.fitting.trial import Fit, Trial
    from boostbench.spec.protocol import ProtocolSpec

#: CPU times that `boostbench.fitting.trial.Fit.times` returns.
FIT_TIMES = ("fit", "weak_learner", "coefficients", "calibration")


class Measure:
    """Definition of the results that are recorded of a fit; a subclass has to define `take`.

    A measure has no state, so that it is the same in every worker process. A subclass may override
    these methods:

    ==============  =======================  =============================  =================
    Method          Called                   Arguments                      Returns
    ==============  =======================  =============================  =================
    `arrange`       for the keys of records  protocol of the config         protocol
    `check`         before an experiment     class of the estimator         None, or raises
    `check_data`    before an experiment     data set                       None, or raises
    `splits`        once for an experiment   data set, protocol, seed       splits, or None
    `take`          for each split           trial, all features, labels    results
    `outputs`       after a fit              fit, checkpoints               arrays by name
    `loss`          to judge an output       fit, one of its outputs        loss
    ==============  =======================  =============================  =================

    Attributes
    ----------
    suffix : str, default=""
        Suffix of its record files, ``ALGO.SUFFIX.jsonl``; empty for ``ALGO.jsonl``.
    settings : mapping, default={}
        Settings that affect its results, as JSON types. They join the experiment's config.
    needs : tuple of str, default=("predict",)
        Methods that an estimator must have besides `fit`. ``"predict_proba|decision_function"``
        stands for one of the two methods.
    kind : str, default="classifier"
        Name of estimators with these methods, for error messages.
    judged_by : str, default=""
        Name of the criterion of cross-validation, part of the keys of records. Empty: the error
        rate.
    by_stage : bool, default=True
        Whether `loss` judges the model after any number of boosting rounds, so that one fit serves
        all numbers of rounds in a grid. False: each number needs a fit of its own.
    takes_tables : bool, default=True
        True: the estimator may get missing values and categories. False: the features are filled
        and encoded.
    form : type, default=SplitRecord
        Type of its records, against which each line of a file is checked; see
        `boostbench.records.fit_results.record_type`.
    quantity : str, default="test_error"
        Name of the quantity that tables and summaries show by default.
    quantities : tuple of str or Quantity, default=None
        Quantities of its records: names of `boostbench.fitting.quantities.QUANTITIES`, and new
        quantities, which are added there. None: any quantity may be recorded.
    has_checkpoints : bool, default=False
        Whether its records have test errors after several numbers of boosting rounds.
    """

    suffix: ClassVar[str] = ""
    settings: ClassVar[Mapping] = {}
    needs: ClassVar[tuple[str, ...]] = ("predict",)
    kind: ClassVar[str] = "classifier"
    judged_by: ClassVar[str] = ""
    by_stage: ClassVar[bool] = True
    takes_tables: ClassVar[bool] = True
    form: ClassVar[type[SplitRecord]] = SplitRecord
    quantity: ClassVar[str] = "test_error"
    quantities: ClassVar[tuple[str | Quantity, ...] | None] = None
    has_checkpoints: ClassVar[bool] = False

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        for quantity in cls.quantities or ():
            if isinstance(quantity, Quantity):
                add_quantity(quantity)

    def has_quantity(self, name: str) -> bool:
        """Return True if records of this measure have a quantity, or may have it."""
        if self.quantities is None:
            return True
        return any(name == getattr(quantity, "name", quantity) for quantity in self.quantities)

    @property
    def name(self) -> str:
        """Name by which `boostbench.spec.measures.find` finds the measure."""
        cls = type(self)
        if cls.__module__.startswith(f"{MEASURES}."):
            return name_of_class(cls.__name__)
        return f"{cls.__module__}.{cls.__qualname__}"

    def arrange(self, protocol: ProtocolSpec) -> ProtocolSpec:
        """Return a protocol with the settings that affect the results of this measure.

        Settings without effect get their defaults, as the keys of records depend on the protocol.

        Raises
        ------
        UserError
            If the measure cannot follow the protocol.
        """
        return protocol

    def check_data(self, dataset: Dataset) -> None:
        """Raise an error for data that this measure does not support.

        Raises
        ------
        UserError
            If the data are not supported; the message gives the reason.
        """

    def splits(self, dataset: Dataset, protocol: ProtocolSpec, seed: int) -> list[Split] | None:
        """Return the splits of the data; None: the splits of the protocol."""
        return None

    def take(self, trial: Trial, X, y: np.ndarray) -> Results:
        """Fit, and return the results to record, as a struct.

        A measure of a user may return a mapping of names to JSON values instead, see
        `boostbench.records.fit_results.SplitResults.from_dict`.

        Parameters
        ----------
        trial : Trial
            Trial, whose method `fit` fits.
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            Features of the whole data set.
        y : ndarray of shape (n_samples,)
            Labels of the whole data set.

        Raises
        ------
        Exception
            An error of any type, which is recorded as the failure of the trial.
        """
        raise NotImplementedError

    def outputs(self, fit: Fit, rounds: Collection[int] = ()) -> dict[str, np.ndarray]:
        """Return the outputs of a fit for the test part, by default the predicted labels.

        Errors and digests are computed from the outputs. Two fits with equal outputs are the same.

        Parameters
        ----------
        fit : Fit
        rounds : collection of int, default=()
            Checkpoints, numbers of boosting rounds.

        Returns
        -------
        dict of str to ndarray
            Outputs at the ``"end"``, and at each checkpoint by its digits, see
            `boostbench.fitting.stages.predictions`.
        """
        predicted = predictions(fit.estimator, fit.X_test, np.unique(fit.y_train), rounds)
        # Checkpoints beyond the limit of rounds have no predictions.
        at_checkpoints = zip(map(str, rounds), predicted.at_checkpoints, strict=False)
        return {"end": predicted.end, **dict(at_checkpoints)}

    def loss(self, fit: Fit, output: np.ndarray) -> float:
        """Return the loss that cross-validation minimises, by default the error rate.

        Parameters
        ----------
        fit : Fit
        output : ndarray of shape (n_test, ...)
            One of `outputs`.
        """
        return float(np.mean(output != fit.y_test))

    def check(self, cls: type) -> None:
        """Raise an error if a class lacks a method that this measure needs.

        Raises
        ------
        UserError
            If the class lacks a method.
        """
        lacking = [
            need.replace("|", " or ")
            for need in ("fit", *self.needs)
            if not any(hasattr(cls, method) for method in need.split("|"))
        ]
        if lacking:
            raise UserError(
                f"algo._target_={cls.__module__}.{cls.__qualname__} is no {self.kind}: "
                f"it has no {' and no '.join(lacking)}"
            )
