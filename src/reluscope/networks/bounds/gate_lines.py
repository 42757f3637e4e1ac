"""Lines below and above the functions of units on ranges of what they see, rounding included."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from reluscope.networks.graph.nodes import Pointwise
from reluscope.networks.passes.rounding import ANY_ORDER


class Lines(NamedTuple):
    """Slopes and constants of lines below and above, and how far they are from the functions, at most; all (k, u).

    Of units that keep one piece both are that piece, and no distance counts.
    """

    below: Tensor
    below_start: Tensor
    above: Tensor
    above_start: Tensor
    below_gap: Tensor
    above_gap: Tensor


class Bends(NamedTuple):
    """Ends of ranges and the breakpoints in them, values there, and terms that these are sums of; all (p + 2, k, u)."""

    places: Tensor
    values: Tensor
    sizes: Tensor


def bends(gate: Pointwise, low: Float[Tensor, "#k u"], high: Float[Tensor, "#k u"]) -> Bends:
    """Return where units may bend on their ranges.

    A function that is linear between these places is least at one of them.
    """
    units = gate.num_units
    levels, unit = gate.breakpoints.expand(-1, units)[:, None], torch.arange(units, device=low.device)
    places = torch.cat([low[None], high[None], levels.expand(-1, *low.shape).clamp(low, high)])
    pieces = (places[:, None] > levels[None]).sum(dim=1)
    terms = gate.slopes.expand(-1, units)[pieces, unit] * places
    start = gate.intercepts.expand(-1, units)[pieces, unit]
    return Bends(places, terms + start, terms.abs() + start.abs())


def slopes_of_lines(
    gate: Pointwise, corners: Bends, slopes: Float[Tensor, "k u"]
) -> tuple[Float[Tensor, "k u"], Float[Tensor, "#k u"]]:
    """Return the slopes of lines below units, as given where they may bend, and of the chords above them."""
    low, high = corners.places[0], corners.places[1]
    levels = gate.breakpoints.expand(-1, gate.num_units)[:, None]
    is_open = ((levels > low) & (levels < high)).any(dim=0)
    chord = (corners.values[1] - corners.values[0]) / torch.where(is_open, high - low, 1.0)
    middle = (((low + high) / 2)[None] > levels).sum(dim=0)
    own = gate.slopes.expand(-1, gate.num_units)[middle, torch.arange(gate.num_units, device=low.device)]
    return torch.where(is_open, slopes, own), torch.where(is_open, chord, own)


def lines_around(
    gate: Pointwise, low: Float[Tensor, "#k u"], high: Float[Tensor, "#k u"], slopes: Float[Tensor, "k u"]
) -> Lines:
    """Return lines below units, of given slopes, and lines above them on ranges.

    The gate must not jump. Any slopes are valid; those between a unit's slopes lose least. Lines above are parallel to
    the chord.
    """
    units = gate.num_units
    levels = gate.breakpoints.expand(-1, units)[:, None]
    places, values, sizes = bends(gate, low, high)
    noise = ANY_ORDER * sizes
    is_open = ((levels > low) & (levels < high)).any(dim=0)
    middle = (((low + high) / 2)[None] > levels).sum(dim=0)
    own = gate.slopes.expand(-1, units)[middle, torch.arange(units, device=low.device)]
    chord = torch.where(is_open, (values[1] - values[0]) / torch.where(is_open, high - low, 1.0), own)
    below = torch.where(is_open, slopes, own)
    # A line is farthest from a function of pieces at an end or a breakpoint.
    under, over = values - below * places, values - chord * places
    bottom = (under - noise - ANY_ORDER * (below.detach() * places).abs()).amin(dim=0)
    top = (over + noise + ANY_ORDER * (chord * places).abs()).amax(dim=0)
    below_gap = torch.where(is_open, (under - bottom).amax(dim=0), 0.0)
    above_gap = torch.where(is_open, (top - over).amax(dim=0), 0.0)
    return Lines(below, bottom, chord, top, below_gap, above_gap)
