"""Surfaces of outputs have the heights of the network, and films of space turn."""

import io

import numpy as np
import pytest
from PIL import Image

import reluscope as rs
from empty_partitions import empty_partition
from reluscope import plots
from reluscope.errors import InputError, ShapeError
from reluscope.testing import default_network

NET = rs.load(default_network([2, 9, 7, 2], seed=4))
FROM_THE_SIDE = plots.View(azimuth=-90, elevation=0)


@pytest.fixture(scope="module")
def part():
    return rs.partition(NET, rs.Box(-1, 1, 2))


@pytest.mark.parametrize("output", [0, 1])
def test_heights_are_those_of_the_network(part, output):
    """Seen along the second axis, every column of pixels reaches from the lowest value over it to the highest."""
    figure = plots.output_surface(part, output=output, view=FROM_THE_SIDE, lines=False, pixels=600)
    (image,) = figure.axes[0].images
    left, right, bottom, top = image.get_extent()
    is_painted = np.asarray(image.get_array())[..., 3] > 127
    x = left + (right - left) * (np.arange(is_painted.shape[1]) + 0.5) / is_painted.shape[1]
    inside = np.flatnonzero(np.abs(x) < 0.98)[::25]
    y = np.linspace(-1, 1, 2001)
    everywhere = part.outputs[:, output]
    scale = 0.7 * 2 / (1.08 * np.ptp(everywhere))
    middle = (everywhere.min() + everywhere.max()) / 2
    for column in inside:
        values = NET(np.stack([np.full(len(y), x[column]), y], axis=1))[:, output].numpy()
        rows = np.flatnonzero(is_painted[:, column])
        ends = bottom + (top - bottom) * np.array([rows[0], rows[-1] + 1]) / len(is_painted)
        assert ends / scale + middle == pytest.approx([values.min(), values.max()], abs=0.02 * np.ptp(everywhere))


def test_maps_of_regions_stand_in_for_those_of_the_network(part):
    """The network's own give the same picture; others have steps."""
    own = np.column_stack([part.maps.weight[:, 0].numpy(), part.maps.bias[:, 0].numpy()])
    pictures = [
        np.asarray(plots.output_surface(part, pixels=150, lines=False, **given).axes[0].images[0].get_array()).astype(
            int
        )
        for given in ({}, {"maps": own}, {"maps": own + np.arange(len(part))[:, None] / len(part)})
    ]
    assert (np.abs(pictures[0] - pictures[1]).max(axis=2) > 3).mean() < 1e-3
    assert (np.abs(pictures[0] - pictures[2]).max(axis=2) > 3).mean() > 0.1
    with pytest.raises(ShapeError, match="a map for each of"):
        plots.output_surface(part, maps=own[1:])


@pytest.mark.slow
def test_names_scales_and_legends(part):
    figure = plots.output_surface(part, color="area", name="height")
    assert {"input 0", "input 1", "height"} <= {text.get_text() for text in figure.axes[0].texts}
    assert figure.axes[0].child_axes[0].get_ylabel() == "area"
    plane = rs.partition(NET, rs.Plane([0.0, 0.0], [1.0, 0.0], [0.0, 1.0]))
    names = {text.get_text() for text in plots.output_surface(plane).axes[0].texts}
    assert {"direction 0", "direction 1", "output 0"} <= names


@pytest.mark.slow
def test_flat_empty_and_unfinished():
    flat = rs.load([(np.zeros((3, 2)), np.ones(3)), (np.zeros((1, 3)), 2 * np.ones(1))])
    figure = plots.output_surface(rs.partition(flat, rs.Box(-1, 1, 2)))
    assert "2" in [text.get_text() for text in figure.axes[0].texts]
    assert plots.to_png(plots.output_surface(empty_partition(NET, rs.Box(-1, 1, 2))))[:4] == b"\x89PNG"
    stopped = rs.partition(NET, rs.Box(-1, 1, 2), budget=rs.Budget(regions=4))
    assert "stopped early" in plots.output_surface(stopped).axes[0].get_legend().get_texts()[-1].get_text()


def test_what_has_no_surface(part, tmp_path):
    for wrong in (rs.Space(2), rs.Segment([0.0, 0.0], [1.0, 1.0])):
        with pytest.raises(InputError, match="bounded plane"):
            plots.output_surface(rs.partition(NET, wrong))
    with pytest.raises(InputError, match="output"):
        plots.output_surface(part, output=2)
    part.save(tmp_path / "part.arrow")
    with pytest.raises(InputError, match="network"):
        plots.output_surface(rs.Partition.load(tmp_path / "part.arrow"))


@pytest.mark.slow
def test_a_turntable_turns_once(part):
    """Its frames are of one size, all different, and the second is what the picture is from there."""
    film = plots.turntable(plots.output_surface, part, frames=4, fps=10, pixels=200, color="area")
    frames = Image.open(io.BytesIO(plots.to_gif(film, dpi=60)))
    assert frames.n_frames == 4
    pictures = []
    for index in range(4):
        frames.seek(index)
        pictures.append(np.asarray(frames.convert("L")).astype(float))
    assert {picture.shape for picture in pictures} == {pictures[0].shape}
    assert all(np.abs(one - two).mean() > 1 for k, one in enumerate(pictures) for two in pictures[:k])


@pytest.mark.slow
def test_the_limits_of_steady_pictures_do_not_depend_on_the_azimuth(part):
    limits = {
        plots.output_surface(part, pixels=50, view=plots.View(azimuth=turn, is_steady=True)).axes[0].get_xlim()
        for turn in (0.0, 20.0, 45.0, 170.0)
    }
    assert len({tuple(np.round(one, 9)) for one in limits}) == 1
    for turn in range(0, 360, 40):
        bare, steady = (plots.View(azimuth=turn, elevation=35, is_steady=flag) for flag in (False, True))
        inner, outer = (
            plots.output_surface(part, pixels=20, view=view, lines=False).axes[0] for view in (bare, steady)
        )
        assert outer.get_ylim()[1] >= inner.get_ylim()[1] - 1e-9
        assert outer.get_xlim()[1] >= inner.get_xlim()[1] - 1e-9
