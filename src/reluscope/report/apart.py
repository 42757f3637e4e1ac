"""Reports of several models made ready for one page: ids of pictures and names of files that differ."""

import re
from collections.abc import Sequence
from dataclasses import replace

from reluscope.report.parts.content import Attachment, Block, Drawing, ReportPicture
from reluscope.report.parts.document import Report, SectionResult


def apart(reports: Sequence[Report]) -> tuple[Report, ...]:
    """Return reports that share no id and no name of a file; the first one is as it was."""
    return tuple(_renamed(report, place + 1) if place else report for place, report in enumerate(reports))


def _renamed(report: Report, number: int) -> Report:
    def drawing(one: Drawing) -> Drawing:
        return replace(one, svg=re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>model{number}-", one.svg))

    def block(one: Block) -> Block:
        if isinstance(one, ReportPicture):
            below = None if one.below is None else drawing(one.below)
            return replace(one, drawings=tuple(map(drawing, one.drawings)), below=below)
        if isinstance(one, Attachment):
            stem, _, suffix = one.name.rpartition(".")
            return replace(one, name=f"{stem}-{number}.{suffix}")
        return one

    def section(one: SectionResult) -> SectionResult:
        if one.content is None:
            return one
        return replace(one, content=replace(one.content, blocks=tuple(map(block, one.content.blocks))))

    return replace(report, sections=tuple(map(section, report.sections)))
