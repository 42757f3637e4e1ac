"""Pictures of Boolean functions: what they show, for none to many inputs."""

import pytest

import reluscope as rs
from reluscope.errors import InputError
from reluscope_studies import boolean, pictures

B = boolean


def test_cube_and_line():
    function = B.BooleanFunction.of_formula("x1 ^ x2 ^ x3")
    figure = pictures.boolean_direction(function, [1, 1, 1])
    cube, line = figure.axes
    assert len(cube.texts) == 8
    assert [text.get_text() for text in line.texts] == ["1", "3", "3", "1"]
    assert line.get_title() == "3 changes"
    ones = [len(dots.get_offsets()) for dots in line.collections]
    assert ones == [2, 2]
    assert rs.plots.to_png(figure).startswith(b"\x89PNG")


@pytest.mark.parametrize("n", [0, 1, 4, 5])
def test_any_number_of_inputs(n):
    function = B.BooleanFunction(n, 2 ** (2**n - 1) - 1)
    figure = pictures.boolean_direction(function, B.swaps(function).direction)
    assert len(figure.axes) == (2 if 0 < n <= 4 else 1)
    assert rs.plots.to_svg(figure)


def test_a_direction_that_mixes_values():
    with pytest.raises(InputError, match="use swaps"):
        pictures.boolean_direction(B.BooleanFunction.of_formula("x1 & ~x2"), [1, 1])
