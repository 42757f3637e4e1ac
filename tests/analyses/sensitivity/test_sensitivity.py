"""Directions, Jacobians, transitions, balls and saliency against autograd, numpy and dull counts."""

from functools import partial
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from torch import nn

import reluscope as rs
from networks.models import branched, layers
from oracles.codes_by_lp import codes_by_lp
from oracles.segment_bisection import num_regions
from reluscope.analyses.coefficients import probability_jacobians
from reluscope.analyses.sensitivity import regions_in_balls
from reluscope.analyses.sensitivity.saliency_maps import Saliency
from reluscope.testing import default_network
from reluscope.testing.strategies import networks

jacobian_norms = partial(rs.coefficients.local_norms, of="probabilities")
COMPLEXITY, TRANSITIONS, UNIT_CHANGES = "local_complexity", "num_transitions", "num_unit_changes"
NETWORKS = {
    "products": lambda: rs.load(layers([5, 9, 7, 3])),
    "row space": lambda: rs.load(layers([9, 4, 6, 3])),
    "one output": lambda: rs.load(layers([4, 6, 1])),
    "no gates": lambda: rs.load(layers([4, 3])),
    "branched": branched,
    "pool": lambda: rs.load(
        nn.Sequential(nn.Conv2d(1, 2, 3), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8, 3)), input_shape=(1, 6, 6)
    ),
}


def sample(net, number=40, seed=0):
    return np.random.default_rng(seed).normal(size=(number, net.num_inputs))


def jacobians(net, points, after=lambda outputs: outputs):
    """Return (s, m, n) by autograd: samples do not see each other, so that gradients of sums are theirs."""
    x = torch.tensor(points).reshape(-1, *net.input_shape).requires_grad_()
    outputs = after(net(x).reshape(len(x), -1)).sum(0)
    rows = [torch.autograd.grad(output, x, retain_graph=True, materialize_grads=True)[0] for output in outputs]
    return torch.stack([row.flatten(1) for row in rows], dim=1).numpy()


@pytest.mark.parametrize("number", [7, 30])
@pytest.mark.parametrize("name", NETWORKS)
def test_active_subspaces_are_those_of_all_gradients(name, number):
    net = NETWORKS[name]()
    points = sample(net, number)
    points[-1] = points[0]  # one region twice
    found = rs.sensitivity.active_subspaces(net, points, num_directions=3)
    gradients = jacobians(net, points)
    for j in range(net.num_outputs):
        own = gradients[:, j]
        values, vectors = np.linalg.eigh(own.T @ own / number)
        values, vectors = values[::-1], vectors[:, ::-1]
        size = min(len(values), found.eigenvalues.shape[1])
        assert found.eigenvalues[j, :size] == pytest.approx(values[:size], abs=1e-12)
        assert (np.abs(values[size:]) < 1e-12).all()
        assert found.traces[j] == pytest.approx((own**2).sum() / number, rel=1e-12)
        assert found.share(j).claim is (rs.Claim.EXACT if own.any() else rs.Claim.LOWER)
        assert float(found.share(j, 2)) == pytest.approx(values[:2].sum() / (values.sum() or np.inf), abs=1e-12)
        rank = np.linalg.matrix_rank(own, tol=1e-9)
        assert int(found.rank(j)) == rank <= found.rank_upper
        for place, direction in enumerate(found.directions[j]):
            if place >= rank:
                assert not direction.any()
            elif values[place] > 1.01 * values[place + 1]:
                assert abs(direction @ vectors[:, place]) == pytest.approx(1.0, abs=1e-6)
                assert direction @ own.mean(axis=0) >= -1e-12
    assert found.center == pytest.approx(points.mean(axis=0))


def test_the_rank_is_at_most_the_hidden_width():
    net = rs.load(layers([30, 6, 8, 4]))
    found = rs.sensitivity.active_subspaces(net, sample(net, 300))
    assert found.rank_upper == 6
    assert {str(found.rank(j)) for j in range(4)} == {"6 (EXACT)"}
    everything = jacobians(net, sample(net, 300)).reshape(-1, 30)
    assert np.linalg.matrix_rank(everything) == 6


def test_a_skip_from_the_input_adds_one():
    class Skip(nn.Module):
        def __init__(self):
            super().__init__()
            self.hidden, self.last, self.direct = nn.Linear(9, 3), nn.Linear(3, 2), nn.Linear(9, 2)

        def forward(self, x):
            return self.last(torch.relu(self.hidden(x))) + self.direct(x)

    torch.manual_seed(0)
    net = rs.load(Skip(), input_shape=9)
    found = rs.sensitivity.active_subspaces(net, sample(net, 80))
    assert found.rank_upper == 4
    assert {str(found.rank(j)) for j in range(2)} == {"4 (EXACT)"}


def test_a_small_memory_takes_several_passes_to_the_same_end():
    net = rs.load(layers([9, 14, 5]))
    points = sample(net, 90)
    whole = rs.sensitivity.active_subspaces(net, points)
    parts = rs.sensitivity.active_subspaces(net, points, budget=rs.Budget(memory=2 * 4 * 8 * 81))
    assert parts.eigenvalues == pytest.approx(whole.eigenvalues, abs=1e-13)
    with pytest.raises(rs.errors.InputError, match="memory for one table of 81 numbers"):
        rs.sensitivity.active_subspaces(net, points, outputs=[0], budget=rs.Budget(memory=4 * 8 * 80))
    with pytest.raises(rs.errors.InputError, match="at least one point"):
        rs.sensitivity.active_subspaces(net, points[:0])


def test_constant_outputs_have_no_directions():
    net = rs.load([(np.zeros((2, 3)), np.array([1.0, -1.0])), (np.ones((2, 2)), np.zeros(2))])
    found = rs.sensitivity.active_subspaces(net, sample(net, 5))
    assert not found.directions.any()
    assert (found.share(0).claim, found.share(0).interval) == (rs.Claim.LOWER, (0.0, 1.0))
    assert (int(found.rank(0)), found.shares[0, -1]) == (0, 0.0)
    along = rs.sensitivity.output_along(net, sample(net, 5), np.ones(3))
    assert along.explained().interval == (0.0, 1.0)
    assert along.values == pytest.approx(along.line_values[0])


def test_outputs_along_a_direction():
    net = rs.load(layers([4, 8, 6, 3]))
    points = sample(net, 50)
    direction = np.array([1.0, -2.0, 0.5, 0.0])
    found = rs.sensitivity.output_along(net, points, direction, output=2)
    unit = direction / np.linalg.norm(direction)
    assert found.positions == pytest.approx((points - points.mean(axis=0)) @ unit)
    fine = np.linspace(found.positions.min(), found.positions.max(), 400)
    expected = net(points.mean(axis=0) + fine[:, None] * unit)[:, 2].numpy()
    assert np.interp(fine, found.line_positions, found.line_values) == pytest.approx(expected, abs=1e-9)
    correlation = np.corrcoef(found.positions, net(points)[:, 2].numpy())[0, 1]
    assert float(found.explained()) == pytest.approx(correlation**2, abs=1e-9)
    coarse = rs.sensitivity.output_along(net, points, direction, tolerance=rs.Tolerance(rounding=32.0))
    unit, sizes = direction / np.linalg.norm(direction), np.abs(points).max() + np.abs(points.mean(axis=0)).max()
    assert coarse.position_error == pytest.approx(32 * 2.0**-52 * sizes * np.abs(unit).sum(), rel=1e-9, abs=0)
    assert found.position_error == pytest.approx(coarse.position_error / 2, rel=1e-9, abs=0)
    alone = rs.sensitivity.output_along(net, points, direction, output=2, on_line=False)
    assert (len(alone.line_positions), len(alone.line_values)) == (0, 0)
    assert (alone.values.tolist(), alone.explained()) == (found.values.tolist(), found.explained())
    single = rs.sensitivity.output_along(net, points[:1], direction)
    assert len(single.line_positions) == 1
    for wrong, message in ((np.ones(3), "4 entries"), (np.zeros(4), "not zero"), (np.full(4, np.nan), "finite")):
        with pytest.raises(rs.errors.ReluscopeError, match=message):
            rs.sensitivity.output_along(net, points, wrong)
    with pytest.raises(rs.errors.InputError, match="output must be from 0 to 2"):
        rs.sensitivity.output_along(net, points, direction, output=3)


def test_probabilities_and_lengths_are_rounded_where_nothing_else_is():
    net = rs.load([(np.eye(2), np.zeros(2)), (np.array([[3.0, 1.0], [-1.0, 2.0]]), np.zeros(2))])
    found = jacobian_norms(net, [[0.25, 0.5]], tolerance=rs.Tolerance(rounding=0.0))
    of_probabilities, of_logits = found["probability_jacobian_norm"], found["logit_jacobian_norm"]
    own, eps = 16 * 2.0**-52, 2.0**-52
    assert of_logits.value[0] - of_logits.lower[0] == pytest.approx(own * of_logits.value[0], abs=8 * eps)
    expected = own * (3 * of_logits.value[0] + of_probabilities.value[0])
    assert of_probabilities.value[0] - of_probabilities.lower[0] == pytest.approx(expected, rel=0.1, abs=0)
    assert of_probabilities.upper[0] - of_probabilities.value[0] == pytest.approx(expected, rel=0.1, abs=0)


@pytest.mark.parametrize("of_maps", [0.0, 2.0])
@pytest.mark.parametrize("of_outputs", [0.0, 0.25])
def test_norms_are_off_by_errors_of_maps_and_outputs_and_by_their_product(of_maps, of_outputs):
    net = NETWORKS["products"]()
    at = net.at(sample(net, 2))
    forward = SimpleNamespace(
        outputs=at.forward.outputs, errors=np.full((2, 3), of_outputs), doubtful=at.forward.doubtful
    )
    errors = np.full((2, 3), of_maps)
    given = SimpleNamespace(network=net, points=at.points, forward=forward, map_errors=errors)
    of_probabilities, of_logits = probability_jacobians._measured(given, 2**20).columns
    delta, moved = 3**0.5 * of_maps, 3**0.5 * of_outputs / 2 + 16 * 2.0**-52
    off = delta / 2 + 3 * moved * (of_logits.value + delta)
    for column, most in ((of_probabilities, off), (of_logits, np.full(2, delta))):
        most = most + 16 * 2.0**-52 * column.value
        assert column.upper - column.value == pytest.approx(most, rel=1e-3)
        assert column.value - column.lower == pytest.approx(np.minimum(most, column.value), rel=1e-3)


@pytest.mark.parametrize("name", ["products", "one output", "pool", "no gates"])
def test_jacobian_norms_by_autograd(name):
    net = NETWORKS[name]()
    points = 3 * sample(net, 9)

    def probabilities(outputs):
        single = outputs.shape[1] == 1
        return torch.softmax(torch.cat([torch.zeros_like(outputs), outputs], 1) if single else outputs, 1)

    found = jacobian_norms(net, points)
    for values, expected in (
        (found["logit_jacobian_norm"], jacobians(net, points)),
        (found["probability_jacobian_norm"], jacobians(net, points, probabilities)),
    ):
        assert values.value == pytest.approx(np.sqrt((expected**2).sum(axis=(1, 2))), rel=1e-9)
        assert (values.lower <= values.value).all()
        assert (values.upper - values.lower < 2e-10).all()
    others = rs.coefficients.local_norms(net, points)["frobenius_norm"].value
    assert found["logit_jacobian_norm"].value == pytest.approx(others, rel=1e-12)
    assert found.median("logit_jacobian_norm").claim is rs.Claim.EXACT


def test_a_sure_classifier_has_small_norms_however_steep():
    net = rs.load([(100 * np.eye(2), np.zeros(2)), (np.array([[5.0, 0.0], [-5.0, 0.0]]), np.zeros(2))])
    found = jacobian_norms(net, [[1.0, 0.0]])
    assert found["logit_jacobian_norm"].value[0] > 700
    assert 0 <= found["probability_jacobian_norm"].value[0] < 1e-200


def codes_on(net, starts, ends):
    """Return the codes at places 0 to k of a polyline, as integers."""

    def codes(places):
        segment = np.clip(np.floor(places).astype(int), 0, len(starts) - 1)
        share = (places - segment)[:, None]
        return net.codes(starts[segment] * (1 - share) + ends[segment] * share).to_array().astype(int)

    return codes


@settings(max_examples=10, deadline=None)
@given(networks(num_inputs=2))
def test_transitions_by_bisection(parameters):
    net = rs.load(parameters)
    corners = np.random.default_rng(1).normal(size=(5, 2))
    path = rs.sensitivity.trajectory(corners, is_closed=True)
    found = rs.sensitivity.transitions(net, path)
    starts, ends = path.ends()
    codes = codes_on(net, starts, ends)
    for segment in range(5):
        number = found[TRANSITIONS].value[segment]
        assert number == num_regions(codes, segment, segment + 1, grid=60) - 1
    assert not found.details["corner_transitions"].any()
    assert found.total(TRANSITIONS).claim is rs.Claim.EXACT
    assert int(found.total(UNIT_CHANGES)) >= int(found.total(TRANSITIONS))
    assert int(found.total(UNIT_CHANGES)) % 2 == 0  # whatever changes on a closed way changes back


def test_transitions_at_corners_of_the_way():
    net = rs.load([(np.array([[1.0, 0.0], [1.0, 0.0]]), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    # From x < 0 to the kink and on, in two segments: the change is at the corner, of two units.
    crossing = rs.sensitivity.transitions(net, [[-1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    assert (int(crossing.total(TRANSITIONS)), int(crossing.total(UNIT_CHANGES))) == (1, 2)
    assert crossing.details["corner_transitions"].tolist() == [1, 0]
    touching = rs.sensitivity.transitions(net, [[-1.0, 0.0], [0.0, 1.0], [-1.0, 2.0]])
    assert int(touching.total(TRANSITIONS)) == 0
    back = rs.sensitivity.transitions(net, rs.sensitivity.trajectory([[-1.0, 0.0], [1.0, 0.0]], is_closed=True))
    assert (int(back.total(TRANSITIONS)), back.details["lengths"].sum()) == (2, pytest.approx(4.0))
    still = rs.sensitivity.transitions(net, [[1.0, 0.0], [1.0, 0.0]])
    assert (len(still), int(still.total(TRANSITIONS))) == (0, 0)


def test_ellipses_and_translations():
    a, b, c = np.random.default_rng(0).normal(size=(3, 6))
    ellipse = rs.sensitivity.ellipse(a, b, c, num_points=12)
    for place, point in ((0, a), (4, b), (8, c)):
        assert ellipse.points[place] == pytest.approx(point)
    assert "12 points of the ellipse" in ellipse.description
    image = np.arange(12.0).reshape(3, 4)
    moved = rs.sensitivity.translations(image, shape=(1, 3, 4))
    assert moved.points[1].reshape(3, 4)[0].tolist() == [3.0, 0.0, 1.0, 2.0]
    net = rs.load(layers([12, 8, 2]))
    blank = rs.sensitivity.translations(np.ones(12), shape=(3, 4))
    assert int(rs.sensitivity.transitions(net, blank).total(TRANSITIONS)) == 0
    for wrong in (lambda: rs.sensitivity.ellipse(a, b, c[:3]), lambda: rs.sensitivity.ellipse(a, b, c, num_points=2),
                  lambda: rs.sensitivity.translations(image, shape=(5, 4)),
                  lambda: rs.sensitivity.trajectory([[1.0]])):  # fmt: skip
        with pytest.raises(rs.errors.ReluscopeError, match=r"expected|must"):
            wrong()


@settings(max_examples=8, deadline=None)
@given(networks(num_inputs=2, max_layers=2))
def test_regions_in_a_box_by_linear_programs(parameters):
    found = rs.sensitivity.local_complexity(rs.load(parameters), np.zeros((1, 2)), 1.0)
    assert int(found.finding(COMPLEXITY)) == len(codes_by_lp(parameters, box=(-1.0, 1.0)))
    assert found[COMPLEXITY].is_exact.all()


@pytest.mark.parametrize("seed", range(4))
def test_regions_in_a_disc_by_lines_and_their_crossings(seed):
    rng = np.random.default_rng(seed)
    rows, offsets = rng.normal(size=(9, 2)), rng.normal(size=9)
    net = rs.load([(rows, offsets), (np.ones((1, 9)), np.zeros(1))])
    center, radius = rng.normal(size=2), 0.9
    lengths = np.linalg.norm(rows, axis=1)
    meeting = np.flatnonzero(np.abs(rows @ center + offsets) < radius * lengths)
    crossings = [np.linalg.solve(rows[list(two)], -offsets[list(two)]) for two in combinations(meeting, 2)]
    inside = sum(np.linalg.norm(point - center) < radius for point in crossings)
    found = rs.sensitivity.local_complexity(net, center, radius, norm="l2")
    assert str(found.finding(COMPLEXITY)) == f"{1 + len(meeting) + inside} (EXACT)"
    box = rs.sensitivity.local_complexity(net, center, radius)
    assert box[COMPLEXITY].value[0] >= found[COMPLEXITY].value[0]
    assert found.median(COMPLEXITY).claim is rs.Claim.EXACT
    assert found.median(COMPLEXITY).name == "median local complexity in the l2 ball of radius 0.9"


def test_a_ball_that_touches_a_boundary_is_left_open():
    net = rs.load([(np.eye(2), np.array([-1.0, -5.0])), (np.ones((1, 2)), np.zeros(1))])
    for radius in (1 - 1e-10, 1.0, 1 + 1e-10):  # beyond the boundary the ball is thinner than partitions resolve
        found = rs.sensitivity.local_complexity(net, [[0.0, 0.0]], radius, norm="l2").finding(COMPLEXITY)
        assert (found.claim, found.interval) == (rs.Claim.LOWER, (1, 2))


def test_a_point_behind_rows_goes_on_inside_before_it_counts():
    rows, offsets, inner = np.array([[-1.0, 0.0]]), np.array([-1.0]), np.array([2.0, 0.0])  # from x_0 = 1 on
    reached = regions_in_balls._reached
    assert 1.0 <= reached(rows, offsets, np.array([0.75, 0.0]), inner) <= 1 + 1e-12
    assert reached(rows, offsets, np.array([1.5, 0.0]), inner) == 1.5
    assert reached(rows, offsets, np.array([0.75, 0.0]), np.array([1.0, 0.0])) == np.inf
    assert reached(rows, offsets, np.full(2, np.nan), inner) == np.inf


@pytest.mark.parametrize("norm", ["l2", "linf"])
def test_many_inputs_are_sampled_to_a_lower_bound(norm):
    net = rs.load(default_network([20, 30, 2], seed=0))
    points = sample(net, 2)
    found = rs.sensitivity.local_complexity(
        net, points, 0.5, norm=norm, budget=rs.Budget(regions=5, seconds=0.2), num_samples=300
    )
    assert set(found[COMPLEXITY].claims) == {rs.Claim.LOWER}
    assert (found[COMPLEXITY].value > 20).all()
    assert found.median(COMPLEXITY).claim is rs.Claim.LOWER


def test_balls_refuse_what_has_no_size():
    net = rs.load(default_network([2, 3, 1], seed=0))
    for radius, norm, message in ((0.0, "l2", "above 0"), (np.nan, "linf", "above 0")):
        with pytest.raises(rs.errors.InputError, match=message):
            rs.sensitivity.local_complexity(net, [[1.0, 1.0]], radius, norm=norm)
    with pytest.raises(rs.errors.InputError, match="float64 resolves"):
        rs.sensitivity.local_complexity(net, [[1e12, 1.0]], 1e-3)


@pytest.mark.parametrize("name", NETWORKS)
def test_saliency_adds_up_to_the_output(name):
    net = NETWORKS[name]()
    points = sample(net, 8)
    found = rs.sensitivity.saliency(net, points)
    outputs = net(points).reshape(8, -1).numpy()
    rows = np.arange(8)
    chosen = outputs.argmax(axis=1)
    assert found.outputs.tolist() == chosen.tolist()
    assert found.gradients == pytest.approx(jacobians(net, points)[rows, chosen], abs=1e-12)
    assert found.values == pytest.approx(outputs[rows, chosen], abs=1e-12)
    sizes = np.abs(found.contributions).sum(axis=1) + np.abs(found.constants)
    assert float(found.constant_share(3)) == pytest.approx(abs(found.constants[3]) / sizes[3])
    asked = rs.sensitivity.saliency(net, points, outputs=[0] * 8)
    assert asked.values == pytest.approx(outputs[:, 0], abs=1e-12)
    with pytest.raises(rs.errors.ShapeError, match="one output for each"):
        rs.sensitivity.saliency(net, points, outputs=[0])
    with pytest.raises(rs.errors.InputError, match="outputs must be"):
        rs.sensitivity.saliency(net, points, outputs=[net.num_outputs] * 8)


def test_a_dead_network_owes_everything_to_its_constant():
    dead = rs.load([(np.ones((1, 2)), np.array([-100.0])), (np.ones((2, 1)), np.array([1.0, 3.0]))])
    found = rs.sensitivity.saliency(dead, [[1.0, 2.0]])
    assert str(found.constant_share(0)) == "1 (EXACT)"
    nothing = rs.load([(np.ones((1, 2)), np.array([-100.0])), (np.ones((1, 1)), np.zeros(1))])
    assert rs.sensitivity.saliency(nothing, [[1.0, 2.0]]).constant_share(0).interval == (0.0, 1.0)


@pytest.mark.parametrize(("constant", "contribution"), [(1.0, -3.0), (-1.0, 3.0), (3.9, 0.1), (0.1, 3.9)])
def test_the_share_of_a_constant_is_as_uncertain_as_its_parts(constant, contribution):
    one = [np.array([entry]) for entry in (constant, 0.0625, 0.125, 2.0)]
    gradients = np.array([[contribution / 2]])
    found = Saliency(np.array([0]), gradients, 2 * gradients, *one).constant_share(0)
    value, apart = abs(constant) / 4, 2 * 0.25 / 3.75  # errors of the gradient count twice: the input is 2
    assert found.value == pytest.approx(value)
    assert found.interval == pytest.approx((max(0.0, value - apart), min(1.0, value + apart)))
    for moved in (-0.25, 0.25):  # of one part against the other
        share = (abs(constant) + moved) / (abs(constant) + moved + max(0.0, abs(contribution) - moved))
        assert found.interval[0] <= share <= found.interval[1] or not 0 <= share <= 1


def test_norms_of_codes_in_doubt_are_estimates():
    net = rs.load([(np.array([[0.1, 0.3]]), np.zeros(1)), (np.ones((1, 1)), np.zeros(1))])
    assert jacobian_norms(net, [[1.0, 1.0]]).mean("logit_jacobian_norm").claim is rs.Claim.EXACT
    found = jacobian_norms(net, [[3.0, -1.0], [1.0, 1.0]])
    assert found["logit_jacobian_norm"].claims == (rs.Claim.ESTIMATE, rs.Claim.EXACT)
    assert found.mean("logit_jacobian_norm").claim is rs.Claim.ESTIMATE


def test_balls_within_rounding_are_not_told_apart():
    net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    found = rs.sensitivity.local_complexity(net, [[8e-13, 8e-13]], 1e-12, norm="l2").finding(COMPLEXITY)
    assert found.value == 3 or found.claim is not rs.Claim.EXACT


def test_sums_of_contributions_are_rounded_themselves():
    one, gradients = [np.array([entry]) for entry in (1.0, 0.0, 0.0, 2.0)], np.array([[1.5]])
    found = Saliency(np.array([0]), gradients, 2 * gradients, *one).constant_share(0)
    assert (found.value, found.claim) == (0.25, "EXACT")
    assert found.tolerance == pytest.approx(2 * 16 * 2.0**-52, rel=1e-6, abs=0)


def along(positions, values, value_errors, position_error):
    given = [np.array(one, dtype=np.float64) for one in (positions, values, value_errors)]
    return rs.sensitivity.OutputAlong(1, given[0], given[1], *given[:2], given[2], position_error).explained()


def test_the_variance_explained_turns_with_its_columns():
    """Squared cosines move by no more than the angles by which the columns may turn."""
    positions, values = np.array([-1.0, 0.0, 1.0, 4.0]), np.array([0.5, -0.5, 2.0, 3.0])
    away, off = positions - 1.0, values - 1.25
    value = (away @ off) ** 2 / (away @ away) / (off @ off)
    for errors, shift in (([0.02, 0.0, 0.01, 0.0], 0.01), (np.zeros(4), 0.02), ([0.0, 0.0, 0.0, 0.03], 0.0)):
        turns = 2 * shift * 2 / np.linalg.norm(away) + 2 * np.linalg.norm(errors) / np.linalg.norm(off)
        found = along(positions, values, errors, shift)
        assert found.value == pytest.approx(value)
        assert found.interval == pytest.approx((value - turns, min(1.0, value + turns)), rel=1e-9)
    sure = along(positions, values, np.zeros(4), 0.0)
    assert (sure.claim, sure.tolerance) == ("EXACT", pytest.approx(16 * 2.0**-52, rel=0.1, abs=0))
    straight = along(positions, 3 * positions, np.full(4, 1e-3), 0.0)
    assert straight.value == pytest.approx(1.0)
    assert straight.interval[0] < 1.0 == straight.interval[1]


def test_columns_that_may_turn_by_half_a_radian_say_nothing():
    ends, length = [-1.0, 1.0], 2.0**0.5
    for share, known in ((0.49, True), (0.51, False), (3.0, False)):
        errors = np.array([share * length / 2, 0.0])
        found = along(ends, ends, errors, 0.0)
        assert found.value == pytest.approx(1.0)
        assert found.interval == ((pytest.approx(1.0 - share), 1.0) if known else (0.0, 1.0))
