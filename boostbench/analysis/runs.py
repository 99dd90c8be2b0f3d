"""Experiments on record, whether a table shows them or not, and tables of them."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from boostbench.analysis.cells import Cell, empty_cell
from boostbench.analysis.frame import ResultFrame
from boostbench.analysis.tables import Column, ColumnPair, Table
from boostbench.fitting.quantities import QUANTITIES, SCORES, Quantity
from boostbench.papers.metadata import is_value
from boostbench.papers.published import PublishedLine
from boostbench.records.archive import Records
from boostbench.records.schema import Config
from boostbench.spec.keys import canonical_json, digest, remove_defaults
from boostbench.util.errors import UserError, did_you_mean

# Kinds of records without results: material of figures, and trials of cross-validation.
_WITHOUT_RESULTS = ("boundary", "codewords", "features", "path", "tuning")

# Quantities that a list of experiments shows, in this order.
_METRICS = ("test_error", *SCORES, "mean_average_precision")


class RecordedExperiment(NamedTuple):
    """Experiment on record.

    Attributes
    ----------
    cell : Cell
        Its splits. The data set has a title that is unique among the recorded data sets.
    settings : str
        Settings that differ from the defaults: ``"n_iterations=200, seed=1"``.
    finished : str
        Time at which the last split finished; empty if it is unknown.
    """

    cell: Cell
    settings: str
    finished: str

    @property
    def config(self) -> Config:
        """Config of the experiment."""
        return self.cell.config


def find_experiments(
    records: Records,
    titles: Mapping[str, str],
    excluded: Collection[str] = (),
    algorithms: Collection[str] | None = None,
) -> list[RecordedExperiment]:
    """Return the experiments on record.

    Parameters
    ----------
    records : Records
        Records of a results folder.
    titles : mapping of str to str
        Titles of algorithms by name; an algorithm without a title has its name.
    excluded : collection of str, default=()
        Hashes of configs that are left out.
    algorithms : collection of str, default=None
        Names of the algorithms whose files are read. None: all files.

    Returns
    -------
    list of RecordedExperiment
        Experiments in the order of data set and algorithm.
    """
    groups = defaultdict(list)

    def is_wanted(algo: str, kind: str) -> bool:
        return kind not in _WITHOUT_RESULTS and (algorithms is None or algo in algorithms)

    for names, record in records.titled_records(is_wanted):
        # Configs may differ in settings that do not affect results, such as the path of a file.
        if record.config.hash not in excluded:
            groups[*names, record.config.keys.split].append(record)
    experiments = []
    for (data, algo, *_), group in groups.items():
        frame = ResultFrame(group)
        rows = frame.select(error is None for error in frame["error"])
        failures = frame.select(error is not None for error in frame["error"])
        cell = Cell(data, algo, titles.get(algo, algo), rows, failures)
        finished = max(time or "" for time in frame["finished"])
        settings = _settings_text(cell.config, algo in titles)
        experiments.append(RecordedExperiment(cell, settings, finished))
    return experiments


def experiments_on(
    experiments: Collection[RecordedExperiment], data: str
) -> list[RecordedExperiment]:
    """Return the experiments on the data set of a title, or else of a name or a path."""
    titled = [each for each in experiments if each.cell.data == data]
    return titled or [
        each
        for each in experiments
        if data in (each.config.data.name, each.config.data.data_options.get("path"))
    ]


def available_metrics(experiments: Collection[RecordedExperiment]) -> list[Quantity]:
    """Return the quantities that at least one of the experiments has."""
    return [
        QUANTITIES[name]
        for name in _METRICS
        if any(each.cell.average(QUANTITIES[name]) is not None for each in experiments)
    ]


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
    rows, left_out = {}, []
    for row in dict.fromkeys(run.cell.data for run in runs):
        # 1) Collect the runs with one protocol, one version of the data and one seed.
        groups = defaultdict(list)
        for run in runs:
            if run.cell.data == row and run.cell.algo in names and run.cell.values:
                groups[_comparison_key(run)].append(run)
        # 2) Choose a run of each algorithm in each group that has all algorithms.
        choices, reasons = [], []
        for group in groups.values():
            candidates = [[run for run in group if run.cell.algo == name] for name in names]
            if not all(candidates):
                continue
            chosen = [_choose_run(same) for same in candidates]
            if None in chosen:
                same = candidates[chosen.index(None)]
                settings = "; ".join(run.settings or "its defaults" for run in same[:3])
                reasons.append(f"{same[0].cell.algo} was run in several ways: {settings}")
            else:
                choices.append(_restrict_to_common_splits(chosen))
        # 3) The group with the most common splits counts.
        best = max(choices, key=lambda group: len(group[0].cell.values), default=None)
        if best and best[0].cell.values:
            rows[row] = best
        elif choices or reasons:
            reason = (reasons or ["they have no split in common"])[0]
            left_out.append(f"Left out is {row}, where {reason}.")
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
            *_settings_remark(run for group in rows.values() for run in group),
            *left_out,
        ],
    )


def table_of_published_file(
    path: Path,
    quantity: Quantity,
    lines: Sequence[PublishedLine],
    runs: Collection[RecordedExperiment],
    titles: Mapping[str, str],
) -> Table:
    """Return a table of published numbers and the recorded experiments that they belong to.

    Parameters
    ----------
    path : Path
        Path of the file.
    quantity : Quantity
        Quantity of its numbers.
    lines : sequence of PublishedLine
        Its lines.
    runs : collection of RecordedExperiment
        Experiments on record.
    titles : mapping of str to str
        Titles of algorithms by name.

    Returns
    -------
    Table
        With a cell for each line.

    Raises
    ------
    UserError
        If no record has a setting, or several experiments fit a line.
    """
    runs_by_data = {line.data: experiments_on(runs, line.data) for line in lines}
    names = {
        key for group in runs_by_data.values() for run in group for key in _merged_settings(run)
    }
    for name in dict.fromkeys(key for line in lines for key in line.settings):
        if names and name not in names:
            raise UserError(
                f"{path}: column {name!r} is no quantity and no setting of what is on "
                f"record; {did_you_mean(name, names)}"
            )
    rows, columns, cells = {}, {}, {}
    for line in lines:
        label = titles.get(line.algo, line.algo) + line.label.removeprefix(line.algo)
        run = _run_of_line(f"{path}:{line.number}", quantity, line, runs_by_data[line.data])
        cell = run.cell if run else empty_cell(line.data, line.algo, label)
        rows[line.data] = line.data
        columns[line.label] = Column(label, label, quantity=quantity)
        cells[line.data, line.label] = replace(cell, published=line.published, quantity=quantity)
    return Table(path.stem, f"{path}: published and ours", rows, columns, cells)


def _run_of_line(
    where: str, quantity: Quantity, line: PublishedLine, runs: Collection[RecordedExperiment]
) -> RecordedExperiment | None:
    """Return the experiment of a published line; None if none is on record.

    Parameters
    ----------
    where : str
        File and line, for messages.
    quantity : Quantity
        Quantity of the published numbers.
    line : PublishedLine
    runs : collection of RecordedExperiment
        Experiments on the data set of the line.

    Raises
    ------
    UserError
        If several experiments fit, with different data options or settings.
    """
    by_age = sorted(runs, key=lambda run: run.finished)
    # The last one of several runs with equal settings and data options replaces the others.
    newest = {
        (run.settings, canonical_json(run.config.data.data_options)): run
        for run in by_age
        if _matches_line(run, quantity, line)
    }
    if len({cut for _, cut in newest}) > 1:
        data_sets = list(dict.fromkeys(run.cell.data for run in newest.values()))
        raise UserError(
            f"{where}: {line.data} is {len(data_sets)} data sets on record; "
            f"write one of these in column data: {'; '.join(data_sets)}"
        )
    if len(newest) > 1:
        ways = [run.settings or "all at their defaults" for run in newest.values()]
        raise UserError(
            f"{where}: {len(newest)} experiments on record are {line.label} on "
            f"{line.data} ({'; '.join(ways[:3])}); add a column that tells them apart, such as "
            "n_iterations"
        )
    return next(iter(newest.values()), None)


def _matches_line(run: RecordedExperiment, quantity: Quantity, line: PublishedLine) -> bool:
    """Return True if an experiment has the algorithm, the settings and the quantity of a line."""
    settings = _merged_settings(run)
    return (
        run.cell.algo == line.algo
        and (run.cell.average(quantity) is not None or not run.cell.n_finished)
        and all(is_value(text, settings.get(key)) for key, text in line.settings.items())
    )


def _merged_settings(run: RecordedExperiment) -> dict[str, Any]:
    """Return the settings of the algorithm and the protocol, and the seed, in one mapping."""
    return {**run.config.algo, **run.config.protocol, "seed": run.config.seed}


def _restrict_to_common_splits(group: Sequence[RecordedExperiment]) -> list[RecordedExperiment]:
    """Return the runs with the rows of their common splits only.

    Means over different splits are not comparable.
    """
    common = set.intersection(*(set(run.cell.values) for run in group))
    paired = []
    for run in group:
        rows = run.cell.rows.select(split in common for split in run.cell.rows["split"])
        paired.append(run._replace(cell=replace(run.cell, rows=rows)))
    return paired


def _settings_remark(runs: Iterable[RecordedExperiment]) -> list[str]:
    """Return a sentence on the settings that differ from the defaults."""
    data_sets = defaultdict(list)
    for run in runs:
        if run.settings:
            data_sets[run.cell.title, run.settings].append(run.cell.data)
    texts = [f"{title} on {', '.join(data)}: {how}" for (title, how), data in data_sets.items()]
    return [f"Not by the defaults: {'; '.join(texts)}."] if texts else []


def _comparison_key(run: RecordedExperiment) -> str:
    """Return a digest of the protocol, the data and the seed, on which the splits depend."""
    protocol = remove_defaults(run.config.content)["protocol"]
    # Settings of tuning and checkpoints do not change the splits.
    for key in ("tune", "n_folds", "checkpoints"):
        protocol.pop(key, None)
    return digest([protocol, run.config.data.checksum, run.config.seed])


def _choose_run(runs: Sequence[RecordedExperiment]) -> RecordedExperiment | None:
    """Return the run that represents an algorithm on a data set; None if it is ambiguous.

    Runs with default parameters take precedence. If the remaining runs have equal settings, and
    differ in their measure only, the run with the most splits is returned. If their settings
    differ, none of them is.
    """
    plain = [run for run in runs if len(remove_defaults(run.config.content)["algo"]) == 1] or runs
    kinds = {digest(_model_settings(run)) for run in plain}
    return max(plain, key=lambda run: len(run.cell.values)) if len(kinds) == 1 else None


def _model_settings(run: RecordedExperiment) -> list:
    """Return the settings that determine the model: parameters, grid and tuning protocol."""
    config = run.config
    algorithm = remove_defaults(config.content)["algo"]
    if not config.grid:
        return [algorithm, {}, [], None]
    tuning = [config.protocol.get(key) for key in ("tune", "n_folds")]
    return [algorithm, config.grid, tuning, config.judged_by]


def _settings_text(config: Config, has_title: bool) -> str:
    """Return the settings that differ from the defaults, and the class of an unnamed algorithm."""
    short = remove_defaults(config.content)
    settings = short["algo"] | short["protocol"]
    target = settings.pop("_target_")
    settings.pop("checkpoints", None)  # checkpoints do not affect the last error
    texts = [f"{name}={value}" for name, value in settings.items()]
    if not has_title:
        texts.insert(0, target)
    if config.seed:
        texts.append(f"seed={config.seed}")
    if config.grid:
        texts.append(f"tuned={' '.join(config.grid)}")
    return ", ".join(texts)
