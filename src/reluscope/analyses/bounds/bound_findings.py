"""Findings of bounds from an architecture, with one wording of what they bound and where they hold."""

from math import inf

from reluscope.analyses.bounds.architecture import Architecture
from reluscope.errors import NotApplicableError
from reluscope.findings import Finding

DEFINITION = (
    "largest number of activation regions over all weights of the architecture, full-dimensional or not, and hence of "
    "convex, open connected, closed connected and affine regions"
)


def at_most(architecture: Architecture, value: int, *, name: str, method: str, source: str = "") -> Finding:
    """Return a number that no network of the architecture exceeds."""
    return _bound(architecture, value, (-inf, value), name, method, source, "any weights, any domain")


def at_least(architecture: Architecture, value: int, *, name: str, method: str, source: str = "") -> Finding:
    """Return a number that some network of the architecture reaches."""
    return _bound(architecture, value, (value, inf), name, method, source, "some weights, the whole space")


def need(holds: bool, condition: str, architecture: Architecture) -> None:
    """Raise NotApplicableError unless a condition holds."""
    if not holds:
        raise NotApplicableError(
            f"this bound needs {condition}, got {architecture.describe()}: look at the other bounds", condition
        )


def _bound(
    architecture: Architecture,
    value: int,
    ends: tuple[float, float],
    name: str,
    method: str,
    source: str,
    holds: str,
) -> Finding:
    return Finding.of(
        value,
        *ends,
        name=name,
        definition=DEFINITION,
        domain=f"{architecture.describe()}; {holds}",
        method=method,
        source=source,
    )
