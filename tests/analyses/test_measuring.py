"""The loop that fills tables: what it leaves when work ends early."""

import numpy as np
import pytest

from reluscope.analyses.measuring import Measured, measure
from reluscope.findings import Column, Status, declare

POSITION = declare("test_position", "position of a sample", least=-np.inf)


def ask_until(last, end):
    """Return a question that ends its work at a sample."""

    def ask(block):
        rows = np.arange(block.start, block.stop)
        if last in rows and end is KeyboardInterrupt:
            raise KeyboardInterrupt
        stopped = end if last in rows else ""
        return Measured((Column.of(POSITION, rows.astype(float)),), {"name": rows.astype(str), "row": rows}, stopped)

    return ask


@pytest.mark.parametrize("end", ["planted", KeyboardInterrupt])
def test_rows_that_were_not_reached_are_in_the_table(end) -> None:
    found = measure(5, ask_until(2, end), most=1)
    done = 3 if end == "planted" else 2
    assert found.status == (Status.DONE,) * done + (Status.NOT_REACHED,) * (5 - done)
    assert found.stopped == ("planted" if end == "planted" else "interrupted")
    assert found.details["row"].tolist() == [*range(done), *[-1] * (5 - done)]
    assert found.details["name"].tolist() == [*map(str, range(done)), *[""] * (5 - done)]


def test_with_nothing_to_show_an_interruption_is_passed_on() -> None:
    with pytest.raises(KeyboardInterrupt):
        measure(2, ask_until(0, KeyboardInterrupt), most=1)
