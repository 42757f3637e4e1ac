"""Which tier a test belongs to where its marks do not say so themselves."""

from collections import defaultdict

import pytest


def mark_slow(items: list[pytest.Item]) -> None:
    """Mark `slow` what opens a browser, and of tests with the mark `few(number)` all cases but that many."""
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)
        if item.get_closest_marker("few") is not None:
            cases[item.nodeid.partition("[")[0]].append(item)
    for tests in cases.values():
        few = tests[0].get_closest_marker("few")
        kept = spread(len(tests), few.args[0] if few else len(tests))
        for number, item in enumerate(tests):
            if number not in kept:
                item.add_marker(pytest.mark.slow)


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
