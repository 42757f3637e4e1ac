"""Names that moved raise AttributeError with the new address, which is there."""

from importlib import import_module
from operator import attrgetter
from pathlib import Path

import pytest

import reluscope as rs
from reluscope.moved_names import MOVED

PAGE = (Path(__file__).parents[1] / "docs" / "versions.md").read_text(encoding="utf-8")


def is_of(row, old):
    """Return whether a row of the table has a name: as a whole, or behind the name of its namespace."""
    namespace, _, name = old.rpartition(".")
    return f"`rs.{old}`" in row or (f"`{name}`" in row and f"`rs.{namespace}`" in row)


@pytest.mark.parametrize(("old", "new"), MOVED.items())
def test_a_name_that_moved(old, new):
    with pytest.raises(AttributeError, match=f"{old.rpartition('.')[2]} has moved: {new}"):
        attrgetter(old)(rs)
    home, _, name = new.rpartition(".")
    (row,) = [line for line in PAGE.splitlines() if line.startswith("| ") and is_of(line, old)]
    assert home in row
    if home.partition(".")[0] == "reluscope":
        assert attrgetter(new.removeprefix("reluscope."))(rs)
    else:
        assert import_module(new) if home == "reluscope_studies" else hasattr(import_module(home), name)
