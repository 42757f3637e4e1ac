"""Running the sections of a report; those that are done stay even if another one fails."""

import time
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass

from reluscope.errors import ReluscopeError
from reluscope.progress import ProgressFunction
from reluscope.report.parts.document import Report, SectionResult
from reluscope.report.parts.subject import Subject
from reluscope.report.section_runs import INTERRUPTED, run_section
from reluscope.report.sections import Section, all_sections
from reluscope.report.sharing import Helpers


@dataclass(frozen=True)
class ReportProgress:
    """How far the work on a report is."""

    title: str  # of the section at work
    position: int  # sections before it
    number: int  # sections in all
    share: float  # of all the work done, from 0 to 1, in expected time
    remaining: float  # expected seconds until the end


Notify = Callable[[ReportProgress], None]
End = Callable[[SectionResult], None]
FIRST_HERE = "plane"


def build_report(
    subject: Subject,
    *,
    notify: Notify | None = None,
    sections: tuple[Section, ...] | None = None,
    kept: MutableMapping[str, SectionResult] | None = None,
    helpers: Helpers | None = None,
) -> Report:
    """Run all sections.

    Ctrl-C ends the sections at work; what was found is in the report. A failed section says so in its place, and the
    others go on. Sections in ``kept`` are not run again; finished ones are put into it.
    """
    sections = all_sections() if sections is None else sections
    kept = {} if kept is None else kept
    found = {section.name: kept[section.name] for section in sections if section.name in kept}
    clock = _Clock(subject, sections, found, notify, 1 if helpers is None else 1 + helpers.number)

    def end(result: SectionResult) -> None:
        clock.end(result.name)
        found[result.name] = result
        if result.is_final:
            kept[result.name] = result

    waiting = [section for section in sections if section.name not in found]
    if helpers is None:
        _one_by_one(subject, waiting, clock, end)
    else:
        # The longest first, so that none is left alone at the end.
        _side_by_side(subject, sorted(waiting, key=clock.expected, reverse=True), clock, end, helpers)
    stopped = any(one.status == "interrupted" for one in found.values())
    for section in waiting if stopped else []:
        if section.name not in found:
            reason = "The work was interrupted before this section."
            found[section.name] = SectionResult(section.name, section.title, "not started", reason)
    results = tuple(found[section.name] for section in sections)
    return Report(subject, results, sum(result.seconds for result in results))


def expected_seconds(subject: Subject, sections: tuple[Section, ...] | None = None) -> float:
    """Return about how long all sections take one after another."""
    return sum(_estimate(section, subject) for section in (all_sections() if sections is None else sections))


def _one_by_one(subject: Subject, waiting: list[Section], clock: "_Clock", end: End) -> None:
    for section in waiting:
        result = _run(section, subject, clock)
        end(result)
        if result.status == "interrupted":
            return


def _side_by_side(subject: Subject, waiting: list[Section], clock: "_Clock", end: End, helpers: Helpers) -> None:
    # What shows most where it is interrupted is done here: a helper that is stopped hands nothing in.
    waiting.sort(key=lambda section: section.name == FIRST_HERE)
    first = waiting.pop() if waiting and waiting[-1].name == FIRST_HERE else None
    helpers.start(waiting)
    waiting = [*waiting, *([first] if first else [])]
    running = {section.name: section for section in waiting}

    def tell(result: SectionResult) -> None:
        running.pop(result.name)
        end(result)

    def interrupt() -> None:
        """Keep what helpers have ended, and say of the others that they were stopped."""
        helpers.stop()
        for result in helpers.finished():
            if result.name in running:
                tell(result)
        for section in helpers.begun(running.values()):
            tell(SectionResult(section.name, section.title, "interrupted", INTERRUPTED))

    try:
        while (section := first or helpers.take()) is not None:
            first = None
            result = _run(section, subject, clock)
            tell(result)
            if result.status == "interrupted":
                return interrupt()
        helpers.results(tell, clock.wait)
    except KeyboardInterrupt:
        interrupt()


def _run(section: Section, subject: Subject, clock: "_Clock") -> SectionResult:
    try:
        return run_section(section, subject, clock.begin(section))
    except KeyboardInterrupt:
        return SectionResult(section.name, section.title, "interrupted", INTERRUPTED)


def _estimate(section: Section, subject: Subject) -> float:
    try:
        return section.seconds(subject.timed) if section.why_not(subject) is None else 0.0
    except ReluscopeError:  # it will be said where the section stands
        return 0.0


class _Clock:
    """How many seconds every section is expected to take, and how many of them are over."""

    def __init__(
        self, subject: Subject, sections: tuple[Section, ...], found: Mapping, notify: Notify | None, processes: int
    ) -> None:
        self._subject, self._notify, self._processes = subject, notify, processes
        self._order = [section.name for section in sections]
        self._sections = {section.name: section for section in sections}
        self._waiting = [section.name for section in sections if section.name not in found]
        self._expected: dict[str, float] = {}

    def expected(self, section: Section) -> float:
        """Return how many seconds a section is expected to take."""
        if section.name not in self._expected:
            self._expected[section.name] = _estimate(section, self._subject)
        return self._expected[section.name]

    def begin(self, section: Section) -> ProgressFunction:
        """Return the function that the section calls with the share of its work that is done."""
        began = time.perf_counter()

        def progress(share: float) -> None:
            if self._notify is None:
                return
            elapsed, expected = time.perf_counter() - began, self.expected(section)
            # Early on what was expected counts, later what the section's own pace says.
            mine = (1 - share) * max(expected - elapsed, 0.0) + (elapsed * (1 - share) if share > 0 else 0.0)
            later = sum(self.expected(self._sections[name]) for name in self._waiting if name != section.name)
            self._tell(section, later + (1 - share) * expected, max(mine, (mine + later) / self._processes))

        progress(0.0)
        return progress

    def wait(self) -> None:
        """Tell which section is waited for."""
        if self._notify is not None and self._waiting:
            later = sum(self.expected(self._sections[name]) for name in self._waiting)
            self._tell(self._sections[self._waiting[0]], later, later / self._processes)

    def end(self, name: str) -> None:
        """Take note that a section has ended."""
        self._waiting = [one for one in self._waiting if one != name]

    def _tell(self, section: Section, ahead: float, remaining: float) -> None:
        assert self._notify is not None
        whole = sum(self.expected(one) for one in self._sections.values() if one.name in self._all())
        done = min(1.0, max(0.0, 1 - ahead / whole)) if whole > 0 else 1.0
        position = self._order.index(section.name)
        self._notify(ReportProgress(section.title, position, len(self._order), done, remaining))

    def _all(self) -> set[str]:
        return {*self._expected, *self._waiting}
