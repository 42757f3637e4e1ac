"""Numbers of a partition: what is undecided, unfinished or unmatched is in their ends, each by itself."""

from math import inf
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse

import reluscope as rs
from reluscope.partitions.partition_findings import (
    bounded_regions,
    number_of_adjacent_pairs,
    number_of_bounded_regions,
    number_of_regions,
)
from reluscope.partitions.table.boundedness import Boundedness

NET = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
ALL = {"num_open": 0, "num_undecided": 0, "num_pending": 0, "num_unmatched": 0, "proved": "1111", "unconfirmed": 0}


class Four:
    """What is asked of a partition of four regions in a ring, two of which are bounded."""

    def __init__(self, **known):
        known = {**ALL, **known}
        self.num_open, self.num_undecided, self.num_pending = (
            known[name] for name in ("num_open", "num_undecided", "num_pending")
        )
        self.facet_columns = SimpleNamespace(num_unmatched=known["num_unmatched"])
        self.proved = np.array([digit == "1" for digit in known["proved"]])
        self.claim = "LOWER" if self.num_open or self.num_undecided else "EXACT"
        self.domain, self.tolerance = rs.Box(-1, 1, 2), SimpleNamespace(resolution=1e-12)
        self.method, self.certified, self.stop = "by hand", False, None
        self.work = {"cells_unconfirmed": known["unconfirmed"]}

    def __len__(self):
        return 4

    def adjacency(self):
        ring = np.roll(np.eye(4), 1, axis=0)
        return scipy.sparse.csr_array(ring + ring.T)

    def boundedness(self):
        return bounded_regions(self, Boundedness(np.array([True, False, True, False]), self.proved))


def ends(finding):
    return finding.value, str(finding.claim), finding.interval or (finding.value, finding.value)


@pytest.mark.parametrize(
    ("known", "found"),
    [
        ({}, (4, "EXACT", (4, 4))),
        ({"num_pending": 3, "num_open": 1}, (7, "LOWER", (7, inf))),
        ({"num_open": 1}, (4, "LOWER", (4, inf))),
        ({"num_undecided": 1}, (4, "LOWER", (4, inf))),
        ({"unconfirmed": 3}, (4, "UPPER", (1, 4))),
        ({"unconfirmed": 3, "num_open": 1, "num_pending": 2}, (6, "ESTIMATE", (3, inf))),
    ],
)
def test_regions(known, found):
    finding = number_of_regions(Four(**known))
    assert ends(finding) == found
    assert finding.tolerance == 1e-12


@pytest.mark.parametrize(
    ("known", "found", "undecided"),
    [
        ({}, (4, "EXACT", (4, 4)), 0),
        ({"num_open": 1}, (4, "LOWER", (4, inf)), 0),
        ({"num_undecided": 2}, (4, "LOWER", (4, inf)), 2),
        ({"num_unmatched": 3}, (4, "LOWER", (4, inf)), 3),
        ({"num_undecided": 2, "num_unmatched": 3}, (4, "LOWER", (4, inf)), 3),
        ({"unconfirmed": 1}, (4, "UPPER", (0, 4)), 0),
    ],
)
def test_pairs(known, found, undecided):
    finding = number_of_adjacent_pairs(Four(**known))
    assert ends(finding) == found
    assert (finding.num_undecided, finding.tolerance) == (undecided, 1e-12)


@pytest.mark.parametrize(
    ("known", "found", "undecided"),
    [
        ({}, (2, "EXACT", (2, 2)), 0),
        ({"num_open": 1}, (2, "LOWER", (2, inf)), 0),
        ({"num_undecided": 5}, (2, "LOWER", (2, inf)), 5),
        ({"proved": "1000"}, (2, "ESTIMATE", (1, 4)), 3),
        ({"proved": "1100"}, (2, "ESTIMATE", (1, 3)), 2),
        ({"unconfirmed": 1}, (2, "UPPER", (1, 2)), 0),
        ({"unconfirmed": 3}, (2, "UPPER", (0, 2)), 0),
        ({"proved": "1101", "num_open": 1}, (2, "ESTIMATE", (1, inf)), 1),
        ({"proved": "1101", "num_undecided": 1}, (2, "ESTIMATE", (1, inf)), 1),
    ],
)
def test_bounded_regions(known, found, undecided):
    finding = number_of_bounded_regions(Four(**known))
    assert ends(finding) == found
    assert (finding.num_undecided, finding.tolerance) == (undecided, 1e-12)


def test_every_region_has_a_claim_of_its_own():
    column = Four(proved="1100").boundedness()["is_bounded"]
    assert [str(claim) for claim in column.claims] == ["EXACT", "EXACT", "UPPER", "LOWER"]
    assert (column.value.tolist(), column.lower.tolist(), column.upper.tolist()) == (
        [1, 0, 1, 0],
        [1, 0, 0, 0],
        [1, 0, 1, 1],
    )


def test_a_partition_itself():
    part = rs.partition(NET, rs.Box(-1, 1, 2))
    assert ends(number_of_regions(part)) == (4, "EXACT", (4, 4))
    assert ends(number_of_adjacent_pairs(part)) == (4, "EXACT", (4, 4))
    assert ends(number_of_bounded_regions(part)) == (4, "EXACT", (4, 4))
    assert number_of_regions(rs.certify(rs.partition(NET, rs.Box(-1, 1, 2)))).method.endswith("rational arithmetic")
