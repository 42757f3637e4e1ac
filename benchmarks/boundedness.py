"""Which regions of a whole space are bounded: normals in floats, and fractions where sides are parallel."""

import torch

import reluscope as rs
from benchmarks.measure import Measurement, paired
from benchmarks.models import mlp
from reluscope.partitions.table.boundedness import boundedness

TARGET = "some ten microseconds a region in floats, milliseconds in fractions where sides are parallel"

CASES = [(2, 64, 64, 1), (3, 20, 20, 1), (3, 64, 16, 1), (3, 4, 4, 4, 1), (4, 12, 12, 1), (5, 16, 1)]


def run(quick: bool) -> list[Measurement]:
    """Time each on one thread; the ratio is to the partition by cells."""
    torch.set_num_threads(1)
    rows = []
    for sizes in CASES[:2] if quick else CASES:
        network, space = mlp(*sizes), rs.Space(sizes[0])
        part = rs.partition(network, space, method="cellwise")
        ratio, seconds, reference = paired(
            lambda network=network, space=space, part=part: boundedness(network, space, part.codes.words),
            lambda network=network, space=space: rs.partition(network, space, method="cellwise"),
            3,
        )
        found = part.boundedness_finding()
        detail = (
            f"{int(found):,} of {len(part):,} regions, {1e6 * seconds / len(part):.0f} microseconds each, {found.claim}"
        )
        rows.append(Measurement(str(list(sizes)), seconds, ratio, reference, detail=detail))
    return rows
