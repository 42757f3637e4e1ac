"""What a report ends with: conclusions that follow from its findings by declared rules, and which command looks closer.

A rule reads the headlines of the sections that it names, and applies where all of them are there. What it says holds
for every value between the ends of these numbers.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR
from math import floor, isfinite
from statistics import median

from reluscope.analyses.codespace.duplicates import NUM_DUPLICATES
from reluscope.analyses.codespace.usage_of_units import NUM_DEAD
from reluscope.findings import Claim, Finding
from reluscope.report.parts.content import Content, NumbersSideBySide
from reluscope.report.parts.document import SectionResult
from reluscope.report.parts.known_values import SURPRISING
from reluscope.report.parts.sentences import ends_of, roughly, said

MAX_CONCLUSIONS = 5
# From these ratios on one number is said to be much larger than another, and a number to be known only roughly.
MUCH, ROUGH = 10.0, 1.2
# From this ratio of densities on regions are said to crowd.
CROWDED = 1.1
# From so many affine maps on they are many, and from this share on a share is large.
MANY, LARGE = 3, 0.5


@dataclass(frozen=True)
class Conclusion:
    """What findings mean, and what to do next."""

    text: str  # a sentence or two
    closer: str  # the command or the call that looks closer


@dataclass(frozen=True)
class _Rule:
    """A conclusion that is drawn where sections are there and their findings allow it."""

    needs: tuple[str, ...]  # names of sections
    says: Callable[..., str | None]  # from their contents and what a sample is called
    closer: str


def conclusions_of(sections: Sequence[SectionResult], noun: str) -> tuple[Conclusion, ...]:
    """Return up to five conclusions, the most important first; ``noun`` is what a sample is called."""
    found = {one.name: one.content for one in sections if one.content is not None}
    return tuple(_drawn(found, noun))[:MAX_CONCLUSIONS]


def _drawn(found: Mapping[str, Content], noun: str) -> Iterator[Conclusion]:
    for rule in RULES:
        contents = [found.get(name) for name in rule.needs]
        if all(contents):
            text = rule.says(*contents, noun)
            if text is not None:
                yield Conclusion(text, rule.closer)


def _headline(content: Content) -> Finding | None:
    return None if content.headline is None else content.headline.finding


def _labels_fail(fit: Content, noun: str) -> str | None:
    if not any(sentence.surprise >= SURPRISING for sentence in fit.sentences):
        return None
    return (
        f"The network does not do what the labels say. What follows describes its regions, and says little about the "
        f"task: look first whether labels and {noun}s belong together and are scaled as in training."
    )


def _gradients_reach(balls: Content, robustness: Content, noun: str) -> str | None:
    region, other = _headline(balls), _headline(robustness)
    if region is None or other is None:
        return None
    (shortest, longest), (nearest, farthest) = ends_of(region), ends_of(other)
    if longest > 0 and isfinite(nearest) and nearest >= MUCH * longest:
        times = roughly(nearest / longest, ROUND_FLOOR)
        return (
            f"The gradient at a typical {noun} explains less than its class: the first unit bends at a distance of "
            f"{said(region)}, and the class stays the same {times} times as far or farther, through many other affine "
            "maps."
        )
    if 0 < farthest <= 2 * shortest:
        return (
            f"The gradient at a typical {noun} explains nearly all of its class: the nearest change of class is at "
            f"most {roughly(farthest / shortest, ROUND_CEILING)} times as far as the first unit that bends."
        )
    return None


def _radius_is_rough(robustness: Content, noun: str) -> str | None:
    radius = _headline(robustness)
    if radius is None or radius.claim is Claim.EXACT:
        return None
    low, high = ends_of(radius)
    if not (low > 0 and isfinite(high) and high > ROUGH * low):
        return None
    factor = roughly(high / low, ROUND_CEILING)
    within, known = roughly(low, ROUND_FLOOR), roughly(high, ROUND_CEILING)
    return (
        f"How far another class is from a typical {noun} is known up to a factor of {factor}: nothing changes within "
        f"{within}, and an adversarial {noun} is known at {known}."
    )


def _regions_are_no_classes(classes: Content, noun: str) -> str | None:
    mean = _headline(classes)
    if mean is None or ends_of(mean)[0] < 2:
        return None
    return (
        f"An activation pattern does not settle the class: the linear regions of {noun}s hold {said(mean)} classes "
        f"each on average. There an adversarial {noun} needs no unit to change."
    )


def _patterns_group(codes: Content, noun: str) -> str | None:
    number = _headline(codes)
    if number is None or number.num_samples is None or number.num_samples < 2:
        return None
    low, high = ends_of(number)
    if low == number.num_samples:
        return (
            f"Activation patterns of the whole network are too fine to group these {noun}s: each has its own. Those of "
            "single gates may be shared."
        )
    if high <= number.num_samples / MUCH:
        return (
            f"Activation patterns group these {noun}s: {said(number)} patterns for {number.num_samples:,}, and the "
            f"network is one affine map on all {noun}s of one pattern."
        )
    return None


def _units_are_idle(codes: Content, noun: str) -> str | None:
    first = next((block for block in codes.blocks if isinstance(block, NumbersSideBySide)), None)
    counts = {entry.finding.name: entry.finding for entry in first.entries} if first else {}
    dead, copies = counts.get(NUM_DEAD.title), counts.get(NUM_DUPLICATES.title)
    if dead is None or copies is None:
        return None
    kinds = ((dead, "dead"), (copies, "that only repeat others"))
    idle = [f"{said(one)} {what}" for one, what in kinds if ends_of(one)[0] > 0]
    if not idle:
        return None
    return (
        f"The network can be smaller on data like these. Units without a use on these {noun}s: {', '.join(idle)}. "
        "Whether that holds on a whole domain can be proved, and the units be taken out."
    )


def _first_loss(invariance: Content, noun: str) -> str | None:
    gates = invariance.data.get("gates", ())
    blind = next((place for place, gate in enumerate(gates) if any(gate["open_dimensions"])), 0)
    if not blind:
        return None
    before, at = gates[blind - 1]["name"], gates[blind]["name"]
    return (
        f"{before} keeps all that it is given about every {noun} that was looked at, and {at} does not: inputs that "
        f"differ and mean the same to the network begin at {at}."
    )


def _regions_crowd(segments: Content, noun: str) -> str | None:
    data = segments.data
    if not data.get("same_class") or any(claim != Claim.EXACT for claim in data["claims"]):
        return None
    density: dict[bool, list[float]] = {True: [], False: []}
    for same, regions, length in zip(data["same_class"], data["regions"], data["lengths"], strict=True):
        if length > 0:
            density[same].append(regions / length)
    if not (density[True] and density[False]):
        return None
    within, between = median(density[True]), median(density[False])
    if between >= CROWDED * within:
        where, ratio = f"between {noun}s of different classes than between those of one", between / within
    elif within >= CROWDED * between:
        where, ratio = f"between {noun}s of one class than between those of different ones", within / between
    else:
        return (
            f"Linear regions are about as dense between {noun}s of different classes as between those of one: the "
            "network does not spend its bends on the classes."
        )
    return f"Linear regions are denser {where}: {roughly(ratio)} times as many on the same length (medians)."


def _segments_bend(segments: Content, noun: str) -> str | None:
    crossed = _headline(segments)
    if crossed is None or ends_of(crossed)[0] < MANY:
        return None
    return (
        f"No single gradient explains how two {noun}s differ: the straight segment between them crosses "
        f"{said(crossed)} affine maps (median). Gradients integrated along it do, and exactly."
    )


def _one_direction(sensitivity: Content, noun: str) -> str | None:
    shares = sensitivity.data.get("shares", ())
    if not shares or any(share is None or share < LARGE for share in shares):
        return None
    which = "the output" if len(shares) == 1 else f"each of the {len(shares)} outputs that were looked at"
    return (
        f"Over these {noun}s {which} is mostly a function of one direction of the input, which carries at least "
        f"{floor(100 * min(shares))} % of its variation: draw the output against it."
    )


def _steepest(maps: Content, noun: str) -> str | None:
    norm = _headline(maps)
    if norm is None:
        return None
    return (
        f"Close to a typical {noun} a change of length 1 moves the outputs by up to {said(norm)}. How much it may "
        "anywhere on a domain, the Lipschitz constant, is another number."
    )


RULES = (
    _Rule(("fit",), _labels_fail, "reluscope analyze MODEL --data DATA --labels LABELS"),
    _Rule(("balls", "robustness"), _gradients_reach, "reluscope region MODEL --data DATA --sample 0"),
    _Rule(("robustness",), _radius_is_rough, "rs.robustness.decision_distance(net, x, budget=rs.Budget(seconds=600))"),
    _Rule(("classes",), _regions_are_no_classes, "reluscope region MODEL --data DATA --sample 0 --facets"),
    _Rule(("codes",), _patterns_group, "reluscope codes MODEL --data DATA"),
    _Rule(("codes",), _units_are_idle, "rs.compression.prune_exact(net, domain)"),
    _Rule(("segments",), _regions_crowd, "reluscope explore MODEL --data DATA"),
    _Rule(("segments",), _segments_bend, "rs.sensitivity.integrated_gradients(net, x)"),
    _Rule(("invariance",), _first_loss, "reluscope preimage MODEL --data DATA --samples 100"),
    _Rule(("sensitivity",), _one_direction, "rs.sensitivity.output_along(net, x, direction)"),
    _Rule(("maps",), _steepest, "rs.lipschitz(net, domain)"),
)
