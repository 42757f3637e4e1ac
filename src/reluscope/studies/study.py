"""The interface of a study: the setting that it is given, and the outcome that it returns."""

from collections.abc import Callable, MutableMapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Literal, Protocol

from matplotlib.animation import Animation
from matplotlib.figure import Figure

from reluscope.datasets.dataset import Dataset
from reluscope.files.kept_results import Record
from reluscope.findings import Finding

Size = Literal["small", "full"]
# Which data a paper takes; the small size has digits in their place.
Data = Literal["mnist", "cifar10"]


class StudyProgress(Protocol):
    """A function that is told what is being done and how far the study is."""

    def __call__(self, what: str, share: float | None = None, remaining: float | None = None) -> None:
        """Take what is being done, the share of all that is done, and the seconds that remain, where they are known."""
        ...


def _say_nothing(what: str, share: float | None = None, remaining: float | None = None) -> None:
    del what, share, remaining


@dataclass(frozen=True, eq=False)
class Setting:
    """How a study is to be run.

    Parameters
    ----------
    size : {"small", "full"}
        Full is the paper's; small shows the same in seconds.
    train, test : Dataset, optional
        Data to train networks on and to measure them with, for studies that need them.
    seed : int
    seconds : float, optional
        Most time for one count, a LOWER bound where that is not enough, or for one question about a sample of points,
        which is then asked of fewer.
    records : mutable mapping of names to Record
        What earlier runs have finished; results are put into it.
    executor : concurrent.futures.Executor, optional
        Runs independent parts of counts.
    beside : Dataset, optional
        Data of another kind, for studies that look at these too where they are given.
    device : str
        Where networks are trained, and where float64 arithmetic of tensors runs.
    progress : StudyProgress
        Told what is being done, and how far the study is.

    Examples
    --------
    >>> setting = Setting("small", progress=lambda what, share=None, remaining=None: print(what))
    >>> setting.progress("Counting", 0.5)
    Counting
    """

    size: Size
    train: Dataset | None = None
    test: Dataset | None = None
    seed: int = 0
    seconds: float | None = None
    records: MutableMapping[str, Record] = field(default_factory=dict)
    executor: Executor | None = None
    beside: Dataset | None = None
    device: str = "cpu"
    progress: StudyProgress = field(default_factory=lambda: _say_nothing)


@dataclass(frozen=True)
class Table:
    """Rows of text under headings."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure, the name of its file without a suffix, and what it shows."""

    name: str
    figure: Figure
    caption: str


@dataclass(frozen=True, eq=False)
class Film:
    """An animation, the name of its file without a suffix, and what it shows."""

    name: str
    animation: Animation
    caption: str


@dataclass(frozen=True, eq=False)
class Outcome:
    """Outcome of a study.

    Parameters
    ----------
    sentences : tuple of str
        What was done, what the paper leaves open, and what came out.
    findings : tuple of Finding
    tables : tuple of Table
    pictures : tuple of Picture
    interrupted : bool
        Whether the user stopped the work; what is here is what was finished until then.
    films : tuple of Film
    """

    sentences: tuple[str, ...]
    findings: tuple[Finding, ...]
    tables: tuple[Table, ...] = ()
    pictures: tuple[Picture, ...] = ()
    interrupted: bool = False
    films: tuple[Film, ...] = ()


@dataclass(frozen=True)
class Study:
    """A figure or a table of a paper, and the protocol that repeats it.

    Parameters
    ----------
    paper : str
        Key of the paper in `reluscope.citations`, with the chapter behind a hyphen where it is a book.
    figure : str
        Which of the paper's, in a word.
    sentence : str
        What it is about.
    position : int
        By which the studies of a paper are ordered.
    data : str, optional
        The paper's data, if the setting must have any.
    beside : str, optional
        Data of another kind, if the setting may have any.
    protocol : callable
        Takes a `Setting` and returns an `Outcome`.
    """

    paper: str
    figure: str
    sentence: str
    position: int
    data: Data | None
    beside: Data | None
    protocol: Callable[[Setting], Outcome]

    @property
    def name(self) -> str:
        """Paper and figure, as the command line names it."""
        return f"{self.paper}/{self.figure}"

    @property
    def source(self) -> str:
        """Key of the paper in `reluscope.citations`."""
        return self.paper.partition("-")[0]
