"""Commands and their options, with help that teaches; each module here holds the commands of one purpose."""

# In the order in which ``--help`` lists their commands.
# isort: off
from reluscope.cli.commands import (
    reporting,
    exploring,
    inspecting,
    partitioning,
    surfaces,
    verifying,
    counting,
    boolean_functions,
    tracking,
    reproducing,
)
from reluscope.cli.commands.application import app
# isort: on

__all__ = [
    "app",
    "boolean_functions",
    "counting",
    "exploring",
    "inspecting",
    "partitioning",
    "reporting",
    "reproducing",
    "surfaces",
    "tracking",
    "verifying",
]
