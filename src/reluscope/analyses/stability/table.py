"""Singular values of all prefixes of a network at samples, as a table, and what they say: size, condition, rank."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from jaxtyping import Float

from reluscope.analyses.medians import median_finding
from reluscope.analyses.stability.layers import Layer
from reluscope.arguments import Share, read_arguments, read_position
from reluscope.errors import InputError
from reluscope.findings import Claim, Finding

Measure = Literal["largest", "smallest", "condition", "num_nonzero", "stable_rank", "entropy_rank"]

NAMES: dict[Measure, str] = {
    "largest": "largest singular value",
    "smallest": "smallest nonzero singular value",
    "condition": "condition number",
    "num_nonzero": "number of nonzero singular values",
    "stable_rank": "stable rank",
    "entropy_rank": "effective rank",
}
DEFINITIONS: dict[Measure, str] = {
    "largest": "largest singular value of the Jacobian from the input on the region of a sample",
    "smallest": "smallest singular value that counts as nonzero",
    "condition": "largest singular value divided by the smallest that counts as nonzero",
    "num_nonzero": "number of singular values that count as nonzero",
    "stable_rank": "sum of the squares of the singular values divided by the square of the largest",
    "entropy_rank": "exponential of the entropy of the singular values divided by their sum",
}
SOURCES: dict[Measure, str] = {"entropy_rank": "roy2007"}


@dataclass(frozen=True, eq=False)
class Bounded:
    """Numbers ``(s,)`` and what bounds them from both sides; NaN where they are not defined or not known."""

    values: Float[np.ndarray, " s"]
    lower: Float[np.ndarray, " s"]
    upper: Float[np.ndarray, " s"]


@dataclass(frozen=True, eq=False)
class Spectra:
    """Singular values of the Jacobians of all prefixes, for the samples that were reached.

    Parameters
    ----------
    layers : tuple of Layer
    values, lower, upper : tuples of (s, k) float64
        One table per layer. Where the layer is complete, all singular values in descending order with bounds on each, k
        the shorter side of the Jacobian; otherwise the largest and the smallest nonzero one.
    complete : tuple of bool
        Per layer: whether all singular values are there.
    methods : tuple of str
        Per layer: how they were computed.
    num_inputs : int
    nonzero : tuple of float
        Per layer: a singular value counts as nonzero if it is larger than this share of the largest.
    population : int
        Samples that they stand for.
    notes : tuple of str
    stopped : str
        ``"time"`` or ``"interrupted"`` if not all given samples were reached, else empty.
    seconds : float
    """

    layers: tuple[Layer, ...]
    values: tuple[Float[np.ndarray, "s _"], ...]
    lower: tuple[Float[np.ndarray, "s _"], ...]
    upper: tuple[Float[np.ndarray, "s _"], ...]
    complete: tuple[bool, ...]
    methods: tuple[str, ...]
    num_inputs: int
    nonzero: tuple[float, ...]
    population: int
    notes: tuple[str, ...] = ()
    stopped: str = ""
    seconds: float = 0.0

    def __len__(self) -> int:
        return len(self.values[0])

    @read_arguments
    def curve(self, layer: int, quantile: Share = 0.5) -> Float[np.ndarray, " k"]:
        """Return a quantile over samples of the largest, the second largest, ... singular value of a layer.

        Raises
        ------
        InputError
            If only the extremes of this layer are known.
        """
        layer = read_position(layer, "layer", len(self.layers), "layers")
        if not self.complete[layer]:
            raise InputError(
                f"expected a layer with all its singular values, got {self.layers[layer].name} with the extremes only: "
                "ask for .measure(layer, 'largest') or raise memory="
            )
        return np.quantile(self.values[layer], quantile, axis=0)

    @read_arguments
    def measure(self, layer: int, which: Measure) -> Bounded:
        """Return a number per sample that a layer's singular values give.

        Parameters
        ----------
        layer : int
            Position among the layers.
        which : {"largest", "smallest", "condition", "num_nonzero", "stable_rank", "entropy_rank"}

        Returns
        -------
        Bounded
            NaN for a condition number or a smallest nonzero value where all are zero, and for ranks where only the
            extremes are known.
        """
        layer = read_position(layer, "layer", len(self.layers), "layers")
        return self._measures[layer][which]

    @cached_property
    def _measures(self) -> list[dict[Measure, Bounded]]:
        return [
            (_of_all if complete else _of_extremes)(values, lower, upper, share)
            for values, lower, upper, complete, share in zip(
                self.values, self.lower, self.upper, self.complete, self.nonzero, strict=True
            )
        ]

    @read_arguments
    def median(self, layer: int, which: Measure) -> Finding:
        """Return the median of a measure over samples.

        Returns
        -------
        Finding
            EXACT within its tolerance where all samples and all singular values are known; ESTIMATE where the samples
            stand for more; LOWER (largest value, condition number) or UPPER (smallest value) where only the extremes
            are known. NaN where no sample has it.
        """
        layer = read_position(layer, "layer", len(self.layers), "layers")
        found = self.measure(layer, which)
        defined = np.isfinite(found.values)
        fields = self._fields(layer, which)
        definition = fields.pop("definition")
        if not defined.any():
            return Finding(np.nan, Claim.ESTIMATE, definition=f"median of: {definition}; no sample has one", **fields)
        values, lower, upper = found.values[defined], found.lower[defined], found.upper[defined]
        drawn = self.population > len(self)
        if self.complete[layer] and (drawn or which != "num_nonzero" or (lower == upper).all()):
            error = float(np.max(np.maximum(upper - values, values - lower)))
            number = self.population if drawn else len(values)
            what = definition + ("" if defined.all() else f", of the {len(values):,} samples that have one")
            return median_finding(values, number, what=what, tolerance=error, **fields)
        interval = (float(np.median(lower)), float(np.median(upper)))
        claim = Claim.ESTIMATE if drawn else _one_sided(which, self.complete[layer])
        value = {Claim.LOWER: interval[0], Claim.UPPER: interval[1]}.get(claim, float(np.median(values)))
        where = f"{len(self):,} of {self.population:,} samples" if drawn else f"{len(values):,} samples"
        return Finding(
            value,
            claim,
            interval=interval,
            definition=f"median over {where} of: {definition}",
            domain=where,
            num_undecided=int(np.sum(lower != upper)) if which == "num_nonzero" else 0,
            **fields,
        )

    @read_arguments
    def of(self, sample: int, layer: int) -> tuple[Finding, ...]:
        """Return every measure of one sample's Jacobian that is defined, each with its claim."""
        sample = read_position(sample, "sample", len(self), "samples")
        layer = read_position(layer, "layer", len(self.layers), "layers")
        found = []
        for which in NAMES:
            every = self.measure(layer, which)
            value, low, high = (float(part[sample]) for part in (every.values, every.lower, every.upper))
            if np.isnan(value):
                continue
            fields: dict[str, Any] = {**self._fields(layer, which), "domain": "the region of one sample"}
            if which == "num_nonzero" and low == high:
                found.append(Finding(int(value), Claim.EXACT, **fields))
            elif which == "num_nonzero" or not self.complete[layer]:
                claim = _one_sided(which, self.complete[layer])
                shown = {Claim.LOWER: low, Claim.UPPER: high}.get(claim, value)
                found.append(Finding(shown, claim, interval=(low, high), **fields))
            else:
                found.append(Finding(value, Claim.EXACT, tolerance=max(high - value, value - low), **fields))
        return tuple(found)

    def _fields(self, layer: int, which: Measure) -> dict[str, Any]:
        one = self.layers[layer]
        share = f"; nonzero is above {self.nonzero[layer]:.2g} of the largest"
        needs_share = which in ("smallest", "condition", "num_nonzero")
        return {
            "name": f"{NAMES[which]} after {one.name} ({one.kind})",
            "definition": DEFINITIONS[which] + (share if needs_share else ""),
            "method": f"{self.methods[layer]}, float64",
            "source": SOURCES.get(which, "behrmann2018"),
            "work": {"seconds": self.seconds},
        }


def _one_sided(which: Measure, complete: bool) -> Claim:
    if complete:
        return Claim.ESTIMATE
    return Claim.UPPER if which == "smallest" else Claim.LOWER


def _of_all(values: np.ndarray, lower: np.ndarray, upper: np.ndarray, share: float) -> dict[Measure, Bounded]:
    counts = [
        (table > share * largest[:, :1]).sum(axis=1)
        for table, largest in ((values, values), (lower, upper), (upper, lower))
    ]
    smallest = [
        _entries(table, count) for table, count in zip((values, lower, upper), _same_or_wider(counts), strict=True)
    ]
    largest = [table[:, 0] for table in (values, lower, upper)]
    with np.errstate(divide="ignore", invalid="ignore"):
        condition = [largest[0] / smallest[0], largest[1] / smallest[2], largest[2] / smallest[1]]
    number = [count.astype(float) for count in counts]
    return {
        "largest": Bounded(*largest),
        "smallest": Bounded(*smallest),
        "condition": Bounded(*condition),
        "num_nonzero": Bounded(*number),
        "stable_rank": _stable_rank(values, lower, upper),
        "entropy_rank": _entropy_rank(values, np.maximum(upper - values, values - lower)),
    }


def _same_or_wider(counts: list[np.ndarray]) -> list[np.ndarray]:
    """Return which value is the smallest nonzero one: as computed, and the last and the first that it may be."""
    found, fewest, most = counts
    return [found, most, fewest]


def _entries(table: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the value at the end of the nonzero ones of every row, NaN where there are none."""
    found = np.take_along_axis(table, np.maximum(counts - 1, 0)[:, None], axis=1)[:, 0]
    return np.where(counts > 0, found, np.nan)


def _stable_rank(values: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> Bounded:
    with np.errstate(divide="ignore", invalid="ignore"):
        found = (
            np.sum(values**2, axis=1) / values[:, 0] ** 2,
            np.sum(lower**2, axis=1) / upper[:, 0] ** 2,
            np.sum(upper**2, axis=1) / lower[:, 0] ** 2,
        )
    return Bounded(*(np.where(values[:, 0] > 0, one, 0.0) for one in found))


def _entropy_rank(values: np.ndarray, errors: np.ndarray) -> Bounded:
    """Shares that differ by T in total variation have entropies that differ by ``T log(k) + h(T)`` at most."""
    total, error = values.sum(axis=1), errors.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = values / total[:, None]
        entropy = -np.sum(np.where(shares > 0, shares * np.log(shares), 0.0), axis=1)
        apart = np.where(total > error, error / (total - error), 0.5).clip(max=0.5)
        spread = np.where(apart > 0, -apart * np.log(apart) - (1 - apart) * np.log1p(-apart), 0.0)
    change = apart * np.log(values.shape[1]) + spread
    is_zero = total == 0
    return Bounded(*(np.where(is_zero, 0.0, np.exp(entropy + sign * change)) for sign in (0.0, -1.0, 1.0)))


def _of_extremes(values: np.ndarray, lower: np.ndarray, upper: np.ndarray, share: float) -> dict[Measure, Bounded]:
    del share
    unknown = Bounded(*(np.full(len(values), np.nan) for _ in range(3)))
    largest, smallest = (Bounded(values[:, end], lower[:, end], upper[:, end]) for end in (0, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        condition = Bounded(
            largest.values / smallest.values, largest.lower / smallest.upper, largest.upper / smallest.lower
        )
    return {
        "largest": largest,
        "smallest": smallest,
        "condition": condition,
        "num_nonzero": unknown,
        "stable_rank": unknown,
        "entropy_rank": unknown,
    }
