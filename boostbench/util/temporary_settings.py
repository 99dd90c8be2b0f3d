"""Settings of others that are changed for a while."""

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
