"""Networks as mixed-integer programs: points keep them, maxima are right, and files say the same."""

import re
from fractions import Fraction

import highspy
import numpy as np
import pytest
import scipy.optimize
import torch

import reluscope as rs
from reluscope.errors import DegenerateGeometryError, DiscontinuousNetworkError, InputError
from reluscope.networks.bounds import mixed_integer
from reluscope.testing import default_network


class Clamp(torch.nn.Module):
    """Gates with two breakpoints, and the largest of three."""

    def __init__(self):
        super().__init__()
        self.first, self.last = torch.nn.Linear(2, 6), torch.nn.Linear(2, 2)

    def forward(self, x):
        return self.last(torch.nn.functional.hardtanh(self.first(x)).unflatten(-1, (2, 3)).amax(-1))


def clamped():
    torch.manual_seed(4)
    return rs.load(Clamp(), input_shape=(2,))


NETWORKS = {
    "small": lambda: rs.load(default_network([2, 8, 8, 2], seed=3)),
    "three inputs": lambda: rs.load(default_network([3, 6, 4, 1], seed=2)),
    "clamped": clamped,
    "dead and twice": lambda: rs.load(
        [([[1.0, 0.5], [1.0, 0.5], [0.0, 0.0]], [0.0, 0.0, -1.0]), ([[1.0, -2.0, 3.0]], [0.5])]
    ),
    "wild": lambda: rs.load([([[1e-9, 2e-9], [-1e9, 3e8]], [1e-9, 5e8]), ([[1e9, 1e-9]], [1e6])]),
    "affine": lambda: rs.load([([[2.0, -1.0]], [0.25])]),
}


def largest(model, name, sign):
    """Return what HiGHS finds for one column, largest or smallest."""
    _, column = model.getColByName(name)
    model.changeColCost(column, sign)
    model.maximize()
    assert model.getModelStatus() == highspy.HighsModelStatus.kOptimal
    found = sign * model.getObjectiveValue()
    model.changeColCost(column, 0.0)
    return found


def read_back(path):
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.setOptionValue("mip_rel_gap", 1e-9)
    assert model.readModel(str(path)) == highspy.HighsStatus.kOk
    return model


@pytest.fixture(params=NETWORKS)
def net(request):
    return NETWORKS[request.param]()


def box_of(net):
    return rs.Box(-np.linspace(0.5, 1, net.num_inputs), np.linspace(1, 2, net.num_inputs))


def test_largest_and_smallest_outputs_are_those_of_the_image(net, tmp_path):
    program = rs.as_program(net, box_of(net))
    program.save(tmp_path / "net.mps")
    program.save(tmp_path / "net.lp")
    ends = rs.image(net, box_of(net)).ends
    models = [program.highs(), read_back(tmp_path / "net.mps"), read_back(tmp_path / "net.lp")]
    for model in models:
        for output, name in enumerate(program.outputs):
            low, high = largest(model, name, -1.0), largest(model, name, 1.0)
            scale = np.abs(ends[:, output]).max()
            np.testing.assert_allclose([low, high], ends[:, output], atol=1e-6 * scale, rtol=1e-6)


def test_other_solvers_take_the_arrays():
    net = NETWORKS["small"]()
    program = rs.as_program(net, box_of(net))
    costs = np.zeros(len(program.names))
    costs[program.names.index("Y_1")] = -1.0
    found = scipy.optimize.milp(
        costs,
        integrality=program.is_binary,
        bounds=scipy.optimize.Bounds(program.lower, program.upper),
        constraints=scipy.optimize.LinearConstraint(program.matrix, program.row_lower, program.row_upper),
    )
    assert -found.fun == pytest.approx(float(rs.maximize(net, box_of(net), np.array([0.0, 1.0]))), rel=1e-6)


def test_points_with_their_outputs_keep_the_rows(net):
    """Of inputs held at drawn points the program leaves their outputs alone, and nothing else."""
    domain, program = box_of(net), rs.as_program(net, box_of(net))
    generator = np.random.default_rng(0)
    for point in generator.uniform(domain.lo, domain.hi, (5, net.num_inputs)):
        model = program.highs()
        model.changeColsBounds(net.num_inputs, np.arange(net.num_inputs, dtype=np.int32), point, point)
        value = net(point[None]).numpy()[0]
        for output, name in enumerate(program.outputs):
            found = [largest(model, name, -1.0), largest(model, name, 1.0)]
            np.testing.assert_allclose(found, [value[output]] * 2, rtol=1e-5, atol=1e-5 * max(1, np.abs(value).max()))


@pytest.mark.parametrize(
    ("ends", "shift"), [(([0.1, -0.3], [0.7, 0.9]), 1 / 3), (([-0.7000001, -0.3], [0.7, 0.3000001]), 0.0)]
)
def test_rows_hold_in_fractions_at_inputs_where_no_rounding_helps(ends, shift):
    """The columns inside are those of real arithmetic; each row holds for them exactly, at corners as well."""
    weight, bias, last = [[0.1, 0.3], [-0.7, 0.2]], [0.05, 0.1], [[0.3, 0.9]]
    net, domain = rs.load([(weight, bias), (last, [shift])]), rs.Box(*ends)
    program = rs.as_program(net, domain)
    assert program.is_binary.sum() == 2
    generator = np.random.default_rng(1)
    for point in [*generator.uniform(domain.lo, domain.hi, (20, 2)).tolist(), domain.lo.tolist(), domain.hi.tolist()]:
        x = [Fraction(entry) for entry in point]
        seen = [
            sum(Fraction(w) * e for w, e in zip(row, x, strict=True)) + Fraction(b)
            for row, b in zip(weight, bias, strict=True)
        ]
        y = sum(Fraction(w) * max(s, Fraction(0)) for w, s in zip(last[0], seen, strict=True)) + Fraction(shift)
        columns = [*x, y, *inside(program, x, seen)]
        for row, (low, high) in enumerate(zip(program.row_lower.tolist(), program.row_upper.tolist(), strict=True)):
            entries = range(*program.matrix.indptr[row : row + 2].tolist())
            total = sum(
                Fraction(program.matrix.data[entry].item()) * columns[program.matrix.indices[entry]]
                for entry in entries
            )
            assert total >= (Fraction(low) if np.isfinite(low) else total), row
            assert total <= (Fraction(high) if np.isfinite(high) else total), row
        for value, low, high in zip(columns, program.lower.tolist(), program.upper.tolist(), strict=True):
            assert Fraction(low) <= value <= Fraction(high)


def inside(program, x, seen):
    """Return inner columns: scaled inputs, then for both units what is above and below zero, and which."""
    found = []
    for axis in (0, 1):
        # X - half u is about the middle: the row says which.
        entries = slice(*program.matrix.indptr[axis : axis + 2])
        half = -Fraction(program.matrix.data[entries][-1].item())
        middle = (Fraction(program.row_lower[axis]) + Fraction(program.row_upper[axis])) / 2
        found.append(min(max((x[axis] - middle) / half, Fraction(-1)), Fraction(1)))
    # The first rows of the inside define both units: scale (h - k) is what they see.
    row = len(program.inputs) + len(program.outputs)
    first = len(program.inputs) + len(program.outputs) + 2
    scales = []
    for unit in (0, 1):
        entries = dict(
            zip(
                program.matrix.indices[slice(*program.matrix.indptr[row + unit : row + unit + 2])].tolist(),
                program.matrix.data[slice(*program.matrix.indptr[row + unit : row + unit + 2])].tolist(),
                strict=True,
            )
        )
        # weight half / scale stands before the scaled input
        weight = [[0.1, 0.3], [-0.7, 0.2]][unit][0]
        half = -Fraction(program.matrix.data[: program.matrix.indptr[1]][-1].item())
        scales.append(Fraction(weight) * half / Fraction(entries[first - 2]))
    found += [max(s, Fraction(0)) / scale for s, scale in zip(seen, scales, strict=True)]
    found += [max(-s, Fraction(0)) / scale for s, scale in zip(seen, scales, strict=True)]
    return [*found, *(Fraction(int(s > 0)) for s in seen)]


def test_indicators_stand_for_rows_with_a_big_m(tmp_path):
    net = NETWORKS["small"]()
    program = rs.as_program(net, box_of(net))
    program.save(tmp_path / "net.lp", indicators=True)
    written = re.findall(r"r(\d+): (z_\d+) = ([01]) -> (v_\d+) <= 0", (tmp_path / "net.lp").read_text())
    assert len(written) == len(program.switches) == 2 * program.is_binary.sum()
    for (row, binary, at, column), switch in zip(written, program.switches.tolist(), strict=True):
        assert switch == [int(row), program.names.index(column), program.names.index(binary), int(at)]
        entries = slice(*program.matrix.indptr[switch[0] : switch[0] + 2])
        big = dict(zip(program.matrix.indices[entries].tolist(), program.matrix.data[entries].tolist(), strict=True))
        # With the binary at that the row leaves nothing but rounding; with it elsewhere all that the column may be.
        left = [program.row_upper[switch[0]] - big[switch[2]] * value for value in (switch[3], 1 - switch[3])]
        assert 0 <= left[0] < 1e-12
        assert left[1] >= program.upper[switch[1]]


def test_a_polyhedron_and_a_slice():
    net = NETWORKS["three inputs"]()
    body = rs.Polyhedron(np.vstack([-np.eye(3), np.ones((1, 3))]), np.array([0.0, 0.0, 0.0, 1.0]))
    plane = rs.Plane([0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.5])
    for domain in (body, plane):
        program = rs.as_program(net, domain)
        assert len(program.inputs) == domain.dim
        found = largest(program.highs(), "Y_0", 1.0)
        assert found == pytest.approx(float(rs.maximize(net, domain)), rel=1e-6, abs=1e-7)


def test_flat_boxes_hold_inputs():
    net = NETWORKS["three inputs"]()
    domain = rs.Box([-1.0, 0.25, -1.0], [1.0, 0.25, 1.0])
    program = rs.as_program(net, domain)
    assert largest(program.highs(), "Y_0", 1.0) == pytest.approx(float(rs.maximize(net, domain)), rel=1e-6, abs=1e-7)


def test_names(tmp_path):
    net = NETWORKS["small"]()
    program = rs.as_program(net, box_of(net), inputs=["price", "size.2"], outputs=["gain", "loss"])
    assert program.names[:4] == ("price", "size.2", "gain", "loss")
    for form in ("mps", "lp"):
        program.save(tmp_path / f"net.{form}")
        assert read_back(tmp_path / f"net.{form}").getColByName("size.2")[0] == highspy.HighsStatus.kOk
    for wrong in (["a"], *(["a", name] for name in ("a", "e3", "free", "3b", "b c", program.names[-1]))):
        with pytest.raises(InputError, match="name"):
            rs.as_program(net, box_of(net), inputs=wrong)


def test_time_that_is_over_leaves_wider_bounds(monkeypatch):
    net = rs.load(default_network([4, 16, 16, 1], seed=0))
    whole = rs.as_program(net, rs.Box(-1, 1, 4))
    monkeypatch.setattr(mixed_integer, "is_overdue", lambda: True)
    quick = rs.as_program(net, rs.Box(-1, 1, 4), budget=rs.Budget(seconds=0.0))
    output = whole.names.index("Y_0")
    assert whole.upper[output] < quick.upper[output]
    point = np.full(4, 0.25)
    model = quick.highs()
    model.changeColsBounds(4, np.arange(4, dtype=np.int32), point, point)
    assert largest(model, "Y_0", 1.0) == pytest.approx(net(point[None]).item(), rel=1e-5)


def test_what_is_no_program(tmp_path):
    net = NETWORKS["small"]()
    with pytest.raises(InputError, match="bounded domain"):
        rs.as_program(net, rs.Space(2))
    with pytest.raises(DegenerateGeometryError, match="flat"):
        rs.as_program(net, rs.Polyhedron([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]], [0.0, 0.0, 1.0, 1.0]))
    with pytest.raises(InputError, match=r"\.mps or \.lp"):
        rs.as_program(net, box_of(net)).save(tmp_path / "net.txt")
    with pytest.raises(InputError, match="indicators"):
        rs.as_program(net, box_of(net)).save(tmp_path / "net.mps", indicators=True)

    class Step(torch.nn.Module):
        def forward(self, x):
            return torch.sign(x)

    with pytest.raises(DiscontinuousNetworkError):
        rs.as_program(rs.load(Step(), input_shape=(2,)), box_of(net))
    sigmoid = rs.load(torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.Sigmoid()), input_shape=(2,))
    with pytest.raises(InputError, match="logits"):
        rs.as_program(sigmoid, box_of(net))


def test_pyomo_holds_the_same_program():
    pyo = pytest.importorskip("pyomo.environ")
    net = NETWORKS["clamped"]()
    model = rs.as_program(net, box_of(net)).pyomo()
    model.goal = pyo.Objective(expr=model.columns["Y_0"], sense=pyo.maximize)
    pyo.SolverFactory("appsi_highs").solve(model)
    assert pyo.value(model.goal) == pytest.approx(float(rs.maximize(net, box_of(net), np.array([1.0, 0.0]))), rel=1e-6)
