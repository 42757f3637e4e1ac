"""Commands and their options, with help that teaches; each module here holds the commands of one purpose."""

from reluscope.cli.commands import (
    boolean_functions,
    counting,
    exploring,
    inspecting,
    reproducing,
    surfaces,
    tracking,
    verifying,
)
from reluscope.cli.commands.application import app

__all__ = [
    "app",
    "boolean_functions",
    "counting",
    "exploring",
    "inspecting",
    "reproducing",
    "surfaces",
    "tracking",
    "verifying",
]
