import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codes.plain import codes, layouts, random_codes
from reluscope.codes import CodeLayout, Codes, GateLayout
from reluscope.errors import InputError, ShapeError

RELU = CodeLayout((GateLayout("relu", 70),))


@given(codes())
def test_pieces_come_back(packed_and_plain):
    packed, plain = packed_and_plain
    assert packed.to_array().dtype == packed.layout.piece_dtype
    np.testing.assert_array_equal(packed.to_array(), plain)


@given(codes())
def test_bits_are_where_the_layout_says(packed_and_plain):
    packed, plain = packed_and_plain
    for index, gate in enumerate(packed.layout):
        for unit in range(gate.num_units):
            piece = np.zeros(len(packed), dtype=int)
            for plane in range(gate.num_planes):
                word = packed.layout.words(index).start + plane * gate.words_per_plane + unit // 64
                piece += ((packed.words[:, word] >> np.uint64(unit % 64)) & np.uint64(1)).astype(int) << plane
            np.testing.assert_array_equal(piece, plain[:, packed.layout.units(index).start + unit])


@given(codes())
def test_padding_is_zero(packed_and_plain):
    packed, plain = packed_and_plain
    set_bits = sum(int(word).bit_count() for word in packed.words.ravel())
    assert set_bits == sum(int(piece).bit_count() for piece in plain.ravel())


@given(st.data())
def test_equal_words_if_and_only_if_equal_pieces(data):
    layout = data.draw(layouts())
    (first, a), (second, b) = data.draw(codes(layout)), data.draw(codes(layout))
    for i in range(len(first)):
        for j in range(len(second)):
            assert (first[i] == second[j]) == np.array_equal(a[i], b[j])
            assert (hash(first[i]) == hash(second[j])) == np.array_equal(a[i], b[j])


@given(codes())
def test_packed_planes_give_the_same_words(packed_and_plain):
    packed, plain = packed_and_plain
    planes = []
    for index, gate in enumerate(packed.layout):
        own = plain[:, packed.layout.units(index)]
        bits = np.stack([own >> plane & 1 for plane in range(gate.num_planes)], axis=1).astype(np.uint8)
        planes.append(np.packbits(bits, axis=-1, bitorder="little"))
    assert Codes.from_planes(planes, packed.layout, num_codes=len(packed)) == packed


def test_planes_of_relu_need_no_middle_dimension():
    packed, plain = random_codes(RELU, 5)
    assert Codes.from_planes([np.packbits(plain, axis=1, bitorder="little")], RELU) == packed


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int8, np.int32, np.int64, np.uint16])
def test_any_whole_numbers(dtype):
    packed, plain = random_codes(RELU, 5)
    assert Codes.from_pieces([plain.astype(dtype)], RELU) == packed
    assert Codes.from_pieces([np.asfortranarray(plain.astype(dtype))], RELU) == packed


@given(codes())
def test_gates_are_views_of_the_same_words(packed_and_plain):
    packed, plain = packed_and_plain
    parts = packed.by_gate()
    assert list(parts) == [gate.name for gate in packed.layout]
    for index, part in enumerate(parts.values()):
        np.testing.assert_array_equal(part.to_array(), plain[:, packed.layout.units(index)])
        assert part.words.size == 0 or np.shares_memory(part.words, packed.words)


def test_selection_follows_numpy():
    packed, plain = random_codes(RELU, 6)
    mask = np.array([True, False, True, False, False, True])
    for index in (slice(1, 4), slice(None, None, -1), [2, 0, 2], np.array([5, -1]), mask, [], slice(9, 9)):
        np.testing.assert_array_equal(packed[index].to_array(), plain[index])
    assert [len(code) for code in packed] == [1] * 6
    assert packed[-1] == packed[5] == packed[np.int64(5)]
    with pytest.raises(IndexError):
        packed[6]


def test_words_are_read_only_and_survive_pickling():
    packed, _ = random_codes(RELU, 3)
    with pytest.raises(ValueError, match="read-only"):
        packed.words[0, 0] = 1
    with pytest.raises(AttributeError):
        packed.layout = CodeLayout(())
    assert pickle.loads(pickle.dumps(packed)) == packed


def test_joined_codes_keep_their_order():
    packed, _ = random_codes(RELU, 6)
    assert Codes.concatenate([packed[:2], packed[2:2], packed[2:]]) == packed
    with pytest.raises(InputError, match="at least one set"):
        Codes.concatenate([])
    with pytest.raises(InputError, match="equal numbers of units"):
        Codes.concatenate([packed, random_codes(CodeLayout((GateLayout("relu", 71),)), 1)[0]])


def test_no_codes_and_no_gates():
    none = Codes.from_pieces([np.zeros((0, 70), dtype=bool)], RELU)
    assert len(none) == 0
    assert none.to_array().shape == (0, 70)
    without_gates = Codes.from_pieces([], CodeLayout(()), num_codes=4)
    assert without_gates.to_array().shape == (4, 0)
    assert without_gates[0] == without_gates[3]


@pytest.mark.parametrize(
    ("pieces", "error", "message"),
    [
        ([np.zeros((2, 69), dtype=bool)], ShapeError, r"must have shape \(s, 70\), but came with shape \(2, 69\)"),
        ([np.zeros(70, dtype=bool)], ShapeError, r"came with shape \(70,\)"),
        ([np.zeros((2, 70), dtype=bool)] * 2, ShapeError, "need one array for each gate"),
        ([], ShapeError, r"0 arrays came with shapes \(none\)"),
        ([np.zeros((2, 70))], InputError, "must be whole numbers or booleans, but came as float64"),
        ([np.full((2, 70), 2)], InputError, "must be from 0 to 1, but 2 came"),
        ([np.full((2, 70), -1)], InputError, "must be from 0 to 1, but -1 came"),
    ],
)
def test_pieces_that_do_not_fit(pieces, error, message):
    with pytest.raises(error, match=message):
        Codes.from_pieces(pieces, RELU)


def test_gates_of_different_lengths():
    layout = CodeLayout((GateLayout("a", 1), GateLayout("b", 1)))
    with pytest.raises(ShapeError, match="all with one row for each code"):
        Codes.from_pieces([np.zeros((2, 1), dtype=bool), np.zeros((3, 1), dtype=bool)], layout)


def test_planes_that_do_not_fit():
    with pytest.raises(ShapeError, match=r"must be uint8 of shape \(2, 1, 9\)"):
        Codes.from_planes([np.zeros((2, 8), dtype=np.uint8)], RELU)
    with pytest.raises(InputError, match="Bits past the 70 units of gate 'relu' must be zero"):
        Codes.from_planes([np.full((2, 9), 255, dtype=np.uint8)], RELU)


def test_words_that_do_not_fit():
    for words in (np.zeros((2, 3), dtype=np.uint64), np.zeros((2, 2)), np.zeros(2, dtype=np.uint64)):
        with pytest.raises(ShapeError, match=r"must be uint64 of shape \(s, 2\)"):
            Codes(words, RELU)
