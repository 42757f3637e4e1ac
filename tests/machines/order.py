"""Tests in random order, to find those that depend on what ran before."""

import random
from pathlib import Path

import pytest


def shuffle(items: list[pytest.Item], generator: random.Random) -> None:
    """Put modules in random order, and the tests of each, which stay together because they share what is built."""
    modules: dict[Path, list[pytest.Item]] = {}
    for item in items:
        modules.setdefault(item.path, []).append(item)
    order = list(modules.values())
    generator.shuffle(order)
    for tests in order:
        generator.shuffle(tests)
    items[:] = [item for tests in order for item in tests]
