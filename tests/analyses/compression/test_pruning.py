"""Pruned networks are the same function: exactly, at points and corners in fractions, and nothing provable is left."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

import reluscope as rs
from oracles import fractions_plane
from reluscope.errors import InputError, ShapeError, UnsupportedOperatorError
from reluscope.findings import Claim
from reluscope.geometry.programs.mixed_integer_program import MixedIntegerProgram
from reluscope.networks.fractions.rational import RationalNetwork
from reluscope.testing import strategies

prune = rs.compression.prune_exact


def exact_difference(network, pruned, box, steps=8):
    """Return the largest difference at a grid and at the centres of the pruned network's regions, in fractions."""
    one, two = RationalNetwork(network), RationalNetwork(pruned)
    axes = [[Fraction(a) + (Fraction(b) - Fraction(a)) * k / steps for k in range(steps + 1)]
            for a, b in zip(box.lo.tolist(), box.hi.tolist(), strict=True)]  # fmt: skip
    points = list(product(*axes))
    points += [tuple(Fraction(c) for c in w) for w in rs.partition(network, box).witnesses.tolist()]
    gaps = [Fraction(0)]
    for point in points:
        a, b = one.output(point), two.output(point)
        gaps += [abs(a[i] - b[i]) for i in range(len(a.numerators))]
    return max(gaps)


def sampled_difference(network, pruned, box, count=3000):
    x = np.random.default_rng(0).uniform(box.lo, box.hi, size=(count, box.dim))
    return float((network(x) - pruned.network(x)).abs().max())


@settings(max_examples=12)
@given(st.data())
def test_the_function_stays(data):
    dim = data.draw(st.integers(1, 2))
    network = rs.load(data.draw(strategies.networks(dim, max_layers=2, max_width=4, num_outputs=2)))
    box = data.draw(strategies.boxes(dim))
    pruned = prune(network, domain=box, method=data.draw(st.sampled_from(["auto", "intervals"])))
    assert exact_difference(network, pruned.network, box, 5) <= pruned.max_difference.value
    assert sum(pruned.widths_before) == network.num_units
    assert sum(pruned.widths_after) == pruned.network.num_units


@settings(max_examples=8)
@given(st.data())
def test_no_dead_unit_is_left(data):
    layers = data.draw(strategies.degenerate_networks(2, max_layers=2, max_width=4))
    box = data.draw(strategies.boxes(2))
    pruned = prune(rs.load(layers), domain=box)
    corners = [(box.lo[0], box.lo[1]), (box.hi[0], box.lo[1]), (box.hi[0], box.hi[1]), (box.lo[0], box.hi[1])]
    codes = np.array([piece.code for piece in fractions_plane.split(layers, corners)])
    removed = {(one.gate, one.channel) for one in pruned.removed}
    start = 0
    for gate, width, left in zip(rs.load(layers).gates, pruned.widths_before, pruned.widths_after, strict=True):
        dead = np.flatnonzero(~codes[:, start : start + width].any(axis=0))
        assert sum((gate.name, unit) not in removed for unit in dead.tolist()) <= (1 if left == 1 else 0)
        start += width


def test_every_reason():
    # Units: z, 2 z (duplicate), dead, read by nothing, constant (no weights).
    first = ([[1.0], [2.0], [-1.0], [1.0], [0.0]], [0.0, 0.0, -2.0, 0.5, 3.0])
    second = ([[1.0, 1.0, 1.0, 0.0, 1.0], [2.0, 1.0, 0.0, 0.0, 0.0]], [-2.0, -1.0])
    network = rs.load([first, second, ([[1.0, -1.0]], [0.0])])
    pruned = prune(network, domain=rs.Box(-1, 1, dim=1))
    assert {(one.gate, one.channel): one.reason for one in pruned.removed if one.gate == "relu 0"} == {
        ("relu 0", 1): "duplicate",
        ("relu 0", 2): "dead",
        ("relu 0", 3): "unused",
        ("relu 0", 4): "constant",
    }
    assert exact_difference(network, pruned.network, rs.Box(-1, 1, dim=1)) == 0
    assert pruned.max_difference.claim is Claim.EXACT
    assert pruned.max_difference.value == 0
    assert pruned.to_table().num_rows == len(pruned.removed) == sum(pruned.counts().values())
    assert "duplicate" in pruned._repr_html_()


def test_units_that_are_always_on_become_one():
    rng = np.random.default_rng(0)
    weight = rng.integers(-4, 5, size=(6, 3)) / 4
    network = rs.load(
        [(weight, np.array([4.0, 4.0, 4.0, 4.0, 0.0, 0.25])), (rng.integers(-4, 5, size=(1, 6)) / 4, [0.5])]
    )
    pruned = prune(network, domain=rs.Box(-1, 1, dim=3))
    assert pruned.counts()["always on"] == 4
    assert pruned.widths_after == (3,)
    assert exact_difference(network, pruned.network, rs.Box(-1, 1, dim=3), 3) == 0
    assert pruned.max_difference.value == 0


def test_a_layer_that_is_affine_is_multiplied_into_the_next():
    rng = np.random.default_rng(1)
    second = rng.normal(size=(3, 4))  # its units are at 0 in the origin
    layers = [(rng.normal(size=(4, 2)), np.full(4, 9.0)), (second, -9 * second.sum(1)), (np.ones((1, 3)), [0.0])]
    pruned = prune(rs.load(layers), domain=rs.Box(-1, 1, dim=2), method="intervals")
    assert pruned.widths_after == (0, 3)
    assert 0 < pruned.max_difference.value < 1e-13
    assert pruned.max_difference.claim is Claim.UPPER
    assert exact_difference(rs.load(layers), pruned.network, rs.Box(-1, 1, dim=2), 4) <= pruned.max_difference.value


def test_a_combination_of_others_goes():
    weight = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 2.0], [0.5, -0.5]])
    after = np.array([[1.0, 0.5, 0.25, 1.0], [0, 1, 1, 0], [1, 1, 0, 1], [0.5, 0, 1, 2]])
    layers = [(weight, [5.0, 5.0, 5.0, 0.0]), (after, -after @ [5, 5, 5, 0]), (np.ones((1, 4)), [0.0])]
    pruned = prune(rs.load(layers), domain=rs.Box(-1, 1, dim=2), method="intervals")
    assert [(one.gate, one.reason) for one in pruned.removed] == [("relu 0", "dependent")]
    assert exact_difference(rs.load(layers), pruned.network, rs.Box(-1, 1, dim=2), 4) == 0
    assert pruned.max_difference.value == 0


def test_units_that_just_touch_zero_are_dead():
    layers = [(np.full((2, 10), 0.1), [-1.0000000000000002, 0.0]), (np.ones((1, 2)), [0.0])]
    box = rs.Box(0, 1, dim=10)
    top = Fraction(-1.0000000000000002) + 10 * Fraction(0.1)
    assert ("dead" in prune(rs.load(layers), domain=box).counts()) == (top <= 0)
    layers[0] = ([[0.5] * 10, [-1.0] * 10], [-5.0, 0.0])  # both are 0 in one corner, and nowhere above
    layers[1] = (np.ones((1, 2)), [0.0])
    assert prune(rs.load(layers), domain=box).counts() == {"dead": 2}


@pytest.mark.few(3)
@pytest.mark.parametrize("gate", [nn.ReLU(), nn.LeakyReLU(0.25), nn.PReLU(12), nn.ReLU6(), nn.Hardtanh(-0.5, 0.75)])
@pytest.mark.parametrize("method", ["intervals", "programs"])
def test_gates_on_small_boxes(gate, method):
    torch.manual_seed(0)
    norm = nn.BatchNorm1d(12)
    norm.running_mean.normal_()
    norm.running_var.uniform_(0.5, 2.0)
    model = nn.Sequential(nn.Linear(5, 12), norm, gate, nn.Linear(12, 12), gate, nn.Linear(12, 2)).eval()
    box = rs.Box(-0.2, 0.2, dim=5)
    network = rs.load(model)
    pruned = prune(model, domain=box, method=method)
    assert len(pruned.removed) > 5
    assert pruned.max_difference.value < 1e-12
    assert sampled_difference(network, pruned, box) < 1e-13
    assert pruned.num_parameters_after < pruned.num_parameters_before
    assert exact_difference_at_corners(network, pruned, box) <= pruned.max_difference.value


def exact_difference_at_corners(network, pruned, box):
    one, two = RationalNetwork(network), RationalNetwork(pruned.network)
    points = [tuple(map(Fraction, point)) for point in box.corners()[:6].tolist()]
    return max(abs(one.output(point)[0] - two.output(point)[0]) for point in points)


def image_model():
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(1, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 5, 3, stride=1), nn.MaxPool2d(2, padding=1), nn.LeakyReLU(0.125),
        nn.Flatten(), nn.Linear(20, 5), nn.ReLU(), nn.Linear(5, 2),
    ).eval()  # fmt: skip
    with torch.no_grad():
        model[0].weight[1], model[0].bias[1] = 2 * model[0].weight[0], 2 * model[0].bias[0]
        model[0].bias[2] = -9  # dead
        model[4].weight[:, 4] = 0  # nothing reads channel 4
        model[4].weight[2], model[4].bias[2] = 0, 0.5  # constant, moves into the dense layer
    model[1] = nn.Identity()
    return model


def test_channels_of_convolutions():
    model = image_model()
    box = rs.Box(0, 1, dim=64)
    network = rs.load(model, (1, 8, 8))
    pruned = prune(model, domain=box, input_shape=(1, 8, 8))
    by_place = {(one.gate, one.channel): one.reason for one in pruned.removed}
    first, second = (
        gate.name for gate in network.gates if gate.kind in ("relu", "leaky_relu") and len(gate.shape) == 3
    )
    assert by_place[first, 1] == "duplicate"
    assert by_place[first, 2] == "dead"
    assert by_place[first, 4] == "unused"
    assert by_place[second, 2] == "constant"
    assert sampled_difference(network, pruned, box, 200) < 1e-13
    assert pruned.max_difference.value < 1e-12
    assert pruned.module(torch.zeros(3, 1, 8, 8, dtype=torch.float64)).shape == (3, 2)


def test_a_constant_in_front_of_a_border_stays():
    model = nn.Sequential(
        nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Conv2d(2, 2, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(18, 1)
    )
    with torch.no_grad():
        model[0].weight[0], model[0].bias[0] = 0, 1.0
        model[0].bias[1] = 0.0
    pruned = prune(model, domain=rs.Box(-1, 1, dim=25), input_shape=(1, 5, 5))
    assert pruned.widths_after[0] == 2
    assert sampled_difference(rs.load(model, (1, 5, 5)), pruned, rs.Box(0, 1, dim=25), 100) < 1e-13


def test_on_all_of_space_multiples_go():
    network = rs.load([([[1.0, 1], [2, 2], [0, 1], [1, 0]], [0.5, 1, 0, 0]), ([[1.0, 1, 1, 1]], [0.0])])
    pruned = prune(network, domain=rs.Space(2), method="intervals")
    assert pruned.counts() == {"duplicate": 1}
    assert pruned.max_difference.value == 0


def test_on_a_slice_more_goes_than_on_the_box_around_it():
    torch.manual_seed(1)
    network = rs.load(nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 8), nn.ReLU(), nn.Linear(8, 1)))
    segment = rs.Segment(np.zeros(6), 0.5 * np.ones(6))
    pruned, wide = prune(network, domain=segment), prune(network, domain=rs.Box(0, 0.5, dim=6))
    assert sum(pruned.widths_after) < sum(wide.widths_after)
    x = segment.lift(np.linspace(0, segment.window.hi[0], 200)[:, None])
    assert float((network(x) - pruned.network(x)).abs().max()) < 1e-13
    assert "partition" in pruned.method


def test_on_a_polyhedron():
    torch.manual_seed(2)
    network = rs.load(nn.Sequential(nn.Linear(3, 12), nn.ReLU(), nn.Linear(12, 1)))
    simplex = rs.Polyhedron(np.vstack([-np.eye(3), np.ones((1, 3))]), np.array([0.0, 0, 0, 0.25]))
    for method in ("intervals", "programs"):
        pruned = prune(network, domain=simplex, method=method)
        x = np.random.default_rng(0).dirichlet(np.ones(4), size=500)[:, :3] * 0.25
        assert float((network(x) - pruned.network(x)).abs().max()) < 1e-13
        assert pruned.removed


def test_everything_dead_leaves_a_constant():
    network = rs.load([(-np.ones((3, 2)), -np.ones(3)), (np.ones((2, 3)), np.zeros(2)), (np.ones((1, 2)), [4.0])])
    pruned = prune(network, domain=rs.Box(0, 1, dim=2))
    assert pruned.network(np.random.default_rng(0).uniform(size=(5, 2))).flatten().tolist() == [4.0] * 5
    assert pruned.max_difference.value == 0


def test_a_network_without_gates_stays():
    network = rs.load([(np.ones((2, 3)), np.zeros(2))])
    pruned = prune(network, domain=rs.Box(0, 1, dim=3))
    assert pruned.removed == ()
    assert pruned.num_parameters_before == pruned.num_parameters_after == 8


def test_output_shapes_stay():
    class Squeezed(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(2, 3), nn.Linear(3, 1)

        def forward(self, x):
            return self.second(torch.relu(self.first(x))).squeeze(-1)

    pruned = prune(Squeezed(), domain=rs.Box(0, 1, dim=2))
    assert pruned.module(torch.zeros(4, 2, dtype=torch.float64)).shape == (4,)
    assert pruned.network.output_shape == ()


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def forward(self, x):
        return x + torch.relu(self.layer(x))


@pytest.mark.parametrize(
    ("model", "shape", "what"),
    [
        (Residual(), (2,), "does not read just the value before it"),
        (nn.Sequential(nn.Conv2d(2, 2, 1, groups=2), nn.ReLU(), nn.Conv2d(2, 1, 1)), (2, 3, 3), "2 groups"),
        (
            nn.Sequential(nn.Conv2d(1, 2, 1), nn.ReLU(), nn.AvgPool2d(2), nn.Conv2d(2, 1, 1)),
            (1, 4, 4),
            "behind its gate",
        ),
        (nn.Sequential(nn.Linear(2, 2), nn.ReLU()), (2,), "ends with an affine layer"),
        (nn.Sequential(nn.Linear(2, 2), nn.Softshrink(), nn.Linear(2, 1)), (2,), "not known"),
    ],
)
def test_other_networks_are_refused(model, shape, what):
    with pytest.raises(UnsupportedOperatorError, match=what):
        prune(model, domain=rs.Box(0, 1, dim=int(np.prod(shape))), input_shape=shape)


def test_domains_that_do_not_fit_are_refused():
    network = rs.load([(np.ones((2, 3)), np.zeros(2)), (np.ones((1, 2)), [0.0])])
    with pytest.raises(ShapeError, match="lies in 2 dimensions"):
        prune(network, domain=rs.Box(0, 1, dim=2))
    with pytest.raises(InputError, match="bounded domain"):
        prune(network, domain=rs.Space(3), method="programs")


def test_rows_of_zeros_that_products_leave_are_constant():
    layers = [
        ([[1.0], [-1.0]], [10.0, 10.0]),
        ([[1.0, 1.0], [1.0, 0.0], [1.0, -1.0]], [0.0, 0.0, 0.0]),
        ([[1.0, 2.0, 3.0], [3.0, 1.0, 1.0], [1.0, 1.0, 7.0]], [0.0, 0.0, 0.0]),
    ]
    net = rs.load(layers)
    pruned = rs.compression.prune_exact(net, domain=rs.Box(-1, 1, dim=1))
    x = np.linspace(-1, 1, 21)[:, None]
    np.testing.assert_allclose(pruned.network(x), net(x), atol=1e-12)


def test_duplicates_that_nothing_reads_have_a_finite_difference():
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.ReLU(), nn.Linear(3, 2)).double().eval()
    with torch.no_grad():
        module[0].weight[1], module[0].bias[1] = module[0].weight[0], module[0].bias[0]
        module[1].running_mean.fill_(0.3)
        module[1].running_var.fill_(0.7)
        module[3].weight[0, 1] = 0.0
    pruned = rs.compression.prune_exact(module, domain=rs.Space(3))
    assert not np.isnan(float(pruned.max_difference))


def test_units_at_an_upper_level_of_zero_are_constant_and_not_dead():
    module = nn.Sequential(nn.Linear(1, 2), nn.Hardtanh(-1.0, 0.0), nn.Linear(2, 1)).double()
    with torch.no_grad():
        module[0].weight.copy_(torch.tensor([[1.0], [1.0]]))
        module[0].bias.copy_(torch.tensor([9.0, 0.0]))
    pruned = rs.compression.prune_exact(module, domain=rs.Box(-1, 1, dim=1))
    assert [one.reason for one in pruned.removed] == ["constant"]


def test_domains_without_interior_or_points():
    net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    flat = rs.Polyhedron([[1.0, 0], [-1, 0], [0, 1], [0, -1]], [-1.0, 1, 1, 1])  # x = -1
    assert rs.compression.prune_exact(net, domain=flat).widths_after == (1,)
    with pytest.raises(InputError, match="an empty one"):
        rs.compression.prune_exact(net, domain=rs.Polyhedron([[1.0, 0], [-1, 0], [0, 1], [0, -1]], [-1.0, -1, 1, 1]))


def test_what_multipliers_prove_is_exact():
    """The sum of a unit and its mirror image is at most 1, by the relaxation: intervals say 2."""
    net = rs.load([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0], [1.0, 1.0]], [-1.0, -0.5]), (np.ones((1, 2)), [0.0])])
    found = {how: prune(net, domain=rs.Box(-1, 1, dim=1), method=how) for how in ("intervals", "programs")}
    assert found["intervals"].max_difference.claim is Claim.EXACT
    assert found["intervals"].widths_after == found["programs"].widths_after == (2, 2)  # at most 0 but for rounding
    lower = rs.load(
        [([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0], [1.0, 1.0]], [-1.001, -0.5]), (np.ones((1, 2)), [0.0])]
    )
    pruned = prune(lower, domain=rs.Box(-1, 1, dim=1), method="programs")
    assert pruned.widths_after == (2, 1)
    assert (pruned.max_difference.claim, float(pruned.max_difference)) == (Claim.EXACT, 0.0)


@pytest.mark.parametrize("is_lying", [False, True])
@settings(max_examples=15)
@given(parameters=strategies.degenerate_networks(2, 3, 4), seed=st.integers(0, 100))
def test_a_solver_that_errs_makes_no_proof_wrong(is_lying, parameters, seed):
    net, box = rs.load(parameters), rs.Box(-1, 1, 2)
    random, honest = np.random.default_rng(seed), MixedIntegerProgram.maximize

    def lying(self, columns, coefficients, **options):
        found = honest(self, columns, coefficients, **options)
        wrong = random.normal(size=self.num_rows) if random.random() < 0.5 else found.duals * (1 + 1e-6)
        return found._replace(bound=found.bound - 1e-2, duals=wrong)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MixedIntegerProgram, "maximize", lying if is_lying else honest)
        pruned = prune(net, domain=box, method="programs")
    assert pruned.max_difference.claim in (Claim.EXACT, Claim.UPPER)
    assert exact_difference(net, pruned.network, box) <= Fraction(float(pruned.max_difference))
