"""What every measure has."""

from collections.abc import Collection, Mapping
from math import nan
from typing import ClassVar

import numpy as np

from boostbench.data.dataset import Dataset
from boostbench.fitting.quantities import Quantity, add_quantity
from boostbench.fitting.splits import Split, splits
from boostbench.fitting.stages import predictions
from boostbench.fitting.trial import Fit, Trial
from boostbench.records.schema import Measured
from boostbench.spec.protocol import ProtocolSpec
from boostbench.util.errors import UserError

#: CPU times that `boostbench.fitting.trial.Fit.times` gives.
FIT_TIMES = ("fit", "weak_learner", "coefficients", "calibration")


class Measure:
    """What is recorded of a fit; a subclass says at least what it is, by `take`.

    It has no state, so that it means the same in every worker.

    Attributes
    ----------
    suffix : str, default=""
        Of the names of its files of records, ``ALGO.SUFFIX.jsonl``; none for ``ALGO.jsonl``.
    settings : mapping, default={}
        What of it decides its records, in JSON types: joins the experiment's config.
    needs : tuple of str, default=("predict",)
        Methods that an estimator must have besides `fit`; of names with ``|`` between, one.
    kind : str, default="classifier"
        What such an estimator is called.
    judged_by : str, default=""
        By what cross-validation judges where that is not the share of errors: part of its keys.
    by_stage : bool, default=True
        Whether `loss` can judge a stage of a fit by its output. If not, numbers of rounds to choose
        from are fits of their own.
    takes_tables : bool, default=True
        Whether the estimator may see missing values and categories, if it takes them. If not, its
        features are those of the data set.
    form : type, default=Measured
        Type of its records, against which every line is checked.
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
    form: ClassVar[type[Measured]] = Measured
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
        """By which `boostbench.spec.measures.find` finds it."""
        module, own = type(self).__module__, f"{__package__}."
        return (
            module.removeprefix(own)
            if module.startswith(own)
            else (f"{module}.{type(self).__qualname__}")
        )

    def arrange(self, protocol: ProtocolSpec) -> ProtocolSpec:
        """Say what of a protocol matters here, whatever the data are, and refuse what does not fit.

        Records are filed and found by what it gives.

        Raises
        ------
        UserError
            If the protocol is not fit for this.
        """
        return protocol

    def check_data(self, dataset: Dataset) -> None:
        """Refuse data of which this cannot be measured.

        Raises
        ------
        UserError
            It says why.
        """

    def splits(self, dataset: Dataset, protocol: ProtocolSpec, seed: int) -> list[Split]:
        """Divide the data; by default as the protocol says."""
        return splits(dataset, protocol, seed)

    def take(self, trial: Trial, X, y: np.ndarray) -> dict:
        """Fit, and give what is to be recorded, in JSON types.

        Parameters
        ----------
        trial : Trial
            Its method `fit` fits.
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            Features of the whole data set.
        y : ndarray of shape (n_samples,)
            Labels of the whole data set.

        Raises
        ------
        Exception
            Any; it is recorded as the failure of this trial.
        """
        raise NotImplementedError

    def outputs(self, fit: Fit, rounds: Collection[int] = ()) -> dict[str, np.ndarray]:
        """Give what a fit says of the test part: what errors and digests are made of.

        Two fits are the same in the eyes of this measure if these arrays are. Here they are
        predicted labels.

        Parameters
        ----------
        fit : Fit
        rounds : collection of int, default=()
            Checkpoints, numbers of boosting rounds.

        Returns
        -------
        dict of str to ndarray
            The ``"end"``, and each checkpoint by its digits, see
            `boostbench.fitting.stages.predictions`.
        """
        return predictions(fit.estimator, fit.X_test, np.unique(fit.y_train), rounds)[0]

    def loss(self, fit: Fit, output: np.ndarray) -> float:
        """Judge one of the `outputs`: what cross-validation makes small; here, the error."""
        return float(np.mean(output != fit.y_test))

    def objective(self, record: Mapping) -> float:
        """Read off a record what a sweeper makes small; here, the test error, if there is one."""
        return record.get("test_error", nan)

    def check(self, cls: type) -> None:
        """Make sure that the instances of a class can be measured.

        Raises
        ------
        UserError
            If it lacks a method.
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
