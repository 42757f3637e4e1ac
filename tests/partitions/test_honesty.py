"""Claims against rational truth where floats are at their worst: EXACT is right, or it is not claimed."""

from importlib import import_module

import numpy as np
import pytest
from torch import nn

import reluscope as rs
from fuzzer.modules import Pool, linear
from oracles.fractions_plane import rectangle, relu_layers, split
from partitions.hostile import (
    badly_scaled,
    cancelling,
    complaints,
    example,
    far_away,
    nearly_parallel,
    rotated,
    stretched,
    through_corners,
    tiny,
)
from partitions.layered import network_of
from reluscope.errors import InputError
from reluscope.findings import Claim
from reluscope.networks.models.from_arrays import from_arrays

SQUARE = rs.Box(-1, 1, 2)
RELU = ("pointwise", [0.0], [0.0, 1.0], [0.0, 0.0])
ALL_GATES = ("relu", "leaky", "abs", "clamp", "softshrink", "max")


def truth_of(layers, box):
    return split(layers, (box.lo[0], box.hi[0]) if box.dim == 1 else rectangle(box.lo, box.hi))


def check_honest(layers, box=SQUARE, then=lambda part: part, **options):
    part = then(rs.partition(network_of(layers, box.dim), box, **options))
    assert complaints(part, truth_of(layers, box)) == []
    return part


def ones(number):
    return ("affine", np.ones((1, number)), np.zeros(1))


@pytest.mark.few(3)
@pytest.mark.parametrize("regime", [rotated, through_corners, far_away, tiny, stretched], ids=lambda r: r.__name__)
@pytest.mark.parametrize("kinds", [("relu",), ALL_GATES], ids=["relu", "all gates"])
@pytest.mark.parametrize("cells", [pytest.param(0, marks=pytest.mark.slow), 4])
def test_regimes_that_floats_can_bear(regime, kinds, cells, chunks_of):
    if cells:
        chunks_of(cells)
    for seed in range(25):
        layers, box = example(regime, seed, kinds)
        part = rs.partition(network_of(layers, 2), box)
        assert (seed, complaints(part, truth_of(layers, box))) == (seed, [])
        assert part.claim is Claim.EXACT


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "regime",
    [
        nearly_parallel,
        badly_scaled,
        cancelling,
    ],
    ids=lambda r: r.__name__,
)
def test_regimes_that_call_for_doubt(regime):
    for seed in range(60):
        layers, box = example(regime, seed, ALL_GATES)
        part = rs.partition(network_of(layers, 2), box)
        assert (seed, complaints(part, truth_of(layers, box))) == (seed, [])


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "regime", [None, nearly_parallel, badly_scaled, cancelling], ids=lambda r: getattr(r, "__name__", "plain")
)
def test_certified_counts_in_all_regimes(regime):
    for seed in range(15):
        layers, box = example(regime, seed, ("relu", "leaky", "clamp", "abs"))
        part = rs.certify(rs.partition(network_of(layers, 2), box))
        assert (seed, part.claim, len(part)) == (seed, Claim.EXACT, len(truth_of(layers, box)))
        assert complaints(part, truth_of(layers, box)) == []


def test_three_nearly_parallel_lines_through_a_point():
    """The crossing of two lines at an angle of 10^-7 is known to 10^-9 only: the third may pass it on either side."""
    layers = [("affine", [[-1.0, -0.5], [-1.0, -0.500000684756887], [0, 1]], np.zeros(3)), RELU, ones(3)]
    check_honest(layers, rs.Box([-2.5, -0.25], [0.5, 3]))


def test_steep_candidates_meet_in_one_point():
    layers = [("affine", [[0, 0], [5289.5, 0], [0, -0.004]], np.zeros(3)), ("max", [[1, 0, 2, 1]]), ones(1)]
    check_honest(layers, rs.Box([-1, -4], [4.25, 0.25]))


def test_a_copy_of_a_candidate_never_wins(chunks_of):
    chunks_of(3)
    layers = [("affine", [[-1, 0], [-2911.3, 1], [0, 1], [0, 0]], np.zeros(4)), ("max", [[3, 2, 3, 0, 1]]), ones(1)]
    check_honest(layers, rs.Box([-0.5, -1], [5, 3.25]))


def test_zero_stays_zero_after_a_tie(chunks_of):
    chunks_of(3)
    layers = [
        ("affine", [[0, 0], [1, 0], [0, -1], [0, -0.4]], np.zeros(4)),
        ("max", [[0, 3], [1, 0, 3, 2]]),
        ("affine", [[0.0, 0], [-1, 0]], np.zeros(2)),
        ("max", [[0, 1]]),
        ones(1),
    ]
    check_honest(layers, rs.Box([-2.25, -2.5], [2.25, 3]))


def test_a_steep_rival_does_not_blur_the_others():
    # Candidate 1 leads candidate 0 by 1e-7 everywhere; candidate 2 rises by 1e6.
    layers = [("affine", [[0.0], [0.0], [1e6]], [0.0, 1e-7, -5e5]), ("max", [[0, 1, 2]]), ones(1)]
    check_honest(layers, rs.Box(-1, 1, 1))


def test_padded_candidates_in_certified_partitions():
    weight = [[-1.75, -0.25], [-1, 1], [-1.75, -0.24999999999999997]]
    layers = [("affine", weight, np.zeros(3)), ("max", [[1, 0], [2, 0, 2, 2, 1]]), ("affine", np.zeros((1, 2)), [0.0])]
    layers += [("pointwise", [-0.5, 0.5], [1.0, 0.0, 1.0], [0.5, 0.0, -0.5])]
    check_honest(layers, rs.Box([-2.75, -0.5], [-0.5, 1]), rs.certify)


def beside_a_large_unit(size):
    """A unit that reads relu(y) only, beside a unit of another scale; two cuts at distance 0.01."""
    return relu_layers(
        [
            (np.array([[size, 0.0], [0.0, 1.0]]), np.zeros(2)),
            (np.array([[0.0, 1.0], [0.0, 1.0]]), np.array([-0.5, -0.51])),
            (np.ones((1, 2)), np.zeros(1)),
        ]
    )


@pytest.mark.parametrize(
    "size",
    [
        1.0,
        1e8,
        1e13,
        1e16,
    ],
)
def test_a_large_neighbour_does_not_hide_a_cut(size):
    assert check_honest(beside_a_large_unit(size)).claim is Claim.EXACT


def test_a_large_input_does_not_hide_cuts():
    net = from_arrays([(np.array([[0.0, 1, 0], [0, 0, 1.0]]), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    time_stamp = rs.Slice([1.7e15, 0, 0], [[0.0, 1, 0], [0, 0, 1]], SQUARE)
    assert len(rs.partition(net, time_stamp)) == 4


def test_a_huge_segment_does_not_hide_the_cuts_of_a_tiny_one():
    net = from_arrays([(np.ones((2, 1)), np.array([-5e-7, -3e-7])), (np.ones((1, 2)), np.zeros(1))])
    tiny_one, huge = (rs.Slice([0.0], [[1.0]], rs.Box(0, length, 1)) for length in (1e-6, 1e9))
    assert len(rs.partition(net, tiny_one)) == 3
    together = rs.partitions(net, [huge, tiny_one])[1]
    assert (len(together), together.claim) == (3, Claim.EXACT)


def test_an_offset_that_is_taken_away_again():
    # relu(y + 7e6) - 7e6 is known to 1e-9 only; two kinks of the next layer are 6e-10 apart.
    offset = 6779264.9
    layers = relu_layers(
        [
            (np.array([[0.0, 1.0]]), np.array([offset])),
            (np.array([[-1.5], [-0.5]]), np.array([10168896.234880142, 3389632.0782933803])),
            (np.ones((1, 2)), np.zeros(1)),
        ]
    )
    check_honest(layers, rs.Box([-1.75, -2], [0.25, 0.25]))


def test_an_interval_holds_all_that_one_undecided_sign_can_hide():
    weight = [[1, 0], [1, 0.5], [0.5, 1], [0, 1], [-0.5, 1], [-1, 0.5], [1, 0.25]]
    check_honest(relu_layers([(np.array(weight), np.array([0, 0, 0, 0, 0, 0, 1e-13])), (np.ones((1, 7)), np.zeros(1))]))


def test_an_interval_holds_the_pieces_of_a_thin_strip():
    weight = np.array([[0.0, 1], [0, 1], *[[1.0, 0]] * 10])
    bias = np.array([0, 1e-13, *np.linspace(-0.9, 0.9, 10)])
    check_honest(relu_layers([(weight, bias), (np.ones((1, 12)), np.zeros(1))]))


def test_a_unit_below_rounding_is_not_decided():
    slope = 2.0**-53
    # relu(x) - (1 - slope) relu(x) - slope / 2 changes its sign at x = 1/2.
    layers = relu_layers([([[1.0], [1]], [0.0, 0]), ([[1.0, -(1 - slope)]], [-slope / 2]), ([[1.0]], [0.0])])
    check_honest(layers, rs.Box(-1, 1, 1))


def test_the_code_of_a_tiny_constant_is_that_of_the_network():
    net = from_arrays([([[0.0, 1.0]], [0.0]), ([[1.0]], [4.8e-17]), ([[1.0]], [0.0])])
    part = rs.partition(net, SQUARE)
    np.testing.assert_array_equal(part.codes.to_array(), net.codes(part.witnesses).to_array())


@pytest.mark.parametrize("size", [1e-170, 1e200])
def test_numbers_that_floats_cannot_hold(size):
    layers = relu_layers([([[size], [-size]], [0.0, 0]), ([[size, -size]], [0.0]), ([[1.0]], [0.0])])
    with pytest.raises(InputError, match="underflow or overflow: scale the network"):
        rs.partition(network_of(layers, 1), rs.Box(-1, 1, 1))


def test_values_that_floats_cannot_hold():
    layers = relu_layers([([[1e70]], [0.0]), ([[1e70]], [1.0]), ([[1.0]], [0.0])])
    with pytest.raises(InputError, match=r"got 1\.0e\+140 on the way to gate"):
        rs.partition(network_of(layers, 1), rs.Box(-1, 1, 1))


def test_cancelling_units_are_zero_if_they_are():
    """Three times relu(x) minus relu(3 x): noise in floats, zero in truth; ten tenths of it: zero in floats only."""
    for factor, slope, expected in ((3.0, 3.0, 2), (0.1, 0.1, 2), (10 * 0.1, 1.0, 2)):
        layers = relu_layers([([[1.0], [slope]], [0.3, 0.3 * slope]), ([[factor, -1.0]], [0.0]), ([[1.0]], [0.0])])
        part = check_honest(layers, rs.Box(-1, 1, 1))
        assert len(part) >= expected
    exact = relu_layers([([[1.0], [3.0]], [0.25, 0.75]), ([[3.0, -1.0]], [0.0]), ([[1.0]], [0.0])])
    for high in (1 / 3, 0.7, 1.1):
        part = check_honest(exact, rs.Box(-1, high, 1))
        assert (part.claim, part.codes.to_array()[:, 2].tolist()) == (Claim.EXACT, [0, 0])


def test_constant_units_are_decided(chunks_of):
    """At its breakpoint on some cells and away from it on others: no slope that a floor could come from."""
    chunks_of(3)
    layers = [
        ("affine", np.array([[1.25, 0], [3.5, -0.5]]), np.array([-1, -1.5])),
        RELU,
        ("affine", np.array([[0, 1.25]]), np.array([-1.0])),
        ("pointwise", [-1.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 1.0]),
        ("affine", np.array([[0.25]]), np.array([0.75])),
        ("pointwise", [-0.5, 0.5], [1.0, 0.0, 1.0], [0.5, 0.0, -0.5]),
        ones(1),
    ]
    assert check_honest(layers, rs.Box([0, -1.75], [1.25, 0])).claim is Claim.EXACT


def test_zero_in_floats_is_not_always_zero():
    # 0.1 * 10 is 1 in floats, and a little more in truth.
    layers = relu_layers([([[0.1], [1.0]], [0.0, 0.0]), ([[10.0, -1.0]], [0.0]), ([[1.0]], [0.0])])
    part = check_honest(layers, rs.Box(-1, 1, 1))
    order = np.argsort(part.witnesses[:, 0])
    assert (part.claim, part.codes.to_array()[order, 2].tolist()) == (Claim.EXACT, [0, 1])


def test_equal_patches_of_an_image_are_one_candidate():
    """A flat background that is not zero: sums over equal patches, in another order, are equal up to rounding only."""
    import torch

    torch.manual_seed(0)
    net = rs.load(
        torch.nn.Sequential(
            torch.nn.Conv2d(1, 4, 3),
            torch.nn.ReLU(),
            torch.nn.MaxPool2d(2),
            torch.nn.Flatten(),
            torch.nn.Linear(4 * 49, 10),
        ),
        input_shape=(1, 16, 16),
    )
    images = np.full((3, 16, 16), -0.4242)
    images[:, 6:10, 6:10] = np.random.default_rng(0).normal(size=(3, 4, 4))
    assert rs.partition(net, rs.Plane(*images.reshape(3, -1))).claim is Claim.EXACT


def test_noise_of_a_large_network_is_undecided(monkeypatch):
    monkeypatch.setattr(import_module("reluscope.partitions.complexes.exact_signs"), "MULTIPLICATIONS", 0)
    slope = 2.0**-53
    layers = relu_layers([([[1.0], [1]], [0.0, 0]), ([[1.0, -(1 - slope)]], [-slope / 2]), ([[1.0]], [0.0])])
    part = check_honest(layers, rs.Box(-1, 1, 1))
    assert part.claim is Claim.LOWER
    assert part.num_undecided > 0
    assert part.finding().interval == (len(part), float("inf"))


def test_lines_that_nearly_meet_are_undecided_or_apart():
    weight = np.array([[1.0, 0], [0, 1], [1, 1]])
    for offset in 10.0 ** -np.arange(1.0, 18):
        layers = relu_layers([(weight, np.array([0, 0, offset])), (np.ones((1, 3)), np.zeros(1))])
        part = check_honest(layers)
        if offset > 1e-11:
            assert (len(part), part.claim) == (7, Claim.EXACT)
        elif offset < 1e-15:
            assert (len(part), part.claim) == (6, Claim.EXACT)


@pytest.mark.parametrize("resolution", [0.0, 1e-12, 1e-6, 1e-2])
def test_the_resolution_decides_what_is_apart(resolution):
    weight, bias = np.array([[1.0, 0], [1, 0]]), np.array([0.0, 1e-5])
    layers = relu_layers([(weight, bias), (np.ones((1, 2)), np.zeros(1))])
    part = check_honest(layers, tolerance=rs.Tolerance(resolution=resolution))
    assert (len(part), part.claim) == ((3, Claim.EXACT) if resolution < 1e-5 else (2, Claim.LOWER))


def test_what_is_hidden_where_a_function_is_flat_is_told():
    # The two largest candidates of the first window tie along two lines, 1e-11 apart where they are least steep.
    first, second = np.array([[0.0, 1], [1, 1]]), np.array([[-2.69e-13, 0], [1.38e-4, 1.4972], [6.9e-5, 0.7486]])
    module = nn.Sequential(
        linear(first, np.zeros(2)),
        nn.LeakyReLU(0.01),
        linear(second, np.array([5.75e-16, 1e-6, 5e-7])),
        Pool(3, 2, 1),
        linear(np.ones((1, 2)), np.zeros(1)),
    )
    plane = rs.Plane([0.0, 0.0], [-1.0, 0.0], [0.0, 1.0], margin=0.0)
    net = rs.load(module, input_shape=(2,))
    part, truth = rs.partition(net, plane), rs.certify(rs.partition(net, plane))
    assert len(part) < len(truth) == 5
    assert part.claim is Claim.LOWER
