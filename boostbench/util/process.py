"""State of this process: temporary changes, and the end of its workers."""

import random
import sys
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager


@contextmanager
def temporarily_set(values: MutableMapping, **changes: object) -> Iterator[None]:
    """Change entries of a mapping, such as `os.environ`, and restore them after the block.

    Entries that did not exist before are removed.
    """
    old_values = {key: values[key] for key in changes if key in values}
    values.update(changes)
    try:
        yield
    finally:
        for key in changes.keys() - old_values.keys():
            values.pop(key, None)
        values.update(old_values)


@contextmanager
def random_state_restored() -> Iterator[None]:
    """Restore the state of Python's `random` after a block: importing rich draws numbers."""
    state = random.getstate()
    try:
        yield
    finally:
        random.setstate(state)


def end_workers() -> None:
    """End joblib's worker processes at once, if there are any: they would take a second to end."""
    if "joblib.externals.loky.reusable_executor" not in sys.modules:
        return
    from multiprocessing import active_children

    from joblib.externals.loky.reusable_executor import get_reusable_executor

    # scikit-learn imports loky. A request for the executor would start one if there is none.
    if active_children():
        # joblib's method, which also removes the folder of arrays that workers have mapped.
        get_reusable_executor(reuse=True).terminate(kill_workers=True)
