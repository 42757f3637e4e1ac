"""Forward passes with bounds on rounding, by the model of `networks/passes/rounding`."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float

from reluscope.codes.packed import Codes
from reluscope.networks.graph.points import Points, chunks
from reluscope.networks.passes.carry import carry, carry_to_output
from reluscope.networks.passes.magnitudes import Magnitude, MagnitudesOfAnyPiece
from reluscope.networks.passes.network_graph import BUDGET, NetworkGraph
from reluscope.networks.passes.rounded import NumbersRoundedAlike, Rounded, RoundedNumbers
from reluscope.networks.passes.rounding import in_doubt, with_ties
from reluscope.shown import Shown
from reluscope.tolerance import Tolerance

# Values are looked at several times: smaller chunks stay closer to the processor, which is twice as fast.
CLOSE_BUDGET = 32 * 2**20
# Values, their bounds, and what both pass through on the way.
COPIES = 12


@dataclass(frozen=True, repr=False)
class RoundedForward(Shown):
    """Outputs of a forward pass, bounds on their errors, and whether rounding could change codes."""

    outputs: Float[np.ndarray, "s m"]
    errors: Float[np.ndarray, "s m"]  # bounds on the errors of the outputs
    doubtful: Bool[np.ndarray, "s gates"]  # some unit of the gate could be on another piece


def rounded_forward(
    network: NetworkGraph, x: Points, *, tolerance: Tolerance | None = None, loss: float = 0.0
) -> RoundedForward:
    """Evaluate a network at exact points, with a bound on the rounding of every value.

    About three forward passes. The factor 16 of the default tolerance covers pairwise and blocked sums; the worst order
    of n terms would need n (Higham, "Accuracy and Stability of Numerical Algorithms", 2002, section 3.3).
    """
    return rounded_codes(network, x, tolerance=tolerance, loss=loss)[0]


def rounded_codes(
    network: NetworkGraph, x: Points, *, tolerance: Tolerance | None = None, loss: float = 0.0
) -> tuple[RoundedForward, Codes]:
    """Return what `rounded_forward` does, and the codes, with candidates read as in `coded_forward`."""
    points = network.points(x)
    carrier = RoundedNumbers((tolerance or Tolerance()).unit, loss)
    rows = chunks(len(points), COPIES * network.bytes_per_point, BUDGET // 4)
    return _coded(network, carrier, len(points), ((some, Rounded.exactly(points[some])) for some in rows))


@torch.no_grad()
def largest_errors(
    network: NetworkGraph, sizes: Float[np.ndarray, " n"], *, tolerance: Tolerance | None = None
) -> Float[np.ndarray, " m"]:
    """Return bounds on the errors of outputs at all points with entries of up to some sizes, in one pass.

    For continuous networks; nothing cancels, so that bounds are loose in deep ones.
    """
    size = network.points(sizes[None])
    carrier = MagnitudesOfAnyPiece((tolerance or Tolerance()).unit)
    return carry_to_output(network, carrier, Magnitude(size, torch.zeros_like(size))).error.reshape(-1).cpu().numpy()


@torch.no_grad()
def forward_with_errors(
    network: NetworkGraph, x: Points, *, tolerance: Tolerance | None = None
) -> tuple[Float[np.ndarray, "s m"], Float[np.ndarray, "s m"]]:
    """Return outputs of points that are alike, and bounds on rounding that many of them share.

    Points are taken as exact, of one scale: the largest values decide for all. One forward pass and two of a single
    point; `rounded_forward` is tighter, for three passes.
    """
    points = network.points(x)
    carrier = NumbersRoundedAlike((tolerance or Tolerance()).unit)
    outputs, errors = (np.empty((len(points), network.num_outputs)) for _ in range(2))
    for rows in chunks(len(points), network.bytes_per_point, BUDGET):
        found = carry_to_output(network, carrier, Rounded(points[rows], torch.zeros_like(points[:1])))
        outputs[rows], errors[rows] = (part.reshape(len(part), -1).cpu().numpy() for part in found)
    return outputs, errors


def coded_forward(
    network: NetworkGraph, x: Points, *, tolerance: Tolerance | None = None
) -> tuple[RoundedForward, Codes]:
    """Evaluate a network once, for codes and outputs, with bounds on rounding that many points share.

    Points are of one scale, as in `forward_with_errors`, whose looser bounds apply: more points can be in doubt.
    Candidates of a maximum that rounding alone may tell apart are read as ties.
    """
    points = network.points(x)
    carrier = NumbersRoundedAlike((tolerance or Tolerance()).unit)
    rows = chunks(len(points), network.bytes_per_point, CLOSE_BUDGET)
    none = torch.zeros_like(points[:1])
    return _coded(network, carrier, len(points), ((some, Rounded(points[some], none)) for some in rows))


@torch.no_grad()
def _coded(
    network: NetworkGraph,
    carrier: RoundedNumbers | NumbersRoundedAlike,
    number: int,
    parts: Iterable[tuple[slice, Rounded]],
) -> tuple[RoundedForward, Codes]:
    """Return outputs, errors, doubts and codes of so many points, some at a time."""
    layout = network.layout
    # Into place at once: small results between large temporaries would keep their memory from being used again.
    outputs, errors = (np.empty((number, network.num_outputs)) for _ in range(2))
    doubtful = np.empty((number, len(network.gates)), dtype=bool)
    words = np.zeros((number, layout.num_words), dtype=np.uint64)
    for rows, start in parts:
        found = carry(network, carrier, start)
        pieces: list[np.ndarray] = []
        for index, stage in enumerate(network.stages):
            pre, error = next(found)
            pieces.append(stage.gate.pieces(with_ties(stage.gate, pre, error)).cpu().numpy())
            doubtful[rows, index] = in_doubt(stage.gate, pre, error).cpu().numpy()
        outputs[rows], errors[rows] = (part.reshape(len(part), -1).cpu().numpy() for part in next(found))
        words[rows] = Codes.from_pieces(pieces, layout, num_codes=rows.stop - rows.start).words
    return RoundedForward(outputs, errors, doubtful), Codes(words, layout)
