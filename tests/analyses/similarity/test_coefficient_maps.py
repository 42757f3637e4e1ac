"""Maps between coefficients are those of numpy.linalg.lstsq and of scikit-learn's ridge regression."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import Ridge

import reluscope as rs
from analyses.similarity.networks import grid, load, parameters, scaled, xor
from reluscope.analyses.similarity import least_squares, mapping
from reluscope.analyses.similarity import streamed_samples as streaming
from reluscope.analyses.similarity.least_squares import solve
from reluscope.analyses.similarity.moments import MomentSum, moments_of
from reluscope.errors import BudgetExceededError, InputError, ShapeError

RNG = np.random.default_rng(5)
POINTS = RNG.normal(size=(300, 12))
DENSE, DEEP = parameters([12, 30, 3], 0), parameters([12, 9, 8, 3], 1)


def conv(seed):
    torch.manual_seed(seed)
    return rs.load(
        torch.nn.Sequential(
            torch.nn.Unflatten(1, (1, 3, 4)),
            torch.nn.Conv2d(1, 6, 2),
            torch.nn.ReLU(),
            torch.nn.Flatten(),
            torch.nn.Linear(36, 3),
        ),
        input_shape=(12,),
    )


NETWORKS = {"dense": lambda: load(DENSE), "narrow": lambda: load(DEEP), "conv": lambda: conv(0)}
PAIRS = [("dense", "narrow"), ("narrow", "dense"), ("dense", "conv"), ("conv", "dense"), ("narrow", "conv")]


def matrices(network, x):
    made = rs.coefficients.matrix(network, x)
    return [made.output(j) for j in range(made.num_outputs)]


def difference(found, expected):
    return np.linalg.norm(found - expected) / max(np.linalg.norm(expected), 1e-300)


@pytest.mark.few(5)
@pytest.mark.parametrize("factored", [True, False], ids=["triangular factors", "normal equations"])
@pytest.mark.parametrize(("first", "second"), PAIRS)
@pytest.mark.parametrize("samples", [300, 8], ids=["many samples", "fewer than coefficients"])
def test_maps_are_those_of_lstsq(monkeypatch, factored, first, second, samples):
    if not factored:
        monkeypatch.setattr(streaming, "FACTORED_COLUMNS", 0)
    own, other, x = NETWORKS[first](), NETWORKS[second](), POINTS[:samples]
    maps = rs.similarity.coefficient_maps(own, other, x)
    for j, (X, Y) in enumerate(zip(matrices(own, x), matrices(other, x), strict=True)):
        expected, _, rank, values = np.linalg.lstsq(X, Y, rcond=None)
        assert difference(maps.matrix(j), expected) <= 1e-8
        assert maps.solutions[j].rank == rank
        assert maps.solutions[j].residual == pytest.approx(
            np.linalg.norm(X @ expected - Y) / np.linalg.norm(Y), abs=1e-7
        )
        condition = values[0] / values[rank - 1]
        bound = 1.001 if maps.solutions[j].method == "triangular factor" else len(values)
        assert condition / 1.001 <= maps.solutions[j].condition <= bound * condition
    mapped = np.stack(
        [np.einsum("sc,sc->s", X @ maps.matrix(j), np.c_[x, np.ones(samples)]) for j, X in enumerate(matrices(own, x))],
        1,
    )
    np.testing.assert_allclose(maps.outputs(x), mapped, atol=1e-9 * np.abs(mapped).max())
    said = "are the ones of least norm" in maps.sentence or "of least norm; give 13 samples" in maps.sentence
    assert said == (min(one.rank for one in maps.solutions) < 13)


def test_ill_conditioned_normal_equations_give_way_to_factors(monkeypatch):
    monkeypatch.setattr(streaming, "FACTORED_COLUMNS", 0)
    passes = []
    real = mapping.coefficient_moments
    monkeypatch.setattr(
        mapping, "coefficient_moments", lambda *given, **named: passes.append(named) or real(*given, **named)
    )
    W, b = DENSE[0]
    W = W.copy()
    W[:, 1] = W[:, 0] + 1e-6 * W[:, 1]  # two inputs that gradients hardly tell apart
    first, second = load([(W, b), DENSE[1]]), load(DEEP)
    maps = rs.similarity.coefficient_maps(first, second, POINTS)
    assert [one.get("factored") for one in passes] == [None, True]
    assert {one.method for one in maps.solutions} == {"triangular factor"}
    X, Y = matrices(first, POINTS)[0], matrices(second, POINTS)[0]
    assert np.linalg.cond(X) > 1e5
    assert difference(maps.matrix(0), np.linalg.lstsq(X, Y, rcond=None)[0]) <= 1e-8


@pytest.mark.parametrize("factored", [True, False])
@pytest.mark.parametrize("samples", [300, 8])
def test_ridge_is_that_of_scikit_learn(monkeypatch, factored, samples):
    if not factored:
        monkeypatch.setattr(streaming, "FACTORED_COLUMNS", 0)
    own, other, x = load(DENSE), conv(1), POINTS[:samples]
    maps = rs.similarity.coefficient_maps(own, other, x, ridge=0.7)
    X, Y = matrices(own, x)[2], matrices(other, x)[2]
    expected = Ridge(alpha=0.7, fit_intercept=False, solver="svd").fit(X, Y).coef_.T
    assert difference(maps.matrix(2), expected) <= 1e-8
    assert maps.sentence == ""
    assert maps.solutions[2].residual == pytest.approx(difference(X @ expected, Y), rel=1e-6)


def test_blocks_and_groups_change_nothing():
    first, second = load(DENSE), conv(0)
    whole = rs.similarity.coefficient_maps(first, second, POINTS[:60])
    parts = rs.similarity.coefficient_maps(first, second, POINTS[:60], budget=rs.Budget(memory=9_000 * 4))
    for j in range(3):
        assert difference(parts.matrix(j), whole.matrix(j)) <= 1e-10


def test_a_network_that_is_a_multiple_is_mapped_exactly():
    maps = rs.similarity.coefficient_maps(load(DENSE), load(scaled(DENSE, 3.0)), POINTS)
    np.testing.assert_allclose(maps.matrix(0), 3 * np.eye(13), atol=1e-8)
    assert float(maps.residual()) < 1e-7
    assert float(maps.condition()) > 1


@pytest.mark.parametrize("width", [20, 100])
def test_xor(width):
    """Two units make three regions; two wide networks are mapped to each other, as in Figure 7.6."""
    small, wide, points = load(xor(2)), load(xor(width)), grid(101)
    corners = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
    assert len(small.codes(points).unique()) == 3
    np.testing.assert_array_equal(small(corners).numpy().ravel(), [-1.0, 1.0, 1.0, -1.0])
    np.testing.assert_array_equal(np.sign(wide(corners).numpy().ravel()), [-1.0, 1.0, 1.0, -1.0])
    maps = rs.similarity.coefficient_maps(wide, small, points)
    X, Y = matrices(wide, points)[0], matrices(small, points)[0]
    assert difference(maps.matrix(0), np.linalg.lstsq(X, Y, rcond=None)[0]) <= 1e-8
    other = load(xor(120 - width, seed=1))  # made in the same way, of other units
    mapped = rs.similarity.coefficient_maps(wide, other, points).outputs(points)
    assert ((mapped > 0) == (other(points).numpy() > 0)).mean() > 0.8
    # Three different rows, of rank 2: (-1, -1, 1), (1, 1, 1) and (0, 0, -1).
    assert rs.similarity.coefficient_maps(small, wide, points).solutions[0].rank == 2


def test_sums_of_blocks_are_sums():
    X, Y = RNG.normal(size=(40, 5)), RNG.normal(size=(40, 3))
    for factored in (True, False):
        found = MomentSum([5, 3], factored=factored)
        for rows in (slice(0, 7), slice(7, 39), slice(39, 40)):
            found.add([X[rows], Y[rows]])
        moments = found.finish()
        one, other = 2.0 ** np.array(moments.exponents)
        np.testing.assert_allclose(one * other * moments.plain(0, 1), X.T @ Y, atol=1e-12)
        np.testing.assert_allclose(other**2 * moments.plain(1, 1), Y.T @ Y, atol=1e-12)
        np.testing.assert_allclose(one * other * moments.centred(1, 0), (Y - Y.mean(0)).T @ (X - X.mean(0)), atol=1e-12)
        assert moments.num_samples == 40
        assert len(moments) == 2
        solution = solve(moments, 0, 1)
        assert solution is not None
        np.testing.assert_allclose(solution.matrix, np.linalg.lstsq(X, Y, rcond=None)[0], atol=1e-12)


@pytest.mark.parametrize("factored", [False, True])
@pytest.mark.parametrize("sizes", [(-300, 0, 300), (300, 0, -300), (-900, -500, 900), (0, 500, 0)])
def test_sums_of_blocks_of_very_different_sizes(sizes, factored):
    blocks = [RNG.normal(size=(12, 8)) * 2.0**size for size in sizes]
    blocks[1][:] = 0.0 if sizes[0] == -900 else blocks[1]
    found, whole = MomentSum([5, 3], factored=factored), np.concatenate(blocks)
    for block in blocks:
        found.add([block[:, :5], block[:, 5:]])
    moments, expected = found.finish(), moments_of(whole[:, :5], whole[:, 5:])
    for first, second in ((0, 0), (0, 1), (1, 1)):
        moved = sum(moments.exponents[one] - expected.exponents[one] for one in (first, second))
        there = moments.centred(first, second) * 2.0**moved
        np.testing.assert_allclose(there, expected.centred(first, second), rtol=1e-9, atol=1e-12)
    assert moments.singular_values(0, 1).sum() > 0


@pytest.mark.parametrize("factored", [False, True])
def test_maps_scale_with_what_they_map(factored, monkeypatch):
    monkeypatch.setattr(least_squares, "WORST_CONDITION", 1e12)
    X, Y = RNG.normal(size=(40, 5)), RNG.normal(size=(40, 3))

    def solved(first, second, ridge):
        found = MomentSum([5, 3], factored=factored)
        found.add([first, second])
        return solve(found.finish(), 0, 1, ridge=ridge)

    for ridge in (0.0, 0.75):
        before = solved(X, Y, ridge)
        for one, other in ((300, 0), (-300, -300), (-300, 300), (0, -300)):
            after = solved(X * 2.0**one, Y * 2.0**other, ridge * 4.0**one)
            np.testing.assert_array_equal(after.matrix, before.matrix * 2.0 ** (other - one))
            assert (after.rank, after.condition, after.residual) == (before.rank, before.condition, before.residual)
    with pytest.raises(InputError, match=r"expected representations .*got one of about 2\^1[0-9]+: scale the outputs"):
        solved(X * 2.0**-600, Y * 2.0**600, 0.0)
    with pytest.raises(InputError, match="a ridge has a size that float64 holds"):
        solved(X * 2.0**-600, Y, 1.0)


def test_what_does_not_fit():
    one = load(DENSE)
    for other, words in (
        (load(parameters([11, 4, 3], 0)), "equal inputs, got 12 of network 0 and 11 of network 1"),
        (load(parameters([12, 4, 2], 0)), "equally many outputs, got 3 of network 0 and 2 of network 1"),
    ):
        with pytest.raises(ShapeError, match=words):
            rs.similarity.coefficient_maps(one, other, POINTS)
    with pytest.raises(BudgetExceededError, match="give more memory"):
        rs.similarity.coefficient_maps(one, one, POINTS, budget=rs.Budget(memory=1_000))
    # Inactive wherever a model is tried, so that only the coefficients overflow.
    huge = load([(np.full((1, 12), 1e200), np.array([-1e300])), (np.full((3, 1), 1e200), np.zeros(3))])
    with pytest.raises(InputError, match="finite"):
        rs.similarity.coefficient_maps(one, huge, np.full((2, 12), 1e150))


def test_many_columns_are_solved_by_householder(monkeypatch):
    monkeypatch.setattr(least_squares, "FEW", 0)
    X, Y = np.random.default_rng(0).normal(size=(2, 60, 7))
    X[:, 3] *= 1e5
    found = least_squares.solve(moments_of(X, Y), 0, 1)
    assert found is not None
    np.testing.assert_allclose(found.matrix, np.linalg.lstsq(X, Y, rcond=None)[0], rtol=1e-9, atol=1e-15)
    condition = np.linalg.cond(X)
    assert condition / 10 < found.condition < 10 * condition
    X[:, 4] = X[:, 5]  # no full rank: the least norm
    found = least_squares.solve(moments_of(X, Y), 0, 1)
    assert found is not None
    assert found.rank == 6
    np.testing.assert_allclose(found.matrix, np.linalg.lstsq(X, Y, rcond=None)[0], atol=1e-9)
