"""Resolutions that modules share, each with what it is relative to.

What one module alone resolves stands there, as a named constant with a line of the same kind; the resolution of
partitions is a `Tolerance`, and what a claim may be off by is in `reluscope.findings.claims`.
"""

from reluscope.tolerance import EPSILON

# Relative to the result of one operation: what rounding to the nearest number of float64 may change.
UNIT_ROUNDOFF = EPSILON / 2
# Relative to the sum of the sizes of the terms: room for the rounding of a sum in float64, whatever its order.
SUMS = 1e-12
# Relative to a bound: by how much a bound is widened that a few operations in float64 computed.
OUTWARD = 1 + 1e-9
# Relative to the mean or the total: rounding of sums over samples and regions.
TOTALS = 1e-10
# Relative to the volume: volumes of hulls that Qhull computes.
HULLS = 1e-12
# Relative to the largest coordinate: how exactly corners are known where an engine keeps no blur.
CORNERS = 2.0**-44
# Relative to the length of a row before its projection: the length that rounding leaves of a row that is constant.
CONSTANT_ROWS = 1e-12
# Relative to the lengths of rows: by how much a point may violate a row that counts as met, facets and vertices.
FACETS = 1e-9
# Relative to the sizes of the terms of a sum: what counts as 0 where the kind of a preimage is read from signs.
ZEROS = 1e-9
# Relative to the scale of the objective: the gap that programs aim at.
RELATIVE_GAP = 1e-9
# Relative to the largest multiplier: smaller ones are left out of a proof.
MULTIPLIERS = 1e-12
# Of rows as they are given: feasibility that is asked of HiGHS, and the least that it takes.
FEASIBILITY, LEAST_FEASIBILITY = 1e-9, 1e-10
# Relative to nothing: keeps sizes from being 0 where something is divided by them or compared with them.
TINY = 1e-300
