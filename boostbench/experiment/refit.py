"""Fit again what is on record, by the code of one checkout: the far end of ``boostbench certify``.

``python -m boostbench.experiment.refit`` reads jobs from stdin, each a line of JSON, and answers
each by a line on stdout. Later commits start it in a checkout of this one, so that what is read and
written here must stay as it is. A job is a mapping of

- ``measure``: ``prediction``, ``boundary``, ``feature_use`` or ``paths``;
- ``points``: of a cross-validation trial, the points of the grid; else None;
- ``target``, ``params``, ``grid``: the estimator's class and its parameters;
- ``chosen``: parameters that replace those;
- ``protocol``: as in the config of a record;
- ``split``, ``split_seed``: number of the split or of the fold, and the seed of the estimator;
- ``train``, ``test``: row numbers; without them only ``code`` is answered;
- ``data``: a folder with ``X.npy`` or ``X.npz``, and ``y.npy``, the numbers of the classes.

The first line that is written describes the process: ``package``, where boostbench was imported
from, and ``environment``. Answers have ``code`` (fingerprint), ``seconds`` (CPU), ``outcome`` (what
a record would hold) and ``outputs``, by checkpoint and at the ``end``, or by point: what the error
is made of, as `encode` writes it; or they have ``error``, its type and first line.

Nothing of boostbench is imported before `main` runs: checkouts from before this file existed are
served by it too, see `boostbench.experiment.certify.first_schema`.
"""

import base64
import copy
import functools
import json
import os
import queue
import signal
import sys
import threading
import time
import warnings
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits


class Surface(NamedTuple):
    """What of a checkout's own code is called.

    Attributes
    ----------
    environment : callable
        ``environment(package)``, a description of the machine and the libraries.
    code : callable
        ``code(job)``, the fingerprint.
    carry_out : callable
        ``carry_out(job, X, y)``, which gives the outcome in JSON types and the outputs as arrays.
    """

    environment: Callable[[str], dict]
    code: Callable[[Mapping], str]
    carry_out: Callable


def main(surface: Surface | None = None) -> None:
    """Answer jobs until stdin ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent stops its children
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what an estimator prints is no answer
    surface = _surface() if surface is None else surface
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(lines,), daemon=True).start()
    import boostbench

    hello = {
        "package": str(Path(boostbench.__file__).resolve().parent),
        "environment": surface.environment("boostbench"),
    }
    print(json.dumps(hello), file=answers, flush=True)
    while True:
        print(json.dumps(answer(json.loads(lines.get()), surface)), file=answers, flush=True)


def answer(job: Mapping, surface: Surface) -> dict:
    """Carry out a job; what the estimator raises is the answer too."""
    started = time.process_time()
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        try:
            found = {"code": surface.code(job)}
            if "train" in job:
                outcome, outputs = surface.carry_out(job, *_data(job["data"]))
                found["outcome"] = outcome
                found["outputs"] = {name: encode(array) for name, array in outputs.items()}
        except Exception as error:
            return {"error": _reason(error)}
    return {**found, "seconds": round(time.process_time() - started, 3)}


def encode(array: np.ndarray) -> str:
    """Write an array as text: its type, and its bytes, deflated, in base 64.

    Examples
    --------
    >>> decode(encode(np.array([0, 2, 1]))).tolist()
    [0, 2, 1]
    """
    array = np.ascontiguousarray(array)
    body = base64.b64encode(zlib.compress(array.tobytes())).decode()
    return f"{array.dtype.str}{list(array.shape)}:{body}"


def decode(text: str) -> np.ndarray:
    """Read what `encode` wrote."""
    kind, _, body = text.partition(":")
    dtype, _, shape = kind.partition("[")
    array = np.frombuffer(zlib.decompress(base64.b64decode(body)), dtype)
    return array.reshape(json.loads(f"[{shape}"))


def _reason(error: BaseException | None) -> str:
    """Give type and first line of an error, and of those that led to it."""
    found = {}
    while error is not None:
        found[f"{type(error).__name__}: {error}".partition("\n")[0]] = True
        error = error.__cause__ or error.__context__
    return "; ".join(found)


@functools.lru_cache(1)
def _data(folder: str) -> tuple:
    dense = Path(folder, "X.npy")
    if dense.exists():
        X = np.load(dense, mmap_mode="r").view(np.ndarray)
    else:
        X = sparse.load_npz(dense.with_suffix(".npz"))
    return X, np.load(dense.with_name("y.npy"))


def _receive(lines: queue.SimpleQueue) -> None:
    for line in sys.stdin:
        lines.put(line)
    os._exit(0)  # the parent is gone, or has had enough: not a moment longer


def _surface() -> Surface:
    from boostbench.experiment import measures
    from boostbench.experiment.algorithm import Algorithm
    from boostbench.experiment.code import made_by
    from boostbench.experiment.environment import environment
    from boostbench.experiment.protocol import Protocol
    from boostbench.experiment.splits import Split
    from boostbench.experiment.trial import Trial
    from boostbench.experiment.tuning import trials

    def code(job):
        Algorithm("", job["target"]).locate()
        algo = {"_target_": job["target"], **job["params"]}
        measure = measures.find(job["measure"])
        return made_by({"algo": algo, "protocol": job["protocol"]}, type(measure))

    def carry_out(job, X, y):
        algorithm = Algorithm("", job["target"], job["params"], job["grid"])
        rows = (np.asarray(job[part], np.int64) for part in ("train", "test"))
        split = Split(job["split"], job["split_seed"], *rows)
        measure, seen = _seeing(measures.find(job["measure"]))
        trial = Trial(
            algorithm, job["chosen"], split, Protocol.from_config(job["protocol"]), measure
        )
        if job["points"]:
            [trial] = trials(trial, job["points"])
            return trial.measure.take(trial, X, y), _by_point(seen)
        fits = _catching(trial)
        outcome = measure.take(trial, X, y)
        if "digests" not in outcome:  # all that matters is in the outcome
            return outcome, {}
        return outcome, measure.outputs(fits[-1], trial.protocol.checkpoints)

    return Surface(environment, code, carry_out)


def _seeing(measure) -> tuple:
    """Copy a measure, and list what it is going to give as outputs."""
    measure, seen = copy.copy(measure), []
    give = measure.outputs

    def outputs(*arguments):
        seen.append(give(*arguments))
        return seen[-1]

    measure.outputs = outputs
    return measure, seen


def _by_point(seen: list[dict]) -> dict:
    """Number the outputs at the points of a warm-started path; those of one fit are as they are."""
    return seen[0] if len(seen) == 1 else {str(i): one["end"] for i, one in enumerate(seen)}


def _catching(trial) -> list:
    """List the fits that a trial is going to make."""
    fits, fit = [], trial.fit

    def catch(*arguments, **overrides):
        fits.append(fit(*arguments, **overrides))
        return fits[-1]

    object.__setattr__(trial, "fit", catch)
    return fits


if __name__ == "__main__":
    main()
