"""By which factor a network changes volumes on each region, and the volume of what it makes of the region.

On a region the network is an affine map with weight A, of d columns. It takes a set of volume v to one of d-dimensional
volume ``v sqrt(det(A^T A))``: the product of the singular values of A, 0 where these are fewer than d or one is 0. The
sum over regions is the volume of the image counted with multiplicity (Humayun, Balestriero and Baraniuk, MaGNET, 2022).
"""

from math import log
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import torch
from jaxtyping import Float

from reluscope.codes.packing import unpack_pieces
from reluscope.findings import declare
from reluscope.findings.claims import AGREEMENT
from reluscope.geometry.numbers.resolutions import SUMS
from reluscope.interruption import safe_point
from reluscope.networks.evaluation.held_maps import held_maps
from reluscope.partitions.exact.exact_rows import ExactRows
from reluscope.partitions.region_numbers import PASS, PLANE, volume_ends
from reluscope.partitions.region_quantities import declare_region_quantity

if TYPE_CHECKING:
    from reluscope.partitions.partition_in_memory import Partition

LOG_FACTOR = declare(
    "log_volume_factor",
    "natural logarithm of sqrt(det(A^T A)) for the weight A of the affine map on the region, along the domain; -inf "
    "where A has dependent columns",
    source="humayun2022",
    least=-np.inf,
)
IMAGE_VOLUME = declare(
    "image_volume",
    "d-dimensional volume of the image of the region, d the dimension of the domain; 0 where the map loses rank",
    unit="output",
    source="humayun2022",
)
# Numbers of maps that are held together.
MAP_NUMBERS = 2**22


class LogFactors(NamedTuple):
    """Logarithms of factors of volumes between their ends."""

    value: Float[np.ndarray, " k"]
    lower: Float[np.ndarray, " k"]
    upper: Float[np.ndarray, " k"]


# Values and both ends of two quantities are asked for one after the other.
_LAST: "WeakKeyDictionary[Partition, tuple[tuple[int, int], LogFactors]]" = WeakKeyDictionary()


def log_factors(part: "Partition", rows: slice) -> LogFactors:
    """Return the logarithms of the factors of some regions; those asked for last are kept with the partition."""
    asked, found = _LAST.get(part, (None, None))
    if found is None or asked != (rows.start, rows.stop):
        found = _log_factors(part, rows)
        for column in found:
            column.flags.writeable = False
        _LAST[part] = (rows.start, rows.stop), found
    return found


def _log_factors(part: "Partition", rows: slice) -> LogFactors:
    """Return the logarithms of the factors of some regions.

    By Weyl's inequality no singular value moves by more than the Frobenius norm of the error. Where that leaves rank or
    factor open, the determinant is computed in fractions, as long as that is cheap.
    """
    network, chosen = part.network_on_domain, np.arange(len(part))[rows]
    if network.num_outputs < part.dim:
        return LogFactors(*np.full((3, len(chosen)), -np.inf))
    found = LogFactors(*np.empty((3, len(chosen))))
    step = max(1, MAP_NUMBERS // (network.num_outputs * part.dim))
    for start in range(0, len(chosen), step):
        safe_point()
        some = chosen[start : start + step]
        weight, _ = held_maps(network, part.codes[some])
        sizes = torch.linalg.svdvals(torch.as_tensor(weight)).numpy()
        at = network.at(part.witnesses[some], tolerance=part.tolerance)
        errors = np.linalg.norm(at.map_errors, axis=1) + SUMS * sizes[:, 0]
        # Maps that are 0 by their codes have no error; at another region's code errors are unknown.
        errors[sizes[:, 0] + np.linalg.norm(at.map_errors, axis=1) == 0] = 0.0
        errors[(at.codes.words != part.codes.words[some]).any(axis=1)] = np.inf
        with np.errstate(divide="ignore"):
            parts = sizes, np.maximum(sizes - errors[:, None], 0.0), sizes + errors[:, None]
            for column, table in zip(found, parts, strict=True):
                column[start : start + step] = np.log(table).sum(axis=1)
    # Singular values that may be 0 are taken for 0.
    found.value[np.isneginf(found.lower)] = -np.inf
    _in_fractions(part, chosen, found)
    return found


def _in_fractions(part: "Partition", chosen: np.ndarray, found: LogFactors) -> None:
    """Replace what is not known to the precision of EXACT by numbers from fractions, as long as that is cheap."""
    with np.errstate(invalid="ignore"):  # both ends may be infinite
        is_sure = (found.lower == found.upper) | (found.upper - found.lower <= AGREEMENT)
    doubtful = np.flatnonzero(~is_sure)
    if not len(doubtful):
        return
    layout = part.codes.layout
    exact = ExactRows(part.network_on_domain, part.window)
    for row, pieces in zip(doubtful.tolist(), unpack_pieces(part.codes.words[chosen[doubtful]], layout), strict=True):
        square = exact.squared_factor([pieces[layout.units(gate)] for gate in range(len(layout))])
        if square is None:
            return
        value = (log(square.numerator) - log(square.denominator)) / 2 if square else -np.inf
        # Logarithms of whole numbers are as long as these have digits.
        error = SUMS * (1 + square.numerator.bit_length() + square.denominator.bit_length()) if square else 0.0
        for column, end in zip(found, (value, value - error, value + error), strict=True):
            column[row] = end


def _log_ends(part: "Partition", rows: slice, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    del values
    _, low, high = log_factors(part, rows)
    return low, high


@declare_region_quantity(
    LOG_FACTOR,
    ends=_log_ends,
    needs=("network",),
    seconds=lambda part: 2 * PASS * len(part) * part.dim * max(1, len(part.codes.layout)),
    listed=False,
    scale=1.0,
)
def log_volume_factors(part: "Partition", rows: slice) -> Float[np.ndarray, " k"]:
    """Return the logarithms of the factors by which volumes change on some regions."""
    return log_factors(part, rows).value


def _times(volumes: np.ndarray, logs: np.ndarray) -> np.ndarray:
    """Return volumes times the exponentials of logarithms; 0 if one of them is 0, where the other may be infinite."""
    factors = np.exp(logs)
    return np.multiply(volumes, factors, out=np.zeros(len(volumes)), where=(factors > 0) & (volumes > 0))


def _image_ends(part: "Partition", rows: slice, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of volumes of images: of the volume and of the factor."""
    del values
    _, low, high = log_factors(part, rows)
    least, most = volume_ends(part, rows, part.volumes()[rows])
    with np.errstate(over="ignore"):
        below, above = _times(least, low), _times(most, high)
    return below * (1 - SUMS), above * (1 + SUMS)


@declare_region_quantity(
    IMAGE_VOLUME,
    ends=_image_ends,
    needs=("corners", "network"),
    seconds=lambda part: log_volume_factors.cost(part) + PLANE * len(part),
    listed=False,
    logarithmic=True,
)
def image_volumes(part: "Partition", rows: slice) -> Float[np.ndarray, " k"]:
    """Return the volumes of the images of some regions."""
    return _times(part.volumes()[rows], log_factors(part, rows).value)
