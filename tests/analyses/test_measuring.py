"""The loop that fills tables: blocks, what it leaves when work ends early, and how work goes on."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reluscope as rs
from reluscope.analyses.samples import pacing
from reluscope.analyses.samples.measuring import KeptRows, Measured, key_of, measure, ragged
from reluscope.effort import Effort
from reluscope.errors import InputError
from reluscope.findings import Column, Status, declare
from reluscope.stopping import Stop, StopReason

POSITION = declare("test_position", "position of a sample", least=-np.inf)
PLANTED = Stop(StopReason.UNDECIDED_SIGNS)


def ask_until(last, end):
    """Return a question that ends its work at a sample."""

    def ask(block):
        rows = np.arange(block.start, block.stop)
        if last in rows and end is KeyboardInterrupt:
            raise KeyboardInterrupt
        stopped = end if last in rows else None
        column = Column.of(POSITION, rows.astype(float), upper=[np.inf] * len(rows), method="counted", given="here")
        ways = ragged([np.arange(row) for row in rows])
        return Measured((column,), {"name": rows.astype(str), "row": rows, "way": ways}, stopped)

    return ask


@pytest.mark.parametrize("end", [PLANTED, KeyboardInterrupt])
def test_rows_that_were_not_reached_are_in_the_table(end) -> None:
    found = measure(5, ask_until(2, end), most=1)
    done = 3 if end is PLANTED else 2
    assert found.status == (Status.DONE,) * done + (Status.NOT_REACHED,) * (5 - done)
    assert found.stopped == ("undecided signs" if end is PLANTED else "interrupted")
    assert found.details["row"].tolist() == [*range(done), *[-1] * (5 - done)]
    assert found.details["name"].tolist() == [*map(str, range(done)), *[""] * (5 - done)]


def test_with_nothing_to_show_an_interruption_is_passed_on() -> None:
    with pytest.raises(KeyboardInterrupt):
        measure(2, ask_until(0, KeyboardInterrupt), most=1)


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 5), st.integers(1, 1000))
def test_how_samples_are_cut_into_blocks_has_no_effect(number, most, memory, bytes_per_sample) -> None:
    sizes = []

    def ask(block):
        sizes.append(block.stop - block.start)
        return ask_until(None, None)(block)

    budget = rs.Budget(memory=memory * 100)
    found = measure(number, ask, Effort(budget), most=most, bytes_per_sample=bytes_per_sample)
    assert found["test_position"].value.tolist() == [*range(number)]
    assert max(sizes) <= max(1, min(most, memory * 100 // bytes_per_sample))


def test_time_ends_work_between_blocks_but_not_before_the_first() -> None:
    found = measure(5, ask_until(None, None), Effort(rs.Budget(seconds=0)))
    assert found.stopped == "time"
    assert found.is_done.tolist() == [True, False, False, False, False]


def test_progress_is_told_up_to_the_end() -> None:
    told: list[float] = []
    measure(5, ask_until(None, None), Effort(progress=told.append))
    assert told == sorted(told)
    assert told[-1] == 1.0


def test_a_population_is_no_smaller_than_its_sample() -> None:
    with pytest.raises(InputError, match="population"):
        measure(5, ask_until(None, None), population=4)


@pytest.mark.parametrize("most", [1, 4])
def test_work_goes_on_where_it_ended(tmp_path, most) -> None:
    begun = measure(9, ask_until(3, KeyboardInterrupt), most=2, checkpoint=KeptRows(tmp_path / "rows", {"of": "a"}))
    done = int(begun.is_done.sum())
    assert 0 < done < 9
    asked: list[int] = []

    def ask(block):
        asked.extend(range(block.start, block.stop))
        return ask_until(None, None)(block)

    found = measure(9, ask, most=most, checkpoint=KeptRows(tmp_path / "rows", {"of": "a"}))
    assert asked == [*range(done, 9)]
    whole = measure(9, ask_until(None, None))
    assert str(found) == str(whole)
    assert found["test_position"].method == "counted"
    assert found["test_position"].definition == "position of a sample, here"
    for name in ("name", "row", "way"):
        assert [str(one) for one in found.details[name]] == [str(one) for one in whole.details[name]]


def test_a_mapping_of_records_may_stand_for_a_folder_and_hold_several_measurements() -> None:
    records: dict = {}
    for of in "ab":
        measure(3, ask_until(None, None), checkpoint=KeptRows(records, {"of": of}))
    assert len({name.rsplit("-", 2)[0] for name in records}) == 2
    assert [part.columns[0].value.tolist() for part in KeptRows(records, {"of": "b"}).parts(3)] == [[0.0], [1.0, 2.0]]


def test_damaged_rows_and_folders_of_something_else_are_refused(tmp_path) -> None:
    kept = KeptRows(tmp_path / "rows", {"of": "a"})
    assert kept.parts(2) == []
    kept.keep(slice(0, 2), Measured((replace(Column.of(POSITION, [1.0]), upper=np.array([0.0])),)))
    with pytest.raises(InputError, match="not as this version of reluscope writes it"):
        kept.parts(2)
    kept.keep(slice(0, 2), Measured((Column.of(POSITION, [1.0, 2.0]),)))
    with pytest.raises(InputError, match="not as this version of reluscope writes it"):
        kept.parts(1)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="holds thesis"):
        KeptRows(tmp_path / "other", {"of": "a"})


def test_what_measurements_depend_on_is_in_their_key() -> None:
    net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    points = net.points([[1.0, 2.0]])
    key = key_of(net, points, norm="l2")
    assert key["norm"] == "l2"
    assert key != key_of(net, points + 1, norm="l2")
    assert key != key_of(rs.load([(np.eye(2), np.ones(2))]), points, norm="l2")


@pytest.mark.parametrize("seconds_of", [lambda _: 0.0, lambda size: 0.01 * size, lambda size: 1e6 * size])
def test_no_clock_decides_how_samples_are_cut(seconds_of, monkeypatch) -> None:
    """On a clock of our own: twice as many each time, up to eight or a sixteenth of all, however long they take."""

    def sizes(number, **given):
        return _sizes(monkeypatch, seconds_of, number, **{"seconds": math.inf, **given})

    assert sizes(10_000) == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, *[625] * 14, 227]
    assert sizes(12) == [1, 2, 4, 5]
    assert sizes(200, most=5) == [1, 2, 4, *[5] * 38, 3]
    assert sizes(200)[-2:] == [13, 3]
    assert sizes(200, done=190) == [7, 3]  # to where the block ends that the sample is in
    assert sizes(200, done=197) == [3]
    assert sizes(0) == []


def test_blocks_are_smaller_where_time_ends(monkeypatch) -> None:
    def sizes(seconds_of, number, **given):
        return _sizes(monkeypatch, seconds_of, number, **given)

    assert sizes(lambda size: 1.0 * size, 100, seconds=20.0) == [1, 2, 4, 6, 2, 2, 1, 1, 1, 1]
    assert sizes(lambda size: 1.0 * size, 100, seconds=1e3) == [1, 2, 4, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 5]
    assert sizes(lambda _: 1.0, 9, seconds=2.5) == [1, 1, 1]
    assert sizes(lambda _: 1.0, 9, seconds=2.0, done=3) == [1, 1, 1]
    assert sizes(lambda _: 1e-3, 9, seconds=2.0, done=3) == [1, 3, 2]
    assert sizes(lambda _: 1.0, 9, seconds=0.0) == [1]


def test_the_first_block_is_done_where_time_is_over_before_it(monkeypatch) -> None:
    monkeypatch.setattr(pacing, "is_overdue", lambda: True)
    for done, expected in ((0, [1]), (3, [1])):
        assert _sizes(monkeypatch, lambda _: 0.0, 9, seconds=5.0, done=done) == expected


def _sizes(monkeypatch, seconds_of, number, **given):
    clock = [64.0]  # a clock begins anywhere
    monkeypatch.setattr(pacing.time, "perf_counter", lambda: clock[0])
    pace, found = pacing.Pace(number, **given), []
    for block in pace.blocks():
        found.append(block.stop - block.start)
        clock[0] += seconds_of(found[-1])
    return found


def test_progress_is_the_larger_share_of_samples_or_time(monkeypatch) -> None:
    clock, told = [64.0], []
    monkeypatch.setattr(pacing.time, "perf_counter", lambda: clock[0])
    for _ in pacing.Pace(4, seconds=2.0, most=1, progress=told.append).blocks():
        clock[0] += 0.8
    assert told == pytest.approx([0.4, 0.8, 1.0])
    told.clear()
    for _ in pacing.Pace(4, seconds=0.0, done=2, progress=told.append).blocks():
        pass
    assert told == [1.0, 1.0]
