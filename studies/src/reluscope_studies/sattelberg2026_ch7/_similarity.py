"""What is reported of compared networks: heat maps, means over kinds of pairs, the dissertation's cells beside ours."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import reluscope as rs
from reluscope.studies import Data, Picture, Table
from reluscope_studies import plots
from reluscope_studies.sattelberg2026_ch7._printed import MAPPED
from reluscope_studies.sattelberg2026_networks import ACCURACIES, OPTIMIZERS, Model
from reluscope_studies.summaries import summarized

FIGURES: dict[Data, dict[str, str]] = {
    "mnist": {
        "mapped_accuracy": "Figure 7.8",
        "scaled_distance": "Figure 7.10",
        "cka": "Figure 7.12",
        "output_cross_entropy": "Figure 7.14",
        "capped": "Figure 7.15",
    },
    "cifar10": {
        "mapped_accuracy": "Figure 7.9",
        "scaled_distance": "Figure 7.11",
        "cka": "Figure 7.13",
        "output_cross_entropy": "Figure 7.16",
        "capped": "Figure 7.17",
    },
}
# Of the numbers in the capped picture, that many are below the cap.
BELOW_CAP = 0.7
# What is said in the table of means, and how it is called there.
SUMMARY = {
    "drop": "drop",
    "cka": "CKA",
    "debiased_cka": "debiased CKA",
    "scaled_distance": "distance",
    "scaled_distance_absolute": "distance, absolute",
    "output_cross_entropy": "cross-entropy",
    "agreement": "agreement",
}

# What means over kinds of pairs are found of.
METRICS = ("mapped_accuracy", *SUMMARY, "map_residual")
DENSE, CONVOLUTIONAL = frozenset({"dense"}), frozenset({"simple", "complex"})


@dataclass(frozen=True)
class Block:
    """Ordered pairs of different networks that are alike in some way.

    Parameters
    ----------
    name : str
    kinds : pair of sets of kinds
        Of the first network and of the second.
    optimizers : pair of optimisers
    """

    name: str
    kinds: tuple[frozenset[str], frozenset[str]]
    optimizers: tuple[str, str]

    def pairs(self, every: Sequence[Model]) -> list[tuple[Model, Model]]:
        """Return the pairs."""
        first, second = (
            [model for model in every if model.kind in kinds and model.optimizer == optimizer]
            for kinds, optimizer in zip(self.kinds, self.optimizers, strict=True)
        )
        return [(a, b) for a in first for b in second if a is not b]


BLOCKS = (
    *(
        Block(f"{name}, {way}", kinds, (way, way))
        for way in OPTIMIZERS
        for name, kinds in (
            ("dense to dense", (DENSE, DENSE)),
            ("convolutional to convolutional", (CONVOLUTIONAL, CONVOLUTIONAL)),
            ("dense to convolutional", (DENSE, CONVOLUTIONAL)),
            ("convolutional to dense", (CONVOLUTIONAL, DENSE)),
        )
    ),
    *(
        Block(f"{name}, {ways[0]} to {ways[1]}", (kinds, kinds), ways)
        for name, kinds in (("dense", DENSE), ("convolutional", CONVOLUTIONAL))
        for ways in (("SGD", "AdamW"), ("AdamW", "SGD"))
    ),
)


def summary(found: rs.Findings, every: Sequence[Model], *, with_paper: bool) -> Table:
    """Return means over kinds of pairs; with the drops that can be read in the dissertation, of CIFAR-10 alone."""
    rows = []
    for block in BLOCKS:
        pairs = block.pairs(every)
        if not pairs:
            continue
        printed = [printed_drop(a, b) for a, b in pairs if (a.name, b.name) in MAPPED]
        drop, *means = (mean_over(found, metric, pairs) for metric in SUMMARY)
        said = [f"{100 * drop:.1f}", *("-" if np.isnan(one) else f"{one:.3g}" for one in means)]
        if with_paper:
            said.insert(0, f"{np.mean(printed):.1f} ({len(printed)} of {len(pairs)})" if printed else "-")
        rows.append((block.name, *said))
    columns = ["pairs", *(f"{title}, points" if metric == "drop" else title for metric, title in SUMMARY.items())]
    caption = (
        "Means over pairs of different networks: the accuracy that a network loses when another is mapped to it; "
        "CKA of coefficients; scaled squared distance by the largest coefficient, as in the dissertation, and by the "
        "largest absolute one; cross-entropy of the outputs; share of images with the same prediction."
    )
    if with_paper:
        columns.insert(1, "drop in the dissertation, points")
        caption += " Of the dissertation's drops those that can be read, and how many these are."
    return Table(tuple(columns), tuple(rows), caption)


def drops_picture(found: rs.Findings, every: Sequence[Model], name: Data) -> Picture | None:
    """Return the accuracy lost by maps, ours and the dissertation's, means over the pairs that can be read there."""
    readable = {block.name: [(a, b) for a, b in block.pairs(every) if (a.name, b.name) in MAPPED] for block in BLOCKS}
    readable = {block: pairs for block, pairs in readable.items() if pairs}
    if not readable:
        return None
    printed = [np.mean([printed_drop(a, b) for a, b in pairs]) for pairs in readable.values()]
    ours = [100 * mean_over(found, "drop", pairs) for pairs in readable.values()]
    figure = plots.counts_beside(
        np.array(printed), {"here": np.array(ours)}, rows=[*readable], label="accuracy lost by mapping, points"
    )
    caption = f"The same over kinds of pairs that can be read in the dissertation's {FIGURES[name]['mapped_accuracy']}."
    return Picture(f"{name}-drops-by-kind", figure, caption)


def mean_over(found: rs.Findings, name: str, pairs: Sequence[tuple[Model, Model]]) -> float:
    """Return the mean of a number over pairs, without those where it is not defined; NaN if it is for none."""
    values = np.array([value_of(found, name, a.name, b.name) for a, b in pairs])
    return float(values[np.isfinite(values)].mean()) if np.isfinite(values).any() else float("nan")


def value_of(found: rs.Findings, name: str, first: str, second: str) -> float:
    """Return the number of one pair, NaN where it is not defined."""
    return float(found.where(first=first, second=second)[name].value[0])


def printed_drop(first: Model, second: Model) -> float:
    """Return the points that the dissertation loses by a map on CIFAR-10, of pairs that can be read there."""
    own = ACCURACIES["cifar10"][second.row][OPTIMIZERS.index(second.optimizer)]
    return float(own) - MAPPED[first.name, second.name]


def mapped(found: rs.Findings, every: Sequence[Model], name: Data, *, with_paper: bool) -> list[Table]:
    """Return accuracies after mapping and their drops, to networks of one optimiser each."""
    made = []
    for way in OPTIMIZERS:
        targets = [model for model in every if model.optimizer == way]
        rows = tuple((a.name, *(_cell(found, a, b, with_paper=with_paper) for b in targets)) for a in every)
        caption = (
            f"Accuracies on test images in % after mapping the coefficients of the networks on the left to those of "
            f"the networks above, and the drop from the accuracy of these ({FIGURES[name]['mapped_accuracy']})"
        )
        caption += "; in brackets the dissertation's, where they can be read." if with_paper else "."
        made.append(Table(("from", *(f"to {model.name}" for model in targets)), rows, caption))
    return made


def _cell(found: rs.Findings, first: Model, second: Model, *, with_paper: bool) -> str:
    accuracy, drop = (value_of(found, name, first.name, second.name) for name in ("mapped_accuracy", "drop"))
    if first is second:
        return f"{100 * accuracy:.1f}"
    # Adding zero takes the sign from a zero.
    change = round(-100 * drop, 1) + 0.0
    said = f"{100 * accuracy:.1f} {change:+.1f}"
    printed = MAPPED.get((first.name, second.name)) if with_paper else None
    return said if printed is None else f"{said} [{printed:.1f}]"


def conditions(found: rs.Findings) -> Table:
    """Return how well the maps from every network are determined."""
    residuals = rs.similarity.pair_matrix(found, "map_residual")
    conditions = rs.similarity.pair_matrix(found, "coefficient_condition_number").diagonal()
    rows = []
    for place, (name, condition) in enumerate(zip(rs.similarity.compared_networks(found), conditions, strict=True)):
        others = np.delete(residuals[place], place)
        rows.append((name, f"{condition:.3g}", f"{np.nanmin(others):.2g} to {np.nanmax(others):.2g}"))
    caption = (
        "Least-squares maps from each network: the largest condition number of its coefficient matrices, and what the "
        "maps leave of the other networks' coefficients on the training images (0: nothing, 1: as much as without a "
        "map)."
    )
    return Table(("from", "condition number", "left over"), tuple(rows), caption)


def findings(found: rs.Findings, every: Sequence[Model]) -> list[rs.Finding]:
    """Return means over kinds of pairs; the numbers of every pair stand in the tables and in the heat maps."""
    return [one for metric in METRICS if metric in found for one in of_blocks(found, metric, every)]


def of_blocks(found: rs.Findings, metric: str, every: Sequence[Model]) -> list[rs.Finding]:
    """Return the means of a number over kinds of pairs; of a symmetric one every pair counts once."""
    names = rs.similarity.compared_networks(found)
    title = rs.similarity.pair_title(found, metric)
    made, seen = [], set()
    for block in BLOCKS:
        pairs = [(a.name, b.name) for a, b in block.pairs(every)]
        if rs.similarity.PAIR_QUANTITIES[metric].is_symmetric:
            pairs = [pair for pair in pairs if frozenset(pair) not in seen]
            seen |= set(map(frozenset, pairs))
            pairs = list({frozenset(pair): pair for pair in pairs}.values())
        places = [names.index(a) * len(names) + names.index(b) for a, b in pairs]
        of_pairs = [found.finding(metric, place) for place in places if np.isfinite(found[metric].value[place])]
        if of_pairs:
            made.append(of_block(of_pairs, title, block))
    return made


def of_block(of_pairs: Sequence[rs.Finding], title: str, block: Block) -> rs.Finding:
    """Return the mean over pairs of a kind."""
    samples = f"{len(of_pairs)} pairs of networks, {of_pairs[0].num_samples:,} samples"
    return summarized(of_pairs, "mean", name=f"{title}, {block.name}", over="pairs of networks", domain=samples)


def pictures(found: rs.Findings, every: Sequence[Model], name: Data, *, with_paper: bool) -> list[Picture]:
    """Return the heat maps of the dissertation, those of the drop and of the distance by absolute values, and drops."""
    figures = FIGURES[name]
    cap = float(np.quantile(found["output_cross_entropy"].value, BELOW_CAP))
    shown = [
        ("mapped_accuracy", f"Accuracies on test images after mapping coefficients ({figures['mapped_accuracy']})"),
        ("drop", f"The accuracy that is lost by it ({figures['mapped_accuracy']})"),
        ("scaled_distance", f"Squared distances of coefficients scaled by the largest ({figures['scaled_distance']})"),
        ("scaled_distance_absolute", "The same, scaled by the largest absolute coefficient; not in the dissertation"),
        ("cka", f"CKA of coefficients ({figures['cka']}); of linear networks there is none"),
        ("output_cross_entropy", f"Cross-entropies of outputs ({figures['output_cross_entropy']})"),
    ]  # fmt: skip
    made = [
        Picture(f"{name}-{metric.replace('_', '-')}", rs.plots.similarity(found, metric), f"{caption}.")
        for metric, caption in shown
    ]
    beside = drops_picture(found, every, name) if with_paper else None
    if beside is not None:
        made.insert(2, beside)
    capped = rs.plots.similarity(found, "output_cross_entropy", cap=cap)
    said = f"Cross-entropies of outputs, colours up to {cap:.3g} ({figures['capped']})."
    return [*made, Picture(f"{name}-output-cross-entropy-capped", capped, said)]
