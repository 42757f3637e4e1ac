"""Names that moved raise AttributeError with the new address, which is there."""

import re
from importlib import import_module
from operator import attrgetter
from pathlib import Path

import pytest

import reluscope as rs
from reluscope.moved_names import MOVED, MOVED_ARGUMENTS, RETURNED

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
    if new.startswith("reluscope.extending."):
        assert hasattr(import_module(home), name)
    elif home.partition(".")[0] == "reluscope":
        assert attrgetter(new.removeprefix("reluscope."))(rs)
    else:
        assert import_module(new) if home == "reluscope_studies" else hasattr(import_module(home), name)


@pytest.mark.parametrize(("old", "where"), RETURNED.items())
def test_a_type_that_one_function_returns(old, where):
    """Its name is asked for in vain, and is told who returns it; that is documented there."""
    function, module = where
    kind = old.rpartition(".")[2]
    with pytest.raises(AttributeError, match=f"{kind} is no public name: {function} returns it"):
        attrgetter(old)(rs)
    assert hasattr(import_module(module), kind)
    assert attrgetter(function.removeprefix("reluscope."))(rs)
    (row,) = [line for line in PAGE.splitlines() if line.startswith("| ") and is_of(line, old)]
    assert "documents" in row


@pytest.mark.parametrize(("function", "name"), MOVED_ARGUMENTS)
def test_an_argument_that_moved(function, name):
    homes = (rs, rs.bounds, rs.reachability, rs.preimages, import_module("reluscope_studies.bounds"))
    homes += (import_module("reluscope.geometry.unions.union_of_polyhedra"),)
    taking = next(attrgetter(function)(home) for home in homes if hasattr(home, function.partition(".")[0]))
    new = re.escape(MOVED_ARGUMENTS[function, name])
    with pytest.raises(TypeError, match=f"^{re.escape(function)}\\(\\) takes no {name}= any more: write {new}$"):
        taking(**{name: None})
    assert any(f"`{name}`" in row or f"{name}=" in row for row in PAGE.splitlines() if row.startswith("| "))
