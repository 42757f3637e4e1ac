"""Running the sections of a report one after another, keeping what is done whatever happens to the next."""

import time
from collections.abc import Callable

from reluscope.errors import ReluscopeError
from reluscope.report.document import Report, SectionResult
from reluscope.report.sections import Section, all_sections
from reluscope.report.subject import Subject

Notify = Callable[[str, int, int], None]


def build_report(
    subject: Subject, *, notify: Notify | None = None, sections: tuple[Section, ...] | None = None
) -> Report:
    """Run all sections.

    Parameters
    ----------
    subject : Subject
    notify : callable, optional
        Told the title of every section before it starts, its position and the number of sections.
    sections : tuple of Section, optional
        By default all there are.

    Returns
    -------
    Report
        Ctrl-C ends the section at work and starts no other; what was found until then is in the report. A section
        that fails says so in its place, and the others go on.
    """
    sections = all_sections() if sections is None else sections
    began = time.perf_counter()
    results: list[SectionResult] = []
    stopped = False
    for position, section in enumerate(sections):
        if stopped:
            results.append(
                SectionResult(
                    section.name, section.title, "not started", "The work was interrupted before this section."
                )
            )
            continue
        if notify is not None:
            notify(section.title, position, len(sections))
        result = _run(section, subject)
        stopped = result.status == "interrupted"
        results.append(result)
    return Report(subject, tuple(results), time.perf_counter() - began)


def _run(section: Section, subject: Subject) -> SectionResult:
    began = time.perf_counter()

    def result(status, sentence="", content=None) -> SectionResult:
        return SectionResult(section.name, section.title, status, sentence, content, time.perf_counter() - began)

    try:
        reason = section.why_not(subject)
        if reason is not None:
            return result("not applicable", reason)
        content = section.content(subject)
    except KeyboardInterrupt:
        return result("interrupted", "The work was interrupted in this section.")
    except ReluscopeError as error:
        return result("failed", f"This section could not be computed: {error}.")
    if content.interrupted:
        return result(
            "interrupted", "The work was interrupted in this section; it shows what was found so far.", content
        )
    return result("done", content=content)
