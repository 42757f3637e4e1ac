import numpy as np
import pytest
import torch

from geometry.bodies import bodies_of
from reluscope.geometry.programs import newton_equations
from reluscope.geometry.programs.convex_questions import largest_balls, likeliest_points, linear_maxima
from reluscope.geometry.programs.newton_equations import NewtonEquations

DIM, HEIGHT = 8, 60


@pytest.fixture
def few_are_many(monkeypatch):
    """Let the heaviest rows alone be factorised."""
    monkeypatch.setattr(newton_equations, "MANY_VARIABLES", 2)


def body(seed: int, copies: int = 1):
    random = np.random.default_rng(seed)
    rows = random.normal(size=(HEIGHT, DIM))
    return bodies_of([(rows, random.uniform(0.5, 2.0, HEIGHT))], -1.0, 1.5).shared(copies)


@pytest.mark.parametrize("spread", [0.0, 1.0, 2.0])
def test_solutions_are_those_of_the_whole_matrix(few_are_many, spread):
    random, bodies = np.random.default_rng(3), body(0, 3)
    weights = torch.from_numpy(10.0 ** random.normal(scale=spread, size=(3, HEIGHT + 2 * DIM)))
    curvature = torch.from_numpy(random.normal(size=(3, 2, DIM)))
    right = torch.from_numpy(random.normal(size=(3, DIM)))
    system = NewtonEquations(bodies, weights, curvature)
    matrix = bodies.gram(weights).tril() + bodies.gram(weights).tril(-1).mT + curvature.mT @ curvature
    truth = torch.linalg.solve(matrix, right[..., None])[..., 0]
    heavier = bodies.gram_of_heaviest(weights, DIM)
    assert not torch.allclose(heavier.tril(), matrix.tril())
    for left in (1e-2, 1e-8):
        away = system.solve(right, left) - truth
        energy, all_of_it = ((part[:, None] @ matrix @ part[..., None])[:, 0, 0] for part in (away, truth))
        assert (energy <= (30 * left) ** 2 * all_of_it + 1e-16 * all_of_it).all()


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(5))
def test_questions_have_the_same_answers(monkeypatch, seed):
    bodies, random = body(seed, 3), np.random.default_rng(seed)
    start = torch.zeros(3, DIM, dtype=torch.float64)
    gains = torch.from_numpy(random.normal(size=(3, DIM)))
    weights, biases = torch.from_numpy(random.normal(size=(1, 3, DIM))), torch.zeros(3, 3, dtype=torch.float64)
    classes = torch.arange(3)

    def answers():
        return (
            largest_balls(bodies, start),
            linear_maxima(bodies, start, gains),
            likeliest_points(bodies, start, weights.repeat(3, 1, 1), biases, classes, relative_gap=1e-7),
        )

    whole = answers()
    monkeypatch.setattr(newton_equations, "MANY_VARIABLES", 2)
    for one, other in zip(answers(), whole, strict=True):
        assert (np.abs(one.values - other.values) <= one.gaps + other.gaps + 1e-12).all()
        assert (one.gaps <= 1e-6).all()
        assert (bodies.slacks(torch.from_numpy(one.points)) > 0).all()
