"""Comparison of an experiment with the definitions of the papers' tables.

``boostbench run`` shows the published number of the cell that is nearest to its experiment.
"""

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from boostbench.config.tables import TableDefinition, shipped_data, shipped_definition
from boostbench.papers.metadata import library
from boostbench.papers.published import Published, find_quantity
from boostbench.spec.experiment import CellKey, ExperimentConfig

#: Keys of data that affect no result: name, source and expected counts.
_SOURCE_KEYS = ("name", "openml", "sklearn", "expect")


class Reference(NamedTuple):
    """Published numbers of an experiment.

    Attributes
    ----------
    published : dict of str to Published
        Numbers by quantity; empty: no table of the paper has the experiment.
    departures : tuple of str
        Settings by which the experiment differs from the paper's table, see `departures`.
    """

    published: tuple[Published, ...]
    departures: tuple[str, ...]


def departures(defined: ExperimentConfig, config: ExperimentConfig) -> tuple[str, ...]:
    """Return the settings by which an experiment differs from its definition.

    Parameters
    ----------
    defined, config : ExperimentConfig
        Configs by the definition of a table, and by the request.

    Returns
    -------
    tuple of str
        Settings of the request, such as ``"algo.n_iterations=3"``. Seeds and numbers of splits do
        not count.
    """
    defaults, values = _comparable_settings(defined), _comparable_settings(config)
    differing = [key for key in {**defaults, **values} if defaults.get(key) != values.get(key)]
    return tuple(sorted(f"{key}={values.get(key)}" for key in differing))


def _comparable_settings(config: ExperimentConfig) -> dict[str, object]:
    """Return all settings that decide the results, under dotted keys.

    The number of splits is none of them, except as the number of folds: verdicts count the splits.
    """
    asked = msgspec.structs.replace(config.spec, seed=0).settings
    groups = {
        "data": {
            key: value for key, value in config.data.to_config().items() if key not in _SOURCE_KEYS
        },
        "protocol": asked["protocol"],
        "algo": asked["algo"] | {"grid": asked["grid"]},
    }
    settings = {
        f"{group}.{key}": value
        for group, content in groups.items()
        for key, value in content.items()
    }
    # Checkpoints are rounds at which errors are recorded; they do not affect the result.
    settings.pop("protocol.checkpoints", None)
    return settings | {"measure": config.measure}


def find_reference(config: ExperimentConfig) -> Reference:
    """Return the published numbers of the cell that is nearest to an experiment.

    Parameters
    ----------
    config : ExperimentConfig
        Config of the experiment; the name of its protocol names the paper.

    Returns
    -------
    Reference
        Empty if no table of the paper has the algorithm on the data set.
    """
    references = []
    for definition, key in _cells(config):
        defined = definition.compose(keys=[key])[key]
        rounds = definition.rounds[-1] if definition.rounds else None
        published = definition.find_published(*key, defined.algorithm, rounds)
        if find_quantity(published, definition.displayed_quantity().name):
            references.append(Reference(published, departures(defined, config)))
    return min(
        references, key=lambda reference: len(reference.departures), default=Reference((), ())
    )


def _cells(config: ExperimentConfig) -> Iterator[tuple[TableDefinition, CellKey]]:
    """Yield the cells of a paper's tables of the same algorithm and data set."""
    data, algo, paper = config.data.name, config.algorithm.name, config.protocol.name
    names = {table.definition for table in library().tables.values() if table.paper == paper} - {""}
    for name in sorted(names):
        # Most tables lack the data set, and checking a whole definition is slow.
        if data not in shipped_data(name):
            continue
        definition = shipped_definition(name)
        for row, column in definition.keys if definition.paper == paper else ():
            if (definition.rows[row].data, definition.columns[column].algo) == (data, algo):
                yield definition, (row, column)
