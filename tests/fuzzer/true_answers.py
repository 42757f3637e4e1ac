"""Answers to questions about a network on a domain, in fractions, from the cells of the oracle.

A set of points with outputs in a polyhedron is a union of one polyhedron for each cell. Volumes are added up, maxima
are taken at vertices, distances by projection to every face, and the homology of a union of convex sets is that of its
nerve.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations

from fuzzer import true_cones as cones
from fuzzer.true_cones import RationalCone, Vector
from fuzzer.true_layers import Dense, Form, Layer, TrueLargest, TruePointwise, combine, difference
from fuzzer.truth import Cell, TooLargeError, Truth

# A nerve of more sets than this is not built, by the dimension of the domain.
MOST_SETS = {1: 60, 2: 16, 3: 11}


def value_at(truth: Truth, point: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Return the outputs at a point of the domain."""
    cell = truth.regions[truth.containing(point)[0]]
    return tuple(_at(form, point) for form in cell.outputs)


def _at(form: Form, point: Sequence[Fraction]) -> Fraction:
    return cones.dot(form[:-1], point) + form[-1]


# -- sets of points by their outputs ---------------------------------------------------------------------------------


def target_rows(
    cell: Cell, normals: Sequence[Sequence[Fraction]], offsets: Sequence[Fraction]
) -> list[tuple[Fraction, ...]]:
    """Return the forms ``b - A y`` over a cell, which are not negative where outputs are in the target."""
    return [
        combine([-entry for entry in normal], cell.outputs, offset)
        for normal, offset in zip(normals, offsets, strict=True)
    ]


def part_above(cone: RationalCone, forms: Sequence[Form]) -> RationalCone:
    """Return the part of a cone where no form is negative."""
    for form in forms:
        cone = cones.above(cone, cones.integers(form)) if any(form) else cone
    return cone


def parts_of(truth: Truth, normals: Sequence[Sequence[Fraction]], offsets: Sequence[Fraction]) -> list[RationalCone]:
    """Return the parts of the cells, none empty, whose outputs are in a target."""
    parts = [part_above(cell.cone, target_rows(cell, normals, offsets)) for cell in truth.regions]
    return [part for part in parts if not part.is_empty]


def total_volume(parts: Sequence[RationalCone], dimension: int) -> Fraction:
    """Return the volume of parts that do not overlap."""
    return sum((cones.volume(part) for part in parts if part.rank == dimension + 1), Fraction(0))


def largest(truth: Truth, direction: Sequence[Fraction]) -> Fraction:
    """Return the largest value of a linear function of the outputs on a bounded domain."""
    found = []
    for cell in truth.regions:
        form = combine(direction, cell.outputs, Fraction(0))
        found += [_at(form, vertex) for vertex in cell.cone.vertices]
    return max(found)


def is_output(truth: Truth, output: Sequence[Fraction]) -> bool:
    """Tell whether some point of the domain has exactly these outputs."""
    for cell in truth.regions:
        part = cell.cone
        for form, value in zip(cell.outputs, output, strict=True):
            shifted = (*form[:-1], form[-1] - value)
            part = cones.on(part, cones.integers(shifted)) if any(shifted) else part
        if not part.is_empty:
            return True
    return False


def union_volume(parts: Sequence[RationalCone]) -> Fraction:
    """Return the volume of a union of bounded polyhedra of full dimension."""
    total = Fraction(0)
    done: list[RationalCone] = []
    for part in parts:
        rest = [part]
        for other in done:
            rest = [piece for one in rest for piece in _without(one, other)]
        total += sum((cones.volume(piece) for piece in rest), Fraction(0))
        done.append(part)
    return total


def _without(cone: RationalCone, other: RationalCone) -> Iterator[RationalCone]:
    """Yield the solid pieces of a cone outside another."""
    for row, _ in cones.facets(other):
        outside = cones.below(cone, row)
        if not outside.is_empty and outside.rank == cone.length:
            yield outside
        cone = cones.above(cone, row)
        if cone.is_empty or cone.rank < cone.length:
            return


def image_volume(truth: Truth) -> Fraction:
    """Return the volume of all outputs; for one output, or as many outputs as dimensions.

    Raises TooLargeError for other numbers of outputs.
    """
    dimension, outputs = truth.setting.dimension, len(truth.regions[0].outputs)
    if outputs == 1:
        return largest(truth, [Fraction(1)]) + largest(truth, [Fraction(-1)])
    if outputs > dimension:
        return Fraction(0)
    if outputs < dimension:
        raise TooLargeError
    images = []
    for cell in truth.regions:
        matrix = [list(form[:-1]) for form in cell.outputs]
        if cones.determinant(matrix):
            inverse = _inverse(matrix)
            # x = M^-1 (y - b): a row r . (x, 1) becomes (M^-T r) . y + r_w - (M^-T r) . b.
            rows = []
            for row, _ in cones.facets(cell.cone):
                normal = [cones.dot(row[:-1], [line[j] for line in inverse]) for j in range(dimension)]
                rows.append((*normal, row[-1] - cones.dot(normal, [form[-1] for form in cell.outputs])))
            images.append(cones.polyhedron(dimension, rows))
    return union_volume(images)


def _inverse(matrix: list[list[Fraction]]) -> list[list[Fraction]]:
    size = len(matrix)
    rows = [[*row, *(Fraction(int(i == j)) for j in range(size))] for i, row in enumerate(matrix)]
    for column in range(size):
        pivot = next(i for i in range(column, size) if rows[i][column])
        rows[column], rows[pivot] = rows[pivot], rows[column]
        head = rows[column] = [entry / rows[column][column] for entry in rows[column]]
        for i in range(size):
            if i != column and rows[i][column]:
                rows[i] = [a - rows[i][column] * b for a, b in zip(rows[i], head, strict=True)]
    return [row[size:] for row in rows]


# -- distances -------------------------------------------------------------------------------------------------------


def compared(cell: Cell) -> tuple[Form, ...]:
    """Return the outputs of a cell, with zero before a single one: the largest is the class."""
    forms = cell.outputs
    zeros: tuple[Form, ...] = tuple(difference(form, form) for form in forms if len(forms) == 1)
    return zeros + forms


def class_at(truth: Truth, point: Sequence[Fraction]) -> tuple[int, bool]:
    """Return the class of a point, the lowest one at a tie, and whether another one ties."""
    values = [_at(form, point) for form in compared(truth.regions[truth.containing(point)[0]])]
    return values.index(max(values)), values.count(max(values)) > 1


def class_part(cell: Cell, label: int) -> RationalCone | None:
    """Return the closure of the points of a cell of a class, None if it has no interior."""
    forms = compared(cell)
    part = cell.cone
    for other, form in enumerate(forms):
        lead = difference(forms[label], form)
        if not any(lead):
            if other < label:
                return None
            continue
        part = cones.above(part, cones.integers(lead))
        if part.is_empty or part.rank < part.length:
            return None
    return part


def changed_parts(cells: Sequence[Cell], label: int) -> list[RationalCone]:
    """Return where cells have another class than a given one: closed sets with interior points."""
    others = [other for other in range(len(compared(cells[0]))) if other != label]
    parts = [class_part(cell, other) for cell in cells for other in others]
    return [part for part in parts if part is not None]


def tied_parts(cell: Cell, label: int) -> list[RationalCone]:
    """Return where in a closed cell other classes are not below a given one: closed sets, none empty."""
    forms = compared(cell)
    parts = [part_above(cell.cone, [difference(form, forms[label])]) for form in forms if form != forms[label]]
    return [part for part in parts if not part.is_empty]


def distance_power(cone: RationalCone, point: Sequence[Fraction], norm: str) -> Fraction:
    """Return the distance of a point to a polyhedron of inequalities in l1 or linf, its square in l2."""
    rows = [row for row, _ in cones.facets(cone)] if cone.rank == cone.length else list(cone.rows[1:])
    if all(cones.dot(row[:-1], point) + row[-1] >= 0 for row in rows):
        return Fraction(0)
    return _square_distance(rows, point) if norm == "l2" else _polyhedral_distance(rows, point, norm)


def _square_distance(rows: Sequence[Vector], point: Sequence[Fraction]) -> Fraction:
    """Return the least square of the distances of projections to flats of facets that lie in the polyhedron."""
    found: list[Fraction] = []
    for number in range(1, len(point) + 1):
        for chosen in combinations(rows, number):
            gram = [[Fraction(cones.dot(a[:-1], b[:-1])) for b in chosen] for a in chosen]
            if not cones.determinant(gram):
                continue
            gaps = [-(cones.dot(row[:-1], point) + row[-1]) for row in chosen]
            weights = [cones.dot(line, gaps) for line in _inverse(gram)]
            step = [cones.dot(weights, [row[j] for row in chosen]) for j in range(len(point))]
            near = [a + b for a, b in zip(point, step, strict=True)]
            if all(cones.dot(row[:-1], near) + row[-1] >= 0 for row in rows):
                found.append(Fraction(cones.dot(step, step)))
    return min(found)


def _polyhedral_distance(rows: Sequence[Vector], point: Sequence[Fraction], norm: str) -> Fraction:
    """Return the least t of the points (x, t) with x in the polyhedron and at most t away."""
    n = len(point)
    lifted: list[tuple[Fraction | int, ...]] = [(*row[:-1], 0, row[-1]) for row in rows]
    if norm == "linf":
        signs = [tuple(sign * (i == j) for j in range(n)) for i in range(n) for sign in (1, -1)]
    else:
        signs = [tuple(1 - 2 * (bits >> j & 1) for j in range(n)) for bits in range(2**n)]
    lifted += [(*(-entry for entry in sign), 1, cones.dot(sign, point)) for sign in signs]
    cone = cones.polyhedron(n + 1, lifted)  # pyright: ignore[reportArgumentType]
    return min(vertex[-1] for vertex in cone.vertices)


def facet_distance(cell: Cell, point: Sequence[Fraction], norm: str) -> Fraction | None:
    """Return the distance of an interior point to the hyperplanes of the facets, its square in l2; None without any."""
    found = []
    for row, _ in cones.facets(cell.cone):
        value = cones.dot(row[:-1], point) + row[-1]
        if norm == "l2":
            found.append(Fraction(value * value) / cones.dot(row[:-1], row[:-1]))
        else:
            sizes = [abs(entry) for entry in row[:-1]]
            found.append(Fraction(value) / (max(sizes) if norm == "l1" else sum(sizes)))
    return min(found, default=None)


# -- loops -----------------------------------------------------------------------------------------------------------


def loop_layers(
    layers: Sequence[Layer],
    matrix: Sequence[Form],
    control: Sequence[Form],
    shift: Form,
    steps: int,
) -> list[Layer]:
    """Return layers whose outputs are the state after some steps: the state goes through every gate unchanged."""
    n = len(shift)
    one = [[Fraction(int(i == j)) for j in range(n)] for i in range(n)]
    found: list[Layer] = []
    for _ in range(steps):
        is_first = True
        for layer in layers:
            if isinstance(layer, Dense):
                width = len(layer.weight[0])
                # The state is behind the values, at first it is the values.
                blank = (Fraction(0),) * n
                rows = [row if is_first else (*row, *blank) for row in layer.weight]
                kept = [tuple(line) if is_first else (*(Fraction(0),) * width, *line) for line in one]
                found.append(Dense((*map(tuple, rows), *kept), (*layer.bias, *blank)))
                is_first = False
            elif isinstance(layer, TruePointwise):
                same = ((Fraction(1), Fraction(0)),)
                found.append(TruePointwise((*layer.breakpoints, *((),) * n), (*layer.pieces, *(same,) * n)))
            elif isinstance(layer, TrueLargest):
                behind = 1 + max(entry for group in layer.groups for entry in group if entry is not None)
                width = _width_before(found) - n
                assert behind <= width
                found.append(TrueLargest((*layer.groups, *((width + i,) for i in range(n)))))
            else:
                raise TooLargeError
        found.append(Dense(tuple((*b, *a) for a, b in zip(matrix, control, strict=True)), shift))
    return found


def _width_before(layers: Sequence[Layer]) -> int:
    last = layers[-1]
    if isinstance(last, Dense):
        return len(last.bias)
    return len(last.groups if isinstance(last, TrueLargest) else last.breakpoints)  # pyright: ignore


# -- homology --------------------------------------------------------------------------------------------------------


# -- lengths ---------------------------------------------------------------------------------------------------------
