from itertools import count

import pytest
from fitting.examples import CONFIG, FAILURE, RECORD, modify_record, recorded

from boostbench.analysis.cells import Cell
from boostbench.analysis.frame import ResultFrame
from boostbench.analysis.result_table import Column, ColumnPair, Table
from boostbench.fitting.quantities import QUANTITIES, TEST_ERROR
from boostbench.papers.published import Published
from boostbench.spec.keys import digest


@pytest.fixture
def make_cell():
    """Return a function that makes a cell from final test errors in percent.

    Errors at checkpoints are half as large. By default, each cell has a different data set.
    """
    numbered = map(str, count())

    def make(
        errors,
        data="wine",
        algo="a",
        published=None,
        failures=0,
        failure="ValueError: no",
        stale=0,
        chosen=(),
        rounds=None,
        checkpoints=(50, 100),
        coefficients=None,
        n=10,
        source="",
        commit="b17bc98",
        sampling="stratified",
        checksum=None,
        **fields,
    ):
        facts = {"name": data, "checksum": digest(checksum or next(numbered))}
        config = modify_record(CONFIG, protocol={"sampling": sampling}, data=CONFIG["data"] | facts)
        records = [
            {
                **RECORD,
                "config": config,
                "split": split,
                "commit": commit,
                "test_error": error / 100,
                "checkpoints": {str(checkpoint): error / 200 for checkpoint in checkpoints},
                "n_iterations": 100,
                "chosen": chosen[split] if chosen else {},
                "n_train": 75,
                "n_test": 25,
                "seconds": {
                    "fit": 3.0 + split,
                    "weak_learner": 2.0,
                    "coefficients": coefficients,
                    "predict_per_instance": 2e-6,
                    "calibration": 0.1,
                },
            }
            for split, error in enumerate(errors)
        ]
        failed = [
            FAILURE | {"config": config, "split": len(errors) + i, "error": failure}
            for i in range(failures)
        ]
        fields.setdefault("missing", 0)
        fields.setdefault("quantity", TEST_ERROR)
        line = ()
        if published:
            mean, std, *seconds = published
            numbers = {fields["quantity"]: (mean, std)}
            if seconds:
                numbers[QUANTITIES["coefficients"]] = (seconds[0], float("nan"))
            line = tuple(
                Published("randomboost-table5", quantity, *number, n, source=source)
                for quantity, number in numbers.items()
            )
        rows, failures = (ResultFrame(list(map(recorded, part))) for part in (records, failed))
        settings = {"published": line, "rounds": rounds, **fields}
        return Cell(data, algo, algo.upper(), rows, failures, stale, **settings)

    return make


@pytest.fixture
def make_table():
    """Make a table of cells by row and column; columns are called like their names in capitals."""

    def make(cells, columns=None, compare=(("a", "b"),), **fields):
        names = dict.fromkeys(column for _, column in cells)
        columns = columns or {name: Column(name.upper(), name.upper()) for name in names}
        rows = {row: row for row, _ in cells}
        pairs = [ColumnPair(a, b) for a, b in compare]
        return Table("name", "Title", rows, columns, cells, pairs, **fields)

    return make


@pytest.fixture
def table(make_cell, make_table):
    """Three data sets, two algorithms; one data set is not available, one cell has failures."""
    return make_table(
        {
            ("wine", "a"): make_cell([1, 2, 3], "wine", "a", published=(3.0, 3.0)),
            ("wine", "b"): make_cell([4, 4, 4.3], "wine", "b", published=(1.0, 0.2), stale=3),
            ("glass", "a"): make_cell([20, 30], "glass", "a", failures=1),
            ("glass", "b"): make_cell([], "glass", "b", published=(20.0, 1.0), failures=3),
            ("dna", "a"): make_cell([], "dna", "a", available=False),
            ("dna", "b"): make_cell([], "dna", "b", available=False),
        }
    )


@pytest.fixture
def table_of_rounds(make_cell, make_table):
    """Two data sets, two algorithms after 50 and 100 rounds."""
    columns = {
        f"{name}@{rounds}": Column(
            f"{name.upper()}, T={rounds}", f"Test {rounds}", name.upper(), rounds=rounds
        )
        for name in "ab"
        for rounds in (50, 100)
    }
    errors = {("wine", "a"): [2, 4], ("wine", "b"): [4, 6], ("glass", "a"): [20, 30]}
    cells = {
        (row, name): make_cell(
            errors.get((row, name[0]), [10, 12]),
            row,
            name[0],
            published=(2.0, 1.0),
            rounds=column.rounds,
            # Algorithm b has fewer rounds than a on one data set.
            checkpoints=(50,) if (row, name[0]) == ("glass", "b") else (50, 100),
        )
        for row in ("wine", "glass")
        for name, column in columns.items()
    }
    return make_table(cells, columns, compare=[("a@100", "b@100")])


@pytest.fixture
def timed_table(make_cell, make_table):
    """Return a table of one data set and two algorithms, with CPU times of the coefficients."""
    cells = {
        ("wine", "a"): make_cell([1, 3], "wine", "a", published=(3.0, 3.0, 13.7), coefficients=2.0),
        ("wine", "b"): make_cell([4, 5], "wine", "b", published=(2.5, 2.0, 0.03), coefficients=0.1),
    }
    return make_table(cells, make_timed_columns("ab"))


def make_timed_columns(names):
    """Make columns, each with the CPU time of the coefficients behind it."""
    columns = {}
    for name in names:
        columns[name] = Column(name.upper(), name.upper())
        columns[f"{name}:coefficients"] = Column(
            name.upper(), name.upper(), quantity=QUANTITIES["coefficients"], timed_column=name
        )
    return columns
