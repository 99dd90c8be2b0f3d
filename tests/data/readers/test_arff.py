import numpy as np
import pytest
from scipy.sparse import issparse

from boostbench.data.readers import arff
from boostbench.util.errors import UserError

from ..reading import read_arff

DENSE = """% a comment
@relation 'a set'
@attribute 'first one' numeric
@attribute kind {'red', "light blue", green}
@attribute note string
@attribute Class {yes, no}
@data
% another
1.5, 'light blue', 'so, so', yes

?, red, ?, no
-2e1, green, fine, yes
"""

SPARSE = """@RELATION s
@ATTRIBUTE a NUMERIC
@ATTRIBUTE b {0, 3}
@ATTRIBUTE empty REAL
@ATTRIBUTE Y {1,-1}
@DATA
{0 2.5, 1 3}
{3 -1}
{0 ?, 3 1}
{}
"""


def read(text):
    return read_arff(text)


def test_dense():
    table = read(DENSE)
    assert table.names == ["first one", "kind", "note", "Class"]
    assert table.categories == [
        None,
        ["red", "light blue", "green"],
        ["so, so", "fine"],
        ["yes", "no"],
    ]
    expected = [[1.5, 1, 0, 0], [np.nan, 0, np.nan, 1], [-20, 2, 1, 0]]
    np.testing.assert_array_equal(table.values, expected)


def test_dense_in_several_chunks(monkeypatch):
    whole = read(DENSE)
    monkeypatch.setattr(arff, "CHUNK_ROWS", 2)
    np.testing.assert_array_equal(read(DENSE).values, whole.values)


def test_sparse_rows_mean_zero_or_the_first_category_and_keep_empty_columns():
    table = read(SPARSE)
    assert issparse(table.values)
    expected = [[2.5, 1, 0, 0], [0, 0, 0, 1], [np.nan, 0, 0, 0], [0, 0, 0, 0]]
    np.testing.assert_array_equal(table.values.toarray(), expected)
    assert table.labels(3).tolist() == [1, -1, 1, 1]


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("-2e1", "abc", 12),
        ("-2e1, green", "-2e1, 50%", 12),
        ("-2e1, ", "", 12),
        ("?, red", "'?, red", 11),
        ("@attribute note string", "@attribute note strong", 5),
        ("@attribute note string", "@attribute kind string", 5),
        ("@relation 'a set'\n", "", 2),
    ],
)
def test_error_has_the_number_of_a_bad_line(old, new, line):
    assert old in DENSE
    with pytest.raises(UserError, match=rf"^toy\.arff: .* line {line}\b"):
        read(DENSE.replace(old, new))


def test_error_has_the_number_of_a_bad_sparse_line():
    with pytest.raises(UserError, match=r"^toy\.arff: .* line 8\b"):
        read(SPARSE.replace("{3 -1}", "{3 -1, 9 1}"))


@pytest.mark.parametrize("text", [DENSE.partition("% another")[0], DENSE.replace("@data", ""), ""])
def test_no_rows(text):
    with pytest.raises(UserError, match="holds no samples"):
        read(text)


def test_tabs_after_keywords():
    header = "@attribute 'first one' numeric"
    assert read(DENSE.replace(header, header.replace(" ", "\t", 1))).names[0] == "first one"


def test_fractions_of_integers_are_kept():
    table = read("@relation r\n@attribute a Integer\n@attribute y {u,v}\n@data\n1.5,u\n?,v\n")
    np.testing.assert_array_equal(table.values, [[1.5, 0], [np.nan, 1]])


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        ("@attribute", r"^toy\.arff, line 3 does not parse: '@attribute'$"),
        ("@attribute a", r"^toy\.arff: Bad @ATTRIBUTE format, at line 3: '@attribute a'$"),
        ("@attribute a thing", r"Bad @ATTRIBUTE type, at line 3: '@attribute a thing'$"),
    ],
)
def test_attribute_requires_a_name_and_a_type(attribute, message):
    with pytest.raises(UserError, match=message):
        read(DENSE.replace("@attribute 'first one' numeric", attribute))


@pytest.mark.parametrize("kind", ["INTEGER [0,9]", "numeric[0.5, 3] % legs", "Real [0,*]"])
def test_ranges_of_numbers_are_ignored(kind):
    table = read(f"@relation r\n@attribute legs {kind}\n@attribute y {{u,v}}\n@data\n2.5,u\n4,v\n")
    assert table.names == ["legs", "y"]
    np.testing.assert_array_equal(table.values, [[2.5, 0], [4, 1]])


@pytest.mark.parametrize(
    ("text", "old"), [(DENSE, "?, red, ?, no"), (SPARSE, "{3 -1}"), (SPARSE, "{0 2.5, 1 3}")]
)
def test_weights_of_samples_are_refused(text, old):
    with pytest.raises(
        UserError, match=r"^toy\.arff, line \d+ gives the sample the weight \{2.0\}"
    ):
        read(text.replace(old, f"{old}, {{2.0}}"))


def test_repeated_index_of_a_sparse_row_is_refused():
    with pytest.raises(UserError, match=r"^toy\.arff, line 7 gives index 1 twice$"):
        read(SPARSE.replace("{0 2.5, 1 3}", "{1 3, 0 2.5, 1 0}"))
    with pytest.raises(UserError, match=r"^toy\.arff, line 8 gives index 3 twice$"):
        read(SPARSE.replace("{3 -1}", "{3 -1,3 1}"))
    quoted = SPARSE.replace("a NUMERIC", "a STRING").replace("{0 2.5, 1 3}", "{0 'x, 1 3', 1 3}")
    assert read(quoted).categories[0][1] == "x, 1 3"


@pytest.mark.parametrize("name", ["start", "'the start'"])
@pytest.mark.parametrize("kind", ["date", 'DATE "yyyy-MM-dd"'])
def test_dates_are_refused(name, kind):
    message = (
        r"^toy\.arff, line 3: column '(the )?start' holds dates, which .* make days of it: frame"
    )
    with pytest.raises(UserError, match=message):
        read(DENSE.replace("'first one' numeric", f"{name} {kind}"))


def test_attribute_name_may_begin_with_date():
    assert read(DENSE.replace("'first one'", "date")).names[0] == "date"


@pytest.mark.parametrize(
    "kind",
    ["real % in cm", "integer%", "string % {x}", "{a, 'b} % c'} % of {x}", '{a,"b\\"} %"} % x'],
)
def test_comment_behind_a_type_is_ignored(kind):
    attribute = "@attribute x {}\n"
    text = "@relation r\n{}@attribute y {{u,v}} % the class\n@data\n?,u\n?,v\n"
    table = read(text.format(attribute.format(kind)))
    plain = kind[: kind.rindex("%")].strip()
    assert table.categories == read(text.format(attribute.format(plain))).categories
    assert table.categories[1] == ["u", "v"]


@pytest.mark.parametrize("line", ["'a string % b' real", "a {'x} % y',z}"])
def test_percent_sign_in_quotes_is_not_a_comment(line):
    text = f"@relation r\n@attribute {line}\n@attribute y {{u,v}}\n@data\n?,u\n"
    table = read(text)
    assert "% b" in table.names[0] or table.categories[0] == ["x} % y", "z"]


def test_question_mark_category_is_never_used():
    text = b"@relation r\n@attribute k {x, ?, y}\n@attribute c {1,2}\n@data\nx,1\ny,2\n?,2\n"
    table = read_arff(text)
    assert table.categories[0] == ["x", "?", "y"]
    assert table.values[:2, 0].tolist() == [0, 2]
    assert np.isnan(table.values[2, 0])


def test_comments_need_not_be_utf_8():
    """Replacement characters would make two classes equal."""
    text = "@relation r\n@attribute a real\n@attribute c {Möller,Müller}\n@data\n1,Möller\n"
    assert read("\ufeff% von Müller\n" + text).categories[1] == ["Möller", "Müller"]
    for encoded, line in ((text, 3), (text.replace("{Möller,Müller}", "string"), 5)):
        content = b"% von M\xfcller\n" + encoded.encode("cp1252")
        with pytest.raises(
            UserError, match=rf"^toy\.arff, line {line + 1} is not UTF-8: .* UTF-8$"
        ):
            read_arff(content)
    commented = "@relation r\n@attribute a real\n@attribute c {u,v}\n@data\n% ü\n1,u\n"
    assert read_arff(commented.encode("cp1252")).values.tolist() == [[1, 0]]


def test_any_line_end_is_read():
    np.testing.assert_array_equal(read(DENSE.replace("\n", "\r")).values, read(DENSE).values)
