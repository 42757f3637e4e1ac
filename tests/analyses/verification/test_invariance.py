"""Verdicts and volumes against a big-M program, and under changes of names, units and boxes that change nothing."""

import numpy as np
import pytest

import reluscope as rs
from networks.models import layers
from oracles import least_excess as programs

Case, Property = rs.verification.Case, rs.verification.Property
LOW, HIGH = np.array([-1.0, -0.5, 0.0]), np.array([1.0, 1.0, 0.75])


@pytest.fixture(scope="module")
def asked():
    """Networks with rows of outputs, and how far their outputs stay away from these."""
    found = []
    for seed in range(4):
        rng, net = np.random.default_rng(seed), layers([3, 6, 5, 2], seed=seed)
        A = rng.normal(size=(seed % 3 + 1, 2))
        outputs = rs.load(net)(rng.uniform(LOW, HIGH, (500, 3))).numpy()
        b = np.quantile(outputs @ A.T, 0.1, axis=0)
        found.append((net, A, b, programs.least_excess(net, LOW, HIGH, A, b)))
    return found


def boxes(net, low, high, A, b):
    safe = Property([Case(low, high, [rs.Polyhedron(A, b)])])
    return rs.verify(rs.load(net), safe).undecided.work["boxes"]


def verdicts(net, low, high, A, b, **options):
    safe = Property([Case(low, high, [rs.Polyhedron(A, b)])])
    return str(rs.verify(rs.load(net), safe, **options))


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "options", [{"split": "inputs"}, {"split": "units"}, {"certify": True}], ids=["inputs", "units", "certify"]
)
def test_random_properties_are_decided_as_by_a_program(asked, options):
    for net, A, b, excess in asked[: 1 if options.get("split") == "units" else 4]:
        for shift, verdict in ((-1e-2, "HOLDS"), (1e-3, "VIOLATED")):
            assert verdicts(net, LOW, HIGH, A, b + excess + shift, **options) == verdict


def test_the_program_would_see_outputs_that_are_missed(asked, monkeypatch):
    net, A, b, excess = asked[0]
    outputs = rs.load(net)(np.random.default_rng(9).uniform(LOW, HIGH, (20_000, 3))).numpy()
    sampled = float((outputs @ A.T - b).max(axis=1).min())
    assert excess - 1e-6 <= sampled <= excess + 0.1  # dense samples come near, and no nearer
    real = programs.LinearConstraint
    monkeypatch.setattr(programs, "LinearConstraint", lambda rows, low, ends: real(rows[3:], low, ends[3:]))
    assert programs.least_excess(net, LOW, HIGH, A, b) != pytest.approx(excess, abs=1e-4)  # without a unit's rows


def renamed(net, low, high, A, b):
    """Return the same with inputs, hidden units and outputs in another order."""
    rng = np.random.default_rng(1)
    orders = [rng.permutation(size) for size in (len(low), *(len(bias) for _, bias in net))]
    moved = [
        (weight[rows][:, columns], bias[rows])
        for (weight, bias), columns, rows in zip(net, orders, orders[1:], strict=False)
    ]
    return moved, low[orders[0]], high[orders[0]], A[:, orders[-1]], b


def scaled(net, low, high, A, b):
    """Return the same with hidden units and inputs in other units of measurement, up to a thousand times."""
    rng = np.random.default_rng(2)
    sizes = [10 ** rng.uniform(-3, 3, size) for size in (len(low), *(len(bias) for _, bias in net[:-1]))]
    sizes.append(np.ones(A.shape[1]))
    moved = [
        (weight * rows[:, None] / columns, bias * rows)
        for (weight, bias), columns, rows in zip(net, sizes, sizes[1:], strict=False)
    ]
    return moved, low * sizes[0], high * sizes[0], A, b


@pytest.mark.slow
@pytest.mark.parametrize("change", [renamed, scaled])
def test_names_and_units_of_measurement_do_not_matter(asked, change):
    for net, A, b, excess in asked[:2]:
        for shift, verdict in ((-1e-2, "HOLDS"), (1e-2, "VIOLATED")):
            moved = change(net, LOW, HIGH, A, b + excess + shift)
            assert verdicts(*moved) == verdict
            assert boxes(*moved) <= 2 * boxes(net, LOW, HIGH, A, b + excess + shift) + 20  # no harder, either
            shares = [
                rs.violations(rs.load(one), Property([Case(low, high, [rs.Polyhedron(rows, ends)])])).share()
                for one, low, high, rows, ends in ((net, LOW, HIGH, A, b + excess + shift), moved)
            ]
            assert shares[1].value == pytest.approx(shares[0].value, rel=1e-6, abs=1e-9)
            assert (shares[0].value > 0) == (verdict == "VIOLATED")


def test_boxes_that_are_split_have_the_same_violations(asked):
    net, A, b, excess = asked[1]
    unsafe = [rs.Polyhedron(A, b + excess + 0.05)]
    whole = rs.violations(rs.load(net), Property([Case(LOW, HIGH, unsafe)]))
    parts = []
    for place in (-0.25, 0.5):
        end, begin = np.array([place, *HIGH[1:]]), np.array([place, *LOW[1:]])
        safe = Property([Case(LOW, end, unsafe), Case(begin, HIGH, unsafe)])
        parts.append(rs.violations(rs.load(net), safe).volume().value)
    assert parts == pytest.approx([whole.volume().value] * 2, rel=1e-9)
    images = [
        rs.image(rs.load(net), rs.Box(low, high))
        for low, high in ((LOW, HIGH), (LOW, np.array([0.25, *HIGH[1:]])), (np.array([0.25, *LOW[1:]]), HIGH))
    ]
    points = rs.load(net)(np.random.default_rng(3).uniform(LOW, HIGH, (500, 3))).numpy()
    assert images[0].contains(points).all()
    assert (images[1].contains(points) | images[2].contains(points)).all()
    assert np.maximum(images[1].ends[1], images[2].ends[1]) == pytest.approx(images[0].ends[1])
