"""Text of polyhedra: nothing is lost on the way through cdd's form, and damaged text is refused with its line."""

from fractions import Fraction

import numpy as np
import pytest

import reluscope as rs
from reluscope.errors import InputError


@pytest.mark.parametrize("seed", range(5))
def test_cdd_and_back_is_the_same_to_the_last_bit(seed):
    rng = np.random.default_rng(seed)
    rows, equations = rng.integers(0, 6), rng.integers(0, 3)
    one = rs.Polyhedron(*_random(rng, rows), *_random(rng, equations))
    again = rs.Polyhedron.from_text(one.to_text())
    for name in ("A", "b", "C", "d"):
        np.testing.assert_array_equal(getattr(again, name), getattr(one, name))


def _random(rng, rows):
    return rng.normal(size=(rows, 3)) * 10.0 ** rng.integers(-20, 20, (rows, 3)), rng.normal(size=rows)


def test_rows_say_that_points_are_inside():
    one = rs.Polyhedron([[1.0, 2.0], [-0.5, 0.25]], [3.0, 0.1], [[1.0, -1.0]], [0.5])
    lines = one.to_text().splitlines()
    begin = lines.index("begin")
    assert lines[begin + 1].split() == ["3", "3", "rational"]
    assert lines[1] == "linearity 1 3"
    point = [Fraction(1), Fraction(1), Fraction(1, 2)]
    values = [
        sum(Fraction(w) * x for w, x in zip(line.split(), point, strict=True)) for line in lines[begin + 2 : begin + 5]
    ]
    assert values == [1, Fraction(0.1) + Fraction(3, 8), 0]
    sage, polymake = one.to_text("sage"), one.to_text("polymake")
    found = eval(sage, {"Polyhedron": lambda **parts: parts, "QQ": None})
    assert found["ieqs"][0] == [3, -1, -2]
    assert found["eqns"] == [[0.5, -1, 1]]
    assert "INEQUALITIES\n3 -1 -2\n" in polymake
    assert "EQUATIONS\n1/2 -1 1\n" in polymake


def test_text_that_others_wrote():
    text = "* a comment\nH-representation\nbegin\n 2 3 real\n 1 -1.5e0 0\n 2 0 1/3\nend\nmaximize 1 1\n"
    one = rs.Polyhedron.from_text(text)
    assert one.A.tolist() == [[1.5, 0.0], [0.0, -1 / 3]]
    assert one.b.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "H-representation"),
        ("V-representation\nbegin\n1 2 rational\n1 1\nend", "H-representation"),
        ("H-representation\nbegin\n2 2 rational\n1 1\nend", "line 3: expected 2 rows, got 1"),
        ("H-representation\nbegin\n1 2 rational\n1 1 1\nend", "line 4: expected 2 numbers"),
        ("H-representation\nbegin\n1 2 rational\n1 1/0\nend", "line 4: expected a number"),
        ("H-representation\nbegin\n1 2 rational\n1 one\nend", "line 4: expected a number"),
        ("H-representation\nbegin\nend", "line 2: expected the size"),
        ("H-representation\nlinearity 1 7\nbegin\n1 2 rational\n1 1\nend", "line 2: expected the number of equations"),
        ("H-representation\nend\nbegin\n1 2 rational\n1 1\n", "expected the size"),
    ],
)
def test_damaged_text_is_refused_with_its_line(text, said):
    with pytest.raises(InputError, match=said):
        rs.Polyhedron.from_text(text)
