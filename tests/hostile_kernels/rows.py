"""One valid call of every kernel: a row draws its arguments, small and each time others."""

from dataclasses import dataclass

import numpy as np

from reluscope import _kernels

SMALL = 6
# A capsule does not keep its generator.
BITS = np.random.default_rng(0)


@dataclass(frozen=True)
class Draw:
    """Arrays at random, of a shape or of a range."""

    generator: np.random.Generator

    def size(self, least=0, most=SMALL):
        return int(self.generator.integers(least, most + 1))

    def flag(self):
        return bool(self.generator.integers(2))

    def floats(self, *shape):
        """Draw numbers among which there are zeros and ties."""
        found = self.generator.normal(size=shape)
        return np.where(self.generator.random(shape) < 0.3, np.round(found), found)

    def positive(self, *shape):
        return self.generator.random(shape) * 10.0 ** -self.generator.integers(0, 16, shape)

    def below(self, end, *shape):
        """Draw indices; there are none where there is nothing to point at."""
        return self.generator.integers(0, end, shape) if end else np.zeros((0,) * len(shape), dtype=np.int64)

    def words(self, *shape):
        return self.generator.integers(0, 2**64, shape, dtype=np.uint64)

    def flags(self, *shape):
        return self.generator.random(shape) < 0.5

    def lists(self, number, end, least=0):
        """Draw ragged lists of indices, as offsets and ids."""
        counts = self.generator.integers(least, SMALL, number) if end else np.zeros(number, dtype=np.int64)
        offsets = np.concatenate([[0], np.cumsum(counts)])
        return offsets, self.below(end, offsets[-1]).astype(np.int32)

    def ranges(self, number, end):
        """Draw ranges of a pool of indices, as starts, lengths and the pool."""
        offsets, pool = self.lists(number, end)
        return offsets[:-1].astype(np.int32), np.diff(offsets).astype(np.int32), pool


def prism(levels):
    """Return a polygon, extruded again and again: the arrays of a complex, and points of its vertices."""
    turns = np.linspace(0, 2 * np.pi, 5)[:-1]
    faces = {0: [()] * 4, 1: [(i, (i + 1) % 4) for i in range(4)], 2: [(0, 1, 2, 3)]}
    points = np.column_stack([np.cos(turns), np.sin(turns)])
    for dim in range(3, levels + 1):
        number = {k: len(faces[k]) for k in faces}
        # Bottom, top, and between them a face for each of one dimension less.
        above = {0: [()] * (2 * number[0])}
        for k in range(1, dim):
            shifted = [tuple(f + number[k - 1] for f in face) for face in faces[k]]
            first = 2 * number[k - 1]
            sides = [(b, b + number[k - 1], *(first + f for f in faces[k - 1][b])) for b in range(number[k - 1])]
            above[k] = [*faces[k], *shifted, *sides]
        first = 2 * number[dim - 1]
        above[dim] = [(b, b + number[dim - 1], *(first + f for f in faces[dim - 1][b])) for b in range(number[dim - 1])]
        faces = above
        points = np.vstack([np.column_stack([points, np.full(len(points), z)]) for z in (-1.0, 1.0)])
    size = np.array([len(faces[k]) for k in sorted(faces)])
    start, count = np.zeros((2, len(size), size.max()), dtype=np.int32)
    pool = []
    for k in range(1, len(size)):
        for f, face in enumerate(faces[k]):
            start[k, f], count[k, f] = len(pool), len(face)
            pool += face
    return (start, count, np.array(pool, dtype=np.int32), size), points


def complex_arguments(draw):
    arrays, _ = prism(draw.size(2, 4))
    return arrays


def group_equal_rows(draw):
    return _kernels.group_equal_rows, [draw.words(draw.size(), draw.size()) % np.uint64(3)]


def differences(draw):
    number, gates = draw.size(1), draw.size(1, 3)
    planes, widths = 1 + draw.below(2, gates), draw.below(3, gates)
    ends = np.cumsum(planes * widths)
    pairs = draw.below(number, 2, draw.size())
    arguments = [draw.words(number, ends[-1]), *pairs, ends - planes * widths, planes, widths, 64 * np.arange(gates)]
    return _kernels.differences, arguments


def tile_distances(draw):
    width = draw.size(1)
    units = [(draw.size(0, width - 1), 1, 1) for _ in range(draw.size())] + [(0, width, 1)]
    rows, columns = draw.words(draw.size(), width), draw.words(width, draw.size())
    return _kernels.tile_distances, [rows, columns, np.array(units), draw.size(0, 99)]


def long_distances(draw):
    width = draw.size()
    return _kernels.long_distances, [draw.words(draw.size(), width), draw.words(draw.size(), width)]


def keep_nearest(draw):
    number, most = draw.size(), draw.size(1)
    tile = draw.words(number, draw.size()) % np.uint64(5)
    kept = np.full((number, most), 99), np.full((number, most), -1)
    return _kernels.keep_nearest, [tile, draw.size(), draw.size() - 1, *kept]


def gate_arguments(draw):
    """Draw codes of ReLU units (two pieces), their groups and what the units are there."""
    codes, groups, units, points = draw.size(1), draw.size(1, 3), draw.size(1, 5), draw.size(1)
    words = draw.words(codes, 1) & np.uint64(2**units - 1)
    values = draw.floats(groups, units, 1, points)
    slot = np.sort(draw.below(groups, codes))
    return [words, 1, 1, values, draw.positive(groups, units), np.zeros((units, 1)), slot]


def search_pairs(draw):
    gate = gate_arguments(draw)
    alone = draw.words(len(gate[3]), 1)
    return _kernels.search_pairs, [*gate, np.arange(len(gate[0])), alone, 1e-9, draw.size()]


def stays(draw):
    gate = gate_arguments(draw)
    pairs = draw.below(len(gate[0]), draw.size(), 2)
    # A code that is in no group may be the second of a pair.
    alone = ~np.isin(np.arange(len(gate[0])), pairs[:, 0])
    gate[-1] = np.where(alone & draw.flags(len(alone)), -1, gate[-1])
    return _kernels.stays, [*gate, pairs, draw.floats(len(pairs), gate[3].shape[3]), 1e-9]


def gather_lists(draw):
    return _kernels.gather_lists, [*draw.ranges(draw.size(), SMALL)]


def find_cofaces(draw):
    number = draw.size()
    return _kernels.find_cofaces, [*draw.lists(draw.size(), number), number]


def reduce_columns(draw):
    number, num_rows = draw.size(), draw.size()
    return _kernels.reduce_columns, [*draw.lists(number, num_rows), num_rows, draw.flags(number)]


def unite_lists(draw):
    number, below = draw.size(), draw.size()
    return _kernels.unite_lists, [*draw.ranges(draw.size(), below), *draw.lists(below, number), number]


def extract(draw):
    arrays = complex_arguments(draw)
    return _kernels.extract, [*arrays, np.arange(draw.size(0, 1))]


def subdivide(draw):
    arrays, points = prism(draw.size(2, 4))
    size = arrays[-1]
    cuts = draw.size(0, 4)
    heights = points @ draw.floats(points.shape[1], cuts) + draw.floats(cuts)
    seams = np.full(size[-2], -1)
    error = [np.full(cuts, 1e-14), np.full(cuts, 3.0), np.full(cuts, 1e-12)]
    blur = [np.zeros(size[0]), np.zeros(size[1]), np.ones(size[0]), np.zeros(size[0])]
    return _kernels.subdivide, [*arrays, points, *blur, seams, heights, *error, draw.size(0, 50)]


def spanning_vertices(draw):
    points = draw.floats(draw.size(1), 2)
    regions = draw.lists(draw.size(), len(points), least=1)
    error = [draw.positive(len(points)) for _ in range(3)]
    return _kernels.spanning_vertices, [*regions, points, *error, 32.0, 1e-6]


def combine_rows(draw):
    number = draw.size(1)
    derived = draw.below(number, draw.size())
    offsets, ids = draw.lists(len(derived), number)
    return _kernels.combine_rows, [draw.floats(number, draw.size()), derived, offsets, ids, draw.floats(len(ids))]


def interpolate(draw):
    number = draw.size(1)
    tail, head = draw.below(number, 2, draw.size(0, number))
    return _kernels.interpolate, [draw.floats(number, draw.size()), tail, head, draw.positive(len(tail))]


def interpolate_bent(draw):
    number, units, width = draw.size(1), draw.size(), draw.size()
    tail, head = draw.below(number, 2, draw.size(0, number))
    arrays = [draw.floats(number, width), draw.floats(number, units), draw.floats(width, units)]
    return _kernels.interpolate_bent, [*arrays, tail, head, draw.positive(len(tail))]


def pack_bits(draw):
    return _kernels.pack_bits, [draw.below(256, draw.size(), 20 * draw.size()).astype(np.uint8), draw.size(0, 7)]


def steepest(draw):
    number = draw.size(1)
    ends = draw.below(number, 2 * draw.size()).astype(np.int32)
    return _kernels.steepest, [draw.floats(number, draw.size()), draw.floats(number, draw.size(1)), ends]


def column_ranges(draw):
    return _kernels.column_ranges, [draw.floats(draw.size(), draw.size())]


def corner_arguments(draw, cells):
    offsets = draw.lists(cells, 1, 1)[0]
    shape = int(offsets[-1]), draw.size()
    return [draw.floats(*shape), draw.positive(*shape), offsets]


def cell_ranges(draw):
    return _kernels.cell_ranges, corner_arguments(draw, draw.size())


def relax(draw):
    shape, kinks = (draw.size(), draw.size()), draw.size()
    low = draw.floats(*shape)
    breakpoints = np.sort(draw.floats(kinks, shape[1]), axis=0)
    pieces = [draw.floats(kinks + 1, shape[1]) for _ in range(2)]
    return _kernels.relax, [low, low + draw.positive(*shape), breakpoints, *pieces, 1e-12]


def between_lines(draw):
    cells = draw.size()
    arguments = corner_arguments(draw, cells)
    lines = [draw.floats(cells, arguments[0].shape[1]) for _ in range(4)]
    return _kernels.between_lines, [*arguments, *lines, 1e-12]


def settle_at(draw):
    number, units = draw.size(1), draw.size(1)
    chosen = draw.below(units, draw.size())
    heights = draw.floats(number, len(chosen))
    return _kernels.settle_at, [draw.floats(number, units), chosen, draw.floats(len(chosen)), heights, draw.flag()]


def are_rows_equal(draw):
    number, pairs = draw.size(1), draw.size()
    return _kernels.are_rows_equal, [draw.words(number, draw.size(1)), *draw.below(number, 2, pairs)]


def pieces_in_use(draw):
    kind = [np.uint8, np.uint16][draw.size(0, 1)]
    pieces = draw.size(1, 9)
    return _kernels.pieces_in_use, [draw.below(pieces, draw.size(), draw.size()).astype(kind), pieces]


def count_below(draw):
    number, width = draw.size(1), draw.size(1)
    parent, units = draw.below(number, draw.size()), draw.below(width, draw.size())
    kind = [np.uint8, np.uint16][draw.size(0, 1)]
    pieces, constants = draw.below(9, number, width).astype(kind), draw.below(9, width).astype(kind)
    return _kernels.count_below, [
        pieces,
        constants,
        parent,
        units,
        draw.flags(len(parent), len(units) + draw.size(0, 1)),
    ]


def find_rivals(draw):
    pre = draw.floats(draw.size(1), draw.size(), draw.size())
    return _kernels.find_rivals, [pre, draw.positive(*pre.shape[1:]), draw.flag()]


def settle(draw):
    pre = draw.floats(draw.size(), draw.size(1), draw.size(2))
    number = draw.size()
    pairs = np.column_stack([draw.below(pre.shape[1], number), draw.below(pre.shape[2], number, 2)])
    return _kernels.settle, [pre, pairs, draw.floats(len(pre), number)]


def winners(draw):
    pre = draw.floats(draw.size(1), draw.size(1), draw.size())
    units = draw.below(pre.shape[1], draw.size())
    return _kernels.winners, [pre, units, *draw.lists(draw.size(), len(pre), least=1)]


def polygons(draw):
    """Draw points of a line or a plane, and which of them are corners of each region."""
    vertices = draw.floats(draw.size(1), draw.size(1, 2))
    return vertices, *draw.lists(draw.size(), len(vertices), least=1)


def ordered_corners(draw):
    vertices, offsets, ids = polygons(draw)
    return _kernels.ordered_corners, [vertices, offsets, ids, draw.floats(len(offsets) - 1, vertices.shape[1])]


def measures(draw):
    return _kernels.measures, [*polygons(draw)]


def find_chords(draw):
    vertices, *regions = polygons(draw)
    return _kernels.find_chords, [draw.floats(len(vertices), draw.size(1)), vertices, *regions, 1e-9]


def find_flat_facets(draw):
    outputs, witness = draw.floats(draw.size(1), 3), draw.floats(draw.size(1), 3)
    left, right = draw.below(len(witness), 2, draw.size())
    return _kernels.find_flat_facets, [outputs, witness, left, right, draw.below(len(outputs), len(left), 2), 1e-9]


def winning_parts(draw):
    vertices, offsets, ids = polygons(draw)
    regions = draw.below(len(offsets) - 1, draw.size())
    return _kernels.winning_parts, [draw.floats(len(vertices), draw.size()), vertices, offsets, ids, regions, 1e-9]


def join_facets(draw):
    number = draw.size()
    return _kernels.join_facets, [draw.words(number, 2) % np.uint64(3), draw.below(SMALL, number), draw.flags(number)]


def middles(draw):
    vertices = draw.floats(draw.size(), draw.size(1))
    return _kernels.middles, [draw.lists(draw.size(), 0)[0], vertices]


def extents(draw):
    points = draw.floats(draw.size(1), draw.size())
    offsets, ids = draw.lists(draw.size(1), len(points))
    return _kernels.extents, [points, offsets, ids, draw.below(len(offsets) - 1, draw.size())]


def nearest_in_place(draw):
    number = draw.size()
    seams, heights = draw.below(2, number), draw.positive(number)
    order = np.lexsort((heights, seams))
    arrays = [seams, draw.floats(number, 3), draw.positive(number), heights, order]
    return _kernels.nearest_in_place, [*arrays, 1e-9]


def cut_cells(draw):
    """Draw functions that cut a box, or a pyramid, whose tip is on more facets than it has dimensions."""
    dim = draw.size(2, 4)
    corners = np.array(np.meshgrid(*[[-1.0, 1.0]] * dim)).reshape(dim, -1).T
    sides = np.concatenate([corners > 0, corners < 0], axis=1)
    if draw.flag():
        top, bottom = sides[:, dim - 1], sides[:, -1]
        corners, sides = corners[bottom], sides[bottom]
        sides[:, dim - 1] = False
        tip = np.ones(2 * dim, dtype=bool)
        tip[[dim - 1, -1]] = False
        corners, sides = np.vstack([corners, np.eye(dim)[-1]]), np.vstack([sides, tip])
        del top, bottom
    slots = np.flatnonzero(sides.any(axis=0))
    tight = (sides[:, slots] @ 2 ** np.arange(len(slots))).astype(np.uint64)[:, None]
    facets, units, levels = len(slots), draw.size(0, 4), draw.size(1, 2)
    cells = [
        np.array([0, len(corners)]),
        np.column_stack([corners, np.ones(len(corners))]),
        np.zeros((len(corners), dim + 1)),
        tight,
        np.array([0, facets]),
        np.arange(facets),
        np.ones(facets, dtype=np.uint8),
        draw.words(facets, 2),
        draw.words(1, 2),
    ]
    maps = draw.floats(1, units, dim + 1)
    breakpoints = np.sort(draw.floats(levels, units), axis=0)
    words = [draw.words(units, levels + 1, 2), draw.words(units, levels, 2)]
    rest = [1e-15, np.full(dim + 1, 1e-12), 1e-13, np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64), 99, 999]
    rest += [draw.size(1), draw.flag(), draw.flag(), draw.floats(dim + 1), draw.size(1, 2)]
    return _kernels.cut_cells, [*cells, maps, np.zeros_like(maps), breakpoints, *words, *rest]


def maps_behind(draw):
    number, units, width, cells, outputs, pieces = (draw.size(1) for _ in range(6))
    maps = draw.floats(number, units, width)
    of_cells = draw.below(number, cells), draw.below(pieces, cells, units).astype(np.uint16)
    tables = draw.floats(pieces, units), draw.floats(pieces, units), draw.floats(units, outputs), draw.floats(outputs)
    return _kernels.maps_behind, [maps, draw.positive(*maps.shape), *of_cells, *tables, 1e-15, draw.size(1, 2)]


def shortest_vector(draw):
    rows = draw.floats(draw.size(), draw.size(1))
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-3)
    height, dim = rows.shape
    bounds = -1 - draw.positive(dim), 1 + draw.positive(dim)
    return _kernels.shortest_vector, [rows, draw.floats(height), draw.size(0, height), *bounds, np.inf, 1e-9]


def recession(draw):
    rows = draw.floats(draw.size(), draw.size(1))
    offsets = np.sort(draw.below(len(rows) + 1, draw.size(1)))
    return _kernels.recession, [offsets, rows, draw.positive(*rows.shape), draw.size(1, 2)]


def dense(draw):
    """Draw layers, boxes, and what is known of their units."""
    sizes = np.array([draw.size(1) for _ in range(draw.size(2, 4))])
    units, number, kinks = int(sizes[1:-1].sum()), draw.size(), draw.size(0, 2)
    weights = draw.floats(int((sizes[1:] * sizes[:-1]).sum())), draw.floats(int(sizes[1:].sum()))
    gates = np.sort(draw.floats(kinks, units), axis=0), draw.floats(kinks + 1, units), draw.floats(kinks + 1, units)
    boxes = draw.floats(number, int(sizes[0])), draw.positive(number, int(sizes[0]))
    return [sizes, *weights, *gates, *boxes], units, number, int(sizes[-1])


def forms_on_boxes(draw):
    network, units, _, _ = dense(draw)
    known = -100 * draw.positive(units), 100 * draw.positive(units)
    return _kernels.forms_on_boxes, [*network, *known, draw.flag(), draw.size(1, 2)]


def below_on_boxes(draw):
    network, units, number, outputs = dense(draw)
    seen = -draw.positive(number, units), draw.positive(number, units), draw.positive(number, units + outputs)
    return _kernels.below_on_boxes, [*network, *seen, draw.floats(draw.size(), outputs), draw.size(1, 2)]


def near_boxes(draw):
    network, units, number, outputs = dense(draw)
    lower = network[-2]
    network[-1] = lower + draw.positive(*lower.shape)
    seen = -draw.positive(number, units), draw.positive(number, units)
    asked = draw.floats(lower.shape[1]), draw.floats(draw.size(), outputs), draw.size(0, 2)
    lengths = np.array([2.0, 1.9, 0.1])
    return _kernels.near_boxes, [*network, draw.positive(number), *seen, *asked, lengths, draw.size(0, 20), 2, 8]


def dot(draw):
    return _kernels.dot, [*draw.floats(2, draw.size(0, 20))]


def frame(draw):
    """Draw a room of boxes or cones, and what it says of forms: entries of z, of y, and those of slack."""
    columns, rows = draw.size(1), draw.size(0, 3)
    is_cone = draw.flag()
    generators = draw.floats(rows, columns)
    room = _kernels.Room(generators, np.full(columns, -1.0), np.full(columns, 1.0), is_cone, 1e-12, 8 if rows else 0)
    return room, rows or columns, columns, columns if is_cone else 0


def new_room(draw):
    columns, rows = draw.size(1), draw.size()
    arrays = [draw.floats(rows, columns), np.full(columns, -1.0), np.full(columns, 1.0)]
    return _kernels.Room, [*arrays, draw.flag(), 1e-12, draw.size()]


def question(draw):
    """Draw a room, and a form and rows of a cell in it."""
    room, size, columns, slack = frame(draw)
    number = draw.size()
    form = [draw.floats(size), 1e-14, draw.positive(slack), 1e-12]
    rows = [draw.floats(number, size), draw.positive(number), draw.positive(number, slack)]
    y = draw.floats(columns) / 9
    return room, [*form, *rows, y, room.image(y)]


def find_positive(draw):
    room, asked = question(draw)
    return room.find_positive, asked


def find_among_corners(draw):
    room, asked = question(draw)
    return room.find_among_corners, asked


def inner_point(draw):
    room, asked = question(draw)
    return room.inner_point, [*asked, draw.floats(len(asked[-2])), 0.5]


def image(draw):
    room, _, columns, _ = frame(draw)
    return room.image, [draw.floats(columns)]


def largest(draw):
    room, size, _, _ = frame(draw)
    return room.largest, [draw.floats(size)]


def tree_arguments(draw):
    room, size, columns, slack = frame(draw)
    number, forms = draw.size(0, 3), draw.size(0, 5)
    cell = [draw.floats(number, size), draw.positive(number), draw.positive(number, slack), draw.floats(columns) / 9]
    arrays = [draw.floats(forms, size), draw.positive(forms), draw.positive(forms, slack), draw.positive(forms)]
    return [room, *cell, *arrays, np.zeros(forms, dtype=bool), np.zeros(forms, dtype=bool)]


def new_tree(draw):
    return _kernels.SignTree, tree_arguments(draw)


def take(draw):
    arguments = tree_arguments(draw)
    return _kernels.SignTree(*arguments).take, [arguments[0], draw.size(0, 40), 1000]


def read_room(draw):
    """Read a room that has answered, and ask it again: what is in it is used."""
    room, size, columns, slack = frame(draw)
    question = [draw.floats(size), 1e-12, draw.positive(slack), 1e-10]
    question += [draw.floats(2, size), draw.positive(2), draw.positive(2, slack), np.zeros(columns), np.zeros(size)]
    room.find_among_corners(*question)

    def read(state):
        again = _kernels.Room.__new__(_kernels.Room)
        again.__setstate__(state)
        return again.find_among_corners(*question), again.find_positive(*question), again.__getstate__()

    return read, [room.__getstate__()]


def read_tree(draw):
    """Read a search that has begun, and go on with it."""
    arguments = tree_arguments(draw)
    tree = _kernels.SignTree(*arguments)
    tree.take(arguments[0], draw.size(0, 5), 50)

    def read(state):
        again = _kernels.SignTree.__new__(_kernels.SignTree)
        again.__setstate__(state)
        return again.num_open, again.take(arguments[0], 40, 1000), again.num_open, again.__getstate__()

    return read, [tree.__getstate__()]


def room_state(draw):
    return frame(draw)[0].__getstate__, []


def tree_state(draw):
    return _kernels.SignTree(*tree_arguments(draw)).__getstate__, []


def chain(draw):
    """Draw a body, how much room its rows leave, and a chain that begins at the origin."""
    dim, height = draw.size(1), draw.size(1, 20)
    room = draw.positive(height)
    return np.vstack([-np.ones(height), draw.floats(dim, height)])[:dim], room, np.zeros(dim), room.copy()


def walk(draw):
    columns, _, *where = chain(draw)
    return _kernels.walk, [columns, *where, draw.size(0, 500), BITS.bit_generator.capsule]


def refresh(draw):
    return _kernels.refresh, [*chain(draw)]


def drawn_polygons(draw):
    """Draw triangles that reach into a small picture, some of them beyond it."""
    number = draw.size(3)
    points = 12.0 * draw.floats(number, 3)
    ids = draw.below(number, 3 * draw.size()).astype(np.int32)
    return [points, np.arange(0, len(ids) + 1, 3), ids]


def nearest_polygons(draw):
    return _kernels.nearest_polygons, [*drawn_polygons(draw), draw.size(0, 20), draw.size(0, 20), draw.size(1, 3)]


def blended_polygons(draw):
    arguments = drawn_polygons(draw)
    colors = draw.generator.random((len(arguments[1]) - 1, 4))
    return _kernels.blended_polygons, [*arguments, colors, draw.size(0, 20), draw.size(0, 20), draw.size(1, 3)]


def visible_parts(draw):
    nearest, planes = _kernels.nearest_polygons(*drawn_polygons(draw), draw.size(0, 20), draw.size(0, 20), 1)
    ends = 12.0 * draw.floats(2, draw.size(), 3)
    return _kernels.visible_parts, [*ends, nearest, planes, 1e-9]


METHODS = {
    "Room.__init__": new_room,
    "Room.find_positive": find_positive,
    "Room.find_among_corners": find_among_corners,
    "Room.inner_point": inner_point,
    "Room.image": image,
    "Room.largest": largest,
    "Room.__getstate__": room_state,
    "Room.__setstate__": read_room,
    "SignTree.__init__": new_tree,
    "SignTree.take": take,
    "SignTree.__getstate__": tree_state,
    "SignTree.__setstate__": read_tree,
}
FUNCTIONS = (
    group_equal_rows, differences, tile_distances, long_distances, keep_nearest, search_pairs, stays, gather_lists,
    find_cofaces, reduce_columns, unite_lists, extract, subdivide, spanning_vertices, combine_rows,
    interpolate, interpolate_bent, steepest, column_ranges, cell_ranges, pack_bits,
    relax, between_lines, settle_at, count_below,
    find_rivals, settle, winners, ordered_corners, measures, find_chords, find_flat_facets, winning_parts, join_facets,
    middles, extents, nearest_in_place, cut_cells, maps_behind, are_rows_equal, pieces_in_use, shortest_vector,
    recession, walk, refresh, forms_on_boxes, below_on_boxes, near_boxes, dot, nearest_polygons, blended_polygons,
    visible_parts,
)  # fmt: skip
ROWS = {row.__name__: row for row in FUNCTIONS} | METHODS
