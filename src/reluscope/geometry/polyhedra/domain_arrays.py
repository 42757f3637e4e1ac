"""Domains as named arrays."""

import numpy as np

from reluscope.geometry.polyhedra.domains import Box, Domain, Slice, Space
from reluscope.geometry.polyhedra.polyhedron import Polyhedron


def domain_arrays(domain: Domain) -> dict[str, np.ndarray]:
    """Return a domain as named arrays."""
    if isinstance(domain, Slice):
        return {"domain.origin": domain.origin, "domain.basis": domain.basis, **domain_arrays(domain.window)}
    if isinstance(domain, Box):
        return {"domain.lo": domain.lo, "domain.hi": domain.hi}
    if isinstance(domain, Space):
        return {"domain.dim": np.array([domain.dim])}
    return {"domain.A": domain.A, "domain.b": domain.b}


def read_domain(arrays: dict[str, np.ndarray]) -> Domain:
    """Return the domain that `domain_arrays` took apart."""
    if "domain.dim" in arrays:
        return Space(int(arrays["domain.dim"][0]))
    if "domain.A" in arrays:
        window = Polyhedron(arrays["domain.A"], arrays["domain.b"])
    else:
        window = Box(arrays["domain.lo"], arrays["domain.hi"])
    if "domain.origin" in arrays:
        return Slice(arrays["domain.origin"], arrays["domain.basis"], window)
    return window
