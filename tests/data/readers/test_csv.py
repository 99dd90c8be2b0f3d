import io
import unicodedata

import numpy as np
import pytest

from boostbench.data.data_table import features_and_labels
from boostbench.data.readers.csv import _count_lines
from boostbench.util.errors import UserError

from ..reading import csv_data, one_hot, read_csv


def read(text, labels=None):
    table = read_csv(text, labels=labels)
    data = features_and_labels(table, labels)
    return table.names, one_hot(data).tolist(), data.y.tolist()


@pytest.mark.parametrize(
    "text",
    ["# made by hand\n1,2,a\n3,4,b\n", "# by hand\n# in May\n1,2,a\n", "# a, b\n1,2,a\n", "#"],
)
def test_comments_are_named(text):
    with pytest.raises(UserError, match=r"^toy\.csv, line 1 begins with '#', as a comment does"):
        read(text)
    assert read("#id,kind\n1,a\n2,b\n")[0] == ["#id", "kind"]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_composed_and_decomposed_letters_are_equal(form):
    text = unicodedata.normalize(form, "größe,class\nä,ö\n") + "o,u\n"
    text += unicodedata.normalize("NFC", "ä,ö\n")
    for labels in ("NFC", "NFD"):
        names, X, y = read(text, unicodedata.normalize(labels, "größe"))
        assert (names, y) == (["größe", "class"], ["ä", "o", "ä"])
        assert X == [[1], [0], [1]]


def test_column_called_null_is_named(caplog):
    text = "null,x,z\na,1,2\nb,2,3\na,3,2\n"
    assert read(text, "null")[2] == ["a", "b", "a"]
    assert caplog.messages == []
    assert read(text)[2] == [2, 3, 2]
    message = "toy.csv: column 'z' holds the classes; 'data.labels=\"null\"' takes column 'null'"
    assert caplog.messages[0] == message


@pytest.mark.parametrize("separator", [",", ";", "\t", ", "])
def test_header_and_separators(separator):
    text = "a,b,kind\n1,2,cat\n3,4.5,dog\n".replace(",", separator)
    assert read(text) == (["a", "b", "kind"], [[1, 2], [3, 4.5]], ["cat", "dog"])


@pytest.mark.parametrize(
    "text",
    [
        '"a, in m";"b, in kg";kind\n1;2;cat\n3;4;dog\n',
        '"a;1;2","b;1",kind\n1,2,cat\n3,4,dog\n',
        "a, in m\tb, in kg\tkind\n1\t2\tcat\n3\t4\tdog\n",
        # The lines have at least as many commas as separators.
        "a, in m;b, in kg;kind\n1,0;2,0;cat\n3,0;4,0;dog\n",
        "a, in m\tb, in kg\tkind\n1,0\t2,0\tcat\n3,0\t4,0\tdog\n",
        "a, in m, raw;b, in kg, raw;kind\n1,0;2,0;cat\n3,0;4,0;dog\n",
        '"a;1";"b;1";kind\n1;2;cat\n3;4;dog\n',
    ],
)
def test_separators_in_quoted_names_are_ignored(text):
    assert read(text)[1:] == ([[1, 2], [3, 4]], ["cat", "dog"])


@pytest.mark.parametrize("hint", ["sep=;", "SEP=|", '"sep=;"', "\ufeffsep=\t", "sep=,"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_first_line_may_name_the_separator(hint, end):
    lines = [hint, "a,b,kind", "1,2,cat", "3,4,dog"]
    text = end.join(lines).replace(",", hint.strip('"')[-1])
    assert read(text) == (["a", "b", "kind"], [[1, 2], [3, 4]], ["cat", "dog"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a;y\n1;x\n2.x;y\n3;x\n", r", line 4: '2\.x' in column 'a' is a word"),
        ("a;y\n1;x\n2;y;z\n", ", line 4 has 3 cells, but the first row 2"),
        ('a;y\n1;"u\nv\n', ", line 3: a quote mark opens a cell"),
        ('a;y\n1;"u\nv";;\n', r", line 3 has 4 cells \(it goes on to line 4; "),
        ("a,y\n1,x\n", " has no column of .*: no ';', which line 1 names, is in its first lines"),
        ("", " is empty"),
    ],
)
def test_separator_line_is_numbered(text, message):
    with pytest.raises(UserError, match=rf"^toy\.csv{message}"):
        read(f"sep=;\n{text}")


def test_no_header():
    assert read("1,2,cat\n3,4,dog\n") == (["0", "1", "2"], [[1, 2], [3, 4]], ["cat", "dog"])


def test_numbers_as_header_are_recognised_by_the_label_column():
    text = "0,1,kind\n1,2,cat\n3,4,dog\n"
    assert read(text, "kind") == (["0", "1", "kind"], [[1, 2], [3, 4]], ["cat", "dog"])


def test_numbers_as_header_are_recognised_by_a_word_over_numbers():
    assert read("0,1,kind\n1,2,1\n3,4,2\n") == (["0", "1", "kind"], [[1, 2], [3, 4]], [1, 2])


def test_labels_by_name_and_by_the_name_class():
    assert read("kind,a\nx,1\ny,2\n", "kind")[1:] == ([[1], [2]], ["x", "y"])
    assert read("Class,a\nx,1\ny,2\n")[1:] == ([[1], [2]], ["x", "y"])
    assert read("x,1\ny,2\n", "0")[1:] == ([[1], [2]], ["x", "y"])


@pytest.mark.parametrize("header", ["class,a,class", "a,y,y", "y ,a, y"])
def test_repeated_label_column_is_refused(header):
    """The second column would be a feature that reveals the classes."""
    with pytest.raises(UserError, match=r"^toy\.csv: 2 columns are called '(class|y)', and one"):
        read(f"{header}\n1,5,1\n2,6,2\n")


@pytest.mark.parametrize("first", ["", "Unnamed: 0", '""'])
@pytest.mark.parametrize("start", [0, 1])
def test_row_numbers_of_pandas_are_no_feature(first, start, caplog):
    text = f"{first},a,y\n{start},5,1\n{start + 1},6,2\n"
    assert read(text) == (["a", "y"], [[5], [6]], [1, 2])
    assert caplog.messages == [
        "toy.csv: the first column has no name and counts the rows; it is left out"
    ]


@pytest.mark.parametrize("cells", [(0.5, 1.5), (1, 0), (2, 3), (0, 2), (0, "")])
def test_unnamed_first_column_may_be_a_feature(cells, caplog):
    names = ["Unnamed: 0", "a", "y"]
    table = table_of(",a,y\n" + "".join(f"{cell},5,{i}\n" for i, cell in enumerate(cells)))
    assert table.names == names
    expected = [np.nan if cell == "" else cell for cell in cells]
    np.testing.assert_array_equal(table.values[:, 0], expected)
    assert caplog.messages == [
        "toy.csv: the first column has no name and does not count the rows; it is the feature "
        "'Unnamed: 0'"
    ]
    assert table_of(",a,y\nann,5,1\nbob,6,2\n").categories[0] == ["ann", "bob"]


@pytest.mark.parametrize(
    ("first", "is_header", "message"),
    [
        ("0,1,kind", True, "a header; if it is a sample, add data.header=false"),
        ("?,1,b", False, None),
        ("3,1,c", True, "a header; if it is a sample, add data.header=false"),
        ("3,3,c", False, None),
    ],
)
def test_header_is_guessed_or_given(first, is_header, message, caplog):
    rows = "".join(f"{i},{i % 7},{'ab'[i % 2]}\n" for i in range(9))
    assert len(table_of(f"{first}\n{rows}").values) == 10 - is_header
    messages = [f"toy.csv: the first line is taken for {message}"] if message else []
    assert caplog.messages == messages
    for header in (True, False):
        table = read_csv(f"{first}\n{rows}", header=header)
        assert len(table.values) == 10 - header
    assert caplog.messages == messages


@pytest.mark.parametrize("n_good", [1, 100_000])
def test_text_must_be_utf_8(n_good):
    """Replacement characters would make Müller and Möller one class."""
    text = "a,y\n" + "1,Maller\n" * n_good + "1,Müller\n2,Möller\n"
    assert len(table_of(text).categories[1]) == 3
    message = (
        rf"^toy\.csv, line {n_good + 2} is not UTF-8: byte 0xfc after '1,M'; save it as UTF-8$"
    )
    with pytest.raises(UserError, match=message):
        read_csv(text.encode("cp1252"))


@pytest.mark.parametrize("end", ["\r", "\r\n"])
def test_any_line_end_is_read(end):
    assert read("a,y\n1,u\n2,v\n".replace("\n", end)) == (["a", "y"], [[1], [2]], ["u", "v"])


@pytest.mark.parametrize("ends", ["\n\r", "\r\n", ("\r\n", "\n", "\r"), ("\r", "\r\n")])
@pytest.mark.parametrize("block", [1, 2, 2**20])
def test_mixed_line_ends_are_read(monkeypatch, ends, block):
    monkeypatch.setattr("boostbench.data.readers.csv._BLOCK_BYTES", block)
    lines = ["a,y", *(f"{i},{i % 2}" for i in range(40))]
    text = "".join(line + ends[i % len(ends)] for i, line in enumerate(lines))
    stream = io.BytesIO(text.encode())
    assert _count_lines(stream) == len(lines) + 1
    assert len(read_csv(stream.getvalue()).values) == 40


@pytest.mark.parametrize("separator", [" ", "|"])
def test_other_separators_are_not_read(separator):
    with pytest.raises(UserError, match="no comma, semicolon or tab is in its first lines"):
        read("a,y\n1,2\n3,4\n".replace(",", separator))


def test_words_become_columns():
    text = "colour,size,y\nred,s,1\nblue,l,2\ngreen,s,1\n"
    assert read(text)[1] == [[0, 0, 1, 1], [1, 0, 0, 0], [0, 1, 0, 1]]


def test_words_with_underscores_are_no_numbers(caplog):
    _, X, y = read("size,class\n1_1,1_1\n11,11\n2_1,1_1\n")
    assert X == [[0, 1, 0], [1, 0, 0], [0, 0, 1]]
    assert y == ["1_1", "11", "1_1"]
    assert caplog.messages == ["toy.csv: words become categories: size (3)"]


def test_truth_values_and_quotes():
    assert read('"a","y"\nTrue,"x, x"\nFalse,y\n')[1:] == ([[1], [0]], ["x, x", "y"])


def test_blanks_after_a_word_are_stripped():
    """A category must not become two categories of the same name."""
    names = ["a", "b", "class"]
    text = "a ,b ,class\nred ,1 ,x \nred,2,x\nblue,3 ,y\ngreen,4,y\n"
    assert read(text) == (
        names,
        [[0, 0, 1, 1], [0, 0, 1, 2], [1, 0, 0, 3], [0, 1, 0, 4]],
        [*"xxyy"],
    )
    table = table_of("a,class\n1 ,x\nNA ,y\n2,nan \n")
    assert np.isnan(table.values[:, 0]).tolist() == [False, True, False]
    assert table.labels(1).tolist() == ["x", "y", "nan"]


@pytest.mark.parametrize("word", ["", "NA", "?", "nan"])
def test_missing_values(word):
    text = f"a,b,y\n1,2,x\n3,{word},y\n"
    with pytest.raises(UserError, match=r"1 rows have missing values.* row 2 .*column 'b'"):
        read(text)
    X, y, *_ = csv_data(text, missing="drop")
    assert (X.tolist(), y.tolist()) == ([[1, 2]], ["x"])


@pytest.mark.parametrize("decimal", [".", ","])
def test_other_words_for_missing_values(decimal):
    text = f"a;b;c;y\n1;2{decimal}5;red;x\nunknown;-999;none;y\n4;5{decimal}5;blue;x\n"
    table = read_csv(text, na_values=("unknown", -999, "none"))
    assert np.isnan(table.values[1, :3]).all()
    assert table.values[0, 0] == 1
    assert table.labels(3).tolist() == ["x", "y", "x"]
    text = text.replace("-999", f"-999{decimal}0")
    table = read_csv(text, na_values=("unknown", -999))
    assert np.isnan(table.values[1, :2]).all()
    with pytest.raises(UserError, match=r"'unknown' in column 'a' is .*na_values=\[unknown\]"):
        read("a,y\n1,x\n2,y\nunknown,y\n3,x\n")


@pytest.mark.parametrize("cell", ["", "NA", "?"])
def test_missing_label(cell):
    with pytest.raises(UserError, match=r"^toy\.csv, column 'y': 1 labels are missing, the first"):
        read(f"a,y\n1,x\n2,{cell}\n3,z\n")


def test_class_may_have_the_name_of_a_missing_value():
    text = "a,y\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(["None", "null", "nan"]))
    assert read(text)[2] == ["None", "null", "nan"]
    with pytest.raises(UserError, match="line 3: 'nan' in column 'y' is a word among numbers"):
        read("a,y\n1,1\n2,nan\n3,2\n")


@pytest.mark.parametrize("numbers", [["1", "2.5"], ["1,5", "2"]])
def test_none_is_missing_among_numbers_only(numbers):
    first, second = numbers
    table = table_of(f"a;b;y\nNone;None;0\n{first};Mild;1\n{second};None;0\nNone;Bad;0\n")
    assert np.isnan(table.values[:, 0]).tolist() == [True, False, False, True]
    data = features_and_labels(table, missing="keep")
    assert data.names == ["a", "b"]
    assert data.categories == ((1, ("Bad", "Mild", "None")),)
    assert table_of("a,y\nNone,1\nNone,2\n").categories[0] == ["None"]


def test_error_names_the_line_of_a_word_among_numbers():
    with pytest.raises(
        UserError, match=r"toy\.csv, line 3: '2\.x' in column 'a' is a word among numbers"
    ):
        read("a,y\n1,1\n2.x,2\n3,1\n")


@pytest.mark.parametrize(
    ("text", "line", "n_cells"),
    [
        # The class, a fourth cell, would be left out.
        ("a,b,class\n1,2,3,yes\n1,2,4,no\n", 2, 4),
        ('a,b,class\n1,2,"x\ny",\n\n1,2,x,yes\n', 5, 4),
        # Filled up, the class would be missing, or a feature.
        ("a,b,class\n1,2,yes\n1,no\n", 3, 2),
        ("class,a,b\nyes,1,2\nno,1\n", 3, 2),
        ("1,2,3\n1,2\n", 2, 2),
        ("a,b,y\n1,2,x\n1,2,y\n1,2,3,4\n", 4, 4),
        # The rows have several extra empty cells, or one that the first sample lacks.
        ("x,class\n1,a,,\n2,b,,\n", 2, 4),
        ("x,class\n1,a,\n2,b,,\n", 3, 4),
        ("x,class\n1,a\n2,b,\n", 3, 3),
        ("1,a\n2,b,\n", 2, 3),
    ],
)
def test_error_names_the_line_of_another_width(text, line, n_cells):
    with pytest.raises(
        UserError, match=rf"^toy\.csv, line {line} has {n_cells} cells, but the fir"
    ):
        read(text)


def test_trailing_empty_cells_are_ignored():
    for text in ("a,y\n1,x,\n2,y,\n", "a,y\n1,x,\n2,y\n"):
        assert read(text)[1:] == ([[1], [2]], ["x", "y"])


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ('a,class\n"1,234",0\n999,1\n998,1\n', "1,234"),
        ("a;class\n1,234;0\n999;1\n", "1,234"),
        ("a;class\n1,234,567;0\n1,234,568;1\n", "1,234,567"),
        ("a;class\n1,5;0\n1,25;1\n1.5;1\n", "1,5"),
    ],
)
def test_ambiguous_commas_are_refused(text, cell):
    with pytest.raises(
        UserError, match=rf"^toy\.csv, line [23]: '{cell}' in column 'a' has a comma"
    ):
        read(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a;b;class\n1;x;0\n1,5;y;0\n,5e-1;x;1\n", [[1, 0], [1.5, 1], [0.05, 0]]),
        ("a\tclass\n-1.234,5\t0\n-2\t1\n-3,5\t0\n", [[-1234.5], [-2], [-3.5]]),
        # Another column with an unambiguous comma decides that commas are decimal.
        ("a;b;class\n1,234;0,5;0\n999;2;1\n", [[1.234, 0.5], [999, 2]]),
        ("0,5;0\n7,25;1\n", [[0.5], [7.25]]),
        ("0,5;1,5;2\n7,25;2;1\n", [[0.5, 1.5], [7.25, 2]]),
    ],
)
def test_decimal_commas_are_logged(text, expected, caplog):
    assert read(text)[1] == expected
    assert "toy.csv: decimal commas, read as points: " in caplog.messages[0]


def test_categories_may_have_commas():
    assert read('a,y\n"x,1",1\n"x,2",2\n"1,2",2\n')[1] == [[0, 1, 0], [0, 0, 1], [1, 0, 0]]


def test_large_whole_numbers_are_exact_labels():
    labels = [2**53, 2**53 + 1, 2**53 + 2]
    text = "id,y\n" + "".join(f"{label},{label}\n" for label in labels)
    assert read(text)[1:] == ([[float(label)] for label in labels], labels)


def test_whole_numbers_beyond_int64_are_features():
    X = read("a,y\n" + "".join(f"{2**70 + i},{i}\n" for i in range(3)))[1]
    assert X == [[2.0**70]] * 3


def test_lines_are_counted_as_an_editor_does():
    text = 'a,y\n\n1,"two\nlines"\n\n2.x,x\n3,x\n'
    with pytest.raises(UserError, match=r"^toy\.csv, line 6: '2\.x'"):
        read(text)


@pytest.mark.parametrize("text", ["", "\n1,2\n"])
def test_empty_file_is_refused(text):
    with pytest.raises(UserError, match="is empty, or its first line is"):
        read(text)


def test_header_without_rows_is_refused():
    with pytest.raises(UserError, match="holds no samples"):
        read("a,b,y\n")


def test_unknown_label_column_is_refused():
    with pytest.raises(UserError, match=r"unknown column of toy\.csv 'knd'; did you mean kind\?"):
        read("a,kind\n1,2\n3,4\n", "knd")


def test_ambiguous_label_columns_are_refused():
    message = r"^toy\.csv has the columns Class, class; data\.labels says which is meant$"
    with pytest.raises(UserError, match=message):
        read("Class,a,class\nx,1,p\ny,2,q\n")
    assert read("Class,a,class\nx,1,p\ny,2,q\n", "class")[2] == ["p", "q"]


def test_values_are_floats():
    table = read_csv("a,y\n1,2\n3,4\n")
    assert table.values.dtype == np.float64


@pytest.mark.parametrize("row", ['9,"9,q', '9,9,"q', '"9,9,q'])
@pytest.mark.parametrize("length", [1, 2000])
def test_error_names_the_line_of_an_open_quote(row, length):
    """The longer file exceeds the cell limit of the CSV reader."""
    lines = [f"{i},{i},p" for i in range(9)]
    with pytest.raises(UserError, match=r"^toy\.csv, line 11.*quote mark"):
        table_of(rows(*lines, row, *lines * length, f"1,1,{'p' * 70 * length}"))


def test_error_names_the_first_line_of_a_row():
    with pytest.raises(UserError, match=r"line 3 has 2 cells \(it goes on to line 4; is a quote "):
        table_of(rows("1,1,p", '2,"2,q', '3,3,q"', "4,4,p"))


def table_of(text):
    return read_csv(text)


def rows(*lines):
    return "a,b,class\n" + "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    "text",
    [
        rows("1,x,p", "2,y,q", "3,x,p", "4,,q"),
        rows("1,1,p", "2,word,p", "3,other,q", "x,third,q", "y,1,p", "z,2,p", "v,w,p"),
        rows("1,5,p", "2,5,p", "3,True,q", "4,5,p", "5,False,q", "6,True,q", "7,True,q"),
        rows("1,1.50,p", "2,2,p", "3,w,p", "4,v,q", "5,u,q"),
        rows("1,True,p", "2,False,p", "3,,q", "4,True,q"),
        rows("1,True,p", "2,False,p", "3,x,q", "4,1,q"),
        rows("1,1,9007199254740992", "2,2,1", "3,3,9007199254740993", "4,4,1"),
        rows("1,1,1", "2,9007199254740993,1", "3,2.5,2", "4,4,2"),
        rows("1,1,1", "2,18446744073709551615,1", "3,2,2", "4,4,2"),
        rows("1;1,5;p", "2;2,5;p", "3;2;q", "4;1.234,5;q").replace("a,b,class", "a;b;class"),
        rows("1,1,p", "2,,p", "3,?,q", "4,NA,q"),
        rows("?,1,p", ",2,p", "3,3,q", "4,4,q"),
    ],
)
def test_chunk_size_does_not_change_the_table(monkeypatch, text):
    whole = features_and_labels(table_of(text), missing="median")
    for cells in (3, 6, 9):
        monkeypatch.setattr("boostbench.data.readers.csv._CHUNK_CELLS", cells)
        parts = features_and_labels(table_of(text), missing="median")
        for first, second in zip(whole[:2], parts[:2], strict=True):
            np.testing.assert_array_equal(first, second)
        assert whole[2:4] == parts[2:4]


def test_error_names_the_line_of_a_later_row(monkeypatch):
    monkeypatch.setattr("boostbench.data.readers.csv._CHUNK_CELLS", 6)
    good = [f"{i},{i},p" for i in range(9)]
    for line, message in (
        ("9,x,q", "line 11: 'x' in column 'b' is a word"),
        ("9,q", "line 11 has 2"),
    ):
        with pytest.raises(UserError, match=message):
            csv_data(rows(*good, line))


def test_words_of_ids_are_stored_for_half_of_the_rows(monkeypatch):
    n = 3000
    text = rows(*(f"{i},name{i},{i % 3}" for i in range(n)))
    monkeypatch.setattr("boostbench.data.readers.csv._CHUNK_CELLS", 30)
    assert len(table_of(text).categories[1]) == 1510
    with pytest.raises(UserError, match=r"column 'b' is different in more than half of 3000 rows"):
        csv_data(text)
    assert csv_data(text, drop=("b",)).X[:, 0].tolist() == list(range(n))
    # Labels may be as many as they like, and so may numbers with commas.
    assert len(table_of(text.replace("a,b,class", "a,class,b")).categories[1]) == n
    decimal = "a;class\n" + "".join(f"{i},5;{i % 3}\n" for i in range(n))
    assert len(table_of(decimal).categories[0]) == n
