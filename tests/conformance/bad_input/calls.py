"""Rows of the table: a valid call of every public callable, and the kind of each of its arguments.

Most kinds follow from the argument's name, for a name means one thing in the whole library; a row says where it does
not. Values that cost something are made when they are first needed, and once.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any


class Later:
    """A value made when first needed."""

    def __init__(self, make):
        self._make = make

    @cached_property
    def value(self):
        return self._make()


@dataclass(frozen=True)
class Row:
    """A valid call: the arguments by name, those without a name, the object a method belongs to, special kinds."""

    arguments: dict[str, Any]
    unnamed: tuple = ()
    on: Any = None
    kinds: dict[str, str] = field(default_factory=dict)


def row(*unnamed, on=None, kinds=None, **arguments):
    """Return a row; ``on`` is the object of a method."""
    return Row(arguments, unnamed, on, kinds or {})


def settled(value):
    """Return a value with everything made that was left for later."""
    if isinstance(value, Later):
        return value.value
    if type(value) in (list, tuple):
        return type(value)(settled(one) for one in value)
    if type(value) is dict:
        return {key: settled(one) for key, one in value.items()}
    return value


def _kinds(**words):
    return {name: kind.replace("_", " ") for kind, names in words.items() for name in names.split()}


# The kind of an argument by its name, in the whole library.
BY_NAME = _kinds(
    network="network net model",
    samples="x",
    labels="labels test_labels",
    classes="classes",
    gate="gate",
    outputs="outputs",
    domain="domain",
    box="box",
    option="method definition scheme norm beyond join rule within loss which of channels part keep",
    text="name label noun xlabel what purpose labels_name ink background",
    flag=(
        "progress certify is_closed absolute rounded negated grouped neighbors lines margins is_normalized overwrite "
        "return_index return_inverse return_counts"
    ),
    count=(
        "count num_samples steps restarts chains thinning draws num_neighbors num_clusters most k trials "
        "num_directions num_starts pixels bins dpi epochs num_points memory chunk batch population dim width depth "
        "zonotope num_units num_noises rank most_monomials most_classes columns num_outputs num_inputs largest base"
    ),
    natural="num_hyperplanes num_in_doubt threshold num_inside changes",
    index="position row j layer sample index region point label_of pair",
    seed="seed",
    positive="radius reach fps limit cap weight_deviation",
    nonnegative="ridge epsilon noise bias_deviation error drop curvature nonzero rank_tolerance",
    share="rate share quantile least_accuracy",
    number="leak value margin",
    seconds="seconds",
    tolerance="tolerance",
    budget="budget",
    executor="executor",
    function="tell fine_tune optimizer goal rule_of",
    axes="axes",
    names="names class_names rows columns_of",
    ours=(
        "codes sampled partition part function region certificate embedding reference curve matrices clusters stack "
        "records usage merged construction system target found balls facets other figure animation"
    ),
    read="path file_to_read",
    device="device",
    shape="shape input_shape",
)
