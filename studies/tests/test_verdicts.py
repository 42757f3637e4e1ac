"""What becomes of statements: rates decide only where chance does not explain them."""

import numpy as np
import pytest

from reluscope.studies import Setting, StatementVerdict
from reluscope_studies.sattelberg2026_ch3 import classes
from reluscope_studies.sattelberg2026_ch5 import one_code, xor
from reluscope_studies.serra2018 import depth_and_width, one_input
from reluscope_studies.verdicts import Rate, increasing, is_above_lot, is_larger, of_pairs, same_rate


@pytest.mark.parametrize(("one", "other"), [(0.5, 0.5), (0.05, 0.05), (1.0, 1.0)])
def test_equal_rates_are_seldom_told_apart(one, other):
    drawn = np.random.default_rng(0).binomial(100, [[one, other]] * 2000)
    told = [is_larger(Rate(int(a), 100), Rate(int(b), 100)) is not None for a, b in drawn]
    assert np.mean(told) < 0.07


def test_rates_far_apart_are_told_apart():
    drawn = np.random.default_rng(1).binomial(100, [[0.8, 0.5]] * 500)
    assert np.mean([is_larger(Rate(int(a), 100), Rate(int(b), 100)) is True for a, b in drawn]) > 0.95


def test_truths_of_numpy_are_those_of_python():
    assert StatementVerdict("a", "b", "c", "d", np.float64(2) > 1).holds is True


def test_the_words():
    up = [Rate(10, 50), Rate(30, 50), Rate(49, 50)]
    assert increasing("a", "b", "c", up).word == "confirmed"
    assert increasing("a", "b", "c", up[::-1]).word == "contradicted"
    assert increasing("a", "b", "c", [up[0], Rate(11, 50), up[2]]).word == "not confirmed"
    assert same_rate("a", "b", 0.65, Rate(130, 200)).word == "confirmed"
    assert same_rate("a", "b", 0.15, Rate(37, 139)).word == "contradicted"
    # Of one network anything is near, and nothing is told.
    assert same_rate("a", "b", 1.0, Rate(1, 1)).word == same_rate("a", "b", 0.2, Rate(1, 5)).word == "not confirmed"
    # A printed rate that is one of few trials itself is no exact number.
    assert same_rate("a", "b", 0.15, Rate(37, 139), trials=20).word == "confirmed"


def test_a_rate_says_what_is_near_to_it():
    assert same_rate("a", "b", 1.0, Rate(2, 2)).found == "100.0 % of 2; 39 to 100 % are near, too wide to decide"
    assert same_rate("a", "b", 0.65, Rate(705, 1000), trials=100).found == "70.5 % of 1,000; 61 to 80 % are near"


def test_pairs_decide_more_seldom_than_coins():
    """Where there is nothing to it, five pairs or more agree in one of sixteen cases, and so often they are wrong."""
    rng = np.random.default_rng(0)
    for number in (1, 2, 4, 5, 6):
        words = [of_pairs("a", "b", "c", "d", rng.random(number) < 0.5).word for _ in range(2000)]
        decided = 2000 - words.count("not confirmed")
        assert decided == 0 if number < 5 else 0 < decided < 2000 * 1.2 * 2 * 0.5**number
    assert of_pairs("a", "b", "c", "d", [True, None] * 5).word == "not confirmed"
    assert of_pairs("a", "b", "c", "d", [False] * 5).word == "contradicted"
    assert of_pairs("a", "b", "c", "d", [True] * 4).found == "d; too few pairs to decide"


@pytest.mark.slow
def test_groups_dealt_by_lot_are_seldom_told_apart():
    def higher(pair):
        return float(np.mean(pair[0]) - np.mean(pair[1]))

    drawn = np.random.default_rng(0).normal(size=(400, 8))
    told = [is_above_lot(higher, (list(one[:4]), list(one[4:]))) for one in drawn]
    assert 0.02 < np.mean([one is True for one in told]) < 0.08
    assert 0.02 < np.mean([one is False for one in told]) < 0.08
    assert is_above_lot(higher, ([5.0, 6, 7, 8], [1.0, 2, 3, 4])) is True
    assert is_above_lot(higher, ([1.0, 2, 3, 4], [5.0, 6, 7, 8])) is False
    assert is_above_lot(higher, ([np.nan] * 4, [1.0] * 4)) is None
    # Two of each are too few, but not in two kinds of networks.
    low, high = [5.0, 6], [1.0, 2]
    assert is_above_lot(higher, (low, high)) is None
    assert is_above_lot(lambda *pairs: min(map(higher, pairs)), (low, high), (low, high)) is True


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("study", "words"),
    [
        (one_input, ["confirmed"]),
        (depth_and_width, ["confirmed", "confirmed"]),
        (one_code, ["contradicted", "contradicted"]),
        (xor, ["contradicted", "confirmed"]),
        (classes, ["confirmed", "confirmed"]),
    ],
)
def test_statements_that_need_no_training(study, words):
    found = study.protocol(Setting("small")).verdicts
    assert [one.word for one in found] == words
    assert all(one.statement and one.place and one.printed and one.found for one in found)
