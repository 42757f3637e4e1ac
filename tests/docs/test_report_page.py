"""docs/report.md explains every section and every key of a report, and the README repeats what was measured."""

import json
import re
from pathlib import Path

import pytest

from reluscope.report.sections import all_sections
from reluscope.report.written_report import report_to_dict

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def report(demo_report):
    return json.loads(json.dumps(report_to_dict(demo_report), allow_nan=False))


@pytest.mark.parametrize("section", all_sections(), ids=lambda section: section.name)
def test_every_section_is_explained(section):
    assert f"| {section.title} | `{section.name}` |" in PAGE, "add a row to the sections of docs/report.md"


def test_every_key_is_explained(report):
    sections = list(report["sections"].values())
    findings = [finding for section in sections for finding in section.get("findings", [])]
    groups = [report, report["model"], report["data"], *sections, *findings]
    for key in {key for group in groups for key in group}:
        assert f"`{key}`" in PAGE, key


def test_every_explained_key_exists(report):
    tables = PAGE[PAGE.index("| key | what it is |") :].split("| key of a ")
    assert set(re.findall(r"^\| `(\w+)`", tables[0], re.MULTILINE)) == set(report)
    seen = {key for section in report["sections"].values() for key in section}
    assert set(re.findall(r"^\| `(\w+)`", tables[1], re.MULTILINE)) == {*seen, "sentence"}
    keys = {key for section in report["sections"].values() for finding in section["findings"] for key in finding}
    told = {key for row in re.findall(r"^\| (`.*?) \|", tables[2], re.MULTILINE) for key in re.findall(r"`(\w+)`", row)}
    assert keys <= told <= {*keys, "num_undecided", "interval", "source", "stopped"}


def test_the_readme_repeats_what_was_measured():
    readme, results = (
        (ROOT / "README.md").read_text(encoding="utf-8"),
        (ROOT / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8"),
    )
    part = readme[readme.index("## How it compares") : readme.index("## Read on")]
    rows = [line for line in part.splitlines() if line.startswith("| ")][1:]
    assert len(rows) >= 4
    for row in rows:
        architecture, regions, seconds, compared = (cell.strip() for cell in row.strip("|").split("|"))
        numbers = [regions, seconds, *re.findall(r"\d+\.\d+", compared)]
        matching = [line for line in results.splitlines() if all(number in line for number in numbers)]
        assert matching, row
        sizes = re.match(r"\[.*?\]", architecture)
        assert sizes is None or any(sizes[0] in line for line in matching), row
    for version in re.findall(r"(?:Python|torch|numpy) \d[\w.+]*\w", part):
        assert version in results
