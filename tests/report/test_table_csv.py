import csv

from boostbench.report.data_files import table_as_csv


def test_csv_has_a_line_for_each_cell(table):
    lines = list(csv.DictReader(table_as_csv(table).splitlines()))
    assert [(line["data"], line["algo"]) for line in lines] == list(table.cells)
    first, second, third, last, *absent = lines
    assert (first["test_error_mean"], first["test_error_std"]) == ("2", "1")
    assert (first["published_mean"], first["difference"]) == ("3", "-1")
    assert (first["fit_cpu_s"], first["coef_cpu_s"]) == ("4", "")
    assert (second["n_stale"], second["verdict"]) == ("3", "worse")
    assert (third["n_splits"], third["n_failed"]) == ("2", "1")
    assert (last["test_error_mean"], last["verdict"]) == ("", "failed")
    assert [line["verdict"] for line in absent] == ["not published"] * 2


def test_csv_has_a_line_for_each_round(table_of_rounds):
    first, second, *_ = csv.DictReader(table_as_csv(table_of_rounds).splitlines())
    assert (first["column"], first["algo"], first["rounds"]) == ("a@50", "a", "50")
    assert (second["column"], second["rounds"]) == ("a@100", "100")


def test_published_seconds(timed_table):
    first, _ = csv.DictReader(table_as_csv(timed_table).splitlines())
    assert (first["coef_cpu_s"], first["published_coef_cpu_s"]) == ("2", "13.7")
