"""Singular values through the layers: against dense decompositions, by both engines, with claims that hold; the
lemmas."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from torch import nn

import reluscope as rs
from reluscope.analyses.stability import singular_values as engine
from reluscope.analyses.stability.layer_spectra import _All
from reluscope.errors import InputError, ShapeError
from reluscope.findings import Claim
from reluscope_studies import lemmas

GAMMA = 16 * engine.EPS


def at(found, layer, name=None):
    """Return the findings at one layer, or the detail of that name, or the column of that name."""
    names = list(dict.fromkeys(found.keys["layer"].tolist()))
    there = found.where(layer=names[layer])
    return there if name is None else there.details[name] if name in there.details else there[name]


class Residual(nn.Module):
    """A block with a shortcut that is projected."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.short = nn.Linear(5, 7), nn.Linear(7, 6), nn.Linear(5, 6)
        self.last = nn.Linear(6, 3)

    def forward(self, x):
        return self.last(torch.relu(self.second(torch.relu(self.first(x))) + self.short(x)))

    def layers(self, x):
        """The values whose Jacobians are asked for."""
        before = self.first(x)
        after = torch.relu(before)
        joined = self.second(after) + self.short(x)
        return before, after, joined, torch.relu(joined), self.last(torch.relu(joined))


class Chain(nn.Sequential):
    """A sequence whose layers are the values after its modules."""

    def layers(self, x):
        """The values whose Jacobians are asked for; flattening is no layer."""
        found = []
        for module in self:
            x = module(x)
            if not isinstance(module, nn.Flatten):
                found.append(x)
        return found


def models():
    torch.manual_seed(3)
    dense = Chain(nn.Linear(6, 9), nn.ReLU(), nn.Linear(9, 5), nn.LeakyReLU(0.3), nn.Linear(5, 4))
    conv = Chain(
        nn.Conv2d(2, 3, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(3, 4, 3, stride=2),
        nn.PReLU(4),
        nn.Flatten(),
        nn.Linear(16, 3),
    )
    pool = Chain(
        nn.Conv2d(2, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 3), nn.Hardtanh()
    )
    return {
        "dense": (dense.double().eval(), (6,)),
        "conv": (conv.double().eval(), (2, 6, 6)),
        "pool": (pool.double().eval(), (2, 6, 6)),
        "residual": (Residual().double().eval(), (5,)),
    }


def dense_values(model, point):
    """Singular values of all prefixes from Jacobians by autograd."""
    number = len(model.layers(point[None]))
    found = []
    for index in range(number):
        jacobian = torch.autograd.functional.jacobian(
            lambda x, index=index: model.layers(x[None])[index].flatten(), point
        )
        found.append(np.linalg.svd(jacobian.flatten(1).numpy(), compute_uv=False))
    return found


@pytest.fixture(params=["dense", "conv", "pool", "residual"])
def case(request):
    model, shape = models()[request.param]
    return (
        model,
        rs.load(model, input_shape=shape),
        torch.randn(3, *shape, generator=torch.Generator().manual_seed(1)).double(),
    )


@pytest.mark.few(2)
def test_all_prefixes_agree_with_autograd_and_lapack(case):
    model, net, points = case
    found = rs.stability.spectra(net, points)
    for sample, point in enumerate(points):
        truth = dense_values(model, point)
        assert len(truth) == len(rs.stability.layers(net))
        for layer, expected in enumerate(truth):
            values, errors = at(found, layer, "singular_values")[sample], at(found, layer, "errors")[sample]
            assert values == pytest.approx(expected, abs=1e-12)
            assert (np.abs(values - expected) <= errors + 1e-15).all()
            assert at(found, layer, "largest_singular_value").lower[sample] <= expected[0] + 1e-15
            assert expected[0] <= at(found, layer, "largest_singular_value").upper[sample] + 1e-15
    assert found.where(sample=0).details["size"].tolist() == [value[0].numel() for value in model.layers(points[:1])]


def test_the_gram_matrix_agrees_with_the_triangular_factor(case, monkeypatch):
    _, net, points = case
    by_triangle = rs.stability.spectra(net, points)
    monkeypatch.setattr(engine, "SHORT", 1)
    monkeypatch.setattr(engine, "TILE", 8)
    by_gram = rs.stability.spectra(net, points)
    assert any("Gram" in method for method in by_gram.details["method"])
    tables = (found.details[name] for name in ("singular_values", "errors") for found in (by_gram, by_triangle))
    for one, other, one_error, other_error in zip(*tables, strict=True):
        assert one == pytest.approx(other, rel=2 * engine.GOOD, abs=1e-12)
        assert (np.abs(one - other) <= one_error + other_error).all()


@pytest.mark.few(2)
def test_lanczos_brackets_the_extremes(case):
    _, net, points = case
    exact, found = rs.stability.spectra(net, points), rs.stability.extremes(net, points, steps=8, seed=1)
    for name in ("largest_singular_value", "smallest_nonzero_singular_value", "condition_number"):
        one, other = exact[name].value, found[name]
        assert (other.lower <= one * (1 + 1e-9)).all()
        assert (one <= other.upper * (1 + 1e-9)).all()
    likely = found.details["likely_upper"]
    assert (np.isnan(likely) | (exact["largest_singular_value"].value <= likely * (1 + 1e-12))).all()


def test_lanczos_on_a_map_of_known_values():
    rng = np.random.default_rng(0)
    values = np.linspace(3.0, 1.0, 60)
    left, right = (np.linalg.qr(rng.normal(size=(size, 60)))[0] for size in (200, 90))
    net = rs.load([(left * values @ right.T, np.zeros(200)), (np.zeros((1, 200)), np.zeros(1))])
    found = at(rs.stability.extremes(net, np.zeros(90), steps=30), 0)
    assert found.details["method"].tolist() == ["Lanczos"]
    largest, smallest = (found.finding(f"{name}_singular_value") for name in ("largest", "smallest_nonzero"))
    assert largest.claim is Claim.LOWER
    assert 2.9 <= largest.value <= 3.0 + 1e-12 <= found.details["likely_upper"][0] + 1e-9 < 4.0
    assert smallest.claim is Claim.UPPER
    assert 1.0 - 1e-9 <= smallest.value < 1.2
    condition = found.median("condition_number")
    assert condition.claim is Claim.LOWER
    assert float(condition) <= 3.0
    assert np.isnan(found["stable_rank"].value).all()


def test_small_values_below_the_reach_of_the_gram_matrix_are_resolved(monkeypatch):
    monkeypatch.setattr(engine, "SHORT", 2)
    rng = np.random.default_rng(1)
    values = np.array([1.0, 1e-3, 1e-6, 1e-9, 0.0])
    left, right = (np.linalg.qr(rng.normal(size=(size, 5)))[0] for size in (40, 5))
    net = rs.load([((left * values) @ right.T, np.ones(40)), (np.ones((1, 40)), np.zeros(1))])
    found = at(rs.stability.spectra(net, np.zeros(5)), 0)
    assert found.details["method"].tolist() == ["QR and SVD"]
    assert found.details["singular_values"][0] == pytest.approx(values, abs=1e-14)
    assert found["num_nonzero_singular_values"].value.tolist() == [4.0]
    # Rounding of 1e-16 of the largest is much of the smallest, and the claim says so.
    condition = found.finding("condition_number")
    assert condition.value == pytest.approx(1e9, rel=1e-4)
    assert condition.claim is Claim.ESTIMATE
    assert condition.interval[0] <= 1e9 <= condition.interval[1]


def test_measures_of_a_map_one_knows():
    net = rs.load([(np.diag([4.0, 2.0, 2.0, 0.0]), np.array([1.0, 1.0, -1.0, 1.0])), (np.ones((1, 4)), np.zeros(1))])
    every = rs.stability.spectra(net, np.zeros(4))
    found = at(every, 0)
    entropy = 0.5 * np.log(2) + 0.5 * np.log(4)
    expected = {
        "largest_singular_value": 4.0,
        "smallest_nonzero_singular_value": 2.0,
        "condition_number": 2.0,
        "num_nonzero_singular_values": 3.0,
        "stable_rank": 1.5,
        "effective_rank": np.exp(entropy),
    }
    for name, value in expected.items():
        assert float(found.finding(name)) == pytest.approx(value)
        # A bound on entropy is no better than about e log(1 / e).
        assert name == "effective_rank" or found.finding(name).claim is Claim.EXACT
    after = at(every, 1, "singular_values")[0]
    assert after.tolist() == pytest.approx([4.0, 2.0, 0.0, 0.0])
    assert rs.stability.curve(every, found.keys["layer"][0]).tolist() == found.details["singular_values"][0].tolist()


def test_a_dead_layer_has_no_condition_number():
    net = rs.load([(np.eye(2), -np.ones(2)), (np.ones((1, 2)), np.zeros(1))])
    found = at(rs.stability.spectra(net, [[0.0, 0.0], [0.5, 0.5]]), 1)
    assert found["num_nonzero_singular_values"].value.tolist() == [0.0, 0.0]
    assert np.isnan(found["condition_number"].value).all()
    assert found["stable_rank"].value.tolist() == [0.0, 0.0]
    with pytest.raises(InputError, match="some row with condition number, got none"):
        found.median("condition_number")
    lanczos = at(rs.stability.extremes(net, [[0.0, 0.0]]), 1)
    assert lanczos["largest_singular_value"].value.tolist() == [0.0]
    assert np.isnan(lanczos["condition_number"].value).all()


def test_duplicated_and_zero_units_are_ordinary():
    weight = np.array([[1.0, 2.0], [1.0, 2.0], [0.0, 0.0], [-1.0, -2.0]])
    net = rs.load([(weight, np.zeros(4)), (np.ones((3, 4)), np.zeros(3)), (np.ones((1, 3)), np.zeros(1))])
    found = rs.stability.spectra(net, [[1.0, 1.0]])
    number = at(found, 0, "num_nonzero_singular_values")
    assert number.value.tolist() == number.lower.tolist() == number.upper.tolist() == [1.0]
    assert at(found, 1, "singular_values")[0] == pytest.approx([np.sqrt(10), 0.0])


def test_medians_of_drawn_samples_are_estimates(case):
    _, net, points = case
    every, drawn = (at(rs.stability.spectra(net, points, population=most), 0) for most in (None, 100))
    assert every.median("largest_singular_value").claim is Claim.EXACT
    assert drawn.median("largest_singular_value").claim is Claim.ESTIMATE
    assert drawn.median("largest_singular_value").value == every.median("largest_singular_value").value


def test_finished_samples_are_kept(case, tmp_path, monkeypatch):
    _, net, points = case
    whole = rs.stability.spectra(net, points, checkpoint=tmp_path / "kept")
    monkeypatch.setattr(_All, "__call__", None)  # nothing is done twice
    again = rs.stability.spectra(net, points, checkpoint=tmp_path / "kept")
    assert str(again) == str(whole)
    for name in ("singular_values", "errors"):
        assert all((one == other).all() for one, other in zip(whole.details[name], again.details[name], strict=True))


# What users get wrong.


@pytest.mark.few(2)
def test_maps_too_large_for_memory_give_extremes_and_say_so(case):
    _, net, points = case
    found = rs.stability.spectra(net, points, budget=rs.Budget(memory=1000))
    assert "more than the 0.0 GB allowed" in found["largest_singular_value"].method
    assert np.isnan(found["stable_rank"].value).all()
    assert rs.stability.curve(found, found.keys["layer"][0]).size == 0


def test_one_affine_layer_and_one_sample_are_answered():
    net = rs.load([(np.diag([2.0, 1.0]), np.zeros(2))])
    found = rs.stability.spectra(net, [0.0, 0.0])
    assert found.details["kind"].tolist() == ["affine"]
    assert float(found.finding("condition_number")) == pytest.approx(2.0)
    assert found.finding("condition_number").claim is Claim.EXACT


def test_bad_input_is_refused():
    net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    with pytest.raises(InputError, match="finite points"):
        rs.stability.spectra(net, [[np.nan, 0.0]])
    with pytest.raises(InputError, match="nonzero from 0 to below 1"):
        rs.stability.spectra(net, [[0.0, 0.0]], nonzero=2.0)
    with pytest.raises(InputError, match="limit seconds or memory only"):
        rs.stability.spectra(net, [[0.0, 0.0]], budget=rs.Budget(regions=3))
    with pytest.raises(InputError, match=r"findings of rs\.stability\.spectra"):
        rs.stability.curve(rs.local.region_sizes(net, [[1.0, 1.0]], domain=rs.Box(0, 2, 2)), "a")
    with pytest.raises(InputError, match="at least 2 steps"):
        rs.stability.extremes(net, [[0.0, 0.0]], steps=1)
    with pytest.raises(InputError, match="only hands on its input"):
        rs.stability.spectra(rs.load(nn.Flatten(), input_shape=(2,)), [[0.0, 0.0]])
    with pytest.raises(InputError, match="expected one sample"):
        rs.stability.prefix_map(net, [[0.0, 0.0], [1.0, 1.0]], 0)
    with pytest.raises(InputError, match="a layer from 0 to 2"):
        rs.stability.prefix_map(net, [0.0, 0.0], 3)
    with pytest.raises(InputError, match="rows among 0 to 1"):
        lemmas.lemma8(np.eye(2), [2])
    with pytest.raises(ShapeError, match="mask of 2 rows"):
        lemmas.lemma9(np.eye(2), np.array([True]))
    with pytest.raises(InputError, match="NaN or infinite"):
        lemmas.lemma9(np.full((2, 2), np.inf), [0])


# The lemmas.


def test_the_worked_example():
    matrix = np.array([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]])
    assert np.linalg.svd(matrix, compute_uv=False).round(6).tolist() == [1.417745, 1.0]
    assert np.linalg.svd(matrix[:2], compute_uv=False).round(6).tolist() == [1.415985, 0.070622]
    found = lemmas.lemma9(matrix, [2])
    assert (found.constants[0].round(6), found.sharper[0].round(6)) == (0.141421, 0.1)
    assert found.in_row_space.tolist() == [True]
    bound = lemmas.lemma8(matrix, [2])
    assert (bound.num_nonzero, bound.num_removed, bound.holds) == (2, 1, True)
    assert bound.smallest_upper == pytest.approx(1.417745, abs=5e-7)
    assert [finding.claim for finding in (*found.findings(), *bound.findings())] == [Claim.UPPER] * 4
    counts = lemmas.correlation_counts(matrix, [2], [0.0, 0.14, 0.1415])
    assert counts.counts.tolist() == [1, 1, 2]
    assert counts.all_from == pytest.approx(found.constants[0])


def test_without_its_hypothesis_lemma_9_fails_and_says_nothing():
    matrix = np.eye(2)
    found = lemmas.lemma9(matrix, [1])
    # The condition holds with c = 0, and the smallest nonzero singular value that is left is 1.
    assert lemmas.correlation_counts(matrix, [1], [0.0]).all_from == 0.0
    assert not found.in_row_space.any()
    assert np.isinf(found.constants).all()
    assert np.isinf(found.sharper).all()
    assert found.findings() == ()
    nothing = lemmas.lemma8(matrix, [0, 1])
    assert not nothing.holds
    assert np.isinf(nothing.smallest_upper)
    assert len(nothing.findings()) == 1


entries = st.one_of(st.integers(-3, 3).map(float), st.floats(-2, 2, allow_nan=False).map(lambda value: round(value, 3)))


@settings(max_examples=150, deadline=None)
@given(
    st.tuples(st.integers(2, 8), st.integers(1, 5)).flatmap(
        lambda shape: st.tuples(hnp.arrays(np.float64, shape, elements=entries), hnp.arrays(bool, shape[0]))
    )
)
def test_bounds_are_never_violated(drawn):
    matrix, removed = drawn
    values = np.linalg.svd(np.where(removed[:, None], 0.0, matrix), compute_uv=False)
    scale = np.linalg.norm(matrix)
    nonzero = values[values > 1e-12 * scale]
    eighth, ninth = lemmas.lemma8(matrix, removed), lemmas.lemma9(matrix, removed)
    assert values.max(initial=0.0) <= eighth.largest_upper + 1e-12 * scale
    if len(nonzero):
        smallest = nonzero[-1]
        assert smallest <= eighth.smallest_upper * (1 + 1e-9)
        assert (smallest <= ninth.sharper * (1 + 1e-6) + 1e-12).all()
        assert (smallest <= ninth.constants * (1 + 1e-6) + 1e-12).all()
        assert (ninth.sharper <= ninth.constants * (1 + 1e-6)).all()
    assert eighth.holds == (removed.sum() < eighth.num_nonzero)


def test_bounds_hold_beyond_rounding():
    """Rows of sizes 1e9 and 1, and entries whose squares are zero in floating point: bounds are bounds nonetheless."""
    # In 60 digits the smallest nonzero singular value is 0.54494926091306608.
    mixed = np.array([[2e9, 1e9, 2e9, -2e9], [1, 0, 1, 0], [-2e9, 2e9, -1e9, 0], [-2e9, 1e9, 2e9, 0]])
    assert lemmas.lemma8(mixed, []).smallest_upper >= 0.54494926091306608
    # The two rows that are left are parallel, of lengths 2 and 1.
    tiny = 1e-100 * np.array([[1.0, 0.0], [2.0, 0.0], [1.0, 1.0]])
    found = lemmas.lemma9(tiny, [2])
    assert found.sharper.min() >= np.sqrt(5) * 1e-100
    assert found.sharper.min() == pytest.approx(np.sqrt(5) * 1e-100)
    assert lemmas.lemma8(1e200 * tiny, [2]).largest_upper >= np.linalg.svd(1e200 * tiny)[1][0]


def test_counts_agree_with_the_definition():
    rng = np.random.default_rng(2)
    matrix, removed = rng.normal(size=(300, 12)), rng.random(300) < 0.5
    limits = np.linspace(0, 60, 7)
    found = lemmas.correlation_counts(matrix, removed, limits)
    left, gone = matrix[~removed], matrix[removed]
    bound = np.linalg.norm(gone, axis=1) / np.sqrt(len(left))
    expected = [int((np.abs(left @ gone.T) <= limit * bound).sum(axis=0).max()) for limit in limits]
    assert found.counts.tolist() == expected
    assert found.num_left == len(left)


def test_prefix_maps_give_the_lemmas_their_matrix(case):
    _, net, points = case
    found = rs.stability.spectra(net, points[:1])
    for layer in range(len(found)):
        prefix = rs.stability.prefix_map(net, points[0], layer)
        values = np.linalg.svd(prefix.matrix, compute_uv=False)
        assert values == pytest.approx(at(found, layer, "singular_values")[0], abs=1e-12)
        if prefix.slopes is not None:
            after = np.linalg.svd(prefix.matrix * prefix.slopes[:, None], compute_uv=False)
            assert after == pytest.approx(at(found, layer + 1, "singular_values")[0], abs=1e-12)
