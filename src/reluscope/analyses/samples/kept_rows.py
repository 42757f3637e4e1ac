"""Measured rows kept in a folder, so that work that was stopped goes on where it ended.

Each block of samples is a record of its own (`reluscope.files.kept_results`): the value, the ends and the tolerance of
every cell, and the details. Its name has a digest of everything that the measurements depend on; blocks may be cut in
another way when work goes on.
"""

import hashlib
import json
import os
from collections.abc import Mapping, MutableMapping
from typing import Any

import numpy as np
import torch

from reluscope.analyses.samples.measured import Measured, ragged
from reluscope.errors import InputError
from reluscope.files.kept_results import KeptResults, Record
from reluscope.files.stored import MALFORMED
from reluscope.findings import Column
from reluscope.findings.quantities import quantity_named
from reluscope.networks.network import Network

ENDS = ("value", "lower", "upper", "scale")


class KeptRows:
    """Blocks of measured samples, in a folder or in a mapping of records.

    A folder is made if it is not there. ``key`` is what the measurements depend on: those of other keys may lie beside
    them. InputError if the folder holds something else.
    """

    def __init__(self, where: str | os.PathLike[str] | MutableMapping[str, Record], key: Mapping[str, str]) -> None:
        is_folder = isinstance(where, str | os.PathLike)
        if not is_folder and not isinstance(where, MutableMapping):
            raise InputError(f"checkpoint must be a folder, got {where!r}: name one, or leave it out")
        self._records = KeptResults(where, {"kind of content": "measured samples"}) if is_folder else where
        digest = hashlib.blake2b(json.dumps(dict(key), sort_keys=True).encode(), digest_size=8).hexdigest()
        self._prefix = f"samples-{digest}"

    def parts(self, number: int, each: int = 1) -> list[Measured]:
        """Return the measurements of the first ``number`` samples by block, ``each`` rows per sample.

        InputError if a record is damaged.
        """
        found: list[Measured] = []
        # Of blocks that begin at one sample the longest one.
        names = {int(name.rsplit("-", 2)[1]): name for name in sorted(self._records) if name.startswith(self._prefix)}
        done = 0
        while done < number and (name := names.get(done)):
            stop = int(name.rsplit("-", 1)[1])
            record = self._records[name]
            try:
                found.append(_measured(record))
                if not done < stop <= number or len(found[-1].columns[0]) != each * (stop - done):
                    raise ValueError(f"it is no block of {number} samples")
            except MALFORMED as error:
                raise InputError(
                    f"the record {name} is not as this version of reluscope writes it: remove it"
                ) from error
            done = stop
        return found

    def keep(self, block: slice, measured: Measured) -> None:
        """Keep what was measured of a block."""
        self._records[f"{self._prefix}-{block.start:09d}-{block.stop:09d}"] = _record(measured)


def key_of(network: Network, points: torch.Tensor, **settings: Any) -> dict[str, str]:
    """Return everything that measurements depend on, in words and digests.

    Settings are those of the function that measures, each with a plain way of being written.
    """
    digest = hashlib.sha256(np.ascontiguousarray(points.cpu().numpy()).tobytes()).hexdigest()
    return {
        "network": network.fingerprint,
        "set of points": f"{tuple(points.shape)} {digest}",
        **{name.replace("_", " "): str(value) for name, value in settings.items()},
    }


def _record(measured: Measured) -> Record:
    arrays = {f"{column.quantity}.{end}": getattr(column, end) for column in measured.columns for end in ENDS}
    kinds = {}
    for name, table in measured.details.items():
        kinds[name] = "ragged" if table.dtype.kind == "O" else "plain"
        if kinds[name] == "plain":
            arrays[f"details.{name}"] = table
        else:
            arrays[f"details.{name}"] = np.concatenate(list(table))
            arrays[f"lengths.{name}"] = np.array([len(part) for part in table], dtype=np.int64)
    columns = [
        {
            "quantity": column.quantity.name,
            "method": column.method,
            "given": column.given,
            "confidence": column.confidence,
        }
        for column in measured.columns
    ]
    return Record({"columns": columns, "details": kinds}, arrays)


def _measured(record: Record) -> Measured:
    """Return what a record says; anything wrong with it is one of `reluscope.files.stored.MALFORMED`."""
    columns = []
    for described in record.plain["columns"]:
        quantity = quantity_named(described["quantity"])
        value, lower, upper, scale = (_numbers(record, f"{quantity}.{end}") for end in ENDS)
        said = {"method": str(described["method"]), "given": str(described["given"])}
        confidence = float(described["confidence"])
        columns.append(Column.of(quantity, value, lower, upper, scale=scale, confidence=confidence, **said))
    rows = {len(column) for column in columns}
    details = {}
    for name, kind in record.plain["details"].items():
        table = record.arrays[f"details.{name}"]
        if kind == "ragged":
            table = ragged(np.split(table, np.cumsum(record.arrays[f"lengths.{name}"])[:-1]))
        details[name] = table
    if len(rows | {len(table) for table in details.values()}) != 1:
        raise ValueError("columns and details are not equally long")
    return Measured(tuple(columns), details)


def _numbers(record: Record, name: str) -> np.ndarray:
    found = record.arrays[name]
    if found.dtype != np.float64 or found.ndim != 1:
        raise ValueError(f"{name} are {found.dtype} of shape {found.shape}")
    return found
