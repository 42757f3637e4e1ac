import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codes.plain import codes, layouts, plain_distances, random_codes
from reluscope.codes import CodeLayout, Codes, GateLayout, distances
from reluscope.errors import InputError


@given(st.data())
def test_distance_counts_units_that_differ(data):
    layout = data.draw(layouts())
    (first, a), (second, b) = data.draw(codes(layout)), data.draw(codes(layout))
    np.testing.assert_array_equal(first.distance(second), plain_distances(a, b))
    np.testing.assert_array_equal(first.distance(), plain_distances(a, a))


@given(st.data(), st.integers(0, 300))
def test_truncation_is_a_minimum(data, threshold):
    packed, plain = data.draw(codes())
    expected = np.minimum(plain_distances(plain, plain), threshold)
    np.testing.assert_array_equal(packed.distance(threshold=threshold), expected)
    np.testing.assert_array_equal(packed.distance(packed, threshold=threshold), expected)


@given(codes(), st.sampled_from([None, 0, 1, 2, 5]))
def test_distance_is_a_metric_truncated_or_not(packed_and_plain, threshold):
    packed, _ = packed_and_plain
    table = packed.distance(threshold=threshold).astype(int)
    np.testing.assert_array_equal(table, table.T)
    assert (table[:, None, :] <= table[:, :, None] + table[None, :, :]).all()
    if threshold != 0:
        equal = np.array([[a == b for b in packed] for a in packed], dtype=bool).reshape(table.shape)
        np.testing.assert_array_equal(table == 0, equal)


@given(codes())
def test_distances_of_gates_add_up(packed_and_plain):
    packed, _ = packed_and_plain
    total = sum((gate.distance().astype(int) for gate in packed.by_gate().values()), np.zeros((len(packed),) * 2, int))
    np.testing.assert_array_equal(packed.distance(), total)


@pytest.mark.slow
@pytest.mark.parametrize("num_threads", [1, pytest.param(3, marks=pytest.mark.slow)])
@pytest.mark.parametrize("threshold", [300, *(pytest.param(most, marks=pytest.mark.slow) for most in (None, 2, 560))])
def test_many_tiles(monkeypatch, num_threads, threshold):
    monkeypatch.setattr(distances.torch, "get_num_threads", lambda: num_threads)
    monkeypatch.setattr(distances, "THREADED_WORK", 0)
    layout = CodeLayout((GateLayout("a", 600), GateLayout("b", 100, 3), GateLayout("c", 5, 300)))
    packed, plain = random_codes(layout, 1100)
    # Some rows lie close together, so that no tile may stop early with them unfinished.
    plain[1::7] = plain[0]
    plain[1::7, -1] = np.arange(len(plain[1::7])) % 300
    near = [plain[:, layout.units(index)] for index in range(3)]
    packed = Codes.from_pieces(near, layout)
    expected = plain_distances(plain.astype(np.int16), plain.astype(np.int16))
    if threshold is not None:
        expected = np.minimum(expected, threshold)
    np.testing.assert_array_equal(packed.distance(threshold=threshold), expected)
    np.testing.assert_array_equal(packed[:700].distance(packed[300:], threshold=threshold), expected[:700, 300:])


def test_result_is_as_small_as_it_can_be():
    wide = CodeLayout((GateLayout("relu", 70_000),))
    pieces = np.zeros((2, 70_000), dtype=bool)
    pieces[1] = True
    packed = Codes.from_pieces([pieces], wide)
    assert packed.distance().dtype == np.uint32
    assert packed.distance().max() == 70_000
    assert packed.distance(threshold=65_535).dtype == np.uint16
    assert packed.distance(threshold=65_535).max() == 65_535


def test_no_codes_and_no_gates():
    packed, _ = random_codes(CodeLayout((GateLayout("relu", 70),)), 3)
    assert packed[:0].distance().shape == (0, 0)
    assert packed[:0].distance(packed).shape == (0, 3)
    assert packed.distance(packed[:0]).shape == (3, 0)
    without_gates = Codes.from_pieces([], CodeLayout(()), num_codes=2)
    np.testing.assert_array_equal(without_gates.distance(), np.zeros((2, 2)))


def test_what_cannot_be_compared():
    packed, _ = random_codes(CodeLayout((GateLayout("relu", 70),)), 3)
    other, _ = random_codes(CodeLayout((GateLayout("relu", 64),)), 3)
    with pytest.raises(InputError, match=r"these have 70 units in 1 gates .* and those 64 units"):
        packed.distance(other)
    with pytest.raises(InputError, match="at least 0, got -1"):
        packed.distance(threshold=-1)


def test_a_row_stops_no_sooner_than_at_the_threshold():
    # 299 units differ in the eight words before the first look at the distances, one more in the last word.
    layout = CodeLayout((GateLayout("relu", 600),))
    pieces = np.zeros((2, 600), dtype=bool)
    pieces[1, :299] = pieces[1, 599] = True
    packed = Codes.from_pieces([pieces], layout)
    for threshold, expected in ((298, 298), (299, 299), (300, 300), (301, 300)):
        assert packed[:1].distance(packed[1:], threshold=threshold) == expected
