"""What becomes of what chapter 7 says of compressed and compared networks for images.

Most of the dissertation's heat maps cannot be read, so that its words about blocks of them are what is decided: a block
of pairs is nearer than another where its mean is, by more than chance. Accuracies differ by twice the standard error of
so many images, similarities within an optimiser and between the two where hardly any other way to deal networks to the
optimisers shows as much. Where it says "close", five points of accuracy are taken, where "low", a half.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt

import numpy as np

import reluscope as rs
from reluscope.studies import Data, StatementVerdict
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
from reluscope_studies.verdicts import ERRORS, is_above_lot, of_cases, of_pairs

SGD, ADAMW = OPTIMIZERS
CLOSE, LOW = 5.0, 0.5
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
) -> tuple[StatementVerdict, ...]:
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
        *_of_compression(name, compressed, figure, _more(accuracies)),
        *_of_maps(name, every, accuracies, similar, _more(accuracies)),
        *_of_similarities(name, every, similar),
    ]
    return with_accuracies(found, name, accuracies, "Table 7.1", with_paper=with_paper, is_full=is_full)


More = Callable[[float, float], bool | None]


def _more(accuracies: Mapping[Model, rs.Finding]) -> More:
    """Return what tells whether one number of points of accuracy is larger than another; None where chance decides."""
    samples = min(found.num_samples or 1 for found in accuracies.values())
    # Of a share of so many the variance is at most a quarter of their inverse.
    error = 100 * ERRORS * sqrt(2 * 0.25 / samples)
    return lambda one, other: None if abs(one - other) <= error else one > other


def _of_compression(
    name: Data, compressed: Sequence[Compressed], figure: str, more: More
) -> Iterator[StatementVerdict]:
    lost = {one.model: {k: one.original - one.at(k) for k in one.numbers} for one in compressed}
    few, most = compressed[0].numbers[0], compressed[0].numbers[-1]
    kinds = {kind: [one for one in lost if one.kind in members] for kind, members in _KINDS.items()}
    yield of_cases(
        f"dense networks do not fail as catastrophically with k = {few}",
        f"section 7.2, {figure}",
        "in words",
        "; ".join(f"{kind}: {_range(lost[one][few] for one in ones)} points lost" for kind, ones in kinds.items()),
        (
            more(
                min(lost[one][few] for one in kinds["convolutional"] if one.optimizer == way),
                max(lost[one][few] for one in kinds["dense"] if one.optimizer == way),
            )
            for way in OPTIMIZERS
        ),
    )
    bent = [one for one in lost if one.kind in BENT]
    yield of_cases(
        "accuracies increase with k",
        f"section 7.2, {figure}",
        "in words",
        f"{_range(lost[one][few] - lost[one][most] for one in bent)} points gained from k = {few} to {most}",
        (more(lost[one][few], lost[one][most]) for one in bent),
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
    yield of_pairs(
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
    name: Data, every: Sequence[Model], accuracies: Mapping[Model, rs.Finding], similar: rs.Findings, more: More
) -> Iterator[StatementVerdict]:
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
        hardest = "dense by AdamW"
        yield of_cases(
            "maps preserve much of the target's accuracy, except to dense networks by AdamW",
            place,
            "in words",
            "mean drops: " + ", ".join(f"to {one} {lost:.1f}" for one, lost in to.items()),
            (more(to[hardest], lost) for one, lost in to.items() if one != hardest),
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
        (more(outer, within) for outer in (apart, back) for within in (dense, inner)),
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
        (more(by_adamw, inner), more(by_adamw, crossed), more(backward, inner)),
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
            (more(one, own) for one in mapped),
        )


def _of_similarities(name: Data, every: Sequence[Model], similar: rs.Findings) -> Iterator[StatementVerdict]:
    figures = FIGURES[name]

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
    groups = {kind: _by_optimizer(every, members) for kind, members in _KINDS.items()}
    cka, entropy = _Alike(similar, "cka"), _Alike(similar, "output_cross_entropy")
    convolutional = groups["convolutional"]
    sgd, adamw, crossed = cka.blocks(*convolutional)
    shown = f"mean CKA: by SGD {sgd:.2f}, by AdamW {adamw:.2f}, between them {crossed:.2f}"
    yield of_cases(
        "convolutional networks by SGD are a block of similar ones, those by AdamW are distinct",
        f"section 7.3.3, {figures['cka']}",
        "in words",
        shown,
        [is_above_lot(lambda pair: cka.within(pair[0]) - cka.within(pair[1]), convolutional)],
    )

    def apart(pair: Groups) -> float:
        *within, between = cka.blocks(*pair)
        return min(within) - between

    is_below = is_above_lot(apart, convolutional)
    yield of_cases(
        "similarity between the optimisers is low",
        f"section 7.3.3, {figures['cka']}",
        "in words",
        f"{shown}; low is below {LOW:g} and below both",
        [(crossed < LOW or None) if is_below else is_below],
    )

    def nearer(*pairs: Groups) -> float:
        return min(min(rest) - own for own, *rest in (entropy.blocks(*pair) for pair in pairs))

    yield of_cases(
        "by cross-entropy networks by SGD are similar to those of their kind, less so by AdamW and between the two",
        f"section 7.3.4, {figures['output_cross_entropy']}",
        "in words",
        "mean cross-entropies by SGD, by AdamW, between them: "
        + "; ".join(
            f"{kind} {', '.join(f'{one:.3g}' for one in entropy.blocks(*pair))}" for kind, pair in groups.items()
        ),
        [is_above_lot(nearer, *groups.values())],
    )


Groups = tuple[Sequence[Model], Sequence[Model]]


def _by_optimizer(every: Sequence[Model], kinds: frozenset[str]) -> Groups:
    sgd, adamw = ([one for one in every if one.kind in kinds and one.optimizer == way] for way in OPTIMIZERS)
    return sgd, adamw


@dataclass(frozen=True, eq=False)
class _Alike:
    """Means of a metric over pairs of networks in groups."""

    similar: rs.Findings
    metric: str
    values: dict[tuple[str, str], float] = field(default_factory=dict)

    def within(self, group: Sequence[Model]) -> float:
        """Return the mean over ordered pairs of different networks."""
        return self._mean((a, b) for a in group for b in group if a is not b)

    def blocks(self, first: Sequence[Model], second: Sequence[Model]) -> tuple[float, float, float]:
        """Return the means within each group, and over pairs of one of the first and one of the second."""
        return self.within(first), self.within(second), self._mean((a, b) for a in first for b in second)

    def _mean(self, pairs: Iterable[tuple[Model, Model]]) -> float:
        found = []
        for first, second in pairs:
            key = first.name, second.name
            if key not in self.values:
                self.values[key] = value_of(self.similar, self.metric, *key)
            found.append(self.values[key])
        return float(np.mean(found)) if found else np.nan
