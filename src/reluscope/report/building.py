"""Running the sections of a report one after another; sections that are done stay even if a later one fails."""

import time
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass

from reluscope.errors import ReluscopeError
from reluscope.progress import ProgressFunction
from reluscope.report.document import Report, SectionResult
from reluscope.report.sections import Section, all_sections
from reluscope.report.subject import Subject


@dataclass(frozen=True)
class ReportProgress:
    """How far the work on a report is.

    Parameters
    ----------
    title : str
        Of the section at work.
    position, number : int
        Sections before it, and sections in all.
    share : float
        Share of all the work that is done, from 0 to 1, in expected time.
    remaining : float
        Expected seconds until the end.
    """

    title: str
    position: int
    number: int
    share: float
    remaining: float


Notify = Callable[[ReportProgress], None]


def build_report(
    subject: Subject,
    *,
    notify: Notify | None = None,
    sections: tuple[Section, ...] | None = None,
    kept: MutableMapping[str, SectionResult] | None = None,
) -> Report:
    """Run all sections.

    Parameters
    ----------
    subject : Subject
    notify : callable, optional
        Told where the work is, before every section and within it.
    sections : tuple of Section, optional
        By default all there are.
    kept : mapping from names of sections to their results, optional
        Sections in it are not run again; those that are finished are put into it.

    Returns
    -------
    Report
        Ctrl-C ends the section at work and starts no other; what was found until then is in the report. A section
        that fails says so in its place, and the others go on.
    """
    sections = all_sections() if sections is None else sections
    kept = {} if kept is None else kept
    clock = _Clock(subject, sections, kept, notify)
    results: list[SectionResult] = []
    stopped = False
    for section in sections:
        if section.name in kept:
            results.append(kept[section.name])
            continue
        if stopped:
            reason = "The work was interrupted before this section."
            results.append(SectionResult(section.name, section.title, "not started", reason))
            continue
        try:
            progress = clock.begin(section)
            result = _run(section, subject, progress)
        except KeyboardInterrupt:
            result = SectionResult(section.name, section.title, "interrupted", INTERRUPTED)
        clock.end(section)
        stopped = result.status == "interrupted"
        if result.is_final:
            kept[section.name] = result
        results.append(result)
    return Report(subject, tuple(results), sum(result.seconds for result in results))


INTERRUPTED = "The work was interrupted in this section."


class _Clock:
    """How many seconds every section is expected to take, and how many of them are over."""

    def __init__(self, subject: Subject, sections: tuple[Section, ...], kept, notify: Notify | None) -> None:
        self._subject, self._notify = subject, notify
        self._order = [section.name for section in sections]
        self._waiting = [section for section in sections if section.name not in kept]
        self._expected: dict[str, float] = {}

    def begin(self, section: Section) -> ProgressFunction:
        """Return the function that the section calls with the share of its work that is done."""
        began = time.perf_counter()
        if self._notify is not None and not self._expected:
            self._expected = {one.name: self._estimate(one) for one in self._waiting}

        def progress(share: float) -> None:
            if self._notify is None:
                return
            elapsed = time.perf_counter() - began
            expected = self._expected[section.name]
            # Early on what was expected counts, later what the section's own pace says.
            mine = (1 - share) * max(expected - elapsed, 0.0) + (elapsed * (1 - share) if share > 0 else 0.0)
            later = sum(self._expected[one.name] for one in self._waiting if one is not section)
            ahead = later + (1 - share) * expected
            whole = sum(self._expected.values())
            position = self._order.index(section.name)
            done = 1 - ahead / whole if whole > 0 else 1.0
            self._notify(ReportProgress(section.title, position, len(self._order), done, mine + later))

        progress(0.0)
        return progress

    def end(self, section: Section) -> None:
        """Take note that a section has ended."""
        self._waiting = [one for one in self._waiting if one is not section]

    def _estimate(self, section: Section) -> float:
        try:
            return section.seconds(self._subject) if section.why_not(self._subject) is None else 0.0
        except ReluscopeError:  # it will be said where the section stands
            return 0.0


def _run(section: Section, subject: Subject, progress: ProgressFunction) -> SectionResult:
    began = time.perf_counter()

    def result(status, sentence="", content=None) -> SectionResult:
        return SectionResult(section.name, section.title, status, sentence, content, time.perf_counter() - began)

    try:
        reason = section.why_not(subject)
        if reason is not None:
            return result("not applicable", reason)
        content = section.content(subject, progress)
    except KeyboardInterrupt:
        return result("interrupted", INTERRUPTED)
    except ReluscopeError as error:
        return result("failed", f"This section could not be computed: {error}.")
    if content.interrupted:
        return result("interrupted", INTERRUPTED[:-1] + "; it shows what was found so far.", content)
    return result("done", content=content)
