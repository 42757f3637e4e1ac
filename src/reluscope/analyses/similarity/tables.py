"""The quantities that are measured of pairs of networks, and matrices of them."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from reluscope.analyses.similarity.mapping import MAP_RESIDUAL
from reluscope.analyses.similarity.metric import Metric, Source
from reluscope.analyses.similarity.registered import METRICS
from reluscope.arguments import read_arguments
from reluscope.errors import InputError
from reluscope.findings import Findings, Kind, Quantity, declare

FEATURES, OF_FEATURES = "features_", " of outputs or features"


class PairQuantity(NamedTuple):
    """A quantity of an ordered pair of networks.

    Parameters
    ----------
    quantity : Quantity
    title : str
        Name in text.
    is_symmetric : bool
        Whether both orders give the same number.
    grows_with_likeness : bool
        Whether larger values mean more similar.
    """

    quantity: Quantity
    title: str
    is_symmetric: bool
    grows_with_likeness: bool


def _of_metric(metric: Metric, prefix: str = "") -> PairQuantity:
    of = mean = ""
    if prefix:
        of = OF_FEATURES
    elif metric.source is Source.MOMENTS and metric is not MAP_RESIDUAL:
        of, mean = " of coefficients", ", mean over outputs"
    quantity = declare(
        prefix + metric.name,
        f"{metric.title}{of}: {metric.definition}{mean}",
        kind=Kind.SHARE if metric.source is Source.OUTPUTS and metric.high == 1 else Kind.REAL,
        source=metric.publication,
        least=metric.low,
        most=metric.high,
    )
    return PairQuantity(quantity, metric.title + of, metric.is_symmetric, metric.grows_with_likeness)


MAPPED_AGREEMENT = PairQuantity(
    declare(
        "mapped_agreement",
        "share of samples of which the first network, its coefficients mapped to those of the second, says the class "
        "that the second says; of a network with itself by the identity map",
        kind=Kind.SHARE,
        source="sattelberg2026",
    ),
    "agreement of the mapped network with its target",
    is_symmetric=False,
    grows_with_likeness=True,
)
MAPPED_ACCURACY = PairQuantity(
    declare(
        "mapped_accuracy",
        "share of samples of which the first network, its coefficients mapped to those of the second, says the label; "
        "of a network with itself by the identity map",
        kind=Kind.SHARE,
        source="sattelberg2026",
    ),
    "accuracy of the mapped network",
    is_symmetric=False,
    grows_with_likeness=True,
)
DROP = PairQuantity(
    declare(
        "drop",
        "accuracy of the second network, less that of the first one mapped to it",
        source="sattelberg2026",
        least=-1.0,
        most=1.0,
    ),
    "accuracy that the target loses when mapped to",
    is_symmetric=False,
    grows_with_likeness=False,
)
CONDITION_NUMBER = declare(
    "coefficient_condition_number",
    "largest singular value of the coefficients of the first network by the smallest that is not zero, the largest "
    "among all outputs",
    least=1.0,
    source="sattelberg2026",
)


def _all() -> dict[str, PairQuantity]:
    of_metrics = [_of_metric(metric) for metric in METRICS.values()]
    on_features = [metric for metric in METRICS.values() if metric.source is Source.MOMENTS]
    of_features = [_of_metric(metric, FEATURES) for metric in on_features if metric is not MAP_RESIDUAL]
    return {one.quantity.name: one for one in (*of_metrics, MAPPED_AGREEMENT, MAPPED_ACCURACY, DROP, *of_features)}


# By name: those of METRICS, of features as ``features_cka`` and so on, and of mapped networks.
PAIR_QUANTITIES: Mapping[str, PairQuantity] = MappingProxyType(_all())


@read_arguments
def pair_matrix(found: Findings, name: str) -> Float[np.ndarray, "k k"]:
    """Return one quantity of all pairs as a matrix, NaN where it is undefined.

    Parameters
    ----------
    found : Findings
        As returned by `compare`.
    name : str
        Of the quantity.

    Returns
    -------
    (k, k) float64
        Row: the first network, or the network that is mapped; column: the second network. Both follow the order of
        `compared_networks`.

    Raises
    ------
    InputError
        If the quantity does not exist, or the findings are not from `compare`.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> layers = [(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))]
    >>> two = {"one": rs.load(layers), "other": rs.load(layers)}
    >>> found = rs.similarity.compare(two, [[1.0, -1.0], [-1.0, 2.0], [1.0, 2.0]], metrics=["agreement"])
    >>> rs.similarity.pair_matrix(found, "agreement")
    array([[1., 1.],
           [1., 1.]])
    """
    number = len(compared_networks(found))
    return found[name].value.reshape(number, number)


@read_arguments
def pair_title(found: Findings, name: str) -> str:
    """Return the name of a pair quantity in text, with the object that was measured.

    Raises
    ------
    InputError
        If the quantity does not exist.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    >>> found = rs.similarity.compare({"a": net, "b": net}, [[1.0, 0.0], [0.0, 2.0], [2.0, 3.0]], metrics=["cka"])
    >>> rs.similarity.pair_title(found, "cka"), rs.similarity.pair_title(found, "features_cka")
    ('linear CKA of coefficients', 'linear CKA of outputs')
    """
    column = found[name]
    if name not in PAIR_QUANTITIES:
        return column.title
    title = PAIR_QUANTITIES[name].title
    return f"{title.removesuffix(OF_FEATURES)} {column.given}" if column.given else title


@read_arguments
def compared_networks(found: Findings) -> tuple[str, ...]:
    """Return the names of the compared networks, in their order.

    Raises
    ------
    InputError
        If the findings are not from `compare`.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    >>> rs.similarity.compared_networks(rs.similarity.compare({"a": net, "b": net}, np.eye(2), metrics=["agreement"]))
    ('a', 'b')
    """
    if set(found.keys) != {"first", "second"}:
        raise InputError(f"expected findings of similarity.compare, got some by {', '.join(found.keys) or 'nothing'}")
    names = tuple(dict.fromkeys(found.keys["first"].tolist()))
    if len(found) != len(names) ** 2:
        raise InputError(f"expected all pairs of {len(names)} networks, got {len(found)} of them")
    return names
