"""What studies found, as plain types, with all that someone needs who repeats them: versions, processor, command."""

import hashlib
import platform
import re
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from reluscope.cli.studies.study_records import Spent
from reluscope.errors import InputError
from reluscope.files.sealed_files import parse_json
from reluscope.findings import Finding
from reluscope.studies import Outcome, Record, Setting, Study, Table
from reluscope.version import __version__

try:
    import resource
except ImportError:  # not on Windows
    resource = None

FORMAT = "reluscope reproduce 2"
NUMBERS = "findings.json"
PACKAGES = ("torch", "numpy", "scipy", "highspy")
CPUINFO = Path("/proc/cpuinfo")


@dataclass(frozen=True, eq=False)
class Done:
    """A study and its result."""

    study: Study
    outcome: Outcome
    data: str | None  # what networks were trained on
    spent: Spent  # what all runs that continued one another took
    fingerprint: str  # of the arrays kept, mostly weights; empty if none
    data_fingerprint: str  # of the points and labels of all data; empty without data
    peak_gigabytes: float | None  # the most memory that the process has had by the end of the study


def describe(name: str, figure: str | None, setting: Setting, done: Sequence[Done]) -> dict[str, Any]:
    """Return the results of studies as plain types.

    `name` is the key of the paper, or paper and study, `figure` what was asked for of it; `setting` is that of any of
    the studies.
    """
    return {
        "format": FORMAT,
        "reluscope": __version__,
        "name": name,
        "size": setting.size,
        "changes": changes_of(setting),
        "variant": variant_of(setting),
        "seed": setting.seed,
        "complete": not done[-1].outcome.interrupted,
        "command": command_of(name, figure, setting, done),
        "date": time.strftime("%Y-%m-%d"),
        "machine": {
            "python": platform.python_version(),
            **{package: _version(package) for package in PACKAGES},
            "processor": processor(),
            "device": setting.device,
        },
        "studies": [_plain(one) for one in done],
    }


def _plain(one: Done) -> dict[str, Any]:
    outcome = one.outcome
    return {
        "name": one.study.name,
        "data": one.data,
        "sentence": one.study.sentence,
        "seconds": round(one.spent.seconds, 3),
        "processor_seconds": round(one.spent.processor_seconds, 3),
        "peak_gigabytes": one.peak_gigabytes,
        "fingerprint": one.fingerprint,
        "data_fingerprint": one.data_fingerprint,
        "sentences": list(outcome.sentences),
        "verdicts": [{**asdict(verdict), "word": verdict.word} for verdict in outcome.verdicts],
        "tables": [
            {"caption": table.caption, "columns": list(table.columns), "rows": [list(row) for row in table.rows]}
            for table in outcome.tables
        ],
        "findings": [finding.to_dict() for finding in outcome.findings],
        "pictures": [picture.name for picture in outcome.pictures],
        "films": [film.name for film in outcome.films],
        "captions": {one.name: one.caption for one in (*outcome.pictures, *outcome.films)},
    }


def verdict_table(outcome: Outcome) -> Table | None:
    """Return the statements of the paper that were looked at, and what became of each."""
    if not outcome.verdicts:
        return None
    rows = tuple((one.statement, one.place, one.printed, one.found, one.word) for one in outcome.verdicts)
    return Table(("the paper says", "where", "paper", "here", "so it is"), rows, "Statements of the paper.")


def changes_of(setting: Setting) -> dict[str, Any]:
    """Return what was changed in the size, by name."""
    given = {change: getattr(setting, change) for change in ("replicates", "points", "epochs")}
    found: dict[str, Any] = {change: number for change, number in given.items() if number is not None}
    return found | ({"only": list(setting.only)} if setting.only else {})


def variant_of(setting: Setting) -> str:
    """Return a name for a folder: the size, and what was changed in it."""
    words = [setting.size]
    for change, value in changes_of(setting).items():
        words += [change, *(value if isinstance(value, list) else [value])]
    said = "-".join(map(str, words)).replace("*", "any").replace("?", "one")
    return re.sub(r"[^0-9A-Za-z]+", "-", said).strip("-")


def command_of(name: str, figure: str | None, setting: Setting, done: Sequence[Done]) -> str:
    """Return the command that makes these numbers again; folders of data stand as DIR."""
    words = ["reluscope", "reproduce", name, *([] if figure is None else [f'"{figure}"']), "--size", setting.size]
    beside = None if setting.beside is None else setting.beside.name
    for data in (*(one.data for one in done), beside):
        kind = {"MNIST": "mnist:DIR", "CIFAR-10": "cifar10:DIR"}.get((data or "").split(" (")[0], "")
        if kind and kind not in words:
            words += ["--data", kind]
    if setting.seconds is not None:
        words += ["--seconds", f"{setting.seconds:g}"]
    if setting.seed:
        words += ["--seed", str(setting.seed)]
    for change, value in changes_of(setting).items():
        for part in value if isinstance(value, list) else [value]:
            words += [f"--{change}", f"'{part}'" if change == "only" else str(part)]
    return " ".join(words)


def fingerprint(records: Mapping[str, Record]) -> str:
    """Return a digest of all arrays in records, by their names; empty if there are none."""
    return _digest(
        (f"{name}/{part}", array) for name in sorted(records) for part, array in sorted(records[name].arrays.items())
    )


def data_fingerprint(setting: Setting) -> str:
    """Return a digest of the points and labels that a study trains and tests on, and looks at beside; empty if none."""
    given = {"train": setting.train, "test": setting.test, "beside": setting.beside}
    arrays = ((f"{name} {part}", data, part) for name, data in given.items() if data for part in ("points", "labels"))
    return _digest((name, getattr(data, part)) for name, data, part in arrays if getattr(data, part) is not None)


def _digest(arrays: Iterable[tuple[str, np.ndarray]]) -> str:
    digest, is_empty = hashlib.sha256(), True
    for name, array in arrays:
        digest.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        digest.update(np.ascontiguousarray(array).data)
        is_empty = False
    return "" if is_empty else digest.hexdigest()[:16]


def peak_gigabytes() -> float | None:
    """Return the most memory that this process has had at once; None where the system does not say."""
    if resource is None:
        return None
    told = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # in bytes on macOS, in kilobytes elsewhere
    return round(told / (1e9 if sys.platform == "darwin" else 1e6), 2)


def processor() -> str:
    """Return what the processor calls itself."""
    if CPUINFO.exists():
        lines = CPUINFO.read_text(encoding="utf-8", errors="replace").splitlines()
        names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
        if names:
            return names[0]
    return platform.processor() or platform.machine() or sys.platform


def read_numbers(path: Path) -> dict[str, Any]:
    """Return the numbers of an earlier run; InputError if there are none."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise InputError(f"expected the numbers of a study in {path} ({error.strerror or error})") from error
    plain = parse_json(text, path, "the numbers of a study", "name the folder of a run")
    if not isinstance(plain, dict) or not str(plain.get("format")).startswith("reluscope reproduce"):
        raise InputError(
            f"expected the numbers of a study in {path}: name the folder of a run, or of a book of results"
        )
    if plain["format"] != FORMAT:
        raise InputError(f"{path} was written by another version of reluscope: run its study again")
    try:
        for study in plain["studies"]:
            _ = study["name"], study["data"], study["fingerprint"]
            for finding in study["findings"]:
                Finding.from_dict(finding)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path} does not hold the numbers of a study as they are written: run it again") from error
    return plain


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
