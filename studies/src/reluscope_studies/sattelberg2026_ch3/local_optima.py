"""Table 3.2: which steady states of XOR on a line 1,000 networks of two ReLUs reach by gradient descent.

The steady states are known (`boolean.steady_states`): with losses 0, 8/3 and 4, in 36 sign cases.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import torch
from jaxtyping import Float

import reluscope as rs
from reluscope.studies import Outcome, Picture, Setting, StatementVerdict, Table
from reluscope_studies import boolean, plots, stacked
from reluscope_studies.interruption import Interruption
from reluscope_studies.sattelberg2026_ch3._networks import MAX_SEEDS, first_networks

SENTENCE = "which local optima of XOR on a line does gradient descent reach"
POSITION = 20
REPEATS = ("Table 3.2",)
DATA = None

NETWORKS, RATE, EPOCHS = 1000, 0.1, 500
# XOR on a line, the middle input twice: XOR of (0, 1) and of (1, 0).
X, Y = np.array([-1.0, 0.0, 0.0, 1.0]), np.array([-1.0, 1.0, 1.0, -1.0])
PRINTED_STATES = 53
# Networks may still be on their way after so few epochs.
NEAR_NONE = 0.05
# A solution up to its formulas: its loss, and for each unit at which of the inputs -1, 0 and 1 it is active.
Case = tuple[str, str, str]
# Table 3.2. Two rows, found 23 and 25 times, are printed alike.
PRINTED: dict[Case, tuple[int, ...]] = {
    ("0", "100", "001"): (23, 25),
    ("0", "100", "011"): (26,),
    ("4", "111", "000"): (26,),
    ("0", "001", "011"): (26,),
    ("4", "000", "111"): (26,),
    ("0", "001", "100"): (31,),
    ("4", "111", "111"): (33,),
    ("8/3", "000", "100"): (58,),
    ("8/3", "100", "000"): (61,),
    ("8/3", "001", "001"): (62,),
    ("4", "000", "000"): (64,),
    ("8/3", "100", "100"): (66,),
    ("8/3", "000", "001"): (67,),
    ("8/3", "001", "000"): (75,),
}


def _he_and_usual(seeds: list[int]) -> stacked.Stack:
    return first_networks((2,), num_inputs=1, seeds=seeds, leak=0.0)


def _he_and_zero(seeds: list[int]) -> stacked.Stack:
    return stacked.initialize((2,), num_inputs=1, seeds=seeds, scheme="he")


def _usual(seeds: list[int]) -> stacked.Stack:
    return stacked.initialize((2,), num_inputs=1, seeds=seeds)


STARTS: dict[str, Callable[[list[int]], stacked.Stack]] = {
    "He's weights, PyTorch's biases": _he_and_usual,
    "He's weights, biases zero": _he_and_zero,
    "PyTorch's weights and biases": _usual,
}


def protocol(setting: Setting) -> Outcome:
    """Train 1,000 networks from each of three kinds of first weights, and say where they end."""
    runs: dict[str, _Run] = {}
    seeds = np.random.default_rng([setting.seed, 3]).integers(MAX_SEEDS, size=NETWORKS).tolist()
    with Interruption() as ctrl_c:
        setting.progress("Steady states")
        boolean.steady_states()
        for name, start in STARTS.items():
            setting.progress(f"Gradient descent: {name}")
            runs[name] = _Run(name, boolean.reached_states(_trained(start(seeds))))
    if not runs:
        return Outcome((_how(),), (), interrupted=True)
    findings = [finding for run in runs.values() for finding in run.findings()]
    tables = (_by_case(runs), _by_loss(runs))
    said = (_how(), *_fit(runs))
    first, *_ = runs.values()
    losses = first.losses()
    verdicts = (
        StatementVerdict(
            "the minima that networks reach have the losses 0, 8/3 and 4",
            "section 3.4.1",
            "three classes",
            ", ".join(f"loss {loss}: {number}" for loss, number in losses.items()) + f"; near none: {first.num_open}",
            {*losses} == {"0", "8/3", "4"} and first.num_open <= NEAR_NONE * NETWORKS,
        ),
        StatementVerdict(
            "1,000 networks find 53 minima",
            "section 3.4.1",
            str(PRINTED_STATES),
            f"{first.num_families} of {len(boolean.steady_states())} families within one sign case: formulas are "
            "counted in another way",
            None,
        ),
    )
    return Outcome(said, tuple(findings), tables, (_picture(runs),), interrupted=ctrl_c.came, verdicts=verdicts)


def _trained(stack: stacked.Stack) -> Float[np.ndarray, "k 7"]:
    """Train on the four points, and return w1, b1, o1, w2, b2, o2, c of every network."""
    descent = partial(torch.optim.SGD, lr=RATE)
    done = stacked.train(stack, X[:, None], Y, loss="mse", optimizer=descent, epochs=EPOCHS).stack
    units = torch.stack([done.weights[0][:, :, 0], done.biases[0], done.weights[1][:, 0]], dim=2)
    return torch.cat([units.flatten(1), done.biases[1]], dim=1).double().numpy()


def case_of(state: boolean.SteadyState) -> Case:
    """Return the loss and the sign case of a steady state."""
    first, second = ("".join("01"[is_active] for is_active in unit) for unit in state.active)
    return str(state.loss), first, second


def mirrored(case: Case) -> frozenset[Case]:
    """Return the equally likely cases that exchanging the units and changing the sign of the input make of one."""
    loss, first, second = case
    return frozenset(
        (loss, one[::turn], other[::turn]) for one, other in ((first, second), (second, first)) for turn in (1, -1)
    )


@dataclass(frozen=True, eq=False)
class _Run:
    """The steady states that the networks of one kind of first weights reach."""

    name: str
    reached: boolean.ReachedStates

    @property
    def states(self) -> list[boolean.SteadyState]:
        every = boolean.steady_states()
        return [every[index] for index in self.reached.states.tolist() if index >= 0]

    @cached_property
    def cases(self) -> Counter[Case]:
        return Counter(case_of(state) for state in self.states)

    def expected(self, case: Case) -> float:
        """Return the mean count of the cases that symmetry makes equally likely."""
        equal = mirrored(case)
        return sum(self.cases[one] for one in equal) / len(equal)

    def losses(self) -> Counter[str]:
        return Counter(str(state.loss) for state in self.states)

    @property
    def num_families(self) -> int:
        """How many families of steady states have a network near them."""
        return len({*self.reached.states.tolist()} - {-1})

    @property
    def num_open(self) -> int:
        """How many networks are near no steady state."""
        return int((self.reached.states < 0).sum())

    @property
    def distance(self) -> float:
        """Mean distance of the expected counts from those printed."""
        return float(np.mean([abs(sum(counts) - self.expected(case)) for case, counts in PRINTED.items()]))

    def findings(self) -> list[rs.Finding]:
        found = self.losses()
        near = f"networks near such a state after {EPOCHS} epochs of gradient descent"
        families = "families of steady states with a network near them, each within one sign case"
        numbers = [(f"networks at a steady state of loss {loss}", near, found[loss]) for loss in ("0", "8/3", "4")]
        numbers.append(("steady states reached", families, self.num_families))
        return [
            rs.Finding.of(
                number,
                name=f"{name}: {self.name}",
                definition=definition,
                domain=f"{NETWORKS:,} seeded networks",
                method=f"outputs within {self.reached.tolerance:g} of the state's",
                source="sattelberg2026",
            )
            for name, definition, number in numbers
        ]


def _how() -> str:
    return (
        f"{NETWORKS:,} networks o1 max(w1 x + b1, 0) + o2 max(w2 x + b2, 0) + c, trained on f(-1) = f(1) = -1 and "
        f"f(0) = 1, the last twice, by gradient descent at rate {RATE:g} on the mean squared error of the four points, "
        f"{EPOCHS} epochs; the dissertation leaves mean or sum open, and the first biases. Networks are told apart by "
        "outputs, within 0.02, and by the signs of their units at the three points."
    )


def _fit(runs: dict[str, _Run]) -> list[str]:
    distances = ", ".join(f"{run.distance:.1f} ({name})" for name, run in runs.items())
    first, *_ = runs.values()
    states = first.num_families
    fit = (
        f"Mean distance from the printed counts of Table 3.2: {distances}. Counts are averaged over cases that differ "
        "by the order of the units and the sign of x, as they are equally likely. He's weights with PyTorch's biases "
        "are what setting only the weights of PyTorch's layers gives, and what the other studies of this chapter use."
    )
    found = (
        f"From these the networks reach {states} of {len(boolean.steady_states())} families of steady states (the "
        f"dissertation: {PRINTED_STATES} minima, with formulas of its own); {first.num_open} are near none. Two rows "
        "of Table 3.2, found 23 and 25 times, are printed alike; together they are compared with one case here."
    )
    return [fit, found]


def _say(case: Case) -> str:
    loss, first, second = case
    return f"loss {loss}: {first} and {second}"


def _by_case(runs: dict[str, _Run]) -> Table:
    rows = []
    for case, counts in sorted(PRINTED.items(), key=lambda item: (sum(item[1]), item[0])):
        numbers = [f"{run.cases[case]} ({run.expected(case):.1f})" for run in runs.values()]
        rows.append((*case, " + ".join(map(str, counts)), *numbers))
    caption = (
        "Table 3.2: how often of 1,000 a solution is found. A unit 011 is inactive at -1 and active at 0 and 1. In "
        "brackets the mean over cases that symmetry makes equally likely."
    )
    return Table(("loss", "unit 1", "unit 2", "the dissertation", *runs), tuple(rows), caption)


def _by_loss(runs: dict[str, _Run]) -> Table:
    rows = []
    for loss in ("0", "8/3", "4"):
        printed = sum(sum(counts) for case, counts in PRINTED.items() if case[0] == loss)
        rows.append((loss, f"at least {printed}", *(str(run.losses()[loss]) for run in runs.values())))
    rows.append(("none of these", "–", *(str(run.num_open) for run in runs.values())))
    caption = "Networks of 1,000 by their loss; the dissertation prints the 15 most frequent solutions only."
    return Table(("loss", "the dissertation", *runs), tuple(rows), caption)


def _picture(runs: dict[str, _Run]) -> Picture:
    cases = sorted(PRINTED, key=lambda case: (-sum(PRINTED[case]), case))
    printed = np.array([sum(PRINTED[case]) for case in cases])
    found = {name: np.array([run.expected(case) for case in cases]) for name, run in runs.items()}
    figure = plots.counts_beside(printed, found, rows=[_say(case) for case in cases], label="networks of 1,000")
    caption = (
        "Table 3.2 as a picture: bars are printed counts, marks are ours for three kinds of first weights, averaged "
        "over symmetric cases. Behind the loss stands at which of -1, 0 and 1 each unit is active."
    )
    return Picture("local-optima", figure, caption)
