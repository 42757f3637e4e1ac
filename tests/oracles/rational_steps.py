"""Networks as plain lists of steps, evaluated in fractions, and the same steps as a network.

A step is ``("affine", W, b)``, ``("pointwise", breakpoints, slopes, intercepts)``, the same for all units, or
``("max", k)`` of k neighbours. Nothing here comes from the library but what builds the network.
"""

from fractions import Fraction

import numpy as np
import torch

from reluscope.networks.building.builder import GraphBuilder

RELU = ("pointwise", [0.0], [0.0, 1.0], [0.0, 0.0])
LEAKY = ("pointwise", [0.0], [0.1, 1.0], [0.0, 0.0])
ABSOLUTE = ("pointwise", [0.0], [-1.0, 1.0], [0.0, 0.0])


def affine(weight, bias):
    return ("affine", np.array(weight, dtype=np.float64), np.array(bias, dtype=np.float64))


def network_of(steps, num_inputs):
    """Return the network, one node for each step."""
    builder = GraphBuilder()
    value = builder.input((num_inputs,))
    for step in steps:
        if step[0] == "affine":
            value = builder.linear(value, torch.tensor(step[1]), torch.tensor(step[2]))
        elif step[0] == "pointwise":
            value = builder.pointwise(value, "kink", *step[1:])
        else:
            value = builder.maxout(value, 0, step[1])
    return builder.build(value)


def fractions_of(numbers):
    return [Fraction(float(number)) for number in numbers]


def rational_values(steps, point):
    """Return the value after every step, in fractions."""
    values = fractions_of(point)
    found = []
    for step in steps:
        if step[0] == "affine":
            values = [
                sum((w * v for w, v in zip(fractions_of(row), values, strict=True)), Fraction(float(b)))
                for row, b in zip(step[1], step[2], strict=True)
            ]
        elif step[0] == "pointwise":
            points, slopes, intercepts = (fractions_of(table) for table in step[1:])
            pieces = [sum(value > point for point in points) for value in values]
            values = [slopes[piece] * value + intercepts[piece] for piece, value in zip(pieces, values, strict=True)]
        else:
            size = step[1]
            values = [max(values[i : i + size]) for i in range(0, len(values), size)]
        found.append(values)
    return found


def rational_map(steps, point):
    """Return weight and constant of the affine map at a point off all kinks, in fractions: lists of rows."""
    rows = [[Fraction(int(i == j)) for j in range(len(point))] + [Fraction(0)] for i in range(len(point))]
    before = fractions_of(point)
    for step, after in zip(steps, rational_values(steps, point), strict=True):
        if step[0] == "affine":
            rows = [
                [
                    sum((w * row[k] for w, row in zip(fractions_of(own), rows, strict=True)), Fraction(0))
                    for k in range(len(point) + 1)
                ]
                for own in step[1]
            ]
            rows = [[*row[:-1], row[-1] + Fraction(float(b))] for row, b in zip(rows, step[2], strict=True)]
        elif step[0] == "pointwise":
            points, slopes, intercepts = (fractions_of(table) for table in step[1:])
            pieces = [sum(value > point for point in points) for value in before]
            rows = [
                [*(slopes[piece] * entry for entry in row[:-1]), slopes[piece] * row[-1] + intercepts[piece]]
                for piece, row in zip(pieces, rows, strict=True)
            ]
        else:
            size = step[1]
            chosen = [i + before[i : i + size].index(max(before[i : i + size])) for i in range(0, len(before), size)]
            rows = [rows[i] for i in chosen]
        before = after
    return rows
