import io

import numpy as np
import pytest
from scipy import stats

from boostbench.analysis.algorithm_pairs import CLAIMS_EXPLANATION, judge_claims
from boostbench.analysis.statistics.resampled import p_below
from boostbench.fitting.quantities import QUANTITIES
from boostbench.papers.notes import Claim
from boostbench.report.document import make_document
from boostbench.report.renderers.console import print_judgement
from boostbench.report.renderers.latex import latex_notes
from boostbench.report.renderers.markdown import markdown
from boostbench.util.terminal import make_console

LOW, HIGH = [10.0, 11.0, 12.0, 11.0, 10.5], [14.0, 15.5, 16.2, 15.1, 14.9]
MIXED = [12.0, 9.0, 13.0, 10.0, 11.2]


@pytest.fixture
def judge_claim(make_cell, make_table):
    """Judge one claim on a against b; numbers by row."""

    def judge(numbers, within=None, times=1.0, changed=(), **fields):
        cells = {}
        for row, pair in numbers.items():
            for name, errors in zip("ab", pair, strict=True):
                departures = ("protocol.n_splits=3",) if row in changed else ()
                cells[row, name] = make_cell(errors, row, name, departures=departures, **fields)
        claim = Claim("A is so and so.", [["a", "b"]], [], within, times, list(numbers))
        sentence, explanation = judge_claims(make_table(cells, claims=[claim]))
        assert explanation == CLAIMS_EXPLANATION
        return sentence.removeprefix("“A is so and so.” ")

    return judge


def test_claim_without_records_is_undecided(make_cell, make_table):
    rows = [f"row{i}" for i in range(9)]
    cells = {(row, name): make_cell([], row, name, missing=5) for row in rows for name in "ab"}
    claim = Claim("A is so and so.", [["a", "b"]], rows=rows)
    [sentence] = judge_claims(make_table(cells, claims=[claim]))
    assert sentence == "“A is so and so.” is undecided: nothing of it is on record."
    for name in "ab":
        cells["row3", name] = make_cell(LOW if name == "a" else HIGH, "row3", name)
    sentence, explanation = judge_claims(make_table(cells, claims=[claim]))
    assert sentence.endswith(
        "is undecided: 1 of 9 comparisons confirm it, for new samples and on these splits. "
        "Not on record: 8 comparisons."
    )
    assert explanation == CLAIMS_EXPLANATION


def test_claim_holds_if_every_row_confirms_it(judge_claim):
    sentence = judge_claim({"wine": (LOW, HIGH), "iris": (LOW, HIGH)})
    assert sentence == "holds: 2 of 2 comparisons confirm it, for new samples and on these splits."


def test_undecided_row_leaves_the_claim_undecided(judge_claim):
    sentence = judge_claim({"wine": (LOW, HIGH), "iris": (LOW, MIXED)})
    assert sentence == (
        "is undecided: 1 of 2 comparisons confirm it, for new samples and on these splits. "
        "Undecided: iris (A against B)."
    )


def test_contradicting_row_refutes_the_claim(judge_claim):
    sentence = judge_claim({"wine": (LOW, HIGH), "iris": (HIGH, LOW), "dna": (LOW, MIXED)})
    assert sentence == (
        "does not hold: 1 of 3 comparisons confirm it, for new samples and on these splits. "
        "Against it: iris (A against B). "
        "Undecided: dna (A against B)."
    )


def test_claim_is_corrected_for_many_comparisons(judge_claim):
    """A small p-value against it counts alone, and not among ten."""
    slightly = [x + d for x, d in zip(LOW, [0.9, 0.3, 0.6, 0.3, 0.4], strict=True)]
    assert judge_claim({"iris": (slightly, LOW)}).startswith("does not hold")
    many = {f"row{i}": (LOW, HIGH) for i in range(9)} | {"iris": (slightly, LOW)}
    assert judge_claim(many).startswith("is undecided: 9 of 10")


@pytest.mark.parametrize(
    ("within", "verdict"), [(6.0, "holds"), (4.1, "is undecided"), (2.0, "does not hold")]
)
def test_equivalence_claim_depends_on_the_margin(judge_claim, within, verdict):
    """The margin applies in both directions; the means differ by 4.2."""
    for pair in ((LOW, HIGH), (HIGH, LOW)):
        assert judge_claim({"wine": pair}, within=within).startswith(verdict)


def test_equal_numbers_confirm_equivalence_only(judge_claim):
    assert judge_claim({"wine": (LOW, LOW)}, within=0.1).startswith("holds")
    assert judge_claim({"wine": (LOW, LOW)}).startswith("is undecided")


def test_claim_with_a_factor(judge_claim):
    assert judge_claim({"wine": (LOW, HIGH)}, times=0.8).startswith("holds")
    assert judge_claim({"wine": (LOW, HIGH)}, times=0.5).startswith("does not hold")


def test_larger_accuracy_is_better(judge_claim):
    assert judge_claim({"wine": (LOW, HIGH)}, quantity=QUANTITIES["accuracy"]).startswith("holds")


def test_claim_pairs_splits_and_needs_all_rows(judge_claim):
    assert judge_claim({"wine": (LOW, HIGH), "iris": ([], HIGH)}).startswith("is undecided: 1 of 2")
    sentence = judge_claim({"wine": (LOW[:1], HIGH), "iris": (MIXED, LOW)})
    assert sentence == (
        "is undecided: 0 of 2 comparisons confirm it, for new samples and on these splits. "
        "Undecided: iris (A against B). "
        "Not on record: wine (A against B)."
    )
    # Large differences between the splits do not hide small ones within them.
    spread_errors = [10.0, 40.0, 70.0, 20.0, 55.0]
    assert judge_claim(
        {"wine": (spread_errors, [x + 0.5 + x / 1000 for x in spread_errors])}
    ).startswith("holds")


def test_claim_on_changed_settings_is_not_judged(judge_claim):
    sentence = judge_claim({"wine": (LOW, HIGH), "iris": (HIGH, LOW)}, changed=["iris"])
    assert sentence == "is not judged, as settings differ."


def test_correction_for_shared_samples_decides_the_claim(judge_claim):
    """p = 0.02 on these splits, and 0.07 for new samples: a third as many test samples."""
    slightly = [x - d for x, d in zip(LOW, [0.9, -0.05, 0.6, 0.2, 0.4], strict=True)]
    differences = np.subtract(slightly, LOW)
    t = differences.mean() / np.sqrt(differences.var(ddof=1) * (1 / 5 + 25 / 75))
    assert p_below(differences, 0.0) < 0.05 < stats.t.cdf(t, 4)
    assert p_below(differences, 0.0, 25 / 75) == pytest.approx(stats.t.cdf(t, 4))
    assert judge_claim({"wine": (slightly, LOW)}) == (
        "is undecided: 0 of 1 comparisons confirm it for new samples. On these splits it holds, "
        "by 1 of 1. Undecided: wine (A against B)."
    )
    # All splits test the same official part.
    official = judge_claim({"wine": (slightly, LOW)}, sampling="official")
    assert official == "holds: 1 of 1 comparisons confirm it, on these splits."


def test_uncorrected_test_is_the_one_sided_t_test():
    differences = np.random.default_rng(0).normal(0.3, 1, 12)
    expected = stats.ttest_1samp(differences, 0.5, alternative="less").pvalue
    assert p_below(differences, 0.5) == pytest.approx(expected)


def test_table_without_claims_has_no_sentences(table):
    assert judge_claims(table) == []


def test_claims_are_in_every_format(make_cell, make_table):
    cells = {("wine", "a"): make_cell(LOW), ("wine", "b"): make_cell(HIGH)}
    table = make_table(cells, claims=[Claim("A is better.", [["a", "b"]], rows=["wine"])])
    assert "“A is better.” holds: 1 of 1" in markdown(make_document(table))
    assert "A is better." in latex_notes(make_document(table))
    console = make_console(file=io.StringIO(), width=80)
    print_judgement(console, make_document(table))
    assert "“A is better.” holds: 1 of 1" in console.file.getvalue()
