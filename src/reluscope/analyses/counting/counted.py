"""What every method of counting returns."""

from typing import NamedTuple

from reluscope.findings import Finding
from reluscope.stopping import Stop


class Counted(NamedTuple):
    """A count, and why the work stopped early, if it did."""

    finding: Finding
    stop: Stop | None
