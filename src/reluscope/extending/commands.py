"""Parts of commands, which entry points of the group ``reluscope.commands`` add: application, options, arguments."""

from reluscope.cli.reading.shared_options import Force, JsonFile, path_of
from reluscope.cli.terminal.application import new_app
from reluscope.cli.terminal.common_options import Common, command

__all__ = ["Common", "Force", "JsonFile", "command", "new_app", "path_of"]
