"""Whether a property holds: proved on every input, or violated at a point, or what is left open."""

from typing import NoReturn

from reluscope.analyses.verification.claimed import read_counterexample
from reluscope.analyses.verification.many import verify_each
from reluscope.analyses.verification.property import Case, Property
from reluscope.analyses.verification.verdict import Verdict, replay
from reluscope.analyses.verification.violation_pieces import Violations
from reluscope.analyses.verification.vnnlib import read_property
from reluscope.checking.proofs import Proof
from reluscope.moved_names import refuse

__all__ = [
    "Case",
    "Proof",
    "Property",
    "Verdict",
    "Violations",
    "read_counterexample",
    "read_property",
    "replay",
    "verify_each",
]


def __getattr__(name: str) -> NoReturn:
    raise refuse("reluscope.verification", name)
