"""Regions on their way into a file: they wait on disk until all are there, and those of one code become one.

Work of any size writes what it finishes behind each other, and a digest of every code beside it. What has to be known
of all regions together is told from the digests, which are spread over files that fit into memory one at a time.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from reluscope.files.spilled_rows import SpilledRows
from reluscope.freed_memory import give_back
from reluscope.partitions.table.region_rows import RegionRows, digests

# So often memory that was freed is given back.
ROWS_BETWEEN = 2**15
_KNOWN = np.dtype([("digest", np.uint64, 2), ("row", np.int64), ("rank", np.int64)])


@dataclass(frozen=True)
class Repeated:
    """Rows that are left out, since another row stands for their region."""

    rows: Int[np.ndarray, " k"]  # ascending
    stands: Int[np.ndarray, " k"]  # the row that stands for each

    def __len__(self) -> int:
        return len(self.rows)


class _Block(NamedTuple):
    """Regions that came together: how many, where they end in the file, and between which coordinates they lie."""

    number: int
    end: int
    box: Float[np.ndarray, "ends d"]


class StagedRegions:
    """Regions in a folder, in the order in which they came; a code may come several times.

    The folder is created, and nothing else may write there.
    """

    def __init__(self, folder: Path, num_words: int, dim: int, *, has_volumes: bool) -> None:
        folder.mkdir()
        self.num_words, self.dim, self.has_volumes = num_words, dim, has_volumes
        self._path, self._blocks = folder / "regions", list[_Block]()
        self._known = SpilledRows(folder / "known", _KNOWN)
        self.num_rows = 0

    def extend(self, parts: Sequence[RegionRows], ranks: Int[np.ndarray, " r"] | None = None) -> None:
        """Put regions behind the others: all of these, or, where memory does not suffice for that, none.

        Of several rows of one code the first of the lowest rank stands for the region.
        """
        import pyarrow as pa

        contents, writes, boxes = [], [], []
        number, end = self.num_rows, self._blocks[-1].end if self._blocks else 0
        for rows in parts:
            known = np.zeros(len(rows), dtype=_KNOWN)
            known["digest"] = digests(rows.words)
            known["row"] = np.arange(number, number + len(rows))
            known["rank"] = 0 if ranks is None else ranks
            writes.append(self._known.add(known["digest"][:, 0], known))
            volumes = np.zeros(0) if rows.volumes is None else rows.volumes
            # Neighbours differ in few units.
            words = pa.compress(rows.words.tobytes(), "lz4", asbytes=True)
            contents.append(volumes.tobytes() + rows.witnesses.tobytes() + words)
            number, end = number + len(rows), end + len(contents[-1])
            boxes.append(_Block(len(rows), end, rows.box))
        with open(self._path, "ab") as file:
            file.writelines(contents)
        for write in writes:
            write()
        # What is freed between the cells that go on would grow with the work.
        if number // ROWS_BETWEEN != self.num_rows // ROWS_BETWEEN:
            give_back()
        self._blocks += boxes
        self.num_rows = number

    def blocks(self) -> Iterator[RegionRows]:
        """Yield all rows in their order."""
        import pyarrow as pa

        begin = 0
        for block in self._blocks:
            with open(self._path, "rb") as file:
                file.seek(begin)
                content = file.read(block.end - begin)
            begin = block.end
            number, columns = block.number, self.has_volumes + self.dim
            numbers = np.frombuffer(content, np.float64, number * columns)
            volumes, witnesses = numbers[: number * self.has_volumes], numbers[number * self.has_volumes :]
            words = pa.decompress(content[8 * len(numbers) :], 8 * number * self.num_words, "lz4", asbytes=True)
            yield RegionRows(
                np.frombuffer(words, np.uint64).reshape(number, self.num_words),
                witnesses.reshape(number, self.dim),
                volumes if self.has_volumes else None,
                block.box,
            )

    def repeated(self) -> Repeated:
        """Return the rows of codes for which another row stands."""
        rows, stands = [], []
        for known in self._known:
            known = known[np.lexsort((known["row"], known["rank"], *known["digest"].T))]
            is_first = np.ones(len(known), dtype=bool)
            is_first[1:] = (known["digest"][1:] != known["digest"][:-1]).any(axis=1)
            first = known["row"][is_first][np.cumsum(is_first) - 1]
            rows.append(known["row"][~is_first])
            stands.append(first[~is_first])
        dropped, stand = np.concatenate(rows), np.concatenate(stands)
        order = np.argsort(dropped)
        return Repeated(dropped[order], stand[order])

    def distinct(self, repeated: Repeated, *, sums: bool) -> Iterator[RegionRows]:
        """Yield one row of every code, in order.

        With ``sums`` the volumes of rows that are left out belong to the region.
        """
        boxes = np.array([block.box for block in self._blocks]).reshape(-1, 2, self.dim)
        ends = np.cumsum([block.number for block in self._blocks])
        source, target = (np.searchsorted(ends, rows, side="right") for rows in (repeated.rows, repeated.stands))
        low, high = boxes[:, 0].copy(), boxes[:, 1].copy()
        np.minimum.at(low, target, boxes[source, 0])
        np.maximum.at(high, target, boxes[source, 1])
        by_stand = np.argsort(repeated.stands, kind="stable")
        stands, added = repeated.stands[by_stand], self._volumes_of(repeated.rows)[by_stand]
        first = 0
        for place, block in enumerate(self.blocks()):
            following = first + len(block)
            left_out = repeated.rows[slice(*np.searchsorted(repeated.rows, [first, following]))]
            kept = np.delete(np.arange(len(block)), left_out - first)
            volumes = block.volumes
            if sums and volumes is not None:
                volumes, here = volumes.copy(), slice(*np.searchsorted(stands, [first, following]))
                np.add.at(volumes, stands[here] - first, added[here])
            yield RegionRows(block.words, block.witnesses, volumes, np.stack([low[place], high[place]])).take(kept)
            first = following

    def _volumes_of(self, rows: Int[np.ndarray, " k"]) -> Float[np.ndarray, " k"]:
        """Return the volumes of some rows, ascending; zeros where there are none."""
        found, first = np.zeros(len(rows)), 0
        for block in self.blocks() if self.has_volumes and len(rows) else ():
            here = slice(*np.searchsorted(rows, [first, first + len(block)]))
            if block.volumes is not None:
                found[here] = block.volumes[rows[here] - first]
            first += len(block)
        return found
