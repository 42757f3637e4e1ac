import numpy as np
import pytest
import torch

from geometry.bodies import bodies_of
from reluscope.geometry.programs import half_space_stack, tiled_rows
from reluscope.geometry.programs.convex_questions import largest_balls
from reluscope.geometry.programs.half_space_stack import HalfSpaceStack
from reluscope.geometry.programs.tiled_rows import TiledRows

DIM = 24


@pytest.fixture(autouse=True)
def small_tables(monkeypatch):
    monkeypatch.setattr(tiled_rows, "LARGE_TABLE", 1)


def patches(seed: int, share: float = 0.2) -> np.ndarray:
    """Return rows of overlapping patches, some entries zero, one row zero, one that sees all, in random order."""
    random = np.random.default_rng(seed)
    table = np.zeros((62, DIM))
    for row in range(60):
        table[row, 3 * (row % 6) : 3 * (row % 6) + 6] = random.normal(size=6) * (random.random(6) > share)
    table[61] = random.normal(size=DIM)
    return table[random.permutation(62)]


@pytest.mark.parametrize("seed", range(4))
def test_sums_are_those_of_the_whole_table(seed):
    table = torch.from_numpy(patches(seed))
    tiled = TiledRows.of(table)
    assert tiled is not None
    assert len(tiled.others) < 31
    random = np.random.default_rng(seed)
    points, weights = (torch.from_numpy(random.normal(size=(3, size))) for size in (DIM, 62))
    torch.testing.assert_close(tiled.products(points), points @ table.T)
    torch.testing.assert_close(tiled.pull(weights), weights @ table)
    sides, total = weights[0].abs(), torch.zeros(DIM, DIM, dtype=torch.float64)
    left = tiled.add_gram(total, sides)
    weighted = sides[:, None] * table
    torch.testing.assert_close(total + left.T @ left, weighted.T @ weighted)


@pytest.mark.parametrize("has_margin", [False, True])
def test_stacks_of_patches_are_those_of_whole_rows(has_margin, monkeypatch):
    tables = patches(7), np.ones(62)

    def stack() -> HalfSpaceStack:
        body = bodies_of([tables], -2.0, 3.0).shared(2)
        return body.with_margin(torch.full((2,), 5.0, dtype=torch.float64)) if has_margin else body

    random = np.random.default_rng(1)
    tiled = stack()
    assert tiled.tiled is not None
    assert tiled.among(torch.tensor([1])).tiled is tiled.tiled
    points, weights = (
        torch.from_numpy(random.random((2, size))) for size in (tiled.dim, tiled.rows.shape[1] + 2 * tiled.dim)
    )
    monkeypatch.setattr(tiled_rows, "LARGE_TABLE", 10**9)
    whole = stack()
    assert whole.tiled is None
    for ask in ("slacks", "speeds"):
        torch.testing.assert_close(getattr(tiled, ask)(points), getattr(whole, ask)(points))
    torch.testing.assert_close(tiled.pull(weights), whole.pull(weights))
    torch.testing.assert_close(tiled.gram(weights).tril(), whole.gram(weights).tril())


def test_tables_that_see_everything_stay_whole():
    assert TiledRows.of(torch.ones(50, DIM)) is None
    rows = torch.zeros(50, DIM, dtype=torch.float64)
    rows[torch.arange(50), torch.arange(50) % DIM] = 1.0  # two rows a patch: too few
    assert TiledRows.of(rows) is None


def test_a_ball_among_patches_is_that_among_rows(monkeypatch):
    body = bodies_of([(patches(3), np.ones(62))], -1.0, 1.0)
    assert body.tiled is not None
    center = torch.zeros(1, DIM, dtype=torch.float64)
    found = largest_balls(body, center)
    monkeypatch.setattr(tiled_rows, "LARGE_TABLE", 10**9)
    whole = largest_balls(bodies_of([(patches(3), np.ones(62))], -1.0, 1.0), center)
    assert abs(found.values[0] - whole.values[0]) <= found.gaps[0] + whole.gaps[0] + 1e-12
    assert found.gaps[0] <= 1e-9 * found.values[0]


def test_products_of_columns_do_not_depend_on_how_many_rows_are_taken_at_once(monkeypatch):
    rows = torch.from_numpy(np.random.default_rng(0).normal(size=(2, 50, 70)))
    whole, cut = torch.zeros(2, 70, 70, dtype=torch.float64), torch.zeros(2, 70, 70, dtype=torch.float64)
    half_space_stack.add_gram(whole, rows)
    monkeypatch.setattr(half_space_stack, "AT_ONCE", 2 * 2 * 70 * 64 * 7)
    half_space_stack.add_gram(cut, rows)
    for table in (whole, cut):
        np.testing.assert_allclose(table.tril().numpy(), (rows.mT @ rows).tril().numpy(), atol=1e-12)
