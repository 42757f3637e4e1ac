"""Functions of one variable: what is composed, added and multiplied against values point by point, in fractions."""

import math
from fractions import Fraction

import pytest
import torch

from reluscope.networks.building.functions import Function

WIDTH = 5
CASES = 150
POINTS = [position / 4 for position in range(-40, 41)]


def ordered(points, is_closed):
    order = torch.argsort((~is_closed).to(torch.uint8), dim=0, stable=True)
    order = order.gather(0, torch.argsort(points.gather(0, order), dim=0, stable=True))
    return points.gather(0, order), is_closed.gather(0, order)


def drawn(generator, factor):
    def whole(low, high, *shape):
        return torch.randint(low, high, shape, generator=generator).double() * factor

    number = int(torch.randint(0, 4, (1,), generator=generator))
    width = (1, WIDTH)[int(torch.randint(0, 2, (1,), generator=generator))]
    closed = torch.randint(0, 2, (number, width), generator=generator).bool()
    points, closed = ordered(whole(-4, 5, number, width), closed)
    return Function(points, closed, whole(-2, 3, number + 1, width), whole(-3, 4, number + 1, width))


def value(function, column, z):
    """By the definition: slope and intercept of the piece that is reached when so many breakpoints are passed."""
    at = min(column, function.slopes.shape[1] - 1)
    passed = sum(
        point < z or (closed and point == z)
        for point, closed in zip(function.points[:, at].tolist(), function.is_closed[:, at].tolist(), strict=True)
        if math.isfinite(point)
    )
    slope, intercept = function.slopes[passed, at].item(), function.intercepts[passed, at].item()
    return Fraction(slope) * Fraction(z) + Fraction(intercept)


@pytest.mark.few(1)
@pytest.mark.parametrize("factor", [1.0, 0.1])
@pytest.mark.parametrize("seed", range(4))
def test_what_becomes_of_two_functions(seed, factor):
    generator = torch.Generator().manual_seed(seed)
    for _ in range(CASES):
        one, two = drawn(generator, factor), drawn(generator, factor)
        composed, total, product = one.of(two), one.plus(two), one.product(two)
        for column in range(WIDTH):
            for z in POINTS[:: 1 if factor == 1.0 else 7]:
                z = Fraction(z * factor)
                if composed.error == 0:
                    assert value(composed, column, z) == value(one, column, value(two, column, z))
                if total.error == 0:
                    assert value(total, column, z) == value(one, column, z) + value(two, column, z)
                if product is not None and factor == 1.0:
                    assert value(product, column, z) == value(one, column, z) * value(two, column, z)
        assert factor != 1.0 or composed.error == total.error == 0 or not torch.isfinite(composed.points).all()


def test_rounding_that_moves_a_breakpoint_is_known():
    third = Function.affine(torch.tensor([3.0]).double(), torch.tensor([0.1]).double())
    relu = Function.of_pieces(*(torch.tensor(rows).double()[:, None] for rows in ([0.0], [0.0, 1.0], [0.0, 0.0])))
    assert relu.of(third).error == math.inf
    assert relu.of(relu).error == 0
    constant = Function.affine(torch.tensor([0.0]).double(), torch.tensor([0.1]).double())
    assert relu.of(constant).error == 0
