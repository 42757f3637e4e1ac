"""Figures 2 and 3 in the plane, and Jacobians restricted to windows of the image."""

import numpy as np
import pytest
import torch

import reluscope as rs
from reluscope.studies import Setting
from reluscope_studies import plots
from reluscope_studies.behrmann2018 import omnidirectional, windows
from reluscope_studies.behrmann2018._networks import Architecture, Training

pytestmark = pytest.mark.slow


def test_omnidirectional_by_all_directions():
    """By its definition: every open half-plane has a row; half-planes by their angles, finely."""
    angles = np.linspace(0, 2 * np.pi, 3601)
    directions = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    for one in omnidirectional.SHOWN.values():
        assert ((one.weight @ directions.T > 1e-12).any(axis=0).all()) == one.matrix_is
        assert np.array_equal(one.bias, -one.weight @ one.point) == (one.tuple_is or not one.matrix_is)


def test_figures_2_and_3():
    outcome = omnidirectional.protocol(Setting("full"))
    assert [verdict.word for verdict in outcome.verdicts] == ["confirmed", "confirmed"]
    first, without, _ = outcome.tables
    assert [row[-1] for row in first.rows] == ["singleton", "unbounded", "unbounded", "compact"]
    left = omnidirectional.CORRELATED[1:]
    shown = {row[0]: row[2] for row in without.rows}
    assert float(shown["2, 3"]) == pytest.approx(np.linalg.cond(left), rel=5e-3)
    removed = outcome.pictures[1].figure
    assert len(removed.axes) == 2
    assert [text.get_text() for text in removed.legends[0].get_texts()][-1] == "where the same units are active"
    assert not plots.normals_in_plane({}, reach=1.0).axes


@pytest.fixture(scope="module")
def images():
    rng = np.random.default_rng(0)
    points = rng.uniform(size=(40, 1, 4, 4))
    return rs.datasets.dataset_of(points, np.arange(40) % 3, name="drawn")


def test_windows_are_columns_of_the_jacobian(images, monkeypatch):
    """Against autograd, entry by entry, and interlaced where columns are independent."""
    plan = windows.Plan(Architecture("tiny", ((3, 1),), (20,)), Training("RMSprop", 1e-3, 1, 20), 2, (2,))
    monkeypatch.setitem(windows.PLANS, "small", plan)
    setting = Setting("small", images, images)
    outcome = windows.protocol(setting)
    (table,) = outcome.tables
    assert [row[:2] for row in table.rows] == [
        (gate, window) for gate in ("relu1", "relu2") for window in ("2 x 2", "the image")
    ]
    rows = np.random.default_rng(0).permutation(40)[:2]
    kept = setting.records[f"windows {rows[0]}"].arrays["values"]
    model = plan.architecture.build((1, 4, 4), 3, seed=0).double()
    model.load_state_dict(
        {
            name: torch.from_numpy(array)
            for name, array in setting.records["tiny"].arrays.items()
            if name in model.state_dict()
        }
    )
    point = torch.tensor(images.points[rows[0]].reshape(1, 1, 4, 4))
    jacobian = torch.autograd.functional.jacobian(model[:2], point).reshape(-1, 16)
    inside = [row * 4 + column for row in (1, 2) for column in (1, 2)]
    for place, matrix in enumerate((jacobian[:, inside], jacobian)):
        values = torch.linalg.svdvals(matrix)
        assert kept[0, place, 0] == pytest.approx(float(values[0]))
    assert (kept[:, 0, 0] <= kept[:, 1, 0] + 1e-12).all()
    again = windows.protocol(setting)
    assert again.tables == outcome.tables


def test_a_matrix_of_zeros_has_no_condition():
    assert windows._of(np.zeros((3, 2)))[:2] == (0.0, 0.0)
    assert np.isnan(windows._of(np.zeros((3, 2)))[2])


def test_lines_by_layer():
    figure = plots.windows_by_layer({"2 x 2": np.array([1.0, 3.0]), "all": np.array([2.0, 9.0])}, layers=["a", "b"])
    assert [line.get_ydata().tolist() for line in figure.axes[0].lines] == [[1.0, 3.0], [2.0, 9.0]]
