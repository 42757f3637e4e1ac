"""The application, with its commands in the order of ``--help``: each module here registers those of one purpose."""

# isort: off
import reluscope.cli.reports.reporting
import reluscope.cli.reports.exploring
import reluscope.cli.models.inspecting
import reluscope.cli.regions.partition_commands
import reluscope.cli.regions.surfaces
import reluscope.cli.properties.verifying
import reluscope.cli.regions.counting
import reluscope.cli.reports.tracking_commands
import reluscope.cli.studies.reproducing  # noqa: F401
from reluscope.cli.terminal.application import app
# isort: on

__all__ = ["app"]
