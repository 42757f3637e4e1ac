"""Chunks of a few cells, so that small networks have seams everywhere."""

import pytest

from reluscope.partitions.complexes import incidence


@pytest.fixture
def chunks_of(monkeypatch):
    """Return a function that sets how many cells a chunk may have."""

    def set_size(cells: int) -> None:
        monkeypatch.setattr(incidence, "_chunk_cells", lambda network, chunk: cells)

    return set_size
