"""Names that moved raise AttributeError with the new address, which is there."""

from importlib import import_module
from operator import attrgetter
from pathlib import Path

import pytest

import reluscope as rs
from reluscope.moved_names import MOVED

PAGE = (Path(__file__).parents[1] / "docs" / "versions.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("old", "new"), MOVED.items())
def test_a_name_that_moved(old, new):
    with pytest.raises(AttributeError, match=f"{old.rpartition('.')[2]} has moved: {new}"):
        attrgetter(old)(rs)
    home, _, name = new.rpartition(".")
    assert new in PAGE
    assert f"`rs.{old}`" in PAGE
    if home.partition(".")[0] == "reluscope":
        assert attrgetter(new.removeprefix("reluscope."))(rs)
    else:
        assert import_module(new) if home == "reluscope_studies" else hasattr(import_module(home), name)
