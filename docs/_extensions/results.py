"""Pages of results: what runs of the studies gave, from the book in ``studies/results``, one page for each paper.

The first page has every figure and table of the papers, with the studies that repeat it, and every statement once, each
with the run that says most about it; and the studies that were not run.

Runs of a study are put in order by what they declare: those whose networks learned before those whose did not, larger
sizes before smaller ones, whole trainings before shorter ones, and more findings before fewer.
"""

import ast
import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

BOOK = Path(__file__).parents[2] / "studies" / "results"
STUDIES = BOOK.parent / "src" / "reluscope_studies"
FOLDER = "auto/results"
SIZES = ("full", "medium", "small")
# Networks of a run have not learned if they are right less often than this share of what those of another run are.
LEARNED = 0.75
# Longer tables are in the book, where their page says so.
MAX_ROWS = 60
STATEMENTS = ("the paper says", "where", "paper", "here", "so it is")
FIGURES = STUDIES / "printed" / "figures.json"
REPEATED = ("of the paper", "what it shows", "the run of each study that repeats it and says most", "statements")
OVERVIEW = ("where", "the paper says", "paper", "here", "so it is", "study")
NAMES = {
    "behrmann2018": "invariance and inverse stability",
    "sattelberg2026-ch3": "the dissertation, Boolean functions",
    "sattelberg2026-ch4": "the dissertation, circle and annulus",
    "sattelberg2026-ch5": "the dissertation, linearisation",
    "sattelberg2026-ch6": "the dissertation, polytopes of networks",
    "sattelberg2026-ch6-training": "the dissertation, polytopes in training",
    "sattelberg2026-ch7": "the dissertation, comparisons of networks",
    "serra2018": "bounding and counting (poster)",
    "shepeleva2020": "ReLU code space",
    "zhang2020": "properties of linear regions",
}
INCOMPARABLE = "not comparable"
WORDS = ("confirmed", "not confirmed", "contradicted", INCOMPARABLE)
INTRODUCTION = """# Results of the studies

What runs of the [studies](../../studies.md) gave, made from `studies/results` in the repository. Here is every
[figure and table](#figures-and-tables) of the five papers, with the studies that repeat it, and every
[statement](#statements) that was looked at, with what became of it in the run that says most about it: **confirmed**
and **contradicted** by the numbers beside, *not confirmed* where they do not decide it, *not comparable* where networks
or data are too unlike the paper's to contradict it. Links lead to that run:
its command, its tables and pictures. Counts of trained networks are exact for their weights, which change with the
processor and the version of PyTorch: they are records, and not facts about the paper's networks.
`--compare studies/results` compares a new run with these. Errors in what the papers print are on
[a page of their own](../../errata.md).
"""
FIGURES_SAID = """Every figure and table of the papers, in their order. A run at small or medium size has fewer
networks, points or epochs than the paper, as its entry says; *not run* means that the book has no run that makes it,
and *no study* that nothing here repeats it.
"""


def book(folder: Path = BOOK) -> dict[str, list[dict[str, Any]]]:
    """Return what each paper's studies gave, the run that says most about each study first."""
    found: dict[str, list[dict[str, Any]]] = {}
    for study in sorted(folder.glob("*/*/")):
        runs = [
            {**json.loads(path.read_text(encoding="utf-8")), "folder": path.parent}
            for path in sorted(study.glob("*/findings.json"))
        ]
        if runs:
            found.setdefault(study.parent.name, []).extend(in_order(runs))
    return found


def in_order(runs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return runs of one study, the one that says most first."""
    accuracies = [_accuracy(run) for run in runs]
    best = max(accuracies)

    def rank(place: int) -> tuple[bool, int, bool, int, str]:
        run = runs[place]
        has_learned = accuracies[place] >= LEARNED * best
        findings = sum(len(study["findings"]) for study in run["studies"])
        return not has_learned, SIZES.index(run["size"]), "epochs" in run["changes"], -findings, run["variant"]

    return [runs[place] for place in sorted(range(len(runs)), key=rank)]


def _accuracy(run: Mapping[str, Any]) -> float:
    """Return the mean of the accuracies that a run found, 1 where it found none."""
    values: list[float] = []
    for study in run["studies"]:
        for finding in study["findings"]:
            if "accuracy" in finding["name"]:
                value = finding["value"]
                values += value if isinstance(value, list) else [value]
    numbers = [value for value in values if isinstance(value, int | float)]
    return sum(numbers) / len(numbers) if numbers else 1.0


def pages(results: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, str]:
    """Return the text of every page by its name: one for each paper, and that of all statements."""
    made = {paper: "\n".join(_paper(paper, runs)) + "\n" for paper, runs in results.items()}
    lines = [INTRODUCTION, *_toctree(results), *_summary(results)]
    lines += ["(figures-and-tables)=", "## Figures and tables", "", FIGURES_SAID, ""]
    for paper, rows in repeated(results).items():
        lines += [f"### Of {paper}", "", *_table(REPEATED, rows), ""]
    lines += ["(statements)=", "## Statements", ""]
    for paper, runs in results.items():
        rows = [_overview_row(paper, *found) for found in _once(runs)]
        if rows:
            lines += [f"### {_title(paper)}", "", *_table(OVERVIEW, rows), ""]
    missing = [(name, sentence) for name, sentence in studies() if not _was_run(name, results)]
    if missing:
        lines += ["## Studies without a run", "", *_table(("study", "what it does"), missing), ""]
    return {**made, "index": "\n".join(lines) + "\n"}


def studies(folder: Path = STUDIES) -> Iterator[tuple[str, str]]:
    """Yield the names and sentences of all studies, read from their source."""
    yield from _written("SENTENCE", folder)


def _written(constant: str, folder: Path = STUDIES) -> Iterator[tuple[str, Any]]:
    """Yield the names of studies whose source has a constant, with what it is."""
    for path in sorted(folder.glob("*/[!_]*.py")):
        for one in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == constant:
                yield f"{path.parent.name.replace('_', '-')}/{path.stem}", ast.literal_eval(one.value)


def repeated(results: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, list[tuple[str, ...]]]:
    """Return rows by paper, one for every figure and table: the studies that repeat it, and words of its statements."""
    words: dict[tuple[str, str], list[str]] = {}
    for runs in results.values():
        for run, (_, place, *_, word) in _once(runs):
            for name in named(place):
                words.setdefault((run["name"], name), []).append(word)
    claims = dict(_written("REPEATS"))
    found: dict[str, list[tuple[str, ...]]] = {}
    for source, entries in json.loads(FIGURES.read_text(encoding="utf-8")).items():
        for entry in entries:
            name = entry["name"]
            by = [one for one, names in claims.items() if one.startswith(source) and name in names]
            links, said = [], []
            for study in by:
                part = claims[study][name] if isinstance(claims[study], dict) else ""
                run = _telling(study, part, results, drawn=name.startswith("Figure"))
                link = f"{study} (not run)" if run is None else _link(study.partition("/")[0], run)
                links.append(link + " (numbers alone)" * (run is not None and _lacks_picture(name, run)))
                said += words.get((study, name), [])
            counts = [f"{said.count(word)} {word}" for word in WORDS if word in said]
            place = name if "section" in name else f"{name}, section {entry['section']}"
            row = (place, entry["what"], "; ".join(links) or "no study", ", ".join(counts))
            found.setdefault(source, []).append(row)
    return found


def _telling(
    study: str, part: str, results: Mapping[str, Sequence[Mapping[str, Any]]], *, drawn: bool
) -> Mapping[str, Any] | None:
    """Return the run of a study that did a part of it and says most; one with a picture first if it is to be drawn."""
    found = []
    for run in results.get(study.partition("/")[0], ()):
        only = run["changes"].get("only", ())
        if run["name"] == study and (not (part and only) or any(fnmatchcase(part, one) for one in only)):
            found.append(run)
    pictured = [run for run in found if _has_picture(run)] if drawn else []
    return next(iter(pictured or found), None)


def _has_picture(run: Mapping[str, Any]) -> bool:
    return any(study["pictures"] for study in run["studies"])


def _lacks_picture(name: str, run: Mapping[str, Any]) -> bool:
    return name.startswith("Figure") and not _has_picture(run)


def _link(paper: str, run: Mapping[str, Any]) -> str:
    return f"[{_study(run)}]({paper}.md#{_anchor(run)})"


def named(place: str) -> list[str]:
    """Return the figures and tables that words name; parts of a figure are that figure.

    Examples
    --------
    >>> named("Tables 6.1 and 7.1, section 3, Figures 2b, 8 to 10 and A.1")
    ['Table 6.1', 'Table 7.1', 'Figure 2', 'Figure 8', 'Figure 9', 'Figure 10', 'Figure A.1']
    """
    number = r"(?:[A-Z]\.)?\d+(?:\.\d+)?[a-e]?\b"
    found: list[str] = []
    for kind, numbers in re.findall(rf"(Figure|Table)s? ({number}(?:(?:, (?:and )?| and | to ){number})*)", place):
        before = ""
        for joint, one in re.findall(rf"(, | and | to |^)({number})", numbers):
            own = re.sub(r"[a-e]$", "", one)
            head, _, last = own.rpartition(".")
            first = int(before.rpartition(".")[2]) + 1 if joint == " to " else int(last)
            found += [f"{kind} {head}{'.' if head else ''}{n}" for n in range(first, int(last) + 1)]
            before = own
    return found


def _was_run(name: str, results: Mapping[str, Sequence[Mapping[str, Any]]]) -> bool:
    return any(run["name"] == name for runs in results.values() for run in runs)


def _once(runs: Sequence[Mapping[str, Any]]) -> list[tuple[Mapping[str, Any], tuple[str, ...]]]:
    """Return every statement of a paper once, from the first run that has it, which says most; in its order."""
    found: dict[tuple[str, ...], tuple[Mapping[str, Any], tuple[str, ...]]] = {}
    for run in runs:
        for row in _statements(run):
            known = found.get(key := (run["name"], *row[:2]))
            if known is None or (known[1][-1] == INCOMPARABLE != row[-1]):
                found[key] = run, row
    return sorted(found.values(), key=lambda one: _order(one[1][1]))


def _order(place: str) -> list[float]:
    """Return numbers by which places are ordered: those in the last part, Figure 6.13 after 6.4, appendices at the end.

    Examples
    --------
    >>> _order("section 6.2, Figure 6.13"), _order("Tables 2 and 4")
    ([6.0, 13.0], [2.0, 4.0])
    """
    last = place.rsplit(", ", 1)[-1]
    numbers = [float(one) for one in re.findall(r"\d+", last)]
    return numbers or [float("inf")]


def _overview_row(paper: str, run: Mapping[str, Any], row: tuple[str, ...]) -> tuple[str, ...]:
    statement, place, printed, found, word = row
    strong = f"*{word}*" if word.startswith("not ") else f"**{word}**"
    return place, statement, printed, found, strong, _link(paper, run)


def _anchor(run: Mapping[str, Any]) -> str:
    return f"{run['name']}-{run['variant']}".replace("/", "-").replace("_", "-").lower()


def _toctree(results: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[str]:
    return ["```{toctree}", ":hidden:", "", *results, "```", ""]


def _title(paper: str) -> str:
    return f"{paper}: {NAMES[paper]}" if paper in NAMES else paper


def _summary(results: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[str]:
    rows = []
    for paper, runs in results.items():
        words = [row[-1] for _, row in _once(runs)]
        counts = [str(words.count(word)) for word in WORDS]
        seconds = sum(study["processor_seconds"] for run in runs for study in run["studies"])
        rows.append((f"[{_title(paper)}]({paper}.md)", str(len(runs)), *counts, f"{seconds / 60:,.1f}"))
    return [*_table(("paper", "runs", *WORDS, "core minutes"), rows), ""]


def _paper(paper: str, runs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield f"# {_title(paper)}"
    for run in runs:
        machine = run["machine"]
        for study in run["studies"]:
            yield from (
                "",
                f"({_anchor(run)})=",
                f"## {_study(run)}",
                "",
                f"{study['sentence'][0].upper()}{study['sentence'][1:]}.",
                "",
            )
            yield from ("```text", run["command"], "```", "")
            weights = f" Fingerprint of what was trained: `{study['fingerprint']}`." if study["fingerprint"] else ""
            # Records of before these were kept have neither.
            data = f" Fingerprint of the data: `{known}`." if (known := study.get("data_fingerprint")) else ""
            memory = f"at most {peak:.1f} GB of memory, " if (peak := study.get("peak_gigabytes")) else ""
            yield (
                f"{study['processor_seconds']:,.0f} s of one core, {memory}{machine['processor']}, "
                f"torch {machine['torch']}, {run['date']}.{weights}{data}"
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
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for run in (one for runs in results.values() for one in runs):
        for picture in run["folder"].glob("*.svg"):
            shutil.copyfile(picture, folder / _file(run, picture.stem))


def setup(app: "Sphinx") -> dict[str, bool]:
    """Write the pages before sources are looked for."""
    app.connect("config-inited", lambda app, config: write_pages(app))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
