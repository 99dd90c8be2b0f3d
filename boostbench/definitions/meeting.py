"""Which tables hold the algorithms that are to be compared, from the tables' definitions alone."""

from collections.abc import Collection, Mapping, Sequence

from boostbench import configs
from boostbench.definitions.table import Definition
from boostbench.errors import UserError, unknown
from boostbench.report.merge import find_column, join


def tables_with(
    names: Sequence[str], tables: Sequence[str] = (), data: Collection[str] = ()
) -> list[str]:
    """Choose the tables that hold all of some algorithms.

    Parameters
    ----------
    names : sequence of str
        Columns of tables, see `boostbench.report.merge.find_column`.
    tables : sequence of str, default=()
        Names of tables, or paths of YAML files; by default all of ``conf/table`` that hold them,
        those with the most data sets first. Tables in which a data set has several rows are then
        only chosen when there are no others.
    data : collection of str, default=()
        Rows that some of the tables must have.

    Returns
    -------
    list of str
        As in `tables`, or names.

    Raises
    ------
    UserError
        Unknown table, algorithm or row; or no table that holds all of them.
    """
    definitions = {name: Definition.read(name) for name in tables or configs.names("table")}
    columns = {name: _columns(definition) for name, definition in definitions.items()}
    holders = {
        name: [table for table in columns if find_column(columns[table], name)] for name in names
    }
    for name in names:
        if not holders[name]:
            raise _unknown(name, definitions)
    chosen = [table for table in definitions if all(table in held for held in holders.values())]
    for table in tables:
        lacking = join([name for name in names if table not in holders[name]] or [""])
        if lacking:
            raise UserError(f"table {table} has no {lacking}; it has {', '.join(columns[table])}")
    if not chosen:
        where = "; ".join(f"{name} is in {', '.join(held)}" for name, held in holders.items())
        raise UserError(f"no table holds {join(names)} together: {where}")
    if not tables:
        chosen = [t for t in chosen if not _repeats_data(definitions[t])] or chosen
        chosen.sort(key=lambda table: -len(_counted(definitions[table])))
    rows = {row for table in chosen for row in definitions[table].rows}
    for row in data:
        if row not in rows:
            raise unknown("data set of these tables", row, rows, listed=False)
    return chosen


def _columns(definition: Definition) -> list[str]:
    """List what the columns of a table are called."""
    rounds = [f"@{number}" for number in definition.rounds] or [""]
    return [f"{column}{suffix}" for column in definition.columns for suffix in rounds]


def _counted(definition: Definition) -> list[str]:
    return [row for row in definition.rows if row not in definition.published_as]


def _repeats_data(definition: Definition) -> bool:
    data = [definition.rows[row].data for row in _counted(definition)]
    return len(set(data)) < len(data)


def _unknown(name: str, definitions: Mapping[str, Definition]) -> UserError:
    """Make the error for what no column is called: an algorithm with several, or a misspelt one."""
    everywhere = [
        each for definition in definitions.values() for each in definition.columns.items()
    ]
    own = dict.fromkeys(column for column, variant in everywhere if variant.algo == name)
    if own:
        return UserError(
            f"{name!r} is ambiguous: columns of this algorithm are {', '.join(own)}; name those "
            "to be compared"
        )
    columns = {column for definition in definitions.values() for column in _columns(definition)}
    known = {column.partition("@")[0] for column in columns} | (columns if "@" in name else set())
    return unknown("algorithm", name, known, listed=False)
