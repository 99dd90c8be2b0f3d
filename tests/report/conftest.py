"""The fixtures of tables are those of the tests of `boostbench.analysis`."""

from tests.analysis.conftest import (  # noqa: F401
    make_cell,
    make_table,
    table,
    table_of_rounds,
    timed_table,
)
