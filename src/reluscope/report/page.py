"""A report as one HTML page that needs nothing else: style and pictures are inside."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from reluscope.citations import CITATIONS
from reluscope.findings import Finding
from reluscope.report.content import Number, number
from reluscope.report.document import Report
from reluscope.report.glossary import GLOSSARY
from reluscope.version import __version__


def render(report: Report) -> str:
    """Return the page.

    Parameters
    ----------
    report : Report

    Returns
    -------
    str
        A complete HTML document; everything that came from outside is escaped.
    """
    environment = Environment(
        loader=FunctionLoader(_read), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.tests["number"] = lambda cell: isinstance(cell, Number)
    environment.tests["finite"] = math.isfinite
    environment.tests["plain_number"] = lambda cell: isinstance(cell, int | float)
    environment.filters["number"] = number
    environment.filters["how"] = explanations
    environment.filters["drawn"] = Markup
    return environment.get_template("page.html").render(
        report=report,
        subject=report.subject,
        style=Markup(_read("page.css")),
        glossary=GLOSSARY,
        sources=[CITATIONS[key] for key in report.sources if key in CITATIONS],
        version=__version__,
    )


@dataclass(frozen=True)
class Explanation:
    """How some numbers of a section came about."""

    names: str
    finding: Finding
    source: str


def explanations(findings: Iterable[Finding]) -> list[Explanation]:
    """Group findings that were computed in the same way.

    Examples
    --------
    >>> from reluscope.findings import Claim
    >>> found = [Finding(1, Claim.EXACT, name="a", method="m"), Finding(2, Claim.EXACT, name="b", method="m")]
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
