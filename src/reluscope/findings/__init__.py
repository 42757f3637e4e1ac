"""What was measured, and what the numbers claim: single findings, and tables of them with derived claims."""

from reluscope.findings.claims import AGREEMENT, Claim
from reluscope.findings.column import Column
from reluscope.findings.finding import Finding
from reluscope.findings.quantities import Kind, Quantity, declare
from reluscope.findings.table import Findings, Status

__all__ = ["AGREEMENT", "Claim", "Column", "Finding", "Findings", "Kind", "Quantity", "Status", "declare"]
