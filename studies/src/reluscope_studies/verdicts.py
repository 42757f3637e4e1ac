"""What becomes of a paper's statement: numbers decide, and say so where there are too few of them.

A rate is how many of some trials succeed. One is larger than another where the difference is above twice its standard
error, which chance exceeds in one of forty cases; below that nothing is confirmed and nothing contradicted. Nor is
anything by a few networks that differ from others as a coin falls, or as groups do into which they are dealt by lot.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise, product
from math import isnan, sqrt
from typing import TypeVar

from reluscope.studies import StatementVerdict

ERRORS, WIDE = 2.0, 0.25
# What chance gives more often than this decides nothing.
CHANCE = 1 / 20
Member = TypeVar("Member")


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


def increasing(statement: str, place: str, printed: str, rates: Sequence[Rate]) -> StatementVerdict:
    """Return what becomes of the statement that each rate is larger than the one before.

    Contradicted if any is smaller, confirmed if all are larger, each by more than chance.

    Examples
    --------
    >>> increasing("more units help", "Figure 1", "yes", [Rate(10, 50), Rate(30, 50), Rate(49, 50)]).word
    'confirmed'
    """
    steps = [is_larger(later, before) for before, later in pairwise(rates)]
    holds = False if False in steps else True if all(steps) else None
    return StatementVerdict(statement, place, printed, ", ".join(map(str, rates)), holds)


def same_rate(statement: str, place: str, printed: float, found: Rate, trials: int | None = None) -> StatementVerdict:
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
    error = ERRORS * sqrt(found.variance + own)
    is_near = abs(found.share - printed) <= error
    is_wide = ERRORS * sqrt(found.variance) > WIDE
    near = f"{100 * max(found.share - error, 0):.0f} to {100 * min(found.share + error, 1):.0f} % are near"
    said = f"{found} of {found.trials:,}; {near}{', too wide to decide' if is_near and is_wide else ''}"
    return StatementVerdict(statement, place, f"{100 * printed:g} %", said, None if is_near and is_wide else is_near)


def of_cases(statement: str, place: str, printed: str, found: str, truths: Iterable[bool | None]) -> StatementVerdict:
    """Return what becomes of a statement about several cases, each true, false or open (None).

    Confirmed where it is true of all, contradicted where it is false of all, and left open between, or where there is
    no case.

    Examples
    --------
    >>> [of_cases("larger", "Figure 1", "yes", "", truths).word for truths in ([True, True], [True, None], [])]
    ['confirmed', 'not confirmed', 'not confirmed']
    """
    every = list(truths)
    holds = None if not every else True if all(every) else None if any(one is not False for one in every) else False
    return StatementVerdict(statement, place, printed, found, holds)


def of_pairs(statement: str, place: str, printed: str, found: str, truths: Iterable[bool | None]) -> StatementVerdict:
    """Return what becomes of a statement about the one and the other of several pairs of networks.

    As `of_cases`, but of so few that coins would fall as well, which is fewer than five, nothing is decided.

    Examples
    --------
    >>> [of_pairs("larger", "Figure 1", "yes", "3 and 2", [True] * number).word for number in (4, 5)]
    ['not confirmed', 'confirmed']
    """
    every = list(truths)
    if 0.5 ** len(every) <= CHANCE:
        return of_cases(statement, place, printed, found, every)
    return of_cases(statement, place, printed, f"{found}; too few pairs to decide" if every else found, ())


def is_above_lot(measure: Callable[..., float], *groups: tuple[Sequence[Member], Sequence[Member]]) -> bool | None:
    """Return whether a measure of groups is larger, or smaller, than where their members are dealt out by lot.

    True where at most one of twenty ways to deal them out gives as much, False where at most one gives as little;
    None where it is between, or not a number.

    Parameters
    ----------
    measure : callable
        Takes the pairs of groups and returns a number.
    *groups : pairs of sequences
        Members are dealt out within each pair.

    Examples
    --------
    >>> more = lambda pair: sum(pair[0]) - sum(pair[1])
    >>> is_above_lot(more, ([5, 6, 7, 8], [1, 2, 3, 4])), is_above_lot(more, ([5, 6], [1, 2]))
    (True, None)
    """
    own, *others = (measure(*dealt) for dealt in product(*(_deals(*pair) for pair in groups)))
    for sign, holds in ((1, True), (-1, False)):
        as_much = 1 + sum(sign * one >= sign * own for one in others)
        if not isnan(own) and as_much <= CHANCE * (1 + len(others)):
            return holds
    return None


def _deals(first: Sequence[Member], second: Sequence[Member]) -> Iterator[tuple[list[Member], list[Member]]]:
    """Yield all pairs of groups as large, the given one first."""
    every, places = [*first, *second], range(len(first) + len(second))
    for chosen in combinations(places, len(first)):
        yield [every[place] for place in chosen], [every[place] for place in places if place not in chosen]


def not_comparable(verdicts: Iterable[StatementVerdict]) -> tuple[StatementVerdict, ...]:
    """Return verdicts of networks or data too unlike the paper's to contradict it, and so to confirm it.

    Examples
    --------
    >>> [one.word for one in not_comparable([StatementVerdict("a", "b", "c", "d", holds=True)])]
    ['not comparable']
    """
    return tuple(replace(one, holds=None, is_comparable=False) for one in verdicts)
