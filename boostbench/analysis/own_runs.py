"""Tables of recorded experiments that no definition asks for."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from boostbench.analysis.runs import RecordedExperiment, experiments_on
from boostbench.analysis.tables import Column, ColumnPair, Table
from boostbench.spec.keys import digest, remove_defaults


def table_of_runs(
    runs: Collection[RecordedExperiment], names: Sequence[str], data: Collection[str] = ()
) -> Table | None:
    """Collect the data sets on which all of some algorithms were run alike.

    Parameters
    ----------
    runs : collection of RecordedExperiment
        Experiments on record.
    names : sequence of str
        Names of algorithms, as they name the files of records.
    data : collection of str, default=()
        Titles, names or paths of data sets, see `experiments_on`; by default all.

    Returns
    -------
    Table or None
        A row for each data set that has records of each algorithm under one protocol and one seed.
        If several protocols or seeds qualify, the one with the most splits in common counts. An
        algorithm with several settings counts by its defaults; without them, the data set is left
        out. None without any row.
    """
    if data:
        runs = [run for name in dict.fromkeys(data) for run in experiments_on(runs, name)]
    rows: dict[str, list[RecordedExperiment]] = {}
    several: dict[str, str] = {}
    for row in dict.fromkeys(run.cell.data for run in runs):
        alike: dict[str, dict[str, list[RecordedExperiment]]] = {}
        for run in runs:
            if run.cell.data == row and run.cell.algo in names and run.cell.values:
                group = alike.setdefault(_arrangement(run), {})
                group.setdefault(run.cell.algo, []).append(run)
        whole = [group for group in alike.values() if group.keys() >= set(names)]
        chosen = [[_default(group[name]) for name in names] for group in whole]
        clear = [_paired(group) for group in chosen if None not in group]
        best = max(clear, key=lambda group: len(group[0].cell.values), default=None)
        if best and best[0].cell.values:
            rows[row] = best
        elif whole:
            several[row] = f"Left out is {row}, where {_unclear(names, whole, chosen)}."
    if not rows:
        return None
    titles = {run.cell.algo: run.cell.title for group in rows.values() for run in group}
    return Table(
        name="compare",
        title=" against ".join(titles[name] for name in names),
        rows={row: row for row in rows},
        columns={name: Column(titles[name], titles[name]) for name in names},
        cells={(row, run.cell.algo): run.cell for row, group in rows.items() for run in group},
        compare=[ColumnPair(*pair) for pair in combinations(names, 2)],
        remarks=[
            "What was run, not what a table asks for: each data set under one protocol and seed.",
            *_unlike(rows),
            *several.values(),
        ],
    )


def _unclear(
    names: Sequence[str],
    whole: Sequence[dict[str, list[RecordedExperiment]]],
    chosen: Sequence[list[RecordedExperiment | None]],
) -> str:
    """Return the reason why no group can be compared."""
    for group, runs in zip(whole, chosen, strict=True):
        if None in runs:
            name = names[runs.index(None)]
            settings = "; ".join(run.settings or "its defaults" for run in group[name][:3])
            return f"{name} was run in several ways: {settings}"
    return "they have no split in common"


def _paired(group: Sequence[RecordedExperiment]) -> list[RecordedExperiment]:
    """Return the runs on their common splits, as means of different splits are not comparable."""
    common = set.intersection(*(set(run.cell.values) for run in group))
    paired = []
    for run in group:
        rows = run.cell.rows.select(split in common for split in run.cell.rows["split"])
        paired.append(run._replace(cell=replace(run.cell, rows=rows)))
    return paired


def _unlike(rows: Mapping[str, Sequence[RecordedExperiment]]) -> list[str]:
    """Return a sentence on the settings that differ from the defaults."""
    rows_by_setting: dict[tuple[str, str], list[str]] = {}
    for row, group in rows.items():
        for run in group:
            if run.settings:
                rows_by_setting.setdefault((run.cell.title, run.settings), []).append(row)
    texts = [
        f"{title} on {', '.join(data)}: {how}" for (title, how), data in rows_by_setting.items()
    ]
    return [f"Not by the defaults: {'; '.join(texts)}."] if texts else []


def _arrangement(run: RecordedExperiment) -> str:
    """Return an identifier of the protocol, the data and the seed of a run."""
    config = run.spec
    data = config["data"]["checksum"]
    short = remove_defaults(config)["protocol"]
    # Settings of tuning and checkpoints do not change the splits.
    for key in ("tune", "n_folds", "checkpoints"):
        short.pop(key, None)
    return digest([short, data, config["seed"]])


def _default(runs: Sequence[RecordedExperiment]) -> RecordedExperiment | None:
    """Choose the run with the defaults of an algorithm, if there are several; None without.

    If several have equal settings but different measures, the one with the most splits counts.
    """
    plain = [run for run in runs if len(remove_defaults(run.spec)["algo"]) == 1] or runs
    kinds = {digest(_settings(run)) for run in plain}
    return max(plain, key=lambda run: len(run.cell.values)) if len(kinds) == 1 else None


def _settings(run: RecordedExperiment) -> list:
    """Return the settings that determine the model: parameters, grid and tuning protocol."""
    config, short = run.spec, remove_defaults(run.spec)
    grid = config.get("grid") or {}
    how = [config["protocol"].get(key) for key in ("tune", "n_folds")] if grid else []
    return [short["algo"], grid, how, config.get("judged_by") if grid else None]
