"""Files that a command writes: their suffixes say their kinds, and they are checked before any work.

What is there already stays unless the user says otherwise, and every file is written whole or not at all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from reluscope.errors import InputError
from reluscope.files.whole_files import check_writable, make_folder, write_files


@dataclass(frozen=True)
class Outputs:
    """Where results go.

    Parameters
    ----------
    paths : tuple of Path
        Files, each of a known kind.
    """

    paths: tuple[Path, ...]

    def of(self, *suffixes: str) -> tuple[Path, ...]:
        """Return the files with one of these suffixes."""
        return tuple(path for path in self.paths if path.suffix.lower() in suffixes)


def plan_outputs(
    given: Sequence[Path],
    kinds: Mapping[str, str],
    *,
    in_folder: Sequence[str] = (),
    force: bool = False,
    option: str = "-o",
) -> Outputs:
    """Check, before any work, that files may be written.

    Parameters
    ----------
    given : sequence of Path
        As in the command: files of known kinds, or folders.
    kinds : mapping
        What each suffix stands for, in words.
    in_folder : sequence of str
        Names of the files that go into a folder; without any, folders are refused.
    force : bool
        Allow files to be replaced.
    option : str
        What the files were named with.

    Returns
    -------
    Outputs

    Raises
    ------
    InputError
        If a kind is unknown, a file is there already, or its folder cannot be written to.
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


def write_all(contents: Mapping[Path, bytes | str]) -> None:
    """Write files, all whole or none, and the folders that they need.

    Raises
    ------
    InputError
        If that cannot be done, for instance because the disk is full.
    """
    for folder in dict.fromkeys(path.parent for path in contents):
        make_folder(folder)
    write_files(contents)
