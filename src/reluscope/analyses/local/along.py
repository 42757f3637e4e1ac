"""The regions along straight segments, as one table: where each begins and ends, in shares of its segment.

All segments go through the exact partition together; on each piece the network is affine, so what is asked of its
outputs between two knots follows from their values at the knots.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Float, Int

from reluscope.analyses.local.path_values import PathValues
from reluscope.arguments import read_arguments
from reluscope.codes.packed import Codes
from reluscope.errors import InputError, ShapeError
from reluscope.findings import Column, Findings, Kind, Quantity, declare
from reluscope.findings.data_frames import as_pandas
from reluscope.geometry.numbers.resolutions import SUMS
from reluscope.geometry.polyhedra.domains import Box, Slice
from reluscope.geometry.polyhedra.slices import Segment
from reluscope.needed_memory import need
from reluscope.networks.network import Network
from reluscope.partitions.ask.dispatch import partitions
from reluscope.partitions.corner_errors import corner_errors
from reluscope.partitions.partition_in_memory import Partition
from reluscope.shown import Shown
from reluscope.tolerance import Tolerance

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

METHOD = "exact partition of every segment"
NUM_CROSSINGS = declare("num_crossings", "changes of the linear region inside the segment", kind=Kind.COUNT)
CROSSING_DENSITY = declare(
    "crossing_density", "changes of the linear region inside the segment, per unit of its length", source="gamba2022"
)
DEVIATION = declare(
    "deviation_from_linear",
    "largest Euclidean distance on the segment of the outputs from the straight line between those at its ends",
    unit="output",
    source="gamba2022",
)
IMAGE_LENGTH = declare(
    "image_length", "length of the image of the segment among the outputs of the gate", source="raghu2017"
)


@dataclass(frozen=True, repr=False)
class PiecesAlong(Shown):
    """The regions that k segments meet, in order.

    Parameters
    ----------
    offsets : (k1,) int64
        Pieces of segment i are the rows ``offsets[i]:offsets[i + 1]``.
    starts, stops : (p,) float64
        Start and end of each piece: 0 is the start of its segment, 1 its end.
    codes : Codes
        One per piece.
    is_exact : (k,) bool
        Whether these are all regions of the segment, at the resolution of the tolerance.
    values : PathValues, optional
        The network on the pieces, for tables and measures.
    """

    offsets: Int[np.ndarray, " k1"]
    starts: Float[np.ndarray, " p"]
    stops: Float[np.ndarray, " p"]
    codes: Codes
    is_exact: Bool[np.ndarray, " k"]
    values: PathValues | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def segments(self) -> Int[np.ndarray, " p"]:
        """The segment that each piece lies on."""
        return np.repeat(np.arange(len(self.is_exact)), np.diff(self.offsets))

    @property
    def _known(self) -> PathValues:
        if self.values is None:
            raise InputError("these pieces were joined without their network: take those that pieces_along returns")
        return self.values

    def jacobians(self) -> Float[np.ndarray, "p m n"]:
        """Return the Jacobian of the network on each piece."""
        known = self._known
        need(
            8 * len(self) * known.network.num_outputs * known.network.num_inputs,
            f"the Jacobians on {len(self):,} pieces",
            "take fewer segments, or the norms that to_table has",
        )
        if not len(self):
            return np.zeros((0, known.network.num_outputs, known.network.num_inputs))
        return known.jacobians(self.codes, slice(0, len(self)))

    def to_table(self) -> "pa.Table":
        """Return one row per piece, with the crossing that it begins with.

        ``segment``, ``start`` and ``stop``, as shares of the segment; ``distance`` from the beginning of the path to
        that of the piece, and ``length``, in input space; ``gates`` and ``units``, lists of the units that change their
        piece where this piece follows another, empty where it follows none; ``jacobian_norm``, the Frobenius norm of
        the Jacobian on the piece, and ``jacobian_change``, that of its difference from the Jacobian before;
        ``deviation``, the largest distance of the outputs from the straight line between those at the ends of the
        segment; and for each gate and the outputs ``length_at_<gate>``, the length of the image of the piece.

        Returns
        -------
        pyarrow.Table
            Numbers in float64; `measures` and `image_lengths` say how sure sums are.
        """
        import pyarrow as pa

        known = self._known
        offsets, units = known.flips(self.codes)
        gates, within = self.codes.layout.locate_units(units)
        names = np.array([gate.name for gate in self.codes.layout], dtype=object)
        numbers = np.zeros(len(self), dtype=np.int64)
        numbers[known.follows] = np.diff(offsets)
        places = pa.array(np.concatenate([[0], np.cumsum(numbers)]).astype(np.int32))
        begun = np.concatenate([[0.0], np.cumsum(known.lengths)])[known.owner]
        jacobians = known.jacobian_norms(self.codes)
        columns: dict[str, Any] = {
            "segment": self.segments,
            "start": self.starts,
            "stop": self.stops,
            "distance": begun + self.starts * known.lengths[known.owner],
            "length": (self.stops - self.starts) * known.lengths[known.owner],
            "gates": pa.ListArray.from_arrays(places, pa.array(list(names[gates]), type=pa.string())),
            "units": pa.ListArray.from_arrays(places, pa.array(within)),
            "jacobian_norm": jacobians[:, 0],
            "jacobian_change": jacobians[:, 1],
            "deviation": known.deviations[:, 0],
        }
        columns |= {f"length_at_{name}": stretched[:, 0] for name, stretched in known.stretched.items()}
        return pa.table(columns)

    def to_pandas(self) -> "pd.DataFrame":
        """Return `to_table` as a data frame of pandas."""
        return as_pandas(self.to_table())

    def measures(self) -> Findings:
        """Return the number and density of crossings of each segment, and how far outputs are from a straight line.

        Returns
        -------
        Findings
            ``num_crossings``, ``crossing_density`` and ``deviation_from_linear`` of each ``segment``. EXACT within
            rounding; lower bounds where signs stayed undecided.
        """
        known = self._known
        crossings = np.maximum(np.diff(self.offsets) - 1, 0).astype(np.float64)
        most = np.where(self.is_exact, crossings, np.inf)
        value, error, size = _by_segment(np.maximum, known.deviations, self.offsets).T
        return Findings.of(
            Column.of(NUM_CROSSINGS, crossings, crossings, most, method=METHOD),
            Column.of(CROSSING_DENSITY, *(one / known.lengths for one in (crossings, crossings, most)), method=METHOD),
            _between(DEVIATION, value, error, self.is_exact, size),
            keys={"segment": np.arange(len(self.is_exact))},
            domain="straight segments",
        )

    def image_lengths(self) -> Findings:
        """Return how long the image of each segment is at every gate, and at the outputs.

        Returns
        -------
        Findings
            ``image_length`` for each ``segment`` and ``gate``, of which the last is ``"output"``. EXACT within
            rounding; a lower bound where signs stayed undecided, since pieces between crossings are no longer then.
        """
        known = self._known
        sums = {name: _by_segment(np.add, table, self.offsets) for name, table in known.stretched.items()}
        number, names = len(self.is_exact), list(sums)
        table = np.stack(list(sums.values()), axis=1).reshape(number * len(names), 2)
        value, error = table[:, 0], table[:, 1] * (1 + SUMS) + SUMS * table[:, 0]
        is_exact = np.repeat(self.is_exact, len(names))
        return Findings.of(
            _between(IMAGE_LENGTH, value, error, is_exact, np.repeat(known.lengths, len(names))),
            keys={"segment": np.repeat(np.arange(number), len(names)), "gate": np.array(names * number)},
            domain="straight segments",
        )


@read_arguments
def pieces_along(
    network: Network,
    starts: Float[np.ndarray, "k n"] | Slice | Sequence[Slice],
    ends: Float[np.ndarray, "k n"] | None = None,
    *,
    tolerance: Tolerance | None = None,
) -> PiecesAlong:
    """Return the exact sequence of regions along segments, or along a path.

    Parameters
    ----------
    network : Network
    starts : (k, n) float64, a Slice or a sequence of slices
        Where segments begin; or a `Segment`, or several, as `polyline` returns them, and then no ``ends``.
    ends : (k, n) float64, optional
        Where they end, at other points. Those of a trajectory are ``pieces_along(network, *trajectory.ends())``.
    tolerance : Tolerance, optional

    Returns
    -------
    PiecesAlong
        ``to_pandas()`` is a table of the pieces and their crossings, ``jacobians()`` the Jacobian on each piece;
        ``measures()`` are numbers, densities and deviations from linear of segments; ``image_lengths()`` how long their
        images are at every gate.

    Raises
    ------
    DegenerateGeometryError
        If a segment has no length.
    IncompletePartitionError
        If Ctrl-C stopped the computation.

    Notes
    -----
    Less than one forward pass over all crossing points; the codes of all pieces are kept. Tables and measures take some
    forward passes more over all crossing points, and one Jacobian for each piece.

    References
    ----------
    .. [raghu2017] Raghu et al., "On the expressive power of deep neural networks", 2017.
    .. [gamba2022] Gamba et al., "Are all linear regions created equal?", 2022.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> rs.local.pieces_along(net, np.array([[-1.0, -3.0]]), np.array([[1.0, 1.0]])).stops
    array([0.5 , 0.75, 1.  ])
    >>> found = rs.local.pieces_along(net, rs.polyline([[-1.0, 1.0], [1.0, 1.0], [1.0, -1.0]]))
    >>> found.to_pandas()[["segment", "distance", "gates", "units", "jacobian_change", "length_at_output"]].round(3)
       segment  distance     gates units  jacobian_change  length_at_output
    0        0       0.0        []    []              NaN               0.0
    1        0       1.0  [relu 0]   [0]              1.0               1.0
    2        1       2.0        []    []              0.0               1.0
    3        1       3.0  [relu 0]   [1]              1.0               0.0
    >>> print(found.image_lengths().where(gate="output").total("image_length"))
    2 (EXACT)
    """
    starts, ends = _ends_of(starts, ends, network.num_inputs)
    segments = [Segment(start, end) for start, end in zip(starts, ends, strict=True)]
    parts = partitions(network, segments, tolerance=tolerance) if segments else []
    offsets = np.zeros(len(parts) + 1, dtype=np.int64)
    shares, moved = [np.zeros((0, 2))], [np.zeros((0, 2))]
    words = [np.zeros((0, network.layout.num_words), dtype=np.uint64)]
    for row, (part, length) in enumerate(zip(parts, np.linalg.norm(ends - starts, axis=1), strict=True)):
        part.require_complete("a walk along a segment")
        own, errors, order = _in_order(part, float(length))
        shares.append(own)
        moved.append(errors)
        words.append(part.codes.words[order])
        offsets[row + 1] = offsets[row] + len(order)
    every = np.concatenate(shares)
    values = PathValues(network, starts, ends, offsets, every, np.concatenate(moved), tolerance or Tolerance())
    return PiecesAlong(
        offsets,
        every[:, 0].copy(),
        every[:, 1].copy(),
        Codes(np.concatenate(words), network.layout),
        np.array([part.num_undecided == 0 for part in parts], dtype=bool),
        values,
    )


def _ends_of(starts: Any, ends: np.ndarray | None, num_inputs: int) -> tuple[np.ndarray, np.ndarray]:
    """Return where segments begin and end; those of slices are the ends of their windows."""
    if isinstance(starts, np.ndarray):
        if ends is None:
            raise InputError("ends must be given with points: of a path through points give reluscope.polyline(points)")
        return starts, ends
    if ends is not None:
        raise InputError("ends must be left out where segments are slices, which have both of their ends")
    segments = [starts] if isinstance(starts, Slice) else list(starts)
    if wide := [segment for segment in segments if segment.dim != 1 or not segment.is_bounded()]:
        raise ShapeError(f"starts must be segments, got a {wide[0].describe()}: make them by Segment or polyline")
    tops = np.array([_window_ends(segment) for segment in segments]).reshape(-1, 2)
    low, high = (
        np.array([segment.lift([end]) for segment, end in zip(segments, side, strict=True)]).reshape(-1, num_inputs)
        for side in tops.T
    )
    return low, high


def _window_ends(segment: Slice) -> tuple[float, float]:
    window = segment.window
    ends = np.array([window.lo[0], window.hi[0]]) if isinstance(window, Box) else window.polyhedron.vertices()[:, 0]
    return float(ends.min()), float(ends.max())


def _in_order(part: Partition, length: float) -> tuple[np.ndarray, np.ndarray, Int[np.ndarray, " q"]]:
    """Return the ends of a segment's regions as shares of its length, how far they are moved, and their order."""
    ids = part.region_vertices[1].reshape(-1, 2)
    sides = part.vertices[ids, 0] / length
    order = np.argsort(sides[:, 0], kind="stable")
    # Neighbours share a vertex: one number for both, and the ends of the segment are met.
    knots = np.concatenate([sides[order, 0], [1.0]])
    knots[0] = 0.0
    errors = np.concatenate([corner_errors(part)[ids[order, 0]], [0.0]])
    errors[0] = 0.0
    return np.stack([knots[:-1], knots[1:]], axis=1), np.stack([errors[:-1], errors[1:]], axis=1), order


def _by_segment(
    joined: np.ufunc, table: Float[np.ndarray, "p ..."], offsets: Int[np.ndarray, " k1"]
) -> Float[np.ndarray, "k ..."]:
    """Return sums or largest numbers over the pieces of each segment, 0 where there is none."""
    found = np.zeros((len(offsets) - 1, *table.shape[1:]))
    joined.at(found, np.repeat(np.arange(len(found)), np.diff(offsets)), table)
    return found


def _between(quantity: Quantity, value: np.ndarray, error: np.ndarray, is_exact: np.ndarray, scale: Any) -> Column:
    """Return numbers with bounds on their errors; those that crossings were missed for are lower bounds."""
    low = np.maximum(0.0, value - error)
    value, high = np.where(is_exact, value, low), np.where(is_exact, value + error, np.inf)
    return Column.of(quantity, value, low, high, scale=scale, method=METHOD)


def points_along(
    starts: Float[np.ndarray, "k n"], ends: Float[np.ndarray, "k n"], shares: Float[np.ndarray, " k"]
) -> Float[np.ndarray, "k n"]:
    """Return the points ``(1 - share) start + share end``; the end points themselves at 0 and 1."""
    return (1 - shares)[:, None] * starts + shares[:, None] * ends
