"""Files that a command writes: their suffixes say their kinds, and they are checked before any work.

What is there already stays unless the user says otherwise, and every file is written whole or not at all.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reluscope.cli.terminal.common_options import Common, JsonFile
from reluscope.cli.terminal.ctrl_c import keeping_results
from reluscope.cli.terminal.printed_results import print_json, to_json
from reluscope.cli.terminal.progress_bar import show_progress
from reluscope.errors import InputError
from reluscope.files.whole_files import check_writable, make_folder, write_files

PICTURES = (".svg", ".png", ".pdf")
JSON = "what --json prints"
# More files than these are counted where they lie in one folder.
MANY = 4


@dataclass(frozen=True)
class Outputs:
    """The files that results go to."""

    paths: tuple[Path, ...]  # files, each of a known kind

    def of(self, *suffixes: str) -> tuple[Path, ...]:
        """Return the files with one of these suffixes."""
        return tuple(path for path in self.paths if path.suffix.lower() in suffixes)

    def without(self, *suffixes: str) -> "Outputs":
        """Return the files with other suffixes."""
        return Outputs(tuple(path for path in self.paths if path.suffix.lower() not in suffixes))


def plan_outputs(
    given: Sequence[Path],
    kinds: Mapping[str, str],
    *,
    in_folder: Sequence[str] = (),
    force: bool = False,
    option: str = "-o",
) -> Outputs:
    """Check, before any work, that files may be written, and return them.

    `kinds` says in words what each suffix stands for; folders are refused unless `in_folder` names the files that go
    into them. InputError for unknown kinds, existing files without `force`, and unwritable folders.
    """
    paths: list[Path] = []
    for path in given:
        if path.suffix.lower() in kinds and not path.is_dir():
            paths.append(path)
        elif in_folder and (path.is_dir() or not path.suffix):
            if path.exists() and not path.is_dir():
                raise InputError(f"{option} {path} would be a folder, but it is a file: name another, or add a suffix")
            paths.extend(path / name for name in in_folder)
        else:
            known = ", ".join(f"{suffix} ({what})" for suffix, what in kinds.items())
            folder = " or name a folder" if in_folder else ""
            raise InputError(f"{option} {path} must end in {known}{',' * bool(folder)}{folder}")
    present = [path for path in paths if path.exists()]
    if present and not force:
        raise InputError(f"{present[0]} is there already: add --force to replace it, or name another with {option}")
    for path in paths:
        check_writable(path.parent, f"name another place with {option}")
    return Outputs(tuple(dict.fromkeys(paths)))


def plan_json(given: JsonFile) -> Outputs:
    """Check, before any work, that the file for what ``--json`` prints may be written, and return it."""
    return plan_outputs([given.output] if given.output else [], {".json": JSON}, force=given.force)


def print_results(plain: Mapping[str, Any], common: Common, show: Callable[[], None]) -> None:
    """Print results as JSON, or show them to people, or neither, as options say."""
    if common.as_json:
        print_json(plain)
    elif not common.quiet:
        show()


def conclude(plain: Mapping[str, Any], files: Outputs, common: Common, show: Callable[[], None]) -> None:
    """Print results as JSON, or show them to people, or neither; and write those files that are JSON."""
    print_results(plain, common, show)
    write_all({path: to_json(plain) + "\n" for path in files.of(".json")})


def write_all(contents: Mapping[Path, bytes | str]) -> None:
    """Write files, all whole or none, and make the folders that they need.

    A failure, for instance a full disk, raises InputError.
    """
    for folder in dict.fromkeys(path.parent for path in contents):
        make_folder(folder)
    write_files(contents)


def write_each(files: Outputs, write: Callable[[Path], None], *, hidden: bool) -> list[Path]:
    """Write files one by one, pictures last, and return those that were written before Ctrl-C.

    `write` writes one file, whole or not at all; `hidden` does not show which one is written.
    """
    pictures, written = files.of(*PICTURES), list[Path]()
    with keeping_results():
        try:
            with show_progress(hidden=hidden) as bar:
                # What is quick to write first, so that less is lost if the user loses patience.
                for path in (*(path for path in files.paths if path not in pictures), *pictures):
                    bar.say(f"Writing {path}")
                    make_folder(path.parent)
                    write(path)
                    written.append(path)
        except KeyboardInterrupt:
            pass
    return written


def said_of(written: Sequence[Path]) -> str:
    """Return a phrase that says which files hold results at Ctrl-C."""
    if not written:
        return "nothing was written"
    return f"{listed(written)} what was found"


def listed(written: Sequence[Path]) -> str:
    """Return files that hold something, in words that end with the verb."""
    names, folders = [str(path) for path in written], {path.parent for path in written}
    if len(names) == 1:
        return f"{names[0]} holds"
    if len(folders) == 1 and len(names) > MANY:
        return f"{len(names)} files in {folders.pop()} hold"
    return f"{', '.join(names[:-1])} and {names[-1]} hold"
