"""What is asked of a network on a domain, as plain numbers: each question has its source text and simpler versions."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class Target:
    """Outputs ``A y <= b``, and the largest number of regions of a partition, None for all of them."""

    normals: np.ndarray
    offsets: np.ndarray
    regions: int | None = None

    def source(self) -> str:
        """Return source text that makes ``target``."""
        return f"target = rs.Polyhedron({self.normals.tolist()}, {self.offsets.tolist()})"

    def simpler(self) -> Iterator["Target"]:
        """Yield targets with fewer rows."""
        for row in range(len(self.offsets) if len(self.offsets) > 1 else 0):
            yield replace(self, normals=np.delete(self.normals, row, 0), offsets=np.delete(self.offsets, row))


@dataclass(frozen=True)
class Point:
    """A point, a norm, and whether distances end at the domain."""

    point: np.ndarray
    norm: str
    within: bool

    def source(self) -> str:
        """Return source text that makes ``x`` and ``within``."""
        return f"x = [{self.point.tolist()}]\nwithin = {'domain' if self.within else 'None'}"

    def simpler(self) -> Iterator["Point"]:
        """Yield points with rounder coordinates."""
        if (np.round(self.point, 2) != self.point).any():
            yield replace(self, point=np.round(self.point, 2))


@dataclass(frozen=True)
class Direction:
    """A linear function of the outputs, and the largest number of regions of a partition."""

    direction: np.ndarray
    regions: int | None = None

    def source(self) -> str:
        """Return source text that makes ``direction``."""
        return f"direction = {self.direction.tolist()}"

    def simpler(self) -> Iterator["Direction"]:
        """Yield nothing: directions are small numbers."""
        return iter(())


@dataclass(frozen=True)
class Loop:
    """A plant ``x' = A x + B net(x) + c``, a number of steps, and a half-space of states ``direction x <= end``."""

    matrix: np.ndarray
    control: np.ndarray
    shift: np.ndarray
    steps: int
    direction: np.ndarray
    end: float

    def source(self) -> str:
        """Return source text that makes ``plant``, ``direction`` and ``safe``."""
        plant = f"{self.matrix.tolist()}, {self.control.tolist()}, {self.shift.tolist()}"
        return (
            f"plant = rs.reachability.Plant({plant})\ndirection = {self.direction.tolist()}\n"
            f"safe = rs.Polyhedron([direction], [{self.end!r}])"
        )

    def simpler(self) -> Iterator["Loop"]:
        """Yield loops of fewer steps."""
        if self.steps > 1:
            yield replace(self, steps=self.steps - 1)


@dataclass(frozen=True)
class Level:
    """A level of an output, and the largest number of regions of a partition."""

    output: int
    level: float
    regions: int | None = None

    def source(self) -> str:
        """Return source text that makes ``level``."""
        return f"level = {self.level!r}"

    def simpler(self) -> Iterator["Level"]:
        """Yield level 0."""
        if self.level:
            yield replace(self, level=0.0)


@dataclass(frozen=True)
class WholePartition:
    """The partition itself, of at most some number of regions; how far merged regions may be from the network."""

    regions: int | None = None
    error: float = 0.0

    def source(self) -> str:
        """Return source text that makes ``error``."""
        return f"error = {self.error!r}"

    def simpler(self) -> Iterator["WholePartition"]:
        """Yield the question without an error."""
        if self.error:
            yield replace(self, error=0.0)


Question = Target | Point | Direction | Loop | Level | WholePartition
