"""Cells do not take a solver's word: what only touches, and what is thin, is proved to."""

from dataclasses import replace

import numpy as np
import pytest

import reluscope as rs
from reluscope.analyses.robustness.cells_of_classes import StepRegion
from reluscope.analyses.robustness.class_changes import Change, confirm
from reluscope.analyses.robustness.viewpoints import open_domain, viewpoint
from reluscope.geometry.numbers.norms import L2
from reluscope.geometry.polyhedra import nearest_point as module
from reluscope.geometry.programs.active_set import EMPTY
from reluscope.geometry.programs.linear_program import LinearProgram, ProgramStatus
from reluscope.tolerance import Tolerance


@pytest.fixture
def cell():
    """The quadrant in which x is ahead of y at (3, 1)."""
    net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    view = viewpoint(*open_domain(net, rs.Box(-4, 4, 2)), np.array([3.0, 1.0]), L2, Tolerance())
    return StepRegion.of(view, view.first_pieces())


@pytest.mark.parametrize("status", list(ProgramStatus))
def test_what_has_room_never_only_touches(cell, status, monkeypatch):
    (rival,) = cell.rivals
    assert np.allclose(cell.deepest(rival), [-3.0, 3.0])
    honest = LinearProgram.maximize

    def lie(self, objective):
        told = honest(self, objective)
        return told._replace(status=status, value=0.0, point=0 * told.point, duals=0 * told.duals)

    monkeypatch.setattr(LinearProgram, "maximize", lie)
    found = cell.nearest_change(rival, np.inf)
    assert isinstance(confirm(cell, rival, found), Change)  # a solver's word is not needed


def with_row(half_spaces, sign):
    """Return the same set with its first row once more in front, or with the opposite of that row."""
    first = sign * half_spaces.rows[:1], sign * half_spaces.offsets[:1]
    return replace(
        half_spaces,
        rows=np.concatenate([first[0], half_spaces.rows]),
        offsets=np.concatenate([first[1], half_spaces.offsets]),
    )


def test_thin_cells_are_those_with_a_proved_contradiction(cell, monkeypatch):
    corner = np.array([-3.0, -1.0])
    assert not cell.is_thin(corner)
    honest = module.shortest_vector
    monkeypatch.setattr(module, "shortest_vector", lambda *a, **k: honest(*a, **k)._replace(status=EMPTY))
    cell.half_spaces = with_row(cell.half_spaces, 1.0)  # dependent rows, which are asked about
    cell.num_own += 1
    assert not cell.is_thin(corner)
    monkeypatch.undo()
    cell.half_spaces = with_row(cell.half_spaces, -1.0)
    cell.num_own += 1
    assert cell.is_thin(corner)
