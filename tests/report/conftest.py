"""Fixtures of tables, shared with the tests of `boostbench.analysis`."""

from tests.analysis.conftest import (  # noqa: F401
    make_cell,
    make_table,
    table,
    table_of_rounds,
    timed_table,
)
