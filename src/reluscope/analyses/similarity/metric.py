"""Measures of similarity: functions of two networks on shared samples, with the changes under which they are invariant.

A metric declares its symmetry, its value for a network with itself, its range and its invariances; the conformance test
holds every registered metric against what it declares, in both directions.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from math import inf
from typing import Any

from reluscope.findings import Finding


class Source(StrEnum):
    """What a metric is computed from."""

    MOMENTS = "moments"  # of coefficients, output by output, or of features: a `Moments`
    ENTRIES = "entries"  # of all coefficients together: an `Entries`
    OUTPUTS = "outputs"  # a sequence of `RoundedForward`
    CODES = "codes"  # a `CodePartitions`: which samples share a code


class Invariance(StrEnum):
    """Changes of one of the two networks that leave a metric as it is.

    The first two leave the network the same function. The others change what is compared, coefficients or outputs, of
    the network that is mapped from, or of either where the metric is symmetric.
    """

    UNIT_PERMUTATION = "units of a layer in another order"
    UNIT_RESCALING = "positive factors moved from a unit's inputs to its outputs"
    SCALING = "all outputs times one positive number"
    TRANSLATION = "one constant added to all outputs"
    ORTHOGONAL = "an orthogonal map of the coefficients"
    LINEAR = "an invertible linear map of the coefficients"


@dataclass(frozen=True)
class Metric:
    """A measure of similarity of two networks on shared samples.

    Parameters
    ----------
    name : str
        Name by which results are selected.
    title : str
        Name in text.
    definition : str
        Definition that a reader can check.
    source : Source
        The data that are compared.
    measure : callable
        ``measure(source, first, second)`` with the positions of two networks; None where it is undefined.
    invariances : frozenset of Invariance
        All invariances of the measure.
    is_symmetric : bool
        Whether both orders give the same number.
    of_itself : float or None
        Value for a network with itself, None if it depends on the network.
    low, high : float
        Range.
    grows_with_likeness : bool
        Whether larger values mean more similar.
    publication : str
        Key of the source publication.

    Examples
    --------
    >>> from reluscope.analyses.similarity import METRICS
    >>> METRICS["cka"].is_symmetric, METRICS["cka"].of_itself, Invariance.LINEAR in METRICS["cka"].invariances
    (True, 1.0, False)
    """

    name: str
    title: str
    definition: str
    source: Source
    measure: Callable[[Any, int, int], Finding | None]
    invariances: frozenset[Invariance]
    is_symmetric: bool = True
    of_itself: float | None = 0.0
    low: float = 0.0
    high: float = inf
    grows_with_likeness: bool = False
    publication: str = ""
