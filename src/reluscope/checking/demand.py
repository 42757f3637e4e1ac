"""What a checker says of a proof that is none, and of one that its time does not suffice for."""

import time

from reluscope.errors import BudgetExceededError, CertificateError


def demand(right: bool, wrong: str) -> None:
    """Refuse a proof in which something is wrong."""
    if not right:
        raise CertificateError(f"the proof proves nothing: {wrong}; make it again from the network and the property")


class Watch:
    """The time that a check may take, and how many parts it has bounded.

    `parts` says in words what the parts are, such as ``"boxes of 12"``.
    """

    def __init__(self, seconds: float, parts: str) -> None:
        self._until, self._parts, self.count = time.perf_counter() + seconds, parts, 0

    def look(self) -> None:
        """Stop where the time is over."""
        if time.perf_counter() > self._until:
            raise BudgetExceededError(f"the time sufficed to check {self.count} {self._parts}: give more", self.count)

    def bounded(self) -> None:
        """Count a part that is about to be bounded, if there is time."""
        self.look()
        self.count += 1
