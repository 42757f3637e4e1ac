"""``reluscope reproduce``: run the studies of a paper, and write a page, pictures and numbers."""

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from reluscope import plots
from reluscope.citations import CITATIONS
from reluscope.cli.studies.reproducing import ReproduceOptions
from reluscope.cli.studies.study_compare import DIFFERENT, StudyComparison, compare, stored
from reluscope.cli.studies.study_numbers import (
    FORMAT,
    NUMBERS,
    Done,
    changes_of,
    data_fingerprint,
    describe,
    fingerprint,
    peak_gigabytes,
    verdict_table,
)
from reluscope.cli.studies.study_pages import html_page, markdown_page
from reluscope.cli.studies.study_records import StudyRecords, open_records
from reluscope.cli.terminal.common_options import Common
from reluscope.cli.terminal.ctrl_c import INTERRUPTED, keeping_results
from reluscope.cli.terminal.device_names import open_device
from reluscope.cli.terminal.failures import warn
from reluscope.cli.terminal.outputs import plan_outputs, write_all
from reluscope.cli.terminal.printed_results import (
    add_row,
    make_table,
    open_console,
    print_columns,
    print_json,
    say,
    to_json,
)
from reluscope.cli.terminal.progress_bar import Bar, show_progress
from reluscope.datasets.dataset import Dataset
from reluscope.datasets.opened_data import open_dataset
from reluscope.errors import InputError
from reluscope.studies import Change, Data, Outcome, Setting, Size, Study, all_studies
from reluscope.studies.study import MAX_PICTURE_BYTES
from reluscope.version import __version__

# The part to train on and the part to measure with, or neither.
Pair = tuple[Dataset, Dataset] | tuple[None, None]
PAGE, WHOLE_PAGE, RECORDS = "README.md", "index.html", "records"


def reproduce(given: ReproduceOptions) -> int:
    """List the studies, or run those of a name, and return the exit code."""
    name, common = given.study, given.common
    if name is None:
        return _list(common)
    studies = choose_studies(name, given.figure)
    _check_changes(studies, given.changes, given.only)
    device = open_device(common.device)
    folder = given.output or _folder_of(name, given.figure)
    _check_folder(folder, force=given.force, resume=given.resume)
    began = time.perf_counter()
    done: list[Done] = []
    with show_progress(hidden=common.quiet) as bar:
        opened, beside = _open_data(given.data, given.size, studies, bar)
        settings = [
            Setting(
                given.size,
                *opened[study.data],
                common.seed,
                given.seconds,
                beside=beside.get(study.beside),
                device=str(device),
                progress=bar.say,
                only=given.only or _parts_of(study, given.figure),
                **given.changes,
            )
            for study in studies
        ]
        before = {}
        if given.compare is not None:  # what cannot be compared is refused before hours of work
            named = {study.name: setting for study, setting in zip(studies, settings, strict=True)}
            before = stored(given.compare, named)
        records = [
            open_records(folder / RECORDS / study.figure, _key(setting), resume=given.resume)
            for study, setting in zip(studies, settings, strict=True)
        ]
        with keeping_results():
            for study, setting, kept in zip(studies, settings, records, strict=True):
                done.append(_done(study, setting, kept))
                if done[-1].outcome.interrupted:
                    break
            bar.say("Writing", 1.0)
            plain = describe(name, given.figure, settings[0], done)
            compared = [compare(one, before[one["name"]]) for one in plain["studies"] if one["name"] in before]
            if compared:
                plain["compared"] = [one.to_dict() for one in compared]
            write_all({folder / file: content for file, content in _files(plain, done, bar).items()})
    if common.as_json:
        print_json(plain)
    elif not common.quiet:
        _print(done, compared, folder, time.perf_counter() - began)
    if done[-1].outcome.interrupted:
        warn(f"interrupted; what was done until then is in {folder}; the same command with --resume goes on")
        return INTERRUPTED
    return 1 if any(one.differs for one in compared) else 0


def try_out(given: ReproduceOptions) -> int:
    """Run the short studies of all papers, each into a folder of its own; return 0 if all came to their end."""
    folder, common = given.output or Path("reluscope-kick-the-tires"), given.common
    began = time.perf_counter()
    short = [study for study in all_studies() if study.is_short]
    for place, study in enumerate(short):
        if not (common.quiet or common.as_json):
            say(open_console(), f"{place + 1} of {len(short)}: {study.name}", style="bold")
        where = folder / study.name.replace("/", "-")
        code = reproduce(replace(given, study=study.name, output=where, kick_the_tires=False, common=_quietly(common)))
        if code:
            return code
    if common.as_json:
        print_json({"format": FORMAT, "studies": [study.name for study in short], "folder": str(folder)})
    elif not common.quiet:
        say(
            open_console(),
            f"All {len(short)} came to their end in {time.perf_counter() - began:.0f} s; each has a page in {folder}.",
        )
    return 0


def _quietly(common: Common) -> Common:
    return replace(common, quiet=True, as_json=False)


def _done(study: Study, setting: Setting, records: StudyRecords) -> Done:
    """Run a study, and say what it took together with the runs that it goes on with."""
    records.begin()
    try:
        outcome = study.protocol(replace(setting, records=records))
    except KeyboardInterrupt:
        outcome = Outcome(("The work was interrupted in this study.",), (), interrupted=True)
    name = None if setting.train is None else setting.train.name
    spent = records.note_time()
    return Done(study, outcome, name, spent, fingerprint(records), data_fingerprint(setting), peak_gigabytes())


def _check_changes(studies: Sequence[Study], changes: Mapping[Change, int], only: Sequence[str]) -> None:
    """Refuse a change that none of the studies follows."""
    for change in changes:
        if not any(change in study.changes for study in studies):
            known = sorted({one for study in studies for one in study.changes})
            what = f"it has --{' and --'.join(known)}" if known else "its numbers are fixed"
            raise InputError(f"{studies[0].name} has no number of {change} to change: {what}")
    if only and not any(study.parts for study in studies):
        raise InputError(f"{studies[0].name} has no parts that --only could choose: leave it out")


def choose_studies(name: str, figure: str | None = None) -> tuple[Study, ...]:
    """Return the studies of a paper, or one of them: those that make a figure or table of the paper, if it is given.

    The name is the key of a paper, without its chapters where a figure is named, or paper and study; unknown ones raise
    InputError.
    """
    every = all_studies()
    chosen = tuple(one for one in every if name in (one.paper, one.name) or (figure and name == one.source))
    if not chosen:
        known = list(dict.fromkeys(part for study in every for part in (study.paper, study.name)))
        near = [one for one in known if name in one] or get_close_matches(name, known)
        meant = f"did you mean {', '.join(near[:6])}?" if near else "`reluscope reproduce` lists all"
        raise InputError(f"there is no study {name}: {meant}")
    if figure is None:
        return chosen
    making = tuple(one for one in chosen if figure in one.repeats)
    if not making:
        known = list(dict.fromkeys(one for study in chosen for one in study.repeats))
        raise InputError(f"no study of {name} makes {figure!r}: they make {', '.join(known) or 'none'}")
    return making


def _parts_of(study: Study, figure: str | None) -> tuple[str, ...]:
    part = study.repeats[figure] if figure else ""
    return (part,) if part else ()


def _folder_of(name: str, figure: str | None) -> Path:
    """Return where results are put by default, such as reluscope-zhang2020-figure-3."""
    return Path("-".join(["reluscope", *name.split("/"), *(figure or "").lower().split()]))


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
    if missing and size != "small":
        raise InputError(
            f"the {size} size trains on the paper's data: name their folder, as in "
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


def _check_folder(folder: Path, *, force: bool, resume: bool) -> None:
    if folder.exists() and not folder.is_dir():
        raise InputError(f"-o {folder} would be a folder, but it is a file: name another")
    if (folder / RECORDS).exists() and not (force or resume):
        raise InputError(
            f"{folder} holds a study already: add --resume to go on with it or to look at it again, --force to begin "
            "anew, or name another folder with -o"
        )
    kinds = {".md": "what came out", ".html": "the page", ".json": "the numbers"}
    plan_outputs([folder / one for one in (PAGE, WHOLE_PAGE, NUMBERS)], kinds, force=force or resume)


def _key(setting: Setting) -> dict[str, str]:
    """Everything that records depend on, in words and digests; which parts are done is no such thing."""
    points = hashlib.sha256()
    for one in (setting.train, setting.test, setting.beside):
        if one is not None:
            points.update(one.points.tobytes())
            points.update(b"" if one.labels is None else one.labels.tobytes())
    named = "" if setting.train is None else setting.train.name
    changed = {f"number of {what}": str(value) for what, value in changes_of(setting).items() if what != "only"}
    return {
        "version of reluscope": __version__,
        "size": setting.size,
        "seed": str(setting.seed),
        "data": f"{named} {points.hexdigest()}",
        **changed,
    }


def _files(plain: dict[str, Any], done: Sequence[Done], bar: Bar) -> dict[str, str | bytes]:
    files: dict[str, str | bytes] = {}
    for one in done:
        for picture in one.outcome.pictures:
            assert f"{picture.name}.svg" not in files, "two studies of a paper name a picture alike"
            files[f"{picture.name}.svg"] = plots.to_svg(picture.figure, name=picture.name, max_bytes=MAX_PICTURE_BYTES)
            files[f"{picture.name}.png"] = plots.to_png(picture.figure)
        for film in one.outcome.films:
            assert f"{film.name}.gif" not in files, "two studies of a paper name a film alike"
            files[f"{film.name}.gif"] = plots.to_gif(film.animation, progress=bar.telling(f"Drawing {film.name}"))
    pages = {PAGE: markdown_page(plain, done), WHOLE_PAGE: html_page(plain, done)}
    return {**files, NUMBERS: to_json(plain) + "\n", **pages}


def _list(common: Common) -> int:
    studies = all_studies()
    if common.as_json:
        listed = [
            {
                "name": one.name,
                "sentence": one.sentence,
                "repeats": list(one.repeats),
                "changes": sorted(one.changes),
                "parts": one.parts,
            }
            for one in studies
        ]
        print_json({"format": FORMAT, "studies": listed})
    elif not common.quiet:
        console = open_console()
        for paper, source in dict.fromkeys((study.paper, study.source) for study in studies):
            say(console, f"{paper}: {CITATIONS[source].title}", style="bold")
            table = make_table("study", "what it shows", "of the paper")
            for study in studies:
                if study.paper == paper:
                    add_row(table, study.name, study.sentence, ", ".join(study.repeats))
            console.print(table)
        say(console, "Run all of a paper, or one: reluscope reproduce serra2018 --size small -o folder")
    return 0


def _print(done: Sequence[Done], compared: Sequence[StudyComparison], folder: Path, seconds: float) -> None:
    console = open_console()
    for one in done:
        say(console, one.study.name, style="bold")
        for sentence in one.outcome.sentences:
            say(console, sentence)
        statements = verdict_table(one.outcome)
        for table in one.outcome.tables:
            columns = [list(column) for column in zip(*table.rows, strict=True)] or [[] for _ in table.columns]
            first, *others = zip(table.columns, columns, strict=True)
            print_columns(console, [first], others)
        if statements is not None:
            shown = make_table(*statements.columns)
            for row in statements.rows:
                add_row(shown, *row)
            console.print(shown)
    for one in compared:
        say(console, one.describe())
        for number in one.numbers:
            if number.how == DIFFERENT:
                say(console, f"  {number.name}: {number.now:g}, before {number.then:g} ({number.difference:+g})")
    say(console, f"{seconds:.1f} s; pictures, numbers and {PAGE} are in {folder}")
