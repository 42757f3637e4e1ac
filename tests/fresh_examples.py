"""Examples in public docstrings see nothing but what they import, as when someone pastes them into Python."""

from collections.abc import Iterable
from functools import cache
from types import ModuleType

import pytest
from _pytest.doctest import DoctestItem


@cache
def _public() -> frozenset[str]:
    """Return where everything public is defined, as ``module.name``."""
    import reluscope as rs
    from public_names import public_names, returned_types

    found: set[str] = set()

    def visit(module: ModuleType) -> None:
        for name in public_names(module):
            thing = getattr(module, name)
            if isinstance(thing, ModuleType):
                if thing.__name__.startswith("reluscope."):
                    visit(thing)
            else:
                found.add(f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', '')}")
        for thing in returned_types(module.__name__).values():
            found.add(f"{thing.__module__}.{thing.__qualname__}")

    visit(rs)
    return frozenset(found)


def is_public(name: str) -> bool:
    """Return whether a docstring, as doctest names it, is one of something public or of its method."""
    parts = name.split(".")
    return any(".".join(parts[:length]) in _public() for length in range(2, len(parts) + 1))


def without_module_names(items: Iterable[pytest.Item]) -> None:
    """Take the names of their modules from the examples of public docstrings."""
    for item in items:
        if isinstance(item, DoctestItem) and is_public(item.dtest.name):
            item.dtest.globs = {"__name__": "__main__"}
