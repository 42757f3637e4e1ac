"""Many sets of half-spaces side by side, as tensors on any device: what questions to all of them at once work with."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from reluscope.geometry.programs.half_spaces import HalfSpaces
from reluscope.geometry.programs.tiled_rows import TiledRows
from reluscope.interruption import step_point

# Memory for weighted copies of rows, in bytes: what a cache holds, and enough for large products elsewhere.
CACHE_BYTES, ROWS_BYTES = 8 * 2**20, 256 * 2**20
# Smallest width of a block of columns in products of matrices, and largest number of blocks.
MIN_WIDTH, NUM_BLOCKS = 64, 8
# Operations of one product, which nothing can end: about a quarter of a second.
AT_ONCE = 5e9


@dataclass(frozen=True, eq=False)
class HalfSpaceStack:
    """Convex bodies ``{x : rows x <= offsets, lower <= x <= upper}`` of one dimension and row count.

    A margin is subtracted from every bound and from every row in which it has a coefficient; its own upper bound is
    half of the number given.
    """

    rows: Tensor  # (t, h, n) outward normals; one table per r / t bodies
    offsets: Tensor  # (r, h), infinite for a row that does not count
    lower: Tensor  # (r, n), infinite where there is no bound
    upper: Tensor  # (r, n), infinite where there is no bound
    has_margin: bool = False  # whether the last variable is a margin

    @classmethod
    def of(cls, bodies: Sequence[HalfSpaces], *, device: torch.device | str = "cpu") -> "HalfSpaceStack":
        """Return sets of half-spaces as one stack, with rows scaled to length 1.

        Missing rows have infinite offsets.
        """
        dim = len(bodies[0].lower)
        height = max(1, *(len(one.offsets) for one in bodies))
        rows, offsets = np.zeros((len(bodies), height, dim)), np.full((len(bodies), height), np.inf)
        for place, one in enumerate(bodies):
            step_point()
            A, b = one.rows, one.offsets
            lengths = np.sqrt(np.einsum("ij,ij->i", A, A))
            kept = lengths > 0
            # Rows may take up much memory: they are copied once.
            if kept.all():
                size = max(1, ROWS_BYTES // (8 * dim))
                for some in (slice(start, start + size) for start in range(0, len(A), size)):
                    step_point()
                    np.divide(A[some], lengths[some, None], out=rows[place, : len(A)][some])
            else:
                rows[place, : kept.sum()] = A[kept] / lengths[kept, None]
            offsets[place, : kept.sum()] = b[kept] / lengths[kept]
        lower, upper = np.stack([one.lower for one in bodies]), np.stack([one.upper for one in bodies])
        tensors = [torch.from_numpy(part).to(device) for part in (rows, offsets, lower, upper)]
        return cls(tensors[0], tensors[1], tensors[2], tensors[3])

    def __len__(self) -> int:
        return len(self.offsets)

    def one(self, index: int) -> HalfSpaces:
        """Return one of the bodies, without rows that do not count, as arrays."""
        table, ends = self.rows[index // self.copies].cpu().numpy(), self.offsets[index].cpu().numpy()
        kept = np.isfinite(ends)
        return HalfSpaces(table[kept], ends[kept], self.lower[index].cpu().numpy(), self.upper[index].cpu().numpy())

    @property
    def dim(self) -> int:
        """Number of variables."""
        return self.rows.shape[2]

    @property
    def copies(self) -> int:
        """How many bodies share a table."""
        return len(self) // len(self.rows)

    def shared(self, copies: int) -> "HalfSpaceStack":
        """Return every body so many times, the copies one after the other, with the tables that are there."""
        offsets, lower, upper = (
            part.repeat_interleave(copies, dim=0) for part in (self.offsets, self.lower, self.upper)
        )
        return self._with_same_rows(offsets, lower, upper)

    def take(self, which: Tensor) -> "HalfSpaceStack":
        """Return some of the bodies, with tables of their own unless all have the same."""
        if len(self.rows) == 1:
            return self.among(which)
        rows = self.rows[which // self.copies]
        return replace(self, rows=rows, offsets=self.offsets[which], lower=self.lower[which], upper=self.upper[which])

    def among(self, which: Tensor) -> "HalfSpaceStack":
        """Return as many bodies of every table, which keep sharing it."""
        return self._with_same_rows(self.offsets[which], self.lower[which], self.upper[which])

    def _with_same_rows(self, offsets: Tensor, lower: Tensor, upper: Tensor) -> "HalfSpaceStack":
        """Return other bodies of the same tables, with what has been found out about these."""
        other = replace(self, offsets=offsets, lower=lower, upper=upper)
        for name in ("tiled", "_mean_squares"):
            if name in vars(self):
                vars(other)[name] = vars(self)[name]
        return other

    @cached_property
    def tiled(self) -> TiledRows | None:
        """The rows as tiles, where all bodies share one table that is mostly zero."""
        return TiledRows.of(self.rows[0], has_margin=self.has_margin) if len(self.rows) == 1 else None

    @property
    def num_dense_rows(self) -> int:
        """Number of rows that take a product of whole rows each in `gram`."""
        return self.rows.shape[1] if self.tiled is None else len(self.tiled.others)

    def with_margin(self, most: Tensor) -> "HalfSpaceStack":
        """Return bodies of one more variable, at most (r,): how far a point is to be from every row and every bound."""
        lengths = torch.linalg.vector_norm(self.rows, dim=2)
        step_point()
        return HalfSpaceStack(
            torch.cat([self.rows, lengths[..., None]], dim=2),
            self.offsets,
            torch.cat([self.lower, torch.full_like(most, -torch.inf)[:, None]], dim=1),
            torch.cat([self.upper, 2 * most[:, None]], dim=1),
            has_margin=True,
        )

    @property
    def exists(self) -> Tensor:
        """Return which rows, lower and upper bounds there are, (r, h + 2 n)."""
        return torch.isfinite(torch.cat([self.offsets, self.lower, self.upper], dim=1))

    def products(self, points: Tensor) -> Tensor:
        """Return products of rows with points (r, n), as (r, h)."""
        if self.tiled is not None:
            return self.tiled.products(points)
        tables, height, dim = self.rows.shape
        return (points.reshape(tables, -1, dim) @ self.rows.mT).reshape(-1, height)

    def slacks(self, points: Tensor) -> Tensor:
        """Return how far points (r, n) are inside, (r, h + 2 n): of the rows, of lower and of upper bounds."""
        margin = points[:, -1:] if self.has_margin else 0.0
        below, above = points - margin - self.lower, self.upper - points - margin
        return torch.cat([self.offsets - self.products(points), below, above], dim=1)

    def speeds(self, moves: Tensor) -> Tensor:
        """Return by how much moves (r, n) take slacks away, (r, h + 2 n)."""
        margin = moves[:, -1:] if self.has_margin else 0.0
        return torch.cat([self.products(moves), margin - moves, margin + moves], dim=1)

    def pull(self, weights: Tensor) -> Tensor:
        """Return sums of normals (r, n), those of bounds included, with weights (r, h + 2 n)."""
        of_rows, below, above = self._parts(weights)
        tables, height, dim = self.rows.shape
        if self.tiled is None:
            pulled = (of_rows.reshape(tables, -1, height) @ self.rows).reshape(-1, dim)
        else:
            pulled = self.tiled.pull(of_rows)
        pulled = pulled + above - below
        if self.has_margin:
            pulled[:, -1] += below[:, :-1].sum(dim=1) + above.sum(dim=1)
        return pulled

    def gram(self, weights: Tensor) -> Tensor:
        """Return sums of outer products of normals with themselves, weighted by (r, h + 2 n): the lower triangle."""
        of_rows, below, above = self._parts(weights)
        _, height, dim = self.rows.shape
        total = torch.zeros(len(self), dim, dim, dtype=self.rows.dtype, device=self.rows.device)
        sides = of_rows.sqrt()[..., None]
        if self.tiled is not None:
            for body in range(len(self)):
                add_gram(total[body : body + 1], self.tiled.add_gram(total[body], sides[body, :, 0])[None])
            return self._with_bounds(total, below, above)
        # As many bodies at a time as have room, or some rows of one.
        room = (CACHE_BYTES if total.device.type == "cpu" else ROWS_BYTES) // 8
        some, block = max(1, room // (height * dim)), max(1, room // dim)
        for begin in range(0, len(self), some):
            here = slice(begin, begin + some)
            tables = torch.arange(begin, min(begin + some, len(self)), device=total.device) // self.copies
            for first in range(0, height, block):
                part = slice(first, first + block)
                if len(self.rows) == 1:
                    table = self.rows[:, part]
                else:
                    table = self.rows[here, part] if self.copies == 1 else self.rows[tables, part]
                add_gram(total[here], table * sides[here, part])
        return self._with_bounds(total, below, above)

    def gram_of_heaviest(self, weights: Tensor, number: int) -> Tensor:
        """Return nearly what `gram` does: rows other than so many of the heaviest count by a diagonal only."""
        of_rows, below, above = self._parts(weights)
        total = torch.zeros(len(self), self.dim, self.dim, dtype=self.rows.dtype, device=self.rows.device)
        heavy, which = of_rows.topk(number, dim=1, sorted=False)
        light = (of_rows.sum(dim=1) - heavy.sum(dim=1)).clamp_min(0.0)
        for body in range(len(self)):
            table = self.rows[body // self.copies].index_select(0, which[body])
            table *= heavy[body].sqrt()[:, None]
            add_gram(total[body : body + 1], table[None])
        total.diagonal(dim1=1, dim2=2).add_(light[:, None] * self._mean_squares.repeat_interleave(self.copies, dim=0))
        return self._with_bounds(total, below, above)

    @cached_property
    def _mean_squares(self) -> Tensor:
        """Of every table the means of squares in its columns over rows that count, (t, n)."""
        number = torch.isfinite(self.offsets[:: self.copies]).sum(dim=1, keepdim=True).clamp_min(1)
        return torch.linalg.vector_norm(self.rows, dim=1).square() / number

    def _with_bounds(self, total: Tensor, below: Tensor, above: Tensor) -> Tensor:
        diagonal = total.diagonal(dim1=1, dim2=2)
        diagonal += below + above
        if self.has_margin:
            total[:, -1, :-1] += (above - below)[:, :-1]
            total[:, -1, -1] += (above + below)[:, :-1].sum(dim=1) + 3 * above[:, -1]
        return total

    def _parts(self, weights: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        height = self.rows.shape[1]
        below, above = weights[:, height : height + self.dim], weights[:, height + self.dim :]
        return weights[:, :height], below, above


def add_gram(total: Tensor, rows: Tensor) -> None:
    """Add the lower triangle of the rows' products of columns, in blocks: what lies above is not computed."""
    tables, height, dim = rows.shape
    width = max(MIN_WIDTH, -(-dim // NUM_BLOCKS))
    some = max(1, int(AT_ONCE // max(1, 2 * tables * dim * width)))
    for first in range(0, dim, width):
        block = slice(first, first + width)
        for begin in range(0, height, some):
            step_point()
            part = rows[:, begin : begin + some]
            total[:, first:, block] += part[:, :, first:].mT @ part[:, :, block]
