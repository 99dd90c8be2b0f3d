"""Experiments on record, whether a table shows them or not, and tables of them.

``boostbench report`` lists the experiments, ``compare`` compares algorithms by them, and ``check
--published`` puts them beside the published numbers of a user's file.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from boostbench.analysis.cells import Cell, empty_cell
from boostbench.analysis.frame import ResultFrame
from boostbench.analysis.result_table import Column, ColumnPair, Table
from boostbench.fitting.quantities import QUANTITIES, SCORES, Quantity
from boostbench.papers.metadata import is_value
from boostbench.papers.published import PublishedLine
from boostbench.records.index import Records
from boostbench.records.schema import Config
from boostbench.spec.keys import canonical_json, digest, remove_defaults
from boostbench.util.configs import read_titles
from boostbench.util.errors import UserError, did_you_mean

# Kinds of records without results: material of figures, and trials of cross-validation.
_KINDS_WITHOUT_RESULTS = ("boundary", "codewords", "features", "path", "tuning")

# Names of the quantities that a list of experiments shows, in this order.
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
    excluded: Collection[str] = (),
    algorithms: Collection[str] | None = None,
) -> list[RecordedExperiment]:
    """Return the experiments on record.

    Parameters
    ----------
    records : Records
        Records of a results folder.
    excluded : collection of str, default=()
        Hashes of configs that are left out.
    algorithms : collection of str, default=None
        Names of the algorithms whose files are read. None: all files.

    Returns
    -------
    list of RecordedExperiment
        Experiments in the order of data set and algorithm.
    """
    # 1) Group the records by experiment.
    records_by_experiment = defaultdict(list)

    def is_wanted(algo: str, kind: str) -> bool:
        return kind not in _KINDS_WITHOUT_RESULTS and (algorithms is None or algo in algorithms)

    for names, record in records.titled_records(is_wanted):
        # Configs may differ in settings that do not affect results, such as the path of a file.
        if record.config.hash not in excluded:
            records_by_experiment[*names, record.config.keys.split].append(record)
    # 2) Make a cell of each group. An algorithm without a config has its name as its title.
    titles = read_titles("algo")
    experiments = []
    for (data, algo, *_), group in records_by_experiment.items():
        frame = ResultFrame(group)
        finished = frame.select(error is None for error in frame["error"])
        failed = frame.select(error is not None for error in frame["error"])
        cell = Cell(data, algo, titles.get(algo, algo), finished, failed)
        last_finished = max(time or "" for time in frame["finished"])
        settings = _settings_text(cell.config, algo in titles)
        experiments.append(RecordedExperiment(cell, settings, last_finished))
    return experiments


def experiments_on(
    experiments: Collection[RecordedExperiment], data: str
) -> list[RecordedExperiment]:
    """Return the experiments on a data set, which `data` names by its title, name or path.

    If a title matches, the name and the path are not compared.
    """
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
        if any(
            each.cell.finished_splits.average(QUANTITIES[name]) is not None for each in experiments
        )
    ]


class _ComparableExperiments(NamedTuple):
    """Comparable experiments on one data set, or the reason why there are none.

    Attributes
    ----------
    experiments : list of RecordedExperiment
        One for each algorithm, with their common splits only; empty if there is a reason.
    reason : str
        Clause for a sentence on the data set that is left out; empty if nothing is to be said.
    """

    experiments: list[RecordedExperiment]
    reason: str = ""


def table_of_experiments(
    experiments: Collection[RecordedExperiment], names: Sequence[str], data: Collection[str] = ()
) -> Table | None:
    """Collect the data sets on which all of some algorithms were run alike.

    Parameters
    ----------
    experiments : collection of RecordedExperiment
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
    # 1) Choose comparable experiments on each data set.
    if data:
        experiments = [
            experiment
            for name in dict.fromkeys(data)
            for experiment in experiments_on(experiments, name)
        ]
    experiments_by_data = defaultdict(list)
    for experiment in experiments:
        experiments_by_data[experiment.cell.data].append(experiment)
    rows, left_out = {}, []
    for row, candidates in experiments_by_data.items():
        choice = _choose_comparable(candidates, names)
        if choice.experiments:
            rows[row] = choice.experiments
        elif choice.reason:
            left_out.append(f"Left out is {row}, where {choice.reason}.")
    if not rows:
        return None
    # 2) Make the table.
    shown = [experiment for row in rows.values() for experiment in row]
    titles = {experiment.cell.algo: experiment.cell.title for experiment in shown}
    return Table(
        name="compare",
        title=" against ".join(titles[name] for name in names),
        rows={row: row for row in rows},
        columns={name: Column(titles[name], titles[name]) for name in names},
        cells={(each.cell.data, each.cell.algo): each.cell for each in shown},
        compared_pairs=[ColumnPair(*pair) for pair in combinations(names, 2)],
        remarks=[
            "What was run, not what a table asks for: each data set under one protocol and seed.",
            *_settings_remark(shown),
            *left_out,
        ],
    )


def _choose_comparable(
    experiments: Iterable[RecordedExperiment], names: Sequence[str]
) -> _ComparableExperiments:
    """Choose an experiment of each algorithm on a data set, all under one protocol and one seed.

    Parameters
    ----------
    experiments : iterable of RecordedExperiment
        Experiments on the data set.
    names : sequence of str
        Names of the algorithms.

    Returns
    -------
    _ComparableExperiments
        If several protocols or seeds have all algorithms, the choice with the most common splits.
    """
    # 1) Group the experiments by protocol, version of the data and seed.
    groups = defaultdict(list)
    for experiment in experiments:
        if experiment.cell.algo in names and experiment.cell.numbers:
            groups[_comparison_key(experiment)].append(experiment)
    # 2) Choose an experiment of each algorithm in each group that has all algorithms.
    choices, reasons = [], []
    for group in groups.values():
        by_name = [
            [experiment for experiment in group if experiment.cell.algo == name] for name in names
        ]
        if not all(by_name):
            continue
        chosen = [_choose_experiment(candidates) for candidates in by_name]
        if None in chosen:
            ambiguous = by_name[chosen.index(None)]
            settings = "; ".join(
                candidate.settings or "its defaults" for candidate in ambiguous[:3]
            )
            reasons.append(f"{ambiguous[0].cell.algo} was run in several ways: {settings}")
        else:
            choices.append(_restrict_to_common_splits(chosen))
    # 3) Return the choice with the most common splits, or else a reason.
    best = max(choices, key=lambda chosen: len(chosen[0].cell.numbers), default=None)
    if best and best[0].cell.numbers:
        return _ComparableExperiments(best)
    if reasons:
        return _ComparableExperiments([], reasons[0])
    return _ComparableExperiments([], "they have no split in common" if choices else "")


def table_of_published_file(
    path: Path,
    quantity: Quantity,
    lines: Sequence[PublishedLine],
    experiments: Collection[RecordedExperiment],
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
    experiments : collection of RecordedExperiment
        Experiments on record.

    Returns
    -------
    Table
        With a cell for each line.

    Raises
    ------
    UserError
        If no record has a setting, or several experiments fit a line.
    """
    # 1) Check that the settings of the lines are settings of recorded experiments.
    experiments_by_data = {line.data: experiments_on(experiments, line.data) for line in lines}
    names = {
        key
        for group in experiments_by_data.values()
        for experiment in group
        for key in _merged_settings(experiment)
    }
    for name in dict.fromkeys(key for line in lines for key, _ in line.settings):
        if names and name not in names:
            raise UserError(
                f"{path}: column {name!r} is no quantity and no setting of what is on "
                f"record; {did_you_mean(name, names)}"
            )
    # 2) Make a row of each data set, a column of each algorithm with its settings, and the cells.
    titles = read_titles("algo")
    rows, columns, cells = {}, {}, {}
    for line in lines:
        label = titles.get(line.algo, line.algo) + line.label.removeprefix(line.algo)
        experiment = _find_experiment_of_line(
            f"{path}:{line.number}", quantity, line, experiments_by_data[line.data]
        )
        cell = experiment.cell if experiment else empty_cell(line.data, line.algo, label)
        rows[line.data] = line.data
        columns[line.label] = Column(label, label, quantity=quantity)
        cells[line.data, line.label] = replace(cell, published=line.published, quantity=quantity)
    return Table(path.stem, f"{path}: published and ours", rows, columns, cells)


def _find_experiment_of_line(
    where: str, quantity: Quantity, line: PublishedLine, experiments: Collection[RecordedExperiment]
) -> RecordedExperiment | None:
    """Return the experiment of a published line; None if none is on record.

    Parameters
    ----------
    where : str
        File and line, for messages.
    quantity : Quantity
        Quantity of the published numbers.
    line : PublishedLine
    experiments : collection of RecordedExperiment
        Experiments on the data set of the line.

    Raises
    ------
    UserError
        If several experiments fit, with different data options or settings.
    """
    by_age = sorted(experiments, key=lambda experiment: experiment.finished)
    # The last one of several experiments with equal settings and data options replaces the others.
    newest = {
        (experiment.settings, canonical_json(experiment.config.data.data_options)): experiment
        for experiment in by_age
        if _matches_line(experiment, quantity, line)
    }
    if len({data_options for _, data_options in newest}) > 1:
        data_sets = list(dict.fromkeys(experiment.cell.data for experiment in newest.values()))
        raise UserError(
            f"{where}: {line.data} is {len(data_sets)} data sets on record; "
            f"write one of these in column data: {'; '.join(data_sets)}"
        )
    if len(newest) > 1:
        settings = [
            experiment.settings or "all at their defaults" for experiment in newest.values()
        ]
        raise UserError(
            f"{where}: {len(newest)} experiments on record are {line.label} on "
            f"{line.data} ({'; '.join(settings[:3])}); add a column that tells them apart, such as "
            "n_iterations"
        )
    return next(iter(newest.values()), None)


def _matches_line(experiment: RecordedExperiment, quantity: Quantity, line: PublishedLine) -> bool:
    """Return True if an experiment has the algorithm, the settings and the quantity of a line."""
    settings = _merged_settings(experiment)
    return (
        experiment.cell.algo == line.algo
        and (
            experiment.cell.finished_splits.average(quantity) is not None
            or not experiment.cell.n_finished
        )
        and all(is_value(text, settings.get(key)) for key, text in line.settings)
    )


def _merged_settings(experiment: RecordedExperiment) -> dict[str, Any]:
    """Return the settings of the algorithm and the protocol, and the seed, by name."""
    return {**experiment.config.algo, **experiment.config.protocol, "seed": experiment.config.seed}


def _restrict_to_common_splits(group: Sequence[RecordedExperiment]) -> list[RecordedExperiment]:
    """Return the experiments with the rows of their common splits only.

    Means over different splits are not comparable.
    """
    common = set.intersection(*(set(experiment.cell.splits) for experiment in group))
    restricted = []
    for experiment in group:
        rows = experiment.cell.finished_splits.select(
            split in common for split in experiment.cell.finished_splits["split"]
        )
        restricted.append(experiment._replace(cell=replace(experiment.cell, finished_splits=rows)))
    return restricted


def _settings_remark(experiments: Iterable[RecordedExperiment]) -> list[str]:
    """Return a sentence on the settings that differ from the defaults."""
    data_sets = defaultdict(list)
    for experiment in experiments:
        if experiment.settings:
            data_sets[experiment.cell.title, experiment.settings].append(experiment.cell.data)
    texts = [f"{title} on {', '.join(data)}: {how}" for (title, how), data in data_sets.items()]
    return [f"Not by the defaults: {'; '.join(texts)}."] if texts else []


def _comparison_key(experiment: RecordedExperiment) -> str:
    """Return a digest of the protocol, the data and the seed, on which the splits depend."""
    protocol = remove_defaults(experiment.config.content)["protocol"]
    # Settings of tuning and checkpoints do not change the splits.
    for key in ("tune", "n_folds", "checkpoints"):
        protocol.pop(key, None)
    return digest([protocol, experiment.config.data.checksum, experiment.config.seed])


def _choose_experiment(candidates: Sequence[RecordedExperiment]) -> RecordedExperiment | None:
    """Return the experiment that represents an algorithm on a data set; None if it is ambiguous.

    Experiments with default parameters take precedence. If the candidates then have equal settings,
    and differ in their measure only, the one with the most splits is returned. If their settings
    differ, none of them is.
    """
    # The settings that differ from the defaults always include `_target_`, the class.
    with_defaults = [
        candidate
        for candidate in candidates
        if len(remove_defaults(candidate.config.content)["algo"]) == 1
    ]
    candidates = with_defaults or candidates
    if len({digest(_model_settings(candidate)) for candidate in candidates}) > 1:
        return None
    return max(candidates, key=lambda candidate: len(candidate.cell.numbers))


def _model_settings(experiment: RecordedExperiment) -> list:
    """Return the settings that determine the model: parameters, grid and tuning protocol."""
    config = experiment.config
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
