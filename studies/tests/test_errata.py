"""Errors of the papers, as docs/errata.md lists them: what is printed is refuted by a counterexample, or computed."""

import ast
import re
from functools import cache
from itertools import pairwise, product
from math import comb, exp, gamma, isclose, pi, sqrt
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.spatial import ConvexHull

import reluscope as rs
from reluscope_studies import boolean
from reluscope_studies.sattelberg2026_ch3 import atlas
from reluscope_studies.sattelberg2026_ch4 import solutions
from reluscope_studies.sattelberg2026_ch6 import _jacobians as chapter6
from reluscope_studies.sattelberg2026_networks import models, training_of
from reluscope_studies.shepeleva2020 import heads

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (\d+) \| (.*) \|$", PAGE, re.MULTILINE)


@cache
def functions_in(path):
    return {
        one.name
        for one in ast.parse((ROOT / path).read_text(encoding="utf-8")).body
        if isinstance(one, ast.FunctionDef)
    }


def test_every_erratum_has_a_proof_that_is_there():
    assert [int(number) for number, _ in ROWS] == list(range(1, len(ROWS) + 1))
    assert len(ROWS) > 45
    proved = set()
    for number, row in ROWS:
        place, printed, true, proof = (cell.strip() for cell in re.split(r"(?<!\\)\|", row))
        assert place, number
        assert printed, number
        assert true, number
        named = re.fullmatch(r"`([\w/.]+)::(\w+)`", proof)
        if named is None:
            assert "(printing)" in place, number
            continue
        path, function = named.groups()
        assert function in functions_in(path), f"erratum {number}: {path} has no {function}"
        proved.add((path, function))
    own = {function for path, function in proved if path == "studies/tests/test_errata.py"}
    assert {name for name in functions_in("studies/tests/test_errata.py") if name.startswith("test_")} - own == {
        "test_every_erratum_has_a_proof_that_is_there"
    }


def four_lines():
    """Four units of two inputs whose lines are in general position and cross in a box."""
    weight = np.array([[1.0, 0.2], [0.3, 1.0], [1.0, 1.0], [1.0, -1.0]])
    return rs.load([(weight, np.array([0.1, 0.2, -0.3, 0.15])), (np.ones((1, 4)), np.zeros(1))])


# shepeleva2020


def test_codes_are_those_of_inputs():
    """Equations 1 and 2: codes of points of R^m, not of R^n; of l layers, not of n_l."""
    net = rs.load([(np.ones((5, 2)), np.zeros(5)), (np.ones((4, 5)), np.zeros(4)), (np.ones((3, 4)), np.zeros(3))])
    assert (net.num_inputs, net.num_outputs) == (2, 3)
    assert net.codes(np.zeros((1, 2))).to_array().shape == (1, 9)
    with pytest.raises(rs.errors.InputError):
        net.codes(np.zeros((1, 3)))
    num_layers, last_width = len(net.gates), 4
    assert num_layers == 2 != last_width


def test_the_inner_matrix_of_two_layers_is_the_first():
    first, second = np.ones((5, 2)), np.ones((4, 5))
    assert (second @ (first @ np.zeros(2))).shape == (4,)
    with pytest.raises(ValueError, match="matmul"):
        np.matmul(second, second @ np.zeros(2))


def test_all_printed_rates_are_run():
    assert {*heads.RATES} == {0.001, 0.01} | {0.1, 0.001}
    assert heads.PLANS["full"].rates == heads.RATES


# behrmann2018


def classified(weight, bias, output):
    return rs.preimages.classify((weight, bias), output).kind(0).name


def test_an_unbounded_preimage_may_have_volume_zero():
    """A ray in the plane: x = 0 and y >= 0. It is unbounded, and its area is 0, which is finite."""
    assert classified([[1, 0], [-1, 0], [0, -1]], [0, 0, 0], [0, 0, 0]) == "UNBOUNDED"


def test_an_unbounded_preimage_may_have_any_condition_number():
    """Two units of three inputs: the preimage is a line, and the Jacobian has the singular values 1 and 2."""
    weight = [[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]]
    assert classified(weight, [0, 0], [1, 1]) == "UNBOUNDED"
    largest, smallest = np.linalg.svd(np.array(weight), compute_uv=False)
    assert largest / smallest == 2


def test_rows_of_a_layer_meet_the_outputs_of_the_layer_before():
    weight, before = np.ones((3, 2)), np.zeros(2)
    own = np.maximum(weight @ before, 0)
    assert (weight[0] @ before).shape == ()
    with pytest.raises(ValueError, match="matmul"):
        np.matmul(weight[0], own)


# serra2018


def test_the_printed_bound_of_maxout_networks_is_exceeded():
    """Rank 2, two inputs, four units: max(a, b) = b + ReLU(a - b), so that regions are those of four ReLU units."""
    rank, inputs, units = 2, 2, 4
    printed = sum(comb(rank - 1, j) * units for j in range(inputs + 1))
    counted = int(rs.count(four_lines(), rs.Box(-5, 5, 2)))
    assert (printed, counted) == (8, 11)
    assert sum(comb((rank - 1) * units, j) for j in range(inputs + 1)) == 11


# sattelberg2026, chapters 2 and 3


def test_a_bound_with_any_cutoff_is_exceeded():
    """Equation 2.26 with k = 1, which is smaller than the only layer: 5, where there are 11 regions."""
    printed = sum(comb(4, i) for i in range(1 + 1))
    assert printed == 5 < int(rs.count(four_lines(), rs.Box(-5, 5, 2))) == sum(comb(4, i) for i in range(2 + 1))


def test_the_range_of_targets_of_a_perceptron():
    for inputs in (1, 2, 5):
        assert sum(2.0**-inputs for _ in range(2**inputs + 1)) > 1
        assert sum(2.0**-inputs for _ in range(2**inputs)) == 1
    weights = np.random.default_rng(0).normal(size=(4000, 2))
    ones = (weights @ boolean.all_inputs(2).T > 0).sum(axis=1)
    assert ones.max() == 3
    assert np.bincount(ones, minlength=5) / 4000 == pytest.approx([0.25] * 4 + [0], abs=0.03)


def printed_case(weights):
    """Return which of the printed strict cases each weight is in, from the third on: below how many of the sums."""
    steps = [np.append(0.0, np.cumsum(weights[: place - 1])) for place in range(2, len(weights))]
    return tuple(int((weights[place] > weights[place - 1] + sums).sum()) for place, sums in enumerate(steps, start=2))


def order_of(weights):
    """Return the order of all inputs by their sum, which is all that swaps depend on."""
    return tuple(np.argsort(boolean.all_inputs(len(weights)) @ weights).tolist())


def test_the_printed_cases_miss_orderings():
    drawn = np.sort(np.random.default_rng(1).uniform(size=(6000, 4)) ** 2, axis=1)
    cases = [printed_case(one) for one in drawn]
    orders = [order_of(one) for one in drawn]
    assert len(set(cases)) == 6
    assert len(set(orders)) == 14
    two = np.array([2, 3, 4, 6.5]), np.array([2, 3, 4, 8])
    assert printed_case(two[0]) == printed_case(two[1])
    assert order_of(two[0]) != order_of(two[1])
    # With three inputs nothing is missed.
    few = [(printed_case(one[:3]), order_of(one[:3])) for one in drawn]
    assert len(set(few)) == len({case for case, _ in few}) == 2


def printed_flow(w, o, b, c):
    """Return dw_1/dt and dc/dt as printed in section 3.3.3."""
    relu, step = (lambda z: max(z, 0.0)), (lambda z: float(z > 0))
    left = -c - o[0] * relu(b[0] - w[0]) - o[1] * relu(b[1] - w[1]) - 1
    right = -c - o[0] * relu(b[0] + w[0]) - o[1] * relu(b[1] + w[1]) - 1
    dw = 2 * o[0] * left * step(b[0] - w[0]) - 2 * o[0] * right * step(b[0] + w[0])
    dc = 8 * c + sum(o[k] * (4 * relu(b[k]) + 2 * relu(b[k] - w[k]) + 2 * relu(b[k] + w[k])) for k in range(2))
    return dw, dc


def test_the_printed_flow_climbs():
    rng = np.random.default_rng(2)
    for _ in range(20):
        w, o, b = (torch.tensor(rng.normal(size=2), requires_grad=True) for _ in range(3))
        c = torch.tensor(rng.normal(), dtype=torch.float64, requires_grad=True)
        x = torch.tensor([-1.0, 0.0, 0.0, 1.0], dtype=torch.float64)
        y = torch.tensor([-1.0, 1.0, 1.0, -1.0], dtype=torch.float64)
        loss = ((torch.relu(x[:, None] * w + b) @ o + c - y) ** 2).sum()
        loss.backward()
        printed = printed_flow(w.tolist(), o.tolist(), b.tolist(), float(c.detach()))
        assert printed == pytest.approx((float(w.grad[0]), float(c.grad)), abs=1e-9)


def test_without_its_zero_the_network_is_affine():
    """The maximum of one number is that number: the best affine function has loss 4, with ReLU there is loss 0."""
    x, y = np.array([-1.0, 0.0, 0.0, 1.0]), np.array([-1.0, 1.0, 1.0, -1.0])
    design = np.column_stack([x, np.ones(4)])
    best = design @ np.linalg.lstsq(design, y, rcond=None)[0]
    assert float(((best - y) ** 2).sum()) == pytest.approx(4)
    assert np.array_equal(1 - 2 * np.maximum(x, 0) - 2 * np.maximum(-x, 0), y)


def test_the_atlas_has_a_hundred_trials():
    assert atlas.TRIALS["full"] == 100
    assert "100 trials and ten trials" in " ".join(atlas._how(rs.studies.Setting("full")).split())


# sattelberg2026, chapter 4


def radii(points):
    """Return outer and inner radius of the polytope with these corners around the origin."""
    return float(np.linalg.norm(points, axis=1).max()), float(-ConvexHull(points).equations[:, -1].max())


def test_radii_of_square_hexagon_and_octahedron():
    side = 3.0
    angles = np.arange(6) * pi / 3
    outer, inner = radii(side * np.column_stack([np.cos(angles), np.sin(angles)]))
    assert (outer, inner) == pytest.approx((side, side * sqrt(3) / 2))
    assert not isclose(inner, sqrt(3) / 2)
    assert outer / inner == pytest.approx(2 * sqrt(3) / 3)
    outer, inner = radii(np.vstack([np.eye(3), -np.eye(3)]))
    assert outer / inner == pytest.approx(sqrt(3))
    outer, inner = radii(np.array(list(product([-1.0, 1.0], repeat=2))))
    assert outer / inner == pytest.approx(sqrt(2))


def test_the_table_of_inner_radii_has_one_digit_wrong():
    true = {n: sqrt((n + 1) / (2 * k * (n + 1 - k))) for n in range(2, 11) for k in [(n + 1) // 2]}
    assert true[4] == pytest.approx(sqrt(5 / 12))
    wrong = {
        n: (printed, round(true[n], 2)) for n, printed in solutions.PRINTED.items() if printed != round(true[n], 2)
    }
    assert wrong == {4: (0.64, 0.65)}


def volume(n, radius):
    return pi ** (n / 2) / gamma(n / 2 + 1) * radius**n


@pytest.mark.parametrize("n", [2, 3, 4, 9])
def test_volumes_of_shells_need_their_power(n):
    ratio, inner = sqrt((n * (n + 2) + 0.5 * (1 - (-1) ** n)) / (2 * (n + 1))), 0.7
    shell = volume(n, ratio * inner) - volume(n, inner)
    factor = pi ** (n / 2) / gamma(n / 2 + 1) * inner**n
    assert factor * (ratio**n - 1) == pytest.approx(shell)
    assert not isclose(factor * (ratio - 1), shell, rel_tol=0.05)


def test_the_gap_is_larger_than_the_ball():
    for n in (3, 6):
        ball, gap = volume(n, 0.5), volume(n, 0.5 * sqrt(n)) - volume(n, 0.5)
        assert gap / ball == pytest.approx(n ** (n / 2) - 1)
        assert ball / gap < 1 < n ** (n / 2) - 1


def test_areas_of_circle_gap_and_annulus():
    r1 = 0.5
    r2, r3 = r1 * sqrt(2), r1 * 2
    areas = volume(2, r1), volume(2, r2) - volume(2, r1), volume(2, r3) - volume(2, r2)
    assert np.array(areas) / areas[0] == pytest.approx([1, 1, 2])
    assert volume(2, sqrt(3) * r1) - volume(2, r2) == pytest.approx(areas[0])


# sattelberg2026, chapters 5 to 7


def test_the_remainder_of_taylors_formula():
    """At x0 = 1 a slope that is wrong leaves a remainder that is O(x^2) as well, and none that is O((x - x0)^2)."""
    x0, steps = 1.0, 10.0 ** -np.arange(1, 6)
    for slope, is_right in ((exp(1), True), (0.0, False)):
        remainder = np.abs(np.exp(x0 + steps) - exp(x0) - slope * steps)
        assert (remainder <= 3 * (x0 + steps) ** 2).all()
        assert (remainder <= 3 * steps**2).all() == is_right


def test_jacobians_and_linearisations():
    """Equations 5.6 and 5.7, for three inputs and two outputs."""
    rng = np.random.default_rng(3)
    net = rs.load([(rng.normal(size=(4, 3)), rng.normal(size=4)), (rng.normal(size=(2, 4)), rng.normal(size=2))])
    x0 = rng.normal(size=(1, 3))
    jacobian = net.linearize(x0).weight[0].numpy()
    assert jacobian.shape == (2, 3)
    x = x0 + 1e-7 * rng.normal(size=(1, 3))
    value, near = net(x0).numpy()[0], net(x).numpy()[0]
    assert value + jacobian @ (x - x0)[0] == pytest.approx(near, abs=1e-12)
    assert value + jacobian @ x[0] != pytest.approx(near, abs=1e-3)


def test_the_neutral_element_of_max_plus():
    assert all(max(x, -np.inf) == x for x in (-5.0, 0.0, 7.0))
    assert max(7.0, np.inf) != 7.0


def sides(pixels):
    """Return the sides of Inception-v3's maps, layer by layer: kernel, stride and padding of what shrinks them."""
    shrinking = [(3, 2, 0), (3, 1, 0), (3, 1, 1), (3, 2, 0), (1, 1, 0), (3, 1, 0), (3, 2, 0), (3, 2, 0), (3, 2, 0)]
    found = [pixels]
    for kernel, stride, padding in shrinking:
        found.append((found[-1] + 2 * padding - kernel) // stride + 1)
    return found


def test_inception_expects_299_pixels():
    """The last of its maps, of 8 x 8, are what its head averages; they come from 299 pixels."""
    assert sides(299) == [299, 149, 147, 147, 73, 73, 71, 35, 17, 8]
    assert sides(229)[-1] == 5


def test_the_weight_decay_of_adamw():
    default = torch.optim.AdamW([torch.nn.Parameter(torch.zeros(1))]).defaults["weight_decay"]
    sgd = next(training_of(model, 1) for model in models(1, 1) if model.optimizer == "SGD")
    assert default == sgd.weight_decay == 0.01
    assert not 0.1 < 0.01


def comparisons(side):
    """Return how often the printed labelling compares two points on a grid with so many points in a row."""
    every = product(range(side), repeat=2)
    return sum((column > 0) + (row > 0) * (side - max(0, column - 1)) for row, column in every)


def test_comparisons_of_the_labelling():
    """On a grid of side p they grow as p^3, which is (p^2)^(3/2); all pairs as p^4."""
    rates = [np.log2(comparisons(2 * side) / comparisons(side)) for side in (40, 80, 160)]
    assert rates[-1] == pytest.approx(3, abs=0.05)
    assert not any(isclose(rate, 1.5, abs_tol=0.5) for rate in rates)
    pairs = [comb(side**2, 2) for side in (40, 80, 160)]
    assert [np.log2(more / fewer) for fewer, more in pairwise(pairs)] == pytest.approx([4, 4], abs=0.01)


def test_the_figure_of_outputs_is_named_right():
    source = Path(chapter6.__file__).read_text(encoding="utf-8")
    # The figures that are named first behind each caption.
    of = {name: re.search(rf"{name}.*?(Figures [\d.]+ and [\d.]+)", source, re.DOTALL)[1] for name in (
        "Outputs of these images over positions", "Eigenvalues of gradient products"
    )}  # fmt: skip
    assert list(of.values()) == ["Figures 6.15 and 6.19", "Figures 6.16 and 6.18"]


def test_the_largest_coefficient_may_be_negative():
    coefficients = -np.arange(1.0, 5.0)
    assert coefficients.max() == -1 < 0 < np.abs(coefficients).max() == 4
    assert (coefficients / coefficients.max() > 0).all()
