"""Partitions on disk: one Arrow file, written whole or not at all."""

import json
import os
import tempfile
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc

from reluscope.codes.layout import CodeLayout, GateLayout
from reluscope.codes.packed import Codes
from reluscope.errors import InputError
from reluscope.findings import Claim
from reluscope.geometry.domains import Box, Slice
from reluscope.geometry.polyhedron import Polyhedron
from reluscope.networks.network import Network
from reluscope.partitions.assembly import Mosaic
from reluscope.partitions.table import Partition
from reluscope.tolerance import Tolerance

FORMAT = "reluscope partition 1"
SCHEMA = pa.schema(
    [("name", pa.string()), ("dtype", pa.string()), ("shape", pa.list_(pa.int64())), ("data", pa.large_binary())]
)


def to_table(part: Partition) -> pa.Table:
    """Return one row per region: code (bytes), witness, volume, number of corners."""
    offsets, _ = part.region_vertices
    words = np.ascontiguousarray(part.codes.words)
    if words.shape[1]:
        code = pa.array(words.view(f"V{8 * words.shape[1]}").reshape(-1).tolist(), pa.binary())
    else:
        code = pa.array([b""] * len(part), pa.binary())
    columns: dict[str, Any] = {"code": code}
    for axis in range(part.dim):
        columns[f"witness_{axis}"] = part.witnesses[:, axis]
    columns["volume"] = part.volumes()
    columns["num_corners"] = np.diff(offsets)
    return pa.table(columns, metadata={"reluscope": json.dumps(_description(part))})


def save(part: Partition, path: str | os.PathLike[str]) -> None:
    """Write a partition to an Arrow file; what was at the path stays until the new file is complete."""
    arrays = {f.name: getattr(part.mosaic, f.name) for f in fields(Mosaic) if f.name != "num_unmatched"}
    arrays |= {f"domain.{name}": array for name, array in _domain_arrays(part.domain).items()}
    rows = [
        {
            "name": name,
            "dtype": array.dtype.str,
            "shape": list(array.shape),
            "data": np.ascontiguousarray(array).tobytes(),
        }
        for name, array in arrays.items()
    ]
    table = pa.Table.from_pylist(rows, SCHEMA.with_metadata({"reluscope": json.dumps(_description(part))}))
    target = Path(path)
    temporary = None
    try:
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as file:
            temporary = file.name
            with pyarrow.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except OSError as error:
        raise InputError(
            f"could not save the partition to {target}: {error.strerror or error}; nothing was changed there"
        ) from error
    finally:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)


def load(path: str | os.PathLike[str], network: Network | None = None) -> Partition:
    """Read a partition that `save` wrote, and check that it belongs to the network."""
    try:
        with pa.OSFile(os.fspath(path), "rb") as file:
            table = pyarrow.ipc.open_file(file).read_all()
        described = json.loads((table.schema.metadata or {})[b"reluscope"])
        if described["format"] != FORMAT:
            raise InputError(f"expected a file of format {FORMAT!r} in {path}, got {described['format']!r}")
        arrays = {
            row["name"]: np.frombuffer(row["data"], dtype=row["dtype"]).reshape(row["shape"])
            for row in table.to_pylist()
        }
    except FileNotFoundError as error:
        raise InputError(f"there is no file {path}") from error
    except (pa.ArrowInvalid, OSError, KeyError, ValueError, TypeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} is not a partition saved by reluscope, or it is damaged: save it again") from error
    if network is not None and network.fingerprint != described["fingerprint"]:
        raise InputError(
            f"{path} holds a partition of another network (fingerprint {described['fingerprint'][:12]}, the network "
            f"given has {network.fingerprint[:12]}): load the network it was made with"
        )
    mosaic = Mosaic(
        **{f.name: arrays[f.name] for f in fields(Mosaic) if f.name != "num_unmatched"},
        num_unmatched=described["num_unmatched"],
    )
    layout = CodeLayout(tuple(GateLayout(*gate) for gate in described["gates"]))
    return Partition(
        _read_domain(described["domain"], arrays),
        Codes(mosaic.words, layout),
        mosaic,
        Claim(described["claim"]),
        described["num_undecided"],
        described["num_open"],
        Tolerance(**described["tolerance"]),
        described["certified"],
        described["fingerprint"],
        network,
        described["note"],
        described["work"],
    )


def _description(part: Partition) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "fingerprint": part.fingerprint,
        "domain": _domain_kind(part.domain),
        "claim": str(part.claim),
        "num_undecided": part.num_undecided,
        "num_open": part.num_open,
        "num_unmatched": part.mosaic.num_unmatched,
        "tolerance": asdict(part.tolerance),
        "certified": part.certified,
        "note": part.note,
        "work": part.work,
        "gates": [[gate.name, gate.num_units, gate.num_pieces] for gate in part.codes.layout],
    }


def _domain_kind(domain: Slice | Box) -> str:
    if isinstance(domain, Box):
        return "box"
    return "slice of a box" if isinstance(domain.window, Box) else "slice of a polyhedron"


def _domain_arrays(domain: Slice | Box) -> dict[str, np.ndarray]:
    if isinstance(domain, Box):
        return {"lo": domain.lo, "hi": domain.hi}
    window = domain.window
    inner = {"lo": window.lo, "hi": window.hi} if isinstance(window, Box) else {"A": window.A, "b": window.b}
    return {"origin": domain.origin, "basis": domain.basis, **inner}


def _read_domain(kind: str, arrays: dict[str, np.ndarray]) -> Slice | Box:
    entry = {name.removeprefix("domain."): array for name, array in arrays.items() if name.startswith("domain.")}
    if kind == "box":
        return Box(entry["lo"], entry["hi"])
    window = Box(entry["lo"], entry["hi"]) if kind == "slice of a box" else Polyhedron(entry["A"], entry["b"])
    return Slice(entry["origin"], entry["basis"], window)
