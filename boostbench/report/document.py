"""Composition of a document from a table, for the terminal and every file format.

A table holds cells with numbers and verdicts; a document holds the printed texts.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from math import isnan

from boostbench.analysis.algorithm_pairs import judge_claims
from boostbench.analysis.cells import Cell
from boostbench.analysis.comparison import pair_columns
from boostbench.analysis.result_table import Table
from boostbench.analysis.statistics import LEVEL
from boostbench.analysis.statistics.friedman import average_ranks, holm
from boostbench.analysis.statistics.wilcoxon import wilcoxon
from boostbench.data.dataset import Dataset
from boostbench.fitting.quantities import QUANTITIES, SCORES
from boostbench.report import wording
from boostbench.report.blocks import Document, Entry, Head, RankRow, Row, Summary
from boostbench.report.column_tests import matrix_listing, summarize_tests
from boostbench.report.findings import (
    cpu_listing,
    cpu_parts_listing,
    published_listing,
)
from boostbench.report.wording import STALE, format_marks, format_number, format_published
from boostbench.util.numbers import fixed, format_seconds, rounded

#: Headings of the CPU times of a summary, by quantity.
_SUMMARY_TIMES = {"fit": "fit s", "weak_learner": "weak s", "coefficients": "coef. s"}


def make_document(table: Table) -> Document:
    """Return the document of a table, which every renderer prints; empty lists are omitted."""
    rows = [make_row(table, row) for row in table.rows]
    lists = [
        matrix_listing(table),
        published_listing(table),
        cpu_listing(table, rows),
        cpu_parts_listing(table),
    ]
    return Document(
        name=table.name,
        title=table.title,
        headline=wording.changes_note(table),
        heads=make_heads(table),
        rows=rows,
        caption=wording.caption(table),
        tests=summarize_tests(table),
        claims=judge_claims(table),
        notes=wording.remarks(table),
        freshness=wording.freshness_notes(table.cells.values(), table.last_round_cells),
        ranks=make_rank_row(table),
        listings=[listing for listing in lists if listing and listing.lines],
    )


def make_summary(dataset: Dataset | None, cells: Sequence[Cell]) -> Summary:
    """Return the summary of one or more algorithms on one data set.

    Parameters
    ----------
    dataset : Dataset or None
        None: the data are not available.
    cells : sequence of Cell
        One cell per algorithm, of one quantity.
    """
    # 1) Describe the data.
    data = []
    if dataset is not None:
        shape = f"{dataset.n_samples} samples, {dataset.n_features} features"
        data = [f"{dataset.name}: {shape}, {dataset.n_classes} classes", dataset.source]
    # 2) Make a column of entries for each kind of number. The best is found among printed numbers,
    #    so that equal texts are marked alike.
    quantity = cells[0].quantity
    losses = [rounded(quantity.sign * cell.mean, quantity.digits) for cell in cells]
    best = min((loss for loss in losses if not isnan(loss)), default=None)
    columns = {
        "algorithm": [Entry(cell.title) for cell in cells],
        f"{quantity.title.split()[-1].lower()} {quantity.symbol}".rstrip(): [
            Entry(format_number(cell), len(cells) > 1 and loss == best, wording.stale_mark(cell))
            for cell, loss in zip(cells, losses, strict=True)
        ],
        "published": [Entry(format_published(cell) or "-") for cell in cells],
        "splits": [Entry(wording.format_splits(cell)) for cell in cells],
        "rounds": [Entry(wording.format_rounds(cell)) for cell in cells],
        **{
            heading: [Entry(wording.format_time(cell, part)) for cell in cells]
            for part, heading in _SUMMARY_TIMES.items()
        },
    }
    # Empty columns are omitted: few classifiers record rounds, few pairs have published numbers.
    columns = {
        heading: entries
        for heading, entries in columns.items()
        if any(entry.text != "-" for entry in entries)
    }
    # 3) Write the scores, tuned values and departures from published experiments as sentences.
    sentences = [sentence for cell in cells for sentence in _score_sentences(cell)]
    sentences += [
        f"{cell.title}: {chosen}, chosen by cross-validation"
        for cell in cells
        if (chosen := wording.format_chosen(cell))
    ]
    departures = dict.fromkeys(", ".join(cell.departures) for cell in cells if cell.target)
    return Summary(
        data=data,
        heads=list(columns),
        rows=list(map(list, zip(*columns.values(), strict=True))),
        sentences=sentences,
        warnings=[
            f"{wording.OTHER_SETTINGS} not the published experiment: {departure}"
            for departure in departures
            if departure
        ],
        explanation=(
            f"{quantity.title}: mean (std) over splits. Times: CPU seconds per split, on one core."
        ),
    )


def _score_sentences(cell: Cell) -> list[str]:
    """Return a list of one sentence, ``"SAMME: Log-loss 0.123 (0.010)"``; empty without scores."""
    # Records of errors hold scores, too, which a table shows on request.
    if not cell.n_finished or cell.config.measure in (None, "prediction"):
        return []
    quantities = [QUANTITIES[name] for name in SCORES if name in QUANTITIES]
    scores = [
        f"{quantity.title} {format_number(replace(cell, quantity=quantity))} {quantity.symbol}"
        for quantity in quantities
        if cell.finished_splits.average(quantity) is not None
    ]
    return [f"{cell.title}: {', '.join(map(str.rstrip, scores))}"] if scores else []


def make_heads(table: Table) -> list[Head]:
    """Return the headings of the printed columns, in their order.

    A column of CPU times, and the column of results beside it, share the algorithm as the heading
    of their group. The title below it is the quantity. The other columns have their own headings.
    """
    # The timed column is the column of results whose fits took the CPU times of another column.
    columns_with_times = {column.timed_column for column in table.columns.values()} - {None}
    algos = {name: cell.algo for (_, name), cell in table.cells.items()}
    headings = []
    for name, column in table.columns.items():
        is_in_pair = column.is_time or name in columns_with_times
        group, title = (
            (column.label, column.quantity.title) if is_in_pair else (column.group, column.title)
        )
        algo = algos[column.timed_column or name]
        headings.append(Head(group, title, search_text=f"{column.label} {algo}".lower()))
    for _, fast in table.speedup_pairs:
        label = table.columns[fast].label
        headings.append(Head("Speed-up", label, search_text=f"{label} speed-up".lower()))
    return headings


def make_rank_row(table: Table) -> RankRow | None:
    """Return the average ranks, with a mark on each algorithm that differs from the best.

    Returns
    -------
    RankRow or None
        None for fewer than two algorithms or data sets with all numbers, and for a quantity
        without a better direction.
    """
    # 1) Collect the losses of the data sets on which every algorithm has a number, by the
    #    columns after the last boosting round.
    names = [
        name
        for name in table.last_round_labels
        if any(table.cells[row, name].numbers for row in table.rows)
    ]
    if len(table.rows) < 2 or len(names) < 2 or table.quantity.better is None:
        return None
    paired_numbers = pair_columns(table, names)
    n_data = paired_numbers.n_pairs
    if n_data < 2:
        return None
    # 2) Test all pairs, because Holm's correction is for all of them; keep the pairs of the best.
    ranks = dict(zip(names, average_ranks(paired_numbers.losses).tolist(), strict=True))
    best = names.index(min(ranks, key=ranks.get))
    index_pairs = list(combinations(range(len(names)), 2))
    p_values = holm([wilcoxon(paired_numbers.differences(a, b)).p for a, b in index_pairs])
    significant = {
        names[a if b == best else b]
        for (a, b), p in zip(index_pairs, p_values, strict=True)
        if best in (a, b) and p <= LEVEL
    }
    # 3) Print the ranks. Columns of CPU times and speed-ups have empty entries.
    printed = {name: fixed(rank, 1) for name, rank in ranks.items()}
    lowest = min(printed.values(), key=float)
    entries = [
        Entry(
            text=printed[name],
            best=printed[name] == lowest,
            marks="*" if name in significant else "",
            value=ranks[name],
        )
        if name in ranks
        else Entry("")
        for name in table.columns
    ]
    entries += [Entry("") for _ in table.speedup_pairs]
    test = "Wilcoxon's signed-rank test at the 5% level, with Holm's correction for all pairs"
    result = f"* differs from the best by {test}." if significant else f"None differs by {test}."
    return RankRow(entries, f"Ranks: over the {n_data} data sets with all numbers. {result}")


def make_row(table: Table, row: str) -> Row:
    """Return the printed row of a table, with one entry per heading of `make_heads`."""
    title, n_classes = table.rows[row], table.classes.get(row)
    data = next(cell.data for (other, _), cell in table.cells.items() if other == row)
    label = f"{title} ({n_classes} classes)" if n_classes else title
    best = table.best_columns(row)
    entries = [
        _time_entry(table, row, name, is_best=name in best)
        if column.is_time
        else _result_entry(table, row, name, is_best=name in best)
        for name, column in table.columns.items()
    ]
    entries += [_speedup_entry(table, row, pair) for pair in table.speedup_pairs]
    return Row(title, label, f"{title} {row} {data}".lower(), entries)


def _result_entry(table: Table, row: str, name: str, *, is_best: bool) -> Entry:
    """Return the entry of a cell, with its marks, published number and verdict."""
    cell = table.cells[row, name]
    return Entry(
        text=format_number(cell),
        best=is_best,
        marks=format_marks(cell),
        published=format_published(cell),
        value=None if isnan(cell.mean) else cell.mean,
        verdict=cell.verdict,
        place=(row, name),
    )


def _time_entry(table: Table, row: str, name: str, *, is_best: bool) -> Entry:
    """Return the entry of a column of CPU times: ours in seconds, and the published time."""
    time, published = table.cpu_time(row, name), table.published_cpu_time(row, name)
    return Entry(
        text=format_seconds(time) + _stale_mark_of_time(table, row, name),
        best=is_best,
        published=str(published or ""),
        value=time,
    )


def _speedup_entry(table: Table, row: str, pair: tuple[str, str]) -> Entry:
    """Return the ratio of the CPU times of two columns, marked if either is stale.

    A ratio has three significant digits, as seconds have.
    """
    ratio = table.cpu_time_ratio(row, pair)
    is_stale = any(_stale_mark_of_time(table, row, name) for name in pair)
    return Entry(format_seconds(ratio) + (STALE if is_stale else ""), value=ratio)


def _stale_mark_of_time(table: Table, row: str, name: str) -> str:
    """Return `STALE` if a record behind a CPU time is stale; the column beside it has the cell."""
    return STALE if table.cells[row, table.columns[name].timed_column].stale else ""
