"""Which units never change their piece over samples: dead and always-on ones, and the pieces that others use.

A unit that stays on one piece adds no bend on these samples. If that piece is flat (a ReLU below zero) its output is
one constant: the unit is dead on the samples. Elsewhere in input space it may well be alive.
"""

import numpy as np

from reluscope.analyses.codespace.by_gate import by_gate
from reluscope.analyses.codespace.sampled import METHOD, SampleCodes, piece_counts
from reluscope.arguments import holds_across_jumps, read_arguments
from reluscope.codes.packed import Codes
from reluscope.findings import Column, Findings, Kind, declare
from reluscope.networks.graph.nodes import Pointwise
from reluscope.networks.network import Network

NUM_DEAD = declare(
    "num_dead_units",
    "units that stay on one flat piece at all samples, so that their output is one constant there",
    kind=Kind.COUNT,
)
NUM_ALWAYS_ON = declare(
    "num_always_on_units",
    "units that stay at all samples on one piece that is not flat, or on one candidate",
    kind=Kind.COUNT,
)
NUM_CHANGING = declare("num_changing_units", "units that use two pieces or more over the samples", kind=Kind.COUNT)
PIECES_USED = declare("pieces_used", "mean over units of the number of pieces that they use over the samples")


@read_arguments
@holds_across_jumps
def unit_usage(network: Network, sampled: SampleCodes) -> Findings:
    """Return the numbers of dead, always-on and changing units over samples.

    Parameters
    ----------
    network : Network
    sampled : SampleCodes
        Codes of this network; see `sample_codes`.

    Returns
    -------
    Findings
        ``num_dead_units``, ``num_always_on_units``, ``num_changing_units`` and ``pieces_used`` of each ``gate``,
        with its numbers of ``units`` and of ``pieces`` as further keys; the summary is for all gates together.
        Where rounding could change pieces in a gate, the number of units that stay on one piece over the certain
        samples is an upper bound.

    Notes
    -----
    One pass over the codes.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> from reluscope.analyses.codespace import sample_codes
    >>> net = rs.load([(np.array([[1.0], [-1.0], [1.0]]), np.array([9.0, -9.0, 0.0])), (np.ones((1, 3)), np.zeros(1))])
    >>> found = rs.codespace.unit_usage(net, sample_codes(net, [[1.0], [-1.0]])).summary
    >>> [int(found.finding(name)) for name in ("num_dead_units", "num_always_on_units", "num_changing_units")]
    [1, 1, 1]
    """
    value = _used(network, sampled.codes)
    lower, upper = value.copy(), value.copy()
    units = np.array([gate.num_units for gate in network.gates], dtype=np.int64)
    pieces = np.array([gate.num_pieces for gate in network.gates], dtype=np.int64)
    for index in np.flatnonzero(sampled.doubtful.any(axis=0)):
        # Samples in doubt can only make units change that seem to stay, and use more pieces.
        certain = sampled.codes[~sampled.doubtful[:, index]]
        sure = _used(network, certain)[index] if len(certain) else [units[index], units[index], 0, 0]
        lower[index] = [0, 0, *sure[2:]]
        upper[index] = [*sure[:2], units[index], units[index] * pieces[index]]
    value, lower, upper = (np.array([part.sum(axis=0), *part], dtype=np.float64) for part in (value, lower, upper))
    units = np.array([units.sum(), *units])
    for part in (value, lower, upper):
        part[:, 3] /= np.maximum(units, 1)
    columns = [
        Column.of(quantity, value[:, place], lower[:, place], upper[:, place], method=METHOD)
        for place, quantity in enumerate((NUM_DEAD, NUM_ALWAYS_ON, NUM_CHANGING, PIECES_USED))
    ]
    return by_gate(sampled, columns, seconds=sampled.seconds, keys={"units": units[1:], "pieces": pieces})


def _used(network: Network, codes: Codes) -> np.ndarray:
    """Return for each gate the numbers of dead, always-on and changing units, and of pieces used."""
    tables = piece_counts(codes)
    kinds = [_kinds(stage.gate, table) for stage, table in zip(network.stages, tables, strict=True)]
    return np.array(kinds, dtype=np.int64).reshape(len(kinds), 4)


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
