"""Coefficient paths as records: the L1-constrained one, and that of boosting by tiny steps."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from boostbench.core.l1_path import l1_constrained_path, stage_wise_path
from boostbench.core.losses.margin import LOSSES, get_loss
from boostbench.data.dataset import Dataset
from boostbench.errors import UserError
from boostbench.experiment.code import fingerprint
from boostbench.experiment.plan import Experiment
from boostbench.experiment.protocol import Protocol
from boostbench.experiment.records import digest
from boostbench.experiment.splits import Split
from boostbench.experiment.trial import Trial

# As in Figure 1 of the MCBoost paper.
N_STUMPS = 8
STEP = 0.01
N_ROUNDS = 1000

# The paths are recorded after each so many steps.
_EVERY = 20
_DECIMALS = 5


class PathExperiment(Experiment):
    """The coefficients of a few stumps, by the L1 norm of all, with each loss.

    The stumps are those that an algorithm finds first on single features of a drawing from the
    data; nothing is held back for a test.
    """

    @classmethod
    def from_config(cls, config: Mapping, dataset: Dataset) -> "PathExperiment":
        """Make an experiment from the resolved configuration and the loaded data.

        Parameters
        ----------
        config : mapping
            As for `Experiment`; of the protocol, how samples are drawn.
        dataset : Dataset
            Of dense features.

        Raises
        ------
        UserError
            If the configuration or the data set is not fit for this.
        """
        if dataset.is_sparse:
            raise UserError(
                f"coefficient paths need dense features, and {dataset.name!r} is sparse"
            )
        asked = Protocol.from_config(config["protocol"])
        drawn = Protocol(
            n_splits=1,
            sampling=asked.sampling,
            samples_per_class=asked.samples_per_class,
            scale="none",  # to stumps it is all the same
            tune="none",
            checkpoints=(),
        )
        return replace(super().from_config(config, dataset), protocol=drawn)

    @cached_property
    def config(self) -> dict:
        """All that decides the record, in JSON types."""
        path = {"n_stumps": N_STUMPS, "step": STEP, "n_rounds": N_ROUNDS, "every": _EVERY}
        return {**super().config, "path": path}

    @cached_property
    def fingerprint(self) -> str:
        """Name of the code as it is now: the estimator's, and that of the paths."""
        return digest([super().fingerprint, fingerprint(l1_constrained_path)])

    def trial(self, split: Split, chosen: Mapping) -> Trial:
        """Plan the computation of the paths."""
        return PathTrial(**vars(super().trial(split, chosen)))

    def path(self, results: Path, tuning: bool = False) -> Path:
        """Give the file of the records: ``ALGO.path.jsonl``."""
        return super().path(results, tuning).with_suffix(".path.jsonl")


@dataclass(frozen=True)
class PathTrial(Trial):
    """Stumps of a fit on both parts, and the paths of their coefficients."""

    def measure(self, X, y: np.ndarray) -> dict:
        """Find the stumps and follow their coefficients.

        Returns
        -------
        dict
            In JSON types: ``norms``, ascending; ``stumps``, each with ``feature`` (counted from 0)
            and ``threshold``; by loss, ``paths`` of the coefficients, ``exact`` and
            ``stage_wise``, of shape (n_norms, n_classes, n_stumps).
        """
        rows = np.sort(np.concatenate([self.train, self.test]))
        X, y = X[rows], y[rows]
        stumps, H = self._stumps(X, y)
        own = np.unique(y)[:, None] == y

        recorded = np.arange(_EVERY, N_ROUNDS + 1, _EVERY)
        norms = recorded * STEP
        paths = {}
        for name in sorted(LOSSES):
            loss = get_loss(name)
            steps = stage_wise_path(H, own, loss, N_ROUNDS, STEP)[recorded - 1]
            exact = l1_constrained_path(H, own, loss, norms)
            paths[name] = {
                "exact": exact.round(_DECIMALS).tolist(),
                "stage_wise": steps.round(_DECIMALS).tolist(),
            }
        return {
            "norms": norms.round(_DECIMALS).tolist(),
            "stumps": stumps,
            "paths": paths,
        }

    def _stumps(self, X: np.ndarray, y: np.ndarray) -> tuple[list[dict], np.ndarray]:
        """Find the best stump of each of some features drawn at random, and its outputs on X.

        The best stumps of all features would not do: a few of them may tell all classes apart.
        """
        stumps, H = [], []
        for feature in np.random.default_rng(self.seed).permutation(X.shape[1]):
            alone = X[:, [feature]]
            found = self.algorithm.build(self.seed, **self.chosen).fit(alone, y).hypotheses_
            if len(found):
                outputs = found.outputs(alone)[:, 0]
                if not any((outputs == h).all() or (outputs == -h).all() for h in H):
                    stumps.append({"feature": int(feature), "threshold": float(found.threshold[0])})
                    H.append(outputs)
            if len(H) == N_STUMPS:
                return stumps, np.array(H)
        raise ValueError(f"only {len(H)} different stumps, of {N_STUMPS}; take other data")
