"""A dataset: points, perhaps with labels, checked once when they come in.

Whatever the source, points are finite float64. Labels are class numbers, one per point, or the values that a network is
to reproduce: whole numbers may be either, and whoever asks decides.
"""

from dataclasses import dataclass, replace
from math import prod

import numpy as np
from jaxtyping import Float, Int

from reluscope.arguments import Count, read_arguments
from reluscope.errors import InputError, ShapeError
from reluscope.shown import Shown


@dataclass(frozen=True, eq=False, repr=False)
class Dataset(Shown):
    """Points, perhaps with labels, at which networks are evaluated.

    Parameters
    ----------
    points : (s, *shape) float64
    labels : (s,) int64, optional
        The true class of every point, if the given labels may be class numbers.
    targets : (s, t) float64, optional
        The given labels, as numbers.
    name : str
        Name for readers.
    notes : tuple of str
        Changes during import: conversions, parts that were left out.
    shape_before : tuple of int, optional
        The original shape of the points, if they were reshaped: flat rows may be images.

    Examples
    --------
    >>> import reluscope as rs
    >>> data = rs.datasets.dataset_of([[1, 2], [3, 4], [5, 6]], labels=[0, 1, 0], name="three points")
    >>> len(data), data.points.dtype, data.notes
    (3, dtype('float64'), ('converted from int64 to float64, not rescaled',))
    """

    points: Float[np.ndarray, "s ..."]
    labels: Int[np.ndarray, " s"] | None = None
    targets: Float[np.ndarray, "s t"] | None = None
    name: str = "data"
    notes: tuple[str, ...] = ()
    shape_before: tuple[int, ...] | None = None

    def __len__(self) -> int:
        return len(self.points)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one point."""
        return self.points.shape[1:]

    def describe(self) -> str:
        """Return one short phrase: name, number and shape of points."""
        form = " x ".join(map(str, self.shape)) or "1"
        known = "with labels" if self.has_labels else "with target values" if self.has_targets else "without labels"
        return f"{self.name}: {len(self):,} samples of {form} numbers, {known}"

    @property
    def has_labels(self) -> bool:
        """Whether the true classes are known."""
        return self.labels is not None

    @property
    def has_targets(self) -> bool:
        """Whether the true outputs are known; class numbers may stand for them."""
        return self.targets is not None

    @read_arguments
    def reshaped(self, input_shape: tuple[Count, ...]) -> "Dataset":
        """Return the same points in the shape that a network expects.

        Parameters
        ----------
        input_shape : tuple of int
            Flat rows take any shape of that size; axes of length 1 may be added or removed; axes are never reordered.

        Raises
        ------
        ShapeError
            If the sizes differ, or axes would have to be reordered.
        """
        wanted, given = _shape(input_shape), _shape(self.shape)
        if prod(input_shape) != prod(self.shape):
            raise ShapeError(
                f"the network takes inputs of shape {wanted} ({prod(input_shape):,} numbers), but each sample of "
                f"{self.name} has shape {given} ({prod(self.shape):,} numbers): give data that fits, or --input-shape"
            )
        axes, wanted_axes = ([size for size in shape if size > 1] for shape in (self.shape, input_shape))
        if axes != wanted_axes and min(len(axes), len(wanted_axes)) > 1:
            raise ShapeError(
                f"the network takes inputs of shape {wanted}, but each sample of {self.name} has shape {given}, with "
                "its axes in another order: transpose the data first (for instance numpy.moveaxis(x, -1, 1))"
            )
        before = self.shape_before or (None if self.shape == input_shape else self.shape)
        return replace(self, points=self.points.reshape(len(self), *input_shape), shape_before=before)

    @read_arguments
    def limited(self, most: Count) -> "Dataset":
        """Return the first samples only, with a note that says so."""
        if len(self) <= most:
            return self
        labels = None if self.labels is None else self.labels[:most]
        targets = None if self.targets is None else self.targets[:most]
        note = f"only the first {most:,} of {len(self):,} samples were used"
        return replace(self, points=self.points[:most], labels=labels, targets=targets, notes=(*self.notes, note))


@read_arguments
def dataset_of(
    points: object,
    labels: object = None,
    *,
    name: str = "data",
    notes: tuple[str, ...] = (),
    labels_name: str = "labels",
) -> Dataset:
    """Return a dataset from arrays, after validation.

    Parameters
    ----------
    points : array
        Numbers, one row per sample.
    labels : array, optional
        Class numbers from 0, one per sample, or real numbers as targets of the outputs; ``(s, 1)`` is ``(s,)``.
    name, labels_name : str
        Names in error messages.
    notes : tuple of str
        Placed before the notes added here.

    Raises
    ------
    InputError
        If there are no samples, or entries are NaN, infinite or not numbers.
    ShapeError
        If labels and points differ in number.
    """
    array, converted = _as_points(points, name)
    targets = None if labels is None else _as_targets(labels, labels_name, array, name)
    classes = None if targets is None else _as_classes(targets)
    return Dataset(array, classes, targets, name, (*notes, *converted))


def _as_points(points: object, name: str) -> tuple[np.ndarray, tuple[str, ...]]:
    try:
        array = np.asarray(points)
    except ValueError:
        raise ShapeError(f"{name} must be points of one shape, got rows that do not fit together") from None
    if array.dtype.kind not in "biuf":
        raise InputError(f"{name} must hold real numbers, got an array of {array.dtype}: convert it to float64 first")
    if array.size == 0:
        raise InputError(f"{name} holds no samples (an array of shape {array.shape}): give at least one")
    if array.ndim == 0:
        raise ShapeError(f"{name} must be an array with one row per sample, got a single number")
    if array.ndim == 1:
        array = array[:, None]
    notes = () if array.dtype == np.float64 else (_conversion(array.dtype),)
    array = np.ascontiguousarray(array, dtype=np.float64)
    finite = np.isfinite(array).reshape(len(array), -1).all(axis=1)
    if not finite.all():
        raise InputError(
            f"{name} must be finite, but {int((~finite).sum()):,} of {len(array):,} samples hold NaN or infinite "
            f"entries, the first of them sample {int(np.argmin(finite))} (counted from 0): remove or repair them"
        )
    array.setflags(write=False)
    return array, notes


def _conversion(dtype: np.dtype) -> str:
    rescaled = ", not rescaled" if dtype.kind in "iu" else ""
    return f"converted from {dtype} to float64{rescaled}"


def _as_targets(labels: object, labels_name: str, points: np.ndarray, name: str) -> np.ndarray:
    try:
        array = np.asarray(labels)
    except ValueError:
        raise ShapeError(f"{labels_name} must be one per sample, got rows that do not fit together") from None
    given = array.shape
    if array.dtype.kind not in "biuf":
        raise InputError(
            f"{labels_name} must be class numbers 0, 1, 2, ..., or real numbers, got an array of {array.dtype}: map "
            "classes to whole numbers, or leave labels out"
        )
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise ShapeError(
            f"{labels_name} must be one class number per sample, or one row of real numbers, got an array of shape "
            f"{given}: reshape it first"
        )
    if len(array) != len(points):
        raise ShapeError(
            f"{labels_name} must have one entry per sample: {name} has {len(points):,} samples, got {len(array):,} "
            "labels"
        )
    array = array.astype(np.float64)
    if not np.isfinite(array).all():
        raise InputError(f"{labels_name} must be finite, but hold NaN or infinite entries: remove or repair them")
    array.setflags(write=False)
    return array


def _as_classes(targets: np.ndarray) -> np.ndarray | None:
    """Return class numbers, also of rows with a single one among zeros, or None if these can be none."""
    if targets.shape[1] > 1:
        if not (np.isin(targets, (0.0, 1.0)).all() and (targets.sum(axis=1) == 1).all()):
            return None
        classes = targets.argmax(axis=1)
    elif (targets != np.round(targets)).any() or (targets < 0).any():
        return None
    else:
        classes = targets[:, 0].astype(np.int64)
    classes.setflags(write=False)
    return classes


def _shape(shape: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, shape))}{',' * (len(shape) == 1)})"
