"""Settings of others that are changed for a while."""

import random
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager


@contextmanager
def temporarily_set(values: MutableMapping, changes: Mapping) -> Iterator[None]:
    """Change some entries of a mapping, such as `os.environ`, and put them back."""
    old_values = {key: values.get(key) for key in changes}
    values.update(changes)
    try:
        yield
    finally:
        for key, value in old_values.items():
            if value is None:
                del values[key]
            else:
                values[key] = value


@contextmanager
def random_state_restored() -> Iterator[None]:
    """Put the state of Python's `random` back: importing rich draws numbers from it."""
    state = random.getstate()
    try:
        yield
    finally:
        random.setstate(state)
