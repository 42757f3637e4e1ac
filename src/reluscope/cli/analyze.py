"""``reluscope analyze`` and ``reluscope demo``: open, look, write, and say what was found."""

import json
import sys
from contextlib import contextmanager
from pathlib import Path

import rich.box
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from reluscope.analyses.classification import check_labels
from reluscope.cli.failures import FAILED, INTERRUPTED
from reluscope.cli.models import open_network
from reluscope.datasets.dataset import Dataset
from reluscope.datasets.demo import demo_network
from reluscope.datasets.digits import digits
from reluscope.datasets.opening import open_dataset
from reluscope.networks.load import load
from reluscope.report.building import build_report
from reluscope.report.document import Report
from reluscope.report.subject import Settings, Subject
from reluscope.report.writing import check_folder, write_report


def analyze(
    model: str,
    data: str,
    *,
    labels: Path | None,
    output: Path | None,
    input_shape: tuple[int, ...] | None,
    weights: Path | None,
    samples: int | None,
    settings: Settings,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Write a report on a model and data, and return the exit code."""
    folder = check_folder(output or Path(f"reluscope-{_short(model)}"), force=force)
    with _progress(quiet or as_json) as tell:
        tell("Reading the data")
        dataset = open_dataset(data, labels)
        if samples is not None:
            dataset = dataset.limited(samples)
        tell("Loading the model")
        network = open_network(
            model, weights=weights, input_shape=input_shape, data_shape=_shape_of(dataset), data=_flat(dataset)
        )
        dataset = dataset.reshaped(network.input_shape)
        if dataset.labels is not None:
            check_labels(network, dataset.labels)
        report = build_report(
            Subject(network, dataset, Path(model).name, settings),
            notify=lambda at: tell(at.title, at.position, at.number),
        )
        tell("Writing the page")
        page = write_report(report, folder)
    return _conclude(report, page, as_json=as_json, quiet=quiet)


def demo(output: Path, *, settings: Settings, as_json: bool, quiet: bool) -> int:
    """Write the report of the embedded network, and return the exit code."""
    folder = check_folder(output, force=True)
    with _progress(quiet or as_json) as tell:
        tell("Loading the embedded network")
        data = digits("test")
        network = load(demo_network(), data=data.points)
        report = build_report(
            Subject(network, data, "demo network", settings), notify=lambda at: tell(at.title, at.position, at.number)
        )
        tell("Writing the page")
        page = write_report(report, folder)
    return _conclude(report, page, as_json=as_json, quiet=quiet)


def _short(model: str) -> str:
    """Return what of MODEL goes into the name of the folder."""
    return Path(model).stem if ":" not in model else model.rpartition(":")[2]


def _shape_of(dataset: Dataset) -> tuple[int, ...] | None:
    return dataset.shape if len(dataset.shape) > 1 else None


def _flat(dataset: Dataset):
    return dataset.points.reshape(len(dataset), -1)


@contextmanager
def _progress(hidden: bool):
    """Yield a function that shows what is being done; shown on a terminal only, and gone at the end."""
    console = Console(stderr=True)
    columns = SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=24), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True, disable=hidden or not console.is_terminal) as bar:
        task = bar.add_task("", total=None)

        def tell(what: str, position: int | None = None, number: int | None = None) -> None:
            bar.update(task, description=what, completed=position or 0, total=number)

        yield tell


def _following(tell):
    return lambda at: tell(at.title, at.position, at.number)


def _conclude(report: Report, page: Path, *, as_json: bool, quiet: bool) -> int:
    """Print what was found, and return the exit code."""
    for section in report.sections:
        if section.status == "failed":
            print(f"reluscope: {section.title}: {section.sentence}", file=sys.stderr)
    if as_json:
        print(json.dumps(report.to_dict(), indent=1, allow_nan=False))
    elif not quiet:
        _summarize(report, page)
    if report.was_interrupted:
        print(f"reluscope: Interrupted; what was done until then is in {page}.", file=sys.stderr)
        return INTERRUPTED
    return 0 if report.is_complete else FAILED


def _summarize(report: Report, page: Path) -> None:
    console = Console()
    table = Table(box=rich.box.SIMPLE_HEAD, title=f"{report.subject.model} on {report.subject.data.name}")
    table.add_column("")
    table.add_column("value", justify="right")
    table.add_column("claim")
    for section in report.sections:
        if section.content is None:
            table.add_row(section.title, "", section.status)
        elif (headline := section.content.headline) is not None:
            table.add_row(headline.finding.name, headline.text, str(headline.finding.claim))
    console.print(table)
    console.print(f"{report.seconds:.1f} s; the report is in [bold]{page}[/bold]", highlight=False, soft_wrap=True)
