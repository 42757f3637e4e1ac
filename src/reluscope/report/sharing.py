"""Sections of a report run beside each other: some in this process, the others in processes that help it."""

import pickle
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, wait
from contextlib import contextmanager
from functools import cache
from importlib import import_module, invalidate_caches
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from reluscope.report.parts.document import SectionResult
from reluscope.report.parts.subject import Subject
from reluscope.report.section_runs import run_section
from reluscope.report.sections import Section, all_sections

# How often a wait for helpers looks up, so that Ctrl-C is heard and progress is shown.
PATIENCE = 0.2


class Helpers:
    """Processes that take sections from a list as long as there are some.

    The executor's processes must have the same sections; they find the subject at ``path``.
    """

    def __init__(self, executor: Executor, number: int, path: Path) -> None:
        self.number = number
        self._executor, self._path = executor, path
        self._lock, self._waiting = threading.Lock(), deque[Section]()
        self._futures: dict[str, Future[SectionResult]] = {}

    def start(self, sections: Iterable[Section]) -> None:
        """Begin with sections in their order, one in each process."""
        self._waiting = deque(sections)
        for _ in range(self.number):
            self._give()

    def take(self) -> Section | None:
        """Return the next section that nobody has begun, for the process that asks."""
        with self._lock:
            return self._waiting.popleft() if self._waiting else None

    def stop(self) -> None:
        """Give out no further section."""
        with self._lock:
            self._waiting.clear()

    def results(self, tell: Callable[[SectionResult], None], look: Callable[[], None]) -> None:
        """Wait for the sections given out, and tell of each result once, as it comes.

        ``look`` is called all the while.
        """
        told: set[str] = set()
        while missing := {name: one for name, one in dict(self._futures).items() if name not in told}:
            wait(missing.values(), timeout=PATIENCE, return_when="FIRST_COMPLETED")
            look()
            for name, future in missing.items():
                if future.done():
                    told.add(name)
                    tell(future.result())

    def finished(self) -> list[SectionResult]:
        """Return the results that are there, without waiting."""
        there = [one for one in self._futures.values() if one.done() and not one.cancelled()]
        return [one.result() for one in there if one.exception() is None]

    def begun(self, sections: Iterable[Section]) -> list[Section]:
        """Return those of some sections that helpers have begun."""
        return [section for section in sections if section.name in self._futures]

    def _give(self, done: "Future[SectionResult] | None" = None) -> None:
        section = None if done is not None and done.cancelled() else self.take()
        if section is None:
            return
        future = self._executor.submit(_section, str(self._path), section.name)
        self._futures[section.name] = future
        future.add_done_callback(self._give)


@contextmanager
def helped(executor: Executor, number: int, subject: Subject) -> Iterator[Helpers]:
    """Yield helpers that know the subject.

    The executor must be of ``number`` processes on this machine.
    """
    with TemporaryDirectory(prefix="reluscope-") as folder:
        path = Path(folder, "subject")
        path.write_bytes(pickle.dumps(Surroundings.here()) + pickle.dumps(subject))
        yield Helpers(executor, number, path)


class Surroundings(NamedTuple):
    """Where a process finds modules, so that its helpers find the same ones."""

    path: list[str]  # as ``sys.path``
    packages: dict[str, list[str]]  # all folders of this library's spread-out packages

    @classmethod
    def here(cls) -> "Surroundings":
        """Return those of this process."""
        loaded = {name: one for name, one in dict(sys.modules).items() if name.split(".")[0] == __name__.split(".")[0]}
        packages = {name: list(one.__path__) for name, one in loaded.items() if getattr(one, "__path__", None)}
        own = {name: [str(Path(loaded[name].__file__ or "").parent)] for name in packages}
        return cls(list(sys.path), {name: places for name, places in packages.items() if places != own[name]})

    def enter(self) -> None:
        """Find modules there in this process, too."""
        if self == Surroundings.here():
            return
        sys.path[:] = self.path
        for name, places in self.packages.items():
            import_module(name).__path__ = places
        invalidate_caches()


def prepare() -> None:
    """Import what sections need, in a process that is going to help."""
    all_sections()


def _section(path: str, name: str) -> SectionResult:
    subject = _subject(path)
    section = next(one for one in all_sections() if one.name == name)
    return run_section(section, subject, lambda share: None)


@cache
def _subject(path: str) -> Subject:
    """Read what the process that is helped has written a moment ago, once in each process."""
    with Path(path).open("rb") as file:
        pickle.load(file).enter()
        return pickle.load(file)
