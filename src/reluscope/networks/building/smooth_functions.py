"""Smooth activations as functions of one variable: values to 40 digits, bounds on curvature, lines that they go to.

Values come from `decimal`, whose ``exp`` and ``ln`` are correctly rounded, and for the error function from its series
of positive terms, whose remainder is bounded by a geometric series. With ``s(t) = 1 / (1 + exp(-t))``, curvatures are
bounded by ``|s'(t)| <= min(1/4, exp(-|t|))`` and ``|s''| <= s'``.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from functools import partial

import numpy as np

from reluscope.geometry.numbers.resolutions import OUTWARD

DIGITS = 40
# What every value below is known to, in real arithmetic.
ACCURACY = 1e-30
_PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")
_CONTEXT = Context(prec=DIGITS + 20)


@dataclass(frozen=True)
class SmoothFunction:
    """A smooth function that approaches a line on either side."""

    name: str
    value: Callable[[Decimal], Decimal]  # with an error of less than `ACCURACY`
    values: Callable[[np.ndarray], np.ndarray]  # the same for arrays of floats, nearly
    curvature: Callable[[float, float], float]  # bound on |second derivative| within an interval
    left: tuple[float, float]  # (slope, intercept), small integers
    right: tuple[float, float]  # (slope, intercept), small integers
    monotone_beyond: float  # distance to line decreases beyond this ``|x|``
    kinks: tuple[float, ...] = ()  # where the slope jumps

    @property
    def fewest(self) -> int:
        """The smallest number of pieces: the two lines meet, or one leads from one to the other."""
        return 2 if self.left[0] != self.right[0] else 3

    def error(self, x: float, slope: float, intercept: float) -> float:
        """Return a bound on ``|f - line|`` at a point, above the truth by rounding at most."""
        with localcontext(_CONTEXT):
            away = abs(self.value(Decimal(x)) - (Decimal(slope) * Decimal(x) + Decimal(intercept)))
            return math.nextafter(float(away + Decimal(ACCURACY)), math.inf)


def _sigmoid(x: Decimal) -> Decimal:
    e = (-abs(x)).exp()
    return 1 / (1 + e) if x >= 0 else e / (1 + e)


def _tanh(x: Decimal) -> Decimal:
    return 2 * _sigmoid(2 * x) - 1


def _softplus(x: Decimal) -> Decimal:
    return max(x, Decimal(0)) + (1 + (-abs(x)).exp()).ln()


def _silu(x: Decimal) -> Decimal:
    return x * _sigmoid(x)


def _mish(x: Decimal) -> Decimal:
    """``x tanh(log(1 + u))`` with ``u = exp(x)``, whose second factor is ``(2 u + u^2) / (2 + 2 u + u^2)``."""
    if x >= 0:
        v = (-x).exp()
        return x * (2 * v + 1) / (2 * v * v + 2 * v + 1)
    u = x.exp()
    return x * (2 * u + u * u) / (2 + 2 * u + u * u)


def _hardswish(x: Decimal) -> Decimal:
    return x * min(max(x + 3, Decimal(0)), Decimal(6)) / 6


def _erf(x: Decimal) -> Decimal:
    """``2 / sqrt(pi) exp(-x^2) sum_n 2^n x^(2n+1) / (2n+1)!!``, all terms of one sign."""
    square, term, n = x * x, x, 0
    if square > 120:  # 1 - erf is below exp(-120)
        return Decimal(1).copy_sign(x)
    total = term
    # Once terms fall by half, what is left of them is no more than the last.
    while abs(term) > Decimal(10) ** -(DIGITS + 10) * abs(total) or 2 * square > n + Decimal("1.5"):
        n += 1
        term *= 2 * square / (2 * n + 1)
        total += term
        if not total:
            break
    return 2 / _PI.sqrt() * (-square).exp() * total


def _gelu(x: Decimal) -> Decimal:
    return x * (1 + _erf(x / Decimal(2).sqrt())) / 2


def _cubic(x: Decimal) -> Decimal:
    return 2 * (2 / _PI).sqrt() * (x + Decimal("0.044715") * x * x * x)


def _gelu_by_tanh(x: Decimal) -> Decimal:
    return x * _sigmoid(_cubic(x))


def _nearest(low: float, high: float) -> tuple[float, float]:
    """Return the smallest and the largest absolute value of an interval."""
    return (0.0 if low <= 0.0 <= high else min(abs(low), abs(high))), max(abs(low), abs(high))


def _slope_of_sigmoid(t: float) -> float:
    return min(0.25, math.exp(-t)) * OUTWARD


def _curvature_of_sigmoid(scale: float, factor: float, low: float, high: float) -> float:
    near, _ = _nearest(low, high)
    return factor * scale * scale * _slope_of_sigmoid(scale * near)


def _curvature_of_softplus(low: float, high: float) -> float:
    return _slope_of_sigmoid(_nearest(low, high)[0])


def _curvature_of_silu(low: float, high: float) -> float:
    near, far = _nearest(low, high)
    return _slope_of_sigmoid(near) * (2.0 + far) * OUTWARD


def _curvature_of_mish(low: float, high: float) -> float:
    """With s the sigmoid, t the hyperbolic tangent and q = 1 - t^2: ``|f''| <= 2 q s + |x| q (s' + 2 t s^2)``.

    s increases, q decreases, and is at most ``4 exp(-2 x)``.
    """
    near, far = _nearest(low, high)
    square, steep = min(1.0, 4.0 * math.exp(-2.0 * low)) if low > 0 else 1.0, min(1.0, math.exp(min(0.0, high)))
    return square * (2.0 * steep + far * (_slope_of_sigmoid(near) + 2.0 * steep * steep)) * OUTWARD


def _curvature_of_hardswish(low: float, high: float) -> float:
    return OUTWARD / 3.0 if low < 3.0 and high > -3.0 else 0.0


def _curvature_of_gelu(low: float, high: float) -> float:
    near, far = _nearest(low, high)
    density = math.exp(-near * near / 2) / math.sqrt(2 * math.pi)
    return density * max(abs(2.0 - near * near), abs(2.0 - far * far)) * OUTWARD


def _curvature_of_gelu_by_tanh(low: float, high: float) -> float:
    """With t(x) twice the cubic: ``|x s(t)|'' <= s'(t) (2 t' + |x| (t'^2 + t''))``."""
    near, far = _nearest(low, high)
    c, a = 2 * math.sqrt(2 / math.pi), 0.044715
    steep, bent = c * (1 + 3 * a * far * far), 6 * a * c * far
    return _slope_of_sigmoid(c * (near + a * near**3)) * (2 * steep + far * (steep * steep + bent)) * OUTWARD


def _floats_of_sigmoid(x: np.ndarray) -> np.ndarray:
    return 0.5 * (1.0 + np.tanh(0.5 * x))


def _floats_of_gelu(x: np.ndarray) -> np.ndarray:
    return x * 0.5 * (1.0 + np.array([math.erf(one) for one in (x / math.sqrt(2.0)).tolist()]))


def _floats_of_gelu_by_tanh(x: np.ndarray) -> np.ndarray:
    return x * _floats_of_sigmoid(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))


_ZERO, _ONE, _IDENTITY = (0.0, 0.0), (0.0, 1.0), (1.0, 0.0)

SMOOTH = {
    one.name: one
    for one in (
        SmoothFunction("gelu", _gelu, _floats_of_gelu, _curvature_of_gelu, _ZERO, _IDENTITY, 2.0),
        SmoothFunction(
            "gelu_by_tanh",
            _gelu_by_tanh,
            _floats_of_gelu_by_tanh,
            _curvature_of_gelu_by_tanh,
            _ZERO,
            _IDENTITY,
            2.0,
        ),
        SmoothFunction("silu", _silu, lambda x: x * _floats_of_sigmoid(x), _curvature_of_silu, _ZERO, _IDENTITY, 2.0),
        SmoothFunction(
            "mish", _mish, lambda x: x * np.tanh(np.logaddexp(0.0, x)), _curvature_of_mish, _ZERO, _IDENTITY, 2.0
        ),
        SmoothFunction(
            "hardswish",
            _hardswish,
            lambda x: x * np.clip(x + 3.0, 0.0, 6.0) / 6.0,
            _curvature_of_hardswish,
            _ZERO,
            _IDENTITY,
            3.0,
            (-3.0, 3.0),
        ),
        SmoothFunction(
            "softplus", _softplus, lambda x: np.logaddexp(0.0, x), _curvature_of_softplus, _ZERO, _IDENTITY, 0.0
        ),
        SmoothFunction(
            "sigmoid", _sigmoid, _floats_of_sigmoid, partial(_curvature_of_sigmoid, 1.0, 1.0), _ZERO, _ONE, 0.0
        ),
        SmoothFunction("tanh", _tanh, np.tanh, partial(_curvature_of_sigmoid, 2.0, 2.0), (0.0, -1.0), _ONE, 0.0),
    )
}
# What users call them; GELU by the tanh formula is a form of the first.
REPLACEABLE = ("gelu", "silu", "mish", "hardswish", "tanh", "sigmoid", "softplus")
