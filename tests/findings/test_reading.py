"""Findings and tables of them come back from plain types as they were; what was damaged is refused in one sentence."""

import copy
import json
import string

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reluscope.errors import InputError
from reluscope.findings import Column, Finding, Findings, Kind, Quantity, Status
from reluscope.findings.quantities import RESERVED
from reluscope.stopping import Stop, StopReason

numbers = st.floats(allow_nan=False) | st.integers(-(2**53), 2**53)
texts = st.text(max_size=5)
stops = st.one_of(
    st.none(),
    st.builds(Stop, st.just(StopReason.REGIONS), st.integers(0, 10**9)),
    st.builds(Stop, st.just(StopReason.SECONDS), st.none() | st.floats(0, 1e9)),
    st.builds(Stop, st.sampled_from([StopReason.HOPELESS, StopReason.UNPROVED]), details=texts),
    st.builds(Stop, st.sampled_from([StopReason.INTERRUPTED, StopReason.OUT_OF_MEMORY, StopReason.CANCELLED])),
)
NAMES = st.text(string.ascii_lowercase, min_size=9, max_size=12).filter(lambda name: name not in RESERVED)


@st.composite
def findings(draw):
    """Return any finding that `Finding.of` or `Finding.estimate` makes."""
    fields = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "name": texts,
                "definition": texts,
                "domain": texts,
                "method": texts,
                "source": texts,
                "stop": stops,
                "num_undecided": st.integers(0, 5),
                "num_samples": st.integers(1, 500),
                "work": st.dictionaries(texts, st.floats(0, 10), max_size=2),
                "is_share": st.booleans(),
            },
        )
    )
    low, value, high = sorted(draw(st.tuples(numbers, numbers, numbers)))
    if draw(st.booleans()):
        return Finding.estimate(value, draw(st.sampled_from([None, (low, high)])), **fields)
    return Finding.of(value, low, high, resolution=draw(st.none() | st.floats(0, 1)), **fields)


@st.composite
def columns(draw, name, rows, has_value):
    """Return a column of so many rows, with values where there are to be some."""
    kind = draw(st.sampled_from(list(Kind)))
    least, most = draw(st.sampled_from([(0.0, kind.most), (-np.inf, np.inf), (-1.0, 1.0)]))
    quantity = Quantity(name, draw(texts), kind, draw(texts), draw(texts), least, most)
    inside = st.floats(max(least, -1e300), min(most, 1e300)) | st.sampled_from([least, most])
    table = np.full((3, rows), np.nan)
    for row in np.flatnonzero(has_value):
        table[:, row] = sorted(draw(st.tuples(inside, inside, inside)))
        if draw(st.booleans()):
            table[[0, 2], row] = draw(st.sampled_from([(-np.inf, np.inf), (-np.inf, table[1, row])]))
    scale = draw(st.none() | st.floats(0, 1) | st.just(np.linspace(0, 1, rows)))
    said = {"method": draw(texts), "given": draw(texts), "confidence": draw(st.sampled_from([1.0, 0.95]))}
    low, value, high = table
    return Column.of(quantity, value, low, high, scale=scale, **said)


@st.composite
def tables(draw, has_summary=True):
    """Return any table: rows that were measured, are undefined, or were not reached."""
    rows = draw(st.integers(0, 4)) if has_summary else 1
    status = draw(st.lists(st.sampled_from(list(Status)), min_size=rows, max_size=rows))
    done = np.array([one is Status.DONE for one in status], dtype=bool)
    names = draw(st.lists(NAMES, min_size=1, max_size=2, unique=True))
    summary = draw(st.none() | tables(has_summary=False)) if has_summary else None
    kinds = (st.integers(-5, 5), texts.filter(lambda text: not text.endswith("\0")), st.booleans(), st.floats(0, 1))
    kind = draw(st.sampled_from(kinds))
    entries = draw(st.lists(kind, min_size=rows, max_size=rows))
    return Findings(
        {name: draw(columns(name, rows, done)) for name in names},
        {"thing": np.array(entries)} if has_summary else {},
        tuple(status),
        domain=draw(texts),
        population=draw(st.none() | st.integers(rows, 99)),
        stop=draw(stops),
        seconds=draw(st.floats(0, 9)),
        summary=summary,
        notes=tuple(draw(st.lists(texts, max_size=2))),
    )


def written(plain):
    """Return plain types as they come back from a file."""
    return json.loads(json.dumps(plain, allow_nan=False))


def same(first, second):
    """Whether two tables are equal, entry by entry."""
    assert list(first.columns) == list(second.columns)
    for name, column in first.columns.items():
        other = second.columns[name]
        for part in ("value", "lower", "upper", "scale"):
            np.testing.assert_array_equal(getattr(column, part), getattr(other, part), part)
        for part in ("quantity", "method", "given", "confidence"):
            assert getattr(column, part) == getattr(other, part), part
        assert column.claims == other.claims
    assert {name: list(table) for name, table in first.keys.items()} == {
        name: list(table) for name, table in second.keys.items()
    }
    for part in ("status", "domain", "population", "stop", "seconds", "notes"):
        assert getattr(first, part) == getattr(second, part), part
    assert (first.summary is None) == (second.summary is None)
    if first.summary is not None:
        same(first.summary, second.summary)


@pytest.mark.slow
@given(findings())
def test_findings_come_back_as_they_were(finding) -> None:
    assert Finding.from_dict(written(finding.to_dict())) == finding


@given(tables())
def test_tables_come_back_as_they_were(found) -> None:
    back = Findings.from_dict(written(found.to_dict()))
    same(found, back)
    assert str(back) == str(found)
    assert back.to_dict() == found.to_dict()


def test_rows_that_were_not_reached_come_back_too() -> None:
    part = Column.of(LENGTH, [1.0, np.nan], [0.5, np.nan], [2.0, np.nan], scale=[0.25e9, 1.0])
    found = Findings.of(Column.joined([part], 2), keys={"sample": [0, 1, 2, 3]}, reached=2)
    same(found, Findings.from_dict(written(found.to_dict())))


LENGTH = Quantity("read_length", "length of what is read")
FOUND = Findings.of(
    Column.of(LENGTH, [1.0, np.inf, 3.0], [1.0, np.inf, 2.0], [4.0, np.inf, np.inf], given="in meters"),
    keys={"sample": [0, 1, 2]},
    summary=Findings.of(Column.of(LENGTH, [1.0])),
    notes=("It was measured by hand.",),
)
# Where an entry is, and what is not to be there.
DAMAGE = [
    (("status",), ["done", "done", "lost"]),
    (("status",), ["done"]),
    (("keys",), {"sample": [0, 1]}),
    (("keys",), {"sample": [0, [1], 2]}),
    (("keys",), {"sample": [0, "1", 2]}),
    (("read_length",), 5),
    (("read_length", "kind"), "length"),
    (("read_length", "definition"), "length of what is read"),
    (("read_length", "value"), [1.0, "inf"]),
    (("read_length", "value"), [1.0, True, 3.0]),
    (("read_length", "value"), [1.0, "infinite", 3.0]),
    (("read_length", "value"), [5.0, "inf", 3.0]),
    (("read_length", "lower"), [-1.0, "inf", 2.0]),
    (("read_length", "claim"), ["EXACT", "EXACT", "ESTIMATE"]),
    (("read_length", "claim"), ["LOWER", "EXACT", None]),
    (("read_length", "confidence"), 2.0),
    (("read_length", "scale"), [0.0]),
    (("read_length", "scale"), [0.0, None, 0.0]),
    (("summary",), []),
    (("notes",), [1]),
    (("notes",), 1),
    (("population",), -1),
    (("population",), "many"),
    (("seconds",), "long"),
    (("stopped",), None),
    (("stopped",), "for no reason"),
    (("stop",), {"reason": "interrupted", "limit": None, "details": ""}),
    (("stop",), {"reason": "boredom", "limit": None, "details": ""}),
    (("domain",), 3),
]


@pytest.mark.parametrize(("where", "entry"), DAMAGE)
def test_damaged_tables_are_refused(where, entry) -> None:
    plain = written(FOUND.to_dict())
    *path, last = where
    part = plain
    for name in path:
        part = part[name]
    part[last] = entry
    with pytest.raises(InputError, match=r"^expected a table as Findings.to_dict writes it, got something else"):
        Findings.from_dict(plain)


@pytest.mark.parametrize("missing", ["keys", "status", "stopped", "seconds"])
def test_tables_that_lack_an_entry_are_refused(missing) -> None:
    plain = written(FOUND.to_dict())
    del plain[missing]
    with pytest.raises(InputError, match=missing):
        Findings.from_dict(plain)


@pytest.mark.parametrize(
    "change",
    [
        {"claim": "SURE"},
        {"value": None},
        {"value": "3"},
        {"interval": [4, None]},
        {"interval": [2, None]},
        {"interval": [3]},
        {"claim": "EXACT"},
        {"tolerance": -1.0},
        {"num_undecided": 0.5},
        {"num_samples": -1},
        {"work": 3},
        {"is_share": 1},
        {"name": None},
        {"title": "regions"},
    ],
)
def test_damaged_findings_are_refused(change) -> None:
    plain = {"name": "regions", "value": 3, "claim": "LOWER", "interval": [3, None]}
    assert Finding.from_dict(copy.deepcopy(plain)) == Finding.of(3, upper=np.inf, name="regions")
    with pytest.raises(InputError, match=r"^expected a finding as Finding.to_dict writes it, got something else"):
        Finding.from_dict(plain | change)


@pytest.mark.parametrize("plain", [None, 3, [], {}, "found"])
def test_what_is_no_mapping_is_refused(plain) -> None:
    for kind in (Finding, Findings):
        with pytest.raises(InputError, match="got "):
            kind.from_dict(plain)
