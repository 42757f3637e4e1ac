"""The truth about a small network on a polyhedron, in rational numbers: every region, one unit at a time.

The network is a list of layers in a form of its own (:class:`Dense`, :class:`TruePointwise`, :class:`TrueLargest`,
:class:`TrueTop`), the domain a list of inequalities and an affine map into the input space. A cell starts as the domain
and is cut by each unit in turn; what is left are the proper activation regions with codes, maps and exact shapes. Faces
of the domain, cut likewise, give the codes of all points. Slow and plain on purpose, and without a line from the
engines.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations

from fuzzer import true_cones as cones
from fuzzer.heights import _diameter_squared, smallest_height_squared
from fuzzer.true_cones import RationalCone, Vector
from fuzzer.true_layers import (
    Dense,
    Form,
    Layer,
    TruePointwise,
    TrueTop,
    _decisions,
    combine,
    difference,
)

Code = tuple[int, ...]


class TooLargeError(Exception):
    """The oracle would take longer, or find more cells, than was allowed."""


@dataclass(frozen=True)
class TrueDomain:
    """A domain: ``{y : row . (y, 1) >= 0}``, and where its points lie in the input space.

    ``embedding`` has one form per input of the network; None stands for the identity.
    """

    dimension: int
    rows: tuple[Form, ...]
    embedding: tuple[Form, ...] | None = None


@dataclass(frozen=True)
class Cell:
    """A set of points of one code: its cone, the outputs as forms over it, and what each unit decides by.

    ``decisions`` has for each unit a form per breakpoint (value minus breakpoint), or one per candidate; where it is
    compared with others for the k largest, its value minus that of each of them, itself too.
    """

    code: Code
    cone: RationalCone
    outputs: tuple[Form, ...]
    decisions: tuple[tuple[Form | None, ...], ...]


class Truth:
    """Everything that is known exactly about layers on a domain.

    Raises TooLargeError beyond ``most_cells`` cells, or when the thread has worked for longer than ``seconds``, however
    busy the machine is.
    """

    def __init__(
        self, layers: Sequence[Layer], setting: TrueDomain, most_cells: int = 300, seconds: float = 5.0
    ) -> None:
        self.layers = tuple(layers)
        self.setting = setting
        self.most_cells = most_cells
        self.deadline = time.thread_time() + seconds

    @cached_property
    def domain(self) -> RationalCone:
        """The cone over the domain."""
        return cones.polyhedron(self.setting.dimension, self.setting.rows)

    @property
    def is_solid(self) -> bool:
        """Whether the domain has interior points."""
        return not self.domain.is_empty and self.domain.rank == self.setting.dimension + 1

    @cached_property
    def regions(self) -> list[Cell]:
        """The proper activation regions (R2)."""
        return list(self._cells(self.domain, _SOLID))

    @cached_property
    def codes(self) -> set[Code]:
        """The codes of all points of the closed domain (R1)."""
        return {cell.code for face in cones.faces(self.domain) for cell in self._cells(face, _ALL)}

    @cached_property
    def diameter_squared(self) -> Fraction | None:
        """The square of the largest distance of two points, None if the domain is not bounded."""
        return _diameter_squared(self.domain) if self.domain.is_bounded else None

    @cached_property
    def thicknesses_squared(self) -> list[Fraction | None]:
        """For each region, the square of its smallest height over a facet, None if all are infinite."""
        return [smallest_height_squared(cell.cone) for cell in self.regions]

    @cached_property
    def maps(self) -> list[tuple[Form, ...]]:
        """The distinct affine maps of the regions (R6)."""
        return list(dict.fromkeys(cell.outputs for cell in self.regions))

    @cached_property
    def adjacency(self) -> dict[tuple[int, int], tuple[Vector, RationalCone]]:
        """What pairs of regions share, where it is a facet, with the row that vanishes there."""
        owners: dict[Vector, list[tuple[int, list[int]]]] = {}
        bounds = [cones.facets(cell.cone) for cell in self.regions]
        for position, facets in enumerate(bounds):
            for row, members in facets:
                key = max(row, tuple(-entry for entry in row))
                owners.setdefault(key, []).append((position, members))
        found = {}
        for between, sides in owners.items():
            for i, (first, members) in enumerate(sides):
                shared = cones.face(self.regions[first].cone, members)
                for second, _ in sides[i + 1 :]:
                    self._check_time()
                    part = shared
                    for row, _ in bounds[second]:
                        part = cones.above(part, row)
                    if not part.is_empty and part.rank == self.setting.dimension:
                        found[first, second] = between, part
        return found

    @cached_property
    def num_open_connected(self) -> int:
        """R4: regions that share a facet and a map, joined."""
        groups = _Groups(len(self.regions))
        for first, second in self.adjacency:
            if self.regions[first].outputs == self.regions[second].outputs:
                groups.join(first, second)
        return groups.count(range(len(self.regions)))

    @cached_property
    def num_closed_connected(self) -> int:
        """R5: for every map, the connected parts of where it equals the function that have interior points."""
        total = 0
        for outputs in self.maps:
            if sum(cell.outputs == outputs for cell in self.regions) == 1:
                total += 1
                continue
            parts = [self._where_equal(cell, outputs) for cell in self.regions]
            there = [i for i, part in enumerate(parts) if part is not None]
            groups = _Groups(len(parts))
            for i in there:
                for j in there:
                    if i < j and groups.find(i) != groups.find(j):
                        self._check_time()
                        first, second = parts[i], parts[j]
                        assert first is not None
                        assert second is not None
                        if not cones.intersection(first, second).is_empty:
                            groups.join(i, j)
            total += groups.count(i for i, cell in enumerate(self.regions) if cell.outputs == outputs)
        return total

    @cached_property
    def volumes(self) -> list[Fraction | None]:
        """The volume of each region, None where it is infinite."""
        found = []
        for cell in self.regions:
            self._check_time()
            found.append(cones.volume(cell.cone) if cell.cone.is_bounded else None)
        return found

    def containing(self, point: Sequence[Fraction]) -> list[int]:
        """Return the regions whose closure contains a point of the domain's space."""
        lifted = (*point, Fraction(1))
        return [i for i, cell in enumerate(self.regions) if all(cones.dot(row, lifted) >= 0 for row in cell.cone.rows)]

    def _where_equal(self, cell: Cell, outputs: tuple[Form, ...]) -> RationalCone | None:
        """Return the part of a closed cell on which its map equals another, None if there is none."""
        cone = cell.cone
        for first, second in zip(cell.outputs, outputs, strict=True):
            difference = tuple(a - b for a, b in zip(first, second, strict=True))
            if any(difference):
                cone = cones.on(cone, cones.integers(difference))
        return None if cone.is_empty else cone

    def _check_time(self) -> None:
        if time.thread_time() > self.deadline:
            raise TooLargeError

    def _cells(self, start: RationalCone, way: "_CellCutting") -> Iterator[Cell]:
        """Cut a cone by all units, one after the other."""
        found = 0
        stack: list[tuple[RationalCone, Code, tuple, tuple[Form, ...], int]] = [(start, (), (), self._inputs(), 0)]
        while stack:
            self._check_time()
            cone, code, decisions, values, depth = stack.pop()
            if depth == len(self.layers):
                found += 1
                if found > self.most_cells:
                    raise TooLargeError
                yield Cell(code, cone, values, decisions)
                continue
            layer = self.layers[depth]
            decided = decisions + _decisions(layer, values)
            for piece, part, after in self._through(layer, cone, values, way):
                stack.append((part, code + piece, decided, after, depth + 1))

    def _inputs(self) -> tuple[Form, ...]:
        if self.setting.embedding is not None:
            return self.setting.embedding
        n = self.setting.dimension
        return tuple(tuple(Fraction(int(i == j)) for j in range(n + 1)) for i in range(n))

    def _through(
        self, layer: Layer, cone: RationalCone, values: tuple[Form, ...], way: "_CellCutting"
    ) -> Iterator[tuple[Code, RationalCone, tuple[Form, ...]]]:
        """Yield the parts of a cone by the pieces of a layer, with the values behind it."""
        if isinstance(layer, Dense):
            yield (), cone, tuple(combine(row, values, b) for row, b in zip(layer.weight, layer.bias, strict=True))
            return
        if isinstance(layer, TrueTop):
            yield from self._tops(layer, cone, values, way)
            return
        units = len(layer.breakpoints) if isinstance(layer, TruePointwise) else len(layer.groups)
        stack: list[tuple[RationalCone, Code, tuple[Form, ...]]] = [(cone, (), ())]
        while stack:
            self._check_time()
            part, code, after = stack.pop()
            unit = len(code)
            if unit == units:
                yield code, part, after
            elif isinstance(layer, TruePointwise):
                for piece, rest in _intervals(part, values[unit], layer.breakpoints[unit], way.halves):
                    slope, intercept = layer.pieces[unit][piece]
                    stack.append((rest, (*code, piece), (*after, combine((slope,), (values[unit],), intercept))))
            else:
                group = layer.groups[unit]
                real = [(piece, values[position]) for piece, position in enumerate(group) if position is not None]
                for winner, rest in way.winners(part, [form for _, form in real]):
                    piece, form = real[winner]
                    stack.append((rest, (*code, piece), (*after, form)))

    def _tops(
        self, layer: TrueTop, cone: RationalCone, values: tuple[Form, ...], way: "_CellCutting"
    ) -> Iterator[tuple[Code, RationalCone, tuple[Form, ...]]]:
        """Yield the parts where each set of k entries of each row is above all others of the row: solid ones only."""
        if way is not _SOLID:
            raise TooLargeError
        size = len(values) // layer.rows
        stack: list[tuple[RationalCone, Code]] = [(cone, ())]
        while stack:
            part, code = stack.pop()
            if len(code) == len(values):
                chosen = zip(code, values, strict=True)
                yield code, part, tuple(combine((Fraction(piece),), (form,), Fraction(0)) for piece, form in chosen)
                continue
            row = values[len(code) : len(code) + size]
            for inside in combinations(range(size), layer.k):
                self._check_time()
                rest = _above_all(part, row, inside)
                if rest is not None:
                    stack.append((rest, (*code, *(int(entry in inside) for entry in range(size)))))


def _above_all(cone: RationalCone, forms: Sequence[Form], inside: Sequence[int]) -> RationalCone | None:
    """Return the solid part of a cone where some forms are above all others, lower ones of equals; None if flat."""
    part: RationalCone | None = cone
    for one in inside:
        for other in range(len(forms)):
            if part is None or other in inside:
                continue
            if forms[one] == forms[other]:
                part = part if one < other else None
            else:
                part = dict(_solid_halves(part, difference(forms[one], forms[other]))).get(1)
    return part


def _solid_halves(cone: RationalCone, form: Form) -> list[tuple[int, RationalCone]]:
    """Return the parts of full dimension where a form is positive (1), and where it is not (0)."""
    row = cones.integers(form)
    negative, positive = cones.signs(cone, row)
    if negative and positive:
        return [(0, cones.below(cone, row)), (1, cones.above(cone, row))]
    return [(int(positive), cone)]


def _open_halves(cone: RationalCone, form: Form) -> list[tuple[int, RationalCone]]:
    """Return the relatively open parts where a form is positive (1), negative or zero (0)."""
    row = cones.integers(form)
    negative, positive = cones.signs(cone, row)
    if negative and positive:
        parts = [(0, cones.below(cone, row)), (0, cones.on(cone, row)), (1, cones.above(cone, row))]
        # A part that reaches infinity only has no points.
        return [(sign, part) for sign, part in parts if not part.is_empty]
    return [(int(positive), cone)]


def _solid_winners(cone: RationalCone, candidates: Sequence[Form]) -> Iterator[tuple[int, RationalCone]]:
    """Yield the parts of full dimension by the largest candidate, the first of equal ones."""
    first = {form: position for position, form in reversed(list(enumerate(candidates)))}
    for form, position in first.items():
        part: RationalCone | None = cone
        for other in first:
            if part is not None and other != form:
                halves = dict(_solid_halves(part, difference(form, other)))
                part = halves.get(1)
        if part is not None:
            yield position, part


def _open_winners(cone: RationalCone, candidates: Sequence[Form]) -> Iterator[tuple[int, RationalCone]]:
    """Yield relatively open parts by the first of the largest candidates; a winner may have several."""
    rest = [(0, cone)]
    for challenger in range(1, len(candidates)):
        after = []
        for best, part in rest:
            halves = _open_halves(part, difference(candidates[challenger], candidates[best]))
            after += [(challenger if sign else best, half) for sign, half in halves]
        rest = after
    yield from rest


@dataclass(frozen=True)
class _CellCutting:
    """A way of cutting cells: into those of full dimension only, or into all."""

    halves: Callable[[RationalCone, Form], list[tuple[int, RationalCone]]]
    winners: Callable[[RationalCone, Sequence[Form]], Iterator[tuple[int, RationalCone]]]


_SOLID = _CellCutting(_solid_halves, _solid_winners)
_ALL = _CellCutting(_open_halves, _open_winners)


def _intervals(
    cone: RationalCone,
    form: Form,
    breakpoints: Form,
    halves: Callable[[RationalCone, Form], list[tuple[int, RationalCone]]],
) -> Iterator[tuple[int, RationalCone]]:
    """Yield the parts of a cone by the number of breakpoints that a form exceeds."""
    rest = [cone]
    for piece, value in enumerate(breakpoints):
        split = [half for part in rest for half in halves(part, (*form[:-1], form[-1] - value))]
        yield from ((piece, half) for sign, half in split if not sign)
        rest = [half for sign, half in split if sign]
    yield from ((len(breakpoints), part) for part in rest)


class _Groups:
    """Disjoint sets of the first integers."""

    def __init__(self, size: int) -> None:
        self.parents = list(range(size))

    def find(self, item: int) -> int:
        while self.parents[item] != item:
            item = self.parents[item]
        return item

    def join(self, first: int, second: int) -> None:
        self.parents[self.find(second)] = self.find(first)

    def count(self, items: Iterable[int]) -> int:
        return len({self.find(item) for item in items})
