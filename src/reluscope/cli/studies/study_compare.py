"""Numbers of a study beside those of an earlier run: equal, within their tolerance, or different and by how much."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf, isclose
from pathlib import Path
from typing import Any

from reluscope.cli.studies.study_numbers import NUMBERS, changes_of, read_numbers, variant_of
from reluscope.errors import InputError
from reluscope.findings import Finding
from reluscope.studies import Setting

# Relative to the larger number: numbers that differ by less are equal.
CLOSE = 1e-6
EQUAL, WITHIN, DIFFERENT, GONE, NEW = "equal", "within tolerance", "different", "gone", "new"


@dataclass(frozen=True)
class Compared:
    """One number, now and then."""

    name: str
    now: float | None
    then: float | None
    how: str

    @property
    def difference(self) -> float | None:
        """Now less then, where both are there."""
        return None if self.now is None or self.then is None else self.now - self.then


@dataclass(frozen=True)
class StudyComparison:
    """All numbers of a study, now and then."""

    study: str
    numbers: tuple[Compared, ...]
    same_weights: bool

    @property
    def counts(self) -> Counter[str]:
        """How many numbers are equal, within tolerance, and so on."""
        return Counter(one.how for one in self.numbers)

    @property
    def differs(self) -> bool:
        """Whether any number is another one, gone or new."""
        return any(one.how not in (EQUAL, WITHIN) for one in self.numbers)

    def describe(self) -> str:
        """Return one sentence."""
        parts = ", ".join(f"{number:,} {how}" for how, number in sorted(self.counts.items()))
        weights = "the same" if self.same_weights else "other"
        return f"{self.study}: {parts or 'no numbers'}; {weights} trained weights."

    def to_dict(self) -> dict[str, Any]:
        """Return plain types: the counts, and the numbers that are not equal."""
        others = [one for one in self.numbers if one.how != EQUAL]
        return {
            "study": self.study,
            "same_weights": self.same_weights,
            "counts": dict(self.counts),
            "numbers": [
                {"name": one.name, "now": one.now, "then": one.then, "difference": one.difference, "how": one.how}
                for one in others
            ],
        }


def stored(folder: Path, settings: Mapping[str, Setting]) -> dict[str, dict[str, Any]]:
    """Return the results of an earlier run by study, from a folder of results or a book of results.

    `settings` are those of the run now; an earlier run that did something else raises InputError.
    """
    found = {}
    for study, setting in settings.items():
        own = folder / study / variant_of(setting) / NUMBERS
        path = own if own.is_file() else folder / NUMBERS
        if not path.is_file():
            kept = sorted(one.parent.name for one in (folder / study).glob(f"*/{NUMBERS}"))
            there = f"what it has of it is {', '.join(kept)}" if kept else "it has no run of it"
            raise InputError(f"{folder} has no run of {study} called {variant_of(setting)} to compare with: {there}")
        before = read_numbers(path)
        named = [one for one in before["studies"] if one["name"] == study]
        if not named:
            raise InputError(f"{folder} has nothing of {study} at size {setting.size} to compare with")
        for what, now in (("size", setting.size), ("changes", changes_of(setting)), ("seed", setting.seed)):
            if before.get(what) != now:
                raise InputError(
                    f"{path} was made with another {what}: {before.get(what)} instead of {now}, which gives "
                    f"other numbers: {before.get('command')} made it"
                )
        data = None if setting.train is None else setting.train.name
        if named[0]["data"] != data:
            raise InputError(f"{path} was made from {named[0]['data']} and not from {data}")
        found[study] = named[0]
    return found


def compare(now: Mapping[str, Any], then: Mapping[str, Any]) -> StudyComparison:
    """Compare the numbers of one study, as plain types, with those of an earlier run."""
    before, after = dict(_keyed(then)), dict(_keyed(now))
    numbers = []
    for key in dict.fromkeys((*before, *after)):
        one, other = after.get(key), before.get(key)
        how = NEW if other is None else GONE if one is None else _how(one, other)
        value, old = (None if each is None else each.value for each in (one, other))
        numbers.append(Compared(key[0], value, old, how))
    return StudyComparison(now["name"], tuple(numbers), now["fingerprint"] == then["fingerprint"])


def _keyed(study: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str, str, int], Finding]]:
    """Yield findings by what they are; those alike are told apart by their order."""
    seen: Counter[tuple[str, str, str]] = Counter()
    for plain in study["findings"]:
        finding = Finding.from_dict(plain)
        key = finding.name, finding.definition, finding.domain
        yield (*key, seen[key]), finding
        seen[key] += 1


def _how(one: Finding, other: Finding) -> str:
    if one.claim is other.claim and one.value == other.value:
        return EQUAL
    if one.claim is other.claim and isclose(one.value, other.value, rel_tol=CLOSE):
        return WITHIN
    (low, high), (least, most) = _ends(one), _ends(other)
    return WITHIN if max(low, least) <= min(high, most) and one.claim is other.claim else DIFFERENT


def _ends(one: Finding) -> tuple[float, float]:
    if one.interval is not None:
        return one.interval
    error = one.tolerance or 0.0
    return (one.value - error, one.value + error) if error < inf else (one.value, one.value)
