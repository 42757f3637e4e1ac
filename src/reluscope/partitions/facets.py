"""The facets of a partition as a table: pieces of boundary between two regions, each with the unit that bends there.

On a facet one unit, or several that share a hyperplane, change their piece. The network is continuous, so that the
affine maps on both sides agree on the hyperplane: their difference has rank one, a vector of outputs times the normal.
"""

from dataclasses import dataclass, field
from functools import cached_property
from math import inf, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Int

from reluscope.arguments import read_arguments, read_position
from reluscope.findings import Column, Finding, Findings, declare
from reluscope.findings.claims import largest_error
from reluscope.findings.data_frames import as_pandas
from reluscope.findings.derived import Ends, at_an_end
from reluscope.geometry.numbers.resolutions import SUMS
from reluscope.networks.evaluation.maps_of_codes import maps_of_codes
from reluscope.partitions.facet_volumes import FacetVolumes, facet_volumes
from reluscope.partitions.left_open import left_open
from reluscope.partitions.rows_of_facets import facet_hyperplanes
from reluscope.shown import Shown

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from reluscope.partitions.partition_in_memory import Partition

FACET_VOLUME = declare(
    "facet_volume",
    "(d - 1)-dimensional volume of the facet, in coordinates of the domain: length in the plane, area in space, 1 on a "
    "line",
    source="hanin2019",
)
JUMP = declare("jump", "spectral norm of the difference of the affine maps on both sides of the facet")
# Numbers of the maps of regions that are held together.
MAP_NUMBERS = 2**22


@dataclass(frozen=True, eq=False, repr=False)
class Facets(Shown):
    """Pieces of boundary between two regions; those on the border of the domain are not among them.

    Parameters
    ----------
    left, right : (f,) int64
        Rows of the regions on either side.
    vertices : (f, d) int64
        Rows of the vertices at the ends: two in the plane, one on a line. Of no columns in more dimensions and on
        unbounded domains, where facets have any number of vertices; `volumes` has their sizes in any dimension.
    flip_offsets : (f + 1,) int64; flips : (flip_offsets[-1], 2) int64
        Units that change their piece across each facet, as gate and unit within the gate. More than one flips on
        degenerate networks.
    partition : Partition

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(3), np.zeros(3)), ([[1.0, 2.0, 3.0]], [0.0])])
    >>> facets = rs.partition(net, rs.Box(-1, 1, 3)).facets
    >>> print(len(facets), "facets,", facets.boundary_finding())
    12 facets, 12 (EXACT)
    >>> sorted(set(np.abs(facets.jumps).ravel().round(9).tolist()))
    [1.0, 2.0, 3.0]
    """

    left: Int[np.ndarray, " f"]
    right: Int[np.ndarray, " f"]
    vertices: Int[np.ndarray, "f _"]
    flip_offsets: Int[np.ndarray, " f1"]
    flips: Int[np.ndarray, "flips 2"]
    partition: "Partition" = field(repr=False)

    def __len__(self) -> int:
        return len(self.left)

    @read_arguments
    def flips_at(self, facet: int) -> Int[np.ndarray, "flips 2"]:
        """Return gate and unit of all units that change their piece across one facet."""
        facet = read_position(facet, "facet", len(self), "facets")
        return self.flips[self.flip_offsets[facet] : self.flip_offsets[facet + 1]]

    @property
    def gates(self) -> Int[np.ndarray, " f"]:
        """First gate with a unit that changes its piece across each facet."""
        return self.flips[self.flip_offsets[:-1], 0]

    @property
    def units(self) -> Int[np.ndarray, " f"]:
        """First unit of `gates` that changes its piece across each facet: the unit that bends there."""
        return self.flips[self.flip_offsets[:-1], 1]

    @cached_property
    def _hyperplanes(self) -> tuple[np.ndarray, np.ndarray]:
        return facet_hyperplanes(self)

    @property
    def normals(self) -> Float[np.ndarray, "f d"]:
        """Unit normals, from the left region to the right one, in coordinates of the domain.

        NaN where a region is thinner than floats resolve and fractions cost too much.

        Raises
        ------
        InputError
            If the partition was loaded without its network.
        """
        return self._hyperplanes[0]

    @property
    def offsets(self) -> Float[np.ndarray, " f"]:
        """Offsets of the hyperplanes: on a facet ``normal . x = offset``; errors as for `normals`."""
        return self._hyperplanes[1]

    @cached_property
    def _volumes(self) -> FacetVolumes:
        return facet_volumes(self)

    @property
    def volumes(self) -> Float[np.ndarray, " f"]:
        """The (d - 1)-dimensional volume of every facet in coordinates of the domain, infinite where it is unbounded.

        Length in the plane, area in space, 1 for the points between the regions of a line. In three and more
        dimensions Qhull computes each at first access, in some tenths of a millisecond. Rational arithmetic replaces
        it where corners cannot be told apart, and in up to five dimensions for about a thousand regions without
        corners (``method="tree"``, ``keep="codes"``), in some milliseconds each; other facets of these are estimates.

        Raises
        ------
        InputError
            In three and more dimensions, or on an unbounded domain, if the partition was loaded without its network.
        """
        return self._volumes.value

    @property
    def jumps(self) -> Float[np.ndarray, "f m"]:
        """Growth of the derivative of every output along the normal, from the left region to the right one.

        The maps on both sides differ by ``jump normal^T`` in their weights and ``-jump offset`` in their biases.

        Raises
        ------
        InputError
            If the partition was loaded without its network.
        """
        return self._differences[0]

    @cached_property
    def _differences(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Jumps, the sizes of the differences of maps, which have one singular value, and bounds on their errors."""
        part = self.partition
        network, normals = part.network_on_domain, self.normals
        jumps, sizes, errors = np.zeros((len(self), network.num_outputs)), np.zeros(len(self)), np.zeros(len(self))
        step = max(1, MAP_NUMBERS // (network.num_outputs * part.dim))
        for start in range(0, len(self), step):
            here = slice(start, start + step)
            (right, of_right), (left, of_left) = (
                maps_of_codes(network, part.codes[side[here]]) for side in (self.right, self.left)
            )
            difference = (right.weight - left.weight).numpy()
            jumps[here] = np.einsum("fmd,fd->fm", difference, normals[here])
            sizes[here] = np.linalg.norm(difference, axis=(1, 2))
            errors[here] = sqrt(part.dim) * np.linalg.norm(of_right + of_left, axis=1) + SUMS * sizes[here]
        return jumps, sizes, errors

    def findings(self) -> Findings:
        """Return size and jump of every facet with their claims.

        Returns
        -------
        Findings
            ``facet_volume``, between ends that hold all errors of corners and hyperplanes, and ``jump``, between those
            of the rounding of both maps; estimates where signs of the partition are undecided. The rows are those of
            this object, with the keys ``left``, ``right``, ``gate`` and ``unit``.

        Raises
        ------
        InputError
            If the partition was loaded without its network.
        """
        part, found = self.partition, self._volumes
        _, jumps, errors = self._differences
        ends = {
            FACET_VOLUME: (found.value, found.lower, found.upper),
            JUMP: (jumps, np.maximum(0.0, jumps - errors), jumps + errors),
        }
        is_sure = left_open(part).is_listed_sure
        columns = (
            Column.of(quantity, *values, method=part.method)
            if is_sure
            else Column.estimate(quantity, values[0], method=part.method)
            for quantity, values in ends.items()
        )
        return Findings.of(
            *columns,
            keys={"left": self.left, "right": self.right, "gate": self.gates, "unit": self.units},
            domain=part.domain.describe(),
            stop=part.stop,
        )

    def boundary_finding(self) -> Finding:
        """Return the size of the boundary between regions: the sum of the volumes of all facets.

        The (d - 1)-dimensional volume that Hanin and Rolnick (2019) bound in expectation at random weights. The border
        of the domain is not part of it.

        Returns
        -------
        Finding
            Infinite if a facet is unbounded. EXACT up to rounding, where hyperplanes with less than the resolution of
            the partition between them count once; LOWER where regions or facets are missing.

        Raises
        ------
        InputError
            As for `volumes`.
        """
        part, found, account = self.partition, self._volumes, left_open(self.partition)
        lower, upper = account.ends(float(found.lower.sum()), float(found.upper.sum()), least=0.0)
        size = float(found.value.sum())
        ends = Ends(size, lower, inf if part.facet_columns.num_unmatched else upper)
        value, lower, upper, _ = at_an_end(ends, float(largest_error(size)))
        return Finding.of(
            value,
            lower,
            upper,
            name="size of the boundary between regions",
            definition="(d - 1)-dimensional volume of all facets between two regions, in coordinates of the domain",
            domain=part.domain.describe(),
            method=f"{part.method}; {len(self):,} facets",
            source="hanin2019",
            num_undecided=part.num_undecided,
        )

    def to_table(self) -> "pa.Table":
        """Return one row per facet: ``left``, ``right``, ``gate``, ``unit``, its hyperplane, ``volume`` and ``jump``.

        ``gate`` is the name of the first gate that bends there, and ``unit`` the unit of that gate. On the facet
        ``normal_0 x_0 + normal_1 x_1 + ... = offset``; the normal has length 1 and points from left to right. ``jump``
        is the spectral norm of the difference of the affine maps on both sides.

        Raises
        ------
        InputError
            If the partition was loaded without its network.
        """
        import pyarrow as pa

        names = [gate.name for gate in self.partition.codes.layout]
        columns: dict[str, Any] = {"left": self.left, "right": self.right}
        columns |= {"gate": pa.array([names[gate] for gate in self.gates.tolist()], pa.string()), "unit": self.units}
        columns |= {f"normal_{axis}": self.normals[:, axis] for axis in range(self.partition.dim)}
        columns |= {"offset": self.offsets, "volume": self.volumes, "jump": self._differences[1]}
        return pa.table(columns)

    def to_pandas(self) -> "pd.DataFrame":
        """Return `to_table` as a data frame of pandas."""
        return as_pandas(self.to_table())
