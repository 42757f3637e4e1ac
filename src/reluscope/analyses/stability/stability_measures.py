"""Size, condition and rank of prefix Jacobians from their singular values, each between bounds."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from reluscope.analyses.samples.measuring import Measured, ragged
from reluscope.analyses.stability.layer_jacobians import NetworkLayer
from reluscope.arguments import Share, read_arguments
from reluscope.errors import InputError
from reluscope.findings import Column, Findings, Kind, declare

COUNTS = "singular values that count as nonzero, which are those above the share of the largest in the details"
LARGEST = declare(
    "largest_singular_value",
    "largest singular value of the Jacobian from the input to the layer, on the linear region of the point",
    source="behrmann2018",
)
SMALLEST = declare(
    "smallest_nonzero_singular_value",
    "smallest singular value that counts as nonzero, above the share of the largest in the details",
    source="behrmann2018",
)
CONDITION = declare(
    "condition_number",
    "largest singular value divided by the smallest that counts as nonzero, above the share of it in the details",
    source="behrmann2018",
    least=1.0,
)
NUM_NONZERO = declare("num_nonzero_singular_values", f"number of {COUNTS}", kind=Kind.COUNT, source="behrmann2018")
STABLE_RANK = declare(
    "stable_rank",
    "sum of the squares of the singular values divided by the square of the largest",
    source="behrmann2018",
)
EFFECTIVE_RANK = declare(
    "effective_rank", "exponential of the entropy of the singular values divided by their sum", source="roy2007"
)
MEASURES = (LARGEST, SMALLEST, CONDITION, NUM_NONZERO, STABLE_RANK, EFFECTIVE_RANK)
# Value, lower and upper ends at (s,) Jacobians.
Bounds = tuple[np.ndarray, np.ndarray, np.ndarray]


class Spectrum(NamedTuple):
    """Singular values of one Jacobian: all, descending, or the largest and the smallest nonzero one.

    The largest one exceeds ``likely_upper`` with a probability of 0.001 at most, where its upper end is infinite.
    """

    values: Float[np.ndarray, " k"]
    lower: Float[np.ndarray, " k"]
    upper: Float[np.ndarray, " k"]
    method: str
    is_complete: bool = True  # whether all of them are there
    likely_upper: float = np.nan


def measured(
    samples: Sequence[Sequence[Spectrum]], layers: Sequence[NetworkLayer], shares: Sequence[float], note: str = ""
) -> Measured:
    """Return size, condition and rank of all layers at some samples from their singular values.

    ``samples`` go by sample, then by layer; per layer ``shares`` has the share of the largest singular value above
    which one counts as nonzero. ``note`` is added to the method.
    """
    by_layer = []
    for spectra, share in zip(zip(*samples, strict=True), shares, strict=True):
        values, lower, upper = (np.stack([one[part] for one in spectra]) for part in range(3))
        by_layer.append(
            _of_all(values, lower, upper, share) if spectra[0].is_complete else _of_extremes(values, lower, upper)
        )
    rows = [one for sample in samples for one in sample]
    methods = " or ".join(dict.fromkeys(one.method for one in rows)) + note
    columns = [
        Column.of(
            quantity,
            *(np.stack([found[place][part] for found in by_layer], axis=1).reshape(-1) for part in range(3)),
            method=f"{methods}, float64",
        )
        for place, quantity in enumerate(MEASURES)
    ]
    number = len(samples)
    return Measured(
        tuple(columns),
        {
            "kind": np.array([layer.kind for layer in layers] * number),
            "size": np.array([layer.size for layer in layers] * number, dtype=np.int64),
            "nonzero": np.array(list(shares) * number),
            "method": np.array([one.method for one in rows]),
            "likely_upper": np.array([one.likely_upper for one in rows]),
            "singular_values": ragged([one.values if one.is_complete else np.zeros(0) for one in rows]),
            "errors": ragged(
                [
                    np.maximum(one.upper - one.values, one.values - one.lower) if one.is_complete else np.zeros(0)
                    for one in rows
                ]
            ),
        },
    )


@read_arguments
def curve(found: Findings, layer: str, quantile: Share = 0.5) -> Float[np.ndarray, " k"]:
    """Return a quantile over samples of the largest, the second largest, ... singular value of a layer.

    Parameters
    ----------
    found : Findings
        From `spectra`.
    layer : str
    quantile : float
        0.5 is the median.

    Returns
    -------
    (k,) float64
        Empty if only the extreme singular values are known.

    Raises
    ------
    InputError
        If the findings are not from `spectra`, or the layer does not exist.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.diag([3.0, 1.0]), np.ones(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> rs.stability.curve(rs.stability.spectra(net, [[1.0, 1.0]]), net.gates[0].name).round(9)
    array([3., 1.])
    """
    read_spectra(found)
    there = found.where(layer=layer)
    return np.quantile(np.stack(list(there.details["singular_values"][there.is_done])), quantile, axis=0)


def read_spectra(found: Findings) -> None:
    """Raise InputError unless these are findings of `spectra` or `extremes`."""
    if "singular_values" not in found.details:
        raise InputError(f"expected findings of rs.stability.spectra, got {found!r}: give those")


def _of_all(values: np.ndarray, lower: np.ndarray, upper: np.ndarray, share: float) -> list[Bounds]:
    found, fewest, most = (
        (table > share * largest[:, :1]).sum(axis=1)
        for table, largest in ((values, values), (lower, upper), (upper, lower))
    )
    # As computed, and the last and the first that the smallest nonzero one may be.
    smallest = _entries(values, found), _entries(lower, most), _entries(upper, fewest)
    largest = values[:, 0], lower[:, 0], upper[:, 0]
    counts = found.astype(float), fewest.astype(float), most.astype(float)
    return [
        largest,
        (smallest[0], smallest[1], np.where(fewest > 0, smallest[2], np.inf)),
        _condition(largest, smallest),
        counts,
        _stable_rank(values, lower, upper),
        _effective_rank(values, np.maximum(upper - values, values - lower)),
    ]


def _entries(table: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the value at the end of the nonzero ones of every row, NaN where there are none."""
    found = np.take_along_axis(table, np.maximum(counts - 1, 0)[:, None], axis=1)[:, 0]
    return np.where(counts > 0, found, np.nan)


def _condition(largest: Bounds, smallest: Bounds) -> Bounds:
    with np.errstate(divide="ignore", invalid="ignore"):
        value, low, high = largest[0] / smallest[0], largest[1] / smallest[2], largest[2] / smallest[1]
    low = np.where(np.isnan(value), np.nan, np.fmax(low, 1.0))
    return np.maximum(value, low), low, np.maximum(high, value)


def _stable_rank(values: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> Bounds:
    with np.errstate(divide="ignore", invalid="ignore"):
        found, low, high = (
            np.where(values[:, 0] > 0, np.sum((sizes / largest[:, :1]) ** 2, axis=1), 0.0)
            for sizes, largest in ((values, values), (lower, upper), (upper, lower))
        )
    return found, low, high


def _effective_rank(values: np.ndarray, errors: np.ndarray) -> Bounds:
    """Shares that differ by T in total variation have entropies that differ by ``T log(k) + h(T)`` at most."""
    total, error = values.sum(axis=1), errors.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = values / total[:, None]
        entropy = -np.sum(np.where(shares > 0, shares * np.log(shares), 0.0), axis=1)
        apart = np.where(total > error, error / (total - error), 0.5).clip(max=0.5)
        spread = np.where(apart > 0, -apart * np.log(apart) - (1 - apart) * np.log1p(-apart), 0.0)
    change = apart * np.log(values.shape[1]) + spread
    found, low, high = (np.where(total == 0, 0.0, np.exp(entropy + sign * change)) for sign in (0.0, -1.0, 1.0))
    return found, low, high


def _of_extremes(values: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> list[Bounds]:
    """Return bounds from the largest and the smallest nonzero value alone: the values are the ends that are proved."""
    unknown = np.full(len(values), np.nan)
    is_known = np.isfinite(upper[:, 0])
    largest = np.where(is_known, values[:, 0], lower[:, 0]), lower[:, 0], upper[:, 0]
    smallest = np.where(is_known, values[:, 1], upper[:, 1]), lower[:, 1], upper[:, 1]
    condition = _condition(largest, smallest)
    return [largest, smallest, condition, *((unknown, unknown, unknown),) * 3]
