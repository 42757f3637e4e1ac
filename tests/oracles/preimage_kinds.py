"""The kind of a preimage by brute force: all bases of a small system of whole numbers, in rational arithmetic."""

from fractions import Fraction
from itertools import combinations


def kind_by_enumeration(A, b, y):
    """Return EMPTY, SINGLETON, COMPACT or UNBOUNDED for relu(A x + b) = y with whole numbers.

    The set {P x = c, Z x <= d} is cut by a box beyond all vertices: it is empty if the cut has no vertex, unbounded if
    one of these is on the box, and else as many points as there are vertices.
    """
    n = len(A[0])
    equal = [(row, value - offset) for row, offset, value in zip(A, b, y, strict=True) if value > 0]
    below = [(row, -offset) for row, offset, value in zip(A, b, y, strict=True) if value == 0]
    # By Cramer and Hadamard no vertex has an entry as large as this.
    entries = [abs(entry) for row, right in equal + below for entry in (*row, right)]
    far = (max(entries) + 1) ** n * n**n + 1
    for axis in range(n):
        unit = [int(axis == other) for other in range(n)]
        below += [(unit, far), ([-entry for entry in unit], far)]
    found = set()
    rows = equal + below
    for chosen in combinations(range(len(rows)), n):
        point = solve([rows[one][0] for one in chosen], [rows[one][1] for one in chosen])
        if (
            point is not None
            and all(dot(row, point) == right for row, right in equal)
            and all(dot(row, point) <= right for row, right in below)
        ):
            found.add(tuple(point))
    if not found:
        return "EMPTY"
    if any(abs(entry) == far for point in found for entry in point):
        return "UNBOUNDED"
    return "SINGLETON" if len(found) == 1 else "COMPACT"


def dot(row, point):
    return sum(entry * value for entry, value in zip(row, point, strict=True))


def solve(matrix, right):
    """Return the only solution by Gauss and Jordan, or None."""
    rows = [[Fraction(entry) for entry in (*row, value)] for row, value in zip(matrix, right, strict=True)]
    n = len(rows)
    for column in range(n):
        pivot = next((row for row in range(column, n) if rows[row][column]), None)
        if pivot is None:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        rows[column] = [entry / rows[column][column] for entry in rows[column]]
        for row in range(n):
            if row != column and rows[row][column]:
                factor = rows[row][column]
                rows[row] = [one - factor * other for one, other in zip(rows[row], rows[column], strict=True)]
    return [row[-1] for row in rows]
