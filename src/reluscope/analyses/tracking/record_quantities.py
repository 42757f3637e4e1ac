"""What a record measures: names as columns have them, and what each number means."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class TrackedQuantity:
    """One measured number, or one per gate or segment.

    Columns of the claims and intervals have the name with ``_claim`` and ``_interval`` behind it.
    """

    name: str  # of its column
    title: str  # as a reader would say it
    definition: str
    per: Literal["network", "gate", "segment"] = "network"  # what there is one number of
    is_count: bool = False  # whether it is a whole number
    is_share: bool = False  # whether it is a share, for readers in percent
    setting: str = ""  # what a run must ask for to have it; empty: always


def _of_gates(
    name: str, title: str, definition: str, *, is_count: bool = False, is_share: bool = False
) -> tuple[TrackedQuantity, TrackedQuantity]:
    return (
        TrackedQuantity(name, title, definition, "network", is_count, is_share),
        TrackedQuantity(
            f"{name}_by_gate", f"{title}, by gate", f"{definition}, of one gate", "gate", is_count, is_share
        ),
    )


QUANTITIES = {
    quantity.name: quantity
    for quantity in (
        TrackedQuantity("accuracy", "accuracy", "share of samples whose class is their label", is_share=True),
        TrackedQuantity("cross_entropy", "cross-entropy", "mean over samples of log sum_j exp(z_j) - z_label"),
        *_of_gates("distinct_codes", "distinct codes", "number of different codes among the samples", is_count=True),
        TrackedQuantity(
            "distinct_codes_correct",
            "distinct codes of correct samples",
            "number of different codes among the samples whose class is their label",
            is_count=True,
        ),
        *_of_gates(
            "changed_samples",
            "samples with a new code",
            "share of samples whose code is another one than at the record before",
            is_share=True,
        ),
        *_of_gates(
            "changed_units",
            "changed units per sample",
            "mean over samples of the number of units on another piece than at the record before",
        ),
        *_of_gates(
            "activation_rate",
            "activation rate",
            "mean share of units of two pieces that are on the upper one",
            is_share=True,
        ),
        *_of_gates(
            "dead_units", "dead units", "number of units that stay on one flat piece at all samples", is_count=True
        ),
        *_of_gates(
            "always_on_units",
            "always-on units",
            "number of units that stay at all samples on one piece that is not flat, or on one candidate",
            is_count=True,
        ),
        TrackedQuantity(
            "segment_regions", "regions on a segment", "number of linear regions on a fixed segment", "segment", True
        ),
        TrackedQuantity(
            "median_segment_regions",
            "median regions on segments",
            "median over the fixed segments of the number of linear regions on them",
        ),
        TrackedQuantity(
            "spectral_norm",
            "median spectral norm of the Jacobian",
            "median over fixed samples of the largest singular value of the Jacobian",
        ),
        TrackedQuantity(
            "frobenius_norm",
            "median Frobenius norm of the Jacobian",
            "median over fixed samples of the root of the sum of squares of the Jacobian",
        ),
        TrackedQuantity(
            "plane_regions", "regions on the plane", "number of linear regions on the fixed plane", is_count=True
        ),
        TrackedQuantity(
            "crossing_units",
            "mean units that cross a cross-polytope",
            "mean over fixed samples of the number of units that are not on one piece at all vertices of a "
            "cross-polytope of the given radius around the sample",
            setting="complexity_radius",
        ),
        TrackedQuantity(
            "square_regions",
            "mean regions in a square",
            "mean over fixed samples of the number of linear regions in the square of the given half-width around the "
            "sample, in a fixed random plane",
            setting="complexity_radius",
        ),
        TrackedQuantity(
            "kink_density",
            "mean density of bends",
            "mean over fixed samples of the sum over units of the length of the gradient of the pre-activation times "
            "the standard normal density at its distance from the breakpoint",
            setting="complexity_radius",
        ),
    )
}


def quantities_of(settings: Mapping[str, Any]) -> dict[str, TrackedQuantity]:
    """Return what a run under some settings measures."""
    return {
        name: quantity
        for name, quantity in QUANTITIES.items()
        if not quantity.setting or settings.get(quantity.setting) is not None
    }
