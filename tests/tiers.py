"""Which tier a test belongs to where its marks do not say so themselves, and which cases a day draws."""

import random
from collections import defaultdict

import pytest


def mark_slow(items: list[pytest.Item]) -> None:
    """Mark `slow` what opens a browser, and of tests with the mark `few(number)` all cases but that many."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)
    for few, tests in _cases(items, "few"):
        kept = spread(len(tests), few)
        for number, item in enumerate(tests):
            if number not in kept:
                item.add_marker(pytest.mark.slow)


def of_the_day(items: list[pytest.Item], seed: int) -> list[pytest.Item]:
    """Return the tests, of those with the mark `nightly(number)` so many cases that the seed draws."""
    left_out: set[pytest.Item] = set()
    for number, tests in _cases(items, "nightly"):
        drawn = random.Random(f"{seed} {tests[0].nodeid}").sample(tests, min(number, len(tests)))
        left_out.update(set(tests) - set(drawn))
    return [item for item in items if item not in left_out]


def _cases(items: list[pytest.Item], mark: str) -> list[tuple[int, list[pytest.Item]]]:
    """Return the cases of each test whose mark has a number, with the number."""
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    numbers: dict[str, int] = {}
    for item in items:
        found, test = item.get_closest_marker(mark), item.nodeid.partition("[")[0]
        if found is not None and found.args:
            cases[test].append(item)
            numbers[test] = found.args[0]
    return [(numbers[test], tests) for test, tests in cases.items()]


def spread(count: int, number: int) -> set[int]:
    """Return positions of some of several cases, the first one and as far from each other as they can be.

    Examples
    --------
    >>> sorted(spread(9, 3)), sorted(spread(2, 5)), sorted(spread(7, 1))
    ([0, 4, 8], [0, 1], [0])
    """
    if number >= count:
        return set(range(count))
    return {round(position * (count - 1) / max(1, number - 1)) for position in range(number)}
