from tests.report.conftest import make_cell, make_table, table  # noqa: F401
