"""What every method of counting returns."""

from typing import NamedTuple

from reluscope.findings import Finding


class Counted(NamedTuple):
    """A count, and why the work stopped early, empty if it did not."""

    finding: Finding
    stopped: str
