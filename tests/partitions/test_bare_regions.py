"""Partitions that keep codes alone: what needs no vertices is as where they are kept, number for number."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reluscope as rs
from reluscope.errors import InputError
from reluscope.partitions import Partition
from reluscope.testing import default_network
from reluscope.testing.strategies import degenerate_networks

SIZES = [3, 9, 6, 1]
NO_VERTICES = r'are not in a partition that keeps codes alone: partition with keep="vertices"'


@pytest.fixture(scope="module")
def net():
    return rs.load(default_network(SIZES, seed=2))


def both(net, domain, **options) -> tuple[Partition, Partition]:
    return rs.partition(net, domain, **options), rs.partition(net, domain, keep="codes", **options)


def check_same(part: Partition, bare: Partition) -> None:
    assert not bare.has_vertices
    for name in ("claim", "num_undecided", "num_open", "stop"):
        assert getattr(bare, name) == getattr(part, name), name
    assert bare.codes == part.codes
    np.testing.assert_array_equal(bare.witnesses, part.witnesses)
    np.testing.assert_array_equal(bare.is_bounded(), part.is_bounded())
    assert (bare.adjacency() != part.adjacency()).nnz == 0
    for of in (Partition.finding, Partition.adjacency_finding, Partition.boundedness_finding):
        assert of(bare).interval == of(part).interval
    if part.dim > 2:
        np.testing.assert_array_equal(bare.facets.flips, part.facets.flips)


DOMAINS = [
    rs.Box(-1, 1, 3),
    rs.Space(3),
    rs.Polyhedron([[-1.0, 0, 0], [0, -1, 0], [0, 0, -1]], [1.0, 1, 1]),
    rs.Plane([-1.0, -1, 0], [1.0, -1, 0], [0.0, 1, 0.5]),
    rs.Segment([0, 0, 0], [1, 1, 1]),
]


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: domain.describe())
@pytest.mark.parametrize("method", ["auto", "cellwise"])
def test_what_needs_no_vertices_is_the_same(net, domain, method):
    check_same(*both(net, domain, method=method))


def test_with_a_budget(net):
    check_same(*both(net, rs.Box(-1, 1, 3), method="cellwise", budget=rs.Budget(regions=4)))


def test_certified_ones_have_exact_vertices(net):
    part, bare = (rs.certify(one) for one in both(net, rs.Box(-1, 1, 3), method="cellwise"))
    assert bare.codes == part.codes
    np.testing.assert_array_equal(bare.vertices, part.vertices)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 3).flatmap(lambda n: degenerate_networks(num_inputs=n, max_layers=2)),
    st.sampled_from([rs.Box, rs.Space]),
)
def test_degenerate_networks(layers, kind):
    net = rs.load(layers)
    domain = rs.Space(net.num_inputs) if kind is rs.Space else rs.Box(-1, 1, net.num_inputs)
    check_same(*both(net, domain, method="cellwise"))


def test_vertices_are_refused_in_one_sentence(net):
    bare = rs.partition(net, rs.Box(-1, 1, 3), keep="codes")
    for ask in (bare.volumes, lambda: bare.vertices, lambda: bare.region_vertices, lambda: bare.outputs):
        with pytest.raises(InputError, match=NO_VERTICES):
            ask()
    plane = rs.partition(net, DOMAINS[3], keep="codes")
    assert not plane.has_facet_vertices
    with pytest.raises(InputError, match="leave method and keep out"):
        _ = plane.facets_with_ends
    assert "volume" not in bare.to_table().column_names
    assert "regions" in bare._repr_html_()


def test_points_are_found_and_maps_known(net):
    for domain in (DOMAINS[0], DOMAINS[3]):
        part, bare = both(net, domain)
        np.testing.assert_array_equal(bare.locate(part.witnesses), np.arange(len(part)))
        np.testing.assert_array_equal(bare.maps.weight, part.maps.weight)


@pytest.mark.parametrize("domain", [DOMAINS[0], DOMAINS[1], DOMAINS[3]], ids=lambda domain: domain.describe())
def test_a_file_without_vertices_loads_as_such(net, domain, tmp_path):
    bare = rs.partition(net, domain, keep="codes")
    bare.save(tmp_path / "bare.arrow")
    again = Partition.load(tmp_path / "bare.arrow", network=net)
    check_same(bare, again)
    with pytest.raises(InputError, match=NO_VERTICES):
        again.volumes()


def test_the_tree_has_none_to_keep(net):
    part, bare = both(net, DOMAINS[0], method="tree")
    assert bare.codes == part.codes
    assert not part.has_vertices
    assert not bare.has_vertices


def test_lists_of_slices(net):
    slices = [DOMAINS[3], DOMAINS[4], rs.Segment([0, 0, 0], [1, 0, 1])]
    for part, bare in zip(rs.partitions(net, slices), rs.partitions(net, slices, keep="codes"), strict=True):
        check_same(part, bare)


def test_other_words(net):
    with pytest.raises(InputError, match="keep must be"):
        rs.partition(net, DOMAINS[0], keep="corners")
