"""Verdicts where products come below the smallest number of float64, or sums above its largest one, by known truth."""

from importlib import import_module

import numpy as np
import pytest

import reluscope as rs
from reluscope.errors import InputError, SolverError
from reluscope.networks.evaluation import rounded_forward, underflow

Case, Property = rs.verification.Case, rs.verification.Property
ONE = np.ones((1, 1))


def chain(*factors):
    """Return x -> the product of all factors and x, for x >= 0."""
    return rs.load([(factor * ONE, np.zeros(1)) for factor in factors])


def verdict(network, lower, upper, row, end, split):
    safe = Property([Case([lower], [upper], [rs.Polyhedron([row], [end])])])
    return str(rs.verify(network, safe, split=split, budget=rs.Budget(regions=300)))


@pytest.mark.few(3)
@pytest.mark.parametrize("split", ["inputs", "units"])
@pytest.mark.parametrize(
    ("factors", "row", "end", "truth"),
    [
        ((1e-200, 1e-200), 1.0, 0.0, "HOLDS"),  # 1e-400 x is never 0 for x from 1 on, in float64 it is
        ((1e-200, 1e-200, 1e300), 1.0, 1e-101, "HOLDS"),  # from 1e-100 on
        ((1e-200, 1e-200, 1e300), -1.0, -1.5e-100, "VIOLATED"),  # up to 2e-100
        ((1e-200, 1e-200, 1e300), -1.0, -2.5e-100, "HOLDS"),
        ((1.0,), 1e-20, 0.0, "HOLDS"),
    ],
)
def test_products_below_the_smallest_number(factors, row, end, truth, split):
    assert verdict(chain(*factors), 1.0, 2.0, [row], end, split) == truth


def test_without_what_products_lose_verdicts_would_be_wrong(monkeypatch):
    verifying = import_module("reluscope.analyses.verification.verdict")
    monkeypatch.setattr(verifying, "LOSS", 0.0)
    assert verdict(chain(1e-200, 1e-200), 1.0, 2.0, [1.0], 0.0, "inputs") == "VIOLATED"
    monkeypatch.setattr(underflow, "LOSS", 0.0)
    monkeypatch.setattr(import_module("reluscope.analyses.verification.exact_leaves"), "NEAREST", 0.0)
    assert verdict(chain(1e-200, 1e-200, 1e300), 1.0, 2.0, [-1.0], -1.5e-100, "inputs") == "HOLDS"


def test_errors_of_points_count_what_products_lose():
    (error,) = rounded_forward.rounded_forward(chain(1e-200, 1e-200), [[1.0]], loss=underflow.LOSS).errors[0]
    assert 1e-280 < error < 1e-200
    dead = rs.load([(-ONE, np.zeros(1)), (ONE, np.zeros(1))])
    assert rounded_forward.rounded_forward(dead, [[1.0]]).errors[0, 0] == 0


def test_forms_too_large_for_float64_say_nothing():
    # Four peaks down to -1e308, far from each other: of the sum of their bounds float64 has no number.
    places, steep = np.array([0.1371, 0.3713, 0.7129, 0.9137]), 1e7
    first = np.concatenate([np.full((4, 1), steep), np.full((4, 1), -steep)]), steep * np.concatenate([-places, places])
    layers = [first, (np.hstack([-np.eye(4), -np.eye(4)]), np.ones(4)), (np.full((1, 4), -1e308), np.zeros(1))]
    assert verdict(rs.load(layers), 0.0, 1.0, [1.0], -1e160, "inputs") != "HOLDS"


@pytest.mark.parametrize("size", [1e-40, 1e40])
def test_rows_of_other_sizes_are_refused(size):
    with pytest.raises(InputError, match="largest coefficient of each row of unsafe outputs"):
        Case([0.0], [1.0], [rs.Polyhedron([[size]], [0.0])])
    Case([0.0], [1.0], [rs.Polyhedron([[0.0]], [0.0])])


def test_inputs_whose_sums_may_be_too_large_are_refused():
    with pytest.raises(InputError, match="at most 1e\\+100"):
        Case([1e308], [1.5e308], [rs.Polyhedron([[1.0]], [0.0])])


def unsolved(*of):
    raise SolverError("a linear program should have ended with an answer")


@pytest.mark.few(1)
@pytest.mark.parametrize("ends", ["without multipliers", "without an answer"])
def test_a_linear_program_that_ends_otherwise_proves_nothing(ends, monkeypatch):
    program = import_module("reluscope.analyses.verification.unit_leaves").LinearProgram
    solved = program.maximize
    without = unsolved if ends == "without an answer" else lambda *of: solved(*of)._replace(duals=np.zeros(0))
    monkeypatch.setattr(program, "maximize", without)
    net = rs.load([(np.array([[3.0], [-3.0]]), np.array([-1.0, 1.0])), (np.ones((1, 2)), np.zeros(1))])  # |3 x - 1|
    assert verdict(net, 0.0, 1.0, [1.0], -1e-300, "units") == "HOLDS"
    apart = Case([0.0], [1.0], [rs.Polyhedron([[1.0], [-1.0]], [0.5, -0.75])])  # rows that several boxes rule out
    assert str(rs.verify(net, Property([apart]), split="inputs")) == "HOLDS"
