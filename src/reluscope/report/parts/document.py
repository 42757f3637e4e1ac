"""A finished report: the results of all sections, as an object that becomes a page or JSON."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from reluscope.findings.finite import finite
from reluscope.report.parts.content import Block, Content
from reluscope.report.parts.subject import Subject
from reluscope.version import __version__

FORMAT = "reluscope report 1"

Status = Literal["done", "not applicable", "failed", "interrupted", "not started"]


@dataclass(frozen=True)
class SectionResult:
    """Result of one section: its status, and its content if there is any.

    The status is ``done``, ``not applicable``, ``failed``, ``interrupted`` (what was found so far is there) or ``not
    started``.
    """

    name: str
    title: str
    status: Status
    sentence: str = ""  # why, if it is not done
    content: Content | None = None
    seconds: float = 0.0

    @property
    def is_final(self) -> bool:
        """Whether running it again would change nothing."""
        return self.status in ("done", "not applicable")


@dataclass(frozen=True, eq=False)
class Report:
    """A report: its subject and the results of all sections."""

    subject: Subject
    sections: tuple[SectionResult, ...]
    seconds: float  # of all sections together

    @property
    def is_complete(self) -> bool:
        """Whether no section was interrupted, left out or failed."""
        return all(section.is_final for section in self.sections)

    @property
    def was_interrupted(self) -> bool:
        """Whether the user stopped the work."""
        return any(section.status in ("interrupted", "not started") for section in self.sections)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks of all sections, in order."""
        contents = (section.content for section in self.sections if section.content is not None)
        return tuple(block for content in contents for block in content.blocks)

    @property
    def sources(self) -> tuple[str, ...]:
        """Keys of the sources that findings name."""
        return sources(self.sections)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain types, ready for JSON: every number with its claim."""
        subject = self.subject
        settings = asdict(subject.settings)
        return finite(
            {
                "format": FORMAT,
                "reluscope": __version__,
                "complete": self.is_complete,
                "seconds": round(self.seconds, 3),
                "model": {
                    "name": subject.model,
                    "fingerprint": subject.network.fingerprint,
                    "notes": list(subject.network.notes),
                },
                "data": {
                    "name": subject.data.name,
                    "samples": len(subject.data),
                    "shape": list(subject.data.shape),
                    "labels": subject.data.has_targets,
                    "notes": list(subject.data.notes),
                },
                "task": "classification" if subject.is_classifier else "regression",
                "settings": settings,
                "sections": {section.name: _section(section) for section in self.sections},
            }
        )


def sources(sections: Sequence[SectionResult]) -> tuple[str, ...]:
    """Return the keys of the sources that findings of some sections name."""
    contents = (section.content for section in sections if section.content is not None)
    return tuple(sorted({finding.source for content in contents for finding in content.findings if finding.source}))


def _section(section: SectionResult) -> dict[str, Any]:
    plain: dict[str, Any] = {"title": section.title, "status": section.status, "seconds": round(section.seconds, 3)}
    if section.sentence:
        plain["sentence"] = section.sentence
    if section.content is not None:
        plain["findings"] = [finding.to_dict() for finding in section.content.findings]
        if section.content.data:
            plain["data"] = dict(section.content.data)
    return plain
