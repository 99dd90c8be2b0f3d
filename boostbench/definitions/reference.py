"""What was asked, beside what the definition of a paper's table asks for."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from boostbench import configs
from boostbench.definitions.compose import experiments
from boostbench.definitions.table import TableDefinition
from boostbench.report.published import Published

# Without effect on results: what things are called, where data come from, and how they are checked;
# and at how many rounds the error is recorded besides the last.
_WITHOUT_EFFECT = {
    "data": {"name", "openml", "sklearn", "expect"},
    "protocol": {"name", "checkpoints"},
    "algo": {"name", "title", "paper"},
}


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
        Such as ``"protocol.n_splits=3"``. Seeds do not count.
    """
    found = []
    for group, ignored in _WITHOUT_EFFECT.items():
        then, now = defined[group], spec[group]
        for key in {**then, **now}.keys() - ignored:
            if then.get(key) != now.get(key):
                found.append(f"{group}.{key}={now.get(key)}")
    return tuple(sorted(found))


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
    cells = list(_cells(spec))
    defined = experiments([definition.cell(*key) for definition, key in cells])
    found = []
    for (definition, key), one in zip(cells, defined, strict=True):
        rounds = definition.rounds[-1] if definition.rounds else None
        published = definition.find_published(*key, one["algo"], rounds)
        if definition.shown().name in published:
            found.append(Reference(published, departures(one, spec)))
    return min(found, key=lambda one: len(one.departures), default=Reference({}, ()))


def _cells(spec: Mapping) -> Iterator[tuple[TableDefinition, tuple[str, str]]]:
    """Yield the cells of a paper's tables of the same algorithm and data set."""
    data, algo = spec["data"]["name"], spec["algo"]["name"]
    for name in configs.names("table"):
        definition = TableDefinition.read(name)
        if definition.paper != spec["protocol"]["name"]:
            continue
        for row, entry in definition.rows.items():
            for column, variant in definition.columns.items():
                if (entry.data, variant.algo) == (data, algo):
                    yield definition, (row, column)
