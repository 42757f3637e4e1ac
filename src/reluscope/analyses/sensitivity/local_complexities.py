"""Local complexity: how finely a network cuts the neighbourhood of a point, under three published definitions."""

from collections.abc import Callable
from typing import Any, Literal

from reluscope.analyses.sensitivity.cross_polytopes import cross_polytope_complexity
from reluscope.analyses.sensitivity.kink_densities import kink_density
from reluscope.analyses.sensitivity.regions_in_balls import count_in_balls
from reluscope.arguments import Count, Positive, Seed, read_arguments
from reluscope.budget import Budget
from reluscope.errors import InputError
from reluscope.findings import Findings
from reluscope.geometry.numbers.norms import AnyNorm
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network
from reluscope.progress import Progress
from reluscope.tolerance import Tolerance

Definition = Literal["regions", "cross_polytope", "kink_density"]
# Of each definition: the function, what the size of the neighbourhood is called, and its own options.
_DEFINITIONS: dict[str, tuple[Callable[..., Findings], str, tuple[str, ...]]] = {
    "regions": (count_in_balls, "radius", ("norm", "num_samples")),
    "cross_polytope": (cross_polytope_complexity, "radius", ("num_directions", "gate")),
    "kink_density": (kink_density, "deviation", ("num_directions", "num_noises")),
}


@read_arguments
def local_complexity(
    network: Network,
    x: Points,
    radius: Positive | None = None,
    *,
    definition: Definition = "regions",
    deviation: Positive | None = None,
    norm: AnyNorm | None = None,
    gate: int | str | None = None,
    num_samples: Count | None = None,
    num_directions: Count | None = None,
    num_noises: Count | None = None,
    population: Count | None = None,
    budget: Budget | None = None,
    progress: Progress = False,
    tolerance: Tolerance | None = None,
    seed: Seed = 0,
) -> Findings:
    """Return how finely the network cuts the neighbourhood of points: regions, units, or bends per unit of length.

    Parameters
    ----------
    network : Network
    x : (s, *input_shape) or (s, n)
    radius : float
        In the units of the input: of the ball ("regions"), or Euclidean distance of the vertices from the point
        ("cross_polytope").
    definition : {"regions", "cross_polytope", "kink_density"}
        - ``"regions"``: proper activation regions that meet an open ball around the point.
        - ``"cross_polytope"``: units that are not on one piece at all vertices ``x + r v``, ``x - r v``, for
          orthonormal directions v.
        - ``"kink_density"``: ``sum_u |grad z_u(x)| sum_t exp(-((z_u(x) - t) / sigma)^2 / 2) / (sigma sqrt(2 pi))``
          over the units u of pointwise gates and their breakpoints t: bends per unit of length if biases have normal
          noise.
    deviation : float
        Standard deviation sigma of the noise on biases ("kink_density"); by default 1.
    norm : "linf", "l2" or Norm
        Of the ball ("regions"): maximum of all coordinates' changes, the default, or Euclidean length; a `Norm` may
        have one weight per input.
    gate : int or str, optional
        Count units of this gate only ("cross_polytope").
    num_samples : int
        Number of points drawn from a ball whose exact count did not finish ("regions"); by default 4,096.
    num_directions : int
        Number of orthonormal directions, which all points share, 20 by default and at most that of inputs
        ("cross_polytope"). Estimate gradient lengths from derivatives in this number of random directions, by default
        from derivatives by every input ("kink_density").
    num_noises : int, optional
        Estimate the mean over noise on the biases of *all* gates, as the source defines it, from this number of
        draws; by default earlier gates have no noise ("kink_density").
    population : int, optional
        Size of the population, if the points are a random sample from it.
    budget : Budget, optional
        "regions": for the exact count at each point; by default the number of regions that takes 10 seconds on an
        ordinary machine. Otherwise seconds, and bytes of intermediate arrays, by default 64 MB.
    progress : bool or callable
        Show progress; a callable receives the finished share, from 0 to 1.
    tolerance : Tolerance, optional
        Its safety factor for rounding.
    seed : int
        Of drawn points, which depend on the seed and the position of the center among the points; of directions and
        noise.

    Returns
    -------
    Findings
        ``local_complexity``, ``cross_polytope_complexity`` or ``kink_density`` of every point.

        - "regions": exact or a lower bound. A drawn point's region is counted if rounding could not change its code.
          Details: ``num_undecided``, the number of regions whose existence is undecided.
        - "cross_polytope": EXACT where rounding cannot change the piece of any unit at any vertex. A lower bound on
          the number of units that bend within the convex hull of the vertices.
        - "kink_density": EXACT up to rounding; where rounding could change the code of the point, no bound is known.
          With ``num_directions`` or ``num_noises`` an unbiased ESTIMATE.

    Raises
    ------
    InputError
        If the radius is too small for float64 at a point, the norm or the gate is unknown, or an option belongs to
        another definition.

    Notes
    -----
    "regions": in few dimensions, about one forward pass per vertex; a Euclidean ball costs one more small quadratic
    program for each region of its box. In many dimensions, one linear program per region, which finishes within the
    budget only where few units change their piece. Regions that a ball touches from outside are not counted; where
    float64 leaves this undecided, the count is LOWER with an interval.

    "cross_polytope": one forward pass per vertex. The source sums units over layers and averages over points.

    "kink_density": one forward pass per input, or per direction, at each point. The source defines the mean size of
    the bends, over a distribution of data and over noise on all biases at once: ``E int_bends p(x) dx``, p the density
    of the data. For one unit and given noise on earlier biases, the mean over the unit's own noise is ``int p(x)
    |grad z(x)| phi(t - z(x)) dx`` by the co-area formula, where z is the pre-activation without this noise. Hence the
    sum at each point, and its mean over points and earlier noise. By default the noise of earlier gates is fixed at
    its mean, 0, which changes nothing at a first gate; ``num_noises`` draws it. Units without an open path to the
    outputs count, too. Max gates have no bias and do not count.

    References
    ----------
    Humayun, Balestriero, Baraniuk, "Deep networks always grok and here is why", 2024, figure 4.
    Patel, Montufar, "On the local complexity of linear regions in deep ReLU networks", 2025, theorem 2.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])  # four quadrants
    >>> print(rs.sensitivity.local_complexity(net, [[0.8, 0.8]], 1.0).finding("local_complexity"))
    4 (EXACT)
    >>> print(rs.sensitivity.local_complexity(net, [[0.8, 0.8]], 1.0, norm="l2").finding("local_complexity"))
    3 (EXACT)
    >>> near = rs.sensitivity.local_complexity(net, [[0.1, 9.0]], 1.0, definition="cross_polytope")
    >>> print(near.finding("cross_polytope_complexity"))
    1 (EXACT)
    >>> net = rs.load([(np.array([[3.0, 4.0]]), np.zeros(1)), (np.eye(1), np.zeros(1))])  # one unit, of slope 5
    >>> dense = rs.sensitivity.local_complexity(net, [[4.0, -3.0]], definition="kink_density", deviation=2.0)
    >>> print(dense.finding("kink_density"))  # 5 / (2 sqrt(2 pi))
    0.997356 (EXACT)
    """
    measure, size, own = _DEFINITIONS[definition]
    options: dict[str, Any] = {
        "radius": radius,
        "deviation": deviation,
        "norm": norm,
        "gate": gate,
        "num_samples": num_samples,
        "num_directions": num_directions,
        "num_noises": num_noises,
    }
    given = {name: option for name, option in options.items() if option is not None}
    if wrong := next((name for name in given if name not in (size, *own)), ""):
        raise InputError(f'definition="{definition}" takes no {wrong}: leave it out, or take another definition')
    if size == "radius" and radius is None:
        raise InputError(f'definition="{definition}" needs a radius, a positive number, got none')
    common = {"population": population, "budget": budget, "progress": progress, "tolerance": tolerance, "seed": seed}
    return measure(network, x, **given, **common)
