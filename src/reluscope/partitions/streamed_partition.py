"""A partition that lies in a file: counted, located and read piece by piece, however many regions it has.

The file is a Parquet table of one row per region, which other tools read as well: ``code`` (packed, little-endian
words), ``witness_0``, ... and, of a line or a plane, ``volume``. Its footer says what was partitioned and how, and
between which coordinates the regions of every row group lie, which is how a point finds the few it may be in.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike

from reluscope.arguments import read_arguments, read_array, read_positions
from reluscope.codes.checked_words import check_words
from reluscope.codes.layout import CodeLayout
from reluscope.codes.packed import Codes
from reluscope.errors import IncompletePartitionError, InputError, ReluscopeError, ShapeError
from reluscope.files import stored
from reluscope.files.arrow_tables import checked_table
from reluscope.files.sealed_files import check_sealed, not_as_written
from reluscope.files.stored import MALFORMED
from reluscope.findings import Claim, Finding
from reluscope.geometry.polyhedra.domains import Box, Domain, Slice, Space
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.networks.network import Network
from reluscope.partitions.partition_findings import number_of_regions
from reluscope.partitions.table.code_location import CodesAtPoints
from reluscope.partitions.table.region_rows import RegionRows
from reluscope.stopping import Noted, Stop
from reluscope.tolerance import Tolerance

if TYPE_CHECKING:
    import pyarrow.parquet

# Regions may lie beside their boxes by so much of the boxes' size: corners are rounded.
SLACK = 1e-6


# Finds points among some regions.
Find = Callable[[CodesAtPoints, Codes, np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False, kw_only=True)
class StreamedPartition(Noted):
    """The full-dimensional activation regions of a network on a domain, in a file.

    `stream` returns it, `StreamedPartition.load` reopens it. Regions are read from
    the file in parts. It has no neighbours, corners and maps: partition a smaller domain for these.

    Parameters
    ----------
    path : Path
    domain : Slice, Box, Space or Polyhedron
        The partitioned domain.
    layout : CodeLayout
        Layout of the codes.
    starts : (g + 1,) int64
        First row of every row group.
    boxes : (g, 2, d) float64
        Lowest and highest coordinates in the regions of every row group.
    num_undecided : int
        Signs between the rounding bound and the resolution.
    num_open, num_pending : int
        Cells that were not finished when work stopped early, and the cells among them that certainly contain a
        region.
    tolerance : Tolerance
    fingerprint : str
        Fingerprint of the network.
    network : Network, optional
        Required to locate points; missing after a load without a network.
    stop : Stop, optional
        Why work stopped early, if it did; `note` says it in words.
    work : dict
        Seconds, vertices evaluated, chunks.
    method : str
        How the regions were found, and why by this method.
    """

    path: Path
    domain: Domain
    layout: CodeLayout
    starts: Int[np.ndarray, " g1"]
    boxes: Float[np.ndarray, "g ends d"]
    num_undecided: int
    num_open: int
    num_pending: int
    tolerance: Tolerance
    fingerprint: str
    network: Network | None = None
    stop: Stop | None = None
    work: dict[str, float] = field(default_factory=dict)
    method: str

    certified: ClassVar[bool] = False

    def __len__(self) -> int:
        return int(self.starts[-1])

    def __repr__(self) -> str:
        regions = "region" if len(self) == 1 else "regions"
        more = f" listed of {len(self) + self.num_pending:,} at least" if self.num_pending else ""
        where = f"of {self.domain.describe()}, in {self.path}"
        return f"StreamedPartition({len(self):,} {regions}{more}, {self.claim}, {where})"

    @property
    def claim(self) -> Claim:
        """What the number of regions claims: EXACT at the stated resolution, or LOWER."""
        return self.finding().claim

    @property
    def dim(self) -> int:
        """Dimension d of the domain."""
        return self.domain.dim

    @property
    def has_volumes(self) -> bool:
        """Whether the file has the length or area of every region: on bounded lines and planes."""
        return "volume" in self._file.schema_arrow.names

    @property
    def window(self) -> Box | Polyhedron | Space:
        """The domain in its own coordinates."""
        return self.domain.window if isinstance(self.domain, Slice) else self.domain

    @cached_property
    def network_on_domain(self) -> Network:
        """The network as a function of the domain's coordinates.

        Raises
        ------
        InputError
            If the partition was loaded without its network.
        """
        if self.network is None:
            raise InputError(
                "this needs the network, and the partition was loaded without one: "
                "StreamedPartition.load(path, network=net)"
            )
        return self.network.restrict(self.domain) if isinstance(self.domain, Slice) else self.network

    def finding(self) -> Finding:
        """Return the number of regions as a finding, with the claim of `Partition.finding`."""
        return number_of_regions(self)

    @read_arguments
    def require_complete(self, purpose: str) -> None:
        """Raise IncompletePartitionError unless every region of the domain is here."""
        if self.num_open:
            raise IncompletePartitionError(
                f"{purpose} needs every region of the domain, and this partition stopped early ({self.note}) with "
                f"{self.num_open:,} cells unfinished: run it again with a larger budget"
            )

    def blocks(self) -> Iterator[RegionRows]:
        """Yield all regions in the order of their rows, some thousands at a time.

        Yields
        ------
        RegionRows
            Packed ``words`` of the codes, ``witnesses``, and ``volumes`` if the file has them; ``Codes(rows.words,
            part.layout)`` are the codes.

        Raises
        ------
        InputError
            If the file no longer exists, or has changed.
        """
        return (self._group(group) for group in range(len(self.boxes)))

    @read_arguments
    def take(self, rows: "np.ndarray | list[int]") -> RegionRows:
        """Return the regions of the given rows.

        Parameters
        ----------
        rows : (k,) array of int
            Rows as `locate` returns them; negative ones count from the end.

        Raises
        ------
        InputError
            If a row does not exist, or the file no longer exists.
        """
        asked = read_positions(rows, "rows", len(self), "regions")
        groups = np.searchsorted(self.starts, asked, side="right") - 1
        order, parts = np.argsort(groups, kind="stable"), [self._nothing]
        for group in np.unique(groups):
            here = asked[order][groups[order] == group]
            parts.append(self._group(int(group)).take(here - self.starts[group]))
        return RegionRows.together(parts).take(np.argsort(order, kind="stable"))

    @read_arguments
    def locate(self, points: ArrayLike) -> Int[np.ndarray, " s"]:
        """Return the row of a region whose closure contains each point, -1 if there is none.

        There is none outside the domain, in unfinished cells, and in unlisted cells made by undecided signs.

        Parameters
        ----------
        points : (s, d) or (d,) array
            In coordinates of the domain (`Slice.project` computes them).

        Returns
        -------
        (s,) int64

        Raises
        ------
        InputError
            If the partition was loaded without its network, or the file no longer exists.

        Notes
        -----
        The network's codes at the points are searched in the row groups around them, on bounded domains few of many;
        codes not found there are searched in all other row groups.
        """
        points = np.atleast_2d(read_array(points, "points", finite=False))
        if points.ndim != 2 or points.shape[1] != self.dim:
            raise ShapeError(f"points must have {self.dim} coordinates of the domain, got shape {points.shape}")
        return self._rows(points, CodesAtPoints.lowest)

    def _rows(self, points: Float[np.ndarray, "s d"], find: Find) -> Int[np.ndarray, " s"]:
        network, found = self.network_on_domain, np.full(len(points), -1, dtype=np.int64)
        inside = np.flatnonzero(np.atleast_1d(self.window.contains(points)))
        if not len(inside) or not len(self):
            return found
        where, rows = points[inside], np.full(len(inside), -1, dtype=np.int64)
        seen = CodesAtPoints.of(where, network, self.tolerance)
        for near in (True, False):
            for group, (low, high) in enumerate(self.boxes):
                slack = SLACK * np.abs(np.where(np.isfinite(high), high, 0) - np.where(np.isfinite(low), low, 0)).max()
                beside = ((where < low - slack) | (where > high + slack)).any(axis=1)
                asked = np.flatnonzero((rows < 0) & (beside != near))
                if len(asked):
                    place = find(seen, Codes(self._group(group).words, self.layout), asked)
                    rows[asked] = np.where(place >= 0, self.starts[group] + place, -1)
        found[inside] = rows
        return found

    @staticmethod
    @read_arguments
    def load(path: "str | os.PathLike[str]", network: Network | None = None) -> "StreamedPartition":
        """Open a file that `stream` wrote.

        Parameters
        ----------
        path : path
        network : Network, optional
            Checked against the fingerprint in the file; required to locate points.

        Raises
        ------
        InputError
            If the file is missing, damaged, of another kind, or of another network.

        Notes
        -----
        The whole file is read once to check its digest: a second or two per gigabyte.
        """
        from reluscope.partitions.streamed_files import read_streamed

        what, advice = "a streamed partition", "make it again with rs.stream"
        check_sealed(path, what, advice)
        try:
            found = read_streamed(Path(path))
        except (*MALFORMED, ReluscopeError, OSError) as error:
            raise not_as_written(path, what, advice) from error
        if network is not None and network.fingerprint != found.fingerprint:
            raise InputError(
                f"{path} holds a partition of another network (fingerprint {found.fingerprint[:12]}, the network given "
                f"has {network.fingerprint[:12]}): give the network it was made with"
            )
        return replace(found, network=network)

    @property
    def _nothing(self) -> RegionRows:
        box = np.stack([np.full(self.dim, np.inf), np.full(self.dim, -np.inf)])
        volumes = np.zeros(0) if self.has_volumes else None
        return RegionRows(np.zeros((0, self.layout.num_words), np.uint64), np.zeros((0, self.dim)), volumes, box)

    @property
    def _file(self) -> "pyarrow.parquet.ParquetFile":
        import pyarrow.parquet

        try:
            return pyarrow.parquet.ParquetFile(self.path)
        except (OSError, ValueError) as error:
            raise InputError(f"{self.path} is not there any more, or has changed: load it again") from error

    def _group(self, group: int) -> RegionRows:
        """Return the regions of a row group."""
        number = int(self.starts[group + 1] - self.starts[group])
        file = self._file
        try:
            table = checked_table(lambda: file.read_row_group(group, use_threads=False))
            code = table.column("code").combine_chunks()
            width = max(1, self.layout.num_words)
            if code.null_count or code.type.byte_width != 8 * width:
                raise ValueError(f"codes of {code.type}")
            words = np.frombuffer(code.buffers()[1], np.uint64, number * width, 8 * width * code.offset)
            words = words.reshape(number, width)[:, : self.layout.num_words]
            check_words(words, self.layout)
            numbers = {name: table.column(name).to_numpy() for name in table.column_names[1:]}
            of_regions = [stored.array(numbers, name, np.float64, (number,)) for name in numbers]
            witnesses, volumes = of_regions[: self.dim], of_regions[self.dim] if len(of_regions) > self.dim else None
            return RegionRows(words, np.stack(witnesses, axis=1), volumes, self.boxes[group])
        except (*MALFORMED, OSError) as error:
            raise InputError(f"{self.path} has changed since it was opened: load it again") from error


def rows_of_pixels(part: StreamedPartition, points: Float[np.ndarray, "s d"]) -> Int[np.ndarray, " s"]:
    """Return a row for each of very many points: of several regions that meet at a point any one, -1 if there is none.

    Where a code is found that floats see at a point, nobody asks which other regions the point is on the edge of.
    """
    rows = part._rows(points, CodesAtPoints.own)
    left = np.flatnonzero(rows < 0)
    rows[left] = part.locate(points[left])
    return rows
