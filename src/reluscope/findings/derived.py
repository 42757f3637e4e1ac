"""What follows from the ends of many cells: medians, quantiles, means, sums and shares of columns, with their ends.

A cell is a value between two ends that hold for certain. Medians, quantiles and means grow with every entry, so that
those of the lower ends and of the upper ends hold the truth between them. Where rows were drawn at random from a larger
population, the ends say nothing of the rows that were not drawn: order statistics, or bets at fair odds, give an
interval that holds the truth with a stated probability, whatever the distribution, and the claim is ESTIMATE.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

CONFIDENCE = 0.95
# Stakes of the bets that a mean is larger than a number, as shares of all that a player has.
STAKES = np.array([0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0])


class Ends(NamedTuple):
    """A value and its ends; ``is_certain`` where the truth lies between them for certain."""

    value: float
    lower: float
    upper: float
    is_certain: bool = True


def at_an_end(cell: Ends, tolerance: float) -> Ends:
    """Return a cell whose value is moved to an end within the tolerance, so that it claims a bound."""
    if max(cell.upper - cell.value, cell.value - cell.lower) <= tolerance:
        return cell
    if cell.value - cell.lower <= tolerance:
        return cell._replace(value=cell.lower)
    return cell._replace(value=cell.upper) if cell.upper - cell.value <= tolerance else cell


def quantile(
    values: Float[np.ndarray, " k"],
    lower: Float[np.ndarray, " k"],
    upper: Float[np.ndarray, " k"],
    share: float,
    population: int,
) -> Ends:
    """Return a quantile of a population with k known entries, drawn at random if there are more.

    From k drawn entries it lies between the l-th and the u-th smallest with probability ``P(l <= B < u)``, B binomial
    with k draws and probability ``share``, whatever the distribution.
    """
    value = _quantile(values, share)
    if len(values) == population:
        return Ends(value, _quantile(lower, share), _quantile(upper, share))
    # Here and below: only samples of a population need it. All of scipy.stats takes most of a second to import.
    from scipy.special import bdtr

    number = len(values)
    # The largest l with P(B < l) at most 2.5 %, and the same on the other side.
    counts, tail = np.arange(number), (1 - CONFIDENCE) / 2
    below, beyond = (int(np.searchsorted(bdtr(counts, number, one), tail)) for one in (share, 1 - share))
    above = number - beyond
    first = float(np.sort(lower)[below - 1]) if below >= 1 else -np.inf
    last = float(np.sort(upper)[above]) if above < number else np.inf
    return Ends(value, min(first, value), max(last, value), is_certain=False)


def mean(
    values: Float[np.ndarray, " k"],
    lower: Float[np.ndarray, " k"],
    upper: Float[np.ndarray, " k"],
    population: int,
    least: float = -np.inf,
    most: float = np.inf,
) -> Ends:
    """Return the mean of a population with k known entries, drawn at random if there are more.

    From drawn entries there is a lower end only where no entry can be below `least`, and an upper one only where none
    can be above `most`: see `lowest_mean`.
    """
    value, low, high = (float(np.mean(part)) for part in (values, lower, upper))
    if len(values) == population:
        return Ends(value, low, high)
    tail = (1 - CONFIDENCE) / 2
    low = least + lowest_mean(lower - least, tail) if np.isfinite(least) else -np.inf
    high = most - lowest_mean(most - upper, tail) if np.isfinite(most) else np.inf
    return Ends(value, min(low, value), max(high, value), is_certain=False)


def lowest_mean(values: Float[np.ndarray, " k"], tail: float) -> float:
    """Return a lower end of the mean of a population of numbers from 0 on, from k drawn ones.

    It is wrong with probability `tail` at most, whatever the distribution, by betting (Ville 1939; Waudby-Smith and
    Ramdas 2024), and also for one draw from each of several strata of equal weight.
    """
    top = float(values.mean())
    if not 0 < top < np.inf:
        return 0.0
    low, high = tail * top, top
    for _ in range(50):
        middle = (low + high) / 2
        with np.errstate(divide="ignore"):
            capital = np.log1p(STAKES[:, None] * (values / middle - 1)).sum(axis=1)
        worst = capital.max()
        won = worst + np.log(np.exp(capital - worst).mean()) >= -np.log(tail)
        low, high = (middle, high) if won else (low, middle)
    return low


def total(
    values: Float[np.ndarray, " k"], lower: Float[np.ndarray, " k"], upper: Float[np.ndarray, " k"], population: int
) -> Ends:
    """Return the sum of entries that are all known; ``population`` is their number."""
    if len(values) != population:
        raise ValueError("a sum over a population is no sum over some of it")
    value, low, high = (float(np.sum(part)) for part in (values, lower, upper))
    return Ends(value, low, high)


def share(
    values: Float[np.ndarray, " k"], lower: Float[np.ndarray, " k"], upper: Float[np.ndarray, " k"], population: int
) -> Ends:
    """Return the share of a population that answers yes, from k known answers, 1 for yes and 0 for no.

    From drawn answers the interval is that of Clopper and Pearson.
    """
    number = len(values)
    value, low, high = (float(np.mean(part)) for part in (values, lower, upper))
    if number == population:
        return Ends(value, low, high)
    from scipy.special import betaincinv

    yes, most = float(np.sum(lower)), float(np.sum(upper))
    tail = (1 - CONFIDENCE) / 2
    first = float(betaincinv(yes, number - yes + 1, tail)) if yes else 0.0
    last = float(betaincinv(most + 1, number - most, 1 - tail)) if most < number else 1.0
    return Ends(value, first, last, is_certain=False)


def _quantile(values: np.ndarray, share: float) -> float:
    # The mean of two infinite neighbours is infinite: numpy's interpolation would make it NaN.
    ordered = np.sort(values)
    place = share * (len(ordered) - 1)
    low, high = ordered[int(np.floor(place))], ordered[int(np.ceil(place))]
    return float(low if low == high or low == -np.inf else low + (place - np.floor(place)) * (high - low))
