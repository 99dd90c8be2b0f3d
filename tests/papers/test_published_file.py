import pytest

from boostbench.papers.published import read_published_file, unit_warnings
from boostbench.util.errors import UserError

HEAD = "data,algo,loss,test_error_mean,test_error_std,n"
LINE = "wine,mcboost,logistic,2.9,2.4,50"


@pytest.fixture
def write_file(tmp_path):
    def write_file(*lines, encoding="utf-8"):
        path = tmp_path / "mine.csv"
        path.write_text("\n".join(lines) + "\n", encoding=encoding)
        return path

    return write_file


def test_line_has_settings_and_numbers(write_file):
    quantity, (first, second) = read_published_file(
        write_file(HEAD, LINE, "", "iris,mcboost,,6.25,,10")
    )
    published = first.published[0]
    assert (first.number, first.data, first.algo) == (2, "wine", "mcboost")
    assert first.settings == (("loss", "logistic"),)
    assert (published.mean, published.std, published.n) == (2.9, 2.4, 50)
    assert published.quantity == quantity
    # An empty setting is none, and numbers have the decimals of the one with the most.
    assert (second.number, second.settings, second.published[0].n) == (4, (), 10)
    assert str(second.published[0]) == "6.25"


def test_file_may_hold_another_quantity(write_file):
    _, [line] = read_published_file(write_file("algo,data,auc", "a,wine,0.975"), repeats=5)
    assert (line.published[0].mean, line.published[0].n) == (0.975, 5)


def test_digits_argument_sets_the_precision(write_file):
    """A program writes 1.000 as 1; who copies a paper that prints whole numbers has to say so."""

    def printed(*lines, **settings):
        _, [line] = read_published_file(write_file(*lines), **settings)
        return str(line.published[0])

    whole = ["data,algo,auc_mean,auc_std,n", "a,adaboost_mh,1,0,10"]
    assert printed(*whole) == "1.000 (0.000)"
    assert printed(*whole, digits=0) == "1 (0)"
    assert printed(whole[0], "a,adaboost_mh,1,0.0125,10") == "1.0000 (0.0125)"
    assert printed("data,algo,auc,n", "a,b,1e-400,10", digits=3) == "0.000"
    assert printed("data,algo,auc,n", "a,b,1e-05,10") == "0.00001"


def test_fractions_are_doubted(write_file):
    path = write_file(HEAD, "wine,mcboost,,0.029,0.024,50", "iris,mcboost,,0.05,,50")
    [warning] = unit_warnings(path, *read_published_file(path))
    assert warning.endswith(
        "no test error is above 1; numbers are taken as percent, a quarter is 25"
    )
    path = write_file(HEAD, LINE, "iris,mcboost,,0.05,,50")
    assert unit_warnings(path, *read_published_file(path)) == []
    path = write_file("data,algo,auc,n", "a,b,0.5,2")
    assert unit_warnings(path, *read_published_file(path)) == []


def test_comment_lines_are_numbered(write_file):
    path = write_file("# from Table V, page 9", HEAD, "# only these", LINE)
    assert [line.number for line in read_published_file(path)[1]] == [4]
    with pytest.raises(UserError, match=r":2: column 'auc' is there twice"):
        read_published_file(write_file("# from Table V", "data,algo,auc,auc,n", "a,b,1,1,2"))


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([], " is empty; it needs a heading"),
        ([HEAD], " has a heading and no line"),
        (["data,algorithm,test_error", "a,b,1"], ":1: there is no column 'algo'; did you mean"),
        (["data,algo,error,n", "a,b,1,2"], ":1: there is no column of numbers; one of accuracy"),
        (["data,algo,accuracy,auc,n", "a,b,1,1,2"], ":1: there is both accuracy and auc"),
        (["data,algo,auc", "a,b,1"], ":1: how often was each experiment repeated?"),
        (["data,algo,auc,auc,n", "a,b,1,1,2"], ":1: column 'auc' is there twice"),
        (["data;algo;test_error;n", "wine;mcboost;2,9;50"], ":1: the heading has ';' between its"),
        (["data\talgo\tauc\tn", "a\tb\t1\t2"], ":1: the heading has '\\t' between its names"),
        ([HEAD, "wine,mcboost,logistic,2.9,2.4"], ":2: 5 cells, where the heading has 6"),
        ([HEAD, "wine,,logistic,2.9,2.4,50"], ":2: algo is empty"),
        (
            [HEAD, LINE, "iris,mcboost,x,2.9 %,2.4,50"],
            ":3: test_error_mean is '2.9 %', which is no",
        ),
        ([HEAD, "wine,mcboost,x,nan,2.4,50"], ":2: test_error_mean is 'nan', which is no number"),
        ([HEAD, "wine,mcboost,x,129,2.4,50"], ":2: test_error_mean is 129; Test error is from"),
        ([HEAD, "wine,mcboost,x,1_0,2.4,50"], ":2: test_error_mean is '1_0', which is no number"),
        ([HEAD, "wine,mcboost,x,١,2.4,50"], ":2: test_error_mean is '١', which is no number"),
        ([HEAD, "wine,mcboost,x,10,71,50"], ":2: test_error_std is 71; none is more than 70.7"),
        (["data,algo,auc,n", "a,b,75,2"], ":2: auc is 75; ROC AUC is from 0 to 1"),
        (["data,algo,brier,n", "a,b,-1,2"], ":2: brier is -1; Brier score is from 0 to 2"),
        (["data,algo,log_loss,n", "a,b,-3,2"], ":2: log_loss is -3; Log-loss is at least 0"),
        ([HEAD, "wine,mcboost,x,2.9,-1,50"], ":2: test_error_std is -1; a deviation is not"),
        ([HEAD, "wine,mcboost,x,2.9,1,0"], ":2: n is '0'; it must be a whole number from 1"),
        ([HEAD, "wine,mcboost,x,2.9,1,1000000001"], ":2: n is '1000000001'; it must be a whole"),
        ([HEAD, f"wine,mcboost,x,2.9,1,{'9' * 5000}"], f":2: n is '{'9' * 40}...'; it must be"),
        ([HEAD, "wine,mcboost,x,1e-400,1,50"], ":2: test_error_mean has 400 decimals, more than 9"),
        (
            [HEAD, "wine,mcboost,x,1,0.0123456789,50"],
            ":2: test_error_std has 10 decimals, more than 9; --decimals says how many",
        ),
        ([HEAD, f"wine,mcboost,x,1e-{'9' * 30},1,50"], ":2: test_error_mean is '1e-9999"),
        (["data,algo,log_loss,n", "a,b,1e400,2"], ":2: log_loss is '1e400', which is no number"),
        ([HEAD, LINE, "", LINE], ":4: mcboost, loss=logistic on wine stands in line 2 too"),
        ([HEAD, '"wine,mcboost'], ":2: unexpected end of data"),
    ],
)
def test_damaged_file_is_refused_in_one_line(write_file, lines, expected):
    path = write_file(*lines)
    if not lines:
        path.write_text("")
    with pytest.raises(UserError) as error:
        read_published_file(path)
    assert str(error.value).startswith(f"{path}{expected}")
    assert "\n" not in str(error.value)


def test_unreadable_file_is_refused(tmp_path, write_file):
    with pytest.raises(UserError, match=r"cannot read .*nothing.csv: No such file"):
        read_published_file(tmp_path / "nothing.csv")
    with pytest.raises(UserError, match=r"mine.csv:2: not UTF-8"):
        read_published_file(write_file(HEAD, "wine,mcböost,x,2.9,1,2", encoding="latin-1"))
