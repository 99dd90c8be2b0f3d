"""What was asked, beside what the definition of a paper's table asks for."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from boostbench.config.tables import Key, TableDefinition, shipped_data, shipped_definition
from boostbench.papers.metadata import tables
from boostbench.papers.published import Published
from boostbench.spec.experiment import ExperimentSpec

# Of data: what they are called, where they come from and how they are checked.
_SOURCE = ("name", "openml", "sklearn", "expect")


class Reference(NamedTuple):
    """What a paper says of an experiment, and what is not as its table has it."""

    published: Mapping[str, Published]
    departures: tuple[str, ...]


def departures(defined: Mapping, spec: Mapping) -> tuple[str, ...]:
    """Tell what makes an experiment another one than that of a definition.

    Parameters
    ----------
    defined, spec : mapping
        Resolved configs: as a table's definition has it, and as it was asked for.

    Returns
    -------
    tuple of str
        Such as ``"algo.n_iterations=3"``. Seeds and numbers of splits do not count.
    """
    then, now = _asked(defined), _asked(spec)
    keys = {**then, **now}
    return tuple(sorted(f"{k}={now.get(k)}" for k in keys if then.get(k) != now.get(k)))


def _asked(spec: Mapping) -> dict[str, object]:
    """Return all settings that decide the results, under dotted keys.

    The number of splits is none of them, except as the number of folds: verdicts count the splits.
    """
    asked = ExperimentSpec.from_config({**spec, "seed": 0}).settings
    groups = {
        "data": {key: value for key, value in spec["data"].items() if key not in _SOURCE},
        "protocol": asked["protocol"],
        "algo": asked["algo"] | {"grid": asked["grid"]},
    }
    settings = {
        f"{group}.{key}": value for group, own in groups.items() for key, value in own.items()
    }
    # At how many rounds the error is recorded besides the last decides nothing.
    settings.pop("protocol.checkpoints", None)
    return settings | {"measure": spec["measure"]}


def find_reference(spec: Mapping) -> Reference:
    """Find the cell of a paper's table that is nearest to an experiment.

    Parameters
    ----------
    spec : mapping
        Resolved config; the protocol's name says of which paper.

    Returns
    -------
    Reference
        Without any number where no table of the paper holds the algorithm on the data set.
    """
    references = []
    for definition, key in _cells(spec):
        defined = definition.compose(keys=[key])[key]
        rounds = definition.rounds[-1] if definition.rounds else None
        published = definition.find_published(*key, defined["algo"], rounds)
        if definition.displayed_quantity().name in published:
            references.append(Reference(published, departures(defined, spec)))
    return min(
        references, key=lambda reference: len(reference.departures), default=Reference({}, ())
    )


def _cells(spec: Mapping) -> Iterator[tuple[TableDefinition, Key]]:
    """Yield the cells of a paper's tables of the same algorithm and data set."""
    data, algo, paper = (spec[group]["name"] for group in ("data", "algo", "protocol"))
    names = {table.definition for table in tables().values() if table.paper == paper} - {""}
    for name in sorted(names):
        # Most definitions lack the data set, and reading all of a definition is slow.
        if data not in shipped_data(name):
            continue
        definition = shipped_definition(name)
        for row, column in definition.keys if definition.paper == paper else ():
            if (definition.rows[row].data, definition.columns[column].algo) == (data, algo):
                yield definition, (row, column)
