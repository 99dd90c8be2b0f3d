"""The data set that a record is of, whole or cut."""

import functools
import json
from collections.abc import Mapping

from boostbench.data.dataset import Dataset
from boostbench.data.loading import load
from boostbench.util import configs
from boostbench.util.errors import UserError


def find_data(facts: Mapping) -> Dataset:
    """Find the data set of a record.

    Parameters
    ----------
    facts : mapping
        ``data`` of the record's config.

    Raises
    ------
    UserError
        If it is not at hand, or no longer what it was.
    """
    dataset = _find(facts["name"], facts["checksum"], json.dumps(facts.get("cut", {})))
    if isinstance(dataset, UserError):
        raise dataset
    return dataset


# Few at a time, as some are large.
@functools.lru_cache(4)
def _find(name: str, checksum: str, cut: str) -> Dataset | UserError:
    given, is_known = json.loads(cut), name in configs.list_options("data")
    if not is_known and not given:
        return UserError(f"data set {name!r} has no config, so that it cannot be loaded")
    spec = configs.read_option("data", name) if is_known else {"name": name}
    try:
        dataset = load({**spec, **given})
    except UserError as error:
        return error
    if dataset.checksum == checksum:
        return dataset
    return UserError(f"data set {name!r} is no longer what it was: its checksum is another")
