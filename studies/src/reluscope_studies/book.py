"""The book of results: what runs of the studies gave, kept in the repository, one folder for each study and size.

A folder has the numbers as JSON, with tables, statements, versions, processor, seconds, command and a fingerprint of
the trained weights, but no weights; the page as Markdown; and the pictures as SVG, of at most 200 kB each. The pages of
the documentation are made from it, and ``reluscope reproduce NAME --compare studies/results`` compares a new run with
it.

    python -m reluscope_studies.book FOLDER ... -o studies/results
"""

import argparse
import json
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from reluscope.extending.pictures import MAX_PICTURE_BYTES

NUMBERS, PAGE = "findings.json", "README.md"


def keep(folder: Path, book: Path) -> list[Path]:
    """Put the results in a folder of ``reluscope reproduce`` into a book, and return the folders there.

    Parameters
    ----------
    folder : Path
        Of a run that was not interrupted.
    book : Path
        Made if it is not there; what it has of the same study, size and changes is replaced.

    Raises
    ------
    ValueError
        If the run was interrupted.
    """
    plain = json.loads((folder / NUMBERS).read_text(encoding="utf-8"))
    if not plain["complete"]:
        raise ValueError(f"{folder} was interrupted: go on with --resume until it is done")
    plain.pop("compared", None)
    made = []
    for study in plain["studies"]:
        own = book / study["name"] / plain["variant"]
        shutil.rmtree(own, ignore_errors=True)
        own.mkdir(parents=True)
        said = {**plain, "name": study["name"], "studies": [study]}
        (own / NUMBERS).write_text(json.dumps(said, indent=1, allow_nan=False) + "\n", encoding="utf-8")
        for picture in study["pictures"]:
            drawn = folder / f"{picture}.svg"
            if drawn.stat().st_size <= MAX_PICTURE_BYTES:
                shutil.copyfile(drawn, own / drawn.name)
        if len(plain["studies"]) == 1:
            (own / PAGE).write_text(
                _with_what_is_kept((folder / PAGE).read_text(encoding="utf-8"), own), encoding="utf-8"
            )
        made.append(own)
    return made


def _with_what_is_kept(page: str, own: Path) -> str:
    """Return a page with words in the place of pictures that are too large for the book, and of films."""

    def shown(picture: re.Match[str]) -> str:
        if (own / picture[1]).is_file():
            return picture[0]
        return f"(A {'film' if picture[1].endswith('.gif') else 'picture'} that is too large to be kept here.)"

    return re.sub(r"!\[[^\]]*(?:\][^\]()]*)*\]\(([^()\s]+)\)", shown, page)


def results(book: Path) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield the folder and the numbers of every study and size in a book, in the order of their names."""
    for path in sorted(book.glob(f"*/*/*/{NUMBERS}")):
        yield path.parent, json.loads(path.read_text(encoding="utf-8"))


def main(arguments: Sequence[str] | None = None) -> None:
    """Put folders of results into a book."""
    parser = argparse.ArgumentParser(prog="python -m reluscope_studies.book", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help="of `reluscope reproduce -o FOLDER`")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="BOOK", help="such as studies/results")
    given = parser.parse_args(arguments)
    for folder in given.folders:
        for made in keep(folder, given.output):
            sys.stdout.write(f"{made}\n")


if __name__ == "__main__":
    main()
