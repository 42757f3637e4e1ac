"""What commands print and write: tables of findings, JSON, files, progress, sources."""

from reluscope.citations import bibliography
from reluscope.cli.terminal.outputs import conclude, plan_json, plan_outputs, print_results, write_all
from reluscope.cli.terminal.printed_results import (
    add_row,
    make_table,
    open_console,
    print_json,
    print_numbers,
    say,
    several,
    to_json,
)
from reluscope.cli.terminal.progress_bar import show_progress

__all__ = [
    "add_row",
    "bibliography",
    "conclude",
    "make_table",
    "open_console",
    "plan_json",
    "plan_outputs",
    "print_json",
    "print_numbers",
    "print_results",
    "say",
    "several",
    "show_progress",
    "to_json",
    "write_all",
]
