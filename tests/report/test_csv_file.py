import csv

from boostbench.report.csv_file import to_csv


def test_one_line_per_cell(table):
    lines = list(csv.DictReader(to_csv(table).splitlines()))
    assert [(line["data"], line["algo"]) for line in lines] == list(table.cells)
    first, second, third, last = lines
    assert (first["test_error_mean"], first["test_error_std"]) == ("2", "1")
    assert (first["published_mean"], first["difference"]) == ("3", "-1")
    assert (first["fit_cpu_s"], first["coef_cpu_s"]) == ("4", "")
    assert (second["n_stale"], second["verdict"]) == ("3", "worse")
    assert (third["n_splits"], third["n_failed"]) == ("2", "1")
    assert (last["test_error_mean"], last["verdict"]) == ("", "not run")
