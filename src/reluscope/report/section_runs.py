"""Running one section of a report: its content, or the sentence that stands in its place."""

import time

from reluscope.budget import ENDS, why_ended
from reluscope.errors import BudgetExceededError, DiscontinuousNetworkError, ReluscopeError
from reluscope.progress import ProgressFunction
from reluscope.report.parts.document import SectionResult
from reluscope.report.parts.subject import Subject
from reluscope.report.sections import Section
from reluscope.stopping import is_interrupted, is_out_of_time

INTERRUPTED = "The work was interrupted in this section."
NO_TIME = "There was no time for this section: give the report more with --seconds."


def run_section(section: Section, subject: Subject, progress: ProgressFunction) -> SectionResult:
    """Return the result of a section, whatever becomes of it.

    A failure with a message, and Ctrl-C, are results too. ``progress`` is told the share of the work that is done.
    """
    began = time.perf_counter()

    def result(status, sentence="", content=None) -> SectionResult:
        return SectionResult(section.name, section.title, status, sentence, content, time.perf_counter() - began)

    try:
        reason = section.why_not(subject)
        if reason is not None:
            return result("not applicable", reason)
        content = section.content(subject, progress)
    except BudgetExceededError:
        return result("not applicable", NO_TIME)
    except DiscontinuousNetworkError as error:
        return result("not applicable", f"Left out: {error}.")
    except ReluscopeError as error:
        return result("failed", f"This section could not be computed: {error}.")
    except ENDS as error:
        stop = why_ended(error)
        if is_interrupted(stop):
            return result("interrupted", INTERRUPTED)
        if is_out_of_time(stop):
            return result("not applicable", NO_TIME)
        return result("failed", "This section could not be computed: there was not enough memory for it.")
    if content.interrupted:
        return result("interrupted", INTERRUPTED[:-1] + "; it shows what was found so far.", content)
    return result("done", content=content)
