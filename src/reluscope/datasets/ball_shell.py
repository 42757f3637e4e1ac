"""A ball and the shell around it, one class each, in any dimension: points uniform in volume.

The volume within a radius r grows like r^n, so that the n-th power of a point's distance is uniform between
those of the two radii.
"""

from math import inf, sqrt

import numpy as np

from reluscope.arguments import Count, NonNegative, Positive, Seed, read_arguments
from reluscope.datasets.dataset import Dataset, dataset_of
from reluscope.errors import InputError


@read_arguments
def ball_shell(
    count: Count = 1000,
    dim: Count = 2,
    *,
    radius: Positive = 0.5,
    inner: NonNegative | None = None,
    outer: NonNegative | None = None,
    is_normalized: bool = False,
    seed: Seed = 0,
) -> Dataset:
    """Return points of a ball (class 0) and of the shell around it (class 1).

    Parameters
    ----------
    count : int
        Number of all points; the classes alternate.
    dim : int
        At least 2: on a line the shell consists of two separate intervals.
    radius : float
        Of the ball.
    inner, outer : float, optional
        Radii of the shell. By default the inner one is ``sqrt(dim)`` times ``radius``, so that a regular
        cross-polytope fits between (Sattelberg 2026, section 4.1.3). The outer one is ``2^(1/dim)`` times
        ``inner``, so that the shell has the volume of the ball within it. In the plane these are the radii of
        `circle_annulus`.
    is_normalized : bool
        Divide all coordinates and the radii by one number, the standard deviation of the coordinates.
    seed : int
        Of the positions.

    Returns
    -------
    Dataset
        Points ``(s, dim)``; classes 0 and 1. Notes give the radii and the divisor.

    Raises
    ------
    InputError
        If there is no point, the dimension is below 2, or the radii are not positive and ascending.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> data = rs.datasets.ball_shell(2000, 5, radius=1.0)
    >>> data.describe()
    'ball and shell: 2,000 samples of 5 numbers, with labels'
    >>> distances = np.linalg.norm(data.points, axis=1)
    >>> bool((distances[::2] <= 1).all() and (distances[1::2] >= np.sqrt(5)).all())
    True
    """
    if dim < 2:
        raise InputError(
            f"expected a dimension of at least 2, got {dim}: on a line the shell is two intervals, and two thresholds "
            "solve the problem"
        )
    inner = sqrt(dim) * radius if inner is None else inner
    outer = 2 ** (1 / dim) * inner if outer is None else outer
    check_radii(count, radius, inner, outer)
    rng = np.random.default_rng(seed)
    is_outside = np.arange(count) % 2 == 1
    # In parts of the outer radius, so that no power overflows.
    low, high = np.where(is_outside, inner, 0.0) / outer, np.where(is_outside, outer, radius) / outer
    distance = outer * rng.uniform(low**dim, high**dim) ** (1 / dim)
    direction = rng.normal(size=(count, dim))
    points = distance[:, None] * direction / np.linalg.norm(direction, axis=1, keepdims=True)
    notes = [f"radii {radius:g}, {inner:g} and {outer:g}"]
    if is_normalized:
        scale = float(points.std())
        points = points / scale
        notes.append(f"divided by the standard deviation, {scale:g}")
    data = dataset_of(points, is_outside.astype(np.int64), name="ball and shell")
    return Dataset(data.points, data.labels, data.targets, data.name, (*data.notes, *notes))


def check_radii(count: int, radius: float, inner: float, outer: float) -> None:
    """Raise InputError unless there is a point and the radii ascend."""
    if count < 1 or not 0 < radius <= inner < outer < inf:
        raise InputError(
            "expected at least one point, and 0 < radius <= inner < outer, all finite, got "
            f"{count} points and the radii {radius:g}, {inner:g} and {outer:g}"
        )
