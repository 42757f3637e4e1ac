"""Pictures of studies: what is drawn is what was given."""

from itertools import pairwise

import numpy as np

import reluscope as rs
from networks.models import layers
from reluscope_studies import plots
from reluscope_studies.plots.functions_and_slopes import OnGrid


def legend(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_curves():
    one = {("small", "training"): ([0, 5], [0.1, 0.9]), ("small", "validation"): ([0, 5], [0.1, np.nan])}
    two = {("large", "training"): ([0, 5], [0.2, 0.8])}
    figure = plots.training_curves({"accuracy": {"rate 1": one, "rate 2": {}}, "codes": {"rate 1": two}})
    assert len(figure.axes) == 4
    lines = [[line.get_ydata().tolist() for line in axes.lines] for axes in figure.axes]
    assert lines[0][0] == [0.1, 0.9]
    assert [len(panel) for panel in lines] == [2, 0, 1, 0]
    first, second = figure.axes[0].lines
    assert first.get_color() == second.get_color() != figure.axes[2].lines[0].get_color()
    assert first.get_linestyle() != second.get_linestyle()
    assert legend(figure) == ["small", "large", "training", "validation"]
    rs.plots.to_svg(figure)
    rs.plots.to_svg(plots.training_curves({}))


def test_shares_within_a_distance():
    scores = {"in domain": np.array([2.0, 0.0, 1.0, 1.0]), "noise": np.array([7.0, 5.0])}
    figure = plots.novelty({"dense": {"fc0": scores, "fc1": {}}})
    inside, outside = figure.axes[0].lines

    def share(line, distance):
        reached = line.get_xdata() <= distance
        return line.get_ydata()[reached].max()

    assert [share(inside, distance) for distance in (0, 1, 2)] == [25, 75, 100]
    assert [share(outside, distance) for distance in (4, 5, 7)] == [0, 50, 100]
    assert legend(figure) == ["in domain", "noise"]
    assert inside.get_linestyle() == "-" != outside.get_linestyle()
    rs.plots.to_svg(figure)
    rs.plots.to_svg(plots.novelty({}))


def test_functions_share_their_scales():
    grid = np.add.outer(np.linspace(-1, 1, 5), np.linspace(-1, 1, 5))
    one = OnGrid(grid, np.ones((25, 2)), np.ones((4, 2)))
    flat = OnGrid(np.zeros((5, 5)), np.zeros((25, 2)), np.zeros((4, 2)))
    figure = plots.functions_on_plane({"slope": one, "flat": flat}, reach=1.0)
    images = [axes.images[0] for axes in figure.axes[:4] if axes.images]
    assert [image.norm.vmax for image in images] == [2.0, 2.0]
    assert figure.axes[2].get_xlim() == figure.axes[3].get_xlim()
    assert not plots.functions_on_plane({}, reach=1.0).axes
    assert rs.plots.to_png(plots.functions_on_plane({"flat": flat}, reach=1.0))[:4] == b"\x89PNG"


def test_losses_in_training():
    figure = plots.losses_in_training(
        {"1 unit": np.array([[0.7, 0.6, 0.0], [0.7, 0.1, 0.1]]), "none": np.zeros((0, 3))}
    )
    assert [line.get_ydata()[-1] for line in figure.axes[0].lines] == [1e-6, 0.1]
    assert plots.losses_in_training({}).axes


def test_distribution():
    figure = plots.swaps_distribution({0: 2, 2: 1880}, noun="functions")
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.texts] == ["2", "1,880"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("swaps value", "functions")
    assert plots.swaps_distribution({}).axes


def test_a_grid_stands_beside_the_regions():
    part = rs.partition(rs.load(layers([2, 5, 1])), rs.Box(-1, 1, 2))
    figure = plots.grids_beside_regions({"net": (part, np.arange(12).reshape(3, 4))})
    assert [axes.get_title() for axes in figure.axes] == ["12 labels on a 4 x 3 grid", rs.plots.say_regions(part)]
    small = rs.partition(rs.load(layers([2, 5, 1])), rs.Box(-0.0795, 0.0795, 2))
    figure = plots.grids_beside_regions({"net": (small, np.zeros((2, 2), dtype=int))})
    figure.draw_without_rendering()
    for axes in figure.axes:
        boxes = [label.get_window_extent() for label in axes.get_xticklabels()]
        assert len(boxes) >= 3
        assert all(one.x1 < other.x0 for one, other in pairwise(boxes))
    assert "no slices" in plots.grids_beside_regions({}).axes[0].texts[0].get_text()


def test_surfaces_side_by_side():
    part = rs.partition(rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]), rs.Box(-1, 1, 2))
    figure = plots.surfaces({"own": part, "steps": part}, {"steps": np.eye(4)[:, :3]})
    assert [axes.get_title() for axes in figure.axes] == ["own", "steps"]
    pictures = [np.asarray(axes.images[0].get_array()) for axes in figure.axes]
    assert pictures[0].shape != pictures[1].shape or (pictures[0] != pictures[1]).any()
    assert not plots.surfaces({}).axes


def test_what_a_paper_prints_is_drawn_in_ink_and_called_paper():
    """Bars at printed numbers, open marks where nothing is printed, lines and strips over what a legend had before."""
    beside = plots.restarts({"width 1": ([3, None], [None, 5])}, depths=[1, 2], most=(10, 100))
    marks = {(line.get_marker(), *line.get_xydata().ravel().tolist()) for line in beside.axes[0].lines}
    assert marks == {("_", 2, 5), ("o", 1, 3), ("^", 1, 170), ("^", 2, 17)}
    counts = plots.counts_beside(np.array([3, 4]), {"here": np.array([1, 2])}, rows="ab", label="n")
    panels = plots.panels_beside({"n": (np.array([3.0, np.nan]), {"here": np.array([np.nan, 2.0])})}, rows="ab")
    for figure in (beside, counts, panels):
        assert legend(figure)[:2] == ["paper", "here"]
        (bar,) = [line for line in figure.axes[0].lines if line.get_marker() in "|_"]
        assert bar.get_color() == rs.plots.style.INK
    curve = rs.plots.preimages(rs.preimages.classify_at(rs.load(layers([2, 4, 1])), np.eye(2)))
    before = [text.get_text() for text in curve.axes[0].get_legend().get_texts()]
    figure = plots.with_paper(curve, at=[1.5], strip=(0.5, 2.5), said="both")
    after = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert after == [*before, "paper: both", "paper: both"]
    upright = [line.get_xdata()[0] for line in figure.axes[0].lines if line.get_linestyle() == ":" or line.is_dashed()]
    assert {0.5, 1.5, 2.5} <= set(upright)
    assert "<svg" in rs.plots.to_svg(figure)
