"""How finely a domain is resolved, as one frozen value that is passed along and stored in results."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Tolerance:
    """What counts as zero when signs are decided in float64.

    A pre-activation z of unit i at a vertex is *zero* if ``|z| <= max(rho, resolution * diameter * g)``, where rho is
    the rounding bound ``rounding * eps * (|W| |h| + |b|)`` of that unit at that vertex, g the steepest slope of the
    unit over the cells at hand and diameter that of the domain. A sign between the two thresholds is *undecided*: it
    is treated as zero and counted, and the result is then an interval instead of EXACT.

    Parameters
    ----------
    resolution : float
        Regions thinner than this fraction of the domain's diameter are not separated. 0 with ``certify=True`` counts
        in rational arithmetic.
    rounding : float
        Safety factor of the rounding bound, in units of the float64 epsilon.
    """

    resolution: float = 1e-12
    rounding: float = 16.0
