"""Claims about samples: accuracies, errors of regression, norms and volumes, with each doubt by itself."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import beta

import reluscope as rs
from networks.models import layers
from oracles.rational_steps import affine, fractions_of, network_of
from reluscope.analyses.bodies import volumes
from reluscope.analyses.bodies.volumes import region_volumes
from reluscope.analyses.classification.class_predictions import _is_apart, accuracy_of_outputs, is_close
from reluscope.analyses.coefficients.jacobian_norms import _num_apart
from reluscope.analyses.samples.regression import fits
from reluscope.networks.evaluation.rounded_forward import RoundedForward
from reluscope.networks.point_evaluation import Evaluation


def forward(outputs, errors):
    outputs = np.array(outputs, dtype=np.float64)
    errors = np.broadcast_to(np.array(errors, dtype=np.float64), outputs.shape)
    return RoundedForward(outputs, errors, np.zeros((len(outputs), 0), dtype=bool))


def test_outputs_are_close_if_both_their_errors_together_bridge_the_gap():
    outputs = [[1.0, 2.0]] * 6 + [[2.0, 2.0]]
    errors = [[0.0, 0.0], [0.6, 0.0], [0.0, 0.6], [0.6, 0.6], [1.0, 0.0], [0.0, 1.0], [9.0, 9.0]]
    assert is_close(forward(outputs, errors)).tolist() == [False, False, False, True, True, True, False]
    single = is_close(forward([[1.0], [1.0], [0.0], [-1.0]], [[0.5], [1.0], [1.0], [2.0]]))
    assert single.tolist() == [False, True, False, True]


def test_classes_are_apart_if_bounds_leave_a_gap_between_them():
    """Of equal scores the lowest wins, so that bounds that touch leave it open which one does."""
    gaps = [0.0, 0.25, 0.5, 0.75, 1.0]
    for first, second in product(gaps, gaps):
        errors = np.array([[first, second, 0.0]])
        for outputs in ([2.0, 3.0, -1.0], [3.0, 2.0, -1.0]):
            assert _is_apart(np.array([outputs]), errors[:, : len(outputs)])[0] == (first + second < 1)
    single = _is_apart(np.array([[1.0], [-1.0], [1.0], [-1.0], [0.0]]), np.array([[0.5], [0.5], [1.0], [1.0], [0.0]]))
    assert single.tolist() == [True, True, False, False, False]


def test_accuracy_lies_between_all_doubts_wrong_and_all_right():
    labels = np.array([1, 1, 0, 0])
    found = accuracy_of_outputs(forward([[1.0, 2.0]] * 4, [[0.0], [0.6], [0.0], [0.6]]), labels)
    assert (found.value, found.claim, found.interval, found.num_undecided) == (0.5, "ESTIMATE", (0.25, 0.75), 2)
    sure = accuracy_of_outputs(forward([[1.0, 2.0]] * 4, 0.1), labels)
    assert (sure.value, sure.claim, sure.interval, sure.num_undecided) == (0.5, "EXACT", None, 0)


@pytest.mark.parametrize(("offset", "target"), [(0.0, 1e15), (1e8, 0.0), (0.0, 0.1)])
def test_ends_of_regression_hold_the_rounding_of_outputs_and_of_their_difference_to_targets(offset, target):
    for seed in range(10):
        generator = np.random.default_rng(seed)
        step = affine(generator.normal(size=(1, 3)), [offset])
        points = generator.normal(size=(1, 3))
        goal = target * generator.uniform(1, 2, (1, 1)) + offset
        exact = sum(
            (w * v for w, v in zip(fractions_of(step[1][0]), fractions_of(points[0]), strict=True)), Fraction(offset)
        )
        exact -= Fraction(goal[0, 0])
        found = fits(network_of([step], 3), points, goal)
        for name in ("mean_absolute_error", "root_mean_squared_error"):
            assert Fraction(found[name].lower[0]) <= abs(exact) <= Fraction(found[name].upper[0])


@pytest.mark.parametrize(
    ("offset", "spread", "miss"), [(0.0, 1.0, 0.1), (1e9, 1e-4, 1.0), (1e8, 1.0, 1e-8), (0.0, 1e12, 1e-3)]
)
def test_ends_of_the_coefficient_of_determination_hold_it(offset, spread, miss):
    """Targets that hardly differ have a variance that is all rounding, unless it is asked of their differences."""
    off = 0
    for seed in range(12):
        generator = np.random.default_rng(seed)
        step, points = affine(generator.normal(size=(1, 2)), [0.0]), generator.normal(size=(5, 2))
        goal = offset + spread * generator.normal(size=(5, 1))
        step[1][:], points[:, 0], points[:, 1] = [[1.0, 3.0]], goal[:, 0], miss * generator.normal(size=5)
        outputs = [
            sum(w * v for w, v in zip(fractions_of(step[1][0]), fractions_of(row), strict=True)) for row in points
        ]
        truth = fractions_of(goal[:, 0])
        mean = sum(truth) / 5
        exact = 1 - sum((f - y) ** 2 for f, y in zip(outputs, truth, strict=True)) / sum((y - mean) ** 2 for y in truth)
        found = fits(network_of([step], 2), points, goal)["coefficient_of_determination"]
        assert Fraction(found.lower[0]) <= exact <= Fraction(found.upper[0])
        assert Fraction(found.lower[0]) < exact or found.lower[0] == found.value[0]
        off += Fraction(found.value[0]) > exact
    assert off  # where the upper end alone would not do


def test_norms_are_between_what_rounding_may_make_of_them(monkeypatch):
    from reluscope.analyses.coefficients import jacobian_norms as module

    net, points = rs.load(layers([3, 4, 2], seed=0)), np.random.default_rng(0).normal(size=(5, 3))
    monkeypatch.setattr(Evaluation, "map_errors", property(lambda at: np.full((len(at), 2), [0.3, 0.4])))
    found = module.local_norms(net, points, margins=True)
    for name, error in (("spectral_norm", 0.5), ("frobenius_norm", 0.5), ("margin_slope", 0.7)):
        column = found[name]
        assert column.lower == pytest.approx(np.maximum(column.value - error, 0.0))
        assert column.upper == pytest.approx(column.value + error)
        assert set(column.claims) <= {"ESTIMATE", "UPPER"}


def test_different_maps_are_counted_as_far_as_they_are_told_apart():
    values = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 3.0], [1.5, 3.0], [0.0, 0.4]])
    for error, number in ((0.375, 3), (0.15, 5), (0.2, 4)):  # a difference of both errors is none
        assert _num_apart(values, np.full(5, error)) == number
    # Each row has its own error: a wide one among narrow ones joins those it may be equal to.
    line = np.array([[0.0], [1.0], [2.0], [10.0]])
    assert _num_apart(line, np.array([0.1, 0.1, 0.1, 8.5])) == 3
    assert _num_apart(line, np.array([0.1, 0.1, 0.1, 9.5])) == 2
    assert _num_apart(line, np.array([3.0, 0.1, 0.1, 0.1])) == 2  # the first one reaches beyond the second
    assert _num_apart(np.zeros((0, 3)), np.zeros(0)) == 0


def test_no_more_maps_than_codes(monkeypatch):
    from reluscope.analyses.coefficients import jacobian_norms as module

    net = rs.load(layers([3, 4, 2], seed=0))
    points = np.random.default_rng(0).normal(size=(20, 3))
    number = len(net.codes(points).unique())
    monkeypatch.setattr(module, "_num_apart", lambda values, errors: 99)
    found = module.local_norms(net, points).finding("num_different_maps")
    assert (found.value, found.claim) == (number, "EXACT")


def test_volumes_exact_in_few_dimensions_and_else_with_intervals_of_clopper_and_pearson():
    part = rs.partition(rs.load(layers([2, 4, 1], seed=0)), rs.Box(-1, 1, 2))
    for method in ("auto", "exact"):
        found = region_volumes(part, method=method)["region_volume"]
        assert found.is_exact.all()
        assert found.upper - found.lower == pytest.approx(0.0, abs=1e-8)
        assert found.value.sum() == pytest.approx(4.0)
    drawn = region_volumes(part, method="sampling", num_samples=3000, seed=5)["region_volume"]
    assert set(drawn.claims) == {"ESTIMATE"}
    assert drawn.value.sum() == pytest.approx(4.0)
    hits = np.round(drawn.value / 4 * 3000)
    assert drawn.lower / 4 == pytest.approx(np.where(hits > 0, beta.ppf(0.025, hits, 3001 - hits), 0.0))
    assert drawn.upper / 4 == pytest.approx(np.where(hits < 3000, beta.ppf(0.975, hits + 1, 3000 - hits), 1.0))
    assert (
        region_volumes(part, method="sampling", num_samples=3000, seed=5)["region_volume"].value.tolist()
        == drawn.value.tolist()
    )
    assert (
        region_volumes(part, method="sampling", num_samples=3000, seed=6)["region_volume"].value.tolist()
        != drawn.value.tolist()
    )
    assert region_volumes(part, method="sampling", num_samples=1)["region_volume"].value.sum() == pytest.approx(4.0)
    with pytest.raises(rs.errors.InputError, match="at least 1, got 0"):
        region_volumes(part, method="sampling", num_samples=0)["region_volume"]


def test_samples_come_in_batches_that_add_up(monkeypatch):
    part = rs.partition(rs.load(layers([2, 4, 1], seed=0)), rs.Box(-1, 1, 2))
    whole = region_volumes(part, method="sampling", num_samples=50, seed=1)["region_volume"]
    monkeypatch.setattr(volumes, "BATCH_NUMBERS", 6 * 7)  # seven points at a time
    told = []
    monkeypatch.setattr(
        volumes,
        "_hits",
        lambda *arguments, proper=volumes._hits: (told.append(len(arguments[2])), proper(*arguments))[1],
    )
    shares: list[float] = []
    found = region_volumes(part, method="sampling", num_samples=50, seed=1, progress=shares.append)["region_volume"]
    assert told == [7] * 7 + [1]
    assert shares[-8:] == pytest.approx([*(7 * batch / 50 for batch in range(1, 8)), 1.0])
    assert found.value.tolist() == whole.value.tolist()


def test_codes_that_no_region_has_are_located_among_others_that_have_one():
    part = rs.partition(rs.load(layers([2, 4, 1], seed=0)), rs.Box(-1, 1, 2))
    points = np.random.default_rng(0).uniform(-1, 1, (60, 2))
    numbers = {row.tobytes(): index for index, row in enumerate(np.ascontiguousarray(part.codes.words))}
    whole = volumes._hits(part, numbers, points)
    fewer = {key: index for key, index in numbers.items() if index}
    assert whole[0] > 0
    assert volumes._hits(part, fewer, points).tolist() == whole.tolist()
    assert volumes._hits(part, numbers, points[:0]).tolist() == [0] * len(part)


def test_domains_that_are_no_boxes_are_sampled_from_a_box_around_them():
    net, triangle = (
        rs.load(layers([2, 4, 1], seed=0)),
        rs.Polyhedron([[-1.0, 0.0], [0.0, -1.0], [1.0, 2.0]], [1.0, 1.0, 1.0]),
    )
    part = rs.partition(net, triangle)
    drawn, exact = (
        region_volumes(part, method=method, num_samples=4000, confidence=0.999)["region_volume"]
        for method in ("sampling", "exact")
    )
    assert ((drawn.lower <= exact.value) & (exact.value <= drawn.upper)).all()
    assert drawn.value.sum() == pytest.approx(triangle.volume(), rel=0.1)
    for domain in (rs.Space(2), rs.Polyhedron([[-1.0, 0.0]], [1.0])):
        with pytest.raises(rs.errors.InputError, match="bounded domain"):
            region_volumes(rs.partition(net, domain), method="sampling")


@pytest.mark.parametrize("most", [1, 2])
def test_volumes_are_exact_up_to_some_dimension(monkeypatch, most):
    monkeypatch.setattr(volumes, "MAX_EXACT_DIMENSIONS", most)
    part = rs.partition(rs.load(layers([2, 4, 1], seed=0)), rs.Box(-1, 1, 2))
    assert region_volumes(part, num_samples=10)["region_volume"].is_exact.all() == (most == 2)


@pytest.mark.parametrize("confidence", [0.0, 1.0, -0.5, 2.0])
def test_confidences_are_between_0_and_1(confidence):
    part = rs.partition(rs.load(layers([2, 4, 1], seed=0)), rs.Box(-1, 1, 2))
    with pytest.raises(rs.errors.InputError, match="confidence"):
        region_volumes(part, method="sampling", num_samples=10, confidence=confidence)
