"""What becomes of what chapter 6 says of its networks for images, from what was asked of them.

Several statements are about kinds of networks, or about both optimisers: each network is a case, or each pair of
networks that differ by the optimiser alone, of which too few decide nothing. Where the dissertation gives no number,
"much" is taken as a half.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import numpy as np
from jaxtyping import Float

import reluscope as rs
from reluscope.studies import Data, StatementVerdict
from reluscope_studies.labelled import Labelled
from reluscope_studies.sattelberg2026_networks import OPTIMIZERS, Model, with_accuracies
from reluscope_studies.verdicts import is_above_lot, of_cases, of_pairs

CONVOLUTIONAL = ("simple", "complex")
HALF = 0.5
# The dissertation's dense slices have "hundreds or thousands" of regions.
HUNDREDS = 100
# The later singular values are those from here on, or from the half of all where there are fewer.
LATER = 100
# "Only" is taken as nine of ten coefficients that can be seen.
ONLY = 0.9


def verdicts(
    name: Data,
    accuracies: Mapping[Model, rs.Finding],
    regions: Mapping[Model, tuple[rs.Finding, int, int]],
    subspaces: Mapping[Model, rs.sensitivity.ActiveSubspaces],
    explained: Mapping[Model, Sequence[float]],
    testing: Labelled,
    ink: Mapping[Model, float],
    *,
    with_paper: bool,
    is_full: bool,
) -> tuple[StatementVerdict, ...]:
    """Return what becomes of the statements that the numbers at hand are about.

    Parameters
    ----------
    name : {"mnist", "cifar10"}
    accuracies : mapping of models to Finding
    regions : mapping of models to (Finding, int, int)
        Of a slice: all regions; those with a point of the grid; those among them that equal Jacobians tell apart.
    subspaces : mapping of models to ActiveSubspaces
    explained : mapping of models to shares
        Of the variance of each output, by the positions along its first direction.
    testing : Labelled
        The images.
    ink : mapping of models to float
        The share of the coefficients seen that lie in pixels with ink, where images have a background.
    with_paper : bool
        Whether networks and images are the dissertation's.
    is_full : bool
        Whether the networks are trained as long as the dissertation's.
    """
    found = [
        *_of_slices(name, regions, with_paper=with_paper),
        *_of_directions(name, subspaces, explained),
        *_of_smoothness(subspaces, testing),
        *(_of_ink(ink) if name == "mnist" else ()),
    ]
    return with_accuracies(found, name, accuracies, "Table 6.1", with_paper=with_paper, is_full=is_full)


def pairs_of(models: Mapping[Model, object], *kinds: str) -> list[tuple[Model, Model]]:
    """Return the networks of some kinds by SGD, each with the one by AdamW that it is alike to in all else."""
    by_row = {optimizer: {one.row: one for one in models if one.optimizer == optimizer} for optimizer in OPTIMIZERS}
    first, second = (by_row[optimizer] for optimizer in OPTIMIZERS)
    return [(one, second[row]) for row, one in first.items() if row in second and one.kind in kinds]


def roughness(images: Float[np.ndarray, "k c h w"]) -> float:
    """Return the mean squared difference of neighbouring pixels by the mean square of all: 2 for noise, 0 for a tone.

    Examples
    --------
    >>> roughness(np.ones((1, 1, 4, 4))), roughness(np.indices((4, 4)).sum(axis=0)[None, None] % 2 - 0.5)
    (0.0, 4.0)
    """
    squares = [float((np.diff(images, axis=axis) ** 2).mean()) for axis in (-1, -2)]
    return float(np.mean(squares)) / (float((images**2).mean()) or 1.0)


def _of_slices(
    name: Data, regions: Mapping[Model, tuple[rs.Finding, int, int]], *, with_paper: bool
) -> Iterator[StatementVerdict]:
    dense = {model: int(found[0]) for model, found in regions.items() if model.kind == "dense"}
    shown = ", ".join(f"{model.name} {number:,}" for model, number in dense.items())
    # Of smaller networks and images the number of regions says nothing about the dissertation's.
    yield of_cases(
        "there are hundreds or thousands of regions in a small part of the slice (dense networks)",
        "section 6.3",
        "hundreds or thousands",
        shown,
        (number >= HUNDREDS for number in dense.values()) if with_paper else (),
    )
    yield of_pairs(
        "SGD networks have more regions (dense networks)",
        "section 6.3",
        "in words",
        shown,
        (dense[sgd] > dense[adamw] for sgd, adamw in pairs_of(dense, "dense")),
    )
    hidden = {model: found[1:] for model, found in regions.items() if model.kind in CONVOLUTIONAL}
    yield of_cases(
        "codes tell more regions apart than Jacobians do (convolutional networks)",
        "section 6.3, Figure 6.13" if name == "cifar10" else "section 6.3",
        "in words",
        "of the regions with a point of the grid, equal Jacobians tell apart "
        + ", ".join(f"{told:,} of {every:,} ({model.name})" for model, (every, told) in hidden.items()),
        (told < every for every, told in hidden.values()),
    )


def _of_directions(
    name: Data,
    subspaces: Mapping[Model, rs.sensitivity.ActiveSubspaces],
    explained: Mapping[Model, Sequence[float]],
) -> Iterator[StatementVerdict]:
    figures = {"mnist": ("Figure 6.15", "Figure 6.16"), "cifar10": ("Figure 6.19", "Figure 6.18")}[name]
    share = {model: float(np.median(found)) for model, found in explained.items() if len(found)}
    both = pairs_of(share, "dense", *CONVOLUTIONAL)
    yield of_pairs(
        "the first directions of SGD networks explain more of the outputs than those of AdamW networks",
        f"section 6.4, {figures[0]}",
        "significantly more",
        "; ".join(f"{sgd.row}: {100 * share[sgd]:.1f} and {100 * share[adamw]:.1f} %" for sgd, adamw in both),
        (share[sgd] > share[adamw] for sgd, adamw in both),
    )
    if name == "cifar10":
        bent = {model: part for model, part in share.items() if model.kind != "linear"}
        yield of_cases(
            "outputs are not well described by one direction, but for the linear network",
            "section 6.4",
            "in words",
            "median shares of variance: " + ", ".join(f"{one.name} {100 * part:.1f} %" for one, part in bent.items()),
            (part < HALF for part in bent.values()),
        )
    dense = {model: found for model, found in subspaces.items() if model.kind == "dense"}
    yield of_cases(
        "dense networks have at most as many nonzero singular values as units",
        f"section 6.4, {figures[1]}",
        "128 of 128 units",
        ", ".join(f"{model.name} at most {found.rank_upper} of {model.hidden}" for model, found in dense.items())
        + ("" if all(map(_tells, dense, dense.values())) else "; there are no more images"),
        (found.rank_upper <= model.hidden for model, found in dense.items() if _tells(model, found)),
    )
    first = {model: float(np.median(found.shares[:, 0])) for model, found in dense.items()}
    yield of_cases(
        "dense networks have one important direction, then a steep drop",
        f"section 6.4, {figures[1]}",
        "in words",
        "the first has " + ", ".join(f"{100 * part:.1f} % ({model.name})" for model, part in first.items()),
        (part > HALF for part in first.values()),
    )
    later = {model: _later(found) for model, found in subspaces.items() if model.kind in CONVOLUTIONAL}
    simple, others = ([part for model, part in later.items() if model.kind == kind] for kind in CONVOLUTIONAL)
    yield of_cases(
        "later singular values of simple networks are closer to zero than those of complex ones",
        f"section 6.4, {figures[1]}",
        "much closer",
        "by the first: " + ", ".join(f"{model.name} {part:.2g}" for model, part in later.items()),
        [is_above_lot(lambda pair: sum(one > other for one, other in product(*pair)), (others, simple))],
    )


def _later(found: rs.sensitivity.ActiveSubspaces) -> float:
    """Return the median over the outputs of a later eigenvalue by the first."""
    place = min(LATER, found.eigenvalues.shape[1] // 2)
    first = found.eigenvalues[:, 0]
    return float(np.median(found.eigenvalues[:, place] / np.where(first > 0, first, 1.0)))


def _of_smoothness(
    subspaces: Mapping[Model, rs.sensitivity.ActiveSubspaces], testing: Labelled
) -> Iterator[StatementVerdict]:
    rough = {
        model: roughness(found.directions[:, 0].reshape(len(found), *testing.shape))
        for model, found in subspaces.items()
    }
    both = pairs_of(rough, "linear", "dense", *CONVOLUTIONAL)
    yield of_pairs(
        "first directions of SGD networks change more smoothly from pixel to pixel",
        "section 6.4, Figures 6.14 and 6.17",
        "blurry, and jagged by AdamW",
        "squared differences of neighbours by squares (2 for noise): "
        + "; ".join(f"{sgd.row} {rough[sgd]:.2f} and {rough[adamw]:.2f}" for sgd, adamw in both),
        (rough[sgd] < rough[adamw] for sgd, adamw in both),
    )


def _of_ink(ink: Mapping[Model, float]) -> Iterator[StatementVerdict]:
    hidden = {model: share for model, share in ink.items() if model.kind in CONVOLUTIONAL}
    yield of_cases(
        "convolutional networks have coefficients only where the image is not zero",
        "section 6.1, Figure 6.3",
        "only",
        "of coefficients above a tenth of the largest, in pixels with ink: "
        + ", ".join(f"{model.name} {100 * share:.0f} %" for model, share in ink.items()),
        (share >= ONLY for share in hidden.values()),
    )


def _tells(model: Model, found: rs.sensitivity.ActiveSubspaces) -> bool:
    """Tell whether gradients at that many images could have more directions than there are units."""
    return found.num_samples > model.hidden
