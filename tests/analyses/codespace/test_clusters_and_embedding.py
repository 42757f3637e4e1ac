"""Clusters of planted codes; classical scaling against NumPy's singular values; pictures of several epochs."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform

import reluscope as rs
from reluscope.analyses.codespace import Embedding, align, cluster, embed, embed_series, embedding_trust
from reluscope.analyses.codespace.embedding import LANDMARKS

LAYOUT = rs.CodeLayout((rs.GateLayout("relu", 40), rs.GateLayout("clamp", 5, 3)))


def planted(sizes, noise=0.03, seed=0):
    """Codes around as many centres as there are sizes, and which centre each is of."""
    generator = np.random.default_rng(seed)
    kinds = np.repeat(np.arange(len(sizes)), sizes)
    bits = generator.integers(0, 2, (len(sizes), 40))[kinds] ^ (generator.random((len(kinds), 40)) < noise)
    return rs.Codes.from_pieces([bits, np.zeros((len(kinds), 5), dtype=int)], LAYOUT), kinds


def one_hot(codes):
    pieces = codes.to_array()
    return np.concatenate([pieces == piece for piece in range(3)], axis=1).astype(float) / np.sqrt(2)


@pytest.mark.parametrize("join", ["average", "complete", "single"])
@pytest.mark.parametrize("most", [3000, 20])
def test_planted_clusters_are_found(join, most):
    codes, kinds = planted([20, 15, 10])
    found = cluster(codes, 3, join=join, num_samples=most)
    assert np.array_equal(found.labels, kinds)
    assert float(found.agreement(kinds)) == pytest.approx(1)
    assert len(found.drawn) == min(most, 45)
    table = codes.distance().astype(np.int64)
    for group, medoid in enumerate(found.medoids):
        members = np.intersect1d(np.flatnonzero(kinds == group), found.drawn)
        assert table[np.ix_(members, members)].sum(axis=1).min() == table[medoid, members].sum()
    assert np.array_equal(found.distances, table[np.arange(45), found.medoids[found.labels]])


def test_clusters_of_few_and_of_equal_codes():
    codes, _ = planted([4], noise=0.0)
    found = cluster(codes, 3)
    assert len(found) == 1
    assert not found.labels.any()
    assert cluster(codes[:1], 5).medoids.tolist() == [0]
    with pytest.raises(rs.errors.InputError, match="at least 1, got 0"):
        cluster(codes, 0)
    with pytest.raises(rs.errors.ShapeError, match="one label per sample"):
        found.agreement(np.zeros(2, dtype=int))


@given(st.integers(0, 10**6), st.integers(1, 12))
def test_classical_scaling_is_the_projection_with_most_variance(seed, size):
    generator = np.random.default_rng(seed)
    pieces = [generator.integers(0, 2, (size, 40)), generator.integers(0, 3, (size, 5))]
    codes = rs.Codes.from_pieces(pieces, LAYOUT)
    placed = embed(codes)
    features = one_hot(codes)
    assert np.allclose(squareform(pdist(features) ** 2), codes.distance())
    left, values, _ = np.linalg.svd(features - features.mean(axis=0), full_matrices=False)
    expected = np.zeros((size, 2))
    expected[:, : min(2, size)] = (left * values)[:, :2]
    # Up to signs, and turns where the two values are equal: compare inner products.
    assert np.allclose(placed.points @ placed.points.T, expected @ expected.T, atol=1e-7)
    whole = (values**2).sum()
    assert placed.share == pytest.approx((values[:2] ** 2).sum() / whole if whole > 1e-9 else 1.0)


@pytest.mark.slow
def test_samples_beyond_the_landmarks_lie_where_the_projection_puts_them():
    codes, kinds = planted([LANDMARKS // 2 + 40, LANDMARKS // 2])
    placed = embed(codes)
    features = one_hot(codes)
    features -= features.mean(axis=0)
    _, _, axes = np.linalg.svd(features, full_matrices=False)
    away = align(Embedding(features @ axes[:2].T, "mds", 1.0), placed).points - placed.points
    assert np.abs(away).max() < 0.15 * np.abs(placed.points).max()
    assert np.ptp(placed.points[kinds == 0, 0]) < np.ptp(placed.points[:, 0]) / 2


def test_epochs_are_turned_towards_each_other():
    codes, _ = planted([15, 10, 5])
    other = rs.Codes.from_pieces([1 - codes.to_array()[:, :40], codes.to_array()[:, 40:]], LAYOUT)  # a mirror image
    first, second = embed_series([codes, other])
    assert np.allclose(first.points, second.points)
    turned = Embedding(first.points @ np.array([[0.0, -1.0], [-1.0, 0.0]]) + 3.0, "mds", 1.0)
    assert np.allclose(align(turned, first).points, first.points)


def test_equal_and_single_codes_are_one_point():
    codes, _ = planted([6], noise=0.0)
    for some in (codes, codes[:1]):
        placed = embed(some)
        assert not placed.points.any()
        assert placed.share == 1.0
        assert float(embedding_trust(some, placed)) <= 1.0


def test_a_plane_shows_all_of_three_codes_and_not_more():
    for seed in range(20):
        generator = np.random.default_rng(seed)
        kinds, size = generator.integers(0, 2, (3, 40)), int(generator.integers(3, 40))
        rows = kinds[generator.integers(0, 3, size)]
        placed = embed(rs.Codes.from_pieces([rows, np.zeros((size, 5), dtype=int)], LAYOUT))
        assert 1 - 1e-12 < placed.share <= 1


def test_truncated_distances_can_be_scaled():
    codes, _ = planted([6, 6])
    placed = embed(codes, threshold=2)
    assert np.isfinite(placed.points).all()
    assert 0 < placed.share <= 1


def test_trust_is_lost_where_points_are_shuffled():
    codes, _ = planted([20, 20, 20])
    placed = embed(codes)
    assert float(embedding_trust(codes, placed)) > 0.85
    shuffled = Embedding(placed.points[np.random.default_rng(0).permutation(60)], "mds", 1.0)
    assert float(embedding_trust(codes, shuffled)) < 0.65


def test_what_cannot_be_asked(monkeypatch):
    codes, _ = planted([6, 6])
    with pytest.raises(rs.errors.InputError, match="0 codes"):
        embed(codes[:0])
    with pytest.raises(rs.errors.InputError, match="no threshold"):
        embed(codes, method="umap", threshold=2)
    with pytest.raises(rs.errors.ShapeError, match="one of 3"):
        embed(codes, reference=embed(codes[:3]))
    with pytest.raises(rs.errors.ShapeError, match="that were embedded"):
        embedding_trust(codes, embed(codes[:3]))
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(rs.errors.InputError, match=r"reluscope\[umap\]"):
        embed(codes, method="umap")


@pytest.mark.slow
def test_umap_keeps_clusters_and_starts_from_the_epoch_before():
    pytest.importorskip("umap")
    codes, kinds = planted([60, 60, 60], noise=0.05)
    first, second = embed_series([codes, codes], method="umap")
    assert first.method == "umap"
    assert np.array_equal(first.points, embed(codes, method="umap").points)
    for placed in (first, second):
        middles = np.stack([placed.points[kinds == kind].mean(axis=0) for kind in range(3)])
        spread = max(placed.points[kinds == kind].std(axis=0).max() for kind in range(3))
        assert pdist(middles).min() > 3 * spread
        assert float(embedding_trust(codes, placed)) > 0.8
    # The clusters stay where they were.
    nearest = np.linalg.norm(
        middles[:, None] - np.stack([first.points[kinds == k].mean(axis=0) for k in range(3)]), axis=2
    )
    assert np.array_equal(nearest.argmin(axis=1), np.arange(3))
    assert embed(codes[:3], method="umap").method == "mds"
    same = codes[np.zeros(9, dtype=int)]
    assert embed(same, method="umap").method == "mds"


def test_the_seed_decides_which_samples_are_clustered():
    codes, _ = planted([20, 15, 10])
    for seed in (0, 3, 5):
        found = cluster(codes, 3, num_samples=20, seed=seed)
        assert found.drawn.tolist() == np.sort(np.random.default_rng(seed).choice(45, 20, replace=False)).tolist()
    assert cluster(codes, 3, num_samples=45, seed=7).drawn.tolist() == list(range(45))
    assert len(cluster(codes, 3, num_samples=44, seed=7).drawn) == 44


def test_samples_that_were_not_drawn_go_to_the_nearest_medoid():
    codes, _ = planted([20, 15, 10], noise=0.3)
    found = cluster(codes, 3, num_samples=12, seed=2)
    table = codes.distance().astype(np.int64)
    rest = np.setdiff1d(np.arange(45), found.drawn)
    assert found.labels[rest].tolist() == table[np.ix_(rest, found.medoids)].argmin(axis=1).tolist()
    agreement = found.agreement(found.labels)
    assert (agreement.claim, agreement.value) == ("EXACT", pytest.approx(1.0))


@pytest.mark.parametrize(("number", "most"), [(0, 5), (2, 0), (-1, 5)])
def test_no_clusters_and_no_samples_are_refused(number, most):
    codes, _ = planted([4])
    with pytest.raises(rs.errors.InputError, match="at least 1"):
        cluster(codes, number, num_samples=most)
    with pytest.raises(rs.errors.InputError, match="expected codes to put into clusters, got none"):
        cluster(codes[:0], 1)
    assert len(cluster(codes, 1, num_samples=1)) == 1
