"""What the commands of the explorer look at: a model and data, or the embedded network with its own."""

from reluscope.cli.reading.models import open_module
from reluscope.cli.reading.opened_models import check_file_of_labels, open_model, open_model_and_data
from reluscope.cli.reports.exploring import ExploreOptions, SnapshotOptions
from reluscope.cli.terminal.device_names import open_device
from reluscope.cli.terminal.progress_bar import Bar
from reluscope.datasets.demo import loaded_demo_network
from reluscope.datasets.digits import digits
from reluscope.explorer.scene.looked_lesson import lesson_session
from reluscope.explorer.scene.session import Session

DEMO = "demo network"


def open_session(given: ExploreOptions | SnapshotOptions, bar: Bar) -> Session:
    """Load the model and data that a command shows, and return them as a session."""
    device, model = open_device(given.common.device), given.loaded
    if given.train is not None:
        bar.say("Reading the data")
        return lesson_session(None if model is None else open_module(model), given.train, True, seed=given.common.seed)
    if model is None:
        bar.say("Loading the embedded network")
        data = digits("test")
        network, name = loaded_demo_network(data.points).to(device), DEMO
    else:
        name = model.name
        if given.data is None:
            network, data = open_model(model, device, bar), None
        else:
            check_file_of_labels(given.labels)
            network, data = open_model_and_data(
                model, given.data, labels=given.labels, most=given.samples, device=device, bar=bar
            )
    return Session.of(network, data, tracker=given.tracker, seed=given.common.seed, name=name)
