"""Sections as plain types and back: every value of `reluscope.report.parts.content` comes back equal to what it was.

A dataclass becomes an object that names its class under ``is``; only the classes listed here are read back, so a file
cannot make anything else.
"""

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from reluscope.errors import InputError
from reluscope.findings import Claim, Finding
from reluscope.report.parts.content import (
    Attachment,
    Content,
    Drawing,
    Number,
    NumbersSideBySide,
    ReportPicture,
    ReportTable,
    Snapshot,
    Text,
)
from reluscope.report.parts.document import SectionResult
from reluscope.report.parts.sentences import Sentence

_CLASSES = {
    one.__name__: one
    for one in (
        Attachment,
        Content,
        Drawing,
        Finding,
        Number,
        NumbersSideBySide,
        ReportPicture,
        SectionResult,
        Sentence,
        Snapshot,
        ReportTable,
        Text,
    )
}


def encode(result: SectionResult) -> dict[str, Any]:
    """Return a section's result as plain types, ready for JSON."""
    return _plain(result)


def decode(plain: Any) -> SectionResult:
    """Return the result that plain types stand for.

    Raises InputError if they stand for something else.
    """
    try:
        result = _built(plain)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise InputError(f"expected a kept section, got something broken ({error}): begin anew with --force") from error
    if not isinstance(result, SectionResult):
        raise InputError("expected a kept section, got something else: begin anew with --force")
    return result


def _plain(value: Any) -> Any:
    name = type(value).__name__
    if _CLASSES.get(name) is type(value):
        entries = {field.name: _plain(getattr(value, field.name)) for field in fields(value) if field.init}
        return {"is": name, **entries}
    if isinstance(value, Mapping):
        return {"is": "mapping", "items": [[_plain(key), _plain(entry)] for key, entry in value.items()]}
    if isinstance(value, tuple | list):
        return {"is": type(value).__name__, "items": [_plain(entry) for entry in value]}
    if isinstance(value, bytes):
        return {"is": "bytes", "base64": b64encode(value).decode("ascii")}
    if isinstance(value, np.generic):
        return value.item()
    return value


def _built(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    name = value["is"]
    if name == "mapping":
        return {_built(key): _built(entry) for key, entry in value["items"]}
    if name == "bytes":
        return b64decode(value["base64"])
    if name in ("tuple", "list"):
        entries = (_built(entry) for entry in value["items"])
        return tuple(entries) if name == "tuple" else list(entries)
    entries = {key: _built(entry) for key, entry in value.items() if key != "is"}
    if name == "Finding":
        entries["claim"] = Claim(entries["claim"])
    return _CLASSES[name](**entries)
