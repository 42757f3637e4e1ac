"""The studies of sattelberg2026, chapter 3: printed numbers, records that are taken up, what networks have right."""

import re
from fractions import Fraction

import numpy as np
import pytest

import reluscope as rs
from reluscope.studies import Setting
from reluscope_studies import boolean, plots
from reluscope_studies.sattelberg2026_ch3 import _cells, _networks, atlas, classes, local_optima, ten_inputs
from reluscope_studies.sattelberg2026_ch3._cells import Cell

pytestmark = pytest.mark.slow

TEN = ten_inputs.Plan(3, (2, 4), (1, 2), 2, 2, ((3,), (3, 3)), (5, 6), 2, 3, 40, 1)


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(atlas, "WIDTHS", range(2, 5))
    monkeypatch.setattr(atlas, "DEPTHS", range(1, 3))
    monkeypatch.setitem(atlas.TRIALS, "small", 1)
    monkeypatch.setattr(_cells, "EPOCHS", 10)


def test_first_networks_have_he_s_weights_and_usual_biases():
    stack = _networks.first_networks((40, 30), num_inputs=8, seeds=range(300), leak=0.1)
    for weight, bias in zip(stack.weights, stack.biases, strict=True):
        reads = weight.shape[2]
        assert float(weight.var()) == pytest.approx(2 / (1 + 0.1**2) / reads, rel=0.03)
        assert float(bias.abs().max()) <= reads**-0.5
        assert float(bias.var()) == pytest.approx(1 / reads / 3, rel=0.2)


def test_right_inputs_are_those_of_a_plain_forward_pass():
    functions = tuple(boolean.BooleanFunction(4, number) for number in (27030, 1, 0))
    seeds = _networks.seeds_of(Setting("small", seed=3), (1,), 5, 3)
    learned = _networks.learn(functions, (3, 2), seeds, leak=0.1, epochs=0, device="cpu")
    stack = _networks.first_networks((3, 2), num_inputs=4, seeds=seeds.ravel().tolist(), leak=0.1)
    for place, (trial, column) in enumerate(np.ndindex(seeds.shape)):
        value = _networks.signed_inputs(4)
        layers = stack.layers(place)
        for index, (weight, bias) in enumerate(layers):
            value = value @ weight.T.astype(float) + bias
            value = np.where(value > 0, value, 0.1 * value) if index + 1 < len(layers) else value
        right = int(((value[:, 0] > 0) == functions[column].values).sum())
        assert learned.right[trial, column] == right
        assert (learned.epochs[trial, column] == 0) == (right == 16)


def test_networks_that_succeed_have_all_inputs_right():
    functions = tuple(one for one, _ in boolean.npn_classes(4)[1::37])
    seeds = _networks.seeds_of(Setting("small"), (0,), 4, len(functions))
    more = _networks.seeds_of(Setting("small"), (0,), 6, len(functions))
    assert np.array_equal(seeds, more[:4])
    learned = _networks.learn(functions, (6,), seeds, leak=0.1, epochs=300, device="cpu")
    assert ((learned.epochs >= 0) == (learned.right == 16)).all()
    assert 0.5 < (learned.epochs >= 0).mean() < 1


def test_the_atlas_at_a_tiny_size_goes_on(few, monkeypatch):
    setting = Setting("small")
    learn, calls = _cells.learn, []

    def stop_at_the_fourth(*args, **options):
        calls.append(args)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return learn(*args, **options)

    monkeypatch.setattr(_cells, "learn", stop_at_the_fourth)
    part = atlas.protocol(setting)
    assert part.interrupted
    assert len(setting.records) == 3
    assert len(part.findings) == 2 * 3
    whole = atlas.protocol(setting)
    assert not whole.interrupted
    assert len(calls) == 4 + 9
    kept = setting.records["atlas-0.1-3x2"].arrays["epochs"]
    assert np.array_equal(_cells.cell(setting, 3, 2, 0.1, 1).epochs, kept)
    assert len(calls) == 4 + 9
    fresh = _cells.cell(Setting("small"), 3, 2, 0.1, 1)
    assert np.array_equal(fresh.epochs, kept)
    assert len(calls) == 4 + 10
    names = ["atlas-sizes", "hardest-relu", "hardest-leaky", "atlas-classes"]
    assert [picture.name for picture in whole.pictures] == names
    for printed, table in zip(atlas.PRINTED.values(), whole.tables[::2], strict=False):
        assert {*map(str, printed)} <= {row[0] for row in table.rows}
    for table in (whole.tables[1], whole.tables[3]):
        assert sum(int(number) for row in table.rows for number in row[1:]) == 222


def test_two_leaky_units_of_one_layer_compute_a_class_of_swaps_value_five():
    # As the atlas found them at the small size, seed 0; in rational arithmetic.
    inner = [[(0.8255257, -1.5066901, 0.837278, 0.8066561), 2.2684562]]
    inner += [[(2.481366, -2.124513, 1.0617868, 1.0675138), -0.35212278]]
    found = []
    for x in boolean.all_inputs(4).tolist():
        seen = [
            sum(Fraction(str(one)) * (2 * bit - 1) for one, bit in zip(w, x, strict=True)) + Fraction(str(b))
            for w, b in inner
        ]
        first, second = (one if one > 0 else one / 10 for one in seen)
        found.append(Fraction("-2.1994655") * first + Fraction("3.4299753") * second + Fraction("1.700767") > 0)
    assert boolean.BooleanFunction.of_values(found).number == 1785
    assert int(boolean.swaps(boolean.BooleanFunction(4, 1785)).value) == 5


def test_what_counts_as_hardest():
    rates = np.full(222, 0.5)
    assert atlas.hardest_of(rates) == []
    rates[[3, 221]] = 0.2, 0.21
    representatives = [one.number for one, _ in boolean.npn_classes(4)]
    assert atlas.hardest_of(rates) == [representatives[3], 27030]
    rates[3] = 0.19
    assert atlas.hardest_of(rates) == [representatives[3]]
    # By one trial class 3 is hardest and by the other 27030, by both together neither of them alone.
    epochs = np.ones((2, 222), dtype=np.int16)
    epochs[0, 3] = epochs[1, 221] = -1
    both = atlas._Classes(0.0, [Cell(2, 1, 0.0, epochs)])
    assert (dict(both.counts), *map(dict, both.halves)) == (
        {representatives[3]: 1, 27030: 1}, {representatives[3]: 1}, {27030: 1}
    )  # fmt: skip
    assert "by the first half 0 are among" in both.hardest().caption
    cell = Cell(2, 1, 0.0, np.array([[-1, 5, -1], [3, -1, -1]], dtype=np.int16))
    assert cell.rates.tolist() == [0.5, 0.5, 0.0]
    assert (int(cell.solved), int(cell.never_solved)) == (2, 1)


def test_the_printed_solutions_are_steady_states():
    counts = [count for printed in local_optima.PRINTED.values() for count in printed]
    assert len(counts) == 15
    assert {local_optima.case_of(state) for state in boolean.steady_states()} >= {*local_optima.PRINTED}
    case = ("0", "100", "011")
    assert local_optima.mirrored(case) == {case, ("0", "011", "100"), ("0", "001", "110"), ("0", "110", "001")}


def test_local_optima_are_found_as_often_as_printed(monkeypatch):
    monkeypatch.setattr(local_optima, "STARTS", dict([*local_optima.STARTS.items()][:2]))
    outcome = local_optima.protocol(Setting("small"))
    distances = [float(number) for number in re.findall(r"([\d.]+) \(", outcome.sentences[1])]
    assert len(distances) == 2
    assert distances[0] < 10 < 20 < distances[1]
    by_loss = {row[0]: [int(number) for number in row[2:]] for row in outcome.tables[1].rows}
    assert np.sum([*by_loss.values()], axis=0).tolist() == [1000] * 2
    assert max(by_loss["none of these"]) < 20
    assert [len(table.rows) for table in outcome.tables] == [14, 4]


def test_classes():
    setting = Setting("small", points=3)
    outcome = classes.protocol(setting)
    values = {finding.name: finding.value for finding in outcome.findings}
    distribution = [values[f"functions of swaps value {value}"] for value in range(6)]
    assert distribution == [2, 1880, 14244, 30216, 19002, 192]
    sums = [values[f"sum of {name} over the classes"] for name in ("degrees", "influences", "entropies")]
    assert sums == pytest.approx([820, 444, 608.88255], abs=5e-6)
    assert [row[2] for row in outcome.tables[0].rows] == [*(f"{n} (EXACT)" for n in (1, 2, 3, 5)), "9 (LOWER)"]
    assert len(outcome.pictures) == 9
    shares = [float(one) for name, one in zip(values, outcome.findings, strict=False) if "five inputs of swaps" in name]
    assert sum(shares) == pytest.approx(1)
    five = setting.records["five"].arrays["values"]
    assert len(five) == 3
    assert all(2 <= value <= 9 for value in five)
    assert [row[0] for row in outcome.tables[-1].rows] == [str(value) for value in sorted({*five.tolist()})]


def test_functions_of_many_inputs():
    (parity,) = ten_inputs.functions_of(ten_inputs.PARITY, 10, 5, 0)
    mixed = ten_inputs.functions_of(ten_inputs.MIXED, 10, 1, 0)
    assert len(mixed) == 222
    assert mixed[0] == parity
    # The representative of parity is that of four inputs: six are left.
    assert int(boolean.degree(mixed[-1])) == 6
    assert len({*ten_inputs.functions_of(ten_inputs.RANDOM, 10, 5, 0)}) == 5


def test_ten_inputs_at_a_tiny_size(monkeypatch):
    monkeypatch.setitem(ten_inputs.PLANS, "small", TEN)
    setting = Setting("small")
    outcome = ten_inputs.protocol(setting)
    assert len(setting.records) == 2 * 4 + 2 * 2 * 3
    assert len(outcome.findings) == len(setting.records)
    assert {finding.claim for finding in outcome.findings} == {rs.Claim.EXACT}
    assert len(outcome.pictures) == 3
    assert [len(table.rows) for table in outcome.tables] == [6, 3]

    def stop(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(ten_inputs, "learn", stop)
    assert not ten_inputs.protocol(setting).interrupted
    assert ten_inputs.protocol(Setting("small")).interrupted


def test_pictures_of_little():
    figure = plots.success_grids({"a": np.array([[np.nan, 0.004], [0.996, 1.0]])}, widths=[2, 3], depths=[1, 2])
    assert [text.get_text() for text in figure.axes[0].texts] == ["–", "<1", ">99", "100"]
    with pytest.raises(rs.errors.ShapeError, match="by width and depth"):
        plots.success_grids({"a": np.zeros((1, 2))}, widths=[2, 3], depths=[1, 2])
    with pytest.raises(rs.errors.ShapeError, match="one for every row"):
        plots.counts_beside(np.zeros(2), {}, rows=["a"], label="networks")
    none = np.zeros(0, dtype=int)
    for figure in (
        plots.success_grids({}, widths=[], depths=[]),
        plots.counts_beside(none, {}, rows=[], label="networks"),
        plots.sorted_measures({}, order=none, groups=none, names=[]),
        plots.performance_by_measure({}, measures=[], label="right"),
        plots.performance_by_dimension({}, measures=["degree"], dimensions=[], label="right"),
    ):
        assert rs.plots.to_png(figure).startswith(b"\x89PNG")
