"""Data are checked when they come in, with one sentence for each thing that can be wrong."""

import numpy as np
import pytest

from reluscope.datasets.dataset import dataset_of
from reluscope.errors import InputError, ShapeError


@pytest.mark.parametrize("dtype", ["int8", "uint8", "uint64", "bool", "float16", "float32", ">f4", "longdouble"])
def test_numbers_of_any_kind_become_float64_and_say_so(dtype):
    points = np.array([[0, 1], [1, 1]], dtype=dtype)
    data = dataset_of(points)
    assert data.points.dtype == np.float64
    assert (data.points == [[0, 1], [1, 1]]).all()
    assert len(data.notes) == 1
    assert "float64" in data.notes[0]
    assert not data.points.flags.writeable


def test_float64_needs_no_note():
    assert dataset_of(np.zeros((2, 2))).notes == ()


def test_one_column_may_come_flat():
    assert dataset_of([1.0, 2.0]).points.shape == (2, 1)


@pytest.mark.parametrize(
    ("points", "error", "words"),
    [
        (np.zeros((0, 3)), InputError, r"data holds no samples .* give at least one"),
        (np.array(["a"]), InputError, r"must hold real numbers, got an array of <U1"),
        (np.array([[1j]]), InputError, r"complex128"),
        ([[0.0, 1.0], [np.nan, 0.0]], InputError, r"1 of 2 samples .* sample 1 \(counted from 0\)"),
        ([[0.0, np.inf]], InputError, r"NaN or infinite"),
        (3.0, ShapeError, r"one row per sample, got a single number"),
    ],
)
def test_points_that_cannot_be_used(points, error, words):
    with pytest.raises(error, match=words):
        dataset_of(points)


@pytest.mark.parametrize(
    ("labels", "error", "words"),
    [
        ([0, 1], ShapeError, r"data has 3 samples, got 2 labels"),
        ([0, 1, np.nan], InputError, r"must be finite"),
        (["a", "b", "c"], InputError, r"got an array of <U1"),
        (np.zeros((3, 2, 2)), ShapeError, r"one row of real numbers, got an array of shape \(3, 2, 2\)"),
    ],
)
def test_labels_that_cannot_be_used(labels, error, words):
    with pytest.raises(error, match=words):
        dataset_of(np.zeros((3, 2)), labels)


@pytest.mark.parametrize("labels", [[0, 1, -1], [0, 1, 0.5], [[0, 1], [1, 1], [0, 0]], [[0.5, 1], [1, 0], [0, 1]]])
def test_labels_that_are_no_class_numbers_are_targets(labels):
    data = dataset_of(np.zeros((3, 2)), labels)
    assert data.labels is None
    assert data.targets is not None
    assert data.targets.tolist() == np.reshape(labels, (3, -1)).tolist()
    assert data.describe().endswith("with target values")
    assert data.limited(2).targets.tolist() == np.reshape(labels, (3, -1))[:2].tolist()


@pytest.mark.parametrize(
    "labels",
    [
        [0.0, 2.0, 1.0],
        np.array([[0], [2], [1]]),
        np.array([0, 2, 1], dtype=np.uint8),
        [[1, 0, 0], [0, 0, 1], [0, 1, 0]],
    ],
)
def test_labels_may_come_as_whole_floats_columns_or_one_hot_rows(labels):
    data = dataset_of(np.zeros((3, 2)), labels)
    assert data.labels is not None
    assert data.labels.dtype == np.int64
    assert data.labels.tolist() == [0, 2, 1]


@pytest.mark.parametrize(
    ("shape", "wanted"),
    [
        ((6,), (1, 2, 3)),
        ((1, 2, 3), (6,)),
        ((2, 3), (1, 2, 3)),
        ((2, 3, 1), (2, 3)),
        ((2, 3), (6, 1)),
        ((1, 6), (2, 3)),
    ],
)
def test_shapes_that_hold_the_same_rows_fit(shape, wanted):
    points = np.arange(12.0).reshape(2, *shape)
    data = dataset_of(points).reshaped(wanted)
    assert data.points.shape == (2, *wanted)
    assert (data.points.ravel() == np.arange(12)).all()


def test_axes_are_never_reordered():
    with pytest.raises(ShapeError, match=r"\(3, 4, 4\).*\(4, 4, 3\).*transpose"):
        dataset_of(np.zeros((2, 4, 4, 3))).reshaped((3, 4, 4))


def test_other_sizes_do_not_fit():
    with pytest.raises(ShapeError, match=r"\(784,\) \(784 numbers\).*\(780,\)"):
        dataset_of(np.zeros((2, 780))).reshaped((784,))


def test_a_limit_is_noted():
    data = dataset_of(np.arange(6.0).reshape(3, 2), [0, 1, 2]).limited(2)
    assert len(data) == 2
    assert data.labels is not None
    assert data.labels.tolist() == [0, 1]
    assert data.notes == ("only the first 2 of 3 samples were used",)
    assert data.limited(5) is data


def test_the_shape_before_is_remembered():
    data = dataset_of(np.zeros((2, 1, 3, 4)))
    assert data.reshaped((1, 3, 4)).shape_before is None
    assert data.reshaped((12,)).reshaped((12, 1)).shape_before == (1, 3, 4)
    assert data.reshaped((12,)).limited(1).shape_before == (1, 3, 4)
