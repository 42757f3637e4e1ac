"""What a file says of a partition, checked: whoever loads one gets a table whose rows point at what is there."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from reluscope.codes.checked_words import check_words
from reluscope.codes.distinct import group_equal_rows
from reluscope.codes.layout import CodeLayout, GateLayout
from reluscope.codes.packed import Codes
from reluscope.files import stored
from reluscope.findings import Claim
from reluscope.geometry.polyhedra.domain_arrays import domain_from_arrays
from reluscope.geometry.polyhedra.domains import Domain, Slice
from reluscope.networks.network import Network
from reluscope.partitions.table.stored_columns import read_columns
from reluscope.stopping import Stop
from reluscope.tolerance import Tolerance


def read_stored(arrays: dict[str, np.ndarray], described: Mapping[str, Any], network: Network | None) -> dict[str, Any]:
    """Return what a file holds, as arguments of `Partition`.

    Raises ValueError, or another of `stored.MALFORMED`, if it is no partition, or one of another network.
    """
    domain, layout, claims = read_described(described, arrays)
    if network is not None and (layout != network.layout or _num_inputs(domain) != network.num_inputs):
        raise ValueError("codes or domain are not those of the network")
    regions = read_columns(arrays, described, domain.dim)
    number = len(regions.words)
    words = stored.array(arrays, "words", np.uint64, (number, layout.num_words))
    if len(group_equal_rows(words)[0]) != number:
        raise ValueError("two regions have one code")
    check_words(words, layout)
    return {
        "domain": domain,
        "codes": Codes(words, layout),
        "geometry": regions,
        "certified": stored.truth(described, "certified"),
        "network": network,
        "jumps": _jumps(described, layout),
        "confirmed": _confirmed(arrays, number, claims["work"]),
        **claims,
    }


def read_described(
    described: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> tuple[Domain, CodeLayout, dict[str, Any]]:
    """Return the domain, the layout of codes, and what partitions of all kinds say of their claim.

    Raises ValueError, or another of `stored.MALFORMED`, if these are not as they should be, or claim more than they
    can.
    """
    domain, layout = read_place(described, arrays)
    claim = Claim(stored.text(described, "claim"))
    undecided, unfinished, pending = (
        stored.whole(described, name) for name in ("num_undecided", "num_open", "num_pending")
    )
    work = stored.numbers(described, "work")
    least = Claim.ESTIMATE if work.get("cells_unconfirmed") else Claim.LOWER
    if claim is not (least if undecided or unfinished else Claim.EXACT):
        raise ValueError(f"{claim} with {undecided} signs undecided and {unfinished} cells open")
    return (
        domain,
        layout,
        {
            "num_undecided": undecided,
            "num_open": unfinished,
            "num_pending": pending,
            "tolerance": Tolerance(**stored.numbers(described, "tolerance")),
            "fingerprint": stored.text(described, "fingerprint"),
            "stop": Stop.from_dict(described["stop"]),
            "work": work,
            "method": stored.text(described, "method"),
        },
    )


def read_place(described: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> tuple[Domain, CodeLayout]:
    """Return the domain, and the layout of codes.

    Raises ValueError, or another of `stored.MALFORMED`, if these are not as they should be.
    """
    layout = CodeLayout(tuple(GateLayout(*_gate(gate)) for gate in described["gates"]))
    return stored_domain(arrays), layout


def _confirmed(arrays: Mapping[str, np.ndarray], number: int, work: Mapping[str, float]) -> np.ndarray | None:
    """Return which regions are proved, as many as are said to be; files that have no doubts do not say it."""
    if "confirmed" not in arrays:
        return None
    found = stored.array(arrays, "confirmed", np.bool_, (number,))
    if np.count_nonzero(~found) != work.get("cells_unconfirmed", 0):
        raise ValueError("not as many regions are confirmed as are said to be")
    return found


def _jumps(described: Mapping[str, Any], layout: CodeLayout) -> tuple[str, ...]:
    """Return the gates that jump, which files of continuous networks do not mention."""
    names = described.get("jumps", [])
    if not isinstance(names, list) or not {gate.name for gate in layout}.issuperset(names):
        raise ValueError(f"{names!r} are no gates that jump")
    return tuple(names)


def stored_domain(arrays: Mapping[str, np.ndarray]) -> Domain:
    """Return the domain whose arrays are among some, finite and of a few dimensions; the rest the domain checks."""
    found = {name: array for name, array in arrays.items() if name.startswith("domain.")}
    if "domain.dim" in found:
        stored.array(found, "domain.dim", np.int64, (1,), least=1, below=2**31)
        return domain_from_arrays(found)
    return domain_from_arrays(
        {name: stored.array(found, name, np.float64, (None,) * found[name].ndim) for name in found}
    )


def _num_inputs(domain: Domain) -> int:
    return len(domain.origin) if isinstance(domain, Slice) else domain.dim


def _gate(entries: Any) -> tuple[str, int, int]:
    name, num_units, num_pieces = entries
    if (type(name), type(num_units), type(num_pieces)) != (str, int, int) or num_units > 2**40:
        raise ValueError(f"{entries!r} is no gate")
    return name, num_units, num_pieces
