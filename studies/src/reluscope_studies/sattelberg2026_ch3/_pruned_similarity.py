"""Section 3.4.5: how alike a network, what pruning leaves of it, and what another pruning leaves of it are."""

from collections.abc import Mapping

import numpy as np

import reluscope as rs
from reluscope.studies import Record, Setting, StatementVerdict, Table
from reluscope_studies import pruning
from reluscope_studies.labelled import Labelled
from reluscope_studies.sattelberg2026_ch7._comparison import groups_of, joined

ORIGINAL = "the network"
# Of the weights, where both ways of pruning are compared.
SHARES = (0.8, 0.5, 0.2)
METRICS = ("cka", "scaled_distance_absolute", "output_cross_entropy", "agreement")
# Of all networks that are compared at once: sums over these fill two gigabytes.
MOST_COEFFICIENTS = 10_000
# Below this, differences of CKA on some hundred images say nothing.
MARGIN = 0.05
NAMES = ("CKA of coefficients", "distance", "cross-entropy of outputs", "same class")


def pruned_similarity(
    setting: Setting,
    curves: Mapping[str, pruning.PruningCurve],
    testing: Labelled,
    images: int,
) -> tuple[rs.Findings, dict[str, float]]:
    """Compare the network and, of each way of pruning, the networks that have the nearest to some shares of weights.

    Parameters
    ----------
    setting : Setting
    curves : mapping of ways to PruningCurve
        Each begins with the whole network.
    testing : Labelled
    images : int
        At most so many of the test images are compared on.

    Returns
    -------
    Findings
        As `rs.similarity.compare` gives.
    dict
        The share of weights that each network has, by its name.
    """
    modules, shares = {ORIGINAL: next(iter(curves.values())).modules[0]}, {ORIGINAL: 1.0}
    for kind, curve in curves.items():
        left = curve.findings["share_of_weights"].value
        for share in SHARES:
            place = int(np.abs(left - share).argmin())
            name = _name(kind, share)
            modules[name], shares[name] = curve.modules[place], float(left[place])
    if "similarity" not in setting.records:
        setting.progress("Comparing pruned networks")
        rows = np.random.default_rng([setting.seed, 345]).permutation(len(testing))[:images]
        networks = {name: rs.load(module, input_shape=testing.shape) for name, module in modules.items()}
        at_once = max(2, MOST_COEFFICIENTS // (testing.points.shape[1] + 1))
        found = [
            rs.similarity.compare(
                {name: networks[name] for name in group}, testing.points[rows], testing.labels[rows], metrics=METRICS
            )
            for group in groups_of(tuple(networks), at_once)
        ]
        setting.records["similarity"] = Record(joined(tuple(networks), found).to_dict())
    return rs.Findings.from_dict(setting.records["similarity"].plain), shares


def similarity_table(found: rs.Findings, shares: Mapping[str, float], kinds: tuple[str, ...]) -> Table:
    """Return every pruned network beside the whole one, and both ways of pruning beside each other."""
    pairs = [(ORIGINAL, _name(kind, share)) for share in SHARES for kind in kinds]
    pairs += [(_name(kinds[0], share), _name(kinds[1], share)) for share in SHARES if len(kinds) > 1]
    rows = tuple(
        (
            first if first == ORIGINAL else f"{first} ({100 * shares[first]:.0f} %)",
            f"{second} ({100 * shares[second]:.0f} %)",
            *(f"{_value(found, metric, first, second):.3g}" for metric in METRICS),
        )
        for first, second in pairs
    )
    caption = (
        "How alike networks are, by the metrics of chapter 7 on test images; in brackets the share of weights that is "
        "left. Of equal networks CKA and the same class are 1 and the distance is 0."
    )
    return Table(("network", "beside", *NAMES), rows, caption)


def similarity_verdict(found: rs.Findings, kinds: tuple[str, ...]) -> list[StatementVerdict]:
    """Return what becomes of the question whether ways of pruning make distinct networks."""
    if len(kinds) < 2:
        return []
    apart = []
    for share in SHARES:
        first, second = (_name(kind, share) for kind in kinds)
        between = _value(found, "cka", first, second)
        apart.append((between, min(_value(found, "cka", ORIGINAL, name) for name in (first, second))))
    steps = [between < least - MARGIN for between, least in apart]
    alike = [between > least + MARGIN for between, least in apart]
    shown = "; ".join(
        f"{100 * share:.0f} %: {between:.3g} between them, at least {least:.3g} with the network"
        for share, (between, least) in zip(SHARES, apart, strict=True)
    )
    return [
        StatementVerdict(
            "different ways of pruning make distinct networks",
            "section 3.4.5",
            "asked, not answered",
            f"CKA at weights left {shown}",
            True if all(steps) else False if all(alike) else None,
        )
    ]


def _name(kind: str, share: float) -> str:
    return f"{kind}, about {100 * share:.0f} %"


def _value(found: rs.Findings, metric: str, first: str, second: str) -> float:
    return float(found.where(first=first, second=second)[metric].value[0])
