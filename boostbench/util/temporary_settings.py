"""Temporary changes of mappings, such as the environment, and of the state of `random`."""

import random
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
