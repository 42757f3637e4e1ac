"""Commands and their options, with help that teaches; each module here holds the commands of one purpose."""

# In the order in which ``--help`` lists their commands.
# isort: off
from reluscope.cli.commands import (
    reporting,
    exploring,
    inspecting,
    partition_commands,
    surfaces,
    verifying,
    counting,
    tracking_commands,
    reproducing,
)
from reluscope.cli.commands.application import app
# isort: on

__all__ = [
    "app",
    "counting",
    "exploring",
    "inspecting",
    "partition_commands",
    "reporting",
    "reproducing",
    "surfaces",
    "tracking_commands",
    "verifying",
]
