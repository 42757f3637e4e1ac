"""Records of a study on disk, so that work that was stopped can go on, and the seconds that it has taken so far."""

import shutil
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from reluscope.errors import InputError
from reluscope.files.kept_results import KEY, KeptResults
from reluscope.files.sealed_files import not_as_written, read_sealed_json, to_sealed_json
from reluscope.files.whole_files import write_files

FORMAT = "reluscope seconds 1"
SECONDS, WHAT = "seconds.json", "the seconds of a study"
ADVICE = "remove that file, and they are counted anew"


@dataclass(frozen=True)
class Spent:
    """What work has taken, in seconds: by the clock, and of processors."""

    seconds: float = 0.0
    processor_seconds: float = 0.0

    @classmethod
    def now(cls) -> "Spent":
        """Return what the clocks of this process say."""
        return cls(time.perf_counter(), time.process_time())

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(self.seconds + other.seconds, self.processor_seconds + other.processor_seconds)

    def __sub__(self, other: "Spent") -> "Spent":
        return Spent(self.seconds - other.seconds, self.processor_seconds - other.processor_seconds)


class StudyRecords(KeptResults):
    """Results of a study by name; with each of them the seconds are written that all runs have taken until then.

    So a run that a signal ends, or that loses its power, takes with it no more than the seconds of the result at work.
    """

    def __init__(self, folder: Path, key: Mapping[str, str], *, advice: str) -> None:
        super().__init__(folder, key, advice=advice)
        self._clock = folder / SECONDS
        self._before = self._written()
        self._began = Spent.now()

    def begin(self) -> None:
        """Count the seconds of this run from now on."""
        self._began = Spent.now()

    def note_time(self) -> Spent:
        """Write down what all runs have taken so far, and return it."""
        spent = self._before + (Spent.now() - self._began)
        write_files({self._clock: to_sealed_json({"format": FORMAT, **asdict(spent)}, indent=1)})
        return spent

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        self.note_time()

    def _written(self) -> Spent:
        if not self._clock.exists():
            return Spent()
        there = read_sealed_json(self._clock, WHAT, ADVICE)
        if there.get("format") != FORMAT:
            raise InputError(f"expected the format {FORMAT!r} in {self._clock}, got {there.get('format')!r}: {ADVICE}")
        try:
            return Spent(float(there["seconds"]), float(there["processor_seconds"]))
        except (KeyError, TypeError, ValueError) as error:
            raise not_as_written(self._clock, WHAT, ADVICE) from error


def open_records(folder: Path, key: Mapping[str, str], *, resume: bool = False) -> StudyRecords:
    """Return the records in a folder; without `resume` they begin anew.

    `key` is what the records depend on. Records that are damaged or depend on something else raise InputError.
    """
    if not (resume and (folder / KEY).is_file()):
        shutil.rmtree(folder, ignore_errors=True)
    advice = "give the same as then, another folder with -o, or begin anew with --force"
    records = StudyRecords(folder, key, advice=advice)
    records.check()
    return records
