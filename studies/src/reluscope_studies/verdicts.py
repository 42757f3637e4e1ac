"""What becomes of a paper's statement about rates: numbers decide, and say so where there are too few of them.

A rate is how many of some trials succeed. One is larger than another where the difference is above twice its standard
error, which chance exceeds in one of forty cases; below that nothing is confirmed and nothing contradicted.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import sqrt

from reluscope.studies import Verdict

ERRORS, WIDE = 2.0, 0.25


@dataclass(frozen=True)
class Rate:
    """So many of so many.

    Parameters
    ----------
    successes, trials : int
    """

    successes: int
    trials: int

    @property
    def share(self) -> float:
        """Successes by trials."""
        return self.successes / self.trials

    @property
    def variance(self) -> float:
        """Of the share, with one success and one failure more, so that it is never zero."""
        smoothed = (self.successes + 1) / (self.trials + 2)
        return smoothed * (1 - smoothed) / self.trials

    def __str__(self) -> str:
        return f"{100 * self.share:.1f} %"


def is_larger(one: Rate, other: Rate) -> bool | None:
    """Return whether a rate is larger than another; None where the trials do not tell.

    Examples
    --------
    >>> is_larger(Rate(80, 100), Rate(50, 100)), is_larger(Rate(52, 100), Rate(50, 100))
    (True, None)
    """
    difference, error = one.share - other.share, sqrt(one.variance + other.variance)
    return None if abs(difference) <= ERRORS * error else difference > 0


def increasing(statement: str, place: str, printed: str, rates: Sequence[Rate]) -> Verdict:
    """Return what becomes of the statement that each rate is larger than the one before.

    Contradicted if any is smaller, confirmed if all are larger, each by more than chance.

    Examples
    --------
    >>> increasing("more units help", "Figure 1", "yes", [Rate(10, 50), Rate(30, 50), Rate(49, 50)]).word
    'confirmed'
    """
    steps = [is_larger(later, before) for before, later in pairwise(rates)]
    holds = False if False in steps else True if all(steps) else None
    return Verdict(statement, place, printed, ", ".join(map(str, rates)), holds)


def same_rate(statement: str, place: str, printed: float, found: Rate, trials: int | None = None) -> Verdict:
    """Return what becomes of a printed rate: confirmed where it is no farther from ours than chance explains.

    Where so few are asked that chance may move our rate by more than a quarter, nothing is confirmed.

    Parameters
    ----------
    statement, place : str
    printed : float
        A share.
    found : Rate
    trials : int, optional
        Of the printed one; without it that is taken as exact.

    Examples
    --------
    >>> same_rate("half of them", "text", 0.5, Rate(55, 100)).word, same_rate("half", "text", 0.5, Rate(9, 100)).word
    ('confirmed', 'contradicted')
    """
    own = Rate(round(printed * trials), trials).variance if trials else 0.0
    is_near = abs(found.share - printed) <= ERRORS * sqrt(found.variance + own)
    if is_near and ERRORS * sqrt(found.variance) > WIDE:
        is_near = None
    return Verdict(statement, place, f"{100 * printed:g} %", f"{found} of {found.trials:,}", is_near)


def of_cases(statement: str, place: str, printed: str, found: str, truths: Iterable[bool]) -> Verdict:
    """Return what becomes of a statement about several cases.

    Confirmed where it is true of all, contradicted where of none, and left open between, or where there is no case.

    Examples
    --------
    >>> [of_cases("larger", "Figure 1", "yes", "", truths).word for truths in ([True, True], [True, False], [])]
    ['confirmed', 'not confirmed', 'not confirmed']
    """
    every = list(truths)
    holds = None if not every else True if all(every) else None if any(every) else False
    return Verdict(statement, place, printed, found, holds)


def supporting(verdicts: Iterable[Verdict]) -> tuple[Verdict, ...]:
    """Return verdicts of networks or data too unlike the paper's to contradict it: what does not hold is left open.

    Examples
    --------
    >>> [one.word for one in supporting([Verdict("a", "b", "c", "d", False), Verdict("a", "b", "c", "d", True)])]
    ['not confirmed', 'confirmed']
    """
    return tuple(replace(one, holds=one.holds or None) for one in verdicts)
