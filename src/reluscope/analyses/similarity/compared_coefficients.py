"""Maps of coefficients between two networks, sample after sample."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from reluscope.analyses.classification.class_predictions import (
    ACCURACY,
    accuracy_of_outputs,
    classes_of_outputs,
)
from reluscope.analyses.similarity.least_squares import LinearFit
from reluscope.analyses.similarity.mapping import (
    MAP_RESIDUAL,
    CoefficientMaps,
    mapped_outputs,
    solve_pairs,
)
from reluscope.analyses.similarity.metric import Metric, Source
from reluscope.analyses.similarity.moments import Moments
from reluscope.analyses.similarity.registered import METRICS
from reluscope.analyses.similarity.row_spaces import RowSpace, row_space
from reluscope.analyses.similarity.streamed_samples import (
    Entries,
    coefficient_blocks,
    coefficient_moments,
    output_groups,
)
from reluscope.analyses.similarity.tables import (
    CONDITION_NUMBER,
    DROP,
    FEATURES,
    MAPPED_ACCURACY,
    MAPPED_AGREEMENT,
    PAIR_QUANTITIES,
)
from reluscope.findings import Column, Finding, Findings
from reluscope.networks.evaluation.decisions import scores
from reluscope.networks.evaluation.rounded_forward import RoundedForward
from reluscope.networks.network import Network
from reluscope.progress import Progress

Pair = tuple[int, int]


class _Measured:
    """The numbers measured so far: of every quantity and pair, those of each output."""

    def __init__(self, names: tuple[str, ...], features: str) -> None:
        self.names = names
        self.pairs = [(first, second) for first in range(len(names)) for second in range(len(names))]
        self.features = features
        self.metrics: dict[str, Metric] = {}
        self.found: dict[str, dict[Pair, list[Finding | None]]] = {}
        self.left_out: list[str] = []

    def add(self, metric: Metric, source: object, *, prefix: str = "") -> None:
        """Measure all pairs, for one more output if the metric is one of single outputs."""
        for first in range(len(self.names)):
            for second in range(first if metric.is_symmetric else 0, len(self.names)):
                self.put(metric, (first, second), metric.measure(source, first, second), prefix=prefix)

    def put(self, metric: Metric, pair: Pair, finding: Finding | None, *, prefix: str = "") -> None:
        """Add one number."""
        self.metrics[prefix + metric.name] = metric
        self.found.setdefault(prefix + metric.name, {}).setdefault(pair, []).append(finding)

    def columns(self) -> dict[str, Column]:
        """Return the means over outputs, a row for each pair."""
        made = {}
        order = [metric.name for metric in METRICS.values()]
        for name in sorted(self.metrics, key=lambda name: order.index(self.metrics[name].name)):
            means = {pair: _mean(entries) for pair, entries in self.found[name].items()}
            cells = [means.get((row, column), means.get((column, row))) for row, column in self.pairs]
            given = f"of {self.features}" if name.startswith(FEATURES) else ""
            made[name] = Column.of_findings(PAIR_QUANTITIES[name].quantity, cells, given=given)
        return made

    def notes(self) -> list[str]:
        """Return in a sentence each of which networks something is not defined, and why."""
        reasons: dict[tuple[str, str], list[str]] = {}
        for name, metric in self.metrics.items():
            for place, network in enumerate(self.names):
                entries = self.found[name].get((place, place), [])
                if without := sum(one is None for one in entries):
                    whose = network if len(entries) == 1 else f"{without} of {len(entries)} outputs of {network}"
                    reasons.setdefault((whose, _reason(name, metric, self.features)), []).append(name)
        return [
            f"{', '.join(affected)}: not defined for {whose}, as {reason}"
            for (whose, reason), affected in reasons.items()
        ]


def _reason(name: str, metric: Metric, features: str) -> str:
    if metric.source is Source.ENTRIES:
        return "its largest coefficient is not positive, or too small beside the others"
    what = features if name.startswith(FEATURES) else "coefficients"
    return f"its {what} are the same at all samples, or samples are too few"


def _mean(entries: Sequence[Finding | None]) -> Finding | None:
    """Return the mean over the outputs for which a quantity of coefficients, an ESTIMATE, is defined."""
    defined = [one for one in entries if one is not None]
    if len(entries) == 1 or not defined:
        return entries[0]
    return replace(defined[0], value=float(np.mean([float(one) for one in defined])))


@dataclass(frozen=True, eq=False)
class _MappedNetworks:
    """Fitted maps without their matrices, and the scores of the mapped networks' classes."""

    maps: dict[tuple[int, int], CoefficientMaps]
    scores: dict[tuple[int, int], np.ndarray]
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
        """Measure what is asked of coefficients, and return the maps, if they were asked for."""
        spaces = [row_space(network) for network in self.networks]
        every = range(len(self.networks))
        maps = MAP_RESIDUAL in self.metrics
        pairs = [(first, second) for first in every for second in every if first != second] if maps else []
        of_moments = [one for one in self.metrics if one.source is Source.MOMENTS and one is not MAP_RESIDUAL]
        of_entries = [one for one in self.metrics if one.source is Source.ENTRIES]
        kept: dict[tuple[int, int], list[LinearFit]] = {pair: [] for pair in pairs}
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
        of_classes = {
            pair: scores(np.stack(parts, axis=1), self.networks[pair[1]].decision) for pair, parts in outputs.items()
        }
        return _MappedNetworks(found, of_classes, self.is_apart)

    def _moments(
        self, spaces: Sequence[RowSpace], points: torch.Tensor, group: Sequence[int], progress: Progress
    ) -> tuple[list[Moments], Entries]:
        return coefficient_moments(self.networks, spaces, points, group, memory=self.memory, progress=progress)

    def _applied(
        self, spaces: Sequence[RowSpace], group: Sequence[int], solved: Sequence[Mapping[tuple[int, int], LinearFit]]
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
) -> Findings:
    own = None if labels is None else [accuracy_of_outputs(one, labels) for one in forwards]
    notes = measured.notes() + measured.left_out
    of_maps: dict[str, Column] = {}
    of_first: list[Column] = []
    if own is not None:
        accuracies = [own[first] for first, _ in measured.pairs]
        of_first.append(Column.of_findings(ACCURACY, accuracies, given="of the first network"))
    if mapped is not None:
        itself = Finding.of(0.0)
        for place in range(len(measured.names)):
            measured.put(MAP_RESIDUAL, (place, place), itself)
        for pair, maps in mapped.maps.items():
            measured.put(MAP_RESIDUAL, pair, maps.residual())
        of_maps = _of_maps(measured, mapped, forwards, labels, own)
        maps_from = [
            next(maps for (first, _), maps in mapped.maps.items() if first == place)
            for place in range(len(measured.names))
        ]
        conditions = [maps_from[first].condition() for first, _ in measured.pairs]
        of_first.append(Column.of_findings(CONDITION_NUMBER, conditions, given="of the first network"))
        notes += [
            f"maps from {name}: {maps.sentence}"
            for name, maps in zip(measured.names, maps_from, strict=True)
            if maps.sentence
        ]
        if not mapped.is_apart:
            notes.append(
                "mapped networks are judged on the samples that they were fitted to, where they look their best"
            )
    columns = measured.columns()
    residual = [columns.pop(MAP_RESIDUAL.name)] if mapped is not None else []
    names = np.array(measured.names)
    return Findings.of(
        *residual,
        *of_maps.values(),
        *columns.values(),
        *of_first,
        keys={"first": names.repeat(len(names)), "second": np.tile(names, len(names))},
        domain=f"{len(forwards[0].outputs):,} samples",
        num_samples=len(forwards[0].outputs),
        notes=tuple(notes),
    )


def _of_maps(
    measured: _Measured,
    mapped: _MappedNetworks,
    forwards: Sequence[RoundedForward],
    labels: np.ndarray | None,
    own: Sequence[Finding] | None,
) -> dict[str, Column]:
    """Return agreement with the targets, accuracy, and the drop of accuracy, of mapped networks."""
    classes = [classes_of_outputs(one.outputs) for one in forwards]
    said_by = {pair: classes_of_outputs(found) for pair, found in mapped.scores.items()}
    cells: dict[str, list[Finding]] = {one.quantity.name: [] for one in (MAPPED_AGREEMENT, MAPPED_ACCURACY, DROP)}
    for pair in measured.pairs:
        first, second = pair
        agreeing = Finding.of(1.0) if first == second else _estimate(said_by[pair] == classes[second])
        cells[MAPPED_AGREEMENT.quantity.name].append(agreeing)
        if labels is not None and own is not None:
            right = own[first] if first == second else _estimate(said_by[pair] == labels)
            make = Finding.of if first == second else Finding.estimate
            cells[MAPPED_ACCURACY.quantity.name].append(right)
            cells[DROP.quantity.name].append(make(float(own[second]) - float(right)))
    return {
        name: Column.of_findings(PAIR_QUANTITIES[name].quantity, found, method="least squares in float64")
        for name, found in cells.items()
        if found
    }


def _estimate(right: np.ndarray) -> Finding:
    return Finding.estimate(float(right.mean()))
