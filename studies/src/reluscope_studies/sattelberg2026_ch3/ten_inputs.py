"""Figures 3.7 to 3.9: functions of up to ten inputs: parity, random ones, and classes of four inputs xor parity."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.stats import binomtest

import reluscope as rs
from reluscope.studies import Change, Outcome, Picture, Record, Setting, Size, StatementVerdict, Table
from reluscope_studies import boolean, plots
from reluscope_studies.interruption import Interruption
from reluscope_studies.sattelberg2026_ch3._measures import Measures, measures_of, representatives
from reluscope_studies.sattelberg2026_ch3._networks import EPOCHS, LEAK, Learned, learn, seeds_of
from reluscope_studies.sizes import planned
from reluscope_studies.verdicts import Rate, increasing, of_cases

SENTENCE = "parity, random functions and mixtures of up to ten inputs: which do small networks learn"
POSITION = 40
REPEATS = ("Figure 3.7", "Figure 3.8", "Figure 3.9")
DATA = None
CHANGES: dict[Change, str] = {"replicates": "trials", "epochs": "epochs"}

PARITY, MIXED, RANDOM = "parity", "class xor parity", "random"
KINDS = (PARITY, MIXED, RANDOM)
MEASURES = ("degree", "influence", "entropy")
MAX_INPUTS = 10
DIMENSIONS, SIZES = tuple(range(5, MAX_INPUTS + 1)), ((10,), (10, 10), (10, 10, 10))


@dataclass(frozen=True)
class Plan:
    """Which functions are learned, by which networks.

    Parameters
    ----------
    epochs : int
        At most.
    widths, depths : tuple of int
        Sizes for Figure 3.7.
    size_trials, size_functions : int
        Networks of a size for each function, and random functions, there.
    sizes_of_all : tuple of tuples of int
        Hidden layers of the networks for Figures 3.8 and 3.9, which the dissertation does not say.
    dimensions : tuple of int
    trials, random, every : int
        Networks for each function, random functions, and of the 222 classes every so many, for Figure 3.9.
    score_trials : int
        How many of these trials Figure 3.8 shows.
    """

    epochs: int
    widths: tuple[int, ...]
    depths: tuple[int, ...]
    size_trials: int
    size_functions: int
    sizes_of_all: tuple[tuple[int, ...], ...]
    dimensions: tuple[int, ...]
    trials: int
    random: int
    every: int
    score_trials: int

    @property
    def num_shown(self) -> int:
        """Networks of each size for each function in Figure 3.8."""
        return min(self.trials, self.score_trials)


PLANS: dict[Size, Plan] = {
    "small": Plan(2000, (2, 4, 6, 8, 10), (1, 2, 3, 5), 4, 2, SIZES, DIMENSIONS, 3, 8, 12, 3),
    "medium": Plan(EPOCHS, (2, 4, 6, 8, 10), (1, 2, 3, 5), 10, 3, SIZES, DIMENSIONS, 5, 10, 8, 5),
    "full": Plan(EPOCHS, tuple(range(2, 11)), tuple(range(1, 6)), 100, 10, SIZES, DIMENSIONS, 40, 100, 1, 20),
}


def protocol(setting: Setting) -> Outcome:
    """Train networks of many sizes on two kinds of functions, then networks of few sizes on three kinds."""
    plan = planned(setting, PLANS, CHANGES)
    sizes: dict[tuple[int, int, str], Learned] = {}
    dimensions: dict[tuple[int, str], _Kind] = {}
    with Interruption() as ctrl_c:
        for depth, width, kind in product(plan.depths, plan.widths, (PARITY, RANDOM)):
            sizes[width, depth, kind] = _of_size(setting, plan, width, depth, kind)
        for inputs, kind in product(plan.dimensions, KINDS):
            dimensions[inputs, kind] = _of_kind(setting, plan, inputs, kind)
    findings = [_solved(sizes[key], f"{key[1]} x {key[0]} units on {key[2]}", MAX_INPUTS, plan) for key in sizes]
    findings += [
        _solved(learned, f"{_say(widths)} units on {kind}", inputs, plan)
        for (inputs, kind), one in dimensions.items()
        for widths, learned in zip(plan.sizes_of_all, one.learned, strict=True)
    ]
    pictures, tables = [_by_size(plan, sizes)], []
    if len(dimensions) == len(plan.dimensions) * len(KINDS):
        pictures += [_by_function(plan, dimensions), _by_dimension(plan, dimensions)]
        tables = [_rates(plan, dimensions), _scores(plan, dimensions)]
    return Outcome(
        (_how(setting, plan),),
        tuple(findings),
        tuple(tables),
        tuple(pictures),
        interrupted=ctrl_c.came,
        verdicts=(*_verdicts_of_sizes(sizes), *(_verdicts_of_kinds(plan, dimensions) if tables else ())),
    )


def functions_of(kind: str, num_inputs: int, number: int, seed: int) -> tuple[boolean.BooleanFunction, ...]:
    """Return functions of a kind: parity, so many random ones, or each so-many-th class xor parity of all inputs."""
    parity = boolean.BooleanFunction.of_values(boolean.all_inputs(num_inputs).sum(axis=1) % 2)
    if kind == PARITY:
        return (parity,)
    if kind == RANDOM:
        tables = np.random.default_rng([seed, num_inputs]).integers(2, size=(number, parity.size))
        return tuple(map(boolean.BooleanFunction.of_values, tables))
    repeats = parity.size >> 4
    return tuple(
        boolean.BooleanFunction.of_values(np.repeat(one.values, repeats)) ^ parity
        for one in representatives(4)[::number]
    )


@dataclass(frozen=True, eq=False)
class _Kind:
    """Functions of a kind, their measures, and the networks that learned them, size by size."""

    measures: Measures
    learned: list[Learned]

    def normalized(self, name: str) -> np.ndarray:
        """Return a measure divided by the number of inputs."""
        return getattr(self.measures, name) / self.measures.functions[0].num_inputs

    @property
    def solved(self) -> Bool[np.ndarray, "z t k"]:
        """Which networks solve their function, by size, trial and function."""
        return np.stack([one.epochs for one in self.learned]) >= 0

    def scores(self, trials: int) -> Float[np.ndarray, " k"]:
        """Return how many inputs of a function are right, the mean over sizes and some trials."""
        return np.stack([one.right[:trials] for one in self.learned]).mean(axis=(0, 1))


def _of_size(setting: Setting, plan: Plan, width: int, depth: int, kind: str) -> Learned:
    functions = functions_of(kind, MAX_INPUTS, plan.size_functions, setting.seed)
    name = f"sizes-{_name(kind, (width,) * depth)}"
    seeds = seeds_of(setting, (MAX_INPUTS, width, depth, KINDS.index(kind)), plan.size_trials, len(functions))
    return _learned(setting, plan, name, functions, (width,) * depth, seeds)


def _of_kind(setting: Setting, plan: Plan, inputs: int, kind: str) -> _Kind:
    number = plan.every if kind == MIXED else plan.random
    functions = functions_of(kind, inputs, number, setting.seed)
    learned = []
    for widths in plan.sizes_of_all:
        seeds = seeds_of(setting, (inputs, *widths, KINDS.index(kind)), plan.trials, len(functions))
        learned.append(_learned(setting, plan, f"{inputs}-inputs-{_name(kind, widths)}", functions, widths, seeds))
    return _Kind(measures_of(functions), learned)


def _learned(
    setting: Setting,
    plan: Plan,
    name: str,
    functions: tuple[boolean.BooleanFunction, ...],
    widths: tuple[int, ...],
    seeds: Int[np.ndarray, "t k"],
) -> Learned:
    """Return networks in the records, or those trained now, which are put there."""
    record = setting.records.get(name)
    if record is None:
        found = learn(
            functions,
            widths,
            seeds,
            leak=LEAK,
            epochs=plan.epochs,
            device=setting.device,
            progress=lambda share: setting.progress(f"Training {seeds.size} {name}", share),
        )
        arrays = {"seeds": seeds, "epochs": found.epochs, "right": found.right}
        record = setting.records[name] = Record({"widths": [*widths]}, arrays)
    return Learned(record.arrays["epochs"], record.arrays["right"])


def _solved(learned: Learned, what: str, inputs: int, plan: Plan) -> rs.Finding:
    return rs.Finding.of(
        int((learned.epochs >= 0).sum()),
        name=f"networks that succeed: {what} of {inputs} inputs",
        definition=f"networks that have all inputs right in float32 within {plan.epochs:,} epochs",
        domain=f"{learned.epochs.shape[1]} functions, {learned.epochs.shape[0]} seeded first weights each",
        source="sattelberg2026",
    )


def _how(setting: Setting, plan: Plan) -> str:
    fewer = ""
    if plan != PLANS["full"]:
        fewer = (
            f" This is the {setting.size} size: up to {plan.epochs:,} epochs (the dissertation: {EPOCHS:,}), fewer "
            f"sizes, {plan.size_trials} trials for 100 and {plan.size_functions} random functions for 10 in Figure "
            f"3.7; {plan.trials} trials, {plan.random} random functions and every {plan.every}th class in Figures 3.8 "
            "and 3.9."
        )
    return (
        f"Leaky networks (a = {LEAK:g}) by the chapter's protocol, on all inputs at once. A class xor parity is a "
        "class's representative of the first four inputs xor the parity of all. The dissertation does not say which "
        f"networks Figures 3.8 and 3.9 show; here {', '.join(map(_say, plan.sizes_of_all))} units (layers x units), "
        "averaged. Degree, influence and entropy are "
        "divided by the number of inputs, as there; that is their maximum for degree and influence. OR does not have "
        f"the largest entropy, as the dissertation says: of four inputs it has 1.70 and others have 4.{fewer}"
    )


def _name(kind: str, widths: tuple[int, ...]) -> str:
    """Return what the record of some networks is called, without spaces."""
    return f"{kind.replace(' ', '-')}-{len(widths)}x{widths[0]}"


def _say(widths: tuple[int, ...]) -> str:
    return f"{len(widths)} x {widths[0]}"


def _by_size(plan: Plan, sizes: dict[tuple[int, int, str], Learned]) -> Picture:
    panels = {}
    names = {kind: f"{MAX_INPUTS} inputs, {kind}" for kind in (PARITY, RANDOM)}
    for kind, name in names.items():
        grid = np.full((len(plan.widths), len(plan.depths)), np.nan)
        for (row, width), (column, depth) in product(enumerate(plan.widths), enumerate(plan.depths)):
            if (width, depth, kind) in sizes:
                grid[row, column] = (sizes[width, depth, kind].epochs >= 0).mean()
        panels[name] = grid
    enough = np.array([[width**depth >= MAX_INPUTS for depth in plan.depths] for width in plan.widths])
    figure = plots.success_grids(panels, widths=plan.widths, depths=plan.depths, marked={names[PARITY]: enough})
    caption = (
        f"Figure 3.7: per cent of networks that succeed. In white frames the sizes whose depth l and width w have w^l "
        f">= {MAX_INPUTS}, for which there are weights that compute parity (boolean.parity_network)."
    )
    return Picture("ten-inputs-sizes", figure, caption)


def _by_function(plan: Plan, dimensions: dict[tuple[int, str], _Kind]) -> Picture:
    inputs = plan.dimensions[-1]
    kinds = {
        kind: (
            dimensions[inputs, kind].scores(plan.num_shown),
            {name: getattr(dimensions[inputs, kind].measures, name) for name in MEASURES},
        )
        for kind in KINDS
    }
    figure = plots.performance_by_measure(kinds, measures=MEASURES, label=f"right of {2**inputs:,}")
    caption = (
        f"Figure 3.8: how many of the {2**inputs:,} inputs are right, mean over {plan.num_shown} networks of each "
        f"size for each function of {inputs} inputs, against Fourier degree, influence and entropy of the function."
    )
    return Picture("ten-inputs-functions", figure, caption)


def _by_dimension(plan: Plan, dimensions: dict[tuple[int, str], _Kind]) -> Picture:
    kinds = {}
    for kind in KINDS:
        every = [dimensions[inputs, kind] for inputs in plan.dimensions]
        means = {f"{name} / n": np.array([one.normalized(name).mean() for one in every]) for name in MEASURES}
        kinds[kind] = (np.array([one.solved.mean() for one in every]), means)
    ends = f"{plan.dimensions[0]} to {plan.dimensions[-1]}"
    figure = plots.performance_by_dimension(
        kinds,
        measures=[f"{name} / n" for name in MEASURES],
        dimensions=plan.dimensions,
        label="share of networks that succeed",
    )
    caption = (
        f"Figure 3.9: the share of networks that succeed, for {ends} inputs (numbers at the ends of the lines), "
        "against mean degree, influence and entropy, divided by the number n of inputs."
    )
    return Picture("ten-inputs-dimensions", figure, caption)


def _rates(plan: Plan, dimensions: dict[tuple[int, str], _Kind]) -> Table:
    rows = []
    for inputs, kind in product(plan.dimensions, KINDS):
        one = dimensions[inputs, kind]
        solved, number = int(one.solved.sum()), one.solved.size
        low, high = binomtest(solved, number).proportion_ci(0.95)
        share = f"{100 * solved / number:.1f} % ({100 * low:.0f} to {100 * high:.0f})"
        means = [f"{one.normalized(name).mean():.3f}" for name in MEASURES]
        rows.append((str(inputs), kind, str(len(one.measures.functions)), share, *means))
    caption = (
        "Successes of all sizes, in brackets the 95 % interval of Clopper and Pearson as if networks of different "
        "functions and sizes were alike, and mean measures divided by the number of inputs."
    )
    return Table(("inputs", "kind", "functions", "successes", *MEASURES), tuple(rows), caption)


def _scores(plan: Plan, dimensions: dict[tuple[int, str], _Kind]) -> Table:
    inputs = plan.dimensions[-1]
    rows = []
    for kind in KINDS:
        right = dimensions[inputs, kind].scores(plan.num_shown)
        rows.append((kind, f"{right.mean():.1f}", f"{right.min():.1f}", f"{right.max():.1f}"))
    caption = (
        f"Inputs of {2**inputs:,} that are right, over functions of {inputs} inputs. The dissertation: random "
        "functions are significantly harder than the others."
    )
    return Table(("kind", "mean", "hardest function", "easiest function"), tuple(rows), caption)


def _rate(solved: np.ndarray) -> Rate:
    return Rate(int(solved.sum()), solved.size)


def _verdicts_of_sizes(sizes: dict[tuple[int, int, str], Learned]) -> Iterator[StatementVerdict]:
    """Return what becomes of what is said of Figure 3.7."""
    found = {key: learned.epochs >= 0 for key, learned in sizes.items()}
    enough = [one for (width, depth, kind), one in found.items() if kind == PARITY and width**depth >= MAX_INPUTS]
    others = [one for (width, depth, kind), one in found.items() if kind == PARITY and width**depth < MAX_INPUTS]
    if enough and others:
        yield increasing(
            "parity is learned by the sizes of which swaps predict it, and not by others",
            "section 3.4.3, Figure 3.7",
            "very close to what is predicted",
            [_rate(np.concatenate([one.ravel() for one in some])) for some in (others, enough)],
        )
    by_kind = {
        kind: _rate(np.concatenate([one.ravel() for key, one in found.items() if key[2] == kind]))
        for kind in (RANDOM, PARITY)
        if any(key[2] == kind for key in found)
    }
    if len(by_kind) == 2:
        yield increasing(
            "random functions of ten inputs are learned less often than parity",
            "section 3.4.3, Figure 3.7",
            "significantly lower performance",
            list(by_kind.values()),
        )


def _verdicts_of_kinds(plan: Plan, dimensions: dict[tuple[int, str], _Kind]) -> Iterator[StatementVerdict]:
    """Return what becomes of what is said of Figures 3.8 and 3.9."""
    inputs = plan.dimensions[-1]
    right = {kind: float(dimensions[inputs, kind].scores(plan.num_shown).mean()) for kind in KINDS}
    yield of_cases(
        "random functions are harder than parity and than classes xor parity",
        "section 3.4.3, Figure 3.8",
        "significantly harder",
        f"right of {2**inputs:,} inputs: " + ", ".join(f"{kind} {right[kind]:.0f}" for kind in KINDS),
        (right[RANDOM] < right[kind] for kind in KINDS if kind != RANDOM),
    )
    most = {kind: [_rate(dimensions[one, kind].solved).share for one in plan.dimensions] for kind in KINDS}
    falls = {kind: max(shares) - shares[-1] for kind, shares in most.items()}
    yield of_cases(
        "the difficulty of random functions grows fastest with the inputs",
        "section 3.4.3, Figure 3.9",
        "in words",
        f"successes from {plan.dimensions[0]} to {inputs} inputs: "
        + "; ".join(f"{kind} {100 * max(shares):.0f} to {100 * shares[-1]:.0f} %" for kind, shares in most.items()),
        (falls[RANDOM] > falls[kind] for kind in KINDS if kind != RANDOM),
    )
    entropies = [dimensions[one, RANDOM].normalized("entropy").mean() for one in plan.dimensions]
    yield of_cases(
        "the entropy of random functions grows with the inputs",
        "section 3.4.3, Figure 3.9",
        "in words",
        "by the number of inputs: " + ", ".join(f"{one:.3f}" for one in entropies),
        (later > before for before, later in pairwise(entropies)),
    )
