"""All metrics of all pairs of networks on shared samples.

Every network's Jacobians are computed once per pass and serve all pairs. Maps of coefficients are fitted on one set of
samples and judged on another, as in section 7.3 of [sattelberg2026]_; everything else is measured on the latter.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import ArrayLike

from reluscope.analyses.classification.classes import accuracy_of_outputs, classes_of_outputs, read_classes
from reluscope.analyses.similarity.checks import check_networks, common_points
from reluscope.analyses.similarity.code_partitions import CodePartitions
from reluscope.analyses.similarity.gate_features import features
from reluscope.analyses.similarity.least_squares import Solution
from reluscope.analyses.similarity.mapping import (
    MAP_RESIDUAL,
    CoefficientMaps,
    mapped_outputs,
    solve_pairs,
)
from reluscope.analyses.similarity.metric import Metric, Source
from reluscope.analyses.similarity.moments import Moments, moments_of
from reluscope.analyses.similarity.registered import METRICS
from reluscope.analyses.similarity.row_spaces import RowSpace, row_space
from reluscope.analyses.similarity.streaming import (
    MEMORY,
    Entries,
    coefficient_blocks,
    coefficient_moments,
    output_groups,
)
from reluscope.analyses.similarity.tables import PairTable, Similarities
from reluscope.arguments import NonNegative, read_arguments
from reluscope.budget import Budget, MemoryBudget
from reluscope.errors import InputError
from reluscope.findings import Finding
from reluscope.networks.network import Network
from reluscope.networks.points import Points
from reluscope.networks.rounded_forward import RoundedForward, rounded_forward
from reluscope.progress import Progress

Cells = tuple[tuple[Finding | None, ...], ...]


@read_arguments
def compare(
    networks: Mapping[str, Network],
    x: Points,
    labels: ArrayLike | None = None,
    *,
    fit_on: Points | None = None,
    metrics: str | Sequence[str] | None = None,
    gates: Sequence[str | int | None] | None = None,
    ridge: NonNegative = 0.0,
    budget: MemoryBudget | None = None,
    progress: Progress = False,
) -> Similarities:
    """Compare networks on shared samples: their coefficients, features, outputs and codes, pair by pair.

    Parameters
    ----------
    networks : mapping of str to Network
        Two or more, with equal inputs and equally many outputs, by the names that results call them.
    x : (s, *input_shape) or (s, n)
        Samples to compare on.
    labels : (s,) array of int, optional
        Their classes, for accuracies.
    fit_on : (t, *input_shape) or (t, n), optional
        Samples that maps of coefficients are fitted to; by default x, on which mapped networks then look better than
        they are.
    metrics : sequence of str, optional
        Names among `METRICS`; all by default.
    gates : sequence of str, int or None, optional
        For each network the gate whose outputs are its features, by name or position; the network's outputs for None,
        and for all by default.
    ridge : float
        For the maps of coefficients; see `coefficient_maps`.
    budget : Budget, optional
        Memory for sums and blocks, 2 GB by default.
    progress : bool or callable
        Show how far passes over the coefficients are.

    Returns
    -------
    Similarities
        Agreements are EXACT unless rounding could change a prediction or a code, cross-entropies EXACT within a
        tolerance; what follows from coefficients is an ESTIMATE in float64, of these samples exactly. Coefficients
        give one number per output, of which the mean is taken over the outputs for which it is defined.

    Raises
    ------
    InputError, ShapeError
        If networks, samples, labels or metrics do not fit, or coefficients are not finite.
    BudgetExceededError
        If sums for one output do not fit the memory.

    Notes
    -----
    One pass over the Jacobians of all networks, one more to judge the maps, and one if they are fitted elsewhere.
    Beside it, with c columns of all networks together, ``s c^2`` operations per output; c is small for networks with a
    narrow first layer (`row_space`). Procrustes distances add singular values of n x n matrices.

    References
    ----------
    .. [sattelberg2026] Section 7.3.

    Examples
    --------
    >>> import reluscope as rs
    >>> layers = [(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))]
    >>> found = compare({"one": rs.load(layers), "other": rs.load(layers)}, [[1.0, -1.0], [-1.0, 2.0], [1.0, 2.0]])
    >>> print(found["cka"]["one", "other"])
    1 (ESTIMATE)
    """
    if not isinstance(networks, Mapping):
        raise InputError(
            f'expected networks by their names, as in {{"a": one, "b": other}}, got {type(networks).__name__}'
        )
    names, every = tuple(networks), list(networks.values())
    check_networks(every, names)
    chosen = _chosen(metrics)
    points = common_points(every, x)
    classes = None if labels is None else read_classes(every[0], labels, len(points))
    forwards = [rounded_forward(network, points) for network in every]
    measured = _Measured(names, "outputs" if gates is None else "features")
    for metric in chosen:
        if metric.source is Source.OUTPUTS:
            measured.add(metric, forwards)
        elif metric.source is Source.CODES:
            measured.add(metric, _partitions(every, forwards, points))
    on_features = [one for one in chosen if one.source is Source.MOMENTS and one is not MAP_RESIDUAL]
    if on_features:
        given = (None,) * len(every) if gates is None else tuple(gates)
        if len(given) != len(every):
            raise InputError(f"expected one gate, or None, for each of {len(every)} networks, got {len(given)}")
        seen = moments_of(*(features(one, points, gate=gate) for one, gate in zip(every, given, strict=True)))
        for metric in on_features:
            measured.add(metric, seen, prefix="features_")
    mapped = None
    if any(one.source in (Source.MOMENTS, Source.ENTRIES) for one in chosen):
        fitted = points if fit_on is None else common_points(every, fit_on)
        work = _Coefficients(
            every, points, fitted, fit_on is not None, chosen, ridge, (budget or Budget()).memory_or(MEMORY)
        )
        mapped = work.run(measured, progress)
    return _assembled(measured, mapped, forwards, classes)


def _chosen(metrics: Sequence[str] | None) -> list[Metric]:
    if metrics is None:
        return list(METRICS.values())
    given = [metrics] if isinstance(metrics, str) else list(metrics)
    # Tables are asked for by their own names, too.
    wanted = [MAP_RESIDUAL.name if name in TITLES else name.removeprefix("features_") for name in given]
    unknown = [name for name, metric in zip(given, wanted, strict=True) if metric not in METRICS]
    if unknown or not given:
        raise InputError(f"expected metrics among {', '.join(METRICS)}, got {', '.join(unknown) or 'none'}")
    return [METRICS[name] for name in dict.fromkeys(wanted)]


def _partitions(
    networks: Sequence[Network], forwards: Sequence[RoundedForward], points: torch.Tensor
) -> CodePartitions:
    labels = [network.codes(points).unique(return_inverse=True)[1] for network in networks]
    return CodePartitions(np.stack(labels), np.stack([one.doubtful.any(axis=1) for one in forwards]))


class _Measured:
    """Numbers under way: for every table and pair, those of each output."""

    def __init__(self, names: tuple[str, ...], features: str) -> None:
        self.names = names
        self.features = features
        self.metrics: dict[str, Metric] = {}
        self.found: dict[str, dict[tuple[int, int], list[Finding | None]]] = {}

    def add(self, metric: Metric, source: object, *, prefix: str = "") -> None:
        """Measure all pairs once more."""
        for first in range(len(self.names)):
            for second in range(first if metric.is_symmetric else 0, len(self.names)):
                self.put(metric, (first, second), metric.measure(source, first, second), prefix=prefix)

    def put(self, metric: Metric, pair: tuple[int, int], finding: Finding | None, *, prefix: str = "") -> None:
        """Add one number."""
        self.metrics[prefix + metric.name] = metric
        self.found.setdefault(prefix + metric.name, {}).setdefault(pair, []).append(finding)

    def tables(self) -> dict[str, PairTable]:
        """Return the means over outputs."""
        made = {}
        order = list(METRICS)
        for name, metric in sorted(self.metrics.items(), key=lambda entry: order.index(entry[1].name)):
            means = {pair: _mean(entries) for pair, entries in self.found[name].items()}
            size = range(len(self.names))
            cells = tuple(tuple(means.get((row, column), means.get((column, row))) for column in size) for row in size)
            of = " of coefficients" if metric.source is Source.MOMENTS and metric is not MAP_RESIDUAL else ""
            of = f" of {self.features}" if name.startswith("features_") else of
            made[name] = PairTable(
                name, metric.title + of, self.names, cells, metric.is_symmetric, metric.grows_with_likeness
            )
        return made

    def notes(self) -> list[str]:
        """Say of which networks something is not defined."""
        reasons: dict[tuple[str, str], list[str]] = {}
        for name, metric in self.metrics.items():
            for place, network in enumerate(self.names):
                entries = self.found[name].get((place, place), [])
                if without := sum(one is None for one in entries):
                    where = network if len(entries) == 1 else f"{without} of {len(entries)} outputs of {network}"
                    reasons.setdefault((where, _reason(name, metric, self.features)), []).append(name)
        return [
            f"{', '.join(affected)}: not defined for {where}, as {reason}"
            for (where, reason), affected in reasons.items()
        ]


def _reason(name: str, metric: Metric, features: str) -> str:
    if metric.source is Source.ENTRIES:
        return "its largest coefficient is not positive, or too small beside the others"
    what = features if name.startswith("features_") else "coefficients"
    return f"its {what} are the same at all samples, or samples are too few"


def _mean(entries: Sequence[Finding | None]) -> Finding | None:
    """Return the mean over outputs of one quantity, where it is defined."""
    defined = [one for one in entries if one is not None]
    if not defined:
        return None
    if len(entries) == 1:
        return defined[0]
    number = f"{len(defined)} outputs" if len(defined) == len(entries) else f"{len(defined)} of {len(entries)} outputs"
    return replace(
        defined[0],
        value=float(np.mean([float(one) for one in defined])),
        definition=f"{defined[0].definition}; mean over {number}",
    )


@dataclass(frozen=True, eq=False)
class _MappedNetworks:
    """Maps as far as they are kept: what they are like, and what mapped networks say."""

    maps: dict[tuple[int, int], CoefficientMaps]
    outputs: dict[tuple[int, int], np.ndarray]
    is_apart: bool


@dataclass(frozen=True, eq=False)
class _Coefficients:
    """Passes over coefficients, outputs by groups."""

    networks: list[Network]
    points: torch.Tensor
    fitted: torch.Tensor
    is_apart: bool
    metrics: list[Metric]
    ridge: float
    memory: int

    def run(self, measured: _Measured, progress: Progress) -> _MappedNetworks | None:
        """Measure what is asked of coefficients; return what the maps do, if they were asked for."""
        spaces = [row_space(network) for network in self.networks]
        every = range(len(self.networks))
        maps = MAP_RESIDUAL in self.metrics
        pairs = [(first, second) for first in every for second in every if first != second] if maps else []
        of_moments = [one for one in self.metrics if one.source is Source.MOMENTS and one is not MAP_RESIDUAL]
        of_entries = [one for one in self.metrics if one.source is Source.ENTRIES]
        kept: dict[tuple[int, int], list[Solution]] = {pair: [] for pair in pairs}
        outputs: dict[tuple[int, int], list[np.ndarray]] = {pair: [] for pair in pairs}
        entries: Entries | None = None
        for group in output_groups(spaces, self.networks[0].num_outputs, self.memory):
            moments, more = self._moments(spaces, self.fitted, group, progress)
            if maps:
                solved = solve_pairs(
                    self.networks,
                    spaces,
                    self.fitted,
                    group,
                    moments,
                    pairs,
                    ridge=self.ridge,
                    memory=self.memory,
                )
            else:
                solved = []
            if self.is_apart:
                del moments
                moments, more = self._moments(spaces, self.points, group, progress)
            entries = more if entries is None else entries + more
            for metric in of_moments:
                for one in moments:
                    measured.add(metric, one)
            del moments
            if maps:
                for pair, columns in self._applied(spaces, group, solved).items():
                    outputs[pair] += columns
                    # The matrices have done their work, and would not fit the memory for all outputs.
                    kept[pair] += [replace(one[pair], matrix=np.empty((0, 0))) for one in solved]
        for metric in of_entries:
            measured.add(metric, entries)
        if not maps:
            return None
        found = {
            (first, second): CoefficientMaps(
                self.networks[first],
                tuple(kept[first, second]),
                (spaces[first], spaces[second]),
                len(self.fitted),
                self.ridge,
            )
            for first, second in pairs
        }
        return _MappedNetworks(found, {pair: np.stack(parts, axis=1) for pair, parts in outputs.items()}, self.is_apart)

    def _moments(
        self, spaces: Sequence[RowSpace], points: torch.Tensor, group: Sequence[int], progress: Progress
    ) -> tuple[list[Moments], Entries]:
        return coefficient_moments(self.networks, spaces, points, group, memory=self.memory, progress=progress)

    def _applied(
        self, spaces: Sequence[RowSpace], group: Sequence[int], solved: Sequence[Mapping[tuple[int, int], Solution]]
    ) -> dict[tuple[int, int], list[np.ndarray]]:
        """Return the outputs of mapped networks, one array per output of the group."""
        flat = self.points.reshape(len(self.points), -1).cpu().numpy()
        found = {pair: [np.empty(len(flat)) for _ in group] for pair in solved[0]}
        for rows, blocks in coefficient_blocks(self.networks, self.points, group, self.memory):
            for place, solutions in enumerate(solved):
                for (first, second), solution in solutions.items():
                    found[first, second][place][rows] = mapped_outputs(
                        solution, (spaces[first], spaces[second]), blocks[first][place], flat[rows]
                    )
        return found


def _assembled(
    measured: _Measured,
    mapped: _MappedNetworks | None,
    forwards: Sequence[RoundedForward],
    labels: np.ndarray | None,
) -> Similarities:
    names = measured.names
    own = None if labels is None else tuple(accuracy_of_outputs(one, labels) for one in forwards)
    notes = measured.notes()
    if mapped is None:
        return Similarities(names, measured.tables(), own, None, tuple(notes))
    itself = Finding.of(0.0, name=MAP_RESIDUAL.title, definition="of a network with itself, by the identity map")
    for place in range(len(names)):
        measured.put(MAP_RESIDUAL, (place, place), itself)
    for pair, maps in mapped.maps.items():
        measured.put(MAP_RESIDUAL, pair, maps.residual())
    others = measured.tables()
    tables = {MAP_RESIDUAL.name: others.pop(MAP_RESIDUAL.name)}
    classes = [classes_of_outputs(one.outputs) for one in forwards]
    number = len(classes[0])
    said_by = {pair: classes_of_outputs(outputs) for pair, outputs in mapped.outputs.items()}
    agreeing = {
        (first, second): _share(said == classes[second], "mapped_agreement")
        for (first, second), said in said_by.items()
    }
    agreeing |= {(place, place): _with_itself(number) for place in range(len(names))}
    tables["mapped_agreement"] = _table("mapped_agreement", names, agreeing)
    if labels is not None and own is not None:
        right = {pair: _share(said == labels, "mapped_accuracy") for pair, said in said_by.items()}
        right |= {(place, place): finding for place, finding in enumerate(own)}
        tables["mapped_accuracy"] = _table("mapped_accuracy", names, right)
        lost = {pair: _difference(finding, own[pair[1]], number) for pair, finding in right.items()}
        tables["drop"] = _table("drop", names, lost)
    conditions = tuple(
        next(maps.condition() for (first, _), maps in mapped.maps.items() if first == place)
        for place in range(len(names))
    )
    for place, name in enumerate(names):
        maps = next(maps for (first, _), maps in mapped.maps.items() if first == place)
        if maps.sentence:
            notes.append(f"maps from {name}: {maps.sentence}")
    if not mapped.is_apart:
        notes.append("mapped networks are judged on the samples that they were fitted to, where they look their best")
    return Similarities(names, tables | others, own, conditions, tuple(notes))


TITLES = {
    "mapped_agreement": ("agreement of the mapped network with its target", True),
    "mapped_accuracy": ("accuracy of the mapped network", True),
    "drop": ("accuracy that the target loses when mapped to", False),
}
DEFINITIONS = {
    "mapped_agreement": "share of samples of which the mapped network says the class that its target says",
    "mapped_accuracy": "share of samples of which the mapped network says the label",
}


def _table(name: str, names: tuple[str, ...], findings: Mapping[tuple[int, int], Finding]) -> PairTable:
    size = range(len(names))
    title, grows = TITLES[name]
    cells = tuple(tuple(findings[row, column] for column in size) for row in size)
    return PairTable(name, title, names, cells, is_symmetric=False, grows_with_likeness=grows)


def _share(right: np.ndarray, name: str) -> Finding:
    return Finding.estimate(
        float(right.mean()),
        is_share=True,
        name=TITLES[name][0],
        definition=f"{DEFINITIONS[name]}: {int(right.sum()):,} of {len(right):,}",
        domain=f"{len(right):,} samples",
        method="least squares in float64",
        source="sattelberg2026",
    )


def _with_itself(number: int) -> Finding:
    name, definition = TITLES["mapped_agreement"][0], "of a network with itself, by the identity map"
    return Finding.of(1.0, name=name, definition=definition, domain=f"{number:,} samples", is_share=True)


def _difference(mapped: Finding, own: Finding, number: int) -> Finding:
    value = float(own) - float(mapped)
    make = Finding.of if mapped is own else Finding.estimate
    return make(
        value,
        name=TITLES["drop"][0],
        definition="accuracy of the network that is mapped to, less that of the mapped one",
        domain=f"{number:,} samples",
        method="least squares in float64",
        source="sattelberg2026",
    )
