"""The report's content against the analyses; its page against what a reader needs; what happens when work stops."""

import json
import re
import xml.etree.ElementTree as ElementTree
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import reluscope as rs
from reluscope.analyses.classification.class_predictions import accuracy
from reluscope.analyses.codespace import distinct_codes, sample_codes
from reluscope.arguments import refuse_jumps
from reluscope.datasets.dataset import dataset_of
from reluscope.datasets.demo import demo_network
from reluscope.datasets.digits import digits
from reluscope.errors import BudgetExceededError, InputError
from reluscope.explorer.exchange.bundled import fingerprint, program
from reluscope.findings import Claim, Finding
from reluscope.findings.finite import finite
from reluscope.findings.written_findings import number
from reluscope.partitions.ask.finishing_windows import Affordable
from reluscope.partitions.complexes import incidence
from reluscope.report import Settings, Subject, build_report, write_report
from reluscope.report.page import render
from reluscope.report.parts.content import Content, Number, numbers
from reluscope.report.sections import Section, all_sections, plane
from reluscope.report.written_report import check_folder
from reluscope.time_limits import OutOfTime

DATA = digits("test")
NET = rs.load(demo_network(), data=DATA.points)
SETTINGS = Settings(num_segments=4)
SECTIONS = all_sections()
STRUCTURE = Path(__file__).with_name("demo_structure.json")


@pytest.fixture(scope="module")
def report(demo_report):
    return demo_report


@pytest.fixture(scope="module")
def page(report):
    return render(report)


def findings_of(report, name):
    section = next(section for section in report.sections if section.name == name)
    return [] if section.content is None else list(section.content.findings)


def numbers_of(block):
    """Return the numbers of a block as it shows them."""
    if block.kind == "numbers":
        return list(block.entries)
    return [cell for row in block.rows for cell in row if isinstance(cell, Number)] if block.kind == "table" else []


class Reader(HTMLParser):
    """What a browser would see: tags must close, ids be unique, links lead somewhere, nothing come from outside."""

    VOID = frozenset({"meta", "link", "br", "img", "hr", "input"})

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.outside, self.text = [], [], [], [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        names = dict(attrs)
        if tag not in self.VOID:
            self.open.append(tag)
        if "id" in names:
            self.ids.append(names["id"])
        for key in ("href", "xlink:href", "src"):
            if key in names and not names[key].startswith("data:"):
                (self.links if names[key].startswith("#") else self.outside).append(names[key])

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_sections_come_in_order(report):
    names = ["network", "fit", "codes", "code_map", "maps", "invariance", "stability"]
    names += [
        "sensitivity",
        "plane",
        "segments",
        "balls",
        "directions",
        "surrounding_regions",
        "regions_at_boundaries",
        "classes",
        "robustness",
    ]
    assert [section.name for section in report.sections] == names
    assert {section.status for section in report.sections} == {"done"}
    assert report.is_complete


def test_the_structure_of_the_demo(report):
    """What the demo shows, section by section; if it is to change, replace the file by what is found here.

    Of each number once: of how many samples there is time for machines differ in.
    """
    found = {
        section.name: {
            "title": section.title,
            "blocks": [block.kind for block in section.content.blocks],
            "findings": list(dict.fromkeys(_claimed(finding) for finding in section.content.findings)),
        }
        for section in report.sections
    }
    assert found == json.loads(STRUCTURE.read_text(encoding="utf-8"))


def _claimed(finding):
    """Return a number's name and claim; not the claim of searches for seconds, in which machines differ."""
    is_searched = re.search(r"decision distance in l", finding.name) and not finding.name.startswith("share")
    return finding.name if is_searched else f"{finding.name}: {finding.claim}"


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.name)
def test_every_section_keeps_the_contract(section, report):
    assert section.title
    assert section.why_not.__doc__
    assert section.content.__doc__
    content = next(one for one in report.sections if one.name == section.name).content
    assert content.headline is not None
    assert content.headline.finding in content.findings or content.headline.finding.name in {
        finding.name for finding in content.findings
    }
    for finding in content.findings:
        assert finding.name
        assert finding.definition
        assert finding.method
    json.dumps(dict(content.data), allow_nan=False)


def test_numbers_are_those_of_the_analyses(report):
    assert findings_of(report, "fit")[0].value == accuracy(NET, DATA.points, DATA.labels).value
    counted = distinct_codes(sample_codes(NET, DATA.points)).summary
    assert findings_of(report, "codes")[0].value == counted["num_distinct_codes"].value[0]
    rows = next(section for section in report.sections if section.name == "plane").content.data["samples"]
    plane = rs.Plane(*DATA.points[rows], margin=SETTINGS.margin)
    assert findings_of(report, "plane")[0].value == len(rs.partition(NET, plane))
    assert len({int(DATA.labels[row]) for row in rows}) == 3
    assert (NET(DATA.points[rows]).argmax(1).numpy() == DATA.labels[rows]).all()


def test_the_page_stands_alone_and_is_well_formed(page):
    reader = Reader(page)
    assert reader.outside == ["regions.parquet"]
    assert len(reader.ids) == len(set(reader.ids))
    assert {link[1:] for link in reader.links} <= set(reader.ids)
    assert "url(http" not in page.replace("http://www.w3.org", "")
    assert len(page) < 5_000_000
    for svg in re.findall(r"<svg.*?</svg>", without_program(page), re.DOTALL):
        root = ElementTree.fromstring(svg)
        assert root.get("role") == "img"
        assert len(root.get("aria-label")) > 10


def without_program(page):
    """Return a page without the explorer's program, which is one and the only one that may run."""
    assert re.findall("<script[^>]*>", page) == ['<script type="text/plain">', '<script type="module">']
    source = page.partition('<script type="module">')[2].partition("</script>")[0]
    assert source == program()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page).group(1)
    assert policy.startswith(f"default-src 'none'; script-src {fingerprint(source)}; ")
    return page.replace(source, "")


def test_every_number_of_the_page_carries_its_claim(report, page):
    text = re.sub(r"<[^>]+>", " ", page)
    text = re.sub(r"\s+", " ", text)
    for section in report.sections:
        shown = [entry for block in section.content.blocks for entry in numbers_of(block)]
        told = [finding.to_dict() for finding in section.content.findings]
        assert all(entry.finding.to_dict() in told for entry in shown)
        assert all(told.count(finding) == 1 for finding in told)
        for entry in shown:
            claim = "" if entry.finding.claim is Claim.EXACT else f" {entry.finding.claim}"
            assert f"{entry.text}{claim}" in text
    assert ">EXACT</span>" not in page, "what is exact has no mark; a line at the top says so"
    assert "A bare number is EXACT" in text
    assert page.index("A bare number is EXACT") < page.index('<div class="columns">')


def test_every_number_about_samples_says_how_many(report, page):
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))
    for section in report.sections:
        for block in section.content.blocks:
            for entry in numbers_of(block) if block.kind == "numbers" else []:
                if entry.samples is not None:
                    assert f"{entry.finding.name} n = {number(entry.samples)}" in text


def test_numbers_of_samples_are_those_that_domains_name(report):
    """Seen red with analyses that name samples and count none."""
    name = r"(?:^|, |around )(\d[\d,]*)(?: of [\d,]+)?(?: correctly classified)? (?:samples|rows|segments)\b"
    every = [finding for section in report.sections for finding in section.content.findings]
    named = [re.search(name, finding.domain) for finding in every]
    said = [None if found is None else int(found[1].replace(",", "")) for found in named]
    assert [finding.num_samples for finding in every] == said
    assert sum(number is not None for number in said) > 30


def test_every_number_says_how_it_was_computed(report, page):
    notes = unescape(page[page.index('<table class="methods">') :])
    for section in report.sections:
        assert section.title in notes
        for finding in section.content.findings[:1]:
            assert finding.definition in notes
            assert finding.method in notes
    assert "Shepeleva" in page  # the sources of findings


def test_page_parts(report, page):
    ids = Reader(page).ids
    assert {*(section.name for section in report.sections), "glossary", "sources"} <= set(ids)
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page
    drawings = [b.drawings for section in report.sections for b in section.content.blocks if b.kind == "picture"]
    below = sum(
        b.below is not None for section in report.sections for b in section.content.blocks if b.kind == "picture"
    )
    assert without_program(page).count("<svg") == sum(map(len, drawings)) + below >= 7
    assert below == 1


def test_what_comes_from_outside_is_escaped():
    data = dataset_of(np.eye(64), name="<script>alert(1)</script>")
    text = render(build_report(Subject(NET, data.reshaped((1, 8, 8)), "<b>net</b>", SETTINGS), sections=()))
    assert "<script>" not in text
    assert "<b>net</b>" not in text
    assert "&lt;script&gt;" in text


def test_json_holds_every_finding_and_no_infinity(report):
    plain = report.to_dict()
    json.loads(json.dumps(plain, allow_nan=False))
    assert plain["complete"] is True
    assert plain["model"]["fingerprint"] == NET.fingerprint
    assert plain["settings"]["seed"] == 0
    for section in report.sections:
        listed = plain["sections"][section.name]
        assert listed["status"] == "done"
        assert [entry["name"] for entry in listed["findings"]] == [one.name for one in section.content.findings]
        assert all(entry["claim"] in list(Claim) for entry in listed["findings"])
    assert finite({"a": [float("inf"), (1.0, float("nan"))]}) == {"a": [None, [1.0, None]]}


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("network", "points", "labels", "reasons"),
    [
        ("demo", DATA.points[:20], None, {"fit": "came without labels"}),
        ("demo", DATA.points[:1], [0], {"plane": "three different samples", "segments": "two different samples"}),
        ("demo", np.repeat(DATA.points[:1], 9, axis=0), None, {"plane": "on a line", "segments": "have only one"}),
        (
            "affine",
            DATA.points[:20],
            DATA.labels[:20],
            dict.fromkeys(
                [
                    "codes",
                    "code_map",
                    "invariance",
                    "stability",
                    "sensitivity",
                    "balls",
                    "directions",
                    "surrounding_regions",
                    "regions_at_boundaries",
                    "classes",
                ],
                "no gates",
            ),
        ),
        (
            "line",
            np.arange(6.0)[:, None],
            None,
            {"plane": "one input", "surrounding_regions": "need not be such a direction"},
        ),
    ],
)
def test_what_does_not_apply_says_why(network, points, labels, reasons):
    net = {
        "demo": NET,
        "affine": rs.load([(np.random.default_rng(0).normal(size=(10, 64)), np.zeros(10))]),
        "line": rs.load([(np.ones((3, 1)), -np.arange(3.0)), (np.ones((1, 3)), np.zeros(1))]),
    }[network]
    data = dataset_of(points, labels).reshaped(net.input_shape)
    # Where most sections apply, those alone that are asked about: all of them have tests of their own.
    kept = tuple(one for one in SECTIONS if network == "affine" or one.name in (*reasons, "network", "codes"))
    found = build_report(Subject(net, data, "net", SETTINGS), sections=kept)
    assert found.is_complete
    text = render(found)
    for section in found.sections:
        if section.name in reasons:
            assert section.status == "not applicable"
            assert reasons[section.name] in section.sentence
            assert section.sentence in text
        else:
            assert section.status == "done" or section.name == "fit"
    assert set(Reader(text).outside) <= {"regions.parquet"}


@pytest.mark.slow
def test_a_budget_is_told_on_the_page():
    sections = tuple(one for one in SECTIONS if one.name == "plane")
    found = build_report(Subject(NET, DATA, "net", Settings(num_segments=2, regions=300)), sections=sections)
    plane = next(section for section in found.sections if section.name == "plane")
    assert plane.content.findings[0].claim == "LOWER"
    text = re.sub(r"\s+", " ", render(found))
    assert "the numbers are lower bounds" in text
    assert "or more</span>" in text
    assert "≥ " in text
    json.dumps(found.to_dict(), allow_nan=False)


def section_that(action, position=1.0, name="middle"):
    def content(subject, tell):
        del subject, tell
        return action()

    return Section(name, f"Section {name}", position, lambda subject: None, lambda subject: 1.0, content)


def interrupt():
    raise KeyboardInterrupt


def fail():
    raise InputError("expected this, got that: do so")


def some():
    return Content((numbers(Finding(3, Claim.EXACT, name="some")),))


def test_ctrl_c_keeps_what_is_done_and_starts_no_other(tmp_path):
    sections = (section_that(some, name="first"), section_that(interrupt), section_that(some, name="last"))
    found = build_report(Subject(NET, DATA, "net", SETTINGS), sections=sections)
    assert [section.status for section in found.sections] == ["done", "interrupted", "not started"]
    assert found.was_interrupted
    text = write_report(found, tmp_path / "new").read_text(encoding="utf-8")
    assert "it was interrupted, and shows what was done until then" in text
    assert json.loads((tmp_path / "new" / "report.json").read_text(encoding="utf-8"))["complete"] is False
    Reader(text)


def struck(monkeypatch, number):
    """Build a report of the plane, with Ctrl-C at one of its cuts; return it, and how many cuts there were."""
    original, calls = incidence.cut, []

    def stop(*arguments, **options):
        calls.append(None)
        if len(calls) == number:
            raise KeyboardInterrupt
        return original(*arguments, **options)

    def at_once(network, plane, effort):
        return Affordable(rs.partition(network, plane, budget=rs.Budget(regions=effort.budget.regions)))

    monkeypatch.setattr(incidence, "cut", stop)
    monkeypatch.setattr(incidence, "_chunk_cells", lambda network, chunk: 768)
    # However slow the machine: what is not done in a second is forecast first.
    monkeypatch.setattr(plane, "affordable", at_once)
    sections = (*(one for one in SECTIONS if one.name in ("network", "plane")), section_that(some, name="last"))
    return build_report(Subject(NET, DATA, "net", SETTINGS), sections=sections), len(calls)


@pytest.mark.slow
def test_a_partition_that_was_interrupted_ends_the_report(monkeypatch):
    found, _ = struck(monkeypatch, 6)
    assert [section.status for section in found.sections] == ["done", "interrupted", "not started"]
    assert findings_of(found, "plane")[0].claim == "LOWER"
    assert "was interrupted with" in render(found)


@pytest.mark.slow
def test_a_snapshot_that_was_interrupted_ends_the_report_and_leaves_the_plane(monkeypatch):
    with monkeypatch.context() as whole:
        _, number = struck(whole, 0)
    found, _ = struck(monkeypatch, number - 1)
    assert [section.status for section in found.sections] == ["done", "interrupted", "not started"]
    assert findings_of(found, "plane")[0].claim == "EXACT"


def test_a_section_that_rests_on_continuity_is_left_out():
    def refuse(*_):
        refuse_jumps("this section", SimpleNamespace(jumps=("step",)))

    found = build_report(Subject(NET, DATA, "net", SETTINGS), sections=(section_that(refuse),))
    (section,) = found.sections
    assert section.status == "not applicable"
    assert section.sentence.startswith("Left out: this section rests on a continuous network, and 'step' jumps")
    assert found.is_complete


def test_a_section_that_fails_leaves_the_others():
    sections = (section_that(fail), section_that(some, name="last"))
    found = build_report(Subject(NET, DATA, "net", SETTINGS), sections=sections)
    assert [section.status for section in found.sections] == ["failed", "done"]
    assert "expected this, got that: do so" in found.sections[0].sentence
    assert not found.is_complete
    assert not found.was_interrupted
    assert "a section failed and says why" in render(found)


@pytest.mark.parametrize("error", [BudgetExceededError("it found nothing"), OutOfTime(1.0)])
def test_a_section_without_time_says_so_and_the_report_is_complete(error):
    """Seen red: out of time, a section was told as interrupted by Ctrl-C, and no other one was begun."""

    def end(*_):
        raise error

    sections = (section_that(end), section_that(some, name="last"))
    found = build_report(Subject(NET, DATA, "net", SETTINGS), sections=sections)
    assert [section.status for section in found.sections] == ["not applicable", "done"]
    assert "no time for this section" in found.sections[0].sentence
    assert found.is_complete
    assert not found.was_interrupted


def test_a_section_without_memory_fails_and_leaves_the_others():
    def end(*_):
        raise MemoryError

    sections = (section_that(end), section_that(some, name="last"))
    found = build_report(Subject(NET, DATA, "net", SETTINGS), sections=sections)
    assert [section.status for section in found.sections] == ["failed", "done"]
    assert "not enough memory" in found.sections[0].sentence


def test_errors_that_are_no_sentence_are_not_hidden():
    with pytest.raises(ZeroDivisionError):
        build_report(Subject(NET, DATA, "net", SETTINGS), sections=(section_that(lambda: 1 // 0),))


@pytest.mark.slow
def test_the_same_seed_gives_the_same_numbers(report):
    again = build_report(Subject(NET, DATA, "demo network", SETTINGS))
    for one, other in zip(report.sections, again.sections, strict=True):
        assert_alike([finding.value for finding in one.content.findings], [f.value for f in other.content.findings])
        assert_alike(dict(one.content.data), dict(other.content.data))


def assert_alike(one, other):
    """Equal, but for the last digits of what is solved in blocks: how large they are depends on the time they take."""
    assert type(one) is type(other)
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        one, other = list(one.values()), list(other.values())
    if isinstance(one, list | tuple):
        assert len(one) == len(other)
        for first, second in zip(one, other, strict=True):
            assert_alike(first, second)
    elif isinstance(one, float):
        assert one == pytest.approx(other, rel=1e-12, abs=1e-15, nan_ok=True)
    else:
        assert one == other


def test_folders_are_checked_before_the_work(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="is a file"):
        check_folder(tmp_path / "file")
    (tmp_path / "report.html").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match=r"report\.html is there already: add --force"):
        check_folder(tmp_path)
    assert check_folder(tmp_path, force=True) == tmp_path
    assert check_folder(tmp_path / "to" / "be" / "made") == tmp_path / "to" / "be" / "made"


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "0"), (1234567, "1,234,567"), (0.25, "0.25"), (54.0, "54"), (1e-13, "1e-13"), (12.016, "12.02")],
)
def test_numbers_for_readers(value, shown):
    assert number(value) == shown
