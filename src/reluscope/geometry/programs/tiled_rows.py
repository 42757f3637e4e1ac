"""A table of rows that are mostly zero, as dense tiles: units of a convolution see a patch of the inputs.

Rows from the same patch are nonzero in the same columns, and nowhere else. They are found by their first and last
nonzero entries; a tile has the columns in which one of its rows is not zero, so that nothing depends on how well rows
were told apart. What sees most of the inputs stays as it is.
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from reluscope.interruption import step_point

# Tables of so many entries and more are looked at; tiles have no more than this share of the columns, and so many rows.
LARGE_TABLE, MAX_SHARE, MIN_ROWS = 2**20, 0.5, 4
# Share of the rows that have to be in tiles.
WORTH_IT = 0.5


class _Tiles(NamedTuple):
    """Tiles of one shape: their rows (g, k), columns (g, m) and entries (g, k, m)."""

    rows: Tensor
    columns: Tensor
    entries: Tensor


@dataclass(frozen=True, eq=False)
class TiledRows:
    """A table (h, n) split into dense tiles and other rows."""

    shape: tuple[int, int]
    tiles: tuple[_Tiles, ...]
    others: Tensor  # (d,) rows that are in no tile
    dense: Tensor  # (d, n) these rows

    @classmethod
    def of(cls, table: Tensor, *, has_margin: bool = False) -> "TiledRows | None":
        """Return a table (h, n) as tiles, or None where that is not worth it.

        With ``has_margin`` the last column is that of a margin, in which all rows have entries.
        """
        height, dim = table.shape
        if table.numel() < LARGE_TABLE or torch.count_nonzero(table) > MAX_SHARE * table.numel():
            return None
        step_point()
        is_there = table != 0
        seen = is_there[:, :-1] if has_margin else is_there
        first, last = seen.int().argmax(dim=1), seen.shape[1] - 1 - seen.flip(1).int().argmax(dim=1)
        step_point()
        _, patches = torch.unique(first * dim + last, return_inverse=True)
        order = torch.argsort(patches, stable=True)
        others, shapes = [], {}
        for rows in order.split(torch.bincount(patches).tolist()):
            step_point()
            columns = torch.nonzero(is_there[rows].any(dim=0))[:, 0]
            if len(rows) < MIN_ROWS or len(columns) > MAX_SHARE * dim:
                others.append(rows)
            else:
                shapes.setdefault((len(rows), len(columns)), []).append((rows, columns))
        left = torch.cat(others).sort().values if others else order[:0]
        if len(left) > (1 - WORTH_IT) * height:
            return None
        tiles = []
        for found in shapes.values():
            step_point()
            rows, columns = (torch.stack(parts) for parts in zip(*found, strict=True))
            tiles.append(_Tiles(rows, columns, table[rows[:, :, None], columns[:, None, :]]))
        return cls((height, dim), tuple(tiles), left, table[left])

    def products(self, points: Tensor) -> Tensor:
        """Return products of all rows with points (r, n), as (r, h)."""
        found = points.new_empty(len(points), self.shape[0])
        found[:, self.others] = points @ self.dense.mT
        for rows, columns, entries in self.tiles:
            # (g, k, m) times (g, m, r)
            found[:, rows] = (entries @ points[:, columns].permute(1, 2, 0)).permute(2, 0, 1)
        return found

    def pull(self, weights: Tensor) -> Tensor:
        """Return sums of rows with weights (r, h), as (r, n)."""
        total = weights[:, self.others] @ self.dense
        for rows, columns, entries in self.tiles:
            # (g, r, k) times (g, k, m); patches overlap
            sums = (weights[:, rows].transpose(0, 1) @ entries).transpose(0, 1)
            for tile, where in enumerate(columns):
                total[:, where] += sums[:, tile]
        return total

    def add_gram(self, total: Tensor, sides: Tensor) -> Tensor:
        """Add the products of columns of rows in tiles, times their entries of sides (h,), to a matrix (n, n).

        Changes ``total`` in place. Returns the other rows (d, n) times their entries, which are still to be added.
        """
        for rows, columns, entries in self.tiles:
            step_point()
            weighted = entries * sides[rows][:, :, None]
            products = weighted.mT @ weighted
            for where, own in zip(columns, products, strict=True):
                total[where[:, None], where] += own
        return self.dense * sides[self.others][:, None]
