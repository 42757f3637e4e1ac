"""Tables of the report: what a section hands over, as cells with claims and ends."""

import numpy as np

from reluscope.findings import Column, Finding, Findings, Status, declare
from reluscope.report.parts.content import Number, cell, findings_table, medians_table, table

HEIGHT = declare("test_height", "height of what is tested", unit="degrees")
FOUND = Findings.of(
    Column.of(HEIGHT, [1.0, 2.5, 4.0, np.nan], [1.0, 2.5, 4.0, np.nan], [1.0, 4.0, 4.0, np.nan]),
    keys={"sample": np.array([7, 7, 9, 9]), "gate": np.array(["a", "b", "a", "b"])},
)


def texts(found):
    return [[one.text if isinstance(one, Number) else one for one in row] for row in found.rows]


def test_a_cell_is_a_finding_with_its_ends_or_what_is_given():
    assert cell(Finding.of(2, upper=5)).text == "≥ 2 [2, 5]"
    assert [cell(one) for one in (None, np.nan, np.int64(3), "a", np.float64(0.5))] == ["", "", 3, "a", 0.5]


def test_findings_stand_behind_their_keys():
    found = findings_table(FOUND, "Heights.", also={"colour": ["red"] * 4}, limit=3)
    assert found.columns == ("sample", "gate", "colour", "test height")
    assert texts(found) == [[7, "a", "red", "1°"], [7, "b", "red", "≥ 2.5° [2.5°, 4°]"], [9, "a", "red", "4°"]]
    assert found.caption == "Heights. The first 3 of 4 rows are shown."
    assert texts(findings_table(FOUND))[-1] == [9, "b", "undefined"]


def test_quantities_are_chosen():
    assert findings_table(FOUND, quantities=[HEIGHT]).columns == ("sample", "gate", "test height")


def test_medians_are_those_of_the_groups():
    found = medians_table(FOUND, "gate", also={"units": [4, 5]})
    assert found.columns == ("gate", "units", "test height")
    assert texts(found) == [["a", 4, "2.5°"], ["b", 5, "≥ 2.5°"]]
    for row, gate in zip(found.rows, "ab", strict=True):
        assert row[2].finding == FOUND.where(gate=gate).median(HEIGHT)
    assert texts(medians_table(FOUND.rows([3]), "gate")) == [["b", "none"]]


def test_a_table_of_nothing_has_its_headings():
    assert table({"a": []}, {"b": []}).columns == ("a", "b")
    assert FOUND.status[-1] is Status.UNDEFINED
