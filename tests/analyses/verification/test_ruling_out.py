"""What rules polyhedra out on boxes, against samples, and where rounding decides."""

from fractions import Fraction
from inspect import unwrap
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reluscope as rs
from reluscope.analyses.boxes.output_boxes import output_box
from reluscope.analyses.verification import ruling_out
from reluscope.analyses.verification.ruling_out import reach
from reluscope.testing import default_network, networks

LINE = rs.load([(np.eye(1), np.zeros(1)), (np.eye(1), np.zeros(1))])  # relu(x)


@settings(max_examples=60, deadline=None)
@given(layers=networks(), seed=st.integers(0, 10**6))
def test_what_is_reached_is_not_ruled_out(layers, seed):
    net, rng = rs.load(layers), np.random.default_rng(seed)
    lower = rng.uniform(-2, 1, net.num_inputs)
    box = output_box(net, lower, lower + rng.choice([0.0, 0.1, 2.0]))
    points = rng.uniform(box.lower, box.upper, (300, net.num_inputs))
    outputs = net(points).numpy().reshape(len(points), -1)
    A = np.round(rng.normal(size=(3, net.num_outputs)) * 4) / 4
    row = int(rng.integers(len(points)))
    reached = rs.Polyhedron(A, A @ outputs[row] + rng.choice([1e-12, 1e-3], 3))
    assert reach(box, reached).excess <= 1e-12
    both = rs.Polyhedron(np.concatenate([A, -A]), np.concatenate([A @ outputs[row], -A @ outputs[row]]) + 1e-12)
    assert not reach(box, both).excess > 0
    assert ((reach(box, reached).point >= box.lower) & (reach(box, reached).point <= box.upper)).all()


def test_rows_that_each_can_hold_are_ruled_out_together():
    box = output_box(LINE, np.zeros(1), np.ones(1))
    apart = rs.Polyhedron([[1.0], [-1.0]], [0.4, -0.6])
    assert reach(box, apart).excess == pytest.approx(0.1)  # of the mean of both rows
    assert not reach(box, rs.Polyhedron([[1.0]], [0.4])).excess > 0
    assert not reach(box, rs.Polyhedron([[-1.0]], [-0.6])).excess > 0
    equal = rs.Polyhedron(np.zeros((0, 1)), np.zeros(0), [[1.0], [1.0]], [0.4, 0.6])
    assert reach(box, equal).excess > 0


def test_noise_that_rows_share_cancels():
    net = rs.load([(np.array([[1.0], [1.0]]), np.zeros(2)), (np.array([[1.0, 0.0], [0.0, 1.0]]), np.zeros(2))])
    box = output_box(net, -np.ones(1), np.ones(1))  # both outputs are relu(x)
    both = rs.Polyhedron([[-1.0, 0.0], [1.0, 0.0]], [-0.6, 0.5])
    assert reach(box, both).excess > 0


@pytest.mark.parametrize("level", [0.1, 0.3, 1 / 3, 0.7])
def test_a_level_that_is_reached_exactly_is_not_ruled_out(level):
    box = output_box(LINE, np.zeros(1), np.ones(1))
    for scale in (1.0, 1 / 3, 7.1):
        rows = np.array([[scale], [-scale], [0.3]])
        exact = np.array([scale * level, -scale * level, 0.3])
        assert not reach(box, rs.Polyhedron(rows, exact)).excess > 0


def test_a_proof_does_not_rest_on_the_program(monkeypatch):
    net = rs.load(default_network([2, 7, 6, 3], seed=0))
    box = output_box(net, -np.ones(2), np.ones(2))
    outputs = net(np.zeros((1, 2))).numpy()[0]
    reached = rs.Polyhedron(np.concatenate([np.eye(3), -np.eye(3)]), np.concatenate([outputs, -outputs]) + 1e-9)
    whole = ruling_out.LinearProgram.maximize
    for seed in range(20):
        rng = np.random.default_rng(seed)

        def lying(program, objective, rng=rng):
            return whole(program, objective)._replace(duals=rng.normal(size=6) * 10.0 ** rng.integers(-3, 4))

        monkeypatch.setattr(ruling_out.LinearProgram, "maximize", lying)
        assert not reach(box, reached).excess > 0


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_rows_that_cancel_rule_nothing_out_by_their_rounding(sign, monkeypatch):
    """Outputs between 0 and 1e12, of either sign, whose forms have no rest; rows are attained where all are largest."""
    seen = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        m, t = int(rng.integers(2, 5)), int(rng.integers(2, 4))
        far = sign * np.round(rng.uniform(1e11, 1e12, m))
        A = rng.normal(size=(t, m))
        A[:, -1] = -(A[:, :-1] @ far[:-1]) / far[-1]  # so that offsets are small
        multipliers = rng.uniform(0.1, 1.0, t)
        A[-1] = -(multipliers[:-1] @ A[:-1]) / multipliers[-1]
        # The least offsets that hold there.
        exact = [sum(Fraction(a) * Fraction(y) for a, y in zip(row, far.tolist(), strict=True)) for row in A.tolist()]
        b = np.array([np.nextafter(float(one), np.inf) for one in exact])
        box = SimpleNamespace(
            lower=-np.ones(1),
            upper=np.ones(1),
            center=np.zeros(1),
            half=np.ones(1),
            outputs=SimpleNamespace(weights=far[:, None] / 2, noise=np.zeros((m, 0)), centers=far / 2),
            rows=lambda rows, far=far: (rows @ far[:, None] / 2, rows @ far / 2, np.zeros(len(rows))),
            range=lambda rows, far=far: (np.minimum(rows @ far, 0.0), np.maximum(rows @ far, 0.0)),
        )
        told = SimpleNamespace(status=ruling_out.ProgramStatus.OPTIMAL, duals=multipliers, point=np.zeros(1))
        program = SimpleNamespace(set_all_bounds=lambda *of: None, add_rows=lambda *of: None)
        program.maximize = lambda *of, told=told: told
        monkeypatch.setattr(ruling_out, "LinearProgram", lambda width, program=program: program)
        found = unwrap(ruling_out._together)(box, A, b)
        assert not found.excess > 0
        row, value = found.multipliers @ A, found.multipliers @ b
        seen += min(0.0, row @ far) - value > 0
    assert seen > 10  # for which the rounding is needed


def test_negative_multipliers_prove_nothing(monkeypatch):
    box = output_box(LINE, np.zeros(1), np.ones(1))
    whole = ruling_out.LinearProgram.maximize
    monkeypatch.setattr(
        ruling_out.LinearProgram, "maximize", lambda *of: whole(*of)._replace(duals=np.array([-3.0, 4.0]))
    )
    assert not reach(box, rs.Polyhedron([[1.0], [1.0]], [5.0, 0.4])).excess > 0


def test_rows_too_large_for_a_program_are_ruled_out_one_by_one():
    net = rs.load([([[1.0]], [-0.901]), ([[-1.53e16], [0.0]], [-2880000.0, 9510.0])])
    unsafe = rs.Polyhedron([[-1.0, 0.0], [0.0, -1.0]], [762872.1144350438, 594279915342.4528])
    safe = rs.verification.Property([rs.verification.Case([0.0], [1.0], [unsafe])])
    assert rs.verify(net, safe).verdict == "HOLDS"  # the first output is at most -2880000
