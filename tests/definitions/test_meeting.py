import pytest

from boostbench.definitions.meeting import tables_with
from boostbench.errors import UserError


def test_all_tables_that_hold_them_the_largest_first():
    assert tables_with(["rboost_proj", "rboost_rank"]) == [
        "randomboost4",
        "randomboost5",
        "randomboost6",
        "randomboost5_proj",
    ]
    assert tables_with(["rboost_proj@50", "adaboost"]) == ["randomboost4"]


def test_tables_of_parts_of_one_data_set_only_where_named():
    # mcboost3 has eight rows of letter.
    assert tables_with(["exponential", "multiboost"]) == ["mcboost5", "mcboost4", "mcboost6"]
    assert tables_with(["exponential", "multiboost"], ["mcboost3"]) == ["mcboost3"]


def test_named_tables_keep_their_order():
    asked = ["randomboost6", "randomboost4"]
    assert tables_with(["rboost_proj", "rboost_rank"], asked) == asked


def test_a_table_of_ones_own(define_table):
    name = define_table(rows=["iris"], columns=["samme", {"mine": {"algo": "adaboost_mh"}}])
    assert tables_with(["mine", "samme"], [name], ["iris"]) == [name]


@pytest.mark.parametrize(
    ("names", "tables", "data", "told"),
    [
        (["rboost_prj", "samme"], [], [], "did you mean rboost_proj, rboost_rank"),
        (["rboost_proj@5", "samme"], [], [], "did you mean rboost_proj@50, "),
        (
            ["mcboost", "samme"],
            [],
            [],
            "'mcboost' is ambiguous: columns of",
        ),
        (["adaboost", "samme"], [], [], "adaboost is in randomboost4; samme is in mcboost5"),
        (["samme", "logistic"], ["randomboost5"], [], "unknown algorithm 'samme'"),
        (
            ["samme", "adaboost_mh"],
            ["mcboost5", "demo"],
            [],
            "table demo has no samme; it has",
        ),
        (
            ["samme", "adaboost_mh"],
            ["mcbost5"],
            [],
            "unknown table 'mcbost5'; did you mean",
        ),
        (["samme", "adaboost_mh"], [], ["wine", "vowle"], "'vowle'; did you mean vowel"),
    ],
)
def test_mistakes(names, tables, data, told):
    with pytest.raises(UserError) as mistake:
        tables_with(names, tables, data)
    assert told in str(mistake.value)
