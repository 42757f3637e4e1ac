"""Parts of commands, which entry points of the group ``reluscope.commands`` add: application, options, arguments."""

from reluscope.cli.terminal.application import new_app
from reluscope.cli.terminal.common_options import Common, Force, JsonFile, command

__all__ = ["Common", "Force", "JsonFile", "command", "new_app"]
