"""Which units never change their piece over samples: dead ones, always-on ones, and how many pieces the others use.

A unit that stays on one piece adds no bend on these samples. If that piece is flat (a ReLU below zero) its output is
one constant: the unit is dead on the samples. Elsewhere in input space it may well be alive.
"""

from dataclasses import dataclass

import numpy as np

from reluscope.analyses.codespace.sampled import SampleCodes, piece_counts
from reluscope.arguments import read_arguments
from reluscope.findings import Finding
from reluscope.networks.graph import Pointwise
from reluscope.networks.network import Network


@dataclass(frozen=True)
class GateUsage:
    """How samples use the units of one gate.

    Parameters
    ----------
    name : str
        Of the gate.
    num_units, num_pieces : int
    dead : Finding
        Units that stay on one flat piece.
    always_on : Finding
        Units that stay on one piece that is not flat, or on one candidate.
    changing : Finding
        Units that use two pieces or more.
    pieces_used : Finding
        Mean number of pieces that a unit uses.
    """

    name: str
    num_units: int
    num_pieces: int
    dead: Finding
    always_on: Finding
    changing: Finding
    pieces_used: Finding


@dataclass(frozen=True)
class UnitUsage:
    """How samples use the units of a network, gate by gate and in all; see `GateUsage`."""

    by_gate: tuple[GateUsage, ...]
    total: GateUsage


DEFINITIONS = {
    "dead": "units that stay on one flat piece at all samples, so that their output is one constant there",
    "always on": "units that stay at all samples on one piece that is not flat, or on one candidate",
    "changing": "units that use two pieces or more over the samples",
}


@read_arguments
def unit_usage(network: Network, sampled: SampleCodes) -> UnitUsage:
    """Count dead, always-on and changing units over samples.

    Parameters
    ----------
    network : Network
    sampled : SampleCodes
        Its codes; see `sample_codes`.

    Returns
    -------
    UnitUsage
        EXACT for these samples. Where rounding could change pieces in a gate, an ESTIMATE: at most as many units stay
        on one piece as do over the samples that are certain.

    Notes
    -----
    One pass over the codes.

    Examples
    --------
    >>> import reluscope as rs
    >>> from reluscope.analyses.codespace import sample_codes
    >>> net = rs.load([(np.array([[1.0], [-1.0], [1.0]]), np.array([9.0, -9.0, 0.0])), (np.ones((1, 3)), np.zeros(1))])
    >>> total = unit_usage(net, sample_codes(net, [[1.0], [-1.0]])).total
    >>> int(total.dead), int(total.always_on), int(total.changing)
    (1, 1, 1)
    """
    tables = piece_counts(sampled.codes)
    values, most, doubts = [], [], sampled.doubtful.sum(axis=0)
    for index, stage in enumerate(network.stages):
        found = _kinds(stage.gate, tables[index])
        values.append(found)
        if doubts[index]:
            certain = piece_counts(sampled.codes[~sampled.doubtful[:, index]])[index]
            most.append(_kinds(stage.gate, certain))
        else:
            most.append(found)
    by_gate = tuple(
        _usage(sampled, gate.name, gate.num_units, gate.num_pieces, values[index], most[index], int(doubts[index]))
        for index, gate in enumerate(network.gates)
    )
    total = _usage(
        sampled,
        "all gates",
        network.num_units,
        max((gate.num_pieces for gate in network.gates), default=1),
        np.sum([np.zeros(4, dtype=np.int64), *values], axis=0),
        np.sum([np.zeros(4, dtype=np.int64), *most], axis=0),
        int(sampled.in_doubt.sum()),
    )
    return UnitUsage(by_gate, total)


def _kinds(gate: object, table: np.ndarray) -> np.ndarray:
    """Return numbers of dead, always-on and changing units, and of pieces used."""
    used = (table > 0).sum(axis=0)
    still = used <= 1
    if isinstance(gate, Pointwise):
        slopes = np.broadcast_to(gate.slopes.cpu().numpy(), (len(gate.slopes), table.shape[1]))
        flat = slopes[table[: len(slopes)].argmax(axis=0), np.arange(table.shape[1])] == 0
    else:
        flat = np.zeros(table.shape[1], dtype=bool)
    return np.array([(still & flat).sum(), (still & ~flat).sum(), (~still).sum(), used.sum()], dtype=np.int64)


def _usage(
    sampled: SampleCodes,
    name: str,
    num_units: int,
    num_pieces: int,
    values: np.ndarray,
    most: np.ndarray,
    unclear: int,
) -> GateUsage:
    def count(kind: str, place: int) -> Finding:
        # Doubtful samples can only make units change that seem to stay.
        interval = (0, int(most[place])) if place < 2 else (int(most[place]), num_units)
        return sampled.finding(
            int(values[place]),
            unclear,
            interval,
            name=f"{kind} units" + ("" if name == "all gates" else f" of {name}"),
            definition=f"number of {DEFINITIONS[kind]}",
        )

    pieces = sampled.finding(
        float(values[3] / num_units) if num_units else 0.0,
        unclear,
        None,
        name=f"pieces used per unit of {name}",
        definition="mean over units of the number of pieces that they use over the samples",
        tolerance=1e-12,
    )
    return GateUsage(name, num_units, num_pieces, count("dead", 0), count("always on", 1), count("changing", 2), pieces)
