"""All pairs of networks at once: every number is that of its pair, however work is cut, and bad input is refused."""

import numpy as np
import pytest
import torch

import reluscope as rs
from analyses.similarity.networks import load, parameters, permuted, rescaled
from reluscope.errors import InputError, ShapeError

RNG = np.random.default_rng(2)
POINTS, TRAINING = RNG.normal(size=(50, 4)), RNG.normal(size=(80, 4))
LABELS = RNG.integers(0, 3, size=50)
NETWORKS = {
    "wide": load(parameters([4, 10, 3], 0)),
    "deep": load(parameters([4, 3, 3, 3], 1)),
    "same": load(rescaled(permuted(parameters([4, 10, 3], 0)))),
    "affine": load(parameters([4, 3], 2)),
}


def cell(found, name, first, second):
    """Return the number of one pair."""
    return found.where(first=first, second=second).finding(name)


@pytest.fixture(scope="module")
def found():
    return rs.similarity.compare(NETWORKS, POINTS, LABELS, fit_on=TRAINING)


def matrices(network, x):
    made = rs.coefficients.matrix(network, x)
    return np.stack([made.output(j) for j in range(made.num_outputs)])


def test_means_over_outputs(found):
    C, D = (matrices(NETWORKS[name], POINTS) for name in ("wide", "deep"))
    for name, measure in (
        ("cka", rs.similarity.linear_cka),
        ("debiased_cka", rs.similarity.debiased_cka),
        ("procrustes", rs.similarity.procrustes_distance),
    ):
        expected = np.mean([float(measure(one, other)) for one, other in zip(C, D, strict=True)])
        assert float(cell(found, name, "wide", "deep")) == pytest.approx(expected, rel=1e-9)
        own, other = (NETWORKS[one](POINTS).numpy() for one in ("wide", "deep"))
        assert float(cell(found, f"features_{name}", "wide", "deep")) == pytest.approx(
            float(measure(own, other)), rel=1e-9
        )
    for name, absolute in (("scaled_distance", False), ("scaled_distance_absolute", True)):
        expected = rs.similarity.scaled_distance(C, D, absolute=absolute)
        assert float(cell(found, name, "deep", "wide")) == pytest.approx(float(expected), rel=1e-9)


def test_networks_that_are_the_same_function(found):
    assert set(found) == set(rs.similarity.PAIR_QUANTITIES) | {"accuracy", "coefficient_condition_number"}
    for name, quantity in rs.similarity.PAIR_QUANTITIES.items():
        same, itself = (float(cell(found, name, "wide", other)) for other in ("same", "wide"))
        assert same == pytest.approx(itself, abs=2e-7), name
        values = rs.similarity.pair_matrix(found, name)
        assert values.shape == (4, 4)
        if quantity.is_symmetric:
            np.testing.assert_array_equal(values, values.T)


def test_what_is_computed_in_floats_is_an_estimate(found):
    for name in ("cka", "features_cka", "procrustes", "scaled_distance"):
        assert set(found[name].claims) <= {"ESTIMATE"}, name
    for name in ("map_residual", "mapped_agreement", "drop"):
        claims = np.array(found[name].claims).reshape(4, 4)
        assert (claims == np.where(np.eye(4) == 1, "EXACT", "ESTIMATE")).all(), name
    assert set(found["agreement"].claims) == {"EXACT"}


def test_maps_are_fitted_on_one_set_and_judged_on_another(found):
    X, Y = (matrices(NETWORKS[name], TRAINING) for name in ("wide", "deep"))
    Z = matrices(NETWORKS["wide"], POINTS)
    maps = [np.linalg.lstsq(*pair, rcond=None)[0] for pair in zip(X, Y, strict=True)]
    homogeneous = np.concatenate([POINTS, np.ones((50, 1))], axis=1)
    classes = np.stack([((C @ M) * homogeneous).sum(1) for C, M in zip(Z, maps, strict=True)]).argmax(0)
    right = (classes == LABELS).mean()
    assert float(cell(found, "mapped_accuracy", "wide", "deep")) == right
    own = (NETWORKS["deep"](POINTS).argmax(1).numpy() == LABELS).mean()
    assert (
        float(cell(found, "mapped_accuracy", "deep", "deep")) == float(cell(found, "accuracy", "deep", "wide")) == own
    )
    assert float(cell(found, "drop", "wide", "deep")) == pytest.approx(own - right)
    assert (
        float(cell(found, "mapped_agreement", "wide", "deep"))
        == (classes == NETWORKS["deep"](POINTS).argmax(1).numpy()).mean()
    )
    residual = [np.linalg.norm(C @ M - D) / np.linalg.norm(D) for C, M, D in zip(X, maps, Y, strict=True)]
    assert float(cell(found, "map_residual", "wide", "deep")) == pytest.approx(
        np.sqrt(np.mean(np.square(residual))), rel=1e-9
    )
    worst = max(np.linalg.cond(C) for C in X)
    assert float(cell(found, "coefficient_condition_number", "wide", "deep")) == pytest.approx(worst, rel=1e-6)
    assert not any("fitted to, where they look their best" in note for note in found.notes)


def test_what_is_not_defined_is_said(found):
    assert np.isnan(rs.similarity.pair_matrix(found, "cka")[3]).all()
    assert any(
        note.startswith("cka, debiased_cka, procrustes: not defined for 3 of 3 outputs of affine, as its coefficients")
        for note in found.notes
    )
    assert any(note.startswith("maps from affine: the coefficients span 1 of 5 dimensions") for note in found.notes)


@pytest.mark.slow
def test_every_jacobian_once_for_all_pairs_and_any_memory(found, monkeypatch):
    from reluscope.networks import network as module

    passes = []
    real = module.linearize
    monkeypatch.setattr(module, "linearize", lambda *given: passes.append(len(given[1])) or real(*given))
    again = rs.similarity.compare(NETWORKS, POINTS, LABELS, fit_on=TRAINING, budget=rs.Budget(memory=120_000))
    for name, column in found.columns.items():
        np.testing.assert_allclose(again[name].value, column.value, rtol=1e-7, atol=3e-7, err_msg=name)
    passes.clear()
    rs.similarity.compare(NETWORKS, POINTS, metrics=["cka", "scaled_distance"])
    distinct = sum(len(one.codes(POINTS).unique()) for one in NETWORKS.values())
    assert sum(passes) <= distinct + 1  # and one for the space of the affine network


def test_one_pass_serves_maps_and_the_rest():
    found = rs.similarity.compare(
        {name: NETWORKS[name] for name in ("wide", "deep")}, TRAINING, metrics=["map_residual"]
    )
    assert list(found) == ["map_residual", "mapped_agreement", "coefficient_condition_number"]
    assert any("look their best" in note for note in found.notes)
    maps = rs.similarity.coefficient_maps(NETWORKS["wide"], NETWORKS["deep"], TRAINING)
    assert float(cell(found, "map_residual", "wide", "deep")) == pytest.approx(float(maps.residual()), rel=1e-12)


def test_features_of_gates():
    found = rs.similarity.compare(
        {name: NETWORKS[name] for name in ("wide", "deep")}, POINTS, metrics=["cka"], gates=[0, 1]
    )
    own, other = (
        rs.similarity.features(NETWORKS["wide"], POINTS, gate=0),
        rs.similarity.features(NETWORKS["deep"], POINTS, gate=1),
    )
    assert own.shape == (50, 10)
    assert other.min() == 0.0
    assert float(cell(found, "features_cka", "wide", "deep")) == pytest.approx(
        float(rs.similarity.linear_cka(own, other))
    )
    with pytest.raises(InputError, match="gate must be a name or a position among"):
        rs.similarity.features(NETWORKS["wide"], POINTS, gate="relu9")


def test_dead_networks_are_compared():
    """All units off: zero coefficients but for the constants."""
    dead = load([(np.zeros((3, 4)), -np.ones(3)), (np.ones((3, 3)), np.arange(3.0))])
    found = rs.similarity.compare({"dead": dead, "wide": NETWORKS["wide"]}, POINTS, LABELS)
    assert np.isnan(rs.similarity.pair_matrix(found, "cka")[0, 1])
    assert float(cell(found, "map_residual", "wide", "dead")) < 1  # constants may be mapped
    assert cell(found, "map_residual", "dead", "dead").claim == "EXACT"
    assert np.isfinite(found["mapped_accuracy"].value).all()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"networks": {"wide": NETWORKS["wide"]}}, "two or more networks"),
        ({"networks": NETWORKS | {"other": load(parameters([5, 3], 0))}}, "equal inputs, got 4 of wide and 5 of other"),
        ({"networks": NETWORKS | {"other": load(parameters([4, 2], 0))}}, "equally many outputs, got 3 of wide and 2"),
        ({"labels": LABELS[:-1]}, "one label per sample"),
        ({"labels": LABELS + 7}, "labels must be class numbers"),
        ({"metrics": ["cca"]}, "among map_residual, cka"),
        ({"gates": [0]}, "one gate, or None, for each of 4"),
        ({"x": POINTS[:, :3]}, "expected points"),
    ],
)
def test_bad_input_is_one_sentence(given, words):
    arguments = {"networks": NETWORKS, "x": POINTS} | given
    with pytest.raises((InputError, ShapeError), match=words):
        rs.similarity.compare(**arguments)


def test_unknown_table(found):
    with pytest.raises(InputError, match="one of map_residual, mapped_agreement"):
        found["cca"]
    assert len(found) == 16
    assert rs.similarity.compared_networks(found) == tuple(NETWORKS)
    with pytest.raises(InputError, match="all pairs of 3 networks, got 3"):
        rs.similarity.pair_matrix(found.rows([0, 4, 8]), "cka")
    with pytest.raises(InputError, match=r"findings of similarity\.compare, got some by sample"):
        rs.similarity.compared_networks(rs.coefficients.local_norms(NETWORKS["wide"], POINTS[:3]))


def test_networks_of_other_shapes_are_compared_flattened():
    dense = torch.nn.Sequential(torch.nn.Linear(16, 5), torch.nn.ReLU(), torch.nn.Linear(5, 3))
    conv = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(8, 3))
    networks = {"dense": rs.load(dense), "conv": rs.load(conv, input_shape=(1, 4, 4))}
    images = np.random.default_rng(0).normal(size=(6, 1, 4, 4))
    labels = torch.arange(6) % 3
    found = rs.similarity.compare(networks, images, labels, metrics="mapped_accuracy")
    flat = rs.similarity.compare(networks, images.reshape(6, 16), labels.numpy(), metrics=["map_residual"])
    np.testing.assert_array_equal(found["map_residual"].value, flat["map_residual"].value)


def test_rows_of_classes_are_no_labels():
    net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    with pytest.raises(ShapeError, match="argmax"):
        rs.similarity.compare({"a": net, "b": net}, [[1.0, 2.0]], np.eye(2)[:1])


def test_networks_without_names_are_named_by_their_positions():
    named = rs.similarity.compare({"0": NETWORKS["wide"], "1": NETWORKS["deep"]}, POINTS, metrics="cka")
    found = rs.similarity.compare([NETWORKS["wide"], NETWORKS["deep"]], POINTS, metrics="cka")
    assert rs.similarity.compared_networks(found) == ("0", "1")
    np.testing.assert_array_equal(found["cka"].value, named["cka"].value)
    with pytest.raises(InputError, match="a mapping of names to values or a sequence"):
        rs.similarity.compare(NETWORKS["wide"], NETWORKS["deep"])
