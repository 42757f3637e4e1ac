"""What native/ is compiled to: loops over cells, faces and codes, arrays in and arrays out.

Arrays that are read are converted where that is needed (to C order, to the type in the comment beside each function in
native/kernels); those that are written have to be as they are kept there. Shapes that do not belong together and
indices out of range are a ValueError. The interpreter's lock is released meanwhile.
"""

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

# codes
def group_equal_rows(words: Array) -> tuple[Array, Array, Array]: ...
def are_rows_equal(words: Array, first: Array, second: Array) -> Array: ...
def differences(
    words: Array, first: Array, second: Array, starts: Array, planes: Array, widths: Array, units: Array
) -> tuple[Array, Array]: ...
def tile_distances(rows: Array, columns: Array, units: Array, stop: int) -> Array: ...
def long_distances(rows: Array, columns: Array) -> Array: ...
def keep_nearest(tile: Array, first_column: int, first_row: int, distances: Array, rows: Array) -> None: ...

# complexes and their subdivision
def gather_lists(start: Array, count: Array, pool: Array) -> tuple[Array, Array]: ...
def find_cofaces(offsets: Array, ids: Array, num_facets: int) -> tuple[Array, Array]: ...
def reduce_columns(offsets: Array, ids: Array, num_rows: int, is_cleared: Array) -> Array: ...
def unite_lists(
    start: Array, count: Array, pool: Array, offsets: Array, ids: Array, num_vertices: int
) -> tuple[Array, Array]: ...
def extract(
    start: Array, count: Array, pool: Array, size: Array, cells: Array
) -> tuple[Array, Array, Array, Array, Array, Array, Array]: ...
def subdivide(
    start: Array,
    count: Array,
    pool: Array,
    size: Array,
    points: Array,
    blur: Array,
    skew: Array,
    factor: Array,
    drift: Array,
    seams: Array,
    heights: Array,
    rounding: Array,
    slopes: Array,
    floor: Array,
    limit: int,
) -> tuple[Any, ...]: ...
def spanning_vertices(
    offsets: Array,
    ids: Array,
    points: Array,
    kinks: Array,
    factor: Array,
    drift: Array,
    most_factor: float,
    most_drift: float,
) -> tuple[Any, ...]: ...
def combine_rows(rows: Array, derived: Array, offsets: Array, ids: Array, weights: Array) -> None: ...
def interpolate(rows: Array, tail: Array, head: Array, share: Array) -> None: ...
def interpolate_bent(rows: Array, values: Array, weight: Array, tail: Array, head: Array, share: Array) -> None: ...
def steepest(heights: Array, points: Array, ends: Array) -> Array: ...
def pack_bits(pieces: Array, plane: int) -> Array: ...
def column_ranges(heights: Array) -> tuple[Array, Array]: ...
def cell_ranges(centers: Array, radii: Array, offsets: Array) -> tuple[Array, Array]: ...
def relax(
    low: Array, high: Array, breakpoints: Array, slopes: Array, intercepts: Array, rounding: float
) -> tuple[Array, Array, Array, Array, Array, Array]: ...
def between_lines(
    centers: Array,
    radii: Array,
    offsets: Array,
    below_slopes: Array,
    below_starts: Array,
    above_slopes: Array,
    above_starts: Array,
    rounding: float,
) -> tuple[Array, Array]: ...

# cells of partitions
def settle_at(pre: Array, units: Array, levels: Array, heights: Array, is_single: bool) -> None: ...
def pieces_in_use(pieces: Array, num_pieces: int) -> Array: ...
def count_below(pieces: Array, constants: Array, parent: Array, units: Array, positive: Array) -> Array: ...
def find_rivals(pre: Array, margin: Array, ties: bool) -> tuple[Array, Array, Array, Array, Array]: ...
def settle(pre: Array, pairs: Array, heights: Array) -> None: ...
def winners(pre: Array, units: Array, offsets: Array, ids: Array) -> Array: ...
def ordered_corners(vertices: Array, offsets: Array, ids: Array, witnesses: Array) -> Array: ...
def measures(vertices: Array, offsets: Array, ids: Array) -> Array: ...
def find_chords(
    outputs: Array, vertices: Array, offsets: Array, ids: Array, error: float
) -> tuple[Array, Array, Array]: ...
def find_flat_facets(
    outputs: Array, witness: Array, left: Array, right: Array, ends: Array, error: float
) -> tuple[Array, Array]: ...
def winning_parts(
    outputs: Array, vertices: Array, offsets: Array, ids: Array, regions: Array, error: float
) -> tuple[Array, Array, Array, Array]: ...
def join_facets(keys: Array, regions: Array, on_walls: Array) -> tuple[Array, Array, int]: ...
def middles(offsets: Array, vertices: Array) -> tuple[Array, Array]: ...
def extents(points: Array, offsets: Array, ids: Array, faces: Array) -> tuple[Array, Array]: ...
def nearest_in_place(
    seams: Array, centers: Array, sizes: Array, heights: Array, order: Array, coincident: float
) -> Array: ...

# polytopes one by one
def cut_cells(
    vertex_offsets: Array,
    vertices: Array,
    vertex_errors: Array,
    tight: Array,
    facet_offsets: Array,
    slots: Array,
    kinds: Array,
    keys: Array,
    flat: Array,
    maps: Array,
    errors: Array,
    breakpoints: Array,
    piece_words: Array,
    zero_words: Array,
    rounding: float,
    resolution: Array,
    relative: float,
    map_of_cell: Array,
    first_units: Array,
    max_parts: int,
    max_vertices: int,
    max_units: int,
    is_last: bool,
    keeps_vertices: bool,
    corner_scale: Array,
    num_threads: int,
) -> tuple[
    tuple[Array, ...], Array, Array, Array, Array, Array, Array, Array, Array, Array, Array, Array, int, int
]: ...
def maps_behind(
    maps: Array,
    errors: Array,
    cell_of: Array,
    pieces: Array,
    slopes: Array,
    intercepts: Array,
    weights: Array,
    constants: Array,
    rounding: float,
    num_threads: int,
) -> tuple[Array, Array]: ...

# pairs of codes on one hyperplane
def search_pairs(
    words: Array,
    num_planes: int,
    width: int,
    values: Array,
    noise: Array,
    thresholds: Array,
    slot: Array,
    members: Array,
    alone: Array,
    proportional: float,
    begin: int,
) -> tuple[Array, Array, Array, int]: ...
def stays(
    words: Array,
    num_planes: int,
    width: int,
    values: Array,
    noise: Array,
    thresholds: Array,
    slot: Array,
    pairs: Array,
    lines: Array,
    proportional: float,
) -> Array: ...

# points of polyhedra
def shortest_vector(
    rows: Array, slack: Array, num_equations: int, lower: Array, upper: Array, bound: float, tolerance: float
) -> tuple[int, Array, Array, Array, Array]: ...
def recession(offsets: Array, rows: Array, errors: Array, num_threads: int) -> tuple[Array, Array]: ...
def walk(columns: Array, place: Array, slack: Array, steps: int, bits: Any) -> int: ...
def refresh(columns: Array, room: Array, place: Array, slack: Array) -> None: ...

# linear programs on cells
def dot(a: Array, b: Array) -> float: ...

# pictures
def nearest_polygons(
    points: Array, offsets: Array, ids: Array, height: int, width: int, num_threads: int
) -> tuple[Array, Array]: ...
def blended_polygons(
    points: Array, offsets: Array, ids: Array, colors: Array, height: int, width: int, num_threads: int
) -> Array: ...
def visible_parts(starts: Array, ends: Array, nearest: Array, planes: Array, slack: float) -> tuple[Array, Array]: ...

class Room:
    out_y: Array
    out_z: Array
    multipliers: Array
    def __init__(
        self, generators: Array, lower: Array, upper: Array, is_cone: bool, resolution: float, num_corners: int
    ) -> None: ...
    def find_positive(
        self,
        coefficients: Array,
        noise: float,
        slack: Array,
        threshold: float,
        rows: Array,
        row_noise: Array,
        row_slack: Array,
        y: Array,
        z: Array,
    ) -> tuple[int, int]: ...
    def find_among_corners(
        self,
        coefficients: Array,
        noise: float,
        slack: Array,
        threshold: float,
        rows: Array,
        row_noise: Array,
        row_slack: Array,
        y: Array,
        z: Array,
    ) -> tuple[int, int]: ...
    def inner_point(
        self,
        coefficients: Array,
        noise: float,
        slack: Array,
        threshold: float,
        rows: Array,
        row_noise: Array,
        row_slack: Array,
        y: Array,
        z: Array,
        to_y: Array,
        least: float,
    ) -> tuple[Array, Array] | None: ...
    def image(self, y: Array) -> Array: ...
    def largest(self, form: Array) -> float: ...
    def __getstate__(self) -> bytes: ...
    def __setstate__(self, state: bytes) -> None: ...

class SignTree:
    is_done: bool
    num_open: int
    counters: Array
    def __init__(
        self,
        room: Room,
        rows: Array,
        row_noise: Array,
        row_slack: Array,
        witness: Array,
        coefficients: Array,
        noise: Array,
        slack: Array,
        threshold: Array,
        is_constant: Array,
        is_doubtful: Array,
    ) -> None: ...
    def take(self, room: Room, most: int, most_steps: int) -> tuple[Array, Array, Array]: ...
    def __getstate__(self) -> bytes: ...
    def __setstate__(self, state: bytes) -> None: ...

def forms_on_boxes(
    sizes: Array,
    weights: Array,
    biases: Array,
    breakpoints: Array,
    slopes: Array,
    intercepts: Array,
    centers: Array,
    halves: Array,
    least: Array,
    most: Array,
    is_carried_back: bool,
    num_threads: int,
) -> tuple[Array, Array, Array, Array, Array, Array, Array, Array, Array]: ...
def below_on_boxes(
    sizes: Array,
    weights: Array,
    biases: Array,
    breakpoints: Array,
    slopes: Array,
    intercepts: Array,
    centers: Array,
    halves: Array,
    low: Array,
    high: Array,
    terms: Array,
    functions: Array,
    num_threads: int,
) -> tuple[Array, Array, Array]: ...
def near_boxes(
    sizes: Array,
    weights: Array,
    biases: Array,
    breakpoints: Array,
    slopes: Array,
    intercepts: Array,
    lower: Array,
    upper: Array,
    keys: Array,
    low: Array,
    high: Array,
    point: Array,
    functions: Array,
    norm: int,
    lengths: Array,
    most_boxes: int,
    codes: int,
    codes_near: int,
) -> tuple[Array, Array, Array, Array, int, float]: ...
