"""What a walk knows of rounding before it begins: whether proofs suffice, and if not, what is measured."""

import time
from typing import Literal

import numpy as np

from reluscope.budget import Interrupted
from reluscope.effort import Effort
from reluscope.geometry.polyhedra.domains import Domain, Slice, Space
from reluscope.geometry.polyhedra.window_shapes import window_shape
from reluscope.networks.evaluation.measured_rounding import MeasuredRounding, measured_rounding
from reluscope.networks.network import Network
from reluscope.partitions.doubts.shown_regions import is_deep, max_exact
from reluscope.time_limits import OutOfTime, driven
from reluscope.tolerance import Tolerance

# Whether rounding is measured where proved bounds say nothing, or what was measured on a domain around.
Rounding = Literal["measured", "proved"] | MeasuredRounding

# Points inside the domain, beside its corners, that tell what values are like.
INSIDE = 3


def rounding_of(
    network: Network, domain: Domain, tolerance: Tolerance, rounding: Rounding = "measured"
) -> MeasuredRounding | None:
    """Return what rounding is found to be in a domain, None where proved bounds decide signs.

    None also for networks small enough for exact arithmetic, unless they are deep. Unbounded domains are not measured.
    What was measured on a domain around this one is not measured again.
    """
    if isinstance(rounding, MeasuredRounding):
        return rounding
    if rounding == "proved" or not network.gates or (max_exact(network) and not is_deep(network)):
        return None
    window = domain.window if isinstance(domain, Slice) else domain
    if isinstance(window, Space) or not window.is_bounded():
        return None
    corners = window_shape(window).corners.points
    shares = np.random.default_rng(0).dirichlet(np.ones(len(corners)), INSIDE)
    points = np.concatenate([corners, shares @ corners])
    inputs = network.points(domain.lift(points) if isinstance(domain, Slice) else points)
    return measured_rounding(network, inputs, tolerance)


def before_walk(
    network: Network, domain: Domain, effort: Effort, rounding: Rounding = "measured"
) -> tuple[MeasuredRounding | None, Effort]:
    """Return `rounding_of` a domain, and the effort that is left for the walk: none after Ctrl-C or at its end."""
    if effort.budget.spent(0, time.time()):  # nothing is walked
        return None, effort
    try:
        with driven():
            return rounding_of(network, domain, effort.tolerance, rounding), effort
    except KeyboardInterrupt:
        return None, effort.within(Interrupted())
    except OutOfTime:
        return None, effort
