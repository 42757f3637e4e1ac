"""Random cases: a network, degenerate more often than not, on a domain of some kind.

The same seed and index give the same case. Domains are drawn first; hyperplanes of the first layer go through points
of the domain, so that also those far away, tiny or huge are cut.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from torch import nn

from fuzzer import layers, modules
from fuzzer import true_cones as cones
from fuzzer.layers import DenseLayer, GateModule, Layer
from fuzzer.questions import Question
from fuzzer.truth import TrueDomain, Truth


@dataclass(frozen=True)
class BoxDomain:
    """``low <= x <= high``."""

    low: np.ndarray
    high: np.ndarray

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return len(self.low)

    def source(self) -> str:
        """Return source text."""
        return f"rs.Box({self.low.tolist()}, {self.high.tolist()})"


@dataclass(frozen=True)
class SpaceDomain:
    """The whole space."""

    dimension: int

    def source(self) -> str:
        """Return source text."""
        return f"rs.Space({self.dimension})"


@dataclass(frozen=True)
class PolyhedronDomain:
    """``A x <= b``."""

    normals: np.ndarray
    offsets: np.ndarray

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return self.normals.shape[1]

    def source(self) -> str:
        """Return source text."""
        return f"rs.Polyhedron({self.normals.tolist()}, {self.offsets.tolist()})"


Window = BoxDomain | PolyhedronDomain


@dataclass(frozen=True)
class SliceDomain:
    """``origin + y @ basis`` for y in a window."""

    origin: np.ndarray
    basis: np.ndarray
    window: Window

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return len(self.basis)

    def source(self) -> str:
        """Return source text."""
        return f"rs.Slice({self.origin.tolist()}, {self.basis.tolist()}, {self.window.source()})"


@dataclass(frozen=True)
class PointsDomain:
    """A segment between two points, or a plane through three."""

    points: np.ndarray
    margin: float = 0.0

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return len(self.points) - 1

    def source(self) -> str:
        """Return source text."""
        points = ", ".join(str(point.tolist()) for point in self.points)
        return f"rs.Segment({points})" if len(self.points) == 2 else f"rs.Plane({points}, margin={self.margin!r})"


Domain = BoxDomain | SpaceDomain | PolyhedronDomain | SliceDomain | PointsDomain


@dataclass(frozen=True)
class FuzzCase:
    """A network on a domain, as plain numbers; perhaps a question, and a sigmoid, tanh or softmax at the end."""

    kind: str
    layers: tuple[Layer, ...]
    domain: Domain
    question: Question | None = None
    end: str = ""

    @property
    def num_inputs(self) -> int:
        """Number of inputs of the network."""
        first = self.layers[0]
        assert isinstance(first, DenseLayer)
        return first.weight.shape[1]

    @property
    def has_max(self) -> bool:
        """Whether some gate takes the largest of candidates."""
        return any(isinstance(layer, GateModule) and layer.is_max for layer in self.layers)

    @property
    def is_sound(self) -> bool:
        """Whether the domain has interior points, and the window of a slice is bounded."""
        domain = self.domain.window if isinstance(self.domain, SliceDomain) else self.domain
        if not isinstance(domain, PolyhedronDomain):
            return True
        cone = cones.polyhedron(domain.dimension, rows_of(domain))
        solid = not cone.is_empty and cone.rank == domain.dimension + 1
        return solid and (cone.is_bounded or domain is self.domain)

    def source(self) -> str:
        """Return source text that makes ``net`` and ``domain``, and what the question is about."""
        asked = f"\n{self.question.source()}" if self.question is not None else ""
        return f"net = {layers.network_source(self.layers, self.end)}\ndomain = {self.domain.source()}{asked}"

    def build(self) -> dict[str, Any]:
        """Return the network ``net``, the ``domain`` and all other names of the source text, made from it."""
        names: dict[str, Any] = build_names()
        exec(self.source(), names)
        return names

    def truth(self, domain: Any, most_cells: int, seconds: float) -> Truth:
        """Return the oracle; slices are taken as the built domain has them, with its rounded basis."""
        setting = self._setting(domain)
        return Truth(layers.exact_layers(self.layers, self.num_inputs), setting, most_cells, seconds)

    def _setting(self, domain: Any) -> TrueDomain:
        if isinstance(self.domain, BoxDomain | PolyhedronDomain):
            return TrueDomain(self.domain.dimension, rows_of(self.domain))
        if isinstance(self.domain, SpaceDomain):
            return TrueDomain(self.domain.dimension, ())
        window = (
            self.domain.window
            if isinstance(self.domain, SliceDomain)
            else BoxDomain(domain.window.lo, domain.window.hi)
        )
        columns = zip(np.asarray(domain.basis).T, np.asarray(domain.origin), strict=True)
        embedding = tuple((*_fractions(column), Fraction(float(start))) for column, start in columns)
        return TrueDomain(self.domain.dimension, rows_of(window), embedding)


def build_names() -> dict[str, Any]:
    """Return the names that source text of cases uses."""
    import reluscope as rs

    own = {name: getattr(modules, name) for name in modules.MODULES}
    return {"rs": rs, "np": np, "nn": nn, **own}


def rows_of(window: Window) -> tuple[tuple[Fraction, ...], ...]:
    """Return the inequalities of a box or a polyhedron."""
    if isinstance(window, BoxDomain):
        identity = np.eye(window.dimension)
        normals, offsets = np.vstack([identity, -identity]), np.concatenate([window.high, -window.low])
    else:
        normals, offsets = window.normals, window.offsets
    return tuple((*_fractions(-row), Fraction(float(b))) for row, b in zip(normals, offsets, strict=True))


def _fractions(row: Sequence[float]) -> tuple[Fraction, ...]:
    return tuple(Fraction(float(entry)) for entry in row)
