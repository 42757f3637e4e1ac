"""Table 3.1, Figures 3.1, 3.2 and 3.4: swaps values of all functions, and other measures of the classes."""

from collections import Counter

import numpy as np
from jaxtyping import Int
from scipy.stats import binomtest

import reluscope as rs
from reluscope.studies import Change, Outcome, Picture, Record, Setting, StatementVerdict, Table
from reluscope_studies import boolean, pictures, plots
from reluscope_studies.interruption import Interruption
from reluscope_studies.sattelberg2026_ch3._measures import class_swaps, measures_of, representatives
from reluscope_studies.sizes import number_of

SENTENCE = "swaps values, degree, influence and entropy of the classes of Boolean functions"
POSITION = 10
REPEATS = ("Table 3.1", "Figure 3.1", "Figure 3.2", "Figure 3.4")
DATA = None
IS_SHORT = True
CHANGES: tuple[Change, ...] = ("points",)

# Random functions of five inputs whose swaps values are computed; there are 616,126 classes.
FIVES = {"small": 12, "medium": 200, "full": 1_000}
# Table 3.1: the largest swaps value of n inputs.
PRINTED = {1: "1", 2: "2", 3: "3", 4: "5", 5: "–"}
LARGEST = (1785, 7140)
# Class 857 of four inputs xor the fifth.
HARD_OF_FIVE = 1431987862
MAX_LISTED = 4


def protocol(setting: Setting) -> Outcome:
    """Compute the measures of all classes; at full size also the largest swaps value of five inputs."""
    setting.progress("Classes of four inputs")
    found = measures_of(representatives(MAX_LISTED))
    largest = [boolean.largest_swaps(inputs).value for inputs in range(1, MAX_LISTED + 1)]
    of_five = np.zeros(0, dtype=np.int64)
    with Interruption() as ctrl_c:
        setting.progress("Functions of five inputs")
        largest.append(_hardest_of_five(setting).value)
        of_five = _of_five(setting)
    sums = [
        _sum("degrees", found.degree, None),
        _sum("influences", found.influence, 1e-9),
        _sum("entropies", found.entropy, 1e-9),
    ]
    pictures = [_cube(number, inputs) for inputs, number in ((2, 0), (2, 1), (2, 3), (2, 6))]
    pictures += [_cube(number, MAX_LISTED) for number in LARGEST]
    pictures += [_distribution(), _measures(), *_pictures_of_five(of_five)]
    findings = (*largest, *_counts(), *sums, *_shares_of_five(of_five))
    same = sum(PRINTED[inputs] == f"{int(one)}" for inputs, one in enumerate(largest[:MAX_LISTED], start=1))
    verdicts = (
        StatementVerdict(
            "the largest swaps values of one to four inputs",
            "Table 3.1",
            ", ".join(PRINTED[inputs] for inputs in range(1, MAX_LISTED + 1)),
            ", ".join(f"{int(one)}" for one in largest[:MAX_LISTED]),
            same == MAX_LISTED,
        ),
        StatementVerdict(
            "two classes of four inputs have the largest",
            "section 3.3.1",
            "1785 and 7140",
            " and ".join(
                str(one.number)
                for one, value in zip(representatives(MAX_LISTED), class_swaps(MAX_LISTED), strict=True)
                if value == 5
            ),
            {
                one.number
                for one, value in zip(representatives(MAX_LISTED), class_swaps(MAX_LISTED), strict=True)
                if value == 5
            }
            == set(LARGEST),
        ),
    )
    return Outcome(
        _said(largest, sums),
        findings,
        (*_tables(largest), *_table_of_five(of_five)),
        tuple(pictures),
        interrupted=ctrl_c.came,
        verdicts=verdicts,
    )


def _hardest_of_five(setting: Setting) -> boolean.HardFunction:
    if setting.size != "small":
        return boolean.largest_swaps(5)
    return boolean.search_hardest(5, steps=1, start=boolean.BooleanFunction(5, HARD_OF_FIVE))


def _of_five(setting: Setting) -> Int[np.ndarray, " s"]:
    """Return the swaps values of random functions of five inputs, all exact."""
    if "five" not in setting.records:
        rng = np.random.default_rng([setting.seed, 5])
        number = number_of(setting, FIVES, "points")
        values = []
        for place in range(number):
            setting.progress("Swaps values of functions of five inputs", place / number)
            function = boolean.BooleanFunction.of_values(rng.integers(2, size=2**5))
            values.append(int(boolean.swaps(function).value))
        setting.records["five"] = Record({}, {"values": np.array(values)})
    return setting.records["five"].arrays["values"]


def _shares_of_five(values: Int[np.ndarray, " s"]) -> list[rs.Finding]:
    """Return the share of functions of each swaps value, with the interval of Clopper and Pearson at 95 %."""
    found = []
    for value, number in sorted(Counter(values.tolist()).items()):
        low, high = binomtest(number, len(values)).proportion_ci()
        found.append(
            rs.Finding.estimate(
                number / len(values),
                name=f"share of functions of five inputs of swaps value {value}",
                interval=(float(low), float(high)),
                definition=f"{number} of {len(values)} random functions; interval of Clopper and Pearson at 95 %",
                source="sattelberg2026",
                is_share=True,
            )
        )
    return found


def _table_of_five(values: Int[np.ndarray, " s"]) -> list[Table]:
    shares = _shares_of_five(values)
    if not shares:
        return []
    _, four = _distribution_of(MAX_LISTED)
    rows = []
    for value, share in zip(sorted({*values.tolist()}), shares, strict=True):
        assert share.interval is not None
        low, high = (100 * end for end in share.interval)
        of_four = 100 * four[value] / four.total()
        rows.append((str(value), f"{of_four:.2f} %", f"{100 * float(share):.1f} % ({low:.1f} to {high:.1f})"))
    caption = (
        f"Swaps values of all functions of four inputs, and of {len(values)} random ones of five, each exact: how the "
        "distribution changes with the inputs, which section 3.3.1 leaves open."
    )
    return [Table(("swaps", "four inputs, all", "five inputs, sampled"), tuple(rows), caption)]


def _pictures_of_five(values: Int[np.ndarray, " s"]) -> list[Picture]:
    if not len(values):
        return []
    figure = plots.swaps_distribution(Counter(values.tolist()), noun="functions")
    caption = f"How many of {len(values)} random functions of five inputs have which swaps value."
    return [Picture("swaps-five-inputs", figure, caption)]


def _sum(name: str, values: np.ndarray, tolerance: float | None) -> rs.Finding:
    total = values.sum()
    return rs.Finding.of(
        int(total) if tolerance is None else float(total),
        name=f"sum of {name} over the classes",
        definition="sum over representatives, with normalised Walsh-Fourier coefficients",
        domain=f"{len(values)} classes of {MAX_LISTED} inputs",
        source="sattelberg2026",
        resolution=tolerance,
    )


def _distribution_of(inputs: int) -> tuple[Counter[int], Counter[int]]:
    """Return how many classes, and how many functions, have which swaps value."""
    classes, functions = Counter(class_swaps(inputs).tolist()), Counter()
    for value, (_, size) in zip(class_swaps(inputs).tolist(), boolean.npn_classes(inputs), strict=True):
        functions[value] += size
    return classes, functions


def _counts() -> list[rs.Finding]:
    _, functions = _distribution_of(MAX_LISTED)
    return [
        rs.Finding.of(
            number,
            name=f"functions of swaps value {value}",
            definition="functions whose fewest changes along a direction are so many",
            domain=f"all functions of {MAX_LISTED} inputs",
            source="sattelberg2026",
        )
        for value, number in sorted(functions.items())
    ]


def _said(largest: list[rs.Finding], sums: list[rs.Finding]) -> tuple[str, ...]:
    degrees, influences, entropies = sums
    five = ""
    if len(largest) > MAX_LISTED:
        is_bound = largest[-1].claim is rs.Claim.LOWER
        five = (
            f" The largest value of five inputs, which the dissertation does not give, is {'at least ' * is_bound}"
            f"{int(largest[-1])}."
        )
    first = (
        "Swaps values are exact: the fewest changes over all strict orderings of the inputs by a direction, which "
        "replace the cases that the dissertation lists (from four inputs on these miss some orderings). Functions "
        f"whose swaps value is at most 1 are the threshold functions.{five}"
    )
    second = (
        f"Over the 222 classes of four inputs, degrees add up to {int(degrees)}, influences to "
        f"{float(influences):g}, entropies to {float(entropies):.5f}. Coefficients are divided by 2^n, which equation "
        "3.5 leaves out; without it influence and entropy are not what the dissertation says of them."
    )
    return first, second


def _tables(largest: list[rs.Finding]) -> tuple[Table, ...]:
    rows = [(str(inputs), PRINTED[inputs], str(one)) for inputs, one in enumerate(largest, start=1)]
    tables = [Table(("inputs", "the dissertation", "here"), tuple(rows), "Table 3.1: the largest swaps value.")]
    rows = []
    for inputs in range(1, MAX_LISTED + 1):
        classes, functions = _distribution_of(inputs)
        for value in sorted(classes):
            rows.append((str(inputs), str(value), f"{classes[value]:,}", f"{functions[value]:,}"))
    caption = "Classes and functions by their swaps value, all counts exact."
    return (*tables, Table(("inputs", "swaps", "classes", "functions"), tuple(rows), caption))


def _cube(number: int, inputs: int) -> Picture:
    function = boolean.BooleanFunction(inputs, number)
    found = boolean.swaps(function)
    figure = pictures.boolean_direction(function, found.direction)
    which = "Figures 3.1 and 3.4" if inputs == 2 else "Figure 3.2"
    caption = (
        f"{which}: class {number} of {inputs} inputs, swaps value {int(found.value)}: the cube, and the values along a "
        "direction with as few changes."
    )
    return Picture(f"class-{inputs}-{number}", figure, caption)


def _distribution() -> Picture:
    classes, _ = _distribution_of(MAX_LISTED)
    caption = "How many of the 222 classes of four inputs have which swaps value."
    return Picture("swaps-classes", plots.swaps_distribution(classes), caption)


def _measures() -> Picture:
    found, values = measures_of(representatives(MAX_LISTED)), class_swaps(MAX_LISTED)
    rows = {"swaps": values, "degree": found.degree, "influence": found.influence, "entropy": found.entropy}
    names = [f"swaps value {value}" for value in range(int(values.max()) + 1)]
    order = np.lexsort((found.influence, values))
    figure = plots.sorted_measures(rows, order=order, groups=values, names=names, noun="classes")
    caption = "Measures of the 222 classes of four inputs, sorted by swaps value and then influence."
    return Picture("measures", figure, caption)
