"""What ``conf/table/*.yaml`` says of a table."""

from dataclasses import dataclass
from pathlib import Path

import yaml

from boostbench import configs
from boostbench.errors import UserError, unknown
from boostbench.report.published import Published, find


@dataclass(frozen=True)
class Definition:
    """A table as ``conf/table/*.yaml`` defines it.

    Attributes
    ----------
    name : str
        Name of the file.
    title : str
        Heading.
    rows, columns : dict of str to list of str
        Data sets and algorithms, each with the overrides that hold for it alone.
    overrides : list of str
        Hydra overrides that hold for all cells.
    published : str or None
        Name of the published table.
    published_as : dict of str to str
        Published name of a data set that is a second version of the same data.
    """

    name: str
    title: str
    rows: dict[str, list[str]]
    columns: dict[str, list[str]]
    overrides: list[str]
    published: str | None
    published_as: dict[str, str]

    @classmethod
    def read(cls, name: str) -> "Definition":
        """Read a table's definition.

        Parameters
        ----------
        name : str
            Name of a file in ``conf/table``, or path of any YAML file.

        Raises
        ------
        UserError
            No such table, or one whose keys are not those of a table.
        """
        path = Path(name)
        if path.suffix != ".yaml":
            if name not in configs.names("table"):
                raise unknown("table", name, configs.names("table"))
            path = configs.conf_dir() / "table" / f"{name}.yaml"
        try:
            content = yaml.safe_load(path.read_text(encoding="utf-8"))
        except (OSError, yaml.YAMLError) as error:
            raise UserError(
                f"cannot read the table {path}: {' '.join(str(error).split())}"
            ) from None
        wanted = {"title", "rows", "columns", "overrides", "published", "published_as"}
        if not isinstance(content, dict) or not {"title", "rows", "columns"} <= content.keys():
            raise UserError(f"{path} is not a table: it needs title, rows and columns")
        if not content.keys() <= wanted:
            strange = ", ".join(sorted(content.keys() - wanted))
            raise UserError(f"{path}: a table has no {strange}; it may have {', '.join(wanted)}")
        return cls(
            name=path.stem,
            title=content["title"],
            rows=_names(content["rows"]),
            columns=_names(content["columns"]),
            overrides=content.get("overrides", []),
            published=content.get("published"),
            published_as=content.get("published_as", {}),
        )

    def cell(self, row: str, column: str) -> list[str]:
        """Collect the overrides of a cell."""
        chosen = [f"data={row}", f"algo={column}"]
        return chosen + self.overrides + self.rows[row] + self.columns[column]

    def find_published(self, row: str, algo: dict) -> Published | None:
        """Look up the published number of a row for a resolved config of an algorithm."""
        if self.published is None:
            return None
        return find(self.published, self.published_as.get(row, row), algo["name"], algo)


def _names(entries: list) -> dict[str, list[str]]:
    """Read ``[wine, {usps: [protocol.samples_per_class=100]}]``."""
    named = (entry if isinstance(entry, dict) else {entry: []} for entry in entries)
    return {name: overrides for entry in named for name, overrides in entry.items()}
