"""Whatever the number of threads, every engine finds the same tables, reals up to the rounding of linear algebra."""

import numpy as np
import pytest
import torch

import reluscope as rs
from reluscope.findings import Claim
from reluscope.geometry.cutting import double_description
from reluscope.networks.evaluation import affine_values
from reluscope.partitions.table.stored_columns import column_arrays
from reluscope.testing import default_network

CASES = [
    ("incidence", [2, 40, 40, 1], rs.Box(-1, 1, 2), "vertices"),
    ("incidence", [3, 16, 16, 1], rs.Box(-1, 1, 3), "vertices"),
    ("cellwise", [3, 16, 16, 1], rs.Box(-1, 1, 3), "vertices"),
    ("cellwise", [3, 10, 10, 1], rs.Space(3), "vertices"),
    ("cellwise", [4, 8, 8, 1], rs.Box(-1, 1, 4), "codes"),
    ("tree", [4, 6, 6, 1], rs.Box(-1, 1, 4), "codes"),
]


@pytest.fixture
def set_threads(monkeypatch):
    """Set the number of threads, which kernels use however little there is to do."""
    for module in (double_description, affine_values):
        monkeypatch.setattr(module, "THREADED_WORK", 0)
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("engine", "sizes", "domain", "keep"), CASES, ids=lambda one: one if isinstance(one, str) else ""
)
def test_any_number_of_threads_finds_the_same_tables(set_threads, engine, sizes, domain, keep):
    net, found = rs.load(default_network(sizes)), []
    for number in (1, 2, 4):
        set_threads(number)
        part = rs.partition(net, domain, method=engine, keep=keep)
        arrays, _ = column_arrays(part.geometry)
        left, right, _ = part.facet_columns.inner
        found.append([part.codes.words, left, right, *arrays.values(), np.array(part.num_undecided)])
        assert part.claim is Claim.EXACT
    assert len(found[0][0]) > 50
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            if one.dtype.kind == "f":
                np.testing.assert_allclose(one, two, rtol=0, atol=1e-12)
            else:
                np.testing.assert_array_equal(one, two)
