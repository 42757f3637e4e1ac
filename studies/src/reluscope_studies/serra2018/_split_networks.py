"""Networks with two hidden layers for every split of a number of units: trained, measured, counted, and kept."""

import time
from dataclasses import dataclass
from math import inf

import reluscope as rs
from reluscope.errors import BudgetExceededError
from reluscope.stopping import is_interrupted
from reluscope.studies import Record, Setting
from reluscope_studies.bounds import activation_upper, serra_upper
from reluscope_studies.labelled import labelled_data
from reluscope_studies.records import plain_findings
from reluscope_studies.training import Training, train_classifiers


@dataclass(frozen=True)
class Plan:
    """Which networks there are.

    Parameters
    ----------
    units : int
        In both hidden layers together.
    replicates : int
        Networks of each split.
    training : Training
    only : tuple of splits, optional
        Those that are looked at; all of them by default.
    """

    units: int
    replicates: int
    training: Training
    only: tuple[tuple[int, int], ...] | None = None

    @property
    def splits(self) -> list[tuple[int, int]]:
        """Units of the two layers, for every split that is looked at."""
        if self.only is not None:
            return list(self.only)
        return [(first, self.units - first) for first in range(1, self.units)]


@dataclass(frozen=True, eq=False)
class Measured:
    """One network with its numbers; those that are not there yet are missing."""

    split: tuple[int, int]
    replicate: int
    findings: dict[str, rs.Finding]


class Networks:
    """The networks of a plan, in the records of a setting.

    Parameters
    ----------
    setting : Setting
    plan : Plan
    """

    def __init__(self, setting: Setting, plan: Plan) -> None:
        self.setting, self.plan = setting, plan
        self.training, self.testing = labelled_data(setting)

    def finish(self) -> None:
        """Train, measure and count all networks that are not finished, one replicate after another."""
        clock = _Clock(self.setting, self._open_splits())
        for replicate in range(self.plan.replicates):
            self._train(replicate)
            self._count(replicate, clock)

    def _train(self, replicate: int) -> None:
        """Train the networks of a replicate together, and measure them."""
        plan, records = self.plan, self.setting.records
        missing = [split for split in plan.splits if _name(split, replicate) not in records]
        if not missing:
            return
        label = f"Training {len(missing)} networks at once, {replicate + 1} of {plan.replicates}"
        trained = train_classifiers(
            self.training.points,
            self.training.labels,
            missing,
            num_classes=int(max(self.training.labels.max(), self.testing.labels.max())) + 1,
            seeds=[_seed(self.setting.seed, replicate, split) for split in missing],
            training=plan.training,
            device=self.setting.device,
            progress=lambda share: self.setting.progress(label, share),
        )
        for number, (split, layers) in enumerate(zip(missing, trained, strict=True)):
            self.setting.progress(f"Measuring errors of {split[0]}+{split[1]}", number / len(missing))
            arrays = {f"W{index}": weight for index, (weight, _) in enumerate(layers)}
            arrays |= {f"b{index}": bias for index, (_, bias) in enumerate(layers)}
            plain = {
                "split": list(split),
                "replicate": replicate,
                "findings": plain_findings(self._measure(rs.load(layers))),
            }
            records[_name(split, replicate)] = Record(plain, arrays)

    def _count(self, replicate: int, clock: "_Clock") -> None:
        """Count the regions of networks that were not counted, or for less time than there is now."""
        for split in self.plan.splits:
            name = _name(split, replicate)
            if not self._is_open(name):
                continue
            kept = self.setting.records[name]
            network = _network(kept)
            clock.begin(split)
            count = self._counted(network)
            if is_interrupted(count.stop):  # part of a count is worth nothing to a run that goes on later
                raise KeyboardInterrupt
            found = {**kept.plain["findings"], **plain_findings({"regions": count})}
            plain = {**kept.plain, "findings": found, "seconds_allowed": self.setting.seconds}
            self.setting.records[name] = Record(plain, kept.arrays)
            clock.end(split)

    def _counted(self, network: rs.Network) -> rs.Finding:
        """Return the number of regions, or a bound on it: there is one at least where time ends before the first."""
        budget, box = rs.Budget(seconds=self.setting.seconds), rs.Box(0, 1, network.num_inputs)
        try:
            return rs.count(network, box, method="tree", budget=budget, executor=self.setting.executor)
        except BudgetExceededError:
            return rs.Finding.of(
                1,
                upper=inf,
                name="regions",
                definition="proper activation regions (full-dimensional)",
                domain=box.describe(),
                method="there is one at least",
            )

    def _open_splits(self) -> list[tuple[int, int]]:
        """Return the split of every network that is to be counted."""
        every = [(split, replicate) for replicate in range(self.plan.replicates) for split in self.plan.splits]
        return [split for split, replicate in every if self._is_open(_name(split, replicate))]

    def _is_open(self, name: str) -> bool:
        kept = self.setting.records.get(name)
        if kept is None or "regions" not in kept.plain["findings"]:
            return True
        before, now = kept.plain["seconds_allowed"], self.setting.seconds
        is_exact = kept.plain["findings"]["regions"]["claim"] == rs.Claim.EXACT
        return not is_exact and before is not None and (now is None or now > before)

    def measured(self) -> list[Measured]:
        """Return all networks that are trained, in order of replicates."""
        found = []
        for replicate in range(self.plan.replicates):
            for split in self.plan.splits:
                kept = self.setting.records.get(_name(split, replicate))
                if kept is not None:
                    findings = {name: rs.Finding.from_dict(one) for name, one in kept.plain["findings"].items()}
                    found.append(Measured(split, replicate, findings))
        return found

    def _measure(self, network: rs.Network) -> dict[str, rs.Finding]:
        box = rs.Box(0, 1, network.num_inputs)
        found = {"bound": activation_upper(network, box)}
        for part, data in (("training", self.training), ("test", self.testing)):
            found[f"{part} accuracy"] = rs.classification.accuracy(network, data.points, data.labels)
            found[f"{part} cross-entropy"] = rs.classification.cross_entropy(network, data.points, data.labels)
        return found


class _Clock:
    """The progress of the counts; since their time is not known in advance, the bound on regions stands for it.

    Parameters
    ----------
    setting : Setting
    splits : list of (int, int)
        Of the networks to be counted.
    """

    def __init__(self, setting: Setting, splits: list[tuple[int, int]]) -> None:
        self._setting, self._number = setting, len(splits)
        self._whole = sum(map(_expected, splits))
        self._ended, self._done, self._seconds, self._began = 0, 0.0, 0.0, 0.0

    def begin(self, split: tuple[int, int]) -> None:
        """Say which network comes next, and how long it will be until the end."""
        self._began = time.perf_counter()
        remaining = self._seconds * (self._whole - self._done) / self._done if self._done else None
        if self._setting.seconds is not None:
            remaining = min(remaining or float("inf"), (self._number - self._ended) * self._setting.seconds)
        what = f"Counting {split[0]}+{split[1]}, network {self._ended + 1} of {self._number}"
        self._setting.progress(what, self._done / self._whole, remaining)

    def end(self, split: tuple[int, int]) -> None:
        """Take note that a network is counted."""
        self._seconds += time.perf_counter() - self._began
        self._done += _expected(split)
        self._ended += 1


def _expected(split: tuple[int, int]) -> float:
    return float(int(serra_upper((sum(split), *split))))


def _network(kept: Record) -> rs.Network:
    return rs.load([(kept.arrays[f"W{index}"], kept.arrays[f"b{index}"]) for index in range(3)])


def _name(split: tuple[int, int], replicate: int) -> str:
    return f"{split[0]:02d}+{split[1]:02d}-{replicate}"


def _seed(seed: int, replicate: int, split: tuple[int, int]) -> int:
    return (seed * 1009 + replicate) * 100_003 + 101 * split[0] + split[1]
