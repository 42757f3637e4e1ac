"""Pages of results: what runs of the studies gave, from the book in ``studies/results``, one page for each paper."""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

BOOK = Path(__file__).parents[2] / "studies" / "results"
FOLDER = "auto/results"
SIZES = ("full", "medium", "small")
# Longer tables are in the book, where their page says so.
MAX_ROWS = 60
STATEMENTS = ("the paper says", "where", "paper", "here", "so it is")
INTRODUCTION = """# Results of the studies

What runs of the [studies](../../studies.md) gave, made from `studies/results` in the repository. Statements of the
papers first, with what became of each: *confirmed* and *contradicted* by the numbers beside, *not confirmed* where they
do not decide it. Counts of trained networks are exact for their weights, which change with the processor and the
version of PyTorch: they are records, and not facts about the paper's networks. Every study names its command, and
`--compare studies/results` compares a new run with these.
"""


def book(folder: Path = BOOK) -> dict[str, list[dict[str, Any]]]:
    """Return what each paper's studies gave, the largest size of each first."""
    found: dict[str, list[dict[str, Any]]] = {}
    for path in sorted(folder.glob("*/*/*/findings.json"), key=_place):
        found.setdefault(path.parts[-4], []).append({**json.loads(path.read_text()), "folder": path.parent})
    return found


def _place(path: Path) -> tuple[str, str, int, str]:
    paper, figure, variant = path.parts[-4:-1]
    return paper, figure, SIZES.index(variant.split("-")[0]), variant


def pages(results: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, str]:
    """Return the text of every page by its name: one for each paper, and that of all statements."""
    made = {paper: "\n".join(_paper(paper, runs)) + "\n" for paper, runs in results.items()}
    lines = [INTRODUCTION, *_toctree(results), *_summary(results)]
    for paper, runs in results.items():
        rows = [(_study(run), *row) for run in runs for row in _statements(run)]
        if rows:
            lines += [f"## {paper}", "", *_table(("study", *STATEMENTS), rows), ""]
    return {**made, "index": "\n".join(lines) + "\n"}


def _toctree(results: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[str]:
    return ["```{toctree}", ":maxdepth: 1", "", *results, "```", ""]


def _summary(results: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[str]:
    rows = []
    for paper, runs in results.items():
        words = [row[-1] for run in runs for row in _statements(run)]
        counts = [str(words.count(word)) for word in ("confirmed", "not confirmed", "contradicted")]
        seconds = sum(study["processor_seconds"] for run in runs for study in run["studies"])
        rows.append((f"[{paper}]({paper}.md)", str(len(runs)), *counts, f"{seconds / 60:,.1f}"))
    return [*_table(("paper", "runs", "confirmed", "not confirmed", "contradicted", "core minutes"), rows), ""]


def _paper(paper: str, runs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield f"# {paper}"
    for run in runs:
        machine = run["machine"]
        for study in run["studies"]:
            yield from ("", f"## {_study(run)}", "", f"{study['sentence'][0].upper()}{study['sentence'][1:]}.", "")
            yield from ("```text", run["command"], "```", "")
            weights = f" Fingerprint of what was trained: `{study['fingerprint']}`." if study["fingerprint"] else ""
            yield (
                f"{study['processor_seconds']:,.0f} s of one core, {machine['processor']}, torch {machine['torch']}, "
                f"{run['date']}.{weights}"
            )
            rows = _statements(run)
            if rows:
                yield from ("", *_table(STATEMENTS, rows))
            for sentence in study["sentences"]:
                yield from ("", sentence)
            for picture in study["pictures"]:
                if (run["folder"] / f"{picture}.svg").is_file():
                    caption = study["captions"][picture]
                    yield from ("", f"![{caption}]({_file(run, picture)})", "", f"*{caption}*")
            for table in study["tables"]:
                shown = table["rows"][:MAX_ROWS]
                yield from ("", *_table(table["columns"], shown), "", table["caption"])
                if len(shown) < len(table["rows"]):
                    yield from ("", f"These are the first {len(shown)} of {len(table['rows'])} rows.")


def _study(run: Mapping[str, Any]) -> str:
    figure = run["name"].split("/")[1]
    changed = ", ".join(
        f"{name} {' and '.join(value) if isinstance(value, list) else value}" for name, value in run["changes"].items()
    )
    return f"{figure}, {run['size']} size" + (f" ({changed})" if changed else "")


def _statements(run: Mapping[str, Any]) -> list[tuple[str, ...]]:
    keys = ("statement", "place", "printed", "found", "word")
    return [tuple(verdict[key] for key in keys) for study in run["studies"] for verdict in study["verdicts"]]


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [columns, ["---"] * len(columns), *rows]
    return ["| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in line) + " |" for line in lines]


def _file(run: Mapping[str, Any], picture: str) -> str:
    return f"{run['name'].replace('/', '-')}-{run['variant']}-{picture}.svg"


def write_pages(app: "Sphinx") -> None:
    """Write the pages and copy their pictures."""
    folder = Path(app.srcdir, FOLDER)
    folder.mkdir(parents=True, exist_ok=True)
    results = book()
    for name, text in pages(results).items():
        path = folder / f"{name}.md"
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    for run in (one for runs in results.values() for one in runs):
        for picture in run["folder"].glob("*.svg"):
            shutil.copyfile(picture, folder / _file(run, picture.stem))


def setup(app: "Sphinx") -> dict[str, bool]:
    """Write the pages before sources are looked for."""
    app.connect("config-inited", lambda app, config: write_pages(app))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
