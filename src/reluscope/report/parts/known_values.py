"""What quantities were in networks that are known, so that a report can say first what is unlike them.

Measured on the embedded network (8 x 8 digits, 184 units), and on its architecture with fresh weights as PyTorch draws
them (medians of three, 2026-11-23). They are two points on a scale, no norms: what lies outside deserves a look.
"""

from dataclasses import dataclass
from math import log10

from reluscope.report.parts.sentences import Sentence


@dataclass(frozen=True)
class KnownValues:
    """Values of one quantity that count as unsurprising."""

    initial: float  # of the network with fresh weights
    trained: float  # of the trained network
    is_share: bool = False  # compared by difference, other quantities by ratio


# From here on a sentence is said before those that are not unusual.
SURPRISING = 0.5
# What a network does not do at all, as bend, surprises more than any number.
MOST = 2.0
REFERENCES = {
    "distinct": KnownValues(1.0, 1.0, is_share=True),
    "dead": KnownValues(0.076, 0.027, is_share=True),
    "always_on": KnownValues(0.125, 0.082, is_share=True),
    "duplicate": KnownValues(0.0, 0.0, is_share=True),
    "nearest_of_same_class": KnownValues(0.868, 0.906, is_share=True),
    "regions_per_unit": KnownValues(0.26, 0.296),
    "plane_per_unit": KnownValues(10.3, 17.3),
    "condition": KnownValues(13.7, 19.2),
    "leaving": KnownValues(1.0, 1.0, is_share=True),  # where all samples have one class, there are no such ways
}


def surprise(name: str, value: float) -> float:
    """Return how far a value is from those of known networks, from 0 to 2.

    0 between them, 1 at a fifth more (shares), or tenfold; at most 2.
    """
    reference = REFERENCES[name]
    low, high = sorted((reference.initial, reference.trained))
    if low <= value <= high:
        return 0.0
    if reference.is_share:
        return min(MOST, 5 * (low - value if value < low else value - high))
    if value <= 0:
        return MOST
    return min(MOST, abs(log10(value / (low if value < low else high))))


def compared(text: str, value: float, *names: str, samples: int | None = None) -> Sentence:
    """Return text as a sentence that says how unusual its value is, compared where it is unusual.

    ``text`` must have no full stop.
    """
    unusual = max(surprise(name, value) for name in names)
    reference = REFERENCES[names[0]]
    if unusual < SURPRISING or not reference.is_share or reference.initial == reference.trained:
        return Sentence(f"{text}.", unusual, samples)
    known = (
        f"{100 * reference.initial:.1f} % with fresh weights, {100 * reference.trained:.1f} % in the embedded network"
    )
    return Sentence(f"{text} ({known}).", unusual, samples)
