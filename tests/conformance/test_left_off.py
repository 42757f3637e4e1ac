"""Every public function says what it does with a network whose file ends with a sigmoid that was left off.

What compares outputs with numbers is about the outputs of the file, or refuses; everything else is of what comes before
the sigmoid. New functions that take networks are asked here, and belong into a set if they do not answer.
"""

from dataclasses import replace

import pytest

from conformance.bad_input import table as table_of_reluscope
from conformance.bad_input.calls import settled
from conformance.bad_input.running import call, namespaces
from conformance.test_jumping import asked
from reluscope.errors import InputError
from reluscope.networks.graph.left_off import LeftOff
from reluscope.networks.network import Network

# Not carried, and refused by name.
REFUSES = {
    "as_program",
    "image",
    "reach",
    "classification.cross_entropy",
    "difference",
    "lipschitz",
    "maximize",
    "stack",
}
REFUSES |= {"as_program"} | {f"preimages.{name}" for name in ("local_inverse", "elsewhere_bounds")}
REFUSES |= {f"preimages.{name}" for name in ("distance_to_range", "reached_from_elsewhere")}
# About the outputs of the file: `tests/analyses/preimages/test_left_off.py` and its like compare with these.
CARRIES = {"level_set", "verify", "violations", "regression.fits", "verification.replay", "verification.verify_each"}
CARRIES |= {"preimages.of", "preimages.within_region"}
# Given what was made with another network, or kept from one.
KEPT = {"coefficients.matrix", "plots.training_animation", "surfaces.distance", "surfaces.merge_coplanar"}
KEPT |= {"testing.check_certificate", "testing.check_proof"}


def with_a_sigmoid(value):
    value = settled(value)
    if isinstance(value, list | tuple):
        return type(value)(map(with_a_sigmoid, value))
    if isinstance(value, dict):
        return {name: with_a_sigmoid(one) for name, one in value.items()}
    return replace(value, left_off=LeftOff("sigmoid", value.output_shape)) if isinstance(value, Network) else value


@pytest.mark.parametrize("namespace", namespaces())
def test_networks_that_end_with_a_sigmoid(namespace):
    refuse_or_carry(namespace, table_of_reluscope, REFUSES, CARRIES | KEPT)


def refuse_or_carry(namespace, table, refuses, others):
    for name, thing, row in asked(namespace, table):
        if name in others:
            continue
        given = replace(row, arguments={key: with_a_sigmoid(value) for key, value in row.arguments.items()})
        if name in refuses:
            with pytest.raises(InputError, match="outputs of the file, which ends with a sigmoid"):
                call(thing, None, given, given.arguments)
        else:
            call(thing, None, given, given.arguments)
