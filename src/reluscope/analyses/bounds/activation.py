"""An upper bound from the weights: units that never change their piece on a box cut no regions.

The recursion follows Serra and Ramalingam (2020). Let A_l(k) bound how many units of layer l are not stably inactive,
and I_l(k) how many are unstable, whatever set of at most k units of the layer before is active. A layer that reads d
dimensions with at most k active units before it makes at most C(I, j) regions with j units on their inactive side, and
passes at most A - j active units on:

R(l, k, d) = sum_{j <= min(I_l(k), d)} C(I_l(k), j) R(l + 1, A_l(k) - j, min(d, A_l(k) - j)).
"""

import time
from collections.abc import Sequence
from functools import cache
from math import comb, inf, prod
from typing import Any

import numpy as np
import torch
from jaxtyping import Int

from reluscope.analyses.bounds.architecture import Architecture
from reluscope.analyses.bounds.bound_findings import need
from reluscope.arguments import read_arguments
from reluscope.errors import InputError
from reluscope.findings import Finding
from reluscope.geometry.polyhedra.domains import Box, Slice
from reluscope.networks.bounds.ranges import Ranges, unit_ranges
from reluscope.networks.evaluation.choices import read_domain
from reluscope.networks.graph.nodes import Pointwise
from reluscope.networks.network import Network
from reluscope.networks.passes.carrier import GateCarrier
from reluscope.networks.passes.maps import AffineValue, RoundedMaps
from reluscope.networks.passes.rounded import Rounded, RoundedNumbers
from reluscope.networks.passes.rounding import ANY_ORDER
from reluscope.networks.passes.stages import Stage


@read_arguments
def activation_upper(network: Network, domain: Box | Slice) -> Finding:
    """Return an upper bound on the activation regions of a network in a box, from its weights.

    Parameters
    ----------
    network : Network
        A chain of ReLU layers.
    domain : Box, or Slice by one
        Bounded; the bound does not hold outside it. A `Box` with equal ends is a slice.

    Returns
    -------
    Finding
        UPPER for activation regions that meet the box, full-dimensional or not, hence for all narrower definitions.

    Raises
    ------
    NotApplicableError
        If the network is not a chain of ReLU layers with slope one where active.
    ShapeError
        If the dimension of the box is not that of the input.

    Notes
    -----
    Interval arithmetic with rounding included finds stable units: with at most k active units before, a unit is at
    most b + the k largest positive terms w_s H_s, where H_s are the upper ends of the units before. This bound is
    wider than the mixed integer programs of the publication and needs no solver. Two natural readings are wrong:
    *exactly* k active units, and units active at the same time.

    References
    ----------
    Key ``serra2020``.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([(np.array([[1.0]]), np.array([-5.0])), (np.eye(1), np.zeros(1))])
    >>> print(activation_upper(net, rs.Box(-1, 1, 1)))
    1 (UPPER)
    """
    began = time.perf_counter()
    architecture = Architecture.of(network)
    plain = architecture.is_chain and all(_is_plain_relu(stage) for stage in network.stages)
    need(plain, "a chain of ReLU layers", architecture)
    read_domain(domain, network.num_inputs)
    described = domain.describe()
    if isinstance(domain, Slice):
        if not isinstance(domain.window, Box):
            raise InputError(f"domain must be a Box or a Slice by one, got {described}")
        network, domain = network.restrict(domain), domain.window
    active, unstable = [], []
    before: Ranges | None = None
    for stage, ranges in zip(network.stages, unit_ranges(network, domain.lo, domain.hi), strict=True):
        most, loose = _by_active_units(stage, ranges, before)
        active.append(most)
        unstable.append(loose)
        before = ranges
    return Finding.of(
        bound_of_counts(active, unstable, network.num_inputs),
        lower=-inf,
        name="activation-based bound",
        definition="activation regions that meet the box, full-dimensional or not",
        domain=described,
        method="recursion over numbers of active units; stable units by interval arithmetic",
        source="serra2020",
        work={"seconds": time.perf_counter() - began},
    )


def bound_of_counts(active: Sequence[np.ndarray], unstable: Sequence[np.ndarray], num_inputs: int) -> int:
    """Return R(1, n_0, n_0) for given A_l(k) and I_l(k).

    One array per layer for k = 0, 1, ..., not decreasing; the last entry stands for all larger k.
    """

    @cache
    def regions(layer: int, k: int, d: int) -> int:
        if layer == len(active):
            return 1
        most, loose = (int(row[min(k, len(row) - 1)]) for row in (active[layer], unstable[layer]))
        return sum(comb(loose, j) * regions(layer + 1, most - j, min(d, most - j)) for j in range(min(loose, d) + 1))

    return regions(0, num_inputs, num_inputs)


def _by_active_units(
    stage: Stage, ranges: Ranges, before: Ranges | None
) -> tuple[Int[np.ndarray, " k"], Int[np.ndarray, " k"]]:
    """Return A(k) and I(k) of a layer for k = 0, 1, ...; for the first layer, which reads no units, a single entry."""
    above, below = ranges.upper[:, None], ranges.lower[:, None]
    if before is not None:
        weight, bias, slack = _affine_map(stage)
        terms = weight * np.maximum(before.upper, 0.0)
        reach = (slack @ np.r_[np.maximum(before.upper, 0.0), 1.0])[:, None]
        none = np.zeros((len(terms), 1))
        most = np.hstack([none, np.cumsum(-np.sort(-np.maximum(terms, 0.0), axis=1), axis=1)])
        least = np.hstack([none, np.cumsum(np.sort(np.minimum(terms, 0.0), axis=1), axis=1)])
        above = np.minimum(bias[:, None] + most + reach, above)
        below = np.maximum(bias[:, None] + least - reach, below)
    may_be_active = above > 0
    return may_be_active.sum(axis=0), (may_be_active & (below <= 0)).sum(axis=0)


def _affine_map(stage: Stage) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return weight (u, n) and constant (u,) from the units before, and bounds on the rounding of both (u, n + 1)."""
    (source,) = stage.reads
    shape = stage.leg.shapes[source]
    size = prod(shape)
    basis = torch.eye(size, dtype=torch.float64, device=stage.leg.device).reshape(1, size, *shape)
    zero = torch.zeros(1, *shape, dtype=torch.float64, device=stage.leg.device)

    def at_gate(carrier: GateCarrier, start: Any) -> Any:
        return carrier.arrive(stage, stage.leg.carry(carrier, {source: start})[stage.leg.target])

    columns = at_gate(RoundedMaps(ANY_ORDER, has_constant=False), AffineValue(basis, torch.zeros_like(basis)))
    constant = at_gate(RoundedNumbers(ANY_ORDER), Rounded.exactly(zero))
    weight, of_weight = (part[0].T.cpu().numpy() for part in columns)
    bias, of_bias = (part[0].cpu().numpy() for part in constant)
    return weight, bias, np.column_stack([of_weight, of_bias])


def _is_plain_relu(stage: Stage) -> bool:
    gate = stage.gate
    if not isinstance(gate, Pointwise) or gate.num_pieces != 2:
        return False
    straight = not (gate.breakpoints.any() or gate.intercepts.any())
    return bool(straight and (gate.slopes[0] == 0).all() and (gate.slopes[1] == 1).all())
