"""Why work stopped before its end, as a value; the sentence that says so is made where it is printed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any


class StopReason(Enum):
    """What ended work early, the most serious reasons last; the value is the sentence."""

    REGIONS = "budget of {limit:,} regions"
    SECONDS = "budget of {limit:g} s"
    HOPELESS = "hopeless: {details}"
    CANCELLED = "cancelled"
    ROUNDING = "signs that rounding leaves open"
    ROUNDED_STATES = "rounding of more than a millionth of the states' size"
    UNDECIDED_SIGNS = "undecided signs"
    UNDECIDED = "rounding hides what is left, and its regions are too many to decide in fractions"
    UNPROVED = "unproved: {details}"
    OUT_OF_MEMORY = "out of memory"
    WORKERS_DIED = "some tasks killed every worker that tried them"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class Stop:
    """Why work stopped early: the reason, the budget's limit if that was it, and details of a forecast or a proof."""

    reason: StopReason
    limit: float | None = None
    details: str = ""

    def __str__(self) -> str:
        """Return the words for a reader; a block of samples has no limit of its own to name."""
        if self.reason is StopReason.SECONDS and self.limit is None:
            return "time"
        return self.reason.value.format(limit=self.limit, details=self.details)

    def of_seconds(self, seconds: float | None) -> "Stop":
        """Return the same; where time has run out, of the whole budget, of which the work had a share."""
        return replace(self, limit=seconds) if is_out_of_time(self) and seconds is not None else self

    def to_dict(self) -> dict[str, Any]:
        """Return the stop as plain types, ready for JSON."""
        return {"reason": self.reason.name.lower(), "limit": self.limit, "details": self.details}

    @staticmethod
    def from_dict(plain: Mapping[str, Any] | None) -> "Stop | None":
        """Return what `to_dict` wrote; ValueError, or what wrong types end in, if it is something else."""
        if plain is None:
            return None
        names = {reason.name.lower(): reason for reason in StopReason}
        limit, details = plain["limit"], plain["details"]
        if plain["reason"] not in names or type(details) is not str or set(plain) != {"reason", "limit", "details"}:
            raise ValueError(f"{plain!r} is no reason to stop")
        reason = names[plain["reason"]]
        has_limit = type(limit) in (int, float) and limit >= 0
        needs_limit = reason is StopReason.REGIONS
        if not (has_limit and (needs_limit or reason is StopReason.SECONDS)) and (limit is not None or needs_limit):
            raise ValueError(f"{limit!r} is no limit")
        return Stop(reason, limit, details)


class Explained:
    """What work found, with ``stop``, why it ended early: the words for it are `stopped`."""

    stop: Stop | None

    @property
    def stopped(self) -> str:
        """Why work stopped early, in a few words; empty if it did not."""
        return words_of(self.stop)


class Noted:
    """What a walk over regions found, with ``stop``, why it ended early: the words for it are `note`."""

    stop: Stop | None

    @property
    def note(self) -> str:
        """Why work stopped early, in a few words; empty if it did not."""
        return words_of(self.stop)


INTERRUPTED, OUT_OF_MEMORY = Stop(StopReason.INTERRUPTED), Stop(StopReason.OUT_OF_MEMORY)


def words_of(stop: Stop | None) -> str:
    """Return why work stopped early, for a reader; empty if it did not."""
    return "" if stop is None else str(stop)


def plain_stop(stop: Stop | None) -> dict[str, Any] | None:
    """Return a stop as plain types, ready for JSON; None if work did not stop early."""
    return None if stop is None else stop.to_dict()


def is_interrupted(stop: Stop | None) -> bool:
    """Return whether Ctrl-C ended the work."""
    return stop is not None and stop.reason is StopReason.INTERRUPTED


def is_out_of_time(stop: Stop | None) -> bool:
    """Return whether the seconds that were given have run out."""
    return stop is not None and stop.reason is StopReason.SECONDS


def is_by_budget(stop: Stop | None) -> bool:
    """Return whether a limit that was given has run out."""
    return stop is not None and stop.reason in (StopReason.REGIONS, StopReason.SECONDS)


def most_serious(stops: Iterable[Stop | None]) -> Stop | None:
    """Return the stop with the most serious reason; None if no work stopped early."""
    order = list(StopReason)
    found = [stop for stop in stops if stop is not None]
    return max(found, key=lambda stop: (order.index(stop.reason), stop.limit or 0), default=None)


__all__ = [
    "Explained",
    "Noted",
    "Stop",
    "StopReason",
    "is_by_budget",
    "is_interrupted",
    "is_out_of_time",
    "most_serious",
    "plain_stop",
    "words_of",
]
