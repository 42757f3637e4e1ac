"""Regions without their neighbours: codes, interior points, and volumes where they are known."""

import hashlib
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, UInt64


@dataclass(frozen=True)
class RegionRows:
    """Some regions: codes, interior points, volumes and a box around them."""

    words: UInt64[np.ndarray, "r w"]  # packed codes
    witnesses: Float[np.ndarray, "r d"]  # a strictly interior point of each region
    volumes: Float[np.ndarray, " r"] | None  # where they are known
    box: Float[np.ndarray, "ends d"]  # bounds of the coordinates, infinite where unknown

    def __len__(self) -> int:
        return len(self.words)

    def scaled(self, sides: Float[np.ndarray, " d"]) -> "RegionRows":
        """Return the regions with every coordinate times a number."""
        volumes = None if self.volumes is None else self.volumes * sides.prod()
        return RegionRows(self.words, self.witnesses * sides, volumes, self.box * sides)

    def take(self, rows: np.ndarray) -> "RegionRows":
        """Return some of them."""
        volumes = None if self.volumes is None else self.volumes[rows]
        return RegionRows(self.words[rows], self.witnesses[rows], volumes, self.box)

    @staticmethod
    def together(parts: "list[RegionRows]") -> "RegionRows":
        """Return several, of which there is at least one, as one."""
        volumes = [part.volumes for part in parts if part.volumes is not None]
        return RegionRows(
            np.concatenate([part.words for part in parts]),
            np.concatenate([part.witnesses for part in parts]),
            np.concatenate(volumes) if volumes else None,
            joined_boxes([part.box for part in parts]),
        )


def box_around(points: Float[np.ndarray, "v d"]) -> Float[np.ndarray, "ends d"]:
    """Return between which coordinates points lie."""
    return np.stack([points.min(axis=0), points.max(axis=0)])


def joined_boxes(boxes: list[np.ndarray]) -> Float[np.ndarray, "ends d"]:
    """Return the smallest box around several."""
    low, high = np.stack(boxes, axis=1)
    return np.stack([low.min(axis=0), high.max(axis=0)])


def boundless(dim: int) -> Float[np.ndarray, "ends d"]:
    """Return the box of regions of which nobody knows where they lie."""
    return np.stack([np.full(dim, -np.inf), np.full(dim, np.inf)])


def digests(words: UInt64[np.ndarray, "r w"]) -> UInt64[np.ndarray, "r two"]:
    """Return 128 bits for every code, equal for equal codes.

    Different codes nearly always differ: of 10^9 codes two agree with a chance of 10^-21.
    """
    rows = np.ascontiguousarray(words)
    found = b"".join([hashlib.blake2b(row, digest_size=16).digest() for row in rows])
    return np.frombuffer(found, dtype=np.uint64).reshape(len(rows), 2)
