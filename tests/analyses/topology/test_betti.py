"""Betti numbers: bodies that are known, and a dull oracle on grids; whatever the network is made of."""

import itertools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from scipy import ndimage

import reluscope as rs
from analyses.topology import dull
from partitions import bodies
from reluscope.errors import InputError
from reluscope.findings import Claim
from reluscope.partitions.complexes import incidence

AROUND = rs.Box([-2, -2, -2], [4.1, 4.2, 4.3])
# Body -> Betti numbers of the body, of what is around it in the box, and of its surface.
SQUARE = rs.Box(-1, 1, 2)
KNOWN = {
    "cube": ([1, 0, 0, 0], [1, 0, 1, 0], [1, 0, 1, 0]),
    "two": ([2, 0, 0, 0], [1, 0, 2, 0], [2, 0, 2, 0]),
    "frame": ([1, 1, 0, 0], [1, 1, 1, 0], [1, 2, 1, 0]),
    "linked": ([2, 2, 0, 0], [1, 2, 2, 0], [2, 4, 2, 0]),
    "hollow": ([1, 0, 1, 0], [2, 0, 1, 0], [2, 0, 2, 0]),
}


def numbers(part, **options):
    """Betti numbers that are exact."""
    found = rs.topology.betti(part, **options)
    assert set(found["betti_number"].claims) == {rs.Claim.EXACT}
    counted = found["betti_number"].value.astype(int).tolist()
    alternating = sum((-1) ** k * number for k, number in enumerate(counted))
    assert alternating == found.summary.finding("euler_characteristic").value
    return counted


def ball(dim):
    """The l1 ball: its sum of absolute values less 1."""
    eye = np.eye(dim)
    return rs.load([(np.concatenate([eye, -eye]), np.zeros(2 * dim)), (np.ones((1, 2 * dim)), -np.ones(1))])


def with_idle_units(layers, seed):
    """The same function, with units that are double, dead, and cancel."""
    rng = np.random.default_rng(seed)
    layers = [(weight.copy(), bias.copy()) for weight, bias in layers]
    for index in range(len(layers) - 1):
        weight, bias = layers[index]
        following, constant = layers[index + 1]
        twin = rng.integers(len(weight), size=2)
        weight = np.concatenate([weight, weight[twin], np.zeros((2, weight.shape[1]))])
        bias = np.concatenate([bias, bias[twin], [0.0, -1.0]])
        columns = np.zeros((len(following), 4))
        columns[:, 2:] = rng.integers(-2, 3, (len(following), 2))
        # One of the twins takes half of the weight, which no rounding changes.
        following = following.copy()
        columns[:, 0] = following[:, twin[0]] / 2
        following[:, twin[0]] -= columns[:, 0]
        layers[index], layers[index + 1] = (weight, bias), (np.concatenate([following, columns], axis=1), constant)
    return layers


def integer_layers(*sizes, seed):
    """Layers with small whole numbers, whose faces meet in every way."""
    rng = np.random.default_rng(seed)
    return [
        (rng.integers(-2, 3, (m, n)).astype(float), rng.integers(-1, 2, m).astype(float))
        for n, m in itertools.pairwise(sizes)
    ]


@pytest.mark.few(1)
@pytest.mark.parametrize("name", list(KNOWN))
def test_bodies_of_boxes(name):
    boxes = bodies.KNOWN[name][0]
    part = rs.partition(bodies.by_maxima(boxes), AROUND)
    found = [numbers(part, of=of) for of in ("sublevel", "superlevel", "level")]
    assert found == list(KNOWN[name])
    # By units the body is a plateau at level 0, with nothing below.
    plateau = rs.partition(bodies.by_units(boxes), AROUND)
    assert numbers(plateau, of="sublevel") == numbers(plateau, of="level") == KNOWN[name][0]
    assert numbers(plateau, of="superlevel") == numbers(plateau) == [1, 0, 0, 0]
    assert numbers(plateau, of="level", level=-1.0) == [0, 0, 0, 0]
    assert numbers(plateau, of="level", level=0.0625) == KNOWN[name][2]


@pytest.mark.parametrize("dim", [1, 2, 3, 4])
def test_the_ball_of_any_dimension(dim):
    part = rs.partition(ball(dim), rs.Box(-2, 2, dim))
    sphere = [2] if dim == 1 else [1, *[0] * (dim - 2), 1]
    assert numbers(part, of="level") == [*sphere, 0]
    assert numbers(part, of="sublevel") == [1, *[0] * dim]
    assert numbers(part, of="superlevel") == [*sphere, 0]
    assert numbers(part, of="superlevel", level=1.0) == [*sphere, 0]  # touches the box
    assert numbers(part, of="superlevel", level=2.0 * dim - 1) == [2**dim, *[0] * dim]  # corners
    assert numbers(part, of="level", level=-1.0) == [1, *[0] * dim]  # a point


@pytest.mark.parametrize("dim", [1, 2, 3, 4])
def test_open_ends_and_one_point(dim):
    part = rs.partition(ball(dim), rs.Box(-2, 2, dim))
    nothing = [0] * dim
    assert numbers(part) == numbers(part, ends="box") == [1, *nothing]
    assert numbers(part, ends="borel_moore") == [*nothing, 1]
    assert numbers(part, ends="one_point") == [1, *nothing[1:], 1]
    # What is inside the box has no ends, and one point stands apart.
    assert numbers(part, of="sublevel", ends="borel_moore") == [1, *nothing]
    assert numbers(part, of="sublevel", ends="one_point") == [2, *nothing]
    # Outside the ball: a sphere times a ray, along which every cycle runs out.
    assert numbers(part, of="superlevel", ends="borel_moore") == [0, *nothing]
    # A hyperplane through the box.
    plane = {"of": "level", "output": 0}
    line = rs.partition(rs.load([(np.eye(1, dim), np.zeros(1))]), rs.Box(-1, 1, dim))
    assert numbers(line, **plane) == [1, *nothing]
    assert numbers(line, **plane, ends="borel_moore") == [*nothing[1:], 1, 0]
    assert numbers(line, **plane, ends="one_point") == ([2, 0] if dim == 1 else [1, *nothing[2:], 1, 0])


@pytest.mark.few(3)
@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_random_sets_of_cubes(dim, seed):
    # A cube of side 1 is where the distance to its centre is at most 1/2; the union is where the least is.
    inside = np.random.default_rng(seed).random((2,) * (dim - 1) + (3,)) < 0.5
    inside.reshape(-1)[0] = True
    boxes = [(tuple(cube), tuple(cube + 1)) for cube in np.argwhere(inside)]
    part = rs.partition(bodies.by_maxima(boxes), rs.Box([-1.0] * dim, [4.0] * dim))
    assert numbers(part, of="sublevel") == dull.betti_of_cubes(inside)
    bits = rs.partition(bodies.by_units(boxes), rs.Box([-1.0] * dim, [4.0] * dim))
    assert numbers(bits, of="level") == dull.betti_of_cubes(inside)


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(6))
def test_units_that_do_nothing_change_nothing(seed):
    dim = 2 + seed % 2
    layers = integer_layers(dim, 5, 5, 1, seed=seed)
    box = rs.Box(-2, 2, dim)
    for of in ("sublevel", "superlevel", "level"):
        for ends in ("ordinary", "borel_moore"):
            plain = numbers(rs.partition(rs.load(layers), box), of=of, ends=ends)
            idle = numbers(rs.partition(rs.load(with_idle_units(layers, seed)), box), of=of, ends=ends)
            assert plain == idle


@pytest.mark.few(3)
@pytest.mark.parametrize("seed", range(6))
def test_the_two_sides_and_the_level_fit_together(seed):
    """Mayer and Vietoris: the box is two sides that meet in the level; and the Euler characteristic of a level set."""
    part = rs.partition(rs.load(integer_layers(3, 6, 6, 1, seed=seed)), rs.Box(-2, 2, 3))

    def characteristic(of):
        return sum((-1) ** k * number for k, number in enumerate(numbers(part, of=of, level=0.25)))

    below, above, level = (numbers(part, of=of, level=0.25) for of in ("sublevel", "superlevel", "level"))
    assert characteristic("sublevel") + characteristic("superlevel") - characteristic("level") == 1
    if sum(below) and sum(above):  # the reduced numbers add up, since those of the box vanish
        assert [a + b - (k == 0) for k, (a, b) in enumerate(zip(below, above, strict=True))] == level
    surface = rs.level_set(part.network, part.domain, level=0.25)
    assert surface.euler_characteristic == characteristic("level")


@pytest.mark.slow
def test_nothing_depends_on_chunks_or_workers(monkeypatch):
    rng = np.random.default_rng(5)
    layers = [(rng.standard_normal((m, n)), rng.standard_normal(m)) for n, m in itertools.pairwise((3, 7, 7, 1))]
    part = rs.partition(rs.load(layers), rs.Box(-2, 2, 3))
    questions = [{"of": of, "ends": ends} for of in ("all", "level", "sublevel") for ends in ("box", "borel_moore")]
    whole = [numbers(part, **question) for question in questions]
    monkeypatch.setattr(incidence, "_chunk_cells", lambda *_: 5)
    assert [numbers(part, **question) for question in questions] == whole
    with ThreadPoolExecutor(2) as executor:
        assert [numbers(part, **question, executor=executor) for question in questions] == whole


def test_scores_that_cross_within_the_resolution_leave_the_number_open():
    """Three classes meet in a line; next to it two of them are nearer to a third than planes are told apart."""
    first = [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], [0.0, 4.35e-05]
    second = [[-2.58e14, 0.0], [0.0, 0.0], [0.0, -2.96e7]], [1.0, 0.0, 2.5e-06]
    part = rs.partition(rs.load([first, second]), rs.Box([-5.42e-05, 0.0, 0.0], [0.0, 7.45e-05, 8.81e-05]))
    found = rs.topology.betti(part, of="decision").finding("betti_number", 0)
    assert found.claim is not Claim.EXACT
    assert found.interval[0] <= 1 <= found.interval[1]


@pytest.mark.parametrize("dim", [2, 3])
def test_decision_boundaries(dim):
    # Three half-planes meet in a line: three sheets with one edge.
    angles = 2 * np.pi * np.arange(3) / 3
    weight = np.zeros((3, dim))
    weight[:, :2] = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    part = rs.partition(rs.load([(weight, np.zeros(3))]), rs.Box(-1, 1, dim))
    nothing = [0] * (dim - 2)
    assert numbers(part, of="decision") == [1, 0, *nothing, 0]
    # Through the ends two of the three sheets close up.
    assert numbers(part, of="decision", ends="borel_moore") == [*nothing, 0, 2, 0]


def test_one_output_decides_by_its_threshold():
    net = ball(2).with_decision(-0.5)
    assert numbers(rs.partition(net, rs.Box(-2, 2, 2)), of="decision") == [1, 1, 0]
    same = numbers(rs.partition(ball(2), rs.Box(-2, 2, 2)), of="level", level=-0.5)
    assert same == [1, 1, 0]


def test_differences_of_outputs_and_slices():
    net = rs.load([(np.r_[np.eye(3), -np.eye(3)], np.zeros(6)), (np.r_[np.ones((1, 6)), np.zeros((1, 6))], [0.0, 1.0])])
    part = rs.partition(net, rs.Plane([-2, -2, 0.5], [2, -2, 0.5], [-2, 2, 0.5]))
    assert numbers(part, of="level", output=(0, 1)) == numbers(part, of="level", output=(1, 0)) == [1, 1, 0]


def test_what_stays_open_is_not_said():
    rng = np.random.default_rng(5)
    layers = [(rng.standard_normal((m, n)), rng.standard_normal(m)) for n, m in itertools.pairwise((3, 20, 20, 1))]
    part = rs.partition(rs.load(layers), rs.Box(-2, 2, 3))
    found = rs.topology.betti(part, of="level", budget=rs.Budget(seconds=0.0))
    assert found.stopped
    assert {str(status) for status in found.status} == {"not reached"}


def test_an_undecided_sign_leaves_all_open():
    part = rs.partition(ball(2), rs.Box(-2, 2, 2))
    module = import_module("reluscope.analyses.topology.betti")
    real = module.faces_of_part

    def doubtful(*args, **options):
        return replace(real(*args, **options), num_undecided=1)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "faces_of_part", doubtful)
        column = rs.topology.betti(part, of="level")["betti_number"]
    assert (column.lower == 0).all()
    assert np.isinf(column.upper).all()


def test_many_dimensions_are_refused():
    with pytest.raises(rs.errors.InputError, match="domains of at most 4 dimensions"):
        rs.topology.betti(rs.partition(ball(5), rs.Box(-1, 1, 5)))


@pytest.mark.parametrize("name", list(KNOWN))
def test_the_pieces_of_level_sets(name):
    surface = rs.level_set(bodies.by_maxima(bodies.KNOWN[name][0]), AROUND)
    assert [*numbers(surface), 0] == KNOWN[name][2]


def test_open_level_sets():
    for dim in (2, 3):
        found = rs.level_set(ball(dim), rs.Box([-2] * dim, [2] * (dim - 1) + [0.5]))
        assert numbers(found) == [1] + [0] * (dim - 1)
        assert numbers(found, ends="borel_moore") == [0] * (dim - 1) + [1]
        assert numbers(found, ends="one_point") == [1] + [0] * (dim - 2) + [1]
    with pytest.raises(rs.errors.InputError, match='of must be "all"'):
        rs.topology.betti(found, of="level")
    with pytest.raises(rs.errors.IncompletePartitionError):
        rs.topology.betti(replace(found, num_open=1))


@pytest.mark.parametrize("seed", range(4))
def test_level_sets_as_faces_and_as_pieces(seed):
    dim = 2 + seed % 2
    net = rs.load(integer_layers(dim, 5, 5, 1, seed=seed))
    box = rs.Box(-2, 2, dim)
    part, surface = rs.partition(net, box), rs.level_set(net, box, level=0.3)
    for ends in ("ordinary", "borel_moore"):
        assert numbers(part, of="level", level=0.3, ends=ends)[:-1] == numbers(surface, ends=ends)


@pytest.mark.parametrize("dim", [1, 2, 3, 4])
def test_whole_spaces(dim):
    part = rs.partition(ball(dim), rs.Space(dim))
    nothing = [0] * dim
    sphere = [2] if dim == 1 else [1, *[0] * (dim - 2), 1]
    assert numbers(part) == [1, *nothing]
    assert numbers(part, ends="borel_moore") == [*nothing, 1]
    assert numbers(part, ends="one_point") == [1, *nothing[1:], 1]
    assert numbers(part, of="level") == numbers(part, of="superlevel") == [*sphere, 0]
    assert numbers(part, of="sublevel", ends="borel_moore") == [1, *nothing]
    # No vertex at all: a hyperplane.
    plane = rs.partition(rs.load([(np.eye(1, dim), np.array([3.0]))]), rs.Space(dim))
    assert numbers(plane, of="level") == [1, *nothing]
    assert numbers(plane, of="level", ends="borel_moore") == [*nothing[1:], 1, 0]
    with pytest.raises(rs.errors.InputError, match='ends="box" needs a bounded domain'):
        numbers(part, ends="box")


def test_polyhedra_without_end():
    # The quadrant, and in it where x + y is at least 1.
    quadrant = rs.Polyhedron([[-1.0, 0.0], [0.0, -1.0]], [0.0, 0.0])
    part = rs.partition(rs.load([([[1.0, 1.0]], [0.0])]), quadrant)
    for of in ("all", "sublevel", "level", "superlevel"):
        assert numbers(part, of=of, level=1.0) == [1, 0, 0]
    # The half-plane's boundary is a boundary, too: an edge from wall to wall runs out on both sides.
    assert numbers(part, of="level", level=1.0, ends="borel_moore") == [0, 1, 0]


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(8))
def test_whole_spaces_do_not_depend_on_a_box(seed):
    """Far features count: the box that is enough, and boxes ten and a hundred times as large."""
    dim = 2 + seed % 2
    rng = np.random.default_rng(seed)
    sizes = (dim, 8, 8, 1) if dim == 2 else (dim, 5, 5, 1)
    layers = [(rng.standard_normal((m, n)), rng.standard_normal(m)) for n, m in itertools.pairwise(sizes)]
    net = rs.load(layers)
    layers[-1][1][0] -= float(net(rng.standard_normal((999, dim)) * 100).median())
    net = rs.load(layers)
    everywhere = rs.partition(net, rs.Space(dim))
    half = 4 * float(np.abs(everywhere.vertices).max())
    for of in ("level", "sublevel", "superlevel"):
        for ends in ("ordinary", "borel_moore", "one_point"):
            found = numbers(everywhere, of=of, ends=ends)
            cut = rs.level_set(net, rs.Box(-half, half, dim))
            size = 4 * max(half, float(np.abs(cut.vertices).max(initial=0.0)))
            # The level has far vertices of its own, which only a box that holds them all shows.
            for factor in (10, 100):
                box = rs.partition(net, rs.Box(-factor * size, factor * size, dim))
                assert numbers(box, of=of, ends=ends) == found


def test_max_gates_have_no_whole_space():
    part = rs.partition(bodies.by_maxima([((0, 0), (1, 1))]), rs.Space(2), method="tree")
    with pytest.raises(rs.errors.InputError, match="not found with max gates"):
        rs.topology.betti(part)


def test_time_that_ends_before_a_box_is_known():
    rng = np.random.default_rng(5)
    layers = [(rng.standard_normal((m, n)), rng.standard_normal(m)) for n, m in itertools.pairwise((3, 30, 30, 1))]
    part = rs.partition(rs.load(layers), rs.Space(3), budget=rs.Budget(seconds=0.1))
    found = rs.topology.betti(part, of="level", budget=rs.Budget(seconds=0.0))
    assert found.stopped
    assert {str(status) for status in found.status} == {"not reached"}


def bounded(part, **options):
    return int(rs.topology.betti(part, **options).summary.finding("num_bounded_pieces"))


def on_grid(layers, label, size):
    """Whether the class is no lower than others at the centres of a grid's cubes on [-2, 2]^2."""
    at = (np.arange(size) + 0.5) * 4 / size - 2
    points = np.stack(np.meshgrid(at, at, indexing="ij"), axis=-1).reshape(-1, 2)
    outputs = rs.load(layers)(points).numpy()
    scores = outputs if outputs.shape[1] > 1 else np.concatenate([0 * outputs, outputs], axis=1)
    return (scores[:, label] >= scores.max(axis=1)).reshape(size, size)


@pytest.mark.parametrize("number", [1, 3])
@pytest.mark.parametrize("seed", range(3))
def test_classes_are_those_of_a_fine_grid(number, seed):
    layers = rs.testing.default_network([2, 6, 6, number], seed)
    weight, bias = layers[-1]
    inside = rs.load(layers)(np.random.default_rng(0).uniform(-2, 2, (2000, 2))).numpy()
    layers[-1] = (weight, bias - np.median(inside, axis=0))  # classes of like size
    part = rs.partition(rs.load(layers), rs.Box(-2, 2, 2))
    for label in range(max(2, number)):
        cubes = on_grid(layers, label, 200)
        assert numbers(part, of="class", output=label)[:1] == [ndimage.label(cubes, np.ones((3, 3)))[1]]
        rim = np.zeros_like(cubes)
        rim[1:-1, 1:-1] = True
        pieces, count = ndimage.label(cubes, np.ones((3, 3)))
        assert bounded(part, of="class", output=label) == count - len(set(pieces[~rim].tolist()) - {0})


def test_bounded_pieces_whatever_the_ends():
    for domain in (rs.Box(-2, 2, 2), rs.Space(2)):
        part = rs.partition(ball(2), domain)
        for ends in ("ordinary", "borel_moore", "one_point"):
            asked = {"ends": ends}
            assert [bounded(part, of=of, **asked) for of in ("all", "sublevel", "superlevel", "level")] == [0, 1, 0, 1]
            assert bounded(part, of="level", level=-1.0, **asked) == 1  # a point
            assert bounded(part, of="level", level=-2.0, **asked) == 0  # nothing
        # Pieces that reach no end are the homology in dimension 0 that is relative to the ends.
        for of in ("sublevel", "superlevel", "level"):
            assert bounded(part, of=of) == numbers(part, of=of, ends="borel_moore")[0]
    surface = rs.level_set(ball(3), rs.Box([-2.0, -2, -2], [2.0, 2, 0]))
    assert bounded(surface) == 0
    assert bounded(rs.level_set(ball(3), rs.Box(-2, 2, 3))) == 1


def test_a_class_holds_where_it_ties():
    """|x| and 0, on a square and its middle line; and the least of |x| and |y|, which ties on both lines of a cross."""
    eye = np.eye(2)
    part = rs.partition(
        rs.load([([[1.0, 0.0], [-1.0, 0.0]], [0.0, 0.0]), ([[1.0, 1.0], [0.0, 0.0]], [0.0] * 2)]), SQUARE
    )
    assert numbers(part, of="class", output=0) == [1, 0, 0]
    assert numbers(part, of="class", output=1) == [1, 0, 0]
    sizes = rs.load([(np.concatenate([eye, -eye]), np.zeros(4)), ([[1.0, 0, 1, 0], [0, 1.0, 0, 1]], [0.0] * 2)])
    assert numbers(rs.partition(sizes, SQUARE), of="class", output=0) == [1, 0, 0]
    lower = rs.load([([[1.0, 0.0], [-1.0, 0.0]], [0.0, 0.0]), ([[-1.0, -1.0]], [0.0])])
    assert numbers(rs.partition(lower, SQUARE), of="class", output=1) == [1, 0, 0]


def test_a_class_is_one_class():
    part = rs.partition(rs.load([(np.eye(2), np.zeros(2))]), rs.Box(-1, 1, 2))
    assert numbers(part, of="class", output=1) == numbers(part, of="superlevel", output=(1, 0))
    costs = rs.partition(part.network.with_decision("smallest"), part.domain)
    assert numbers(costs, of="class", output=1) == [1, 0, 0]
    with pytest.raises(InputError, match="one class"):
        rs.topology.betti(part, of="class", output=(0, 1))
    with pytest.raises(InputError, match="output"):
        rs.topology.betti(part, of="class", output=2)


@pytest.mark.parametrize(
    ("ends", "said"),
    [("ordinary", ""), ("borel_moore", ", with open ends"), ("one_point", ", with one point for all ends")],
)
def test_what_is_counted_is_told_with_its_ends(ends, said):
    part = rs.partition(ball(2), rs.Box(-2, 2, 2))
    assert rs.topology.betti(part, of="level", level=0.25, ends=ends)["betti_number"].given == (
        f"where output 0 is equal to 0.25{said}"
    )
    assert rs.topology.betti(part, ends=ends)["betti_number"].given == f"of the domain{said}"
    found = rs.level_set(ball(3), rs.Box(-2, 2, 3))
    assert rs.topology.betti(found, ends=ends)["betti_number"].given == f"of the level set{said}"
