"""A disc and the ring around it, one class each, and the same with the classes exchanged in every other quadrant."""

from math import sqrt

import numpy as np

from reluscope.arguments import Count, NonNegative, Positive, Seed, read_arguments
from reluscope.datasets.ball_shell import check_radii
from reluscope.datasets.dataset import Dataset, dataset_of


@read_arguments
def circle_annulus(
    count: Count = 1000,
    *,
    radius: Positive = 0.5,
    inner: NonNegative | None = None,
    outer: NonNegative | None = None,
    seed: Seed = 0,
) -> Dataset:
    """Return points of a disc (class 0) and of the annulus around it (class 1).

    Parameters
    ----------
    count : int
        Number of all points; the classes alternate.
    radius : float
        Of the disc.
    inner, outer : float, optional
        Radii of the annulus, by default sqrt(2) and 2 times the radius of the disc (Sattelberg 2026, section
        4.2.1), so that the gap has the area of the disc, and the annulus twice that area.
    seed : int
        Of the positions, uniform on the disc and on the annulus.

    Returns
    -------
    Dataset
        Points ``(s, 2)``; classes 0 and 1.

    Raises
    ------
    InputError
        If there is no point, or the radii are not positive and ascending.

    Examples
    --------
    >>> import reluscope as rs
    >>> data = rs.datasets.circle_annulus(6)
    >>> data.describe(), data.labels.tolist()
    ('circle and annulus: 6 samples of 2 numbers, with labels', [0, 1, 0, 1, 0, 1])
    """
    points, is_outside = _points(count, radius, inner, outer, seed)
    return dataset_of(points, is_outside.astype(np.int64), name="circle and annulus")


@read_arguments
def xor_annulus(
    count: Count = 1000,
    *,
    radius: Positive = 0.5,
    inner: NonNegative | None = None,
    outer: NonNegative | None = None,
    seed: Seed = 0,
) -> Dataset:
    """Return points of a disc and of the annulus around it, with classes that swap across both axes.

    The class is the exclusive or of two conditions: the point lies in the annulus, and its coordinates differ in
    sign. This is one reading of "a combination of the center problem with the XOR problem" (Sattelberg 2026, Figure
    6.1), which gives no formula.

    Parameters
    ----------
    count : int
        Number of all points; disc and annulus alternate.
    radius, inner, outer, seed
        As for `circle_annulus`; the same seed gives the same points.

    Returns
    -------
    Dataset
        Points ``(s, 2)``; classes 0 and 1, which touch along the axes.

    Raises
    ------
    InputError
        If there is no point, or the radii are not positive and ascending.

    Examples
    --------
    >>> import reluscope as rs
    >>> data = rs.datasets.xor_annulus(4, seed=1)
    >>> (data.labels ^ (data.points.prod(axis=1) < 0)).tolist()
    [0, 1, 0, 1]
    """
    points, is_outside = _points(count, radius, inner, outer, seed)
    return dataset_of(points, (is_outside ^ (points.prod(axis=1) < 0)).astype(np.int64), name="XOR of circle, annulus")


def _points(
    count: int, radius: float, inner: float | None, outer: float | None, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return points, and which of them lie in the annulus."""
    inner = sqrt(2) * radius if inner is None else inner
    outer = sqrt(2) * inner if outer is None else outer
    check_radii(count, radius, inner, outer)
    rng = np.random.default_rng(seed)
    is_outside = np.arange(count) % 2 == 1
    low, high = np.where(is_outside, inner, 0.0), np.where(is_outside, outer, radius)
    # The area within a radius grows like its square.
    distance = np.sqrt(rng.uniform(low**2, high**2))
    angle = rng.uniform(0, 2 * np.pi, size=count)
    return distance[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]), is_outside
