"""Codes of samples in files: the piece of every unit, gate by gate, and which samples share a code.

``.npz`` holds ``pieces`` (s, u), all gates side by side, ``gate_names``, ``gate_units`` and ``gate_pieces``, which say
where a gate begins and ends, ``code`` (s,), equal for samples of equal codes and counted in order of appearance, and
``labels``. ``.parquet`` and ``.csv`` hold one row per sample: ``sample``, ``label``, ``code``, and a column per gate,
``gate_NAME``: a list of pieces in Parquet, in CSV one digit per unit (0 to 9, then a to z).
"""

import io
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from jaxtyping import Int

from reluscope.cli.terminal.outputs import Outputs
from reluscope.codes.packed import Codes
from reluscope.errors import InputError

KINDS = {".npz": "arrays", ".parquet": "a table", ".csv": "a table"}
DIGITS = np.frombuffer(b"0123456789abcdefghijklmnopqrstuvwxyz", dtype=np.uint8)


def code_files(codes: Codes, labels: Int[np.ndarray, " s"] | None, files: Outputs) -> Mapping[Path, bytes]:
    """Return the content of every file of codes.

    InputError if a unit has more pieces than there are digits, and a CSV file is asked for.
    """
    writers = {".npz": _npz, ".parquet": _parquet, ".csv": _csv}
    return {path: writers[path.suffix.lower()](codes, labels) for path in files.paths}


def _npz(codes: Codes, labels: np.ndarray | None) -> bytes:
    buffer = io.BytesIO()
    gates = list(codes.layout)
    arrays = {
        "pieces": codes.to_array(),
        "code": _code_numbers(codes),
        "gate_names": np.array([gate.name for gate in gates], dtype=np.str_),
        "gate_units": np.array([gate.num_units for gate in gates], dtype=np.int64),
        "gate_pieces": np.array([gate.num_pieces for gate in gates], dtype=np.int64),
    }
    np.savez_compressed(buffer, **(arrays if labels is None else {**arrays, "labels": labels}))  # pyright: ignore[reportArgumentType]
    return buffer.getvalue()


def _parquet(codes: Codes, labels: np.ndarray | None) -> bytes:
    buffer = io.BytesIO()
    pieces = {name: part.to_array() for name, part in codes.by_gate().items()}
    lists = {name: pa.FixedSizeListArray.from_arrays(part.ravel(), part.shape[1]) for name, part in pieces.items()}
    pyarrow.parquet.write_table(_table(codes, labels, lists), buffer)
    return buffer.getvalue()


def _csv(codes: Codes, labels: np.ndarray | None) -> bytes:
    most = max((gate.num_pieces for gate in codes.layout), default=1)
    if most > len(DIGITS):
        raise InputError(
            f"a CSV file has one digit per unit, for up to {len(DIGITS)} pieces, and this network has units of {most}: "
            "save the codes as .npz or .parquet"
        )
    buffer = io.BytesIO()
    texts = {
        name: pa.array([DIGITS[row].tobytes().decode() for row in part.to_array()], pa.string())
        for name, part in codes.by_gate().items()
    }
    pyarrow.csv.write_csv(_table(codes, labels, texts), buffer)
    return buffer.getvalue()


def _table(codes: Codes, labels: np.ndarray | None, gates: Mapping[str, pa.Array]) -> pa.Table:
    columns: dict[str, object] = {"sample": np.arange(len(codes))}
    if labels is not None:
        columns["label"] = labels
    columns["code"] = _code_numbers(codes)
    return pa.table({**columns, **{f"gate_{name}": column for name, column in gates.items()}})


def _code_numbers(codes: Codes) -> np.ndarray:
    return codes.unique(return_inverse=True)[1]
