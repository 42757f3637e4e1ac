"""What becomes of what chapter 7 says of compressed and compared networks for images.

Most of the dissertation's heat maps cannot be read, so that its words about blocks of them are what is decided: a block
of pairs is nearer than another where its mean is. Where it says "close", five points of accuracy are taken.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

import reluscope as rs
from reluscope.studies import Data, Verdict
from reluscope_studies.sattelberg2026_ch7._compression import Compressed
from reluscope_studies.sattelberg2026_ch7._printed import MAPPED
from reluscope_studies.sattelberg2026_ch7._similarity import (
    CONVOLUTIONAL,
    DENSE,
    FIGURES,
    Block,
    mean_over,
    printed_drop,
    value_of,
)
from reluscope_studies.sattelberg2026_networks import OPTIMIZERS, Model, with_accuracies
from reluscope_studies.verdicts import of_cases

SGD, ADAMW = OPTIMIZERS
CLOSE = 5.0
FEW = 0.01
BENT = DENSE | CONVOLUTIONAL


def verdicts(
    name: Data,
    accuracies: Mapping[Model, rs.Finding],
    compressed: Sequence[Compressed],
    similar: rs.Findings,
    figure: str,
    *,
    with_paper: bool,
    is_full: bool,
) -> tuple[Verdict, ...]:
    """Return what becomes of the statements that the numbers at hand are about.

    Parameters
    ----------
    name : {"mnist", "cifar10"}
    accuracies : mapping of models to Finding
    compressed : sequence of Compressed
    similar : Findings
        Of all pairs.
    figure : str
        Of the accuracies over the number of functions.
    with_paper : bool
        Whether networks and images are the dissertation's.
    is_full : bool
        Whether the networks are trained as long as the dissertation's.
    """
    every = tuple(accuracies)
    found = [
        *_of_compression(name, compressed, figure),
        *_of_maps(name, every, accuracies, similar),
        *_of_similarities(name, every, similar),
    ]
    return with_accuracies(found, name, accuracies, "Table 7.1", with_paper=with_paper, is_full=is_full)


def _of_compression(name: Data, compressed: Sequence[Compressed], figure: str) -> Iterator[Verdict]:
    lost = {one.model: {k: one.original - one.at(k) for k in one.numbers} for one in compressed}
    few, most = compressed[0].numbers[0], compressed[0].numbers[-1]
    kinds = {kind: [one for one in lost if one.kind in members] for kind, members in _KINDS.items()}
    yield of_cases(
        f"dense networks do not fail as catastrophically with k = {few}",
        f"section 7.2, {figure}",
        "in words",
        "; ".join(f"{kind}: {_range(lost[one][few] for one in ones)} points lost" for kind, ones in kinds.items()),
        (
            max(lost[one][few] for one in kinds["dense"] if one.optimizer == way)
            < min(lost[one][few] for one in kinds["convolutional"] if one.optimizer == way)
            for way in OPTIMIZERS
        ),
    )
    bent = [one for one in lost if one.kind in BENT]
    yield of_cases(
        "accuracies increase with k",
        f"section 7.2, {figure}",
        "in words",
        f"{_range(lost[one][few] - lost[one][most] for one in bent)} points gained from k = {few} to {most}",
        (lost[one][most] < lost[one][few] for one in bent),
    )
    # "only attained for the dense networks and the non-pretrained networks on MNIST with SGD"
    attained = {one: one.kind == "dense" or (name == "mnist" and one.optimizer == SGD) for one in bent}
    right = [one for one in bent if (lost[one][most] <= CLOSE) == attained[one]]
    yield of_cases(
        "only dense networks, and on MNIST all by SGD, come close to their accuracy",
        f"section 7.2, {figure}",
        "in words",
        f"as said of {len(right)} of {len(bent)} networks (close: {CLOSE:g} points at k = {most}); lost "
        + ", ".join(f"{one.name} {lost[one][most]:.1f}" for one in bent),
        (one in right for one in bent),
    )
    middle = compressed[0].numbers[len(compressed[0].numbers) // 2]
    rows = {one.row: one for one in bent if one.optimizer == SGD}
    pairs = [(rows[one.row], one) for one in bent if one.optimizer == ADAMW and one.row in rows]
    yield of_cases(
        "networks by AdamW lose more than those by SGD",
        f"section 7.2, {figure}",
        "a significant difference",
        f"with k = {middle}, by SGD and by AdamW: "
        + "; ".join(f"{one.row} {lost[one][middle]:.1f} and {lost[other][middle]:.1f}" for one, other in pairs),
        (lost[one][middle] < lost[other][middle] for one, other in pairs),
    )
    if name == "mnist":
        sharing = {one.model: one.num_sharing / one.num_samples for one in compressed if one.model.kind in BENT}
        yield of_cases(
            "training images that share a region with another are few, even of simple networks",
            "section 7.2",
            "less than 1 %",
            "; ".join(
                f"{kind}: {_range(100 * sharing[one] for one in ones)} %" for kind, ones in kinds.items() if ones
            ),
            (share < FEW for share in sharing.values()),
        )


_KINDS = {"dense": DENSE, "convolutional": CONVOLUTIONAL}


def _range(values: Iterable[float]) -> str:
    every = list(values)
    return f"{min(every):.1f} to {max(every):.1f}" if every else "none"


def _of_maps(
    name: Data, every: Sequence[Model], accuracies: Mapping[Model, rs.Finding], similar: rs.Findings
) -> Iterator[Verdict]:
    place = f"section 7.3.1, {FIGURES[name]['mapped_accuracy']}"

    def drop(first: frozenset[str], second: frozenset[str], *ways: str) -> float:
        return 100 * mean_over(similar, "drop", Block("", (first, second), (ways[0], ways[1])).pairs(every))

    def said(first: frozenset[str], second: frozenset[str]) -> str:
        pairs = Block("", (first, second), (SGD, SGD)).pairs(every)
        return _range(printed_drop(a, b) for a, b in pairs if (a.name, b.name) in MAPPED)

    if name == "mnist":
        to = {
            f"{kind} by {way}": float(np.mean([drop(BENT, members, start, way) for start in OPTIMIZERS]))
            for kind, members in _KINDS.items()
            for way in OPTIMIZERS
        }
        yield _largest(
            "maps preserve much of the target's accuracy, except to dense networks by AdamW",
            place,
            "in words",
            to,
            "dense by AdamW",
        )
        return
    dense, apart, back = (
        drop(*kinds, SGD, SGD) for kinds in ((DENSE, DENSE), (DENSE, CONVOLUTIONAL), (CONVOLUTIONAL, DENSE))
    )
    inner = drop(CONVOLUTIONAL, CONVOLUTIONAL, SGD, SGD)
    yield of_cases(
        "dense networks are similar to each other, convolutional ones too, and less so one kind to the other (by SGD)",
        place,
        f"drops of {said(DENSE, DENSE)}, {said(CONVOLUTIONAL, CONVOLUTIONAL)}, {said(DENSE, CONVOLUTIONAL)} and "
        f"{said(CONVOLUTIONAL, DENSE)} points",
        f"mean drops: dense to dense {dense:.1f}, convolutional to convolutional {inner:.1f}, dense to convolutional "
        f"{apart:.1f}, convolutional to dense {back:.1f}",
        (dense < apart, dense < back, inner < apart, inner < back),
    )
    by_adamw, crossed, backward = (
        drop(CONVOLUTIONAL, CONVOLUTIONAL, *ways) for ways in ((ADAMW, ADAMW), (SGD, ADAMW), (ADAMW, SGD))
    )
    yield of_cases(
        "networks by SGD represent each other and those by AdamW better than these do (convolutional)",
        place,
        "in words",
        f"mean drops: SGD to SGD {inner:.1f}, SGD to AdamW {crossed:.1f}, AdamW to AdamW {by_adamw:.1f}, AdamW to SGD "
        f"{backward:.1f}",
        (inner < by_adamw, crossed < by_adamw, inner < backward),
    )
    linear = next((one for one in every if one.kind == "linear" and one.optimizer == SGD), None)
    targets = [one for one in every if one.kind == "dense" and one.optimizer == SGD]
    if linear is not None:
        own = 100 * float(accuracies[linear])
        mapped = [100 * value_of(similar, "mapped_accuracy", linear.name, one.name) for one in targets]
        yield of_cases(
            "the linear network by SGD does better when it is mapped to dense ones by SGD",
            place,
            "25.43 to 30.17 and 29.59 %",
            f"{own:.1f} to {' and '.join(f'{one:.1f}' for one in mapped)} %",
            (one > own for one in mapped),
        )


def _largest(statement: str, place: str, printed: str, values: Mapping[str, float], which: str) -> Verdict:
    """Return what becomes of the statement that one of some mean drops is the largest."""
    shown = "mean drops: " + ", ".join(f"to {name} {value:.1f}" for name, value in values.items())
    return of_cases(statement, place, printed, shown, [max(values, key=lambda one: values[one]) == which])


def _of_similarities(name: Data, every: Sequence[Model], similar: rs.Findings) -> Iterator[Verdict]:
    figures = FIGURES[name]

    def mean(metric: str, kinds: frozenset[str], *ways: str) -> float:
        return mean_over(similar, metric, Block("", (kinds, kinds), (ways[0], ways[1])).pairs(every))

    bent = [one for one in every if one.kind in BENT]
    linear = [one for one in every if one.kind == "linear"]

    def distances(second: Sequence[Model]) -> list[float]:
        pairs = [(a.name, b.name) for a in bent for b in second if a is not b]
        return [value_of(similar, "scaled_distance", *pair) for pair in pairs]

    among, beside = distances(bent), distances(linear)
    if beside:
        yield of_cases(
            "all networks that are not linear are near to each other in the scaled distance",
            f"section 7.3.2, {figures['scaled_distance']}",
            "a high degree of similarity",
            f"at most {max(among):.2g} between them, at least {min(beside):.2g} to a linear one",
            [max(among) < min(beside)],
        )
    inner, other, crossed = (mean("cka", CONVOLUTIONAL, *ways) for ways in ((SGD, SGD), (ADAMW, ADAMW), (SGD, ADAMW)))
    shown = f"mean CKA: by SGD {inner:.2f}, by AdamW {other:.2f}, between them {crossed:.2f}"
    yield of_cases(
        "convolutional networks by SGD are a block of similar ones, those by AdamW are distinct",
        f"section 7.3.3, {figures['cka']}",
        "in words",
        shown,
        [inner > other],
    )
    yield of_cases(
        "similarity between the optimisers is low",
        f"section 7.3.3, {figures['cka']}",
        "in words",
        shown,
        [crossed < min(inner, other)],
    )
    entropies = {
        kind: [mean("output_cross_entropy", members, *ways) for ways in ((SGD, SGD), (ADAMW, ADAMW), (SGD, ADAMW))]
        for kind, members in _KINDS.items()
    }
    yield of_cases(
        "by cross-entropy networks by SGD are similar to those of their kind, less so by AdamW and between the two",
        f"section 7.3.4, {figures['output_cross_entropy']}",
        "in words",
        "mean cross-entropies by SGD, by AdamW, between them: "
        + "; ".join(f"{kind} {', '.join(f'{one:.3g}' for one in found)}" for kind, found in entropies.items()),
        (sgd < min(rest) for sgd, *rest in entropies.values()),
    )
