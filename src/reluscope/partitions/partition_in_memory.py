"""A partition as a table: one row per region, columns are arrays, and nothing is computed before it is asked for."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from reluscope.arguments import (
    Count,
    Seed,
    holds_across_jumps,
    read_arguments,
    read_array,
    read_position,
    read_positions,
    refuse_jumps,
)
from reluscope.codes.differences import differences
from reluscope.effort import Effort
from reluscope.errors import CertificateError, InputError, ShapeError
from reluscope.files.named_arrays import load_as, save_arrays
from reluscope.findings import Claim, Finding, Findings
from reluscope.geometry.polyhedra.domain_arrays import domain_arrays
from reluscope.networks.evaluation.decisions import scores
from reluscope.networks.graph.affine_maps import AffineMaps
from reluscope.networks.graph.points import chunks
from reluscope.networks.network import Network
from reluscope.partitions.corner_errors import corner_errors, stored_side_errors
from reluscope.partitions.exact.certificates import Certificate
from reluscope.partitions.exact.exact_regions import code_tuples, exact_regions
from reluscope.partitions.faces.face_walk import find_faces
from reluscope.partitions.faces.faces import Faces, faces_of_facets
from reluscope.partitions.facets import Facets
from reluscope.partitions.other_forms import as_frame, as_graph
from reluscope.partitions.partition_findings import (
    bounded_regions,
    number_of_adjacent_pairs,
    number_of_bounded_regions,
    number_of_regions,
)
from reluscope.partitions.partition_page import partition_page
from reluscope.partitions.region_quantities import chosen_quantities
from reluscope.partitions.region_samples import sample_regions
from reluscope.partitions.rows import Row
from reluscope.partitions.table.code_location import locate_by_code
from reluscope.partitions.table.location import locate
from reluscope.partitions.table.needles import volumes_with_needles
from reluscope.partitions.table.region_table import RegionTable
from reluscope.partitions.table.stored_columns import column_arrays
from reluscope.partitions.table.stored_partitions import read_stored
from reluscope.stopping import plain_stop

# Bytes of values of so many vertices stay in the caches, where a forward pass takes half the time; never fewer rows.
CACHE_BYTES, MIN_ROWS = 2 * 2**20, 64

if TYPE_CHECKING:
    import os

    import networkx as nx
    import pandas as pd
    import pyarrow as pa


@dataclass(frozen=True, eq=False, kw_only=True)
class Partition(RegionTable):
    """The full-dimensional activation regions of a network on a domain.

    Coordinates are those of the domain: of the window for a slice, of input space for a box.

    Parameters
    ----------
    domain : Slice, Box, Space or Polyhedron
        The partitioned domain.
    codes : Codes
        One per region.
    vertices : (v, d) float64
        Shared by the regions around them.
    geometry : RegionColumns
        Interior points, and facets and corners as far as the engine keeps them.
    num_undecided : int
        Signs between the rounding bound and the resolution.
    num_open : int
        Cells that were not finished when work stopped early.
    tolerance : Tolerance
    certified : bool
        Whether doubtful signs were decided in rational arithmetic.
    fingerprint : str
        Fingerprint of the network.
    network : Network, optional
        Required for maps; missing after a load without a network.
    stop : Stop, optional
        Why work stopped early, if it did; `note` says it in words.
    work : dict
        Seconds, vertices evaluated, chunks; if signs stayed undecided, unlisted cells, which show no region of
        their own.
    method : str
        How the regions were found, and why by this method.
    num_pending : int
        Open cells that certainly contain a region of their own.
    proof : Certificate, optional
        Given if it was found together with the regions; `certificate` returns it in any case.
    jumps : tuple of str
        Gates of the network that are not continuous. The units of a facet then do not determine the region beyond
        it: `facets`, `adjacency` and `faces` raise DiscontinuousNetworkError.
    confirmed : (r,) bool, optional
        For a network too deep for proofs, the regions proved to exist; `reluscope.confirm` checks the rest. None if
        all are proved.
    """

    @read_arguments
    def __getitem__(self, index: int) -> Row:
        return Row(self, read_position(index, "index", len(self), "regions"))

    def __iter__(self) -> Iterator[Row]:
        return (Row(self, index) for index in range(len(self)))

    def __repr__(self) -> str:
        regions = "region" if len(self) == 1 else "regions"
        more = f" listed of {len(self) + self.num_pending:,} at least" if self.num_pending else ""
        return f"Partition({len(self):,} {regions}{more}, {self.claim}, of {self.domain.describe()})"

    def _repr_html_(self) -> str:
        """Return the partition for a notebook: its number with the claim, sizes, and a small picture of a plane."""
        return partition_page(self)

    @cached_property
    def certificate(self) -> Certificate | None:
        """Proof that these are all regions, for `reluscope.testing.check_certificate`; None if not certified.

        On bounded lines and planes it is computed at first access, in about a millisecond per region and some 30 units.

        Raises
        ------
        InputError
            If the partition was loaded without its network.
        CertificateError
            If exact arithmetic does not find the same regions: please report it.
        """
        if self.proof is not None or not self.certified or self.num_open:
            return self.proof
        if self.network is None:
            raise InputError(
                "a certificate needs the network: load the partition with Partition.load(path, network=net)"
            )
        exact = exact_regions(self.network, self.domain, self.codes)
        exact.raise_if_ended()
        found = exact.certificate
        if found.codes != code_tuples(self.codes):
            raise CertificateError(
                f"rational arithmetic finds {len(found):,} regions, and not these {len(self):,}: please report the "
                "network and the domain"
            )
        return found

    @property
    def claim(self) -> Claim:
        """What the number of regions claims: EXACT at the stated resolution, or LOWER."""
        return self.finding().claim

    @cached_property
    def facets(self) -> Facets:
        """Boundaries between regions, with the units that flip there, their hyperplanes, sizes and jumps of the map.

        After ``method="tree"`` they are found when first asked for, by a linear program for every region and unit.
        `adjacency_finding` says how sure they are all. Facets on the border of the domain are not among them.
        """
        left, right, ends = self._sides
        offsets, units = differences(self.codes, left, right)
        flips = np.stack(self.codes.layout.locate_units(units), axis=1)
        return Facets(left, right, ends, offsets, flips, self)

    @cached_property
    def _sides(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        refuse_jumps("Partition.facets", self)
        return self.facet_columns.inner

    @cached_property
    def _adjacency(self) -> csr_array:
        refuse_jumps("Partition.adjacency", self)
        return self.facet_columns.adjacency(len(self))

    def adjacency_finding(self) -> Finding:
        """Return the number of pairs of regions that share a facet, with the claim of `facets` and `adjacency`.

        Returns
        -------
        Finding
            EXACT at the stated resolution; LOWER if regions are missing, or if it stayed open whether some facet is
            there. Pairs that are listed share a facet, or there is less than the resolution between them.
        """
        return number_of_adjacent_pairs(self)

    @cached_property
    def faces(self) -> Faces:
        """All faces of the regions, from vertices to cells, found when first asked for and kept.

        Of bounded lines and planes without undecided signs those of the table. Else, in up to four dimensions, by
        another walk, of once or twice the partition's cost, where what max gates have cut stays cut: cells of one
        region have one code. On an unbounded domain those in a box that meets every face.

        Raises
        ------
        InputError
            If a walk is needed and the partition was loaded without its network, or its domain has more dimensions.
        """
        refuse_jumps("Partition.faces", self)
        if self.has_facet_vertices and not self.num_open and not self.num_undecided:
            facets, blur = self.facet_columns, corner_errors(self)
            return faces_of_facets(self.vertices, blur, facets.left, facets.right, facets.known_ends, self.codes.words)
        found = find_faces(self.network_on_domain, self.window, effort=Effort(tolerance=self.tolerance))
        return found.of_regions(self.codes.words)

    def boundedness_finding(self) -> Finding:
        """Return the number of bounded regions, with an interval where that is not proved or regions are missing."""
        return number_of_bounded_regions(self)

    def boundedness(self) -> Findings:
        """Return for every region whether it is bounded, and whether that is proved: EXACT where it is.

        On an unbounded domain found when first asked for, in some ten microseconds per region; in rational arithmetic
        where sides are nearly parallel, as long as that is cheap.
        """
        return bounded_regions(self, self._boundedness)

    def adjacency(self) -> csr_array:
        """Return which regions share a facet; `adjacency_finding` says how sure that is.

        Returns
        -------
        (r, r) scipy.sparse.csr_array of bool
            Symmetric, zero on the diagonal.
        """
        return self._adjacency.copy()

    def volumes(self) -> Float[np.ndarray, " r"]:
        """Return the length, area or volume of every region, infinite if it is unbounded.

        They sum to that of the domain if the partition is complete. In three and more dimensions Qhull computes each at
        first access, in about a tenth of a millisecond, and much more from six dimensions on. Regions that end very far
        away use rational arithmetic; their volume is NaN where that costs too much.

        Raises
        ------
        InputError
            If no corners are kept: ``method="tree"``, ``keep="codes"``. `region_volumes` then estimates volumes.
        """
        return volumes_with_needles(self)

    @read_arguments
    def sample(
        self, count: Count, *, seed: Seed = 0, weights: str | Float[np.ndarray, " r"] | None = None
    ) -> tuple[Float[np.ndarray, "n d"], Int[np.ndarray, " n"]]:
        """Draw independent points uniform in regions, these chosen by weight; by volume, uniform in all regions.

        Parameters
        ----------
        count : int
            Number of points.
        seed : int
            The same points on every machine, up to rounding.
        weights : str or (r,) array, optional
            Of the regions: their probabilities, up to a factor, or the name of a quantity of regions; by default
            "volume". With "image_volume" outputs are uniform on the image, counted with multiplicity (MaGNET, 2022).

        Returns
        -------
        points : (n, d) array
            In coordinates of the domain.
        regions : (n,) int64
            Row of the region of each point.

        Raises
        ------
        InputError
            If a region with a weight is unbounded, weights are negative, infinite or all 0, or no corners are kept.
        ShapeError
            If there is not one weight per region.
        DegenerateGeometryError
            If a region that is drawn has no volume in floats.

        Notes
        -----
        Each region that is drawn is cut into simplices by Qhull, in a tenth of a millisecond in few dimensions. A
        partition with open cells has the listed regions alone.

        Examples
        --------
        >>> import numpy as np, reluscope as rs
        >>> net = rs.load([(np.eye(2), np.zeros(2)), ([[3.0, 0.0], [0.0, 1.0]], [0.0, 0.0])])
        >>> part = rs.partition(net, rs.Box(-1, 1, 2))
        >>> points, regions = part.sample(1000, seed=1)
        >>> bool((part.locate(points) == regions).all()), bool((np.bincount(regions) > 200).all())
        (True, True)
        >>> points, _ = part.sample(5, weights="image_volume")  # three of four quadrants have flat images
        >>> bool((points > 0).all())
        True
        """
        return sample_regions(self, count, seed, weights)

    @read_arguments
    def locate(self, points: ArrayLike) -> Int[np.ndarray, " s"]:
        """Return the lowest row of a region whose closure contains each point, -1 if there is none.

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
            In three and more dimensions, and on unbounded domains, if the partition was loaded without its network.
        """
        points = np.atleast_2d(read_array(points, "points", finite=False))
        if points.ndim != 2 or points.shape[1] != self.dim:
            raise ShapeError(f"points must have {self.dim} coordinates of the domain, got shape {points.shape}")
        if self.has_facet_vertices:
            return locate(points, self.vertices, *self.region_vertices)
        found = np.full(len(points), -1, dtype=np.int64)
        inside = np.atleast_1d(self.window.contains(points))
        found[inside] = locate_by_code(points[inside], self.network_on_domain, self.codes, self.tolerance)
        return found

    @cached_property
    def maps(self) -> AffineMaps:
        """The affine map of the network on every region, from domain coordinates to outputs."""
        return self.linearize(np.arange(len(self)))

    @read_arguments
    def linearize(self, rows: "np.ndarray | list[int]") -> AffineMaps:
        """Return the affine maps of some regions, from domain coordinates to outputs.

        Raises
        ------
        InputError
            If the partition was loaded without its network.
        """
        return self.network_on_domain.linearize(self.witnesses[read_positions(rows, "rows", len(self), "regions")])

    @cached_property
    def outputs(self) -> Float[np.ndarray, "v m"]:
        """The network's outputs at the vertices: those that the walk had, or from one forward pass that is kept.

        Where gates jump these are the values that the region of the vertex goes to there, by its affine map.

        Raises
        ------
        InputError
            If the partition was loaded without its network.
        """
        network = self.network_on_domain
        corners = self.geometry.corners
        if corners is not None and corners.outputs is not None:
            return corners.outputs
        found = np.zeros((len(self.vertices), network.num_outputs))
        if self.jumps:
            offsets, ids = self.region_vertices
            for region, (start, stop) in enumerate(pairwise(offsets)):
                rows, maps = ids[start:stop], self.linearize([region])
                found[rows] = self.vertices[rows] @ maps.weight[0].cpu().numpy().T + maps.bias[0].cpu().numpy()
            return found
        memory = max(CACHE_BYTES, MIN_ROWS * network.bytes_per_point)
        for rows in chunks(len(found), network.bytes_per_point, memory) if len(found) else ():
            found[rows] = network(self.vertices[rows]).reshape(-1, network.num_outputs).cpu().numpy()
        return found

    @cached_property
    def scores(self) -> Float[np.ndarray, "v k"]:
        """The scores of the classes at the vertices: the outputs as the network's `decision` reads them.

        The largest is the class, the lowest at a tie. A single output is the score of class 1, that of class 0 is 0.
        """
        outputs = self.outputs  # which tells who has no network
        assert self.network is not None
        found = scores(outputs, self.network.decision)
        return found if found.shape[1] > 1 else np.concatenate([np.zeros_like(found), found], axis=1)

    def finding(self) -> Finding:
        """Return the number of regions as a finding.

        Returns
        -------
        Finding
            Of those that are listed, and of open cells that are sure to hold a region each (``num_pending``): where
            work stopped early, it is larger than ``len``. EXACT at the stated resolution if no sign was undecided;
            otherwise LOWER, with an interval without upper end: one undecided sign may hide many regions.
        """
        return number_of_regions(self)

    @read_arguments
    def to_table(self, quantities: str | Sequence[str] | None = None) -> "pa.Table":
        """Return one row per region: its code, its witness and its quantities.

        ``code``: the words of the region's code, as bytes; `Partition.codes` says what they mean. ``witness_0``,
        ``witness_1``, ...: a point strictly inside, in coordinates of the domain.

        Parameters
        ----------
        quantities : str or sequence of str, optional
            Names of declared quantities, or "all" that the partition allows. By default those that are listed: where
            corners are kept ``volume``, in coordinates of the domain and infinite where the region is unbounded, and
            ``num_corners``; and those of `declare_region_quantity`.

        Returns
        -------
        pyarrow.Table

        Raises
        ------
        InputError
            If there is no such quantity, or the partition lacks what it needs.
        """
        import pyarrow as pa

        words = np.ascontiguousarray(self.codes.words)
        width = words.shape[1] * words.itemsize
        code = pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), len(self), [None, pa.py_buffer(words)])
        columns: dict[str, Any] = {"code": code}
        columns |= {f"witness_{axis}": self.witnesses[:, axis] for axis in range(self.dim)}
        columns |= {entry.name: entry.of(self) for entry in chosen_quantities(self, quantities)}
        return pa.table(columns)

    @read_arguments
    def to_pandas(self, quantities: str | Sequence[str] | None = None) -> "pd.DataFrame":
        """Return one row per region as a data frame of pandas: `to_table` with codes as text.

        ``code``: a digit for the piece of each unit (1 for an active ReLU), gates apart by a space; the pieces of
        gates with more than ten have commas between. By default, where the partition has what they need, also
        ``class`` (the class of the witness, for networks of several outputs, or with a threshold or sigmoid; other
        classes may occur in the region), ``num_active`` and ``map_norm``.
        """
        return as_frame(self, quantities)

    def to_networkx(self) -> "nx.Graph":
        """Return the graph of regions as nodes 0, 1, ... and facets between them as edges.

        Returns
        -------
        networkx.Graph
            Nodes have their ``witness`` and, if corners are kept, their ``volume``. Edges have ``units``, the pairs of
            gate and unit that change their piece there.

        Raises
        ------
        ReluscopeError
            If networkx is not installed.
        """
        return as_graph(self)

    @read_arguments
    def save(self, path: "str | os.PathLike[str]") -> None:
        """Write the partition to an Arrow file, whole or not at all.

        Raises
        ------
        InputError
            If the file cannot be written; what was there before stays.
        """
        save_arrays(path, *self.stored_parts())

    def stored_parts(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Return what `save` writes, as named arrays and plain types: for files that hold a partition and more."""
        arrays, geometry = column_arrays(self.geometry)
        if "is_bounded" in arrays:
            arrays |= self._boundedness._asdict()
        arrays |= stored_side_errors(self)
        description = {
            "kind": "partition",
            "fingerprint": self.fingerprint,
            "claim": str(self.claim),
            "num_undecided": self.num_undecided,
            "num_open": self.num_open,
            "num_pending": self.num_pending,
            "method": self.method,
            **geometry,
            "tolerance": asdict(self.tolerance),
            "certified": self.certified,
            "stop": plain_stop(self.stop),
            "work": self.work,
            "gates": [[gate.name, gate.num_units, gate.num_pieces] for gate in self.codes.layout],
            **({"jumps": list(self.jumps)} if self.jumps else {}),
        }
        if self.confirmed is not None:
            arrays["confirmed"] = self.confirmed
        return {**arrays, **domain_arrays(self.domain)}, description

    @staticmethod
    @read_arguments
    @holds_across_jumps
    def load(path: "str | os.PathLike[str]", network: Network | None = None) -> "Partition":
        """Read a partition that `save` wrote.

        Parameters
        ----------
        path : path
        network : Network, optional
            Checked against the fingerprint in the file; required for maps.

        Raises
        ------
        InputError
            If the file is missing, damaged, not a partition, or of another network.
        """
        return load_as(
            path,
            "partition",
            lambda arrays, described: Partition(**read_stored(arrays, described, network)),
            None if network is None else network.fingerprint,
        )
