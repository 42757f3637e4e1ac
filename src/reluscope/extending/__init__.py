"""What packages beside this one are made of: parts of analyses, of pictures, of commands and of what these print.

The package of studies is written with these and with what `reluscope` names. They change in any minor version without a
warning; `reluscope.arguments`, which reads what users pass, goes with them.
"""

__all__ = ["analyses", "bounds", "commands", "pictures", "printing"]
