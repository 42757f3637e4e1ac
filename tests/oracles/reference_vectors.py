"""Published region counts of small networks with pseudo-random weights, found by an independent enumeration by LPs.

Weights come from s <- (1103515245 s + 12345) mod 2^31 with value 2s / 2^31 - 1 and seed 2018; layers in order, W
row-major, then b; last an output layer of one unit. Columns: regions of full dimension in R^n, in the open box
(-1, 1)^n, distinct affine maps, bounded regions, pairs at Hamming distance 1, facet-adjacent pairs, mean and largest
degree.
"""

from typing import NamedTuple


class Vector(NamedTuple):
    num_inputs: int
    widths: tuple[int, ...]
    space: int
    box: int
    maps: int
    bounded: int
    hamming_one: int
    adjacent: int
    mean_degree: float
    max_degree: int


VECTORS = [
    Vector(1, (3, 3), 9, 6, 9, 7, 8, 8, 1.7778, 2),
    Vector(1, (8, 8), 22, 12, 22, 20, 21, 21, 1.9091, 2),
    Vector(1, (4, 4, 4), 10, 4, 10, 8, 9, 9, 1.8000, 2),
    Vector(2, (4,), 11, 6, 11, 3, 16, 16, 2.9091, 4),
    Vector(2, (8,), 37, 28, 37, 21, 64, 64, 3.4595, 5),
    Vector(2, (3, 3), 17, 10, 16, 5, 26, 26, 3.0588, 5),
    Vector(2, (8, 8), 119, 61, 119, 91, 222, 222, 3.7311, 7),
    Vector(2, (4, 4, 4), 67, 16, 55, 45, 124, 121, 3.6119, 5),
    Vector(2, (11, 11), 263, 86, 263, 219, 507, 502, 3.8175, 8),
    Vector(3, (4,), 15, 9, 15, 1, 28, 28, 3.7333, 4),
    Vector(3, (8,), 93, 39, 93, 35, 232, 232, 4.9892, 8),
    Vector(3, (3, 3), 23, 12, 16, 1, 44, 44, 3.8261, 6),
    Vector(3, (4, 4, 4), 135, 40, 123, 45, 344, 338, 5.0074, 9),
    Vector(3, (8, 8), 654, 152, 654, 476, 1850, 1835, 5.6116, 11),
    Vector(4, (4,), 16, 14, 16, 0, 32, 32, 4.0000, 4),
    Vector(4, (8,), 163, 68, 163, 35, 512, 512, 6.2822, 8),
    Vector(4, (3, 3), 19, 18, 12, 0, 36, 36, 3.7895, 5),
]
