"""What finished tasks have found of a level set, in a folder, so that interrupted work goes on from there."""

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import fields

import numpy as np

from reluscope.files import stored
from reluscope.files.kept_results import KeptResults, Record
from reluscope.geometry.polyhedra.domain_arrays import domain_arrays
from reluscope.geometry.polyhedra.domains import Domain
from reluscope.networks.network import Network
from reluscope.partitions.complexes.chunks import Chunk
from reluscope.partitions.driver.walk import Walked, task_name
from reluscope.partitions.levels.level_assembly import stacked
from reluscope.partitions.levels.level_patches import LevelPatch
from reluscope.tolerance import Tolerance

# How much of the work was there already.
KEPT = "kept_parts"


class KeptPatches(KeptResults):
    """What finished tasks have found, in a folder."""

    def __init__(
        self, folder: str | os.PathLike[str], key: Mapping[str, str], dim: int, num_words: int, num_tasks: int
    ) -> None:
        self._dim, self._num_words, self._num_tasks = dim, num_words, num_tasks
        super().__init__(folder, key)

    def to_record(self, value: Walked) -> Record:
        """Return the patches of a task as one, and its numbers."""
        patch = stacked(value.parts, self._dim, self._num_words)
        plain = {"undecided": value.num_undecided, "work": dict(value.work)}
        return Record(plain, {field.name: getattr(patch, field.name) for field in fields(LevelPatch)})

    def from_record(self, name: str, record: Record) -> Walked:
        """Return what a task has found."""
        if not name.isdecimal() or int(name) not in range(self._num_tasks) or name != task_name(int(name)):
            raise ValueError(f"there is no task {name}")
        patch = self._patch(record.arrays)
        undecided, work = stored.whole(record.plain, "undecided"), stored.numbers(record.plain, "work")
        return Walked([patch], len(patch), undecided, work={**work, KEPT: 1})

    def _patch(self, arrays: Mapping[str, np.ndarray]) -> LevelPatch:
        """Return the arrays of a patch, whose rows point at what is there."""
        dim, (number, cells, facets) = self._dim, (len(arrays[name]) for name in ("points", "sides", "facet_names"))
        ids = stored.array(arrays, "ids", np.int64, (None,), least=0, below=number)
        return LevelPatch(
            points=stored.array(arrays, "points", np.float64, (number, dim)),
            blur=stored.array(arrays, "blur", np.float64, (number,), least=0),
            names=stored.array(arrays, "names", np.uint64, (number,)),
            offsets=stored.offsets(arrays, "offsets", facets, len(ids)),
            ids=ids,
            cells=stored.array(arrays, "cells", np.int64, (facets, 2), least=-1, below=cells),
            facet_names=stored.array(arrays, "facet_names", np.uint64, (facets,)),
            border=stored.array(arrays, "border", np.int64, (None, dim - 1), least=-1, below=number),
            words=stored.array(arrays, "words", np.uint64, (cells, self._num_words)),
            witnesses=stored.array(arrays, "witnesses", np.float64, (cells, dim)),
            sides=stored.array(arrays, "sides", np.int8, (cells,), least=-1, below=2),
            walls=stored.array(arrays, "walls", np.float64, (None, 3), least=0),
            roots=stored.array(arrays, "roots", np.int64, (None,), least=0, below=1),
        )


def key_of(
    network: Network,
    domain: Domain,
    outputs: tuple[int, ...],
    level: float,
    tolerance: Tolerance,
    tasks: Sequence[Chunk],
) -> dict[str, str]:
    """Return what the patches depend on, in words."""
    where, how = hashlib.sha256(), hashlib.sha256()
    for name, array in domain_arrays(domain).items():
        where.update(f"{name} {array.dtype.str} {array.shape}".encode() + array.tobytes())
    for task in tasks:
        assert task.names is not None
        pieces = () if task.opened is None else (task.opened.pieces,)
        how.update(f"{task.stage} {len(task)} {len(task.names)} {len(pieces)}".encode())
        for array in (task.names, task.seams, *task.words, *pieces):
            how.update(np.ascontiguousarray(array).tobytes())
    return {
        "network": network.fingerprint,
        "domain": where.hexdigest(),
        "output": " ".join(map(str, outputs)),
        "level": level.hex(),
        "tolerance": f"{tolerance!r}",
        "version of reluscope": how.hexdigest(),
    }
