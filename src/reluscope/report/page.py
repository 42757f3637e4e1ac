"""A report as one HTML page that needs nothing else: style and pictures are inside."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from reluscope.citations import CITATIONS
from reluscope.findings import Finding
from reluscope.findings.writing import number
from reluscope.report.content import Number
from reluscope.report.document import Report, SectionResult, sources
from reluscope.report.glossary import GLOSSARY
from reluscope.version import __version__


@dataclass(frozen=True)
class Page:
    """The content of a page.

    Parameters
    ----------
    kind : str
        What sort of page it is.
    subject, place : str
        What it is about, and on what.
    sections : sequence of SectionResult
    footer : str
        How it came about.
    warning : str
        What is missing, empty if nothing is.
    """

    kind: str
    subject: str
    place: str
    sections: Sequence[SectionResult]
    footer: str
    warning: str = ""


def render(report: Report) -> str:
    """Return the page of a report.

    Parameters
    ----------
    report : Report

    Returns
    -------
    str
        A complete HTML document; everything that came from outside is escaped.
    """
    warning = ""
    if report.was_interrupted:
        warning = "This report is not complete: it was interrupted, and shows what was done until then."
    elif not report.is_complete:
        warning = "This report is not complete: a section failed and says why."
    footer = (
        f"Written by reluscope {__version__} in {report.seconds:.1f} s, seed {report.subject.settings.seed}. The same "
        "numbers for machines are in report.json."
    )
    subject = report.subject
    return render_page(Page("reluscope report", subject.model, subject.data.name, report.sections, footer, warning))


def render_page(page: Page) -> str:
    """Return any page as a complete HTML document; everything that came from outside is escaped."""
    environment = Environment(
        loader=FunctionLoader(_read), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.tests["number"] = lambda cell: isinstance(cell, Number)
    environment.tests["plain_number"] = lambda cell: isinstance(cell, int | float)
    environment.filters["number"] = number
    environment.filters["how"] = explanations
    environment.filters["drawn"] = Markup
    return environment.get_template("page.html").render(
        page=page,
        style=Markup(_read("page.css")),
        glossary=GLOSSARY,
        sources=[CITATIONS[key] for key in sources(page.sections) if key in CITATIONS],
        version=__version__,
    )


@dataclass(frozen=True)
class Explanation:
    """How some numbers of a section were computed."""

    names: str
    finding: Finding
    source: str


def explanations(findings: Iterable[Finding]) -> list[Explanation]:
    """Group findings that were computed in the same way.

    Examples
    --------
    >>> from reluscope.findings import Claim
    >>> found = [Finding.of(1, name="a", method="m"), Finding.of(2, name="b", method="m")]
    >>> [explanation.names for explanation in explanations(found)]
    ['a, b']
    """
    groups: dict[tuple, list[Finding]] = {}
    for finding in findings:
        key = (finding.definition, finding.domain, finding.method, finding.tolerance, finding.source)
        groups.setdefault(key, []).append(finding)
    return [
        Explanation(_joined([one.name for one in group]), group[-1], _source(group[-1].source))
        for group in groups.values()
    ]


def _joined(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= 4 else f"{names[0]}, {names[1]}, ... ({len(names)} numbers)"


def _source(key: str) -> str:
    cited = CITATIONS.get(key)
    return key if cited is None else f"{cited.authors[0].split()[-1]} {cited.year}"


def _read(name: str) -> str:
    return (files("reluscope.report") / "templates" / name).read_text(encoding="utf-8")
