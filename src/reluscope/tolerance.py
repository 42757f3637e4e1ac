"""How finely a domain is resolved, as one frozen value that is passed along and stored in results."""

from dataclasses import dataclass

from reluscope.arguments import NonNegative, read_arguments

EPSILON = 2.0**-52


@read_arguments
@dataclass(frozen=True)
class Tolerance:
    """Thresholds for zero when signs are decided in float64.

    A pre-activation z of a unit at a vertex is *zero* if ``|z| <= max(rho + g * blur, resolution * diameter * g)``.
    Here rho is the rounding of the unit, g its steepest slope over the current cells, blur the error of the vertex
    position, and diameter that of the domain. A running error analysis bounds the rounding, entry by entry:
    ``rounding * eps * (|W| |h| + |b|)`` for every affine node, and ``|W| e`` for errors up to e in h.

    Some zeros lie at vertices of cells on which the unit has a sign. Such a zero is *undecided* in three cases:

    - ``|z|`` exceeds its error ``rho + g * blur``: the sign is known, and the resolution hides it.
    - ``|z|`` exceeds ``resolution * diameter * s``, where s is the slope of the least steep of these cells, the
      largest one along its edges: a region thicker than the resolution may be hidden.
    - The error of z exceeds ``32 * resolution * diameter * g``: z is not known well enough for the resolution.

    Undecided zeros are counted, and they make the result an interval instead of EXACT.

    An unbounded domain has no diameter, and there the resolution is relative to position: no region is hidden that
    contains a ball of radius more than ``resolution * |c|`` around a point c. This depends on the place of the
    origin, not on the scale of the network.

    Thinner regions may or may not be listed. The corners of a sliver are known less precisely than its thickness,
    so a part of it may be listed on the wrong side of a unit, under a code that no point has.

    Parameters
    ----------
    resolution : float
        Regions thinner than this fraction of the diameter of the domain are not separated. On an unbounded domain
        the fraction is one of the distance from the origin. 0 after `certify`, which counts in rational arithmetic.
    rounding : float
        Safety factor of the rounding bound, in units of the float64 epsilon.
    """

    resolution: NonNegative = 1e-12
    rounding: NonNegative = 16.0

    @property
    def unit(self) -> float:
        """Rounding of one sum, relative to the sum of its absolute terms."""
        return self.rounding * EPSILON
