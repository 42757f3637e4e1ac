"""The paper's networks after training, trained once and kept in the records of a study."""

import torch

from reluscope.analyses.classification import accuracy
from reluscope.findings import Finding
from reluscope.networks.load import load
from reluscope.networks.network import Network
from reluscope.studies.behrmann2018._networks import Architecture, Training, train
from reluscope.studies.records import finding_of, plain_findings
from reluscope.studies.study import Labelled, Record, Setting


def trained(
    setting: Setting, architecture: Architecture, how: Training, training: Labelled, testing: Labelled
) -> tuple[Network, Finding]:
    """Return a network, trained now if it is not in the records, and its accuracy on the test samples.

    Parameters
    ----------
    setting : Setting
    architecture : Architecture
        Its record has its name.
    how : Training
    training, testing : Labelled
    """
    number = int(max(training.labels.max(), testing.labels.max())) + 1
    model = architecture.build(training.shape, number, setting.seed)
    kept = setting.records.get(architecture.name)
    if kept is None:
        setting.tell(f"Training {architecture.name}", None, None)

        def tell(epoch: int, loss: float) -> None:
            setting.tell(f"Training {architecture.name}: epoch {epoch}, loss {loss:.3f}", None, None)

        points = training.points.reshape(len(training), *training.shape)
        train(model, points, training.labels, training=how, seed=setting.seed, device=setting.device, tell=tell)
        network = load(model, input_shape=training.shape).to(setting.device)
        found = accuracy(network, testing.points, testing.labels)
        arrays = {name: value.numpy() for name, value in model.state_dict().items()}
        setting.records[architecture.name] = Record({"accuracy": plain_findings({"": found})[""]}, arrays)
        return network, found
    model.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in kept.arrays.items()})
    network = load(model.eval(), input_shape=training.shape).to(setting.device)
    return network, finding_of(kept.plain["accuracy"])
