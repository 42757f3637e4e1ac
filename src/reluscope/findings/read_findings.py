"""Plain types that findings and tables of them were written as, checked before anything is made of them.

Each function returns what an entry says and raises ValueError, or what else entries of the wrong form end in, where it
is not what it should be; `reading` makes one InputError of that. Claims are never taken from what was written: they
follow from the ends again, and have to be those that were written.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import inf, isnan, nan
from typing import Any

import numpy as np
from jaxtyping import Float

from reluscope.errors import InputError
from reluscope.findings.claims import Claim
from reluscope.findings.quantities import RESERVED, Kind, Quantity
from reluscope.stopping import Stop, words_of

# What reading entries of the wrong form ends in.
MALFORMED = (KeyError, ValueError, TypeError, AttributeError, LookupError, ArithmeticError)
TEXTS = ("name", "definition", "domain", "method", "source")
INFINITE = {"inf": inf, "-inf": -inf}


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Turn any error in reading malformed data into one InputError."""
    try:
        yield
    except MALFORMED as error:
        raise InputError(f"expected {what}, got something else ({error}): write it again") from error


def finding_fields(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a finding from what `Finding.to_dict` wrote."""
    claim, value = Claim(plain["claim"]), number(plain["value"])
    fields: dict[str, Any] = {"value": value, "claim": claim}
    fields |= {name: text(plain[name]) for name in TEXTS if name in plain}
    if "interval" in plain:
        low, high = plain["interval"]
        ends = number(low, unknown=-inf), number(high, unknown=inf)
        outside = not ends[0] <= value <= ends[1]
        elsewhere = value != {Claim.LOWER: ends[0], Claim.UPPER: ends[1]}.get(claim, value)
        if outside or elsewhere or (claim is Claim.EXACT and ends[0] != ends[1]):
            raise ValueError(f"{value} in {ends} is not {claim}")
        fields["interval"] = ends
    if "tolerance" in plain:
        fields["tolerance"] = at_least(number(plain["tolerance"]), 0)
    if "num_undecided" in plain:
        fields["num_undecided"] = at_least(whole(plain["num_undecided"]), 0)
    if "num_samples" in plain:
        fields["num_samples"] = at_least(whole(plain["num_samples"]), 0)
    if "work" in plain:
        fields["work"] = {text(name): number(entry) for name, entry in dict(plain["work"]).items()}
    if "is_share" in plain:
        fields["is_share"] = truth(plain["is_share"])
    if "stopped" in plain or "stop" in plain:
        fields["stop"] = stop(plain)
    if unknown := set(plain) - set(fields) - {"stopped"}:
        raise ValueError(f"unknown entries {', '.join(sorted(unknown))}")
    return fields


def table_columns(plain: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the entries of a table that are columns, by the names of their quantities."""
    return {text(name): dict(entry) for name, entry in plain.items() if name not in RESERVED}


def column_fields(name: str, plain: Mapping[str, Any], number_of_rows: int) -> dict[str, Any]:
    """Return the arguments of `Column.of` and the written claims, from a table's entry of a column."""
    kind, given = Kind(plain["kind"]), text(plain.get("given", ""))
    definition = text(plain["definition"])
    if given and not definition.endswith(f", {given}"):
        raise ValueError(f"the definition of {name} does not say {given}")
    quantity = Quantity(
        name,
        definition.removesuffix(f", {given}") if given else definition,
        kind,
        text(plain.get("unit", "")),
        text(plain.get("source", "")),
        number(plain["least"]) if "least" in plain else 0.0,
        number(plain["most"]) if "most" in plain else kind.most,
    )
    value = numbers(plain["value"], nan)
    missing = np.isnan(value)
    ends = {end: np.where(missing, nan, numbers(plain[end], unknown)) for end, unknown in ENDS.items()}
    fields: dict[str, Any] = {"quantity": quantity, "value": value, **ends}
    fields |= {"method": text(plain.get("method", "")), "given": given}
    if "scale" in plain:
        fields["scale"] = numbers(plain["scale"], None)
    fields["confidence"] = number(plain.get("confidence", 1.0))
    fields["claims"] = tuple(None if claim is None else Claim(claim) for claim in plain["claim"])
    lengths = {len(fields[part]) for part in ("value", "lower", "upper", "claims")}
    if lengths != {number_of_rows} or len(fields.get("scale", value)) != number_of_rows:
        raise ValueError(f"{name} has not {number_of_rows} entries")
    if not 0 < fields["confidence"] <= 1:
        raise ValueError(f"{fields['confidence']} is no confidence")
    return fields


ENDS = {"lower": -inf, "upper": inf}


def keys(plain: Mapping[str, Any], number_of_rows: int) -> dict[str, np.ndarray]:
    """Return the keys of rows: columns of whole numbers, other numbers, texts or truths."""
    found = {text(name): np.array(list(entries)) for name, entries in dict(plain).items()}
    for name, table in found.items():
        is_plain = table.shape == (number_of_rows,) and table.dtype.kind in "ifUb"
        if not is_plain or len({type(entry) for entry in plain[name]}) > 1:
            raise ValueError(f"{name} are no keys of {number_of_rows} rows")
    return found


def numbers(entries: Any, unknown: float | None) -> Float[np.ndarray, " k"]:
    """Return a list of numbers; null stands for one that is not known, if there may be such."""
    return np.array([number(entry, unknown=unknown) for entry in list(entries)], dtype=np.float64)


def number(entry: Any, *, unknown: float | None = None) -> float:
    """Return a number as `writing.plain_number` writes it; `unknown` stands for None."""
    if entry is None and unknown is not None:
        return unknown
    if isinstance(entry, str):
        return INFINITE[entry]
    if isinstance(entry, bool) or not isinstance(entry, int | float) or isnan(entry):
        raise ValueError(f"{entry!r} is no number")
    return entry


def whole(entry: Any) -> int:
    """Return a whole number."""
    if type(entry) is not int:
        raise ValueError(f"{entry!r} is no whole number")
    return entry


def at_least(entry: float, least: float) -> Any:
    """Return a number that is not below another one."""
    if entry < least:
        raise ValueError(f"{entry} is below {least}")
    return entry


def truth(entry: Any) -> bool:
    """Return a truth value."""
    if type(entry) is not bool:
        raise ValueError(f"{entry!r} is neither true nor false")
    return entry


def stop(plain: Mapping[str, Any]) -> Stop | None:
    """Return why work stopped early, which the words beside it have to say, too."""
    found = Stop.from_dict(plain.get("stop"))
    if text(plain["stopped"]) != words_of(found):
        raise ValueError(f"{plain['stopped']!r} is not said of {found}")
    return found


def text(entry: Any) -> str:
    """Return a text."""
    if not isinstance(entry, str):
        raise ValueError(f"{entry!r} is no text")
    return entry
