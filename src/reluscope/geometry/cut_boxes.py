"""How far boxes cut by half-spaces are from the origin, at least: many at once, in l1, l2 or linf.

The least ``|u|`` over ``lower <= u <= upper`` with ``form u >= level`` is the largest value of its dual, a concave
function of one multiplier. In l2 and linf the u that belongs to a multiplier moves along a path on which ``form u``
grows linearly between few places, in l1 the dual itself is linear between few: these are all tried.
"""

import numpy as np
from jaxtyping import Float

from reluscope.geometry.norms import Norm, size

# Distances are lowered by this share for the rounding of the sums behind them.
LOWERED = 1e-12


def distances_of_cut_boxes(
    lower: Float[np.ndarray, "*k n"],
    upper: Float[np.ndarray, "*k n"],
    forms: Float[np.ndarray, "*k n"],
    levels: Float[np.ndarray, "*k"],
    norm: Norm,
) -> Float[np.ndarray, "*k"]:
    """Return lower bounds of ``|u|`` over boxes with ``form u >= level``; infinite where nothing is there.

    Parameters
    ----------
    lower, upper : (*k, n) float64
        Finite.
    forms : (*k, n) float64
    levels : (*k,) float64
    norm : "l1", "l2" or "linf"

    Returns
    -------
    (*k,) float64
        The distances, but for rounding.

    Notes
    -----
    About 2 n evaluations of each form.

    Examples
    --------
    >>> ends, form = (np.array([[0.0, -1.0]]), np.array([[1.0, 1.0]])), np.array([[3.0, 4.0]])
    >>> found = [distances_of_cut_boxes(*ends, form, np.array([2.5]), norm) for norm in ("l1", "l2", "linf")]
    >>> [round(float(one[0]), 9) for one in found]
    [0.625, 0.5, 0.357142857]
    >>> distances_of_cut_boxes(*ends, form, np.array([7.5]), "l2")
    array([inf])
    """
    own = size(np.maximum(np.maximum(lower, -upper), 0.0), norm)
    most = np.where(forms > 0, forms * upper, forms * lower).sum(axis=-1)
    sums = (np.abs(forms) * np.maximum(np.abs(lower), np.abs(upper))).sum(axis=-1) + np.abs(levels)
    levels = levels - LOWERED * sums
    cut = _in_l1(lower, upper, forms, levels) if norm == "l1" else _on_path(lower, upper, forms, levels, norm)
    found = np.maximum(own, cut) * (1 - LOWERED)
    return np.where(most < levels, np.inf, found)


def _on_path(lower: np.ndarray, upper: np.ndarray, forms: np.ndarray, levels: np.ndarray, norm: Norm) -> np.ndarray:
    """Return the least length in l2 or linf, where the path of the nearest points reaches the level."""
    ways = forms if norm == "l2" else np.sign(forms)
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
    if norm == "linf":
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
