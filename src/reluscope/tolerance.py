"""How finely a domain is resolved, as one frozen value that is passed along and stored in results."""

from dataclasses import dataclass

from reluscope.arguments import NonNegative, read_arguments

EPSILON = 2.0**-52


@read_arguments
@dataclass(frozen=True)
class Tolerance:
    """What counts as zero when signs are decided in float64.

    A pre-activation z of a unit at a vertex is *zero* if ``|z| <= max(rho + g * blur, resolution * diameter * g)``,
    where rho is the unit's rounding, g its steepest slope over the cells at hand, blur the error of the vertex's
    position and diameter that of the domain. Rounding comes from a running error analysis: ``rounding * eps *
    (|W| |h| + |b|)`` for every affine node, entry by entry, and ``|W| e`` for errors up to e in h.
    Some zeros at vertices of cells on which the unit has a sign are *undecided*, are counted, and make the result an
    interval instead of EXACT: those where ``|z|`` exceeds its error ``rho + g * blur`` (the sign is known, and the
    resolution hides it), or ``resolution * diameter * s`` with the slope s of the least steep of these cells, the
    largest one along its edges (a region thicker than the resolution may be hidden), and those whose error exceeds
    ``32 * resolution * diameter * g`` (they are not known well enough for the resolution).

    An unbounded domain has no diameter, and there the resolution is relative to position: no region is hidden that
    contains a ball of radius more than ``resolution * |c|`` around a point c, wherever it lies. The place of the origin
    matters for that, the scale of the network does not.

    Thinner regions may be listed or not. Corners of a sliver are known less well than it is thick, so that a part of it
    may be listed on the wrong side of a unit, under a code that no point has.

    Parameters
    ----------
    resolution : float
        Regions thinner than this fraction of the domain's diameter are not separated, on an unbounded domain those
        thinner than this fraction of their distance from the origin. 0 with ``certify=True`` counts in rational
        arithmetic.
    rounding : float
        Safety factor of the rounding bound, in units of the float64 epsilon.
    """

    resolution: NonNegative = 1e-12
    rounding: NonNegative = 16.0

    @property
    def unit(self) -> float:
        """Rounding of one sum, relative to the sum of its absolute terms."""
        return self.rounding * EPSILON
