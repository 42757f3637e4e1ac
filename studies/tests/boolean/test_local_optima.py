"""Steady states of the two small problems against derivatives by SymPy and by autograd, and trained networks."""

from collections import Counter

import numpy as np
import pytest
import sympy
import torch
from torch import nn

from reluscope.errors import InputError, ShapeError
from reluscope.geometry.programs.linear_program import LinearProgram, ProgramStatus
from reluscope_studies.boolean import (
    case_loss,
    parameters_of,
    reached_states,
    sign_cases,
    single_unit_states,
    steady_states,
)

INPUTS, TARGETS = torch.tensor([-1.0, 0.0, 0.0, 1.0]).double(), torch.tensor([-1.0, 1.0, 1.0, -1.0]).double()


def loss(parameters):
    """Return the losses of networks (s, 7): w1, b1, o1, w2, b2, o2, c."""
    units = parameters[:, :6].reshape(-1, 2, 3, 1)
    values = torch.relu(units[:, :, 0] * INPUTS + units[:, :, 1])
    return (((units[:, :, 2] * values).sum(1) + parameters[:, 6:] - TARGETS) ** 2).sum(1)


def gradient(parameters):
    parameters = torch.tensor(parameters, dtype=torch.float64, requires_grad=True)
    return torch.autograd.grad(loss(parameters).sum(), parameters)[0].numpy()


def examples():
    return np.array([[float(entry) for entry in state.example] for state in steady_states()])


def test_two_parameters():
    best, outside, dead = single_unit_states()
    assert (best.a, best.b, best.loss, best.is_steady) == (2, -1, 0, True)
    assert (outside.a, outside.b, outside.is_steady) == (2, 1, False)
    assert (dead.a, dead.b, dead.is_steady) == (0, 0, True)

    def slopes(a, b):
        a, b = (torch.tensor(float(one), requires_grad=True) for one in (a, b))
        total = (-1 - torch.relu(-a) - b) ** 2 + (1 - torch.relu(a) - b) ** 2
        return [float(one) for one in torch.autograd.grad(total, (a, b))]

    assert slopes(2, -1) == [0, 0]
    assert slopes(0, 0) == [0, 0]
    assert slopes(-4, 2) == [-14, 16]  # the dissertation's second optimum


def test_sign_cases():
    cases = sign_cases()
    assert len(cases) == 64
    possible = {case for case, is_possible in cases if is_possible}
    points = np.random.default_rng(0).normal(size=(4000, 4))
    seen = points[:, [0, 2], None] * np.array([-1, 0, 1]) + points[:, [1, 3], None] > 0
    assert {tuple(map(tuple, row)) for row in seen.tolist()} == possible
    assert len(possible) == 36


@pytest.mark.slow
def test_losses_and_gradients():
    assert {state.loss for state in steady_states()} == {0, sympy.Rational(8, 3), 4}
    assert np.abs(gradient(examples())).max() < 1e-12
    losses = loss(torch.tensor(examples())).numpy()
    assert losses == pytest.approx([float(state.loss) for state in steady_states()], abs=1e-12)
    assert {state.outputs for state in steady_states() if state.loss == sympy.Rational(8, 3)} == {
        (sympy.Rational(1, 3), sympy.Rational(1, 3), -1),
        (-1, sympy.Rational(1, 3), sympy.Rational(1, 3)),
    }
    assert {state.outputs for state in steady_states() if state.loss == 4} == {(0, 0, 0)}


@pytest.mark.slow
def test_equations_by_sympy():
    """Every example fulfils the equations, and there all seven derivatives of the loss of its case vanish."""
    for state in steady_states()[::4]:
        polynomial, symbols = case_loss(state.active)
        at = dict(zip(symbols, state.example, strict=True))
        assert polynomial.subs(at) == state.loss
        assert all(sympy.diff(polynomial, symbol).subs(at) == 0 for symbol in symbols)
        assert all(equation.subs(at) in (True, sympy.true) for equation in state.equations)


@pytest.mark.slow
def test_the_printed_example():
    """All units on everywhere: three families, of loss 4."""
    everywhere = [state for state in steady_states() if state.active == ((True,) * 3,) * 2]
    assert {state.loss for state in everywhere} == {4}
    w1, b1, o1, w2, b2, o2, c = case_loss(((True,) * 3,) * 2)[1]
    speaking = next(state for state in everywhere if not any(state.is_silent))
    at = {w1: 2, b1: 3, o1: 1, w2: 1, b2: 2, o2: -2, c: 1}  # c = -b1 o1 - b2 o2, w1 = -o2 w2 / o1
    assert all(equation.subs(at) in (True, sympy.true) for equation in speaking.equations)


def test_minima_and_saddles():
    """Small steps within the case lower the loss at saddles only."""
    generator = np.random.default_rng(0)
    steps = generator.normal(size=(4000, 7))
    for state, example in zip(steady_states(), examples(), strict=True):
        near = loss(torch.tensor(example + 1e-3 * steps)).numpy()
        assert (near.min() >= float(state.loss) - 1e-12) == state.is_minimum


def test_trained_networks_are_recognised():
    generator = torch.Generator().manual_seed(0)
    parameters = torch.randn(60, 7, generator=generator, dtype=torch.float64, requires_grad=True)
    for _ in range(800):
        (slope,) = torch.autograd.grad(loss(parameters).sum() / 4, parameters)
        with torch.no_grad():
            parameters -= 0.1 * slope
    found = reached_states(parameters.detach().numpy())
    assert found.losses == pytest.approx(loss(parameters).detach().numpy(), abs=1e-12)
    assert found.gradient_norms == pytest.approx(
        np.linalg.norm(gradient(parameters.detach().numpy()), axis=1), abs=1e-9
    )
    ended = found.states >= 0
    assert ended.mean() > 0.8
    expected = [float(steady_states()[index].loss) for index in found.states[ended]]
    assert found.losses[ended] == pytest.approx(expected, abs=0.1)
    assert len(Counter(expected)) == 3
    assert (reached_states(examples()).states >= 0).all()
    losses = [state.loss for state in steady_states()]
    assert [losses[index] for index in reached_states(examples()).states] == losses


def test_modules_and_wrong_parameters():
    module = nn.Sequential(nn.Linear(1, 2), nn.ReLU(), nn.Linear(2, 1)).double()
    found = parameters_of(module)
    with torch.no_grad():
        expected = float(((module(INPUTS[:, None])[:, 0] - TARGETS) ** 2).sum())
    assert expected == pytest.approx(float(loss(torch.tensor(found[None]))))
    assert reached_states(found[None] + 3.0).states.tolist() == [-1]
    with pytest.raises(ShapeError, match="two linear layers"):
        parameters_of(nn.Linear(1, 1))
    with pytest.raises(ShapeError, match="seven parameters"):
        reached_states(np.zeros((2, 6)))
    with pytest.raises(InputError, match="positive tolerance"):
        reached_states(np.zeros((2, 7)), tolerance=0.0)


@pytest.mark.slow
def test_cases_without_states_are_proved_empty(monkeypatch):
    """What a solver says that there is none is not believed."""
    truth = steady_states()
    honest = LinearProgram.maximize

    def lie(self, objective):
        return honest(self, objective)._replace(status=ProgramStatus.INFEASIBLE)

    monkeypatch.setattr(LinearProgram, "maximize", lie)
    steady_states.cache_clear()
    found = steady_states()
    steady_states.cache_clear()
    assert [(state.active, state.is_silent, state.loss) for state in found] == [
        (state.active, state.is_silent, state.loss) for state in truth
    ]
