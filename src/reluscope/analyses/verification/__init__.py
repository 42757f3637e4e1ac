"""Whether a property holds: proved on every input, or violated at a point, or what is left open."""

from reluscope.analyses.verification.claimed import read_counterexample
from reluscope.analyses.verification.many import verify_each
from reluscope.analyses.verification.property import Case, Property
from reluscope.analyses.verification.verdict import Counterexample, Verdict, Verified, replay
from reluscope.analyses.verification.verify import verify
from reluscope.analyses.verification.violations import Violations, violations
from reluscope.analyses.verification.vnnlib import read_property
from reluscope.checking.proofs import Proof

__all__ = [
    "Case",
    "Counterexample",
    "Proof",
    "Property",
    "Verdict",
    "Verified",
    "Violations",
    "read_counterexample",
    "read_property",
    "replay",
    "verify",
    "verify_each",
    "violations",
]
