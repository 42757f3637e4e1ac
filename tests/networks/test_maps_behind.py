"""Affine functions of one gate's units from those of the gate before: the product's, whatever cells share."""

from fractions import Fraction

import numpy as np
import pytest
import torch

import reluscope as rs
from reluscope import _kernels
from reluscope.networks.evaluation import affine_values
from reluscope.networks.evaluation.affine_values import advance_affinely, affine_input, close_affinely, pass_affinely
from reluscope.testing import default_network

GAMMA = 16 * 2.0**-52


def arrived(net, number):
    return advance_affinely(net.stages[0], affine_input(net, number), GAMMA)[2]


def in_tree_order(rng, number, num_units):
    """Pieces of cells of which neighbours share those of the first units."""
    pieces = rng.integers(0, 2, size=(number, num_units))
    return np.array(sorted(pieces.tolist())).astype(np.uint16)


@pytest.mark.parametrize("activation", [torch.nn.ReLU(), torch.nn.LeakyReLU(0.1), torch.nn.Hardtanh()])
@pytest.mark.parametrize("bias", [False, True])
def test_as_a_product_gives_it(activation, bias):
    torch.manual_seed(1)
    net = rs.load(
        torch.nn.Sequential(torch.nn.Linear(3, 6), activation, torch.nn.Linear(6, 5, bias=bias), torch.nn.ReLU())
    )
    rng = np.random.default_rng(0)
    pieces = rng.integers(0, net.stages[0].gate.num_pieces, size=(40, 6)).astype(np.uint16)
    pieces[1] = pieces[0]
    cell_of = np.repeat([1, 0], 20)
    values = arrived(net, 2)
    maps, errors, live = pass_affinely(net, 1, values, cell_of, pieces, GAMMA)
    taken = {position: value.take(torch.from_numpy(cell_of)) for position, value in values.items()}
    expected, bounds, _ = advance_affinely(net.stages[1], close_affinely(net.stages[0], taken, pieces, GAMMA), GAMMA)
    assert affine_values._matrix_between(net, 1) is not None
    np.testing.assert_allclose(maps, expected, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(errors, bounds, rtol=1e-12)
    (value,) = live.values()
    np.testing.assert_array_equal(value.coefficients.transpose(1, 2).numpy(), maps)


def test_errors_hold_against_fractions():
    net = rs.load(default_network([2, 20, 3, 1], seed=3))
    pieces = in_tree_order(np.random.default_rng(1), 8, 20)
    maps, errors, _ = pass_affinely(net, 1, arrived(net, 1), np.zeros(8, dtype=np.int64), pieces, GAMMA)
    first, second = net.nodes[1], net.nodes[3]
    for cell, unit in np.ndindex(8, 3):
        for axis in range(3):
            into = first.bias if axis == 2 else first.weight[:, axis]
            exact = sum(
                Fraction(float(w)) * Fraction(float(v)) * int(piece)
                for w, v, piece in zip(second.weight[unit], into, pieces[cell], strict=True)
            ) + (Fraction(float(second.bias[unit])) if axis == 2 else 0)
            assert abs(Fraction(maps[cell, unit, axis]) - exact) <= Fraction(errors[cell, unit, axis])


@pytest.mark.parametrize("num_threads", [2, 4])
def test_what_is_shared_changes_nothing(monkeypatch, num_threads):
    """Each cell by itself, all together, and on several threads: bit for bit the same."""
    net = rs.load(default_network([3, 12, 7, 1], seed=4))
    rng = np.random.default_rng(2)
    pieces = np.concatenate([in_tree_order(rng, 150, 12)] * 2)
    cell_of = np.repeat([0, 2], 150)
    values = arrived(net, 3)
    together = pass_affinely(net, 1, values, cell_of, pieces, GAMMA)
    alone = [pass_affinely(net, 1, values, cell_of[[row]], pieces[[row]], GAMMA) for row in range(300)]
    monkeypatch.setattr(affine_values, "THREADED_WORK", 0)
    monkeypatch.setattr(torch, "get_num_threads", lambda: num_threads)
    threaded = pass_affinely(net, 1, values, cell_of, pieces, GAMMA)
    for which in (0, 1):
        np.testing.assert_array_equal(together[which], np.concatenate([one[which] for one in alone]))
        np.testing.assert_array_equal(together[which], threaded[which])


def test_where_there_is_no_matrix_alone(monkeypatch):
    torch.manual_seed(0)
    convolution = torch.nn.Sequential(
        torch.nn.Conv2d(1, 2, 2), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(8, 3), torch.nn.ReLU()
    )
    net = rs.load(convolution, input_shape=(1, 3, 3))
    assert affine_values._matrix_between(net, 1) is None
    pieces = np.ones((2, 8), dtype=np.uint16)
    maps, _, _ = pass_affinely(net, 1, arrived(net, 1), np.zeros(2, dtype=np.int64), pieces, GAMMA)
    assert maps.shape == (2, 3, 10)
    wide = rs.load(default_network([2, 5, 4, 1]))
    assert affine_values._matrix_between(wide, 1) is not None
    monkeypatch.setattr(affine_values, "MAX_SHARED", 19)
    assert affine_values._matrix_between(wide, 1) is None


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("maps", lambda table: table[:, 1:], "maps and pieces"),
        ("errors", lambda table: table[:0], "maps and pieces"),
        ("cell_of", lambda table: table + 1, "maps and pieces"),
        ("cell_of", lambda table: table[1:], "maps and pieces"),
        ("pieces", lambda table: table + np.uint16(1), "pieces that have slopes"),
        ("slopes", lambda table: table[:, 1:], "weights, slopes"),
        ("intercepts", lambda table: table[:1], "weights, slopes"),
        ("weights", lambda table: table[1:], "weights, slopes"),
        ("constants", lambda table: table[1:], "weights, slopes"),
    ],
)
def test_tables_that_do_not_fit(name, change, message):
    tables = {
        "maps": np.ones((1, 2, 3)),
        "errors": np.zeros((1, 2, 3)),
        "cell_of": np.zeros(4, dtype=np.int64),
        "pieces": np.ones((4, 2), dtype=np.uint16),
        "slopes": np.ones((2, 2)),
        "intercepts": np.ones((2, 2)),
        "weights": np.ones((2, 5)),
        "constants": np.ones(5),
    }
    assert _kernels.maps_behind(**tables, rounding=1e-15, num_threads=1)[0].shape == (4, 5, 3)
    with pytest.raises(ValueError, match=message):
        _kernels.maps_behind(
            **tables | {name: np.ascontiguousarray(change(tables[name]))}, rounding=1e-15, num_threads=1
        )
