"""Convolutional classifiers with the paper's dense heads, at its learning rates: one protocol for both data sets."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from reluscope.studies import Outcome, Picture, Setting, StatementVerdict
from reluscope_studies.shepeleva2020._following import CLASSIFICATION, Followed, Plan, Run
from reluscope_studies.shepeleva2020._networks import classifier
from reluscope_studies.shepeleva2020._reporting import (
    RIGHT,
    curves,
    followed_outcome,
    grid,
    nearest_rates,
    nearest_shares,
)
from reluscope_studies.shepeleva2020._samples import Samples, pair_of, samples_of
from reluscope_studies.verdicts import increasing, of_cases

# Accuracies within so much are the same; numbers of cells that differ by so much of the larger one differ noticeably.
SIMILAR, NOTICEABLE = 0.01, 0.1
HEADS = ((512,), (256, 256), (256, 128, 128))


# Where the paper looks at numbers of cells and at clusters, by study.
PLACES = {
    "heads": ("section 3, Figure 1", "section 3, Figures 2b and 5"),
    "heads-cifar10": ("section 3, of MNIST", "appendix B.3, Figure 6"),
}


@dataclass(frozen=True)
class HeadsPlan(Plan):
    """Also which networks are trained.

    Parameters
    ----------
    blocks : tuple of (filters, convolutions)
        Of the convolutional layers.
    heads : tuple of tuple of int
    rates : tuple of float
    """

    blocks: tuple[tuple[int, int], ...]
    heads: tuple[tuple[int, ...], ...]
    rates: tuple[float, ...]

    def runs(self, samples: Samples, seed: int) -> list[Run]:
        """Return all trainings: every head at every rate, and the deepest for two classes at the largest rate."""
        every = [self._run(samples, head, rate, seed) for rate in self.rates for head in self.heads]
        return [*every, self._run(pair_of(samples), self.heads[-1], max(self.rates), seed, two=True)]

    def _run(self, samples: Samples, head: tuple[int, ...], rate: float, seed: int, *, two: bool = False) -> Run:
        label = f"[{', '.join(map(str, head))}]"
        return Run(
            f"{'two-classes' if two else 'head'}-{'-'.join(map(str, head))}-{rate:g}",
            f"{label}, {' and '.join(samples.names)}" if two else label,
            rate,
            self.batch,
            self.until(self.epochs),
            lambda: classifier(samples.training.shape, self.blocks, head, len(samples.names), seed=seed),
            CLASSIFICATION,
            samples,
        )

    def describe(self) -> str:
        """Return one phrase about the convolutional layers."""
        parts = [f"{number} x {filters}" for filters, number in self.blocks]
        return f"blocks of {', '.join(parts)} filters of 3 x 3, each block with a pooling"


def compare_heads(setting: Setting, plan: HeadsPlan) -> Outcome:
    """Train the networks that are not in the records yet, and compare their codes."""
    samples = samples_of(setting, plan.most, plan.trained_on)
    return followed_outcome(
        setting,
        plan,
        plan.runs(samples, setting.seed),
        watched=lambda gate: gate.startswith("fc"),
        pictures=lambda followed: _pictures(plan, followed, setting),
        said=lambda followed: (*_done(plan, samples), *_came_out(plan, followed)),
        verdicts=lambda followed: _verdicts(plan, followed),
    )


def _pictures(plan: HeadsPlan, followed: Sequence[Followed], setting: Setting) -> list[Picture]:
    *every, two = followed
    pictures = [curves(f"{plan.name}-curves", every)]
    for rate in plan.rates:
        at_rate = [one for one in every if one.run.rate == rate]
        pictures.append(
            grid(f"{plan.name}-embeddings-{rate:g}", at_rate, shown=plan.until(plan.shown), gates=None, setting=setting)
        )
    pictures.append(grid(f"{plan.name}-two-classes", [two], shown=plan.until(plan.shown), gates=None, setting=setting))
    return pictures


def _done(plan: HeadsPlan, samples: Samples) -> list[str]:
    heads = ", ".join(str(list(head)) for head in plan.heads)
    rates = ", ".join(f"{rate:g}" for rate in plan.rates)
    return [
        (
            f"{samples.describe()}, pixels in [0, 1]. Convolutional layers: {plan.describe()}; dense heads {heads}, "
            f"then logits. Cross-entropy, gradient descent at a constant rate ({rates}) in batches of {plan.batch}, "
            f"{plan.until(plan.epochs)[-1]} epochs, weights after Glorot and Bengio (uniform), zero biases, no dropout."
        ),
        (
            "The paper's text compares the rates 0.001 and 0.01 (Figure 1), its appendix 0.1 and 0.001 (Figures 5 and "
            "6); it says neither for how many epochs nor what its validation samples are. Here they are the test part. "
            "Codes are those of the dense gates, as in the paper, after an epoch has ended; convolutions and maxima "
            "over pixels are gates too, and the last column of the first table counts codes of them all."
        ),
    ]


def _came_out(plan: HeadsPlan, followed: Sequence[Followed]) -> list[str]:
    deepest = [one for one in followed if len(one.gates) == max(map(len, plan.heads))]
    lines = []
    for one in deepest:
        shares = nearest_shares(one, [gate.name for gate in one.gates])
        lines.append(f"{one.run.label} at rate {one.run.rate:g} {100 * shares[0]:.1f} % and {100 * shares[-1]:.1f} %")
    if not lines:
        return []
    own = min(
        int(one.finding(max(one.run.epochs), "training", "codes") or 0) / len(one.run.samples.training)
        for one in followed
    )
    return [
        (
            f"After the last epoch the dense gates give {100 * own:.1f} codes or more to 100 training samples. Where "
            "nearly every sample has a code of its own, the number of codes with a correct sample is that of correct "
            "samples, and says nothing beside accuracy; single gates, and smaller ones, say more."
        ),
        (
            "The paper: higher layers of a classifier store more that tells classes apart. Share of validation samples "
            "whose nearest training code is of their class, in the first and in the last dense gate: "
            f"{'; '.join(lines)}."
        ),
    ]


def _verdicts(plan: HeadsPlan, followed: Sequence[Followed]) -> tuple[StatementVerdict, ...]:
    """Return what becomes of section 3: shares of nearest codes that are of the sample's class, by dense gate."""
    return (*_of_rates(plan, followed), *_of_gates(plan, followed))


def _of_rates(plan: HeadsPlan, followed: Sequence[Followed]) -> Iterator[StatementVerdict]:
    """Compare the cells with correctly classified samples of two rates that end with the same accuracy."""
    every = [one for one in followed if one.run.label != followed[-1].run.label]
    pairs = [
        (one, other) for one, other in combinations(every, 2) if one.run.label == other.run.label and _alike(one, other)
    ]
    if not every or len(every) < len(plan.heads) * len(plan.rates):
        return
    apart = [
        max(
            abs(_cells(one, epoch) - _cells(other, epoch)) / max(_cells(one, epoch), _cells(other, epoch), 1)
            for epoch in one.run.epochs
        )
        for one, other in pairs
    ]
    shown = "; ".join(
        f"{one.run.label} at {one.run.rate:g} and {other.run.rate:g}: up to {100 * share:.0f} %"
        for (one, other), share in zip(pairs, apart, strict=True)
    )
    yield of_cases(
        "two rates end with the same accuracy, and cells with correct samples evolve differently",
        PLACES[plan.name][0],
        "noticeably differently",
        f"of pairs within {100 * SIMILAR:g} point, numbers of cells differ: {shown}"
        if pairs
        else f"no two rates end within {100 * SIMILAR:g} point of each other",
        (share > NOTICEABLE for share in apart),
    )


def _alike(one: Followed, other: Followed) -> bool:
    found = [each.finding(max(each.run.epochs), "validation", each.run.task.score) for each in (one, other)]
    return None not in found and abs(float(found[0] or 0) - float(found[1] or 0)) <= SIMILAR


def _cells(one: Followed, epoch: int) -> int:
    return int(one.finding(epoch, "training", RIGHT) or 0)


def _of_gates(plan: HeadsPlan, followed: Sequence[Followed]) -> tuple[StatementVerdict, ...]:
    return tuple(
        increasing(
            f"higher layers of a classifier tell classes apart better ({one.run.label} at rate {one.run.rate:g})",
            PLACES[plan.name][1],
            "in words",
            nearest_rates(one, [gate.name for gate in one.gates]),
        )
        for one in followed
        if len(one.gates) == max(map(len, plan.heads)) > 1
    )
