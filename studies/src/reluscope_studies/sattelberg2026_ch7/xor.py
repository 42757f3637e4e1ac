"""Figures 7.5 and 7.6: networks of 2, 20 and 100 units that solve XOR, their coefficients, and maps between them.

The network of two units is the dissertation's with the bias that its pieces belong to: with ``s = x1 + x2`` it is
``-1 + relu(s + 2) - 2 relu(s)``, which is -1, 1, 1, -1 at the corners of the square.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
import torch
from matplotlib.figure import Figure

import reluscope as rs
from reluscope.studies import Change, Outcome, Picture, Record, Setting, Size, StatementVerdict, Table
from reluscope_studies import plots, stacked
from reluscope_studies.plots.functions_and_slopes import OnGrid
from reluscope_studies.sizes import number_of
from reluscope_studies.verdicts import of_cases

SENTENCE = "coefficients of networks of 2, 20 and 100 units for XOR, and maps between them"
POSITION = 10
REPEATS = ("Figure 7.1", "Figure 7.5", "Figure 7.6")
DATA = None
CHANGES: tuple[Change, ...] = ("epochs",)

CORNERS = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
CLASSES = np.array([0, 1, 1, 0])
WINDOW, GRID = rs.Box(-1.0, 1.0, 2), 101
# Of pictures, so that the four points can be seen.
SHOWN = rs.Box(-1.25, 1.25, 2)
# What the dissertation leaves open: all four points in every step, until the loss has settled.
RATE = 0.1
EPOCHS: dict[Size, int] = {"small": 3_000, "full": 30_000}
TWO: stacked.Layers = [(np.ones((2, 2)), np.array([2.0, 0.0])), (np.array([[1.0, -2.0]]), np.array([-1.0]))]
# Units and number of the first weights, by name.
TRAINED = {"20 units": (20, 1), "20 units, other weights": (20, 2), "100 units": (100, 1)}
METRICS = ("map_residual", "cka", "scaled_distance", "scaled_distance_absolute", "agreement")
# A map that leaves so much of the grid with the same class is a success.
MUCH = 0.9
COMPARED = ("mapped_agreement", *METRICS)


def protocol(setting: Setting) -> Outcome:
    """Train the networks, partition the square, and map the coefficients of each to those of the others."""
    networks = {"2 units": rs.load(TWO), **_trained(setting)}
    line = np.linspace(-1.0, 1.0, GRID)
    points = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    parts = {name: rs.partition(network, WINDOW) for name, network in networks.items()}
    rights = {name: rs.classification.accuracy(network, CORNERS, CLASSES) for name, network in networks.items()}
    similar = rs.similarity.compare(networks, points, metrics=METRICS)
    pair = "20 units", "20 units, other weights"
    shown = {name: _on_grid(networks[name], points) for name in pair}
    shown |= {
        f"{first},\nmapped to {second}": _mapped(networks[first], networks[second], points)
        for first, second in (pair, pair[::-1])
    }
    few = ("2 units", "20 units", "100 units")
    return Outcome(
        tuple(_sentences(setting, parts, similar)),
        (
            *(replace(part.finding(), name=f"regions, {name}") for name, part in parts.items()),
            *(replace(right, name=f"accuracy, {name}") for name, right in rights.items()),
            *_findings(similar),
        ),
        (_networks(networks, parts, rights, points), _pairs(similar)),
        (
            *(
                Picture(
                    f"xor-{name.partition(' ')[0]}",
                    rs.plots.regions_and_coefficients(
                        rs.partition(networks[name], SHOWN), samples=CORNERS, labels=CLASSES
                    ),
                    f"{name} on the square and around it: regions, the decision boundary and the four points; beside, "
                    "a dot per region at the slopes of its map (Figure 7.5).",
                )
                for name in few
            ),
            Picture(
                "xor-surfaces",
                plots.surfaces({name: parts[name] for name in few}),
                "The same networks as surfaces over the square, flat over every region (Figure 7.5).",
            ),
            Picture(
                "xor-mapped",
                plots.functions_on_plane(shown, reach=1.0, marked="at the four points"),
                "Two networks of 20 units, and each mapped to the other: outputs and slopes on the grid (Figure 7.6). "
                "Mapped networks are not continuous.",
            ),
            Picture(
                "xor-mapped-surfaces",
                _mapped_surfaces(networks, parts, pair, points),
                "The same two networks and their maps as surfaces over the regions of the first (Figure 7.6). The map "
                "acts on the coefficients of every region, so that neighbours do not meet.",
            ),
        ),
        verdicts=tuple(_verdicts(parts, rights, similar, pair)),
    )


def _verdicts(
    parts: dict[str, rs.Partition], rights: dict[str, rs.Finding], similar: rs.Findings, pair: tuple[str, str]
) -> Iterator[StatementVerdict]:
    """Return what becomes of what section 7.3.1 says of Figures 7.5 and 7.6."""
    own = len(parts["2 units"])
    yield StatementVerdict(
        "the network of two units has three regions",
        "Figure 7.5",
        "3",
        f"{own} in the square; the third touches it at a corner",
        own == 3,
    )
    shares = {name: float(right) for name, right in rights.items()}
    yield of_cases(
        "more units do not make it more accurate, as the first is right on all four points",
        "section 7.3.1, Figure 7.5",
        "in words",
        ", ".join(f"{name}: {100 * share:g} %" for name, share in shares.items()),
        (shares["2 units"] == 1, *(share <= shares["2 units"] for share in shares.values())),
    )
    numbers = [len(parts[name]) for name in ("2 units", "20 units", "100 units")]
    yield of_cases(
        "more units approximate the function with more regions",
        "section 7.3.1, Figure 7.5",
        "tighter resolution",
        f"{', '.join(f'{one:,}' for one in numbers)} regions by 2, 20 and 100 units",
        (later > before for before, later in pairwise(numbers)),
    )
    agreed, left = (
        [float(similar.where(first=first, second=second)[name].value[0]) for first, second in (pair, pair[::-1])]
        for name in ("mapped_agreement", "map_residual")
    )
    yield of_cases(
        "two networks of twenty units are mapped to each other successfully",
        "section 7.3.1, Figure 7.6",
        "very similar",
        f"they agree with their targets on {100 * agreed[0]:.1f} and {100 * agreed[1]:.1f} % of the grid; "
        f"{100 * left[0]:.0f} and {100 * left[1]:.0f} % of the coefficients are left over",
        (share > MUCH for share in agreed),
    )


def _trained(setting: Setting) -> dict[str, rs.Network]:
    """Return the networks after their last step by name, from the records if they are there."""
    missing = [name for name in TRAINED if name not in setting.records]
    if missing:
        seeds = [int(np.random.default_rng([setting.seed, TRAINED[name][1]]).integers(2**31)) for name in missing]
        widths = [(TRAINED[name][0],) for name in missing]
        done = stacked.train(
            stacked.initialize(widths, num_inputs=2, seeds=seeds, dtype=torch.float64),
            CORNERS,
            CLASSES.astype(np.float64),
            loss="bce",
            optimizer=partial(torch.optim.SGD, lr=RATE),
            epochs=number_of(setting, EPOCHS, "epochs"),
            progress=lambda share: setting.progress("Training", share),
        )
        for place, name in enumerate(missing):
            both = enumerate(done.stack.layers(place))
            arrays = {f"{letter}{k}": layer[part] for k, layer in both for part, letter in enumerate("Wb")}
            setting.records[name] = Record({}, arrays)
    kept = {name: setting.records[name].arrays for name in TRAINED}
    return {name: rs.load([(one[f"W{k}"], one[f"b{k}"]) for k in range(2)]) for name, one in kept.items()}


def _on_grid(network: rs.Network, points: np.ndarray) -> OnGrid:
    outputs = network(points).numpy().reshape(GRID, GRID)
    return OnGrid(
        outputs,
        rs.coefficients.matrix(network, points).output(0)[:, :2],
        rs.coefficients.matrix(network, CORNERS).output(0)[:, :2],
    )


def _mapped(first: rs.Network, second: rs.Network, points: np.ndarray) -> OnGrid:
    """Return the first network with the map that takes its coefficients on the grid to those of the second."""
    maps = rs.similarity.coefficient_maps(first, second, points)
    slopes, marked = (rs.coefficients.matrix(first, some).output(0) @ maps.matrix(0) for some in (points, CORNERS))
    return OnGrid(maps.outputs(points).reshape(GRID, GRID), slopes[:, :2], marked[:, :2])


def _mapped_surfaces(
    networks: dict[str, rs.Network], parts: dict[str, rs.Partition], pair: tuple[str, str], points: np.ndarray
) -> Figure:
    """Draw two networks, and each with the coefficients of its regions mapped to those of the other."""
    shown, maps = {name: parts[name] for name in pair}, {}
    for first, second in (pair, pair[::-1]):
        title = f"{first},\nmapped to {second}"
        shown[title] = parts[first]
        own = rs.coefficients.matrix(networks[first], parts[first].witnesses).output(0)
        maps[title] = own @ rs.similarity.coefficient_maps(networks[first], networks[second], points).matrix(0)
    return plots.surfaces(shown, maps)


def _sentences(setting: Setting, parts: dict[str, rs.Partition], similar: rs.Findings) -> list[str]:
    steps = number_of(setting, EPOCHS, "epochs")
    agreed = rs.similarity.pair_matrix(similar, "mapped_agreement")
    agreed = agreed[~np.eye(len(agreed), dtype=bool)]
    how = (
        f"Networks with one hidden layer and one logit on the corners of {WINDOW.describe()}. That of two units is the "
        "dissertation's, with the bias (2, 0), to which its printed pieces belong; with (1, 0), as printed, it does "
        "not solve XOR. The others are trained by gradient descent on binary cross-entropy, rate "
        f"{RATE:g}, {steps:,} steps with all four points, from PyTorch's usual first weights, all of "
        "which the dissertation leaves open."
    )
    two = (
        f"The network of two units has {len(parts['2 units'])} regions on the square. The dissertation counts 3: the "
        "third is where it is -1, beyond the line x1 + x2 = -2, which touches the square at the corner (-1, -1); at "
        "this tie the corner has the third region's code."
    )
    mapped = (
        f"Coefficients are those at the points of the {GRID} x {GRID} grid. Networks that are mapped to others agree "
        f"with them on {100 * agreed.min():.1f} to {100 * agreed.max():.1f} % of it."
    )
    said = [how, two, mapped]
    if setting.size == "small":
        said.append("This is the small size: fewer steps.")
    return said


def _networks(
    networks: dict[str, rs.Network], parts: dict[str, rs.Partition], rights: dict[str, rs.Finding], points: np.ndarray
) -> Table:
    rows = tuple(
        (
            name,
            f"{100 * float(rights[name]):g} %",
            f"{len(parts[name]):,} {parts[name].claim}",
            f"{len(networks[name].codes(points).unique()):,}",
            f"{len(networks[name].codes(CORNERS).unique())}",
        )
        for name in networks
    )
    columns = ("network", "right of four", "regions of the square", "with a point of the grid", "with one of the four")
    return Table(columns, rows, "Regions of the square, and those that the grid and the four points lie in.")


def _pairs(similar: rs.Findings) -> Table:
    rows = []
    for row, (first, second) in enumerate(zip(similar.keys["first"], similar.keys["second"], strict=True)):
        if first != second:
            found = [similar[name].value[row] for name in COMPARED]
            rows.append((str(first), str(second), *("-" if np.isnan(one) else f"{one:.3g}" for one in found)))
    columns = (
        "from", "to", "agreement when mapped", "left over", "CKA", "distance", "distance, absolute", "agreement",
    )  # fmt: skip
    caption = (
        "Pairs of networks on the grid: share of points on which the mapped network predicts what its target does; "
        "what the map leaves of the target's coefficients; CKA; scaled squared distances; share of points on "
        "which both networks predict the same."
    )
    return Table(columns, tuple(rows), caption)


def _findings(similar: rs.Findings) -> list[rs.Finding]:
    return [
        replace(similar.finding(name, row), name=f"{rs.similarity.pair_title(similar, name)}, {first} to {second}")
        for name in COMPARED
        for row, (first, second) in enumerate(zip(similar.keys["first"], similar.keys["second"], strict=True))
        if first != second and not np.isnan(similar[name].value[row])
    ]
