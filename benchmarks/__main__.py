"""Run benchmarks by name, print them, and write them to RESULTS.md."""

import argparse
import datetime
import importlib
import os
import platform
from pathlib import Path

import numpy as np
import torch

from benchmarks.measure import Measurement

NAMES = (
    "plane_mlp",
    "plane_large",
    "streams",
    "plane_conv",
    "plane_deep",
    "codes",
    "codespace",
    "rays",
    "pictures",
    "pictures_in_space",
    "topology",
    "explorer",
    "explorer_drawing",
    "report",
    "space",
    "boundedness",
    "forecasts",
    "scaling",
    "scale",
    "tree",
    "preimages",
    "robustness",
    "distances",
    "verification",
    "stability",
    "similarity",
    "tracking",
    "atlas",
    "compression",
    "workers",
    "balls",
    "boolean",
    "startup",
    "first_minute",
    "engines",
    "engine_choice",
    "level_sets",
    "limits",
    "peers",
)
# The benchmark of files that are not here: folders stand behind its name.
OF_FOLDERS = "vnncomp"
RESULTS = Path(__file__).with_name("RESULTS.md")


def machine() -> str:
    """Describe the machine and the versions in one line."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [
            line.split(":", 1)[1].strip()
            for line in cpuinfo.read_text(encoding="utf-8").splitlines()
            if "model name" in line
        ]
        model = names[0] if names else model
    versions = f"Python {platform.python_version()}, torch {torch.__version__}, numpy {np.__version__}"
    return f"{model}, {os.cpu_count()} cores; {versions}"


def table(rows: list[Measurement]) -> list[str]:
    """Return rows as lines of a Markdown table."""
    lines = ["| case | ratio | seconds | compared with, s | peak GB | detail |", "|---|--:|--:|--:|--:|---|"]
    for row in rows:
        numbers = [f"{value:.2f}" if value is not None else "" for value in (row.ratio, row.reference, row.memory)]
        if row.ratio is not None and row.ratio < 0.005:
            numbers[0] = f"1/{1 / row.ratio:,.0f}"
        lines.append(f"| {row.case} | {numbers[0]} | {row.seconds:.3g} | {numbers[1]} | {numbers[2]} | {row.detail} |")
    return lines


def record(name: str, target: str, lines: list[str]) -> None:
    """Put the newest figures of one benchmark into the results, in place of older ones."""
    start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    today = datetime.date.today().isoformat()
    block = "\n".join([start, f"## {name}", "", f"Target: {target}. {today}, {machine()}.", "", *lines, end])
    text = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else "# Results\n"
    if start in text:
        text = text[: text.index(start)] + block + text[text.index(end) + len(end) :]
    else:
        text = text.rstrip() + "\n\n" + block + "\n"
    RESULTS.write_text(text, encoding="utf-8")


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    names = f"any of {', '.join(NAMES)}, all if none is given; or {OF_FOLDERS} and folders of the competition"
    parser.add_argument("names", nargs="*", metavar="NAME", help=names)
    parser.add_argument("--quick", action="store_true", help="small sizes, nothing is written")
    chosen = parser.parse_args()
    if chosen.names[:1] == [OF_FOLDERS]:
        folders = [Path(name) for name in chosen.names[1:]]
        missing = [str(one) for one in folders if not one.is_dir()]
        if missing or not folders:
            parser.error(f"{OF_FOLDERS} needs folders that are there, got {', '.join(missing) or 'none'}")
        _run(OF_FOLDERS, chosen.quick, folders)
        return
    unknown = set(chosen.names) - set(NAMES)
    if unknown:
        parser.error(f"there is no benchmark {', '.join(sorted(unknown))}; choose from {', '.join(NAMES)}")
    for name in chosen.names or NAMES:
        _run(name, chosen.quick)


def _run(name: str, quick: bool, *of: object) -> None:
    """Run one benchmark, print it, and keep its figures."""
    module = importlib.import_module(f"benchmarks.{name}")
    print(f"{name}: {module.TARGET}", flush=True)
    rows = module.run(quick, *of)
    lines = table(rows)
    print("\n".join(lines), flush=True)
    if rows and not quick:
        record(name, module.TARGET, lines)


if __name__ == "__main__":
    main()
