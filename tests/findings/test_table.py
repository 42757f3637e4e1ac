"""Claims follow from ends, aggregates from rows: laws of tables of findings, against brute force."""

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from reluscope.errors import InputError
from reluscope.findings import Column, Finding, Findings, Kind, Status, declare
from reluscope.findings.claims import claim_of
from reluscope.findings.derived import STAKES, Ends, at_an_end, lowest_mean, mean, quantile, total
from reluscope.findings.written_findings import ends_in_words, with_ends
from reluscope.stopping import Stop, StopReason

LENGTH = declare("test_length", "length of what is tested", unit="input")
COUNT = declare("test_count", "number of what is tested", kind=Kind.COUNT)
TRUTH = declare("test_truth", "whether what is tested holds", kind=Kind.TRUTH)


def table(*columns, status=None, **fields):
    number = len(columns[0])
    status = status or (Status.DONE,) * number
    return Findings({one.quantity.name: one for one in columns}, {"sample": np.arange(number)}, status, **fields)


def ends_of(finding):
    assert finding.interval is not None
    return finding.interval


@st.composite
def cells(draw, most=6, whole=True):
    """Return lower ends, values, upper ends."""
    number = draw(st.integers(1, most))
    table = draw(arrays(np.float64, (number, 3), elements=st.integers(0, 9) if whole else st.floats(0, 1e6)))
    return np.sort(table, axis=1).T


@given(cells(whole=False), st.floats(0, 1e10))
def test_claims_say_what_the_ends_say(ends, scale) -> None:
    lower, value, upper = ends
    claims = Column.of(LENGTH, value, lower, upper, scale=scale).claims
    for one, low, high, claim in zip(value, lower, upper, claims, strict=True):
        assert (claim == "EXACT") == (max(high - one, one - low) <= max(1e-6 * one, 1e-9 * scale))
        if claim == "LOWER":
            assert one == low
        if claim == "UPPER":
            assert one == high
        if claim == "ESTIMATE":
            assert low < one < high


@given(cells())
def test_medians_and_means_hold_those_of_every_possible_truth(ends) -> None:
    lower, value, upper = ends
    found = table(Column.of(COUNT, value, lower, upper))
    for ask, truth in (
        (found.median, np.median),
        (found.mean, np.mean),
        (lambda n: found.quantile(n, 0.25), lambda v: np.quantile(v, 0.25)),
    ):
        finding = ask(COUNT)
        possible = [truth(np.array(one)) for one in itertools.product(*zip(lower, upper, strict=True))]
        low, high = finding.interval or (finding.value, finding.value)
        assert low == pytest.approx(min(possible))
        assert high == pytest.approx(max(possible))
        assert (finding.claim == "EXACT") == (min(possible) == pytest.approx(max(possible)))
        assert float(finding) == pytest.approx(float(truth(value)))


@given(cells(), st.randoms())
def test_the_order_of_rows_has_no_effect(ends, random) -> None:
    lower, value, upper = ends
    order = list(range(len(value)))
    random.shuffle(order)
    one, other = (
        table(Column.of(COUNT, v, a, b))
        for v, a, b in ((value, lower, upper), (value[order], lower[order], upper[order]))
    )
    assert str(one.median(COUNT)) == str(other.median(COUNT))
    assert str(one.mean(COUNT)) == str(other.mean(COUNT))


@given(arrays(np.float64, st.integers(1, 6), elements=st.integers(0, 9)), st.integers(0, 3))
def test_rows_that_were_not_reached_may_be_anything(value, missing) -> None:
    done = Column.of(COUNT, value)
    status = (Status.DONE,) * len(value) + (Status.NOT_REACHED,) * missing
    found = table(Column.joined([done], missing), status=status)
    finding = found.mean(COUNT)
    assert (finding.claim == "EXACT") == (missing == 0)
    if missing:
        assert finding.interval == (pytest.approx(value.sum() / (len(value) + missing)), np.inf)


def test_rows_without_the_quantity_are_left_out() -> None:
    found = table(Column.of(LENGTH, [1.0, np.nan, 3.0]), status=(Status.DONE, Status.UNDEFINED, Status.DONE))
    assert str(found.median(LENGTH)) == "2 (EXACT)"
    with pytest.raises(InputError, match="row 1, which is undefined"):
        found.finding(LENGTH, 1)
    with pytest.raises(InputError, match="got none"):
        table(Column.of(LENGTH, [np.nan]), status=(Status.UNDEFINED,)).median(LENGTH)


def test_rows_may_have_one_quantity_and_not_another() -> None:
    found = Findings.of(Column.of(LENGTH, [1.0, np.nan, 3.0]), Column.of(COUNT, [1, 2, 3]), keys={"sample": [0, 1, 2]})
    assert found.is_done.all()
    assert (str(found.median(LENGTH)), str(found.mean(COUNT))) == ("2 (EXACT)", "2 (EXACT)")


def test_a_population_that_was_looked_at_whole_is_no_sample_of_itself() -> None:
    status = (Status.DONE, Status.UNDEFINED, Status.DONE)
    whole = table(Column.of(LENGTH, [1.0, np.nan, 3.0]), status=status, population=3)
    assert str(whole.median(LENGTH)) == "2 (EXACT)"
    assert table(Column.of(LENGTH, [1.0, np.nan, 3.0]), status=status, population=4).median(LENGTH).claim == "ESTIMATE"


def test_ends_with_a_confidence_have_none_together() -> None:
    found = table(Column.of(LENGTH, [1.0, 3.0], [0.5, 2.0], [2.0, 5.0], confidence=0.95))
    assert found.finding(LENGTH, 0).definition.endswith("; the ends hold with a probability of 95%")
    mean = found.mean(LENGTH)
    assert (mean.claim, mean.interval) == ("ESTIMATE", (1.25, 3.5))
    assert mean.definition.endswith("; from ends that hold with 95% each")


@pytest.mark.few(1)
@pytest.mark.parametrize("level", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("tail", [0.5, 1.0, 3.0])
def test_intervals_of_drawn_rows_hold_the_truth_as_often_as_they_say(level: float, tail: float) -> None:
    """Lognormal lengths and shares that follow from them; the heaviest tails among them."""
    generator = np.random.default_rng(0)
    everyone = np.exp(tail * generator.standard_normal(2_000))
    part = declare("test_part_of_rows", "part of what is tested", kind=Kind.SHARE)
    hits = {"quantile": 0, "mean": 0, "mean of parts": 0, "share": 0}
    for _ in range(200):
        drawn = generator.choice(everyone, 60, replace=False)
        columns = Column.of(LENGTH, drawn), Column.of(TRUTH, drawn > 1.0), Column.of(part, drawn / everyone.max())
        found = table(*columns, population=len(everyone))
        for name, finding, truth in (
            ("quantile", found.quantile(LENGTH, level), np.quantile(everyone, level)),
            ("mean", found.mean(LENGTH), everyone.mean()),
            ("mean of parts", found.mean(part), everyone.mean() / everyone.max()),
            ("share", found.share(TRUTH), (everyone > 1.0).mean()),
        ):
            assert finding.claim == "ESTIMATE"
            low, high = ends_of(finding)
            hits[name] += low <= truth <= high
    assert min(hits.values()) >= 200 * (0.95 - 3 * (0.95 * 0.05 / 200) ** 0.5)


@pytest.mark.few(2)
@pytest.mark.parametrize("tail", [0.5, 1.5, 3.0])
@pytest.mark.parametrize("number", [4, 32, 256])
def test_lowest_means_hold_whatever_the_distribution(tail: float, number: int) -> None:
    """Of lognormal numbers, and of rare large ones."""
    draw = np.random.default_rng(0)
    numbers = np.exp(tail * draw.standard_normal((400, number)) - tail**2 / 2)  # of mean 1
    rare = draw.binomial(1, 1 / number, (400, number)) * float(number)
    for drawn in (numbers, rare):
        assert np.mean([lowest_mean(row, 0.025) > 1 for row in drawn]) <= 0.025 + 3 * (0.025 / 400) ** 0.5


def test_a_lowest_mean_is_the_largest_against_which_bets_win() -> None:
    """What a player has, as a mean over stakes, is 1 / tail there: less a little above, more a little below."""
    for seed in range(8):
        draw = np.random.default_rng(seed)
        values, tail = draw.exponential(size=int(draw.integers(2, 40))), float(draw.choice([0.01, 0.1]))
        found = lowest_mean(values, tail)
        for place, wins in ((found * (1 - 1e-9), True), (found * (1 + 1e-9), False)):
            held = [math.prod(1 + stake * (value / place - 1) for value in values.tolist()) for stake in STAKES]
            assert (sum(held) / len(held) >= 1 / tail) == wins


@pytest.mark.parametrize(("yes", "number"), [(0, 4), (4, 4), (1, 4), (3, 7)])
def test_a_drawn_share_has_the_interval_of_clopper_and_pearson(yes, number) -> None:
    """At either end so few or so many answers, or more extreme ones, come about in one case of forty."""
    found = table(Column.of(TRUTH, np.arange(number) < yes), population=100).share(TRUTH)
    low, high = ends_of(found)

    def at_most(most, chance):
        return sum(math.comb(number, k) * chance**k * (1 - chance) ** (number - k) for k in range(most + 1))

    assert low == 0.0 if yes == 0 else 1 - at_most(yes - 1, low) == pytest.approx(0.025)
    assert high == 1.0 if yes == number else at_most(yes, high) == pytest.approx(0.025)


def test_undecided_truths_widen_a_share() -> None:
    found = table(Column.of(TRUTH, [1, 0, 0], [1, 0, 0], [1, 0, 1]))
    assert str(found.share(TRUTH)) == "0.333333 (LOWER, in [0.333333, 0.666667])"
    with pytest.raises(InputError, match="true or not"):
        table(Column.of(COUNT, [1])).share(COUNT)


def test_medians_are_bounds_where_rounding_is_all_that_parts_them_from_one() -> None:
    found = table(Column.of(LENGTH, [1.0, 2.0, 5.0], [1.0, 2.0 - 1e-12, 5.0], [1.0, 2.0 + 1e-12, np.inf]))
    assert found.median(LENGTH).claim == "EXACT"
    found = table(Column.of(LENGTH, [1.0, 2.0, 5.0], [1.0, 2.0 - 1e-12, 5.0], [8.0, 2.0 + 1e-12, np.inf]))
    median = found.median(LENGTH)
    assert (median.claim, median.value, median.interval) == ("LOWER", 2.0 - 1e-12, (2.0 - 1e-12, 8.0))
    found = table(Column.of(LENGTH, [1.0, 2.0, 5.0], [0.0, 2.0 - 1e-12, 0.0], [1.0, 2.0 + 1e-12, 5.0]))
    assert (found.median(LENGTH).claim, found.median(LENGTH).value) == ("UPPER", 2.0 + 1e-12)


def test_the_share_of_exact_rows() -> None:
    status = (Status.DONE, Status.DONE, Status.UNDEFINED, Status.NOT_REACHED)
    columns = Column.of(LENGTH, [1.0, 2.0, np.nan, np.nan], [1.0, 1.0, np.nan, np.nan], [1.0, 3.0, np.nan, np.nan])
    share = table(columns, status=status).share_exact(LENGTH)
    assert (share.value, share.claim) == (0.25, "EXACT")
    assert "1 of 4" in share.definition


def test_what_the_definition_leaves_open_is_in_the_title() -> None:
    found = table(Column.of(LENGTH, [1.0], given="in l2"))
    assert found.finding(LENGTH).definition == "length of what is tested, in l2"
    assert found.finding(LENGTH).name == "test length in l2"
    assert found.median(LENGTH).name == "median test length in l2"
    assert str(found).splitlines()[0].endswith("test length in l2")


@given(cells(whole=False))
def test_sums_hold_those_of_every_possible_truth(ends) -> None:
    lower, value, upper = ends
    total = table(Column.of(LENGTH, value, lower, upper)).total(LENGTH)
    low, high = total.interval or (total.value, total.value)
    slack = 2e-9 * sum(upper)
    assert low == pytest.approx(sum(lower), abs=slack)
    assert high == pytest.approx(sum(upper), abs=slack)
    assert low <= float(total) <= high


def test_a_mean_is_one_number_where_its_own_error_is_small() -> None:
    values = np.array([1e-3, 1e-3, 1.0])
    found = table(Column.of(LENGTH, values, values - 2e-7, values + 2e-7))
    assert found.median(LENGTH).claim == "ESTIMATE"
    assert found.mean(LENGTH).claim == "EXACT"
    found = table(Column.of(LENGTH, values, values - 2e-6, values + 2e-6))
    assert found.mean(LENGTH).claim == "ESTIMATE"
    found = table(Column.of(LENGTH, values, values * (1 - 2e-10), values * (1 + 2e-10)))
    assert found.mean(LENGTH).claim == found.total(LENGTH).claim == "EXACT"


def test_no_sum_of_rows_that_were_drawn_and_none_of_shares_ends_at_one() -> None:
    assert table(Column.of(TRUTH, [1, 1, 0])).total(TRUTH).value == 2
    with pytest.raises(InputError, match="drawn from more"):
        table(Column.of(LENGTH, [1.0]), population=2).total(LENGTH)


def test_a_single_measurement_is_a_table_of_one_row() -> None:
    found = Findings.of(Column.of(COUNT, [5], upper=[7]), Column.of(LENGTH, [2.0]), domain="a box")
    assert str(found).splitlines() == ["test count   ≥ 5 [5, 7]", "test length           2"]
    assert str(found.finding(COUNT)) == "5 (LOWER, in [5, 7])"
    assert found.finding(COUNT).domain == "a box"
    with pytest.raises(ValueError, match="1 without keys, got"):
        Findings.of(Column.of(COUNT, [5, 6]))
    with pytest.raises(ValueError, match="one length"):
        Findings.of(Column.of(COUNT, [5, 6]), keys={"sample": [0]})


def test_a_summary_is_about_all_rows_together() -> None:
    one = Findings.of(Column.of(COUNT, [5], upper=[np.inf]))
    found = Findings.of(Column.of(LENGTH, [1.0, 2.0]), keys={"sample": [0, 1]}, summary=one)
    assert found.finding(COUNT).value == 5
    assert found[COUNT].claims == ("LOWER",)
    assert str(found).splitlines()[-1] == "test count  ≥ 5"
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["summary"]["test_count"]["value"] == [5.0]
    assert b"test_count" in found.to_table().schema.metadata[b"summary"]
    assert "test count" in found._repr_html_()
    assert "| test count | ≥ 5 |" in found.to_markdown()
    with pytest.raises(InputError, match="one of test_length, got"):
        found.rows([0]).finding(COUNT)
    with pytest.raises(InputError, match="expected a row from 0 to 1, got none"):
        found.finding(LENGTH)


def test_rows_are_undefined_without_a_value_and_not_reached_after_the_last() -> None:
    found = Findings.of(Column.of(LENGTH, [1.0, np.nan, np.nan]), keys={"sample": [0, 1, 2]}, reached=2)
    assert found.status == (Status.DONE, Status.UNDEFINED, Status.NOT_REACHED)


@given(st.floats(1e-3, 1e9), st.floats(1e-15, 1.0))
def test_ends_that_differ_are_written_differently(value, width) -> None:
    found = Finding.of(value, value * (1 - width), value * (1 + width))
    if found.interval is not None:
        low, high = with_ends(found).split("[")[1].rstrip("]").split(", ")
        assert low != high


def test_shares_are_written_in_percent() -> None:
    found = table(Column.of(TRUTH, [1, 0, 0], [1, 0, 0], [1, 0, 1]))
    assert with_ends(found.share(TRUTH)) == "≥ 33.3 % [33.3 %, 66.7 %]"


def test_what_no_quantity_can_be_is_refused() -> None:
    with pytest.raises(ValueError, match="between its ends"):
        Column.of(LENGTH, [1.0], [2.0], [3.0])
    with pytest.raises(ValueError, match="between its ends"):
        Column.of(LENGTH, [5.0, 1.0, np.nan], [5.0, 2.0, np.nan], [5.0, 3.0, np.nan])
    with pytest.raises(ValueError, match="between its ends"):
        Column.of(LENGTH, [5.0, 4.0], [5.0, 2.0], [5.0, 3.0])
    with pytest.raises(ValueError, match="ends from 0 to 1"):
        Column.of(TRUTH, [2.0])
    with pytest.raises(ValueError, match="ends from 0 to 1"):
        Column.of(TRUTH, [1.0, 0.0], [1.0, -1.0], [1.0, 0.0])
    with pytest.raises(ValueError, match="ends from 0 to 1"):
        Column.of(TRUTH, [1.0, 0.0], [1.0, 0.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="declared already"):
        declare("test_length", "something else")
    assert declare("test_length", "length of what is tested", unit="input") is not None


def test_infinite_values_are_exact_and_have_no_tolerance() -> None:
    found = table(Column.of(LENGTH, [np.inf, np.inf]))
    assert str(found.median(LENGTH)) == "inf (EXACT)"
    assert found.finding(LENGTH, 0).tolerance is None
    assert claim_of(np.inf, np.inf, np.inf, 0.0) == "EXACT"


def test_rows_are_chosen_by_their_keys() -> None:
    column = Column.of(LENGTH, [1.0, 2.0, 3.0, 4.0])
    keys = {"sample": np.array([0, 0, 1, 1]), "gate": np.array(["a", "b", "a", "b"])}
    found = Findings({LENGTH.name: column}, keys, (Status.DONE,) * 4)
    assert found.where(gate="b")["test_length"].value.tolist() == [2.0, 4.0]
    assert float(found.where(gate="a", sample=1).finding(LENGTH)) == 3.0
    assert found.where(gate="a").median(LENGTH).domain == "2 samples, gate a"
    assert found.median(LENGTH).domain == "4 rows"
    for bad, message in (({"unit": 1}, "one of sample, gate"), ({"gate": "c"}, "gate='c'")):
        with pytest.raises(InputError, match=message):
            found.where(**bad)


def test_groups_have_the_rows_of_one_key() -> None:
    found = Findings.of(Column.of(LENGTH, [1.0, 2.0, 3.0]), keys={"gate": ["b", "a", "b"]})
    groups = found.groups("gate")
    assert list(groups) == ["b", "a"]
    assert groups["b"]["test_length"].value.tolist() == [1.0, 3.0]
    with pytest.raises(InputError, match="one of gate"):
        found.groups("layer")


def test_tables_of_the_same_rows_stand_beside_each_other() -> None:
    one = Findings.of(Column.of(LENGTH, [1.0, np.nan]), keys={"gate": ["a", "b"]}, summary=Findings.of(single(LENGTH)))
    other = Findings.of(Column.of(COUNT, [3, 4]), keys={"gate": ["a", "b"]}, summary=Findings.of(single(COUNT)))
    found = one.beside(other)
    assert list(found) == ["test_length", "test_count"]
    assert found.is_done.all()
    assert str(found.median(LENGTH)) == "1 (EXACT)"
    assert found.summary is not None
    assert list(found.summary) == ["test_length", "test_count"]
    with pytest.raises(InputError, match="tables of 2 rows, got"):
        one.beside(other.rows([0]))
    with pytest.raises(InputError, match="reached the same rows"):
        one.beside(Findings.of(Column.of(COUNT, [3, np.nan]), keys={"gate": ["a", "b"]}, reached=1))


def test_ends_that_are_one_number_are_written_once() -> None:
    drawn = Finding.estimate(64, (64, 64))
    assert with_ends(drawn) == "≈ 64"
    assert ends_in_words(drawn) == ""


def single(quantity):
    return Column.of(quantity, [2])


MIXED = table(
    Column.of(LENGTH, [1.0, 2.5, np.nan], [1.0, 2.5, np.nan], [1.0, 4.0, np.nan], method="by <hand>"),
    Column.of(COUNT, [3, 4000, np.nan]),
    status=(Status.DONE, Status.DONE, Status.NOT_REACHED),
    stop=Stop(StopReason.SECONDS),
)


def test_text() -> None:
    assert str(MIXED).splitlines() == [
        "sample     test length   test count",
        "0                    1            3",
        "1       ≥ 2.5 [2.5, 4]        4,000",
        "2          not reached  not reached",
        "Ended early: time.",
    ]


def test_plain_types_are_json() -> None:
    plain = json.loads(json.dumps(MIXED.to_dict(), allow_nan=False))
    assert plain["status"] == ["done", "done", "not reached"]
    assert plain["test_length"]["upper"] == [1.0, 4.0, None]
    assert plain["test_length"]["claim"] == ["EXACT", "LOWER", None]


def test_arrow_and_html() -> None:
    arrow = MIXED.to_table()
    assert arrow.column_names[:4] == ["sample", "status", "test_length", "test_length_lower"]
    assert arrow.field("test_length").metadata[b"method"] == b"by <hand>"
    assert "≥ 2.5 [2.5, 4]" in MIXED._repr_html_()
    assert MIXED.to_markdown().splitlines()[1] == "| --- | --: | --: |"


def test_columns_of_single_numbers_keep_their_claims() -> None:
    numbers = [
        Finding.of(2.0, 1.999, 2.001, scale=1e7),
        Finding.of(2.0, 1.0, 2.0),
        Finding.of(2.0, 2.0, np.inf),
        Finding.of(2.0, -np.inf),
        Finding.estimate(2.0),
        Finding.estimate(2.0, (1.0, 3.0)),
        None,
    ]
    column = Column.of_findings(LENGTH, numbers)
    assert [str(claim) for claim in column.claims[:-1]] == ["EXACT", "UPPER", "LOWER", "UPPER", "ESTIMATE", "ESTIMATE"]
    assert (column.lower[0], column.upper[0]) == pytest.approx((1.999, 2.001))
    assert (column.lower[4], column.upper[4]) == (-np.inf, np.inf)
    assert np.isnan(column.value[-1])
    assert Column.of_findings(LENGTH, []).value.shape == (0,)


def test_of_estimates_nothing_is_certain_whatever_the_quantity_may_be() -> None:
    share = declare("test_share", "share of what is tested", kind=Kind.SHARE)
    found = table(Column.estimate(share, [1.0, 0.5, np.nan]), status=(Status.DONE, Status.DONE, Status.UNDEFINED))
    assert found[share].claims[:2] == ("ESTIMATE", "ESTIMATE")
    for one in (found.finding(share, 0), found.mean(share), found.median(share), found.quantile(share, 1.0)):
        assert (one.claim, one.interval) == ("ESTIMATE", None)
    mixed = table(Column.of(share, [1.0, 1.0], [-np.inf, 1.0], [np.inf, 1.0]))
    assert (mixed.mean(share).claim, mixed.mean(share).interval) == ("ESTIMATE", None)


@given(cells(whole=False, most=5), st.integers(0, 5))
def test_tables_cut_and_joined_are_what_they_were(ends, place) -> None:
    lower, value, upper = ends
    found = table(Column.of(LENGTH, value, lower, upper), details={"twice": 2 * value}, notes=("a", "b"))
    parts = [found.rows(slice(0, place)), found.rows(slice(place, None))]
    again = Findings.joined(parts)
    assert again.to_dict() == found.to_dict()
    np.testing.assert_array_equal(again.details["twice"], found.details["twice"])
    with pytest.raises(InputError, match="the same columns, keys, details and domain"):
        Findings.joined([found, table(Column.of(COUNT, [1]))])
    with pytest.raises(InputError, match="got 0 kinds of 0"):
        Findings.joined([])


def test_rows_that_were_drawn_and_not_reached_are_no_part_of_the_sample() -> None:
    two, status = Column.of(LENGTH, [1.0, 3.0]), (Status.DONE, Status.DONE, Status.NOT_REACHED)
    found = table(Column.joined([two], 1), status=status, population=10).mean(LENGTH)
    assert found.interval == table(two, population=10).mean(LENGTH).interval
    assert found.domain == "2 of 10 samples"


def test_counts_are_whole_numbers_and_shares_are_not() -> None:
    found = table(Column.of(TRUTH, [1, 1]), Column.of(COUNT, [3, 5]))
    assert [type(one.value) for one in (found.finding(COUNT, 0), found.median(COUNT), found.total(COUNT))] == [int] * 3
    assert (type(found.share(TRUTH).value), found.share(TRUTH).value) == (float, 1.0)


def test_a_value_is_an_end_up_to_the_tolerance() -> None:
    assert at_an_end(Ends(2.0, 1.5, 9.0), 0.5).value == 1.5
    assert at_an_end(Ends(2.0, 1.5, 9.0), 0.499).value == 2.0
    assert at_an_end(Ends(2.0, -9.0, 2.5), 0.5).value == 2.5
    assert at_an_end(Ends(2.0, -9.0, 2.5), 0.499).value == 2.0
    assert at_an_end(Ends(2.0, 1.75, 2.25), 0.25).value == 2.0  # all of them are one number
    assert at_an_end(Ends(2.0, 1.75, 2.26), 0.25).value == 1.75


def test_sums_of_all_rows_only() -> None:
    with pytest.raises(ValueError, match="no sum over some of it"):
        total(np.ones(2), np.ones(2), np.ones(2), 3)
    assert total(np.ones(2), np.zeros(2), np.full(2, 4.0), 2) == Ends(2.0, 0.0, 8.0)


def test_quantiles_between_neighbours_and_beside_infinity() -> None:
    ends = np.array([-np.inf, 1.0, 3.0, np.inf])
    found = [quantile(ends, ends, ends, level, 4).value for level in (0.0, 0.25, 0.5, 0.75, 1.0)]
    assert found == [-np.inf, -np.inf, 2.0, np.inf, np.inf]
    assert np.isneginf(quantile(np.arange(3.0), np.arange(3.0), np.arange(3.0), 0.5, 9).lower)  # too few draws
    assert quantile(np.array([4.0, 0.0, 1.0]), np.zeros(3), np.ones(3), 0.25, 3) == Ends(0.5, 0.0, 1.0)


def test_ends_of_quantiles_of_a_sample_are_its_entries_and_hold_its_own() -> None:
    six, two, one = np.arange(6.0), np.array([0.0, 1.0]), np.ones(2)
    assert quantile(six, six - 1, six + 1, 0.5, 100) == Ends(2.5, -1.0, 6.0, is_certain=False)
    # The largest of two is above the quantile 0.999 with certainty enough, but that of the sample is below it.
    assert quantile(two, two, two, 0.999, 100) == Ends(0.999, 0.999, np.inf, is_certain=False)
    assert quantile(two, two, two, 0.001, 100) == Ends(0.001, -np.inf, 0.001, is_certain=False)
    assert quantile(one, one, one, 0.999, 100) == Ends(1.0, 1.0, np.inf, is_certain=False)


def test_the_mean_of_a_sample_has_ends_where_entries_have() -> None:
    three = np.array([1.0, 3.0, 5.0])
    found = mean(three, three - 1, three + 2, 10, least=0.0, most=20.0)
    assert found[:3] == pytest.approx((3.0, lowest_mean(three - 1, 0.025), 20.0 - lowest_mean(18 - three, 0.025)))
    below = mean(three, three - 1, three + 2, 10, least=-4.0, most=0.0)
    assert (below.lower, below.upper) == (pytest.approx(lowest_mean(three + 3, 0.025) - 4.0), 3.0)
    assert not found.is_certain
    assert mean(three, three, three, 10) == Ends(3.0, -np.inf, np.inf, is_certain=False)
    endless = mean(three, three, np.array([1.0, np.inf, np.inf]), 10, least=0.0)
    assert (endless.lower, endless.upper) == (pytest.approx(lowest_mean(three, 0.025)), np.inf)
    assert lowest_mean(np.zeros(5), 0.025) == lowest_mean(np.array([1.0, np.inf]), 0.025) == 0.0


def test_what_is_drawn_from_more_than_was_looked_at() -> None:
    two, status = Column.of(LENGTH, [1.0, 3.0]), (Status.DONE, Status.DONE, Status.NOT_REACHED)
    found = table(Column.joined([two], 1), status=status, population=3).mean(LENGTH)
    assert (found.domain, found.claim) == ("2 of 3 samples", "ESTIMATE")
    assert table(two, population=2).total(LENGTH).value == 4.0


def test_of_real_numbers_a_millionth_counts_and_of_counts_a_difference() -> None:
    large = np.array([1e3, 3e3])
    assert table(Column.of(LENGTH, large, large - 2e-4, large + 2e-4)).mean(LENGTH).claim == "EXACT"
    many = np.array([1e10, 3e10])
    assert table(Column.of(COUNT, many, many, many + 1)).mean(COUNT).claim == "LOWER"
    loose = Column.of(LENGTH, [1.0, 2.0], [0.9, 1.9], [1.1, 2.1], scale=2e8)
    assert table(loose).mean(LENGTH).claim == "EXACT"
    tight = Column.of(LENGTH, [1.0, 2.0], [0.9, 1.9], [1.1, 2.1], scale=0.9e8)
    assert table(tight).mean(LENGTH).claim == "ESTIMATE"


def test_drawn_ends_are_no_farther_than_a_quantity_can_be() -> None:
    share = declare("test_part", "part of what is tested", kind=Kind.SHARE)
    for lengths in ([1.0], [0.1, 3.0]):
        low, high = ends_of(table(Column.of(LENGTH, lengths), population=5).mean(LENGTH))
        assert (0.0 < low < 1.0, high) == (True, np.inf)
    low, high = ends_of(table(Column.of(share, [0.1, 0.9]), population=5).mean(share))
    assert 0.0 < low < 0.1 < 0.9 < high < 1.0


@pytest.mark.parametrize("ask", ["mean", "median"])
@pytest.mark.parametrize("number", [3, 7, 49])
def test_ends_that_rounding_widens_are_no_farther_than_a_quantity_can_be(ask, number) -> None:
    share = declare("test_part", "part of what is tested", kind=Kind.SHARE)
    for value, low, high in ((1.0, 0.9, 1.0), (0.0, 0.0, 0.1)):
        found = table(Column.of(share, [value] * number, [low] * number, [high] * number))
        assert ends_of(getattr(found, ask)(share)) == pytest.approx((low, high))
        assert 0.0 <= ends_of(getattr(found, ask)(share))[0] <= ends_of(getattr(found, ask)(share))[1] <= 1.0


def test_an_end_that_is_not_certain_is_no_bound() -> None:
    found = table(Column.of(LENGTH, [1.0, 3.0], [1.0, 3.0], [2.0, 5.0], confidence=0.95)).mean(LENGTH)
    assert (found.claim, found.interval) == ("ESTIMATE", (2.0, 3.5))


@pytest.mark.parametrize("width", [10, 60, 100, 10_000])
def test_tables_fit_the_terminal(width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    declared = [declare(f"quantity_number_{place}_{width}", "some number") for place in range(12)]
    found = table(*(Column.of(one, [1.0, 22.5]) for one in declared))
    blocks = [block.splitlines() for block in str(found).split("\n\n")]
    said = [name.strip() for block in blocks for name in block[0].split("  ") if name.strip()]
    assert [name for name in said if name != "sample"] == [one.name.replace("_", " ") for one in declared]
    for block in blocks:
        assert block[0].startswith("sample")
        assert len(block) == 3
        assert block[0].count("quantity") == 1 or max(map(len, block)) <= width
    assert len(blocks) == {10: 12, 60: 6, 100: 3, 10_000: 1}[width]
