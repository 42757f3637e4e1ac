"""Clusters of local maps and accuracies by them, against the steps of the dissertation done one sample at a time."""

import itertools

import numpy as np
import pytest
import torch
from torch import nn

import reluscope as rs
from reluscope.analyses.classification.class_predictions import accuracy
from reluscope.errors import InputError, ShapeError
from reluscope.findings import Claim
from reluscope.networks.models.from_arrays import from_arrays

compression = rs.compression


def classifier(seed=0, outputs=3, inputs=4):
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(inputs, 12), nn.ReLU(), nn.Linear(12, 8), nn.ReLU(), nn.Linear(8, outputs))
    return rs.load(model)


@pytest.fixture(scope="module")
def network():
    return classifier()


@pytest.fixture(scope="module")
def samples(network):
    rng = np.random.default_rng(0)
    return rng.normal(size=(150, 4)), rng.normal(size=(90, 4)), rng.integers(0, 3, size=90)


def nearest(table, row):
    return int(np.argmin([((entry - row) ** 2).sum() for entry in table]))


@pytest.mark.slow
def test_one_cluster_is_the_mean_map(network, samples):
    x = samples[0]
    maps = network.linearize(x)
    mean = torch.cat([maps.weight, maps.bias[..., None]], dim=2).mean(dim=0).numpy()
    for memory in (2**30, 2**14):
        matrices = rs.coefficients.matrix(network, x, budget=rs.Budget(memory=memory))
        found = compression.cluster_maps(matrices, 1)
        assert np.abs(np.stack([table[0] for table in found.centers]) - mean).max() < 1e-12
        spread = sum(((matrices.output(j) - mean[j]) ** 2).sum() for j in range(3)) if memory > 2**20 else None
        assert spread is None or found.inertia.sum() == pytest.approx(spread, rel=1e-9)
    curve = compression.accuracy_curve(matrices, matrices, np.zeros(150, int), (1,), rules=("own_map", "mean_input"))
    linear = (np.concatenate([x, np.ones((150, 1))], axis=1) @ mean.T).argmax(axis=1)
    assert set(curve["accuracy"].value) == {float((linear == 0).mean())}


@pytest.mark.slow
@pytest.mark.parametrize("number", [2, 7])
def test_the_five_steps_of_the_dissertation(network, samples, number):
    training, x, labels = samples
    test = rs.coefficients.matrix(network, x)
    clusters = compression.cluster_maps(rs.coefficients.matrix(network, training), number, seed=3)
    right = 0
    for sample, (point, label) in enumerate(zip(x, labels, strict=True)):
        maps = network.linearize(point[None])
        values = []
        for j, centers in enumerate(clusters.centers):
            own = np.append(maps.weight[0, j].numpy(), maps.bias[0, j])
            centre = centers[nearest(centers, own)]
            values.append(centre[:-1] @ point + centre[-1])
        forward = compression.compressed_outputs(clusters, test)
        assert np.abs(forward.outputs[sample] - values).max() < 1e-12
        right += int(np.argmax(values)) == label
    curve = compression.accuracy_curve(rs.coefficients.matrix(network, training), test, labels, [number], seed=3)
    share = curve.where(rule="own_map").finding("accuracy")
    assert (float(share), share.claim) == (right / len(x), Claim.EXACT)


def test_rules_that_read_the_input_alone(network, samples):
    training, x, _ = samples
    clusters = compression.cluster_maps(rs.coefficients.matrix(network, training), 5)
    test = rs.coefficients.matrix(network, x)
    object.__setattr__(test, "blocks", None)
    for rule in ("mean_input", "nearest_sample", "logistic"):
        forward = compression.compressed_outputs(clusters, test, rule)
        for j, (centers, labels) in enumerate(zip(clusters.centers, clusters.labels, strict=True)):
            means = [training[labels == k].mean(axis=0) for k in range(len(centers))]
            for point, value in zip(x, forward.outputs[:, j], strict=True):
                which = nearest(means, point) if rule == "mean_input" else labels[nearest(training, point)]
                candidates = centers if rule == "logistic" else centers[[which]]
                assert np.abs(candidates[:, :-1] @ point + candidates[:, -1] - value).min() < 1e-12


def test_as_many_clusters_as_maps_are_the_network(network, samples):
    x = samples[1]
    matrices = rs.coefficients.matrix(network, x)
    clusters = compression.cluster_maps(matrices, 1000)
    assert set(clusters.num_clusters) == {len(np.unique(matrices.output(0).round(9), axis=0))}
    assert "1,000 clusters were asked for, and each of the outputs 0, 1, 2 uses at most" in clusters.note
    assert clusters.inertia.tolist() == [0, 0, 0]
    forward = compression.compressed_outputs(clusters, matrices)
    assert np.abs(forward.outputs - network(x).numpy()).max() < 1e-12
    labels = samples[2]
    curve = compression.accuracy_curve(matrices, matrices, labels, (1, 1000))
    every = curve.where(rule="own_map", num_clusters=1000)
    whole = float(accuracy(network, x, labels))
    assert float(every.finding("accuracy")) == whole == float(curve.finding("network_accuracy"))
    assert float(every.finding("accuracy_drop")) == 0.0
    assert int(every.finding("num_maps_used")) == max(clusters.num_clusters)
    assert int(compression.fewest_clusters(curve, 0.0)) <= clusters.num_clusters[0]
    assert len(curve.notes) == 1


def test_equal_maps_count_as_often_as_they_are(network):
    grid = np.stack(np.meshgrid(*[np.linspace(-1, 3, 12)] * 2), axis=-1).reshape(-1, 2)
    small = rs.load([([[1.0, 0], [0, 1]], [0.0, 0.0]), ([[1.0, 2.0]], [0.0])])
    matrices = rs.coefficients.matrix(small, grid)
    found = compression.cluster_maps(matrices, 2, restarts=5)
    rows = matrices.output(0)
    means = [rows[found.labels[0] == k].mean(axis=0) for k in range(2)]
    assert np.abs(np.stack(means) - found.centers[0]).max() < 1e-12
    assert found.inertia[0] == pytest.approx(((rows - found.centers[0][found.labels[0]]) ** 2).sum())


@pytest.mark.slow
def test_blocks_that_do_not_fit_are_streamed(network, samples):
    x = np.concatenate([samples[0], samples[1]])
    whole = rs.coefficients.matrix(network, x)
    streamed = rs.coefficients.matrix(network, x, budget=rs.Budget(memory=12_000))
    assert streamed.samples_in_block < 20
    one, two = (compression.cluster_maps(matrices, 6) for matrices in (whole, streamed))
    assert "all 240 rows" in one.method
    assert "mini-batch" in two.method
    for j, (centers, labels) in enumerate(zip(two.centers, two.labels, strict=True)):
        rows = whole.output(j)
        assert [nearest(centers, row) for row in rows] == labels.tolist()
        assert two.inertia[j] == pytest.approx(((rows - centers[labels]) ** 2).sum())
        assert two.inertia[j] < 2 * one.inertia[j]
    many = compression.cluster_maps(rs.coefficients.matrix(network, x, budget=rs.Budget(memory=12_000)), 200)
    assert max(many.num_clusters) <= 200


def test_ties_between_centres_leave_an_interval():
    # |x| - 1 has the two maps; halfway between their means, 0, either one may be taken, and both say -1: class 0.
    network = rs.load([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [-1.0])])
    training = rs.coefficients.matrix(network, [[-2.0], [2.0]])
    clusters = compression.cluster_maps(training, 2)
    forward = compression.compressed_outputs(clusters, rs.coefficients.matrix(network, [[0.0], [1.0]]), "mean_input")
    assert forward.outputs.ravel().tolist() == [-1.0, 0.0]
    assert forward.errors[0, 0] < 1e-12
    lopsided = rs.load([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0], [0.0, 0.0]], [0.0, 0.5])])
    matrices = rs.coefficients.matrix(lopsided, [[-2.0], [4.0]])
    curve = compression.accuracy_curve(
        matrices, rs.coefficients.matrix(lopsided, [[1.0], [3.0]]), np.array([0, 0]), (2,), rules=("nearest_sample",)
    )
    share = curve.finding("accuracy")
    assert share.claim is Claim.LOWER  # 1 is as far from -2 as from 4, and the maps give 1 and -1 there
    assert share.interval == (0.5, 1.0)
    drop = curve.finding("accuracy_drop")
    assert (drop.value, drop.claim, drop.interval) == (0.5, Claim.UPPER, (0.0, 0.5))
    assert compression.fewest_clusters(curve, 0.0, "nearest_sample") is None


def test_a_single_output_and_tables(network):
    small = classifier(2, outputs=1, inputs=2)
    x = np.random.default_rng(1).normal(size=(60, 2))
    labels = (small(x).numpy()[:, 0] > 0).astype(int)
    matrices = rs.coefficients.matrix(small, x)
    curve = compression.accuracy_curve(matrices, matrices, labels, (3, 1, 60), rules=("own_map", "nearest_sample"))
    assert curve.keys["num_clusters"].tolist() == 2 * [1, 3, 60]
    table = curve.to_table().to_pylist()
    assert len(table) == 6
    assert table[2]["accuracy_drop"] == 0.0
    assert float(curve.finding("network_accuracy")) == 1.0
    assert "nearest_sample" in curve._repr_html_()


def test_regions_by_their_samples():
    network = rs.load([([[1.0], [-1.0]], [0.0, -1.0]), ([[1.0, 2.0]], [0.0])])
    found = compression.region_samples(rs.coefficients.matrix(network, [[-2.0], [-0.5], [1.0], [2.0], [3.0], [-0.2]]))
    assert found["num_samples_in_region"].value.tolist() == [3, 2, 1]
    assert found["num_samples_in_region"].is_exact.all()
    assert found.details["first_sample"].tolist() == [2, 1, 0]
    holding = [compression.regions_holding(found, share) for share in (0.5, 0.51, 5 / 6, 1.0)]
    assert [int(one) for one in holding] == [1, 2, 2, 3]
    assert holding[0].claim is Claim.EXACT
    near = compression.region_samples(rs.coefficients.matrix(
        rs.load([([[1.0, -1.0]], [0.0]), ([[1.0]], [0.0])]), [[1.0, 1 + 2**-52], [2.0, 1.0], [3.0, 0.0]]))  # fmt: skip
    assert int(near.finding("num_samples_in_doubt")) == 1
    (column,) = near.columns.values()
    # The first sample, which is on the side of one other, may be on that of none.
    assert (column.value.tolist(), column.lower.tolist(), column.upper.tolist()) == ([2, 1], [2, 0], [3, 1])
    half = compression.regions_holding(near, 0.5)
    assert (half.claim, half.interval) == (Claim.LOWER, (1, 3))


def test_bad_input(network, samples):
    training, x, labels = samples
    matrices, test = rs.coefficients.matrix(network, training), rs.coefficients.matrix(network, x)
    with pytest.raises(InputError, match="at least 1, got 0"):
        compression.cluster_maps(matrices, 0)
    with pytest.raises(InputError, match="rules"):
        compression.accuracy_curve(matrices, test, labels, rules=())
    with pytest.raises(ShapeError, match="one label per sample"):
        compression.accuracy_curve(matrices, test, labels[:-1])
    with pytest.raises(InputError, match="class numbers"):
        compression.accuracy_curve(matrices, test, labels + 2, (1,))
    with pytest.raises(InputError, match="one network"):
        compression.accuracy_curve(rs.coefficients.matrix(classifier(5), training), test, labels)
    with pytest.raises(InputError, match="all outputs"):
        compression.accuracy_curve(matrices, rs.coefficients.matrix(network, x, outputs=[0]), labels)
    with pytest.raises(ShapeError, match="as the clusters have"):
        compression.compressed_outputs(
            compression.cluster_maps(matrices, 2), rs.coefficients.matrix(network, x, outputs=[0])
        )
    huge = from_arrays([(np.full((1, 1), 1e200), [0.0]), (np.full((1, 1), 1e200), [0.0])])
    with pytest.raises(InputError, match="finite coefficients"):
        compression.cluster_maps(rs.coefficients.matrix(huge, [[1.0]]), 1)
    with pytest.raises(InputError, match="a share of the samples"):
        compression.regions_holding(compression.region_samples(matrices), 0.0)
    with pytest.raises(InputError, match="a quantity that was measured"):
        compression.regions_holding(compression.accuracy_curve(matrices, test, labels, (1,)), 0.5)
    with pytest.raises(InputError, match="and a rule of , got"):
        compression.fewest_clusters(compression.region_samples(matrices))


@pytest.mark.slow
def test_circle_and_annulus_need_few_of_their_maps():
    """Sattelberg 2026, Figure 7.2: a 3 x 8 network has 93 regions, and its maps fall into about ten clusters."""
    data = rs.datasets.circle_annulus(400)
    x, y = torch.tensor(data.points).float(), 2 * torch.tensor(data.labels).float()[:, None] - 1
    torch.manual_seed(0)
    widths = [nn.Linear(2, 8), nn.Linear(8, 8), nn.Linear(8, 8)]
    model = nn.Sequential(*(part for layer in widths for part in (layer, nn.ReLU())), nn.Linear(8, 1))
    optimizer = torch.optim.AdamW(model.parameters(), 0.01, weight_decay=0.3)
    for _ in range(400):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
    network = rs.load(model)
    part = rs.partition(network, rs.Box(-1, 1, dim=2))
    grid = np.stack(np.meshgrid(*[np.linspace(-1, 1, 61)] * 2), axis=-1).reshape(-1, 2)
    curve = compression.accuracy_curve(
        rs.coefficients.matrix(network, grid), rs.coefficients.matrix(network, data.points), data.labels, (1, 10, 20)
    )
    assert len(part) > 60
    assert float(curve.finding("network_accuracy")) > 0.98
    one, _, twenty = curve.where(rule="own_map")["accuracy"].value
    assert one < 0.7
    assert twenty > 0.95
    assert len(compression.merge_regions(part, 0.2)) < len(part) / 3


def test_more_samples_at_one_distance_than_neighbors_are_looked_at():
    corners = np.array(list(itertools.product([0.0, 1.0], repeat=3)))
    net = rs.load([([[1.0, 0, 0], [1.0, 0, 0]], [-0.25, -0.75]), ([[8.0, -6.0]], [-0.5])])
    training, middle = rs.coefficients.matrix(net, corners), rs.coefficients.matrix(net, [[0.5, 0.5, 0.5]])
    curve = rs.compression.accuracy_curve(training, middle, np.array([1]), (2,), rules=("nearest_sample",))
    assert curve.finding("accuracy").claim is rs.Claim.LOWER


def test_samples_in_doubt_make_estimates():
    net = rs.load([(np.array([[0.1, 0.3]]), np.zeros(1)), (np.ones((1, 1)), np.zeros(1))])
    training = rs.coefficients.matrix(net, [[1.0, 1.0], [-1.0, -1.0]])
    samples = rs.coefficients.matrix(net, [[3.0, -1.0]])
    outputs = rs.compression.compressed_outputs(rs.compression.cluster_maps(training, 2), samples)
    assert outputs.errors.max() > 0
