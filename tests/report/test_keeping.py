"""Sections on disk come back equal; a report that was stopped goes on, and belongs to one model, data and settings."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reluscope as rs
from reluscope.datasets.dataset import dataset_of
from reluscope.errors import InputError
from reluscope.findings import Claim, Finding
from reluscope.report import KeptSections, Settings, Subject, build_report, check_folder, write_report
from reluscope.report.keeping import FOLDER, has_unfinished
from reluscope.report.parts.content import (
    Attachment,
    Content,
    Drawing,
    Number,
    NumbersSideBySide,
    ReportPicture,
    ReportTable,
    Text,
)
from reluscope.report.parts.document import SectionResult
from reluscope.report.parts.encoding import decode, encode
from reluscope.report.sections import Section

DATA = dataset_of(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), [0, 0, 1, 1])
NET = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))], data=DATA.points)
SUBJECT = Subject(NET, DATA, "net")

texts = st.text(max_size=5)
values = st.one_of(st.integers(), st.floats(allow_nan=False))
plain = st.recursive(
    st.one_of(texts, values, st.booleans(), st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=6,
)
findings = st.builds(
    Finding,
    values,
    st.sampled_from(Claim),
    name=texts,
    interval=st.none() | st.tuples(values, values),
    method=texts,
    tolerance=st.none() | st.floats(allow_nan=False),
    work=st.dictionaries(texts, values, max_size=2),
)
cells = st.one_of(texts, values, st.builds(Number, findings, st.booleans()))
tables = st.builds(ReportTable, st.just(("a", "b")), st.lists(st.tuples(cells, cells), max_size=3).map(tuple), texts)
blocks = st.one_of(
    st.builds(Text, texts),
    st.builds(NumbersSideBySide, st.lists(st.builds(Number, findings, st.booleans()), max_size=2).map(tuple)),
    tables,
    st.builds(ReportPicture, st.lists(st.builds(Drawing, texts, st.floats(1, 9)), max_size=2).map(tuple), texts),
    st.builds(Attachment, texts, st.binary(max_size=9), texts),
)
contents = st.builds(
    Content,
    st.lists(blocks, max_size=3).map(tuple),
    st.none() | st.builds(Number, findings, st.booleans()),
    st.dictionaries(texts, plain, max_size=3),
)


@given(st.builds(SectionResult, texts, texts, st.sampled_from(["done", "failed"]), texts, st.none() | contents))
def test_what_is_kept_comes_back_equal(result):
    assert decode(json.loads(json.dumps(encode(result)))) == result


def test_findings_that_blocks_share_are_told_once_also_when_they_were_kept():
    one, other = (Number(Finding.of(value, name="regions"), False) for value in (1.0, 2.0))
    shared = Content((NumbersSideBySide((one, other)), ReportTable(("a", "b"), ((one, other),), "")))
    kept = decode(json.loads(json.dumps(encode(SectionResult("a", "A", "done", "", shared)))))
    assert len(shared.findings) == len(kept.content.findings) == 2


def test_numpy_numbers_come_back_as_plain_ones():
    content = Content((), data={"a": np.int64(3), "b": [np.float64(0.5)]})
    assert decode(encode(SectionResult("a", "A", "done", content=content))).content.data == {"a": 3, "b": [0.5]}


@pytest.mark.parametrize(
    "plain", [None, 3, {}, {"is": "eval"}, {"is": "Text", "word": 3}, {"is": "tuple", "items": []}, {"is": []}]
)
def test_something_else_is_one_sentence(plain):
    with pytest.raises(InputError, match="expected a kept section, got something"):
        decode(plain)


def counted(name, runs, stop=False):
    def content(subject, tell):
        del subject
        tell(0.5)
        if stop and runs.count(name) == 0:
            runs.append(name)
            raise KeyboardInterrupt
        runs.append(name)
        return Content((Text(name),))

    return Section(name, name, 1.0, lambda subject: None, lambda subject: 1.0, content)


def test_an_interrupted_report_goes_on_where_it_was(tmp_path):
    runs = []
    sections = (counted("first", runs), counted("second", runs, stop=True), counted("third", runs))
    kept = KeptSections(tmp_path, SUBJECT)
    stopped = build_report(SUBJECT, sections=sections, kept=kept)
    assert [section.status for section in stopped.sections] == ["done", "interrupted", "not started"]
    assert has_unfinished(tmp_path)
    write_report(stopped, tmp_path)
    with pytest.raises(InputError, match=r"holds an unfinished report: go on with --resume, begin anew with --force"):
        check_folder(tmp_path)
    assert check_folder(tmp_path, resume=True) == tmp_path
    kept = KeptSections(tmp_path, SUBJECT, resume=True)
    whole = build_report(SUBJECT, sections=sections, kept=kept)
    assert whole.is_complete
    assert runs == ["first", "second", "second", "third"]
    assert [section.content.blocks[0].text for section in whole.sections] == ["first", "second", "third"]
    kept.close()
    assert not (tmp_path / FOLDER).exists()
    with pytest.raises(InputError, match="no unfinished report"):
        check_folder(tmp_path, resume=True)


def test_what_was_kept_is_of_one_subject(tmp_path):
    KeptSections(tmp_path, SUBJECT)["a"] = SectionResult("a", "A", "done")
    other_net = rs.load([(np.eye(2), np.ones(2)), (np.eye(2), np.zeros(2))], data=DATA.points)
    for other, what in (
        (Subject(other_net, DATA, "net"), "model"),
        (Subject(NET, dataset_of(DATA.points, [0, 0, 0, 1]), "net"), "data"),
        (Subject(NET, DATA, "net", Settings(seed=1)), "settings"),
    ):
        with pytest.raises(InputError, match=f"begun with another {what}: give the same as then"):
            KeptSections(tmp_path, other, resume=True)
    assert dict(KeptSections(tmp_path, SUBJECT, resume=True)) == {"a": SectionResult("a", "A", "done")}
    assert dict(KeptSections(tmp_path, SUBJECT)) == {}  # begun anew


def test_a_damaged_section_is_refused_and_one_that_is_gone_computed_again(tmp_path):
    kept = KeptSections(tmp_path, SUBJECT)
    kept["a"], kept["b"] = SectionResult("a", "A", "done"), SectionResult("b", "B", "done")
    (tmp_path / FOLDER / "a.npz").write_bytes((tmp_path / FOLDER / "a.npz").read_bytes()[:50])
    with pytest.raises(InputError, match=r"a\.npz is not a kept result .*: remove that file, and its result is"):
        KeptSections(tmp_path, SUBJECT, resume=True)
    (tmp_path / FOLDER / "a.npz").unlink()
    assert list(KeptSections(tmp_path, SUBJECT, resume=True)) == ["b"]


def test_attached_files_lie_beside_the_page(tmp_path):
    def content(subject, tell):
        del subject, tell
        return Content((Attachment("table.csv", b"a,b\n1,2\n", "a table"),))

    section = Section("one", "One", 1.0, lambda subject: None, lambda subject: 1.0, content)
    page = write_report(build_report(SUBJECT, sections=(section,)), tmp_path)
    assert (tmp_path / "table.csv").read_bytes() == b"a,b\n1,2\n"
    assert '<a href="table.csv">table.csv</a>: a table' in page.read_text(encoding="utf-8")


def test_the_remaining_time_falls(tmp_path):
    told = []
    sections = tuple(counted(name, []) for name in "abc")
    build_report(SUBJECT, sections=sections, notify=told.append, kept=KeptSections(tmp_path, SUBJECT))
    assert [one.position for one in told] == [0, 0, 1, 1, 2, 2]
    shares, remaining = [one.share for one in told], [one.remaining for one in told]
    assert shares == sorted(shares)
    assert remaining[0] == pytest.approx(3.0, abs=0.1)
    assert remaining[2] == pytest.approx(2.0, abs=0.1)
    assert remaining[5] <= 0.6
