"""Every public callable refuses every kind of bad input with one sentence of `reluscope.errors`, and takes good input.

The table is in `conformance.bad_input`, a module per namespace: for every public function, constructor and method one
valid call and the kind of each argument. From the kind follow the bad values. A public callable without a row fails,
and so does an argument without a kind. All calls are made in processes of their own, without the checks of annotations
that the tests put on every function: users run without them.
"""

import inspect
from concurrent.futures import Executor
from typing import Annotated, get_args, get_origin

import numpy as np
import pytest

import reluscope as rs
from conformance.bad_input.running import namespaces, public, reports_of
from reluscope.budget import Budget
from reluscope.errors import InputError, ShapeError
from reluscope.progress import Progress

# Some namespaces in one process, which takes seconds to import all that it needs; groups take equally long.
GROUPS = (
    ("plots", "plots.style", "compression", "codespace", "testing", "tropical", "datasets", "tracking"),
    (
        "reluscope", "bounds", "coefficients", "local", "preimages", "robustness", "sensitivity",
        "similarity", "stability", "classification", "counting", "planes", "regression", "studies",
        "reachability", "surfaces", "topology", "verification",
    ),
)  # fmt: skip


def test_every_namespace_is_in_a_group():
    assert sorted(name for group in GROUPS for name in group) == sorted(name or "reluscope" for name in namespaces())


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group[0])
def test_bad_input_is_refused_with_one_sentence(group):
    reports = reports_of("conformance.bad_input.table", group)
    assert not [line for report in reports.values() for line in report["failed"]]
    assert all(report["tried"] for namespace, report in reports.items() if namespace != "studies")


def test_arguments_of_one_name_come_in_one_order_and_are_of_one_kind():
    order = ("domain", "gate", "outputs", "budget", "executor", "progress", "tolerance", "seed")
    kinds = {"progress": Progress, "executor": Executor | None, "budget": Budget}
    seen = 0
    for namespace in namespaces():
        for name, (thing, _) in public(namespace).items():
            if name == "studies.Setting":  # what studies are handed
                continue
            given = inspect.signature(thing).parameters.values()
            named = [one.name for one in given if one.kind is one.KEYWORD_ONLY and one.name in order]
            assert named == sorted(named, key=order.index), name
            for one in given:
                kind = kinds.get(one.name)
                bare = one.annotation
                if kind is Budget:  # which limits mean something is annotated
                    bare = next(part for part in (*get_args(bare), bare) if part is not type(None))
                    bare = get_args(bare)[0] if get_origin(bare) is Annotated else bare
                assert kind is None or bare == kind, (name, one)
                seen += kind is not None
    assert seen > 80


def test_labels_mean_one_thing_everywhere():
    net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    x = np.array([[1.0, 0.0], [0.0, 1.0]])
    sampled = rs.codespace.sample_codes(net, x)
    for bad in ([0.5, 1.0], [np.nan, 1.0], [-1, 1], [99, 1]):
        for take in (
            lambda labels: rs.codespace.correctly_classified(net, sampled, x, labels),
            lambda labels: rs.local.class_means(net, x, labels),
            lambda labels: rs.local.pgd(net, x, labels, radius=0.1),
            lambda labels: rs.similarity.compare({"a": net, "b": net}, x, labels),
        ):
            with pytest.raises(InputError):
                take(bad)
    for good in ([0, 1], [False, True], [0.0, 1.0], np.array([0, 1], np.uint8)):
        assert rs.local.class_means(net, x, good).tolist() == x.tolist()


def test_axes_of_one_letter_are_equally_long():
    with pytest.raises(ShapeError, match="second must fit first"):
        rs.similarity.linear_cka(np.ones((4, 2)), np.ones((5, 2)))


def test_a_position_that_is_not_there_ends_a_loop():
    net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    codes = net.codes(np.eye(2))
    assert len([code for code in codes]) == 2  # noqa: C416
    with pytest.raises(IndexError, match="from 0 to 1"):
        codes[2]


def test_gates_and_outputs_count_from_the_end_too():
    net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    x = np.array([[1.0, -2.0]])
    assert (rs.preimages.layer_inputs(net, x, -1) == rs.preimages.layer_inputs(net, x, "relu 1")).all()
    assert rs.coefficients.matrix(net, x, outputs=[-1]).outputs == (1,)
    with pytest.raises(InputError, match="relu 0, relu 1, got 'foo'"):
        rs.preimages.layer_inputs(net, x, "foo")
