"""Sections of the report, one module each; every module in this package is a section.

A section module has a ``TITLE``, a ``POSITION`` by which sections are ordered, ``why_not(subject)``, which returns the
sentence that stands in its place where it does not apply, else None, ``seconds(subject)``, about how long it will
take, and ``content(subject, progress)``, which asks analyses for findings, draws its pictures and says what they mean;
``progress`` is a function that it may call with the share of its work that is done.
"""

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from reluscope.progress import ProgressFunction
from reluscope.report.parts.content import Content
from reluscope.report.parts.subject import Subject


@dataclass(frozen=True)
class Section:
    """A section module as a value."""

    name: str  # module's name, anchor on the page, key in JSON
    title: str
    position: int
    why_not: Callable[[Subject], str | None]
    seconds: Callable[[Subject], float]
    content: Callable[[Subject, ProgressFunction], Content]


def all_sections() -> tuple[Section, ...]:
    """Return all sections in order."""
    names = [module.name for module in pkgutil.iter_modules(__path__)]
    modules = [import_module(f"{__name__}.{name}") for name in names]
    found = [
        Section(name, module.TITLE, module.POSITION, module.why_not, module.seconds, module.content)
        for name, module in zip(names, modules, strict=True)
    ]
    return tuple(sorted(found, key=lambda section: (section.position, section.name)))
