import pytest
from scipy import stats

from boostbench.analysis.algorithm_pairs import Effects, count_effects, find_effects
from boostbench.analysis.verdicts import count_tables
from boostbench.report.overview import effects_sentence
from tests.analysis.groups import find_group


def _spread(mean):
    return [mean - 1, mean, mean + 1] * 4


@pytest.fixture
def table_of_effects(make_cell, make_table):
    """Four data sets: a same, a reversed and a lost effect, and numbers that are not separated."""
    published = {"a": (10.0, 1.0), "b": (20.0, 1.0)}
    ours = {"same": (12, 18), "reversed": (18, 12), "lost": (15, 15.1), "close": (10, 30)}
    cells = {}
    for row, means in ours.items():
        for name, mean in zip("ab", means, strict=True):
            target = (10.0, 1.0) if row == "close" else published[name]
            source = f"{row}:{name}"
            cells[row, name] = make_cell(_spread(mean), row, name, published=target, source=source)
    return make_table(cells, paper="mcboost")


def test_effects_are_counted_by_sign_and_significance(table_of_effects):
    result = count_effects(find_effects(table_of_effects))
    assert result == Effects(separated=3, same_sign=2, significant=1, reversed_significant=1)
    assert str(result) == "3: 67% / 33%"
    assert (
        count_effects([*find_effects(table_of_effects), *find_effects(table_of_effects)]) == result
    )
    tallies = count_tables([table_of_effects])
    assert tallies.effects == result
    assert find_group(tallies.papers, "mcboost").effects == tallies.table("name").effects == result
    assert effects_sentence(result) == (
        "Of 3 pairs of algorithms that the papers' numbers separate on a data set, 67% have the "
        "same order in ours, and 33% are separated by ours as well; 33% are separated in the "
        "opposite order."
    )


def test_pair_is_separated_by_welchs_test(make_cell, make_table):
    for distance in (0.8, 1.0, 1.2, 1.5):
        cells = {
            ("wine", name): make_cell(_spread(mean), "wine", name, published=(mean, 1.1), n=10)
            for name, mean in (("a", 10.0), ("b", 10.0 + distance))
        }
        test = stats.ttest_ind_from_stats(10.0, 1.1, 10, 10 + distance, 1.1, 10, equal_var=False)
        assert count_effects(find_effects(make_table(cells))).separated == (test.pvalue < 0.05)


def test_effects_require_deviations_and_equal_rounds(make_cell, make_table, table_of_rounds):
    cells = {
        ("wine", name): make_cell(_spread(mean), "wine", name, published=(mean, float("nan")))
        for name, mean in (("a", 10.0), ("b", 20.0))
    }
    assert count_effects(find_effects(make_table(cells))) == Effects()
    assert str(Effects()) == "-"
    assert effects_sentence(Effects()) == ""
    assert count_effects(find_effects(table_of_rounds)) == Effects()
