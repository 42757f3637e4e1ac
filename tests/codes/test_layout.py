import numpy as np
import pytest

from reluscope.codes import CodeLayout, GateLayout
from reluscope.errors import InputError


@pytest.mark.parametrize(
    ("num_pieces", "num_planes"),
    [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (8, 3), (9, 4), (256, 8), (257, 9), (2**16, 16)],
)
def test_planes_hold_the_largest_piece(num_pieces, num_planes):
    assert GateLayout("g", 1, num_pieces).num_planes == num_planes


@pytest.mark.parametrize(("num_units", "num_words"), [(0, 0), (1, 1), (64, 1), (65, 2), (3072, 48)])
def test_planes_are_whole_words(num_units, num_words):
    assert GateLayout("g", num_units).words_per_plane == num_words
    assert GateLayout("g", num_units, 4).num_words == 2 * num_words


def test_gates_follow_each_other():
    layout = CodeLayout((GateLayout("a", 65), GateLayout("b", 0), GateLayout("c", 3, 5)))
    assert [layout.words(i) for i in range(3)] == [slice(0, 2), slice(2, 2), slice(2, 5)]
    assert [layout.units(i) for i in range(3)] == [slice(0, 65), slice(65, 65), slice(65, 68)]
    assert (layout.num_words, layout.num_units, layout.is_binary) == (5, 68, False)


def test_units_are_located_past_empty_gates():
    layout = CodeLayout((GateLayout("a", 2), GateLayout("b", 0), GateLayout("c", 2)))
    gates, units = layout.locate_units(np.array([1, 2, 3]))
    assert gates.tolist() == [0, 2, 2]
    assert units.tolist() == [1, 0, 1]


def test_no_gates():
    layout = CodeLayout(())
    assert (layout.num_words, layout.num_units, layout.is_binary, len(layout)) == (0, 0, True, 0)


@pytest.mark.parametrize(("num_units", "num_pieces"), [(-1, 2), (3, 0), (3, 2**16 + 1)])
def test_sizes_out_of_range(num_units, num_pieces):
    with pytest.raises(InputError, match=r"num_\w+ must be a whole number|units of 1 to 65,536 pieces"):
        GateLayout("g", num_units, num_pieces)


def test_names_must_differ():
    with pytest.raises(InputError, match="'relu' came more than once"):
        CodeLayout((GateLayout("relu", 1), GateLayout("relu", 2)))


def test_compatible_whatever_the_names():
    assert CodeLayout((GateLayout("a", 3),)).is_compatible(CodeLayout((GateLayout("b", 3),)))
    assert not CodeLayout((GateLayout("a", 3),)).is_compatible(CodeLayout((GateLayout("a", 3, 3),)))
    assert not CodeLayout((GateLayout("a", 3),)).is_compatible(CodeLayout((GateLayout("a", 2), GateLayout("b", 1))))
