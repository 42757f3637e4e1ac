"""Studies, which repeat a figure or a table of a paper; they come from packages that are installed beside this one.

A study takes a `Setting` and returns an `Outcome`. A package offers studies by an entry point of the group
``reluscope.studies``, a callable without arguments that returns them; ``reluscope reproduce`` lists and runs them all.
Those of the papers that reluscope follows are in the package reluscope-studies.
"""

from reluscope.moved_names import refuse
from reluscope.studies.discovery import all_studies
from reluscope.studies.study import (
    Change,
    Data,
    Film,
    Outcome,
    Picture,
    Record,
    Setting,
    Size,
    StatementVerdict,
    Study,
    Table,
)

__all__ = [
    "Change",
    "Data",
    "Film",
    "Outcome",
    "Picture",
    "Record",
    "Setting",
    "Size",
    "StatementVerdict",
    "Study",
    "Table",
    "all_studies",
]


def __getattr__(name: str) -> object:
    raise refuse("reluscope.studies", name)
