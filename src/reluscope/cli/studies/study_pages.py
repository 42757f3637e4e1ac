"""What studies found as pages: Markdown, and one HTML page in the style of reports with all pictures inside."""

from collections.abc import Mapping, Sequence
from typing import Any

from reluscope.citations import CITATIONS, bibliography
from reluscope.cli.studies.study_numbers import NUMBERS, Done, verdict_table
from reluscope.report.page import Page, render_page
from reluscope.report.parts import content as blocks
from reluscope.report.parts.document import SectionResult
from reluscope.report.parts.page_drawings import drawing
from reluscope.studies import Table


def markdown_page(plain: Mapping[str, Any], done: Sequence[Done]) -> str:
    """Return the results as Markdown: sentences, statements of the paper, pictures, tables, sources."""
    paper = done[0].study.source
    lines = [f"# {plain['name']}", "", f"After {CITATIONS[paper]}", "", _origin(plain), ""]
    for one in done:
        lines += [f"## {_title(one)}", ""]
        lines += [line for sentence in one.outcome.sentences for line in (sentence, "")]
        statements = verdict_table(one.outcome)
        if statements is not None:
            lines += [*_markdown(statements), ""]
        for picture in one.outcome.pictures:
            lines += [f"![{picture.caption}]({picture.name}.svg)", "", f"*{picture.caption}*", ""]
        for film in one.outcome.films:
            lines += [f"![{film.caption}]({film.name}.gif)", "", f"*{film.caption}*", ""]
        for table in one.outcome.tables:
            lines += [*_markdown(table), ""]
    keys = {finding.source for one in done for finding in one.outcome.findings if finding.source}
    lines += ["## Sources", "", *(f"- {source.key}: {source}" for source in bibliography(keys | {paper})), ""]
    lines.append(f"Every number with its claim, definition and domain is in [{NUMBERS}]({NUMBERS}).")
    return "\n".join(lines) + "\n"


def html_page(plain: Mapping[str, Any], done: Sequence[Done]) -> str:
    """Return the results as one HTML page that needs nothing else."""
    paper = CITATIONS[done[0].study.source]
    sections = tuple(
        SectionResult(
            one.study.figure,
            _title(one),
            "interrupted" if one.outcome.interrupted else "done",
            "The work was interrupted." if one.outcome.interrupted else "",
            blocks.Content(_blocks(one)),
            one.spent.seconds,
        )
        for one in done
    )
    warning = "" if plain["complete"] else "This page is not complete: the work was interrupted."
    given = (plain["name"], str(paper), sections, _origin(plain), warning)
    return render_page(Page("reluscope reproduce", *given, is_open=True, relation="after"))


def _blocks(one: Done) -> tuple[blocks.Block, ...]:
    outcome = one.outcome
    found: list[blocks.Block] = [blocks.Text(sentence) for sentence in outcome.sentences]
    statements = verdict_table(outcome)
    for table in (*(() if statements is None else (statements,)), *outcome.tables):
        found.append(blocks.ReportTable(table.columns, table.rows, table.caption))
    for picture in outcome.pictures:
        drawn = drawing(picture.figure, picture.name, picture.caption)
        found.append(blocks.ReportPicture((drawn,), picture.caption))
    return tuple(found)


def _origin(plain: Mapping[str, Any]) -> str:
    machine = plain["machine"]
    seconds = sum(one["processor_seconds"] for one in plain["studies"])
    peak = max((one.get("peak_gigabytes") or 0.0 for one in plain["studies"]), default=0.0)
    memory = f", at most {peak:.1f} GB of memory" if peak > 0 else ""
    return (
        f"Made by {plain['command']} on {plain['date']}: reluscope {plain['reluscope']}, Python {machine['python']}, "
        f"torch {machine['torch']}, numpy {machine['numpy']}, {machine['processor']}, "
        f"{seconds:,.0f} s of one core's time{memory}."
    )


def _title(one: Done) -> str:
    return f"{one.study.sentence[0].upper()}{one.study.sentence[1:]}"


def _markdown(table: Table) -> list[str]:
    columns = zip(*table.rows, strict=True) if table.rows else [()] * len(table.columns)
    sides = tuple("---:" if all(map(blocks.is_written_number, column)) else "---" for column in columns)
    rows = [table.columns, sides, *table.rows]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return [*lines, "", table.caption] if table.caption else lines
