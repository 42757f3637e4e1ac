"""``reluscope reproduce``: run the studies of a paper, and write a page, pictures and numbers."""

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from reluscope import plots
from reluscope.citations import CITATIONS, bibliography
from reluscope.cli.devices import open_device
from reluscope.cli.failures import warn
from reluscope.cli.interruption import INTERRUPTED, keeping_results
from reluscope.cli.options import Common
from reluscope.cli.outputs import plan_outputs, write_all
from reluscope.cli.printing import add_row, make_table, open_console, print_json, say, to_json
from reluscope.cli.progress import Bar, show_progress
from reluscope.cli.records import open_records
from reluscope.datasets.dataset import Dataset
from reluscope.datasets.opening import open_dataset
from reluscope.errors import InputError
from reluscope.studies import Data, Film, Outcome, Setting, Size, Study, Table, all_studies
from reluscope.version import __version__

FORMAT = "reluscope reproduce 1"
# The part to train on and the part to measure with, or neither.
Pair = tuple[Dataset, Dataset] | tuple[None, None]
PAGE, NUMBERS, RECORDS = "README.md", "findings.json", "records"


@dataclass(frozen=True, eq=False)
class Done:
    """A study and its result."""

    study: Study
    outcome: Outcome
    seconds: float


def reproduce(
    name: str | None,
    *,
    size: Size,
    data: Sequence[str],
    output: Path | None,
    seconds: float | None,
    force: bool,
    resume: bool,
    common: Common,
) -> int:
    """List the studies, or run those of a name, and return the exit code."""
    if name is None:
        return _list(common)
    studies = choose_studies(name)
    device = open_device(common.device)
    folder = output or Path(f"reluscope-{name.replace('/', '-')}")
    _check_folder(folder, force=force, resume=resume)
    began = time.perf_counter()
    done: list[Done] = []
    with show_progress(hidden=common.quiet) as bar:
        opened, beside = _open_data(data, size, studies, bar)
        records = [
            open_records(
                folder / RECORDS / one.figure,
                _key(size, common.seed, *opened[one.data], beside.get(one.beside)),
                resume=resume,
            )
            for one in studies
        ]
        with keeping_results():
            for study, kept in zip(studies, records, strict=True):
                started = time.perf_counter()
                setting = Setting(
                    size,
                    *opened[study.data],
                    common.seed,
                    seconds,
                    kept,
                    beside=beside.get(study.beside),
                    device=str(device),
                    progress=bar.say,
                )
                try:
                    outcome = study.protocol(setting)
                except KeyboardInterrupt:
                    outcome = Outcome(("The work was interrupted in this study.",), (), interrupted=True)
                done.append(Done(study, outcome, time.perf_counter() - started))
                if outcome.interrupted:
                    break
            bar.say("Writing", 1.0)
            plain = describe(name, size, opened, done)
            write_all({folder / file: content for file, content in _files(name, plain, done, bar).items()})
    if common.as_json:
        print_json(plain)
    elif not common.quiet:
        _print(done, folder, time.perf_counter() - began)
    if done[-1].outcome.interrupted:
        warn(f"interrupted; what was done until then is in {folder}; the same command with --resume goes on")
        return INTERRUPTED
    return 0


def choose_studies(name: str) -> tuple[Study, ...]:
    """Return the studies of a paper, or one of them.

    Parameters
    ----------
    name : str
        Key of a paper, or paper and figure.

    Raises
    ------
    InputError
        If there are none.

    Examples
    --------
    >>> [study.figure for study in choose_studies("serra2018")]
    ['splits', 'depth_and_width', 'one_input']
    """
    every = all_studies()
    chosen = tuple(study for study in every if name in (study.paper, study.name))
    if not chosen:
        known = list(dict.fromkeys(part for study in every for part in (study.paper, study.name)))
        near = [one for one in known if name in one] or get_close_matches(name, known)
        meant = f"did you mean {', '.join(near[:6])}?" if near else "`reluscope reproduce` lists all"
        raise InputError(f"there is no study {name}: {meant}")
    return chosen


def describe(name: str, size: Size, data: Mapping[Data | None, Pair], done: Sequence[Done]) -> dict[str, Any]:
    """Return what studies found, as plain types."""
    return {
        "format": FORMAT,
        "reluscope": __version__,
        "name": name,
        "size": size,
        "complete": not done[-1].outcome.interrupted,
        "studies": [
            {
                "name": one.study.name,
                "data": _name(data[one.study.data]),
                "sentence": one.study.sentence,
                "seconds": round(one.seconds, 3),
                "sentences": list(one.outcome.sentences),
                "findings": [finding.to_dict() for finding in one.outcome.findings],
                "pictures": [picture.name for picture in one.outcome.pictures],
                "films": [film.name for film in one.outcome.films],
            }
            for one in done
        ],
    }


def _open_data(
    given: Sequence[str], size: Size, studies: Sequence[Study], bar: Bar
) -> tuple[dict[Data | None, Pair], dict[Data | None, Dataset]]:
    """Return the data of every kind that studies take, which were given or are digits, and those beside, if given."""
    needed: list[Data] = list(dict.fromkeys(study.data for study in studies if study.data is not None))
    welcome: list[Data] = [study.beside for study in studies if study.beside is not None]
    places: dict[str, str] = {}
    for one in given:
        kind, _, place = one.partition(":")
        if kind == "digits" and not place:
            continue
        if kind not in ("mnist", "cifar10") or not place or kind in places:
            raise InputError(f"--data must be digits, mnist:DIR or cifar10:DIR, each once, got {one}")
        if kind not in (*needed, *welcome):
            what = " and ".join(needed) or "no data"
            raise InputError(f"these studies take {what}, not {kind}: leave out --data {one}")
        places[kind] = place
    if given and not needed:
        raise InputError(f"{studies[0].name} uses no data: leave out --data")
    missing = [kind for kind in needed if kind not in places]
    if missing and size == "full":
        raise InputError(
            "the full size trains on the paper's data: name their folder, as in "
            + " ".join(f"--data {kind}:DIR" for kind in missing)
        )
    bar.say("Reading the data")
    opened: dict[Data | None, Pair] = {None: (None, None)}
    for kind in needed:
        if kind in places:
            opened[kind] = (open_dataset(f"{kind}-train:{places[kind]}"), open_dataset(f"{kind}:{places[kind]}"))
        else:
            opened[kind] = (open_dataset("digits:train"), open_dataset("digits:test"))
    beside: dict[Data | None, Dataset] = {}
    for kind in welcome:
        if kind in places:
            _, part = opened.get(kind, (None, None))
            beside[kind] = part or open_dataset(f"{kind}:{places[kind]}")
    return opened, beside


def _name(pair: Pair) -> str | None:
    return None if pair[0] is None else pair[0].name


def _check_folder(folder: Path, *, force: bool, resume: bool) -> None:
    if folder.exists() and not folder.is_dir():
        raise InputError(f"-o {folder} would be a folder, but it is a file: name another")
    if (folder / RECORDS).exists() and not (force or resume):
        raise InputError(
            f"{folder} holds a study already: add --resume to go on with it or to look at it again, --force to begin "
            "anew, or name another folder with -o"
        )
    files = [folder / PAGE, folder / NUMBERS]
    plan_outputs(files, {".md": "what came out", ".json": "the numbers"}, force=force or resume)


def _key(size: Size, seed: int, train: Dataset | None, test: Dataset | None, beside: Dataset | None) -> dict[str, str]:
    """Everything that records depend on, in words and digests."""
    points = hashlib.sha256()
    for one in (train, test, beside):
        if one is not None:
            points.update(one.points.tobytes())
            points.update(b"" if one.labels is None else one.labels.tobytes())
    named = "" if train is None else train.name
    return {
        "version of reluscope": __version__,
        "size": size,
        "seed": str(seed),
        "data": f"{named} {points.hexdigest()}",
    }


def _files(name: str, plain: dict[str, Any], done: Sequence[Done], bar: Bar) -> dict[str, str | bytes]:
    files: dict[str, str | bytes] = {}
    for one in done:
        for picture in one.outcome.pictures:
            assert f"{picture.name}.svg" not in files, "two studies of a paper name a picture alike"
            files[f"{picture.name}.svg"] = plots.to_svg(picture.figure, name=picture.name)
            files[f"{picture.name}.png"] = plots.to_png(picture.figure)
        for film in one.outcome.films:
            assert f"{film.name}.gif" not in files, "two studies of a paper name a film alike"
            files[f"{film.name}.gif"] = plots.to_gif(film.animation, progress=_telling(bar, film))
    return {**files, NUMBERS: to_json(plain) + "\n", PAGE: page(name, done)}


def _telling(bar: Bar, film: Film) -> Callable[[float], None]:
    return lambda share: bar.say(f"Drawing {film.name}", share)


def page(name: str, done: Sequence[Done]) -> str:
    """Return the results as Markdown: sentences, pictures, tables, sources."""
    paper = done[0].study.source
    lines = [f"# {name}", "", f"After {CITATIONS[paper]}", ""]
    for one in done:
        lines += [f"## {one.study.sentence[0].upper()}{one.study.sentence[1:]}", ""]
        lines += [line for sentence in one.outcome.sentences for line in (sentence, "")]
        for picture in one.outcome.pictures:
            lines += [f"![{picture.caption}]({picture.name}.svg)", "", f"*{picture.caption}*", ""]
        for film in one.outcome.films:
            lines += [f"![{film.caption}]({film.name}.gif)", "", f"*{film.caption}*", ""]
        for table in one.outcome.tables:
            lines += [*_markdown(table), ""]
    keys = {finding.source for one in done for finding in one.outcome.findings if finding.source}
    lines += ["## Sources", "", *(f"- {source.key}: {source}" for source in bibliography(keys | {paper})), ""]
    lines.append(f"Every number with its claim, definition and domain is in [{NUMBERS}]({NUMBERS}).")
    return "\n".join(lines) + "\n"


def _markdown(table: Table) -> list[str]:
    rows = [table.columns, ("---:",) * len(table.columns), *table.rows]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return [*lines, "", table.caption] if table.caption else lines


def _list(common: Common) -> int:
    studies = all_studies()
    if common.as_json:
        print_json({"format": FORMAT, "studies": [{"name": one.name, "sentence": one.sentence} for one in studies]})
    elif not common.quiet:
        console = open_console()
        for paper, source in dict.fromkeys((study.paper, study.source) for study in studies):
            say(console, f"{paper}: {CITATIONS[source].title}", style="bold")
            table = make_table("study", "what it shows")
            for study in studies:
                if study.paper == paper:
                    add_row(table, study.name, study.sentence)
            console.print(table)
        say(console, "Run all of a paper, or one: reluscope reproduce serra2018 --size small -o folder")
    return 0


def _print(done: Sequence[Done], folder: Path, seconds: float) -> None:
    console = open_console()
    for one in done:
        say(console, one.study.name, style="bold")
        for sentence in one.outcome.sentences:
            say(console, sentence)
        for table in one.outcome.tables:
            shown = make_table(*table.columns, right=table.columns)
            for row in table.rows:
                add_row(shown, *row)
            console.print(shown)
    say(console, f"{seconds:.1f} s; pictures, numbers and {PAGE} are in {folder}")
