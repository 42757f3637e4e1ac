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
from reluscope.partitions.table.region_geometry import read_geometry
from reluscope.stopping import Stop
from reluscope.tolerance import Tolerance


def read_stored(arrays: dict[str, np.ndarray], described: Mapping[str, Any], network: Network | None) -> dict[str, Any]:
    """Return what a file holds, as arguments of `Partition`.

    Raises ValueError, or another of `stored.MALFORMED`, if it is no partition, or one of another network.
    """
    domain, layout, claims = read_described(described, arrays)
    if network is not None and (layout != network.layout or _num_inputs(domain) != network.num_inputs):
        raise ValueError("codes or domain are not those of the network")
    number = _check_geometry(arrays, text := stored.text(described, "geometry"), domain.dim)
    if text != "listed":
        stored.whole(described, "num_unmatched")
    words = stored.array(arrays, "words", np.uint64, (number, layout.num_words))
    if len(group_equal_rows(words)[0]) != number:
        raise ValueError("two regions have one code")
    check_words(words, layout)
    return {
        "domain": domain,
        "codes": Codes(words, layout),
        "geometry": read_geometry(arrays, dict(described), domain, claims["tolerance"], network),
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


def _check_geometry(arrays: Mapping[str, np.ndarray], kind: str, dim: int) -> int:
    """Check that what a geometry names is there, and return its number of regions."""
    number = len(arrays["words"])
    if kind == "listed":
        stored.array(arrays, "witnesses", np.float64, (number, dim))
    elif kind == "mosaic":
        num_vertices = len(stored.array(arrays, "vertices", np.float64, (None, dim)))
        ids = stored.array(arrays, "ids", np.int64, (None,), least=0, below=num_vertices)
        stored.offsets(arrays, "offsets", number, len(ids))
        num_facets = len(stored.array(arrays, "ends", np.int64, (None, dim), least=0, below=num_vertices))
        stored.array(arrays, "left", np.int64, (num_facets,), least=0, below=number)
        stored.array(arrays, "right", np.int64, (num_facets,), least=-1, below=number)
        stored.array(arrays, "roots", np.int64, (number,), least=0, below=1)
        if dim > 2:
            raise ValueError(f"a mosaic has one or two dimensions, and not {dim}")
    elif kind in ("solid", "bare"):
        stored.array(arrays, "witnesses", np.float64, (number, dim))
        for name in {"is_bounded", "is_proved"} & ({"is_bounded"} | arrays.keys()):
            stored.array(arrays, name, np.bool_, (number,))
        num_facets = len(stored.array(arrays, "left", np.int64, (None,), least=0, below=number))
        stored.array(arrays, "right", np.int64, (num_facets,), least=0, below=number)
        if kind == "bare":
            return number
        regions = stored.array(arrays, "regions", np.int64, (None,), least=0, below=number)
        vertices = stored.array(arrays, "cell_vertices", np.float64, (None, dim + 1))
        stored.offsets(arrays, "cell_offsets", len(regions), len(vertices))
        if len(np.unique(regions)) != number or (vertices[:, dim] < 0).any():
            raise ValueError("regions without cells, or vertices behind infinity")
    else:
        raise ValueError(f"{kind!r} is no geometry")
    return number
