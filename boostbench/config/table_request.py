"""A table as it is asked for: its definition, and the experiment of each cell."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from boostbench.config.file_name import file_name
from boostbench.config.reference import departures
from boostbench.config.tables import Key, TableDefinition
from boostbench.spec import measures
from boostbench.spec.experiment import ExperimentSpec
from boostbench.util.configs import list_options
from boostbench.util.errors import UserError
from boostbench.util.user_paths import slug

#: Overrides that change where and how a table is made, and not what is in it.
_WITHOUT_EFFECT = ("results=", "rerun=", "shard=", "parallel=", "parallel.")


@dataclass(frozen=True)
class TableRequest:
    """What is asked of a table.

    Attributes
    ----------
    definition : TableDefinition
        What it shows, of the rows and columns that are asked for.
    specs : dict
        Resolved configs by row and column.
    name, title : str
        Name of its files, and heading.
    changes : list of str
        What is not as the table is defined, in the first row of which that is so:
        ``["protocol.n_splits=3"]``.
    departures : dict of Key to tuple of str
        What makes each cell another experiment than the one that is defined.
    settings : list of str
        Overrides that change the numbers.
    """

    definition: TableDefinition
    specs: Mapping[Key, dict]
    name: str
    title: str
    changes: list[str] = field(default_factory=list)
    departures: Mapping[Key, tuple[str, ...]] = field(default_factory=dict)
    settings: list[str] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        definition: TableDefinition,
        overrides: Sequence[str] = (),
        rows: Sequence[str] = (),
        columns: Sequence[str] = (),
    ) -> "TableRequest":
        """Compose the configs of a table.

        Parameters
        ----------
        definition : TableDefinition
            The whole table.
        overrides : sequence of str, default=()
            Hydra overrides for every cell. Those that change what is in the table change its name
            too.
        rows, columns : sequence of str, default=()
            Those that are asked for, see `TableDefinition.part`; all if there are none.

        Raises
        ------
        UserError
            For what the definition does not have or does not run, or Hydra refuses, or rounds after
            which nothing is recorded, or a quantity that is not recorded.
        """
        part = definition.part(rows, columns)
        part.keys_run()
        specs = part.compose(overrides)
        for key, spec in specs.items():
            with part.naming(*key):
                _check(part, spec)
        settings = [each for each in overrides if not each.startswith(_WITHOUT_EFFECT)]
        changes, different = _changes(part, specs) if settings else ([], {})
        if not changes:
            settings = []
        return cls(
            definition=part,
            specs=specs,
            name=file_name([part.name, *rows, *columns, *map(_slug, settings)]),
            title=part.title + _limits(next(iter(specs.values()))["profile"]),
            changes=changes,
            departures=different,
            settings=settings,
        )

    def command(self, row: str, column: str) -> str:
        """Return the command that makes a cell again, in a results folder of its own."""
        definition = self.definition
        name = definition.name if definition.name in list_options("table") else definition.path
        part = ["--row", row, "--column", column, "rerun=all", "results=again"]
        return shlex.join(["boostbench", "table", name, *self.settings, *part])

    @property
    def common(self) -> Mapping:
        """The config of the first cell: says where results go, and how all cells run."""
        return next(iter(self.specs.values()))

    @property
    def results(self) -> Path:
        """Folder of the records."""
        return Path(self.common["results"])

    @property
    def experiments(self) -> dict[Key, dict]:
        """Those of the configs that are run at all."""
        return {key: spec for key, spec in self.specs.items() if self.definition.runs(*key)}


def _limits(profile: Mapping) -> str:
    """Say in a title that a profile limits what is run: `` (quick: at most 3 splits)``."""
    if profile["name"] == "paper":
        return ""
    limits = {
        "splits": profile["protocol"].get("n_splits"),
        "rounds": profile["algo"].get("all", {}).get("n_iterations"),
    }
    most = ", ".join(f"{number} {what}" for what, number in limits.items() if number)
    return f" ({profile['name']}{most and f': at most {most}'})"


def _check(definition: TableDefinition, spec: Mapping) -> None:
    """Refuse parameters that a class does not take, and numbers that are not recorded."""
    experiment = ExperimentSpec.from_config(spec)
    measure = measures.find(experiment.measure)
    checkpoints = experiment.protocol.checkpoints if measure.has_checkpoints else ()
    unknown = set(definition.rounds) - set(checkpoints)
    if unknown:
        rounds = ", ".join(map(str, sorted(unknown)))
        advice = "add them to the table's overrides: protocol.checkpoints=[...]"
        if not measure.has_checkpoints:
            advice = f"measure={measure.name} records the last round alone"
        raise UserError(f"no test error is recorded after {rounds} rounds; {advice}")
    name = definition.shown(measure.quantity).name
    if not measure.has_quantity(name):
        others = sorted(measures.names(), key=lambda other: other != "prediction")
        suitable = [
            f"measure={other}" for other in others if measures.find(other).has_quantity(name)
        ]
        advice = f"add {suitable[0]} to the table's overrides" if suitable else "no measure does"
        raise UserError(f"measure={measure.name} records no {name}; {advice}")


def _changes(
    definition: TableDefinition, specs: Mapping[Key, dict]
) -> tuple[list[str], dict[Key, tuple[str, ...]]]:
    """Compare configs with those of the definition alone: `changes` and `departures`."""
    defined = definition.compose()
    changes = {}
    for row in definition.rows:
        for column in definition.columns:
            then, now = _values(defined[row, column]), _values(specs[row, column])
            changes |= {f"{key}={value}": 0 for key, value in now.items() if then.get(key) != value}
        # One will do: a row may be defined as all are asked for.
        if changes:
            break
    different = {key: departures(defined[key], spec) for key, spec in specs.items()}
    return list(changes), different


def _values(spec: Mapping) -> dict[str, object]:
    """Give each value of a config that decides what is in a table, under its dotted key."""
    values = {"profile": spec["profile"]["name"], "seed": spec["seed"], "measure": spec["measure"]}
    for group in ("data", "protocol", "algo"):
        values |= {f"{group}.{key}": value for key, value in spec[group].items()}
    return values


def _slug(override: str) -> str:
    """Shorten an override for a file name: ``protocol=quick`` to ``quick``.

    Examples
    --------
    >>> _slug("protocol=quick"), _slug("algo.n_iterations=5"), _slug("algo.grid.nu=[1e-3,1e-4]")
    ('quick', 'n_iterations=5', 'nu=1e-3,1e-4')
    """
    key, _, value = override.lstrip("+~").partition("=")
    short = f"{key.rpartition('.')[2]}={value}" if "." in key else value
    return slug(short, ".=,-", "")[:60]
