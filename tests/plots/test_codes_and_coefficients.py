"""Pictures of codes and of local maps: every cell the right mean, every image the right weights, names and scales."""

import numpy as np
import pytest
import torch

import reluscope as rs
from reluscope import plots
from reluscope.errors import InputError, ShapeError
from reluscope.testing import default_network

RNG = np.random.default_rng(0)


def picture_of(figure):
    return figure.axes[0].images[0].get_array()


def blocks(picture):
    """Split a picture with gaps into its blocks of classes and gates."""
    known = ~np.ma.getmaskarray(picture)
    rows, columns = np.flatnonzero(known.any(axis=1)), np.flatnonzero(known.any(axis=0))
    high = np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1)
    wide = np.split(columns, np.flatnonzero(np.diff(columns) > 1) + 1)
    return [[np.asarray(picture[np.ix_(some, others)]) for others in wide] for some in high]


def names(labels):
    return [label.get_text() for label in labels]


@pytest.fixture(scope="module")
def codes():
    net = rs.load(default_network([4, 30, 20, 2], seed=0))
    return net.codes(np.tile(RNG.normal(size=(15, 4)), (3, 1)))


def test_cells_are_pieces_sorted_by_class_with_equal_codes_together(codes):
    labels = np.tile(RNG.integers(0, 3, 15), 3)
    figure = plots.codes(codes, labels=labels, class_names=["a", "b", "c"])
    axes = figure.axes[0]
    counts = np.bincount(labels)
    assert names(axes.get_yticklabels()) == [f"{name} ({n})" for name, n in zip("abc", counts, strict=True)]
    assert names(axes.get_xticklabels()) == ["relu 0 (30)", "relu 1 (20)"]
    assert axes.get_xlabel() == "a cell is one sample and one unit"
    assert [child.get_ylabel() for child in axes.child_axes] == ["share of active units"]
    pieces = codes.to_array()
    for index, band in enumerate(blocks(picture_of(figure))):
        assert len(band) == 2
        tall, wide = band[0].shape[0] // counts[index], band[0].shape[1] // 30
        shown = np.concatenate([gate[::tall, ::wide] for gate in band], axis=1)
        expected = pieces[labels == index]
        assert sorted(map(tuple, shown)) == sorted(map(tuple, expected))
        changes = (np.diff(shown, axis=0) != 0).any(axis=1).sum()
        assert changes == len(np.unique(expected, axis=0)) - 1


def test_many_samples_and_units_become_means():
    layout = rs.CodeLayout((rs.GateLayout("one", 1_500), rs.GateLayout("two", 7), rs.GateLayout("wide", 40, 5)))
    pieces = [RNG.integers(0, top, (2_000, size)) for top, size in ((2, 1_500), (2, 7), (5, 40))]
    pieces[0] = pieces[0] * (RNG.random(1_500) < 0.5)
    labels = np.repeat([0, 7], [1_900, 100])
    figure = plots.codes(rs.Codes.from_pieces(pieces, layout), labels=labels)
    axes = figure.axes[0]
    assert axes.get_xlabel() == "a cell is the mean over up to 5 samples and up to 3 units"
    assert names(axes.get_yticklabels()) == ["class 0 (1,900)", "class 7 (100)"]
    assert [child.get_ylabel() for child in axes.child_axes] == ["mean piece (0 first, 1 last)"]
    found = blocks(picture_of(figure))
    for band, one in zip(found, (0, 7), strict=True):
        for shown, pieces_of_gate, top in zip(band, pieces, (1, 1, 4), strict=True):
            # Blocks differ in size by one, so that means of means are close, not equal.
            expected = pieces_of_gate[labels == one].mean() / top
            assert shown.mean() == pytest.approx(expected, rel=0.02)
            assert 0 <= shown.min() <= shown.max() <= 1
    assert picture_of(figure).size < 500 * 800


def test_a_cell_is_the_mean_of_its_block():
    layout = rs.CodeLayout((rs.GateLayout("relu", 1_440),))
    pieces = RNG.integers(0, 2, (960, 1_440))
    pieces[:, 0] = 0
    figure = plots.codes(rs.Codes.from_pieces([pieces], layout))
    shown = np.asarray(picture_of(figure))
    assert shown.shape == (480, 720)
    # Whatever the order of the samples, columns of cells are means over pairs of units.
    assert shown.mean(axis=0) == pytest.approx(pieces.reshape(960, 720, 2).mean(axis=(0, 2)))
    assert set(np.unique(shown)) == {0.0, 0.25, 0.5, 0.75, 1.0}


def test_codes_without_labels_samples_or_gates(codes):
    figure = plots.codes(codes)
    assert figure.axes[0].get_ylabel() == "45 samples"
    assert names(figure.axes[0].get_yticklabels()) == []
    assert names(plots.codes(codes[:0]).axes[0].texts) == ["there are no codes"]
    affine = rs.load([(np.eye(2), np.zeros(2))])
    assert names(plots.codes(affine.codes(np.eye(2))).axes[0].texts) == ["the network has no gates"]
    with pytest.raises(ShapeError, match="one label per sample"):
        plots.codes(codes, labels=[0, 1])


def test_many_gates_with_long_names_are_named_at_an_angle():
    layout = rs.CodeLayout(tuple(rs.GateLayout(f"encoder.layers.{i}.mlp.activation", 5) for i in range(60)))
    codes = rs.Codes.from_pieces([RNG.integers(0, 2, (9, 5)) for _ in range(60)], layout)
    labels = plots.codes(codes).axes[0].get_xticklabels()
    assert len(labels) == 40
    assert all(label.get_rotation() == 40 and "…" in label.get_text() for label in labels)


def images(figure):
    return [axes.images[0] for axes in figure.axes if axes.images]


@pytest.mark.parametrize("shape", [(1, 4, 6), (4, 6)])
def test_images_of_weights_share_one_signed_scale(shape):
    net = rs.load(default_network([24, 9, 3], seed=0))
    maps = net.linearize(RNG.normal(size=(2, 24)))
    figure = plots.coefficients(maps, shape=shape, rows=["left", "right"])
    weight = maps.weight.numpy()
    found = images(figure)
    assert len(found) == 6
    for index, image in enumerate(found):
        assert np.array_equal(image.get_array(), weight[index // 3, index % 3].reshape(4, 6))
        assert (image.norm.vmin, image.norm.vmax) == (-np.abs(weight).max(), np.abs(weight).max())
    assert [axes.get_title() for axes in figure.axes[:3]] == ["output 0", "output 1", "output 2"]
    assert [figure.axes[index].get_ylabel() for index in (0, 3)] == ["left", "right"]
    assert figure.axes[-1].get_ylabel() == "coefficient"


def test_channels_are_a_norm_or_images_of_their_own():
    weight = RNG.normal(size=(2, 1, 3 * 4 * 5))
    cube = weight.reshape(2, 3, 4, 5)
    norms = plots.coefficients(weight, shape=(3, 4, 5))
    for image, expected in zip(images(norms), np.linalg.norm(cube, axis=1), strict=True):
        assert np.allclose(image.get_array(), expected)
        assert image.norm.vmin == 0
    assert norms.axes[-1].get_ylabel() == "norm over 3 channels"
    each = plots.coefficients(weight, shape=(3, 4, 5), channels="each")
    for image, expected in zip(images(each), cube.reshape(6, 4, 5), strict=True):
        assert np.array_equal(image.get_array(), expected)
    assert each.axes[4].get_ylabel() == "map 1\nchannel 1"


def test_bars_have_the_height_of_their_weight():
    weight = np.array([[0.5, -1.0, 0.0, 2.0]])
    figure = plots.coefficients(torch.tensor(weight), inputs=["a", "b", "c", "d"], columns=["speed"])
    axes = figure.axes[0]
    ends = np.concatenate([path for bars in axes.collections for path in bars.get_segments()])
    heights = dict(zip(ends[1::2, 0], ends[1::2, 1], strict=True))
    assert heights == {0.0: 0.5, 1.0: -1.0, 3.0: 2.0}
    assert names(axes.get_xticklabels()) == ["a", "b", "c", "d"]
    assert axes.get_title() == "speed"
    low, high = axes.get_ylim()
    assert low == -high


def test_a_limit_cuts_off_and_says_so():
    figure = plots.coefficients(np.array([3.0, -0.5]), limit=1.0)
    assert figure.get_suptitle() == "bars beyond 1 are cut off"
    image = plots.coefficients(np.array([3.0, -0.5, 0.0, 0.2]), shape=(2, 2), limit=1.0)
    assert images(image)[0].norm.vmax == 1.0
    with pytest.raises(InputError, match="above 0"):
        plots.coefficients(np.array([3.0]), limit=-1.0)


def test_nothing_and_zeros_are_drawn():
    assert names(plots.coefficients(np.zeros((0, 2, 3))).axes[0].texts) == ["there are no coefficients"]
    assert plots.to_png(plots.coefficients(np.zeros((1, 2, 4)), shape=(2, 2)))


def test_what_does_not_fit_is_refused():
    with pytest.raises(InputError, match="choose some"):
        plots.coefficients(np.zeros((13, 2, 4)))
    with pytest.raises(ShapeError, match="4 entries"):
        plots.coefficients(np.zeros((1, 2, 4)), shape=(2, 3))
    with pytest.raises(ShapeError, match="one per output"):
        plots.coefficients(np.zeros((1, 2, 4)), columns=["a"])
    with pytest.raises(ShapeError, match="must have shape"):
        plots.coefficients(np.zeros((1, 2, 4, 4)))
