"""Boxes cut by half-spaces: how far they are from the origin, at least, and what is near it, in l1, l2 or linf.

The least ``|u|`` over ``lower <= u <= upper`` with ``form u >= level`` is the largest value of its dual, a concave
function of one multiplier. In l2 and linf the u that belongs to a multiplier moves along a path on which ``form u``
grows linearly between few places, in l1 the dual itself is linear between few: these are all tried.

What is near is enclosed in a box again: sides end where the half-space does not meet the rest of the box, where the
ball does not, and in l2 where the cap does not that the half-space cuts off the ball. The kernel that halves boxes with
few open units (`native/kernels/box_trees.cpp`) cuts its own in its inner loop, without caps. Here it is for boxes that
the kernel does not see: there it spares up to four of five boxes in l1, and nothing on ACAS Xu, whose boxes are its.
"""

import numpy as np
from jaxtyping import Float

from reluscope.geometry.numbers.norms import Norm
from reluscope.geometry.numbers.resolutions import SUMS

# Boxes around what is near are wider by this share of what they are computed from.
WIDER = 1e-11


def distances_of_cut_boxes(
    lower: Float[np.ndarray, "*k n"],
    upper: Float[np.ndarray, "*k n"],
    forms: Float[np.ndarray, "*k n"],
    levels: Float[np.ndarray, "*k"],
    norm: Norm,
) -> Float[np.ndarray, "*k"]:
    """Return lower bounds of ``|u|`` over boxes cut by ``form u >= level``; infinite for empty ones.

    They are the distances, but for rounding. Boxes have to be finite. About 2 n evaluations of each form.
    """
    own = norm.size(np.maximum(np.maximum(lower, -upper), 0.0))
    most = np.where(forms > 0, forms * upper, forms * lower).sum(axis=-1)
    sums = (np.abs(forms) * np.maximum(np.abs(lower), np.abs(upper))).sum(axis=-1) + np.abs(levels)
    levels = levels - SUMS * sums
    cut = _in_l1(lower, upper, forms, levels) if norm.order == 1 else _on_path(lower, upper, forms, levels, norm)
    found = np.maximum(own, cut) * (1 - SUMS)
    return np.where(most < levels, np.inf, found)


def near_in_cut_boxes(
    lower: Float[np.ndarray, "*k n"],
    upper: Float[np.ndarray, "*k n"],
    forms: Float[np.ndarray, "*k n"],
    levels: Float[np.ndarray, "*k"],
    radius: float,
    norm: Norm,
) -> tuple[Float[np.ndarray, "*k n"], Float[np.ndarray, "*k n"]]:
    """Return ends of boxes around all u in a box with ``form u >= level`` and ``|u| <= radius``.

    Not the smallest boxes. A lower end is above the upper one only where there is no such u. Boxes given have to be
    finite; the radius may be infinite, and a NaN level cuts nothing off.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        low, high = _cut_by_form(lower, upper, forms, levels)
        if np.isfinite(radius):
            inner = np.maximum(np.maximum(low, -high), 0.0) * (1 - WIDER)
            most = norm.room(inner, radius, WIDER) + WIDER * radius
            low, high = np.maximum(low, -most), np.minimum(high, most)
            if norm.order == 2:
                low = np.maximum(low, -_cap(-forms, forms, levels, radius))
                high = np.minimum(high, _cap(forms, forms, levels, radius))
    return low, high


def _cut_by_form(lower: np.ndarray, upper: np.ndarray, forms: np.ndarray, levels: np.ndarray) -> tuple:
    """Return boxes around what is in the half-space: an axis goes as far as all others allow it."""
    farthest = np.where(forms > 0, upper, lower)
    spare = (forms * farthest).sum(axis=-1) - levels
    sizes = (np.abs(forms) * np.maximum(np.abs(lower), np.abs(upper))).sum(axis=-1) + np.abs(levels)
    width = (spare + WIDER * sizes)[..., None] / np.abs(forms)
    width = width + WIDER * (np.abs(width) + np.abs(farthest))
    low = np.where((forms > 0) & np.isfinite(width), np.maximum(lower, upper - width), lower)
    return low, np.where((forms < 0) & np.isfinite(width), np.minimum(upper, lower + width), upper)


def _cap(ways: np.ndarray, forms: np.ndarray, levels: np.ndarray, radius: float) -> np.ndarray:
    """Return the largest coordinates, or of negatives, where ``form u >= level`` and ``|u| <= radius`` in l2.

    The ways are the forms, or their negatives.
    """
    lengths = np.linalg.norm(forms, axis=-1, keepdims=True)
    along, height = ways / lengths, levels[..., None] / lengths - WIDER * radius
    across = np.sqrt(np.maximum(1.0 - along**2, 0.0) + WIDER)
    rest = np.sqrt(np.maximum(radius**2 * (1 + WIDER) - height**2, 0.0))
    most = np.where(radius * along >= height, radius, along * height + across * rest)
    return np.where(np.isfinite(most), most + WIDER * radius, radius * (1 + WIDER))


def _on_path(lower: np.ndarray, upper: np.ndarray, forms: np.ndarray, levels: np.ndarray, norm: Norm) -> np.ndarray:
    """Return the least length in l2 or linf, where the path of the nearest points reaches the level."""
    ways = forms if norm.order == 2 else np.sign(forms)
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = np.concatenate([lower / ways, upper / ways], axis=-1)
    ends = np.sort(np.where(np.isfinite(ends), np.maximum(ends, 0.0), 0.0), axis=-1)
    ends = np.concatenate([np.zeros_like(ends[..., :1]), ends], axis=-1)
    points = np.clip(ends[..., None] * ways[..., None, :], lower[..., None, :], upper[..., None, :])
    gains = (points * forms[..., None, :]).sum(axis=-1)
    after = np.argmax(gains >= levels[..., None], axis=-1)
    before = np.maximum(after - 1, 0)
    start, end, low, high = (
        np.take_along_axis(table, place[..., None], axis=-1)[..., 0]
        for table, place in ((ends, before), (ends, after), (gains, before), (gains, after))
    )
    gap = high - low
    share = np.divide(levels - low, gap, out=np.zeros_like(gap), where=gap > 0)
    place = start + np.clip(share, 0.0, 1.0) * (end - start)
    if norm.order == np.inf:
        return place
    point = np.clip(place[..., None] * ways, lower, upper)
    missing = levels - (point * forms).sum(axis=-1)
    return np.sqrt(np.maximum((point**2).sum(axis=-1) + 2 * place * missing, 0.0))


def _in_l1(lower: np.ndarray, upper: np.ndarray, forms: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Return the largest of the dual's values at its kinks."""
    with np.errstate(divide="ignore"):
        kinks = 1 / np.abs(forms)
    kinks = np.where(np.isfinite(kinks), kinks, 0.0)
    pulls = kinks[..., None] * forms[..., None, :]
    places = [one[..., None, :] for one in (lower, upper, np.clip(0.0, lower, upper))]
    least = np.minimum.reduce([np.abs(place) - pulls * place for place in places])
    return np.maximum((least.sum(axis=-1) + kinks * levels[..., None]).max(axis=-1), 0.0)
