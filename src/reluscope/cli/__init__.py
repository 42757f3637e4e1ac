"""The command ``reluscope``. What is heavy is imported by the command that needs it, so that help comes at once."""

from reluscope.cli.app import app


def main() -> None:
    """Run the command line."""
    app()


__all__ = ["app", "main"]
