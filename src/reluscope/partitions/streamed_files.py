"""The file of a streamed partition: written whole or not at all, and checked before it is used."""

import json
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from reluscope.codes.layout import CodeLayout
from reluscope.files import stored
from reluscope.files.sealed_files import SEAL_KEY, UNSEALED, parse_json, write_sealed
from reluscope.geometry.polyhedra.domain_arrays import domain_arrays
from reluscope.partitions.streamed_partition import StreamedPartition
from reluscope.partitions.table.region_rows import RegionRows
from reluscope.partitions.table.stored_partitions import read_described
from reluscope.stopping import plain_stop

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = "reluscope streamed partition 1"
# A row group has about so many bytes of codes, one byte a unit, within these numbers of rows.
GROUP_BYTES, MIN_ROWS, MAX_ROWS = 2**27, 2**10, 2**16


def write_streamed(part: StreamedPartition, regions: Iterator[RegionRows], began: float) -> StreamedPartition:
    """Write the file of a partition, and return the partition stored in it.

    ``part`` is what is known but for the regions; ``began`` is when work began, by `time.perf_counter`. Raises
    InputError if the file cannot be written; nothing is left behind.
    """
    import pyarrow as pa
    import pyarrow.parquet

    done = part
    width = max(1, part.layout.num_words)

    def write(file: IO[bytes]) -> None:
        nonlocal done
        starts, boxes = [0], list[np.ndarray]()
        groups = _groups(regions, _rows_per_group(part.layout))
        first = next(groups, None)
        schema = streamed_schema(part.layout, part.dim, has_volumes=first is not None and first.volumes is not None)
        with pyarrow.parquet.ParquetWriter(file, schema, compression="zstd", use_dictionary=False) as writer:
            for rows in _with(first, groups):
                words = np.zeros((len(rows), width), dtype=np.uint64)
                words[:, : rows.words.shape[1]] = rows.words
                code = pa.FixedSizeBinaryArray.from_buffers(
                    pa.binary(8 * width), len(rows), [None, pa.py_buffer(words)]
                )
                numbers = [*rows.witnesses.T, *([] if rows.volumes is None else [rows.volumes])]
                table = pa.table([code, *map(np.ascontiguousarray, numbers)], schema=schema)
                writer.write_table(table, row_group_size=len(rows))
                starts.append(starts[-1] + len(rows))
                boxes.append(rows.box)
            done = replace(
                part,
                starts=np.array(starts, dtype=np.int64),
                boxes=np.array(boxes).reshape(-1, 2, part.dim),
                work={**part.work, "seconds": time.perf_counter() - began},
            )
            writer.add_key_value_metadata({SEAL_KEY: UNSEALED, "reluscope": json.dumps(_description(done))})

    write_sealed(part.path, write)
    return done


def read_streamed(path: Path) -> StreamedPartition:
    """Return what a file says of its partition, without the regions.

    Raises ValueError, or another of `stored.MALFORMED`, if the file is not that of a partition.
    """
    import pyarrow.parquet

    metadata = pyarrow.parquet.read_metadata(path)
    described = parse_json((metadata.metadata or {})[b"reluscope"], path, "a streamed partition", "make it again")
    if stored.text(described, "format") != FORMAT:
        raise ValueError(f"{described['format']!r} is no streamed partition")
    domain, layout, claims = read_described(
        described,
        {
            name: np.array(entries, dtype=np.int64 if name == "domain.dim" else np.float64)
            for name, entries in described["domain"].items()
        },
    )
    sizes = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
    boxes = np.array([_plain_box(box, domain.dim) for box in described["boxes"]]).reshape(-1, 2, domain.dim)
    if len(boxes) != len(sizes) or np.isnan(boxes).any() or (boxes[:, 0] > boxes[:, 1]).any():
        raise ValueError("boxes of row groups")
    columns = metadata.schema.to_arrow_schema()
    if not any(columns.equals(streamed_schema(layout, domain.dim, has_volumes=some)) for some in (False, True)):
        raise ValueError(f"columns {columns.names}")
    return StreamedPartition(
        path=path,
        domain=domain,
        layout=layout,
        starts=np.cumsum([0, *sizes]),
        boxes=boxes,
        **claims,
    )


def streamed_schema(layout: CodeLayout, dim: int, *, has_volumes: bool) -> "pa.Schema":
    """Return the columns of a table of regions."""
    import pyarrow as pa

    witnesses = [(f"witness_{axis}", pa.float64()) for axis in range(dim)]
    volume = [("volume", pa.float64())] if has_volumes else []
    return pa.schema([("code", pa.binary(8 * max(1, layout.num_words))), *witnesses, *volume])


def _description(part: StreamedPartition) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "fingerprint": part.fingerprint,
        "claim": str(part.claim),
        "num_undecided": part.num_undecided,
        "num_open": part.num_open,
        "num_pending": part.num_pending,
        "method": part.method,
        "tolerance": asdict(part.tolerance),
        "stop": plain_stop(part.stop),
        "work": part.work,
        "gates": [[gate.name, gate.num_units, gate.num_pieces] for gate in part.layout],
        "domain": {name: array.tolist() for name, array in domain_arrays(part.domain).items()},
        "boxes": [box.tolist() if np.isfinite(box).all() else None for box in part.boxes],
    }


def _plain_box(box: Any, dim: int) -> np.ndarray:
    if box is None:
        return np.stack([np.full(dim, -np.inf), np.full(dim, np.inf)])
    found = np.array(box, dtype=np.float64)
    if found.shape != (2, dim):
        raise ValueError(f"a box of shape {found.shape}")
    return found


def _rows_per_group(layout: CodeLayout) -> int:
    return int(np.clip(GROUP_BYTES // (64 * max(1, layout.num_words)), MIN_ROWS, MAX_ROWS))


def _groups(regions: Iterator[RegionRows], most: int) -> Iterator[RegionRows]:
    """Yield regions in groups of about so many."""
    waiting: list[RegionRows] = []
    number = 0
    for rows in regions:
        if waiting and number + len(rows) > most:
            yield RegionRows.together(waiting)
            waiting, number = [], 0
        if len(rows):
            waiting.append(rows)
            number += len(rows)
    if waiting:
        yield RegionRows.together(waiting)


def _with(first: RegionRows | None, others: Iterator[RegionRows]) -> Iterator[RegionRows]:
    if first is not None:
        yield first
        yield from others
