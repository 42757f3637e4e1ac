"""Commands and their options, with help that teaches; each module here holds the commands of one purpose."""

from reluscope.cli.commands import counting, looking, reproducing, smallness, tracking
from reluscope.cli.commands.application import app

__all__ = ["app", "counting", "looking", "reproducing", "smallness", "tracking"]
