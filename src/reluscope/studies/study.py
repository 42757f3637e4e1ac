"""The interface of a study: the setting that it is given, and the outcome that it returns."""

from collections.abc import Callable, Mapping, MutableMapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal, Protocol

from matplotlib.animation import Animation
from matplotlib.figure import Figure

from reluscope.datasets.dataset import Dataset
from reluscope.files.kept_results import Record
from reluscope.findings import Finding
from reluscope.shown import Shown

MAX_PICTURE_BYTES = 200_000

Size = Literal["small", "medium", "full"]
# What a size may be changed in, besides which parts of a study are done.
Change = Literal["replicates", "points", "epochs"]
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
    """Options for the run of a study.

    Parameters
    ----------
    size : {"small", "medium", "full"}
        Full is the paper's; medium has the paper's data and fewer of its networks, for two hours on two cores;
        small shows the same in a minute.
    train, test : Dataset, optional
        Data for training networks and for measuring them, in studies that require data.
    seed : int
    seconds : float, optional
        Time limit for one count, which is a LOWER bound if the time does not suffice, or for one evaluation over a
        sample of points, which then uses fewer points.
    records : mutable mapping of names to Record
        Results of earlier runs; new results are added.
    executor : concurrent.futures.Executor, optional
        Runs independent parts of counts.
    beside : Dataset, optional
        Data of another kind, for studies that use such data if given.
    device : str
        Device for training, and for float64 arithmetic of tensors.
    progress : StudyProgress
        Receives the current step and the progress of the study.
    replicates, points, epochs : int, optional
        Number of networks trained of each kind, number of samples evaluated, and length of training, if they differ
        from those of the size.
    only : tuple of str
        Patterns of the parts of the study to run, ``*`` for anything; all parts if empty.

    Examples
    --------
    >>> import reluscope as rs
    >>> setting = rs.studies.Setting("small", progress=lambda what, share=None, remaining=None: print(what))
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
    replicates: int | None = None
    points: int | None = None
    epochs: int | None = None
    only: tuple[str, ...] = ()

    def wants(self, part: str) -> bool:
        """Return whether a part of the study, by its name, is to be done.

        Examples
        --------
        >>> import reluscope as rs
        >>> rs.studies.Setting("small", only=("1+*",)).wants("1+21"), rs.studies.Setting("small").wants("2+20")
        (True, True)
        """
        return not self.only or any(fnmatchcase(part, one) for one in self.only)


@dataclass(frozen=True)
class Table:
    """Rows of text under headings."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure, the name of its file without a suffix, and what it shows.

    Its SVG has `MAX_PICTURE_BYTES` at most, wherever pixels can make it so short: then books of results keep it.
    """

    name: str
    figure: Figure
    caption: str


@dataclass(frozen=True, eq=False)
class Film:
    """An animation, the name of its file without a suffix, and what it shows."""

    name: str
    animation: Animation
    caption: str


@dataclass(frozen=True, repr=False)
class StatementVerdict(Shown):
    """Result of checking a statement of a paper.

    Parameters
    ----------
    statement : str
        The paper's statement, in a phrase.
    place : str
        Place in the paper: a figure, a table, a section.
    printed, found : str
        The paper's numbers and ours.
    holds : bool, optional
        Whether our numbers agree with the statement; None if they do not decide it.
    is_comparable : bool
        Whether networks and data are enough like the paper's: what may not contradict it may not confirm it.

    Examples
    --------
    >>> import reluscope as rs
    >>> rs.studies.StatementVerdict("more units, more regions", "Figure 1", "5 and 9", "4 and 11", holds=True).word
    'confirmed'
    """

    statement: str
    place: str
    printed: str
    found: str
    holds: bool | None
    is_comparable: bool = True

    def __post_init__(self) -> None:
        """Take truths of NumPy for those of Python."""
        object.__setattr__(self, "holds", None if self.holds is None else bool(self.holds))

    @property
    def word(self) -> str:
        """Confirmed, contradicted, not confirmed, or not comparable."""
        if not self.is_comparable:
            return "not comparable"
        return {True: "confirmed", False: "contradicted", None: "not confirmed"}[self.holds]


@dataclass(frozen=True, eq=False)
class Outcome:
    """Outcome of a study.

    Parameters
    ----------
    sentences : tuple of str
        Method, details that the paper leaves open, and results.
    findings : tuple of Finding
    tables : tuple of Table
    pictures : tuple of Picture
    interrupted : bool
        Whether the user stopped the work; the outcome then holds the parts finished before.
    films : tuple of Film
    verdicts : tuple of StatementVerdict
        Statements of the paper with their results.
    """

    sentences: tuple[str, ...]
    findings: tuple[Finding, ...]
    tables: tuple[Table, ...] = ()
    pictures: tuple[Picture, ...] = ()
    interrupted: bool = False
    films: tuple[Film, ...] = ()
    verdicts: tuple[StatementVerdict, ...] = ()


@dataclass(frozen=True)
class Study:
    """A figure or a table of a paper, and the protocol that reproduces it.

    Parameters
    ----------
    paper : str
        Key of the paper in `reluscope.citations`, with the chapter after a hyphen for a book.
    figure : str
        Name of the paper's figure or table, in a word.
    sentence : str
        Subject of the study.
    position : int
        Rank among the studies of a paper.
    data : str, optional
        The paper's data, if the setting must have data.
    beside : str, optional
        Data of another kind, if the setting may have such data.
    protocol : callable
        Receives a `Setting` and returns an `Outcome`.
    changes : frozenset of str
        Which of ``replicates``, ``points`` and ``epochs`` of a setting it follows.
    parts : str
        Format of the names of its parts, for ``only``; empty if it has no parts.
    repeats : mapping of str
        Figures and tables of the paper that it reproduces, each with the part that makes it, or with "".
    is_short : bool
        Whether its small size takes less than a minute, so that it belongs to a first try of all papers.
    """

    paper: str
    figure: str
    sentence: str
    position: int
    data: Data | None
    beside: Data | None
    protocol: Callable[[Setting], Outcome]
    changes: frozenset[Change] = frozenset()
    parts: str = ""
    repeats: Mapping[str, str] = field(default_factory=dict)
    is_short: bool = False

    @property
    def name(self) -> str:
        """Paper and figure, as the command line names it."""
        return f"{self.paper}/{self.figure}"

    @property
    def source(self) -> str:
        """Key of the paper in `reluscope.citations`."""
        return self.paper.partition("-")[0]
