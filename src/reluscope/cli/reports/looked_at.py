"""What the commands of the explorer look at: a model and data, or the embedded network with its own."""

from dataclasses import dataclass
from pathlib import Path

from reluscope.cli.reading.model_arguments import ModelArguments
from reluscope.cli.reading.opened_models import check_file_of_labels, open_model, open_model_and_data
from reluscope.cli.terminal.common_options import Common
from reluscope.cli.terminal.device_names import open_device
from reluscope.cli.terminal.progress_bar import Bar
from reluscope.datasets.demo import loaded_demo_network
from reluscope.datasets.digits import digits
from reluscope.explorer.scene.session import Session

DEMO = "demo network"


@dataclass(frozen=True)
class Looked:
    """The model and data that a command shows; without a model, the embedded network."""

    model: ModelArguments | None
    data: str | None = None
    labels: Path | None = None
    tracker: Path | None = None
    samples: int | None = None


def open_session(looked: Looked, common: Common, bar: Bar) -> Session:
    """Load the model and data that a command shows, and return them as a session."""
    device = open_device(common.device)
    if looked.model is None:
        bar.say("Loading the embedded network")
        data = digits("test")
        network, name = loaded_demo_network(data.points).to(device), DEMO
    else:
        name = looked.model.name
        if looked.data is None:
            network, data = open_model(looked.model, device, bar), None
        else:
            check_file_of_labels(looked.labels)
            network, data = open_model_and_data(
                looked.model, looked.data, labels=looked.labels, most=looked.samples, device=device, bar=bar
            )
    return Session.of(network, data, tracker=looked.tracker, seed=common.seed, name=name)
