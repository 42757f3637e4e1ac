"""The study of chapter 6 on images: its networks, its labels by Jacobians against a plain loop, its tables."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import reluscope as rs
from networks.models import layers
from reluscope.studies import Setting
from reluscope_studies.labelled import labelled_data
from reluscope_studies.sattelberg2026_ch6 import _protocol, mnist
from reluscope_studies.sattelberg2026_ch6._labelling import label_grid
from reluscope_studies.sattelberg2026_ch6._protocol import PLANS, Sliced, _missed
from reluscope_studies.sattelberg2026_images import BLOCK, SHAPE, nearest_triple, prepared
from reluscope_studies.sattelberg2026_networks import ACCURACIES, PRETRAINED, Model, models, training_of

pytestmark = pytest.mark.slow


def blobs(number, seed, shape=(1, 8, 8)):
    rng = np.random.default_rng(seed)
    labels = np.arange(number) % 3
    centers = np.random.default_rng(0).uniform(0.2, 0.8, size=(3, *shape))
    return rs.datasets.dataset_of(centers[labels] + rng.normal(0, 0.2, size=(number, *shape)), labels, name="blobs")


def test_the_dissertations_networks():
    sizes = {}
    for model in models(128, 32):
        value, sizes[model.name] = torch.zeros(1, 3, 32, 32), []
        for layer in model.build((3, 32, 32), 10, 0):
            value = layer(value)
            sizes[model.name] += [value.numel()] * isinstance(layer, torch.nn.ReLU)
        assert value.shape == (1, 10)
    assert len(sizes) == 14
    assert sizes["linear SGD"] == []
    assert sizes["dense 2 AdamW"] == [128]
    assert sizes["simple 1 SGD"] == [32 * 16 * 16, 32 * 8 * 8]  # the gate comes after the pooling
    assert sizes["complex 1 SGD"] == [32 * 32 * 32, 32 * 16 * 16, 32 * 8 * 8]
    one, other = (Model("dense", "SGD", number, 4, 1).build((1, 2, 2), 2, 0)[1].weight for number in (1, 2))
    assert not torch.equal(one, other)
    sgd, adamw = (training_of(model, PLANS["full"].epochs) for model in models(1, 1)[:2])
    assert (sgd.learning_rate, sgd.momentum, sgd.weight_decay, sgd.batch, sgd.epochs) == (0.01, 0.5, 0.01, 32, 15)
    assert (adamw.optimizer, adamw.learning_rate) == ("AdamW", 1e-3)


def test_the_printed_accuracies_are_those_of_the_table():
    rows = {*(model.row for model in models(1, 1)), *PRETRAINED}
    assert set(ACCURACIES["mnist"]) == set(ACCURACIES["cifar10"]) == rows
    assert ACCURACIES["mnist"]["dense 1"] == ("96.76", "97.43")
    assert ACCURACIES["cifar10"]["complex 2"] == ("62.50", "71.33")


def test_images_are_scaled_and_centred_by_channel():
    training, testing = labelled_data(Setting("small", blobs(30, 1), blobs(9, 2)))
    large, _ = prepared(training, testing, shape=SHAPE)
    assert large.shape == (3, 32, 32)
    pixels = large.points.reshape(-1, 3, 32, 32)
    assert pixels.mean(axis=(0, 2, 3)) == pytest.approx(np.zeros(3), abs=1e-9)
    assert pixels.std(axis=(0, 2, 3)) == pytest.approx(np.ones(3))
    assert np.array_equal(pixels[:, 0], pixels[:, 2])
    small, _ = prepared(training, testing, shape=None)
    assert small.shape == (1, 8, 8)


def test_the_nearest_triple_is_no_line_and_no_double():
    points = np.array([[0.0, 0.0], [9.0, 0.0], [9.0, 1.0], [8.0, 0.0], [9.0, 0.0]])
    assert sorted(nearest_triple(points[:4]).tolist()) == [1, 2, 3]
    assert len({tuple(points[row]) for row in nearest_triple(points)}) == 3


def test_the_nearest_triple_is_that_of_all_images():
    """Two blocks, the three nearest at the end, where a study that looks at the first images only misses them."""
    points = np.random.default_rng(5).normal(size=(BLOCK + 40, 6))
    points[-3:] = 9 + 0.01 * np.eye(6)[:3]
    assert sorted(nearest_triple(points).tolist()) == [BLOCK + 37, BLOCK + 38, BLOCK + 39]
    some = points[:60]
    distances = np.linalg.norm(some[:, None] - some[None], axis=2)
    sums = {
        (one, *near): distances[one, near[0]] + distances[one, near[1]] + distances[near[0], near[1]]
        for one, near in enumerate(np.argsort(distances, axis=1)[:, 1:3].tolist())
    }
    assert tuple(nearest_triple(some).tolist()) == min(sums, key=sums.get)


def plain_labels(jacobians, tolerance):
    """Label a grid of Jacobians (p, p, k) as the dissertation says it, one point after another."""
    size = len(jacobians)
    labels, count = np.full((size, size), -1), 0
    for row in range(size):
        for column in range(size):
            own = jacobians[row, column]
            scale = np.linalg.norm(own) or 1.0
            near = []
            if row:
                near = [
                    (np.linalg.norm(own - jacobians[row - 1, other]) / scale, labels[row - 1, other])
                    for other in range(max(0, column - 1), size)
                ]
            if column and np.linalg.norm(own - jacobians[row, column - 1]) / scale <= tolerance:
                labels[row, column] = labels[row, column - 1]
            elif near and min(near)[0] <= tolerance:
                labels[row, column] = min(near, key=lambda one: one[0])[1]
            else:
                labels[row, column], count = count, count + 1
    return labels


@pytest.mark.parametrize("tolerance", [1e-9, 0.2])
def test_labels_are_those_of_a_plain_loop(tolerance):
    net = rs.load(layers([4, 7, 5, 2]))
    plane = rs.Plane(*np.random.default_rng(3).normal(size=(3, 4)), margin=0.5)
    (found,) = label_grid(net, plane, 12, [tolerance])
    low, high = plane.window.lo, plane.window.hi
    shares = (np.arange(12) + 0.5) / 12
    grid = [[(low[0] + x * (high[0] - low[0]), high[1] - y * (high[1] - low[1])) for x in shares] for y in shares]
    points = plane.lift(np.array(grid).reshape(-1, 2))
    jacobians = net.linearize(points).weight.numpy().reshape(12, 12, -1)
    assert np.array_equal(found.labels, plain_labels(jacobians, tolerance))
    codes = net.codes(points).to_array()
    assert found.num_codes == len(np.unique(codes, axis=0))
    _, first = np.unique(found.labels, return_index=True)
    assert found.num_found == len(np.unique(codes[first], axis=0))
    assert found.num_found <= found.num_codes <= int(rs.count(net, plane))


def test_what_is_missed_of_an_unknown_number_is_not_said():
    net = rs.load(layers([4, 7, 5, 2]))
    plane = rs.Plane(*np.random.default_rng(3).normal(size=(3, 4)), margin=0.5)
    model = models(1, 1)[0]
    whole, part = rs.partition(net, plane), rs.partition(net, plane, budget=rs.Budget(regions=3))
    sliced = [Sliced(model, one, label_grid(net, plane, 4, [1e-9])) for one in (whole, part)]
    known, unknown = _missed(sliced).rows
    assert known[1].endswith("EXACT")
    assert int(known[6]) == len(whole) - sliced[0].grids[0].num_found
    assert (unknown[1].split()[1], unknown[6]) == ("LOWER", "-")


def test_regions_with_one_map_are_not_told_apart():
    # The second unit reads the first one's zero or a multiple of it: its kink changes no map where weights cancel.
    net = rs.load([(np.array([[1.0, 0.0], [0.0, 1.0]]), np.zeros(2)), (np.array([[1.0, 0.0]]), np.zeros(1))])
    plane = rs.Slice(np.zeros(2), np.eye(2), rs.Box(-1, 1, 2))
    (found,) = label_grid(net, plane, 8, [1e-6])
    assert (found.num_labels, found.num_found, found.num_codes) == (2, 2, 4)


def test_the_study_reports_what_it_asked(monkeypatch):
    monkeypatch.setitem(PLANS, "small", replace(PLANS["small"], epochs=1, hidden=5, filters=2, grid=8))
    monkeypatch.setattr(_protocol, "models", lambda *sizes: models(*sizes)[6:8])
    setting = Setting("small", blobs(48, 1), blobs(18, 2), points=40)
    found = mnist.protocol(setting)
    assert list(setting.records) == ["simple 1 SGD", "simple 1 AdamW"]
    assert [picture.name for picture in found.pictures] == [
        f"mnist-{name}"
        for name in ("accuracies", "examples", "images", "simple", "coefficients", "directions", "along", "eigenvalues")
    ]
    names = [finding.name for finding in found.findings]
    assert names.count("accuracy") == 2
    assert names.count("regions") == 2
    assert [name for name in names if name.startswith("share of the first direction")] == [
        f"share of the first direction, {name}" for name in setting.records
    ]
    assert all(int(row[6].replace(",", "")) >= 0 for row in found.tables[1].rows)
    # Of 48 and 18 images 40 are trained on and 8 asked about: the squares of the logits' at each, by autograd.
    assert "over 8 test images" in found.tables[2].caption
    assert "(40 images of" in found.sentences[0]
    given = labelled_data(setting)
    draws = [np.sort(np.random.default_rng(0).choice(*sizes, replace=False)) for sizes in ((48, 40), (18, 8))]
    few = (replace(one, points=one.points[r], labels=one.labels[r]) for one, r in zip(given, draws, strict=True))
    training, testing = prepared(*few, shape=None)
    model = models(5, 2)[6].build(training.shape, 3, 0).double()
    kept = setting.records["simple 1 SGD"].arrays
    model.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in kept.items()})
    images = torch.tensor(testing.points).reshape(-1, *testing.shape)
    norms = [torch.autograd.functional.jacobian(model, image[None]).norm().item() for image in images]
    assert float(found.tables[2].rows[0][6]) == pytest.approx(np.mean(norms), rel=1e-2)
