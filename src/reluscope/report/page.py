"""A report as one HTML page that needs nothing else: style and pictures are inside."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from reluscope.citations import CITATIONS
from reluscope.explorer.exchange.bundled import fingerprint, program
from reluscope.findings import Finding
from reluscope.findings.written_findings import number
from reluscope.report.conclusions import Conclusion, conclusions_of
from reluscope.report.model_differences import differences_between
from reluscope.report.parts.content import Block, Number, ReportPicture, is_written_number
from reluscope.report.parts.document import Report, SectionResult, sources
from reluscope.report.parts.glossary import GLOSSARY
from reluscope.report.parts.merged_tables import merged, shared_samples
from reluscope.report.story import Story, story_of
from reluscope.version import __version__

# Nothing from outside, and no program but the explorer's.
POLICY = "default-src 'none'; script-src {}; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'"


@dataclass(frozen=True)
class Page:
    """The content of a page."""

    kind: str  # what sort of page it is
    subject: str  # what it is about
    place: str  # what the subject is examined on
    sections: Sequence[SectionResult]
    footer: str  # how it came about
    warning: str = ""  # what is missing, empty if nothing is
    is_open: bool = False  # whether sections without a sentence start unfolded
    models: Sequence[tuple[str, Sequence[SectionResult]]] = ()  # names and sections of several models, in one order
    relation: str = "on"  # what stands between subject and place
    noun: str = "sample"  # what a sample is called
    differences: Sequence[str] = ()  # between several models, in sentences


def render(report: Report) -> str:
    """Return the page of a report, a complete HTML document.

    Everything that came from outside is escaped.
    """
    subject = report.subject
    return render_page(
        Page(
            "reluscope report",
            subject.model,
            subject.data.name,
            report.sections,
            _footer([report]),
            _warning([report]),
            noun=subject.noun,
        )
    )


def render_beside(reports: Sequence[Report]) -> str:
    """Return one page of several models on the same data: what `render` shows, in columns.

    Reports must have the same sections in the same order, told apart by `reluscope.report.apart`.
    """
    names = names_of(reports)
    models = [(name, one.sections) for name, one in zip(names, reports, strict=True)]
    page = Page(
        "reluscope report",
        " and ".join(names),
        reports[0].subject.data.name,
        reports[0].sections,
        _footer(reports),
        _warning(reports),
        models=models,
        noun=reports[0].subject.noun,
        differences=differences_of(reports),
    )
    return render_page(page)


def differences_of(reports: Sequence[Report]) -> tuple[str, ...]:
    """Return in sentences what differs between several models."""
    is_classifier = reports[0].subject.is_classifier
    return differences_between(names_of(reports), [one.sections for one in reports], is_classifier=is_classifier)


def names_of(reports: Sequence[Report]) -> list[str]:
    """Return a name for each model: numbered where several have one."""
    names = [one.subject.model for one in reports]
    return [f"{name} ({place + 1})" if names.count(name) > 1 else name for place, name in enumerate(names)]


def _warning(reports: Sequence[Report]) -> str:
    if any(report.was_interrupted for report in reports):
        return "This report is not complete: it was interrupted, and shows what was done until then."
    if not all(report.is_complete for report in reports):
        return "This report is not complete: a section failed and says why."
    return ""


def _footer(reports: Sequence[Report]) -> str:
    seconds = sum(report.seconds for report in reports)
    return (
        f"Written by reluscope {__version__}; its sections took {seconds:.1f} s, seed "
        f"{reports[0].subject.settings.seed}. The same numbers for machines are in report.json."
    )


def render_page(page: Page) -> str:
    """Return any page as a complete HTML document; everything that came from outside is escaped."""
    environment = Environment(
        loader=FunctionLoader(_read), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    given = page.models or [(page.subject, page.sections)]
    models = [
        _Model(name, sections, story_of(sections), conclusions_of(sections, page.noun)) for name, sections in given
    ]
    opening = {
        id(one) for model in models if (shown := model.story.picture) for one in (shown.drawings[0], shown.below)
    }
    environment.tests["number"] = lambda cell: isinstance(cell, Number)
    environment.tests["plain_number"] = lambda cell: isinstance(cell, int | float)
    environment.tests["written_number"] = is_written_number
    environment.tests["in_opening"] = lambda drawing: id(drawing) in opening
    environment.filters["number"] = number
    environment.filters["merged"] = merged
    environment.filters["shared_samples"] = shared_samples
    environment.filters["drawn"] = Markup
    environment.filters["lead"] = _lead
    every = [section for model in models for section in model.sections]
    # Pictures say the same to whoever allows no programs.
    source = program() if any(block.kind == "snapshot" for block in _blocks(every)) else ""
    return environment.get_template("page.html").render(
        page=page,
        models=models,
        parts={section.name: [model.section(section.name) for model in models] for section in page.sections},
        told=frozenset[str]().union(*(model.story.told for model in models)),
        meaning=any(model.conclusions for model in models),
        nothing=[None] * len(models),
        beside=_beside(models),
        style=Markup(_read("page.css")),
        program=source,
        policy=Markup(POLICY.format(fingerprint(source) if source else "'none'")),
        glossary=GLOSSARY,
        sources=[CITATIONS[key] for key in sources(every) if key in CITATIONS],
        version=__version__,
    )


def _lead(section: SectionResult) -> ReportPicture | None:
    """Return the picture that stands for a section, None where it has none."""
    blocks = () if section.content is None else section.content.blocks
    return next((block for block in blocks if isinstance(block, ReportPicture)), None)


def _blocks(sections: Iterable[SectionResult]) -> Iterator[Block]:
    return (block for section in sections if section.content is not None for block in section.content.blocks)


@dataclass(frozen=True)
class _Model:
    """A column of the page: one model, or all there is."""

    name: str
    sections: Sequence[SectionResult]
    story: Story
    conclusions: Sequence[Conclusion]

    def section(self, name: str) -> SectionResult:
        """Return the section of a name."""
        return next(section for section in self.sections if section.name == name)

    @property
    def methods(self) -> list[tuple[SectionResult, list["Explanation"]]]:
        """How the numbers of each section were computed."""
        found = [(one, explanations(one.content.findings)) for one in self.sections if one.content is not None]
        return [(section, notes) for section, notes in found if notes]


def _beside(models: Sequence[_Model]) -> list[tuple[Any, ...]]:
    """Return the numbers of the opening as rows, those of each model in its column."""
    rows = []
    for shown in models[0].story.numbers:
        contents = [model.section(shown.section).content for model in models]
        numbers = [None if content is None else content.headline for content in contents]
        rows.append((shown.label, *("" if one is None else one for one in numbers)))
    return rows


@dataclass(frozen=True)
class Explanation:
    """How some numbers of a section were computed."""

    names: str
    definition: str
    where: str
    method: str
    source: str
    effort: str  # tolerances and work


def explanations(findings: Iterable[Finding]) -> list[Explanation]:
    """Group findings that were computed in the same way, wherever that was."""
    groups: dict[tuple, list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.definition, finding.method, finding.source), []).append(finding)
    return [
        Explanation(
            _joined([one.name for one in group]),
            definition,
            _joined([one.domain for one in group]),
            method,
            _source(source),
            _effort(group),
        )
        for (definition, method, source), group in groups.items()
    ]


def _effort(group: Sequence[Finding]) -> str:
    """Return the largest tolerance and the largest amounts of work of findings."""
    said = []
    tolerances = [one.tolerance for one in group if one.tolerance is not None]
    if tolerances:
        said.append(f"tolerance {max(tolerances):.2g}")
    if undecided := max(one.num_undecided for one in group):
        said.append(f"undecided {number(undecided)}")
    for what in dict.fromkeys(what for one in group for what in one.work):
        most = max(one.work.get(what, 0) for one in group)
        said.append(f"{what.replace('_', ' ')} {number(most) if most == int(most) else f'{most:.3g}'}")
    return "; ".join(said)


def _joined(names: list[str]) -> str:
    names = [name for name in dict.fromkeys(names) if name]
    return ", ".join(names) if len(names) <= 4 else f"{names[0]}, {names[1]}, ... ({len(names)} in all)"


def _source(key: str) -> str:
    cited = CITATIONS.get(key)
    return key if cited is None else f"{cited.authors[0].split()[-1]} {cited.year}"


def _read(name: str) -> str:
    return (files("reluscope.report") / "templates" / name).read_text(encoding="utf-8")
