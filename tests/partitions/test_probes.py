"""Random ways down the tree: their mean is the number of regions, and hopeless work is seen as such."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
import torch

import reluscope as rs
from reluscope.budget import Budget
from reluscope.errors import InputError
from reluscope.findings import Finding
from reluscope.geometry.polyhedra.domains import Domain
from reluscope.networks.models.from_arrays import from_arrays
from reluscope.partitions.ask import patience
from reluscope.partitions.ask.patience import Patience, patient
from reluscope.partitions.tree.probes import Probe, probes


def layers(*sizes: int, seed: int = 0) -> rs.Network:
    """Return a random network."""
    draw = np.random.default_rng(seed)
    return from_arrays([(draw.standard_normal((b, a)), draw.standard_normal(b)) for a, b in pairwise(sizes)])


class MaxNet(torch.nn.Module):
    """Maxout of three candidates, then another."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = torch.nn.Linear(2, 9).double(), torch.nn.Linear(3, 6).double()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Apply both."""
        hidden = self.first(x).reshape(-1, 3, 3).amax(2)
        return self.second(hidden).reshape(-1, 2, 3).amax(2)


def taken(network: rs.Network, domain: Domain, number: int) -> list[Probe]:
    """Return so many probes."""
    found = probes(network, domain, seconds=600.0)
    return [next(found) for _ in range(number)]


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("network", "domain"),
    [
        (layers(3, 5, 4, 1), rs.Box(-1, 1, 3)),
        (layers(2, 4, 4, 1), rs.Space(2)),
        (rs.load(MaxNet(), input_shape=(2,)), rs.Box(-2, 2, 2)),
    ],
    ids=["box", "space", "maxout"],
)
def test_the_mean_of_the_products_is_the_number_of_regions(network: rs.Network, domain: Domain) -> None:
    products = np.array([probe.product for probe in taken(network, domain, 400)], dtype=float)
    truth = len(rs.partition(network, domain))
    assert abs(products.mean() - truth) < 5 * products.std() / np.sqrt(len(products))
    assert 4 * products.std() / np.sqrt(len(products)) < truth  # or else the line above says little


def test_gates_with_several_breakpoints() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.Hardtanh()).double()
    with torch.no_grad():
        model[0].weight.fill_(1.0)
        model[0].bias.zero_()
    network = rs.load(model, input_shape=(1,))
    products = {probe.product for probe in taken(network, rs.Box(-3, 3, 1), 40)}
    assert products == {2, 4}  # of three pieces in a row, one is parted off first, and the others then


def test_a_cut_network_has_as_many_as_signs() -> None:
    net = from_arrays([(np.eye(60), np.zeros(60)), (np.ones((1, 60)), np.zeros(1))])
    found = rs.count(net, rs.Space(60), method="probes", budget=rs.Budget(seconds=1))
    assert (found.value, found.claim, found.interval) == (2.0**60, "ESTIMATE", None)


def test_a_hopeless_count_stops_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "BEFORE_PROBES", 0.1)
    monkeypatch.setattr(patience, "SECONDS_OF_PROBES", 0.1)
    net = layers(40, 60, 4)
    for run in (rs.count, rs.partition):
        with pytest.warns(UserWarning, match=r"about 10\^\d\d regions"):
            result = run(net, rs.Box(-1, 1, 40))  # else it would not come back
        finding = result if isinstance(result, Finding) else result.finding()
        assert finding.claim == "LOWER"
        assert finding.interval is not None
        assert int(finding) > 1
        assert finding.interval[1] == np.inf
    assert "hopeless" in result.note


def test_work_that_ends_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "LONGEST", 0.0)
    monkeypatch.setattr(patience, "SECONDS_OF_PROBES", 0.1)
    net = layers(3, 8, 8, 1)
    number = len(rs.partition(net, rs.Box(-1, 1, 3), budget=rs.Budget(seconds=float("inf"))))
    found = rs.count(net, rs.Box(-1, 1, 3), method="tree")
    assert (int(found), found.claim) == (number, "EXACT")
    assert len(rs.partition(net, rs.Box(-1, 1, 3))) == number


def test_a_limit_or_a_checkpoint_is_a_word(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "LONGEST", 0.0)
    monkeypatch.setattr(patience, "MAX_COUNTED", 0)
    net = layers(3, 4, 1)
    assert isinstance(patient(Budget(), net, rs.Space(3)), Patience)
    for budget in (Budget(regions=5), Budget(seconds=float("inf"))):
        assert patient(budget, net, rs.Space(3)) is budget
    kept = rs.count(net, rs.Space(3), method="tree", checkpoint=tmp_path / "count")
    assert kept.claim == "EXACT"


@pytest.mark.slow
def test_a_verdict_travels() -> None:
    budget = Patience(network=layers(30, 60, 1), domain=rs.Box(-1, 1, 30), most=1000)
    with pytest.warns(UserWarning, match="LOWER"):
        answer = budget.foresee()
    assert str(answer).startswith("hopeless: about 10^")
    assert pickle.loads(pickle.dumps(budget)).spent(0, 0.0) == answer


@pytest.mark.parametrize(("inputs", "first"), [(2, 10**6), (30, 10**3)])
def test_no_clock_decides_when_work_is_seen_to_be_hopeless(monkeypatch: pytest.MonkeyPatch, inputs, first) -> None:
    """Whether probes are asked hangs on the regions that were found, not on the seconds that they took."""
    clock, asked = [0.0], []
    monkeypatch.setattr(patience.time, "time", lambda: clock[0])
    monkeypatch.setattr(patience, "probes", lambda *_, **given: asked.append(given) or [Probe(1, True)])
    net, spent = layers(inputs, 60, 1), []
    for seconds in (0.0, 500.0):
        clock[0], budget = seconds, patient(Budget(), net, rs.Box(-1, 1, inputs))
        for number in (1, first, 100 * first):
            budget.spent(number, 0.0)
            spent.append(len(asked))
    assert spent == [0, 0, 1, 1, 1, 2]
    assert asked[0] == asked[1]
    assert "seconds" not in asked[0]


def test_an_executor_is_not_given_hopeless_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    from concurrent.futures import ThreadPoolExecutor

    monkeypatch.setattr(patience, "SECONDS_OF_PROBES", 0.1)
    with ThreadPoolExecutor(2) as executor, pytest.warns(UserWarning, match="about"):
        found = rs.count(layers(40, 60, 4), rs.Box(-1, 1, 40), executor=executor)
    assert found.claim == "LOWER"


def test_probes_are_as_many_as_programs_suffice_for() -> None:
    net = layers(3, 5, 4, 1)
    found = list(probes(net, rs.Box(-1, 1, 3), programs=40))
    assert [probe.is_whole for probe in found] == [True] * 4 + [False] * (len(found) - 4)  # nine units each
    again = taken(net, rs.Box(-1, 1, 3), 4)
    assert [probe.product for probe in found[:4]] == [probe.product for probe in again]


def test_what_probes_cannot_do() -> None:
    net = layers(2, 3, 1)
    with pytest.raises(InputError, match="give seconds"):
        rs.count(net, rs.Space(2), method="probes", budget=rs.Budget(regions=5))
    with pytest.raises(InputError, match="not one way"):
        rs.count(net, rs.Space(2), method="probes", budget=rs.Budget(seconds=0))
    with pytest.raises(InputError, match="proper_activation"):
        rs.count(net, rs.Space(2), method="probes", definition="affine")
