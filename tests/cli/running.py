"""Running the command line within this process."""

import re

from typer.testing import CliRunner

from reluscope.cli import app


def reluscope(*arguments):
    """Run a command in this process."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def is_one_sentence(errors):
    """Whether standard error is one line from us, without a traceback."""
    return re.fullmatch(r"reluscope: [^\n]+\.\n", errors) is not None and "Traceback" not in errors
