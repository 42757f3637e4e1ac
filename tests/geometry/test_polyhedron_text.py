"""Text of polyhedra: nothing is lost on the way through four forms, and damaged text is refused with its line."""

from fractions import Fraction

import highspy
import numpy as np
import pytest

import reluscope as rs
from reluscope.errors import InputError


@pytest.mark.parametrize("form", ["cdd", "polymake", "sage", "mps"])
def test_there_and_back_is_the_same_to_the_last_bit(form):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        rows, equations = rng.integers(0, 6), rng.integers(0, 3)
        one = rs.Polyhedron(*_random(rng, rows), *_random(rng, equations))
        again = rs.Polyhedron.from_text(one.to_text(form))
        for name in ("A", "b", "C", "d"):
            np.testing.assert_array_equal(getattr(again, name), getattr(one, name))


@pytest.mark.parametrize("form", ["cdd", "polymake", "sage", "mps"])
def test_rows_of_zeros_and_no_rows_keep_their_space(form):
    nothing = rs.Polyhedron.from_text(rs.Polyhedron(np.zeros((0, 2)), []).to_text(form))
    assert (nothing.dim, nothing.contains([[1e9, -1e9]]).tolist()) == (2, [True])
    empty = rs.Polyhedron([[0.0, 0.0], [1.0, 0.0]], [-1.0, 0.1])
    again = rs.Polyhedron.from_text(empty.to_text(form))
    assert again.A.tolist() == empty.A.tolist()
    assert again.b.tolist() == empty.b.tolist()


@pytest.fixture
def highs():
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    return solver


def test_a_solver_reads_what_was_written(highs, tmp_path):
    rng = np.random.default_rng(3)
    one = rs.Polyhedron(rng.normal(size=(4, 3)), rng.normal(size=4), rng.normal(size=(1, 3)), [0.1])
    (tmp_path / "one.mps").write_text(one.to_text("mps"), encoding="utf-8")
    assert highs.readModel(str(tmp_path / "one.mps")) == highspy.HighsStatus.kOk
    program = highs.getLp()
    table = np.zeros((5, 3))
    starts, rows = program.a_matrix_.start_, program.a_matrix_.index_
    for column in range(3):
        for place in range(starts[column], starts[column + 1]):
            table[rows[place], column] = program.a_matrix_.value_[place]
    assert table.tolist() == [*one.A.tolist(), *one.C.tolist()]
    assert program.row_upper_ == [*one.b.tolist(), 0.1]
    assert program.row_lower_ == [-np.inf] * 4 + [0.1]
    assert set(program.col_lower_) == {-np.inf}


def test_what_a_solver_wrote_is_read(highs, tmp_path):
    low, high = [-1.0, 0.0, -np.inf, 2.0], [3.0, np.inf, np.inf, 2.0]
    for column in range(4):
        highs.addCol(1.0, low[column], high[column], 0, [], [])
    rows = [(-np.inf, 4.0), (-2.0, 1.0), (0.5, 0.5), (0.25, np.inf)]
    table = np.array([[1.0, 2, 0, 1], [1, 0, -1, 0], [0, 1, 1, 0], [0.5, 0, 0, 3]])
    for (least, most), row in zip(rows, table, strict=True):
        used = np.flatnonzero(row)
        highs.addRow(least, most, len(used), used, row[used])
    highs.writeModel(str(tmp_path / "one.mps"))
    one = rs.Polyhedron.from_text((tmp_path / "one.mps").read_text(encoding="utf-8"))
    assert (one.A.shape, one.C.tolist(), one.d.tolist()) == ((7, 4), [[0, 1, 1, 0], [0, 0, 0, 1]], [0.5, 2.0])
    points = np.random.default_rng(0).integers(-4, 5, (4_000, 4)) / 2
    points[:, 3] = 2.0
    points[::2, 2] = 0.5 - points[::2, 1]
    values = points @ table.T
    inside = ((values >= [end[0] for end in rows]) & (values <= [end[1] for end in rows])).all(axis=1)
    inside &= ((points >= low) & (points <= high)).all(axis=1)
    assert 20 < inside.sum() < 3_000
    np.testing.assert_array_equal(one.contains(points), inside)


def test_forms_that_others_write():
    mps = "* a comment\nNAME one\nOBJSENSE\n    MAX\nROWS\n N c\n G r\n E s\n L free\n"
    mps += "COLUMNS\n x r 2 c 1\n x s 1 free 1\n y s -1\n"
    mps += "RHS\n r 1\nRANGES\n R r 2 s -1\nBOUNDS\n UP s x 3\n MI s y\n UP s y -1\nENDATA\nafter it"
    one = rs.Polyhedron.from_text(mps)
    rows = {(*row, end) for row, end in zip(one.A.tolist(), one.b.tolist(), strict=True)}
    # 1 <= 2 x <= 3, -1 <= x - y <= 0, x <= 0, 0 <= x <= 3, y <= -1
    assert rows == {(2, 0, 3), (-2, 0, -1), (1, -1, 0), (-1, 1, 1), (1, 0, 0), (-1, 0, 0), (1, 0, 3), (0, 1, -1)}
    polymake = "_type Polytope<Rational>\n\nFACETS\n1 -3/2 0\n# a comment\n2 0 1/3\n\nVERTICES\n1 0 0\n"
    assert rs.Polyhedron.from_text(polymake).A.tolist() == [[1.5, 0.0], [0.0, -1 / 3]]
    sage = "Polyhedron(\n  ieqs=[(1, -3/2, 0), [2, +0, 0.25]],\n  base_ring=QQ)"
    assert rs.Polyhedron.from_text(sage).A.tolist() == [[1.5, 0.0], [0.0, -0.25]]


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
        ("", "got none of these"),
        ("Polyhedron(ieqs=[[1, 2]], eqns=[[1, 2]", "line 1: .* cut off"),
        ("Polyhedron(ieqs=[[1, 2],\n[1, open(3)]])", "line 2: expected a number, got 'open"),
        ("Polyhedron(ieqs=[[1, 1/0]])", "line 1: expected a number that float64"),
        ("Polyhedron(vertices=[[1, 2]])", "half-spaces and equations alone"),
        ("Polyhedron(ieqs=[[1, 2], [1]])", "equally many numbers"),
        ("Polyhedron(ieqs=3)", "a list of rows"),
        ("Polyhedron(ieqs=[3])", "a row of numbers"),
        ("INEQUALITIES\n1 2\n1 2 3\n", "line 3: expected 2 numbers, got 3"),
        ("INEQUALITIES\n1 two\n", "line 2: expected a number"),
        ("CONE_AMBIENT_DIM\n3\n\nVERTICES\n1 0 0\n", "half-spaces"),
        ("_type Polytope<Rational>\n", "INEQUALITIES or EQUATIONS"),
        ("ROWS\n L r\nCOLUMNS\n x r 1\n", "line 4: expected ENDATA"),
        ("ROWS\n Q r\nCOLUMNS\nENDATA", "line 2: expected N, L, G or E"),
        ("ROWS\n L r\n L r\nCOLUMNS\nENDATA", "line 3: .* again"),
        ("ROWS\n L r\nCOLUMNS\n x s 1\nENDATA", "line 4: expected the name of a row, got 's'"),
        ("ROWS\n L r\nCOLUMNS\n x r 1 r 1\nENDATA", "line 4: expected one entry"),
        ("ROWS\n L r\nCOLUMNS\n x r one\nENDATA", "line 4: expected a number"),
        ("ROWS\n L r\nCOLUMNS\n x r\nENDATA", "line 4: expected rows and their numbers"),
        ("ROWS\n L r\nCOLUMNS\n M 'MARKER' 'INTORG'\nENDATA", "line 4: .* whole-numbered"),
        ("ROWS\n L r\nCOLUMNS\n x r 1\nBOUNDS\n BV b x\nENDATA", "line 6: expected a bound UP"),
        ("ROWS\n L r\nCOLUMNS\n x r 1\nBOUNDS\n UP b x -1\nENDATA", "line 6: .* two ways"),
        ("ROWS\n L r\nCOLUMNS\n x r 1\nBOUNDS\n UP b y 1\nENDATA", "line 6: expected the name of a column"),
        ("ROWS\n L r\nCOLUMNS\n x r 1\nBOUNDS\n UP x\nENDATA", "line 6: expected a bound of a column"),
        ("ROWS\n L r\nCOLUMNS\n x r 1\nQUADOBJ\n x x 1\nENDATA", "line 5: expected a section"),
        ("ROWS\n L r\nCOLUMNS\nENDATA", "line 4: expected at least one column"),
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
