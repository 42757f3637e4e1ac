"""Partitions that go to a file while they are made, so that memory does not grow with the number of regions.

An engine walks as ever, but what it finishes is written to a folder beside the file at once. What has to be known of
all regions together is then found share by share: which rows are of one code, whether every seam between two parts is
covered from both sides, and, where signs stayed undecided, which regions show themselves.
"""

import os
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from reluscope import _kernels
from reluscope.effort import Effort
from reluscope.errors import InputError
from reluscope.files.spilled_rows import SpilledRows
from reluscope.geometry.polyhedra.domains import Box, Domain, Slice, Space
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.networks.network import Network
from reluscope.partitions.cells.cell_patches import CellPatch
from reluscope.partitions.cells.cellwise import walk_cells
from reluscope.partitions.complexes.elongated import in_units, sides_of
from reluscope.partitions.complexes.incidence import num_left
from reluscope.partitions.doubts.walk_rounding import Rounding
from reluscope.partitions.driver.walk import Walked
from reluscope.partitions.engines.few_dimensions import num_pending, walk_flat
from reluscope.partitions.streamed_files import write_streamed
from reluscope.partitions.streamed_partition import StreamedPartition
from reluscope.partitions.streams.regions_inside import regions_inside
from reluscope.partitions.streams.staged_regions import StagedRegions
from reluscope.partitions.table.assembly import Patch, match_seams
from reluscope.partitions.table.polygons import ordered_corners, polygon_sizes
from reluscope.partitions.table.region_rows import RegionRows, boundless, box_around, digests
from reluscope.partitions.tree.tree import TreeBatch, tree_batch
from reluscope.partitions.tree.tree_coordinates import Coordinates
from reluscope.partitions.tree.tree_search import search_tree

_SEAMS = np.dtype([("seam", np.int64), ("ends", np.float64, (2, 2)), ("witness", np.float64, 2)])
_FACETS = np.dtype([("key", np.uint64, 2), ("region", np.int64), ("on_wall", np.bool_)])


@dataclass(frozen=True)
class _Work:
    """What is to be partitioned, how, and where rows wait that are not needed before the end."""

    network: Network
    domain: Domain
    folder: Path
    effort: Effort
    rounding: Rounding
    units: Float[np.ndarray, " d"] | None  # in which the domain is given, where it is elongated

    def in_place(self, rows: Iterable[RegionRows]) -> list[RegionRows]:
        """Return regions in the coordinates that were asked for."""
        return list(rows) if self.units is None else [one.scaled(self.units) for one in rows]

    @property
    def inside(self) -> Network:
        """The network in coordinates of the domain."""
        return self.network.restrict(self.domain) if isinstance(self.domain, Slice) else self.network

    @property
    def window(self) -> Box | Polyhedron | Space:
        """The domain in its own coordinates."""
        return self.domain.window if isinstance(self.domain, Slice) else self.domain


class Found(NamedTuple):
    """What is known when the walk of an engine has ended."""

    walked: Walked
    num_open: int  # cells that were not finished
    num_pending: int  # of those, sure to hold a region of their own
    num_unmatched: int  # facets of which the other side was not found


def stream_regions(
    network: Network,
    domain: Domain,
    path: "str | os.PathLike[str]",
    engine: str,
    method: str,
    effort: Effort,
    *,
    rounding: Rounding = "measured",
) -> StreamedPartition:
    """Partition a domain into a file.

    An existing file stays until the new one is complete. Raises InputError if the file cannot be written, or the disk
    is full; nothing is left behind. Engine "incidence" is for lines and planes only.
    """
    began, target = time.perf_counter(), Path(path)
    with _folder_beside(target) as folder:
        staged = StagedRegions(
            folder / "staged", network.layout.num_words, domain.dim, has_volumes=engine == "incidence"
        )
        units = sides_of(domain)
        inner = domain if units is None else in_units(domain, units)
        work = _Work(network, inner, folder, effort, rounding, units)
        found = {"incidence": _planes, "cellwise": _cells, "tree": _tree}[engine](work, staged)
        walked = found.walked
        # Across a jump a facet has no other side of its own.
        num_undecided = walked.num_undecided + (0 if network.jumps else found.num_unmatched)
        # Cells that are not sure to be there, or, after a second Ctrl-C without patience, written as well.
        is_sure = not num_undecided and staged.num_rows == walked.num_found
        part = StreamedPartition(
            path=target,
            domain=domain,
            layout=network.layout,
            starts=np.zeros(1, dtype=np.int64),
            boxes=np.zeros((0, 2, domain.dim)),
            num_undecided=num_undecided,
            num_open=found.num_open,
            num_pending=found.num_pending if is_sure else 0,
            tolerance=effort.tolerance,
            fingerprint=network.fingerprint,
            network=network,
            stop=walked.stop if found.num_open else None,
            work=dict(walked.work),
            method=method,
        )
        regions, told = regions_inside(part, staged, folder / "shown")
        part = replace(part, work={**part.work, **told})
        return write_streamed(part, regions, began)


def _planes(work: _Work, staged: StagedRegions) -> Found:
    domain = work.domain
    assert isinstance(domain, Slice | Box)
    seams = SpilledRows(work.folder / "seams", _SEAMS)

    def store(patches: Sequence[Patch]) -> None:
        writes = []
        for patch in patches:
            open_ends = np.flatnonzero((patch.right < 0) & (patch.seams >= 0))
            rows = np.zeros(len(open_ends) if domain.dim == 2 else 0, dtype=_SEAMS)
            if len(rows):
                rows["seam"] = patch.seams[open_ends]
                rows["ends"] = patch.points[patch.ends[open_ends]]
                rows["witness"] = patch.witnesses[patch.left[open_ends]]
            writes.append(seams.add(rows["seam"].astype(np.uint64), rows))
        staged.extend(work.in_place(map(_polygons, patches)))
        for write in writes:
            write()

    walked, length = walk_flat(work.network, [domain], work.effort, store=store, rounding=work.rounding)
    num_open = int(num_left(walked, 1)[0])
    num_unmatched = 0
    for rows in seams:
        number = len(rows)
        ends = np.arange(2 * number).reshape(number, 2)
        points, witnesses = rows["ends"].reshape(-1, 2), np.ascontiguousarray(rows["witness"])
        num_unmatched += match_seams(rows["seam"], ends, np.arange(number), points, witnesses, 2, length)[2]
    return Found(walked, num_open, num_pending(work.network, num_open), num_unmatched)


def _cells(work: _Work, staged: StagedRegions) -> Found:
    facets = SpilledRows(work.folder / "facets", _FACETS)

    def store(patches: Sequence[CellPatch]) -> None:
        writes = []
        for patch in patches:
            rows = np.zeros(len(patch.facet_cells), dtype=_FACETS)
            rows["key"], rows["on_wall"] = patch.facet_keys, patch.on_walls
            # Cells of one code are one region, wherever they were found.
            rows["region"] = digests(patch.words)[patch.facet_cells, 0].view(np.int64)
            writes.append(facets.add(patch.facet_keys[:, 0], rows))
        staged.extend(work.in_place(_solid(patch, staged.dim) for patch in patches))
        for write in writes:
            write()

    with work.effort.counting("partition") as counted:
        walked = walk_cells(work.inside, work.window, counted, store=store)
    num_open, num_unmatched = sum(walked.left), 0
    for rows in facets if not num_open else ():
        regions = np.unique(rows["region"], return_inverse=True)[1]
        key, on_wall = (np.ascontiguousarray(rows[name]) for name in ("key", "on_wall"))
        num_unmatched += int(_kernels.join_facets(key, regions, on_wall)[2])
    return Found(walked, num_open, 0, num_unmatched)


def _tree(work: _Work, staged: StagedRegions) -> Found:
    coordinates = Coordinates.of(work.inside, work.window, work.effort.tolerance)

    def store(batches: Sequence[TreeBatch]) -> None:
        nowhere = boundless(staged.dim)
        staged.extend(work.in_place(RegionRows(batch.words, batch.witnesses, None, nowhere) for batch in batches))

    with work.effort.counting("partition") as counted:
        walked = search_tree(coordinates, finish=partial(tree_batch, coordinates), store=store, effort=counted)
    return Found(walked, sum(walked.left), sum(walked.left), 0)


def _polygons(patch: Patch) -> RegionRows:
    witnesses = patch.witnesses
    ids = ordered_corners(patch.points, patch.offsets, patch.ids, witnesses)
    volumes = polygon_sizes(patch.points, patch.offsets, ids)
    return RegionRows(patch.codes.words, witnesses, volumes, box_around(patch.points))


def _solid(patch: CellPatch, dim: int) -> RegionRows:
    witnesses = patch.middles[:, :dim] / patch.middles[:, dim:]
    is_bounded = bool(patch.is_bounded.all()) and len(patch) > 0
    box = box_around(patch.corners[:, :dim] / patch.corners[:, dim:]) if is_bounded else boundless(dim)
    return RegionRows(patch.words, witnesses, None, box)


@contextmanager
def _folder_beside(target: Path) -> Iterator[Path]:
    """Make a folder beside a file that is to be written, and remove it; what the disk refuses is an InputError."""
    if target.is_dir():
        raise InputError(f"{target} is a folder: name a file in it, such as {target / 'partition.parquet'}")
    try:
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as folder:
            yield Path(folder)
    except OSError as error:
        raise InputError(
            f"could not write {target} ({error.strerror or error}): free some space or name another place; nothing was "
            "changed there"
        ) from error
