"""A dull oracle: Betti numbers by ranks of dense matrices over two elements, of faces that are sets of vertices."""

import itertools

import numpy as np


def rank(matrix):
    """Rank over two elements, by elimination."""
    rows = [np.array(row, dtype=bool) for row in matrix]
    found = 0
    while rows:
        pivot = rows.pop()
        if not pivot.any():
            continue
        found += 1
        column = pivot.argmax()
        rows = [row ^ pivot if row[column] else row for row in rows]
    return found


def betti_of_simplices(simplices, dim):
    """Betti numbers of the closure of simplices, given as tuples of vertices."""
    closed = [set() for _ in range(dim + 1)]
    for simplex in simplices:
        for size in range(1, len(simplex) + 1):
            closed[size - 1] |= {tuple(sorted(part)) for part in itertools.combinations(simplex, size)}
    faces = [sorted(some) for some in closed]
    ranks = [0]
    for k in range(1, dim + 1):
        place = {face: row for row, face in enumerate(faces[k - 1])}
        matrix = np.zeros((len(faces[k]), len(faces[k - 1])), dtype=bool)
        for row, face in enumerate(faces[k]):
            for part in itertools.combinations(face, k):
                matrix[row, place[part]] = True
        ranks.append(rank(matrix))
    ranks.append(0)
    return [len(some) - ranks[k] - ranks[k + 1] for k, some in enumerate(faces)]


def betti_of_cubes(inside):
    """Betti numbers of the union of the closed cubes of a grid that are inside: (n, ..., n) bool."""
    dim = inside.ndim
    # Cells of all dimensions, doubled: odd coordinates are open, even ones are walls.
    filled = np.zeros([2 * size + 1 for size in inside.shape], dtype=bool)
    for cube in np.argwhere(inside):
        filled[tuple(slice(2 * at, 2 * at + 3) for at in cube)] = True
    cells = [tuple(cell) for cell in np.argwhere(filled)]
    faces = [[cell for cell in cells if sum(at % 2 for at in cell) == k] for k in range(dim + 1)]
    ranks = [0]
    for k in range(1, dim + 1):
        place = {face: row for row, face in enumerate(faces[k - 1])}
        matrix = np.zeros((len(faces[k]), len(faces[k - 1])), dtype=bool)
        for row, face in enumerate(faces[k]):
            for axis in range(dim):
                if face[axis] % 2:
                    for step in (-1, 1):
                        matrix[row, place[(*face[:axis], face[axis] + step, *face[axis + 1 :])]] = True
        ranks.append(rank(matrix))
    ranks.append(0)
    return [len(some) - ranks[k] - ranks[k + 1] for k, some in enumerate(faces)]
