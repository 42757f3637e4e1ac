"""A training that is looked at epoch by epoch: the network as it was at each record."""

from reluscope.errors import InputError
from reluscope.explorer.session import Session
from reluscope.networks.network import Network


def network_of_epoch(session: Session, record: int) -> Network:
    """Return the network as it was at a record of the training.

    Raises
    ------
    InputError
        If there is no such record, or it holds no weights.
    """
    raise InputError("there is no training to look at: open the explorer with a tracker file that holds weights")
