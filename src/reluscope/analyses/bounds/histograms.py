"""Upper bounds that follow the dimension through a chain of ReLU layers.

A region on which only a units of a layer are active passes on at most a dimensions. A layer of m units that reads d
dimensions turns them into a histogram over the number of active units, whose cumulative counts from the top are
bounded; the state is a vector over dimensions, and the bound its sum at the end (Hinz and van de Geer 2019). With
Serra, Tjandraatmadja and Ramalingam's histogram, binomial coefficients, this is their Theorem 1; Hinz's are smaller.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate
from math import comb

from reluscope.analyses.bounds.architecture import Architecture, Source
from reluscope.analyses.bounds.arrangements import binomials
from reluscope.analyses.bounds.bound_findings import at_most, need
from reluscope.arguments import read_arguments
from reluscope.errors import InputError
from reluscope.findings import Finding

MAX_STEPS = 30_000_000

Histogram = Callable[[int, int], Sequence[int]]


@read_arguments
def serra_upper(source: Source) -> Finding:
    """Return the sum over (j_1, ..., j_L) of prod_l C(n_l, j_l).

    The sum runs over 0 <= j_l <= min(n_0, n_1 - j_1, ..., n_{l-1} - j_{l-1}, n_l).

    Parameters
    ----------
    source : Architecture, Network or sequence of int
        A chain of ReLU layers; see `Architecture.of`.

    Returns
    -------
    Finding
        UPPER; exact for one layer in general position, and for one input with layers of 3 or more units.

    Raises
    ------
    NotApplicableError
        If the network is not a chain of ReLU layers: a unit of two nonzero slopes passes dimensions on everywhere.

    Notes
    -----
    The computation takes about one step per unit, with integers of the bit length of the bound.

    Examples
    --------
    >>> print(serra_upper([2, 3, 3]), serra_upper([4, 4, 4, 4]))
    40 (UPPER) 1,634 (UPPER)
    """
    architecture = Architecture.of(source)
    return at_most(
        architecture,
        _followed_by_binomials(architecture),
        name="dimension through the layers",
        method="sum over numbers of inactive units; for chains of ReLU layers",
        source="serra2018",
    )


@read_arguments
def hinz_upper(source: Source, *, base: int = 2) -> Finding:
    """Return the bound from activation histograms whose base is the histograms of lines or planes.

    On a line every unit flips once, so the number of active units changes by one from piece to piece: not all
    pieces have nearly all units active. The recursion h_{d, m} = shift(h_{d, m - 1}) + h_{d - 1, m - 1} carries
    this to d dimensions.

    Parameters
    ----------
    source : Architecture, Network or sequence of int
        A chain of ReLU layers; see `Architecture.of`.
    base : {0, 1, 2}
        Dimension up to which the histograms are the true ones; 0 gives the bound of `serra_upper`.

    Returns
    -------
    Finding
        UPPER; never above `serra_upper`.

    Raises
    ------
    NotApplicableError
        If the network is not a chain of ReLU layers, or so large that the histograms take more than minutes.
    InputError
        If the base is another number.

    Examples
    --------
    >>> print(hinz_upper([4, 4, 4, 4], base=1), hinz_upper([4, 4, 4, 4]))
    1,598 (UPPER) 1,562 (UPPER)
    """
    if base not in (0, 1, 2):
        raise InputError(f"histograms are known for lines and planes, base 0, 1 or 2, got {base}: take 2")
    architecture = Architecture.of(source)
    steps = sum(
        min(layer.dimension, layer.width) * (layer.width - layer.dimension) ** 2 for layer in architecture.layers
    )
    need(steps <= MAX_STEPS, "layers of at most some hundred units more than inputs", architecture)
    histogram = _Recursion(base)
    return at_most(
        architecture,
        _followed(architecture, histogram),
        name=f"activation histograms, base {base}",
        method=f"histograms of active units from those in {base} dimensions; for chains of ReLU layers",
        source="hinz2021",
    )


def _followed(architecture: Architecture, histogram: Histogram) -> int:
    """Take the state, a count per dimension, through all layers, and sum it up."""
    need(architecture.is_relu, "a chain of ReLU layers", architecture)
    state = {architecture.num_inputs: 1}
    for width in architecture.widths:
        after: dict[int, int] = {}
        for dimension, count in state.items():
            for active, number in enumerate(histogram(min(dimension, width), width)):
                if number:
                    reached = min(dimension, active)
                    after[reached] = after.get(reached, 0) + count * number
        state = after
    return sum(state.values())


def _followed_by_binomials(architecture: Architecture) -> int:
    """Take the state through all layers with C(m, j) regions of m - j active units for j <= d, by sums over dimensions.

    Dimensions above a number of active units a all pass on a, and the numbers of active units from d on all pass on d.
    """
    need(architecture.is_relu, "a chain of ReLU layers", architecture)
    state = [0] * architecture.num_inputs + [1]
    for width in architecture.widths:
        most = len(state) - 1
        from_dimension = [*accumulate(reversed(state))][::-1]
        after = [0] * (min(most, width) + 1)
        ways = binomials(width, min(width, most))
        up_to = [*accumulate(ways)]
        for j, number in enumerate(ways):
            active = width - j
            least = max(active + 1, j)
            if least <= most:
                after[active] += number * from_dimension[least]
        for dimension in range(min(most, width) + 1):
            after[dimension] += state[dimension] * up_to[min(width - dimension, dimension)]
        state = after
    return sum(state)


@lru_cache(maxsize=16)
def _row(width: int) -> tuple[int, ...]:
    return tuple(comb(width, active) for active in range(width + 1))


class _Recursion:
    """Histograms h_{d, m} by Hinz's recursion, each computed once."""

    def __init__(self, base: int) -> None:
        self._bases = (_on_a_point, _on_a_line, _on_a_plane)[: base + 1]
        self._rows: dict[int, list[tuple[int, ...]]] = {}

    def __call__(self, dimension: int, width: int) -> tuple[int, ...]:
        if dimension >= width:
            return _row(width)
        if dimension < len(self._bases):
            return self._bases[dimension](width)
        # h_{d, d} is all binomials; from there m grows, and each step asks one dimension less.
        rows = self._rows.setdefault(dimension, [_row(dimension)])
        for number in range(dimension + len(rows), width + 1):
            shifted, lower = (0, *rows[-1]), (*self(dimension - 1, number - 1), 0)
            rows.append(tuple(left + right for left, right in zip(shifted, lower, strict=True)))
        return rows[width - dimension]


def _on_a_point(width: int) -> tuple[int, ...]:
    return (*[0] * width, 1)


def _on_a_line(width: int) -> tuple[int, ...]:
    half, odd = divmod(width, 2)
    return (*[0] * half, *[1] * odd, *[2] * half, 1)


def _on_a_plane(width: int) -> tuple[int, ...]:
    half, odd = divmod(width, 2)
    if odd:
        return (*[0] * half, *[width] * (half + 1), 1)
    return (*[0] * (half - 1), half, *[width] * half, 1)
