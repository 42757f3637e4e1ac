"""Affine functions and half-spaces written in Python and in LaTeX, with numbers as fractions."""

from collections.abc import Callable, Iterable
from fractions import Fraction

from reluscope.geometry.polyhedra.rational_polytopes import Row, primitive
from reluscope.networks.fractions.rational_maps import AffineFunction


def affine(function: AffineFunction) -> str:
    """Return an affine function in Python, with variables x1, x2, and so on."""
    return _sum(function, number, lambda size, name: name if size == 1 else f"{number(size)}*{name}", "x{}")


def affine_latex(function: AffineFunction) -> str:
    """Return an affine function in LaTeX."""
    return _sum(
        function, number_latex, lambda size, name: name if size == 1 else f"{number_latex(size)} {name}", "x_{{{}}}"
    )


def conditions(half_spaces: Iterable[Row]) -> list[str]:
    """Return half-spaces ``a . x + c >= 0`` in Python, two with opposite normals as one chain."""
    return _conditions(half_spaces, affine, number, "<=", ">=")


def conditions_latex(half_spaces: Iterable[Row]) -> list[str]:
    """Return half-spaces ``a . x + c >= 0`` in LaTeX, two with opposite normals as one chain."""
    return _conditions(half_spaces, affine_latex, number_latex, r"\le", r"\ge")


def number(value: Fraction) -> str:
    """Return a fraction in Python."""
    return str(value.numerator) if value.denominator == 1 else f"Fraction({value.numerator}, {value.denominator})"


def number_latex(value: Fraction) -> str:
    """Return a fraction in LaTeX."""
    if value.denominator == 1:
        return str(value.numerator)
    return rf"{'-' * (value < 0)}\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"


def _sum(
    function: AffineFunction, alone: Callable[[Fraction], str], term: Callable[[Fraction, str], str], variable: str
) -> str:
    *slope, constant = function
    parts = [(entry < 0, term(abs(entry), variable.format(axis))) for axis, entry in enumerate(slope, 1) if entry]
    if constant or not parts:
        parts.append((constant < 0, alone(abs(constant))))
    (minus, first), *others = parts
    return "-" * minus + first + "".join(f" {'-' if below else '+'} {text}" for below, text in others)


def _conditions(
    half_spaces: Iterable[Row],
    function: Callable[[AffineFunction], str],
    value: Callable[[Fraction], str],
    below: str,
    above: str,
) -> list[str]:
    # By normal: the least and the greatest value.
    sides: dict[Row, list[Fraction | None]] = {}
    for *normal, constant in half_spaces:
        direction = primitive(normal)
        axis = next(place for place, entry in enumerate(direction) if entry)
        bound = Fraction(constant * direction[axis], normal[axis])
        if direction[axis] > 0:
            sides.setdefault(direction, [None, None])[0] = -bound
        else:
            sides.setdefault(tuple(-entry for entry in direction), [None, None])[1] = bound
    found = []
    for direction, (low, high) in sides.items():
        left = function((*map(Fraction, direction), Fraction(0)))
        if low is not None and high is not None:
            found.append(f"{value(low)} {below} {left} {below} {value(high)}")
        elif low is not None:
            found.append(f"{left} {above} {value(low)}")
        elif high is not None:
            found.append(f"{left} {below} {value(high)}")
    return found
