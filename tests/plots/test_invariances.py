"""The picture of inputs with the same features: what is in its panels, and that it survives what is missing."""

import numpy as np
import pytest

import reluscope as rs
from networks.models import layers
from reluscope.plots import invariances


def some(number, size=12):
    net, rng = rs.load(layers([size, 3, 2])), np.random.default_rng(0)
    points = rng.uniform(0, 1, (2 * number, size))
    box = rs.Box(0, 1, size)
    return [
        rs.preimages.invariant(net, x, target=z, domain=box) for x, z in zip(points[::2], points[1::2], strict=True)
    ]


@pytest.mark.few(1)
@pytest.mark.parametrize("shape", [(3, 4), (1, 3, 4), (3, 2, 2)])
def test_rows_hold_input_target_find_and_change(shape):
    found = some(2)
    figure = invariances(found, shape=shape, names=["one", "two"])
    assert len(figure.axes) == 8
    pictures = [axes.get_images()[0].get_array() for axes in figure.axes]
    low = min(one.found.min() for one in found)  # the box is [0, 1], so the find reaches both of its ends
    assert low == 0
    for row, one in enumerate(found):
        for picture, point in zip(pictures[4 * row : 4 * row + 3], (one.point, one.target, one.found), strict=True):
            channels = shape[0] if len(shape) == 3 else 1
            expected = point.reshape(channels, *shape[-2:])
            drawn = np.moveaxis(picture, -1, 0) if channels == 3 else picture[None]
            assert np.allclose(drawn, expected / max(other.found.max() for other in found), atol=1e-12)
        change = (one.found - one.point).reshape(-1, *shape[-2:]).mean(axis=0)
        assert np.allclose(pictures[4 * row + 3], change)
        assert "3 features equal within" in figure.axes[4 * row + 2].get_xlabel()


def test_nothing_and_no_target_are_drawn_and_too_much_is_refused():
    assert invariances([], shape=(2, 2)).axes[0].texts
    net = rs.load(layers([4, 2, 1]))
    alone = rs.preimages.invariant(net, np.full(4, 0.5), domain=rs.Box(0, 1, 4))
    figure = invariances([alone], shape=(2, 2))
    assert figure.axes[1].texts[0].get_text() == "none"
    with pytest.raises(rs.errors.InputError, match="at most 12 rows"):
        invariances([alone] * 13, shape=(2, 2))
    with pytest.raises(rs.errors.InputError, match="images"):
        invariances([alone], shape=(4,))
