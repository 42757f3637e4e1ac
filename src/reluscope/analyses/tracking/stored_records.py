"""What a file says of a run, checked before it is used: settings, and records that fit them."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from reluscope.analyses.tracking.record_quantities import TrackedQuantity, quantities_of
from reluscope.findings import Finding

# Partitions and weights lie in folders beside the file of their record.
BESIDE = re.compile(r"(?!\.\.?/)[^/\\]+/record-[0-9]+\.arrow")


def check_rows(rows: Sequence[Mapping[str, Any]], settings: Any) -> None:
    """Raise ValueError, or another error of malformed content, unless rows are records under the settings."""
    for name, kind, units, pieces in settings["gates"]:
        if (type(name), type(kind)) != (str, str) or min(_whole(units), _whole(pieces)) < 0:
            raise ValueError(f"{name!r} is no gate")
    num_samples = len([_position(row, math.inf) for row in settings["samples"]])
    for first, second in settings["segments"]:
        _position(first, num_samples)
        _position(second, num_samples)
    for row in settings["jacobians"]:
        _position(row, num_samples)
    if not 0 < settings["segment_share"] <= 1:
        raise ValueError("a share is from 0 to 1")
    if not all(settings[name] is None or type(settings[name]) is str for name in ("plane", "labels_digest")):
        raise ValueError("a plane or a digest is no text")
    radius = settings.get("complexity_radius")
    if radius is not None and not (isinstance(radius, int | float) and 0 < radius < math.inf):
        raise ValueError("a radius is a positive number")
    measured = quantities_of(settings)
    counts = {"gate": len(settings["gates"]), "segment": len(settings["segments"])}
    for place, row in enumerate(rows):
        if row["record"] != place or not math.isfinite(row["epoch"]) or row["num_samples"] != num_samples:
            raise ValueError(f"record {place} is none of these settings")
        if not all(row[name] >= 0 for name in ("seconds", "seconds_between")) or (row["seconds_writing"] or 0) < 0:
            raise ValueError(f"record {place} took no time")
        for name in (row["partition"], row.get("weights")):
            if name is not None and not BESIDE.fullmatch(name):
                raise ValueError(f"record {place} names no file beside it")
        for quantity in measured.values():
            _check_findings(row, quantity, counts)


def _check_findings(row: Mapping[str, Any], quantity: TrackedQuantity, counts: Mapping[str, int]) -> None:
    """Check what a record says of a quantity: every value has a claim and, where it has one, an interval."""
    columns = [row[quantity.name + ending] for ending in ("", "_claim", "_interval")]
    if quantity.per == "network":
        columns = [[entry] for entry in columns]
    values, claims, intervals = columns
    number = counts.get(quantity.per, 1)
    if not len(values) == len(claims) == len(intervals) == number:
        raise ValueError(f"{quantity.name} has not {number} entries")
    for value, claim, interval in zip(values, claims, intervals, strict=True):
        if value is None:
            if (claim, interval) != (None, None):
                raise ValueError(f"{quantity.name} claims something of nothing")
            continue
        Finding.from_dict({"value": value, "claim": claim} | ({} if interval is None else {"interval": interval}))


def _whole(entry: Any) -> int:
    if type(entry) is not int:
        raise ValueError(f"{entry!r} is no whole number")
    return entry


def _position(entry: Any, number: float) -> int:
    if not 0 <= _whole(entry) < number:
        raise ValueError(f"there is no sample {entry}")
    return entry
