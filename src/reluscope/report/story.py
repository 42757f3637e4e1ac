"""What a report says first: one picture, a few sentences, five numbers; all from what its sections found.

Sentences come in the order of their surprise, and as sections do where nothing surprises. Nothing here is computed from
fewer samples than make a headline.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from reluscope.report.parts.content import Number, ReportPicture
from reluscope.report.parts.document import SectionResult
from reluscope.report.parts.known_values import SURPRISING
from reluscope.report.parts.sentences import FEW, Sentence

MAX_SENTENCES, MAX_NUMBERS = 6, 5
# What readers ask first, where nothing is surprising.
TOLD_FIRST = ("fit", "codes", "balls", "robustness", "plane", "segments", "code_map", "regions_at_boundaries")
NUMBERS_FIRST = ("fit", "codes", "plane", "balls", "robustness", "segments", "network", "maps")
LABELS = {
    "codes": "activation patterns",
    "plane": "linear regions on the plane",
    "balls": "median distance to the first bend (l2)",
    "robustness": "median robustness radius (l2)",
    "maps": "median spectral norm",
}
PICTURES_FIRST = ("plane", "segments", "codes")


@dataclass(frozen=True)
class OpeningNumber:
    """A number of the opening, and the section that has more about it."""

    section: str
    number: Number

    @property
    def label(self) -> str:
        """What the number is called here, in the words of the field."""
        return LABELS.get(self.section, self.number.finding.name)


@dataclass(frozen=True)
class Story:
    """The opening of a report."""

    sentences: tuple[Sentence, ...]
    numbers: tuple[OpeningNumber, ...]
    told: frozenset[str]  # names of the sections that the sentences are from
    picture: ReportPicture | None = None  # its first drawing opens the report
    caption: str = ""


def story_of(sections: Sequence[SectionResult]) -> Story:
    """Return the opening of a report with these sections."""
    by_name = {section.name: section.content for section in sections if section.content is not None}
    # What several sections say stands once.
    told = {
        sentence.text: (sentence, _place(name, TOLD_FIRST), position, name)
        for name, content in by_name.items()
        for position, sentence in enumerate(content.sentences)
        if sentence.is_headline
    }
    order = sorted(told.values(), key=lambda one: (-_weight(one[0]), one[2], one[1]))[:MAX_SENTENCES]
    numbers = [
        OpeningNumber(name, headline)
        for name in sorted(by_name, key=lambda name: _place(name, NUMBERS_FIRST))
        if (headline := by_name[name].headline) is not None and _is_shown(headline)
    ]
    picture, caption = _picture(by_name)
    names = frozenset(one[3] for one in order)
    return Story(tuple(one[0] for one in order), tuple(numbers[:MAX_NUMBERS]), names, picture, caption)


def _weight(sentence: Sentence) -> float:
    return sentence.surprise if sentence.surprise >= SURPRISING else 0.0


def _place(name: str, order: Sequence[str]) -> int:
    return order.index(name) if name in order else len(order)


def _is_shown(number: Number) -> bool:
    return (number.samples is None or number.samples >= FEW) and not _is_of_one(number)


def _is_of_one(number: Number) -> bool:
    """Whether a number is about a single sample."""
    return " at sample " in number.finding.domain or number.finding.domain.startswith("sample ")


def _picture(by_name: dict) -> tuple[ReportPicture | None, str]:
    for name in PICTURES_FIRST:
        content = by_name.get(name)
        picture = (
            None if content is None else next((one for one in content.blocks if isinstance(one, ReportPicture)), None)
        )
        if picture is not None:
            return picture, CAPTIONS[name]
    return None, ""


CAPTIONS = {
    "plane": "The plane through three samples: regions in thin lines, the decision boundary bold where there is one.",
    "segments": "Linear regions on straight segments between samples.",
    "codes": "How many different activation patterns the samples have, by gate.",
}
