"""Blocks of coefficient matrices kept in a folder, so that they are computed once and work that was stopped goes on.

A folder belongs to one network, one set of points, one choice of outputs and one way of cutting samples into blocks,
all named in its key. Every finished block is a file of its own in Arrow's format, which is mapped into memory when it
is read; a block that is not there whole is not there.
"""

import hashlib
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch
from jaxtyping import Float

from reluscope.errors import InputError
from reluscope.networks.network import Network
from reluscope.partitions.storage import write_whole

KEY = "coefficients.json"


class KeptBlocks:
    """Finished blocks in a folder.

    Parameters
    ----------
    folder : Path
        Made if it is not there.
    key : mapping of str
        What the blocks depend on.

    Raises
    ------
    InputError
        If the folder holds something else, or coefficients of another network, other points or outputs.
    """

    def __init__(self, folder: Path, key: dict[str, str]) -> None:
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            # What was being written when a process ended begins with a dot.
            there = sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
        except OSError as error:
            raise InputError(f"could not make {folder} to keep coefficients: {error.strerror or error}") from error
        if KEY not in there:
            if there:
                raise InputError(
                    f"expected an empty folder or one of coefficients to keep them in, but {folder} holds {there[0]}: "
                    "name another one"
                )
            write_whole(folder / KEY, lambda file: file.write(json.dumps(key, indent=1).encode()))
            return
        try:
            kept = json.loads((folder / KEY).read_text(encoding="utf-8"))
        except ValueError:
            kept = {}
        kept = kept if isinstance(kept, dict) else {}
        differing = [what for what, value in key.items() if kept.get(what) != value]
        if differing:
            raise InputError(
                f"{folder} keeps coefficients of another {differing[0]}: name another folder, or remove it"
            )

    def __getitem__(self, rows: slice) -> Float[torch.Tensor, "m rows c"] | None:
        """Return a block, mapped from its file; None if it is not there, or not to be read."""
        path = self._path(rows)
        if not path.is_file():
            return None
        try:
            with pa.memory_map(str(path)) as file:
                table = pa.ipc.open_file(file).read_all()
            columns = [column.chunk(0).flatten().to_numpy() for column in table.columns]
            values = np.stack([column.reshape(rows.stop - rows.start, -1) for column in columns])
        except (OSError, ValueError, IndexError, pa.ArrowInvalid):
            return None  # cut short, or no such table: as good as none
        return torch.from_numpy(values)

    def __setitem__(self, rows: slice, values: Float[torch.Tensor, "m rows c"]) -> None:
        arrays = [
            pa.FixedSizeListArray.from_arrays(pa.array(output.reshape(-1)), values.shape[2])
            for output in values.cpu().numpy()
        ]
        table = pa.table(arrays, names=[f"output {number}" for number in range(len(arrays))])

        def write(file) -> None:
            with pa.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table.combine_chunks())

        write_whole(self._path(rows), write)

    def _path(self, rows: slice) -> Path:
        return self._folder / f"samples-{rows.start:09d}-{rows.stop:09d}.arrow"


def key_of(network: Network, points: torch.Tensor, outputs: tuple[int, ...], block: int) -> dict[str, str]:
    """Return everything that kept blocks depend on, in words and digests."""
    digest = hashlib.sha256(np.ascontiguousarray(points.cpu().numpy()).tobytes()).hexdigest()
    return {
        "network": network.fingerprint,
        "set of points": f"{tuple(points.shape)} {digest}",
        "choice of outputs": str(outputs),
        "memory (samples in a block)": str(block),
    }
