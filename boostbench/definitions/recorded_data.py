"""The data set that a record is of: whole, or cut as tables and figures cut it."""

import functools
import json
from collections.abc import Mapping

from boostbench import configs
from boostbench.data.dataset import Dataset
from boostbench.data.load import load
from boostbench.definitions.table import all_definitions
from boostbench.errors import UserError


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
    dataset = _find(facts["name"], facts["checksum"], json.dumps(facts.get("cut")))
    if isinstance(dataset, UserError):
        raise dataset
    return dataset


# Few at a time, as some are large.
@functools.lru_cache(4)
def _find(name: str, checksum: str, cut: str) -> Dataset | UserError:
    given, is_known = json.loads(cut), name in configs.names("data")
    if not is_known and not given:
        return UserError(f"data set {name!r} has no config, so that it cannot be loaded")
    spec = configs.read("data", name) if is_known else {"name": name}
    for cut_of_name in ({}, *_cuts().get(name, ())) if given is None else (given,):
        try:
            dataset = load({**spec, **cut_of_name})
        except UserError as error:
            return error
        if dataset.checksum == checksum:
            return dataset
    return UserError(f"data set {name!r} is no longer what it was: its checksum is another")


@functools.cache
def _cuts() -> dict[str, list[dict]]:
    """Give what tables and figures set of data sets: older records do not say it."""
    known: dict[str, list[dict]] = {}
    for table in all_definitions().values():
        for row in table.rows.values():
            cut = {k[5:]: v for k, v in row.overrides.items() if k.startswith("data.")}
            known.setdefault(row.data, []).append(cut)
    for name in configs.names("figure"):
        figure = configs.read("figure", name)
        if figure.get("classes"):
            known.setdefault(figure["data"], []).append({"classes": list(figure["classes"])})
    return {
        name: [cut for i, cut in enumerate(cuts) if cut and cut not in cuts[:i]]
        for name, cuts in known.items()
    }
