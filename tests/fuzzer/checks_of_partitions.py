"""The checks of a case: counts and their claims, codes, shapes, neighbours, location of points, files, laws."""

import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from fuzzer import true_cones as cones
from fuzzer.tested_case import DEFAULT_RESOLUTION, SHAPELY, TestedCase, root
from fuzzer.true_layers import Form
from fuzzer.truth import Cell
from reluscope.geometry.numbers.resolutions import TINY

# Relative to the sums of the sizes of terms: rounding of rows, and of maps. Relative to the domain: that of lengths.
ROUNDED_ROWS, ROUNDED, LENGTHS = 1e-14, 1e-12, 1e-7
DEFINITIONS = ("activation", "proper_activation", "convex", "open_connected", "closed_connected", "affine")
METHODS = ("auto", "incidence", "cellwise", "tree")


def check_partitions(subject: TestedCase) -> None:
    """Compare the regions of every engine with the truth, and everything that is known of them."""
    for method in METHODS:
        part = _partition(subject, method)
        if part is None:
            continue
        _check_codes(subject, f"partition {method}", part, DEFAULT_RESOLUTION)
        _check_finding(subject, f"partition {method}", part.finding(), DEFAULT_RESOLUTION)
        if subject.is_shapely and _is_whole(subject, part):
            _check_shapes(subject, method, part)
            _check_maps(subject, method, part)
            _check_places(subject, method, part)


def check_certified(subject: TestedCase) -> None:
    """Compare the certified count with the truth, and check its certificate."""
    import reluscope as rs

    allowed = (rs.errors.InputError,) if subject.jumps else ()
    name = "certify"
    part = subject.attempt(name, lambda: rs.certify(rs.partition(subject.network, subject.domain)), allowed)
    if part is None:
        return
    _check_codes(subject, name, part, 0.0)
    _check_finding(subject, name, part.finding(), 0.0)
    if str(part.claim) != "EXACT":
        subject.fail(f"{name}: not exact", f"certified, but {part.finding()!r}: {part.note}")
    proved = subject.attempt(
        f"{name} certificate",
        lambda: rs.testing.check_certificate(part.certificate, subject.network, subject.domain),
    )
    if proved is not None and proved != len(subject.truth.regions):
        subject.fail(f"{name} certificate", f"it proves {proved}, truth {len(subject.truth.regions)}")


def check_counts(subject: TestedCase) -> None:
    """Compare counts under all definitions."""
    import reluscope as rs

    exactly = subject.is_bounded and subject.dimension <= 2
    for definition in DEFINITIONS:
        name = f"count {definition}"
        # On bounded lines and planes counts other than the default are made in rational arithmetic.
        resolution = 0.0 if exactly and definition != "proper_activation" else DEFAULT_RESOLUTION
        allowed = () if subject.is_bounded else (rs.errors.InputError,)
        if subject.jumps and definition != "proper_activation":
            allowed = (rs.errors.DiscontinuousNetworkError,)
        found = subject.attempt(
            name, lambda d=definition: rs.count(subject.network, subject.domain, definition=d), allowed
        )
        if found is not None:
            _check_definition(subject, name, definition, found, resolution)
    if exactly and not subject.jumps:
        definition = str(subject.generator.choice(DEFINITIONS))
        name = f"count {definition} certify"
        found = subject.attempt(
            name, lambda: rs.count(subject.network, subject.domain, definition=definition, certify=True)
        )
        if found is not None:
            _check_definition(subject, name, definition, found, 0.0)
    found = subject.attempt("count tree", lambda: rs.count(subject.network, subject.domain, method="tree"), ())
    if found is not None:
        _check_finding(subject, "count tree", found, DEFAULT_RESOLUTION)


def check_programs(subject: TestedCase) -> None:
    """Compare activation regions by mixed-integer programs with the truth."""
    import reluscope as rs

    if subject.jumps:
        return
    allowed = () if subject.is_bounded else (rs.errors.InputError,)
    found = subject.attempt(
        "count mip", lambda: rs.count(subject.network, subject.domain, definition="activation", method="mip"), allowed
    )
    if found is not None:
        _check_definition(subject, "count mip", "activation", found, DEFAULT_RESOLUTION)


def check_files(subject: TestedCase) -> None:
    """Save and load partitions."""
    import reluscope as rs

    method = str(subject.generator.choice(METHODS))
    part = _partition(subject, method, quiet=True)
    if part is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "part.arrow"
        name = f"file {method}"
        subject.attempt(name, lambda: part.save(path))
        again = subject.attempt(name, lambda: rs.Partition.load(path, network=subject.network))
        if again is None:
            return
        same = subject.attempt(name, lambda: _compare_files(subject, part, again)) or {}
        for what, is_same in same.items():
            if not is_same:
                subject.fail(f"{name}: {what}", f"{what} differ after save and load")


def _compare_files(subject: TestedCase, part: Any, again: Any) -> dict[str, bool]:
    with_sides = subject.is_shapely and not subject.jumps
    return {
        "codes": subject.rows_of(part.codes) == subject.rows_of(again.codes),
        "witnesses": np.array_equal(part.witnesses, again.witnesses),
        "claim": part.claim == again.claim and part.num_undecided == again.num_undecided,
        "bounded": np.array_equal(part.is_bounded(), again.is_bounded()),
        "adjacency": not with_sides or (part.adjacency() != again.adjacency()).nnz == 0,
        "places": np.array_equal(part.locate(part.witnesses), again.locate(again.witnesses)),
    }


def check_laws(subject: TestedCase) -> None:
    """Check laws of partitions: of restricted networks, in threads, and with a budget."""
    import reluscope as rs

    network, domain = subject.network, subject.domain
    if isinstance(domain, rs.Slice):
        part = subject.attempt("restrict", lambda: rs.partition(network.restrict(domain), domain.window))
        if part is not None:
            _check_codes(subject, "restrict", part, DEFAULT_RESOLUTION)
            _check_finding(subject, "restrict", part.finding(), DEFAULT_RESOLUTION)
    method = str(subject.generator.choice(METHODS))
    if _refuses(subject, method):
        method = "auto"
    most = int(subject.generator.integers(1, len(subject.truth.regions) + 1))
    name = f"budget {method}"
    part = subject.attempt(name, lambda: rs.partition(network, domain, method=method, budget=rs.Budget(regions=most)))
    if part is not None:
        _check_codes(subject, name, part, DEFAULT_RESOLUTION)
        _check_finding(subject, name, part.finding(), DEFAULT_RESOLUTION)
        if not len(part):
            subject.fail(f"{name}: nothing", f"no region for a budget of {most}")
    name = f"executor {method}"
    with ThreadPoolExecutor(1) as executor:
        part = subject.attempt(name, lambda: rs.partition(network, domain, method=method, executor=executor))
    if part is not None:
        _check_codes(subject, name, part, DEFAULT_RESOLUTION)
        _check_finding(subject, name, part.finding(), DEFAULT_RESOLUTION)


def check_regions(subject: TestedCase) -> None:
    """Compare single regions, found from a point, with the truth."""
    import reluscope as rs

    rows = [row for row in range(len(subject.truth.regions)) if subject.is_thick(row, SHAPELY)]
    if not rows or not subject.is_shapely:
        return
    row = int(subject.generator.choice(rows))
    cell = subject.truth.regions[row]
    # Deep inside; from infinite regions a point one step in.
    point = np.array([float(entry) for entry in cell.cone.interior_point()])
    if subject.has_thin_sides(row) or not _is_inside(subject, row, point):
        return
    domain = None if subject.is_space else subject.domain
    found = subject.attempt("region", lambda: rs.region(subject.network, point, domain=domain))
    if found is None:
        return
    if subject.rows_of(found.code) != [cell.code]:
        subject.fail("region: code", f"{subject.rows_of(found.code)} at {point.tolist()}, truth {cell.code}")
        return
    polyhedron = found.polyhedron
    facets = subject.attempt("region facets", polyhedron.facets)
    expected = cones.facets(cell.cone)
    if facets is not None and len(facets) != len(expected):
        subject.fail("region facets", f"{len(facets)} facets at {point.tolist()}, truth {len(expected)}")
    bounded = subject.attempt("region bounded", polyhedron.is_bounded)
    if bounded and _is_endless_but_for_rounding(cell.cone, polyhedron.A):
        return
    if bounded is not None and bool(bounded) != cell.cone.is_bounded:
        subject.fail("region bounded", f"is_bounded() is {bounded} at {point.tolist()}")
    volume = subject.attempt("region volume", polyhedron.volume)
    if volume is not None:
        _compare_volume(subject, "region volume", row, volume)
    vertices = subject.attempt("region vertices", polyhedron.vertices)
    if vertices is not None and not cell.cone.lines and len(vertices) != len(cell.cone.vertices):
        subject.fail("region vertices", f"{len(vertices)} at {point.tolist()}, truth {len(cell.cone.vertices)}")


def _is_endless_but_for_rounding(cone: cones.RationalCone, normals: np.ndarray) -> bool:
    """Tell whether a region is unbounded in a direction that its rows cut off by no more than they are rounded."""
    directions = np.array([[float(entry) for entry in ray[:-1]] for ray in (*cone.rays, *cone.lines) if not ray[-1]])
    if not len(directions):
        return False
    cut_off = normals @ directions.T
    size = np.abs(normals) @ np.abs(directions).T
    return bool((cut_off <= ROUNDED_ROWS * size).all(axis=0).any())


def check_boundary(subject: TestedCase) -> None:
    """Compare the decision boundary with the truth: lengths in the plane, points on a line."""
    import reluscope as rs

    if subject.dimension > 2 or not subject.is_bounded or not subject.is_shapely or subject.jumps:
        return
    part = _partition(subject, "auto", quiet=True)
    if part is None or not _is_whole(subject, part):
        return
    found = subject.attempt("boundary", lambda: rs.decision_boundary(part))
    if found is None:
        return
    _check_boundary(subject, found)


CHECKS: dict[str, Callable[[TestedCase], None]] = {
    "partitions": check_partitions,
    "certified": check_certified,
    "counts": check_counts,
    "programs": check_programs,
    "files": check_files,
    "laws": check_laws,
    "regions": check_regions,
    "boundary": check_boundary,
}


def _refuses(subject: TestedCase, method: str) -> bool:
    """Whether an engine is documented not to cover a case."""
    shares_faces = subject.is_bounded and not subject.jumps
    return (method == "cellwise" and subject.case.has_max) or (method == "incidence" and not shares_faces)


def _partition(subject: TestedCase, method: str, *, quiet: bool = False) -> Any:
    import reluscope as rs

    if quiet:
        try:
            return rs.partition(subject.network, subject.domain, method=method)
        except Exception:
            return None
    allowed = (rs.errors.InputError,) if _refuses(subject, method) else ()
    return subject.attempt(
        f"partition {method}", lambda: rs.partition(subject.network, subject.domain, method=method), allowed
    )


def _is_whole(subject: TestedCase, part: Any) -> bool:
    rows = subject.rows_of(part.codes)
    return len(rows) == len(subject.codes) and set(rows) == subject.codes.keys()


def _check_codes(subject: TestedCase, name: str, part: Any, resolution: float) -> None:
    rows = subject.rows_of(part.codes)
    if len(set(rows)) != len(rows):
        subject.fail(f"{name}: codes", f"{len(rows)} regions with {len(set(rows))} codes")
    shown = _recognized(subject, part, rows) if resolution else set(rows)
    strange = shown - subject.codes.keys()
    if strange:
        subject.fail(
            f"{name}: codes", f"no region has {sorted(strange)[:3]} ({part.claim}, truth {len(subject.codes)})"
        )
    if str(part.claim) == "EXACT":
        missing = subject.required(resolution) - shown
        if missing:
            thickest = max(missing, key=lambda code: _thickness(subject, code))
            subject.fail(
                f"{name}: missing",
                f"EXACT with {len(rows)} regions, truth {len(subject.codes)}; missing {thickest} is "
                f"{_thickness(subject, thickest):.3g} thick",
            )


def _recognized(subject: TestedCase, part: Any, rows: list[tuple[int, ...]]) -> set[tuple[int, ...]]:
    """Return the codes of a partition; those that differ by ties within rounding as they are in truth."""
    shown = set(rows)
    for code, witness in zip(rows, part.witnesses, strict=True):
        if code in subject.codes:
            continue
        for row in subject.truth.containing([Fraction(float(entry)) for entry in witness]):
            if subject.resembles(row, code):
                shown = shown - {code} | {subject.truth.regions[row].code}
    return shown


def _thickness(subject: TestedCase, code: tuple[int, ...]) -> float:
    height = subject.truth.thicknesses_squared[subject.codes[code]]
    return float("inf") if height is None else root(height)


def _check_finding(subject: TestedCase, name: str, finding: Any, resolution: float) -> None:
    _check_interval(subject, name, finding, len(subject.required(resolution)), len(subject.codes))


def _check_definition(subject: TestedCase, name: str, definition: str, finding: Any, resolution: float) -> None:
    """Compare a count with what the definition gives; where slivers may be hidden, only from above or not at all."""
    truth = subject.truth
    slivers = len(subject.required(resolution)) < len(subject.codes)
    if definition == "proper_activation":
        _check_finding(subject, name, finding, resolution)
    elif definition == "convex":
        # Known to lie between the neighbouring definitions; on a line they are all the same.
        most = truth.num_open_connected if subject.dimension == 1 else len(truth.regions)
        _check_interval(subject, name, finding, 0 if slivers else truth.num_open_connected, most)
    else:
        value = {
            "activation": lambda: len(truth.codes),
            "open_connected": lambda: truth.num_open_connected,
            "closed_connected": lambda: truth.num_closed_connected,
            "affine": lambda: len(truth.maps),
        }[definition]()
        if not slivers:
            _check_interval(subject, name, finding, value, value)


def _check_interval(subject: TestedCase, name: str, finding: Any, least: int, most: int) -> None:
    """Compare a finding with a truth that lies from ``least`` to ``most``."""
    truth = f"{least}" if least == most else f"{least} to {most}"
    claim = str(finding.claim)
    wrong = {
        "EXACT": not least <= finding.value <= most,
        "LOWER": finding.value > most,
        "UPPER": finding.value < least,
        "ESTIMATE": False,
    }[claim]
    if finding.interval is not None and claim != "ESTIMATE":
        low, high = finding.interval
        wrong = wrong or low > most or high < least or not low <= finding.value <= high
    if wrong:
        subject.fail(f"{name}: count", f"{finding} by {finding.method!r}, truth {truth}")


def _check_shapes(subject: TestedCase, method: str, part: Any) -> None:
    import reluscope as rs

    rows = [subject.codes[code] for code in subject.rows_of(part.codes)]
    witnesses = subject.attempt(f"witnesses {method}", lambda: part.witnesses)
    if witnesses is not None:
        for row, witness in zip(rows, witnesses, strict=True):
            if not _is_inside(subject, row, witness):
                subject.fail(
                    f"witnesses {method}", f"{witness.tolist()} is not inside {subject.truth.regions[row].code}"
                )
                break
    bounded = subject.attempt(f"bounded {method}", part.is_bounded)
    if bounded is not None:
        expected = [subject.truth.regions[row].cone.is_bounded for row in rows]
        if list(bounded) != expected:
            subject.fail(f"bounded {method}", f"{sum(bounded)} bounded regions, truth {sum(expected)}")
    if method != "tree":
        # Of max gates on unbounded domains, or beside jumps, nothing but the tree knows, which keeps no corners.
        is_alone = subject.case.has_max and (subject.jumps or not subject.is_bounded)
        allowed = (rs.errors.InputError,) if is_alone else ()
        volumes = subject.attempt(f"volumes {method}", part.volumes, allowed)
        for row, volume in zip(rows, volumes if volumes is not None else (), strict=False):
            _compare_volume(subject, f"volumes {method}", row, volume)
    adjacency = None if subject.jumps else subject.attempt(f"adjacency {method}", part.adjacency)
    if adjacency is not None:
        left, right = adjacency.nonzero()
        found = {tuple(sorted((rows[i], rows[j]))) for i, j in zip(left, right, strict=True)}
        expected = {tuple(sorted(pair)) for pair in subject.truth.adjacency}
        finding = part.adjacency_finding()
        _check_interval(subject, f"adjacency {method}", finding, len(expected), len(expected))
        # What is undecided may be a facet whose other side was not found.
        if found - expected or (found != expected and str(finding.claim) == "EXACT"):
            subject.fail(f"adjacency {method}", f"{len(found)} pairs of neighbours, truth {len(expected)}")


def _is_inside(subject: TestedCase, row: int, point: Any) -> bool:
    lifted = (*(Fraction(float(entry)) for entry in point), Fraction(1))
    return all(cones.dot(half, lifted) > 0 for half in subject.truth.regions[row].cone.rows if any(half[:-1]))


def _compare_volume(subject: TestedCase, name: str, row: int, volume: float) -> None:
    expected = subject.truth.volumes[row]
    if expected is None:
        if volume != np.inf:
            subject.fail(name, f"{volume} for an unbounded region")
        return
    # Corners are as exact as their distance from zero allows, be it large beside the domain or all there is to say.
    reach = Fraction(root(subject.extent_squared(row)))
    whole = cones.volume(subject.truth.domain) if subject.is_bounded else reach**subject.dimension
    side = Fraction(float(whole) ** (1 / subject.dimension))
    vertices = subject.truth.regions[row].cone.vertices
    away = Fraction(root(max((Fraction(cones.dot(vertex, vertex)) for vertex in vertices), default=Fraction(0))))
    rounding = Fraction(1, 2**50) * away / side if side else 0
    allowed = Fraction(1, 10**8) * expected + (Fraction(1, 10**11) + rounding) * whole
    if not np.isfinite(volume) or abs(Fraction(float(volume)) - expected) > allowed:
        subject.fail(name, f"{volume}, truth {float(expected)} of {float(whole)}")


def _check_maps(subject: TestedCase, method: str, part: Any) -> None:
    maps = subject.attempt(f"maps {method}", lambda: part.maps)
    if maps is None:
        return
    magnitude = np.array(subject.magnitudes)
    for i, code in enumerate(subject.rows_of(part.codes)):
        outputs = subject.truth.regions[subject.codes[code]].outputs
        expected = np.array([[float(entry) for entry in form] for form in outputs])
        found = np.concatenate([np.asarray(maps.weight[i]), np.asarray(maps.bias[i])[:, None]], axis=1)
        if not (np.abs(found - expected) <= ROUNDED * magnitude + TINY).all():
            subject.fail(f"maps {method}", f"{found.tolist()} for {code}, truth {expected.tolist()}")
            return


def _check_places(subject: TestedCase, method: str, part: Any) -> None:
    rows = [subject.codes[code] for code in subject.rows_of(part.codes)]
    points = _points(subject)
    found = subject.attempt(f"locate {method}", lambda: part.locate(points))
    if found is None:
        return
    for point, row in zip(points, found, strict=True):
        exact = [Fraction(float(entry)) for entry in point]
        near = [i for i, cell in enumerate(subject.truth.regions) if _is_near(subject, i, cell.cone, exact)]
        if row >= 0 and rows[row] not in near:
            subject.fail(f"locate {method}", f"{point.tolist()} is not in row {row}")
            return
        if row < 0 and any(_is_inside(subject, i, point) for i in near) and len(near) == 1:
            subject.fail(f"locate {method}", f"{point.tolist()} is in no row, truth {rows.index(near[0])}")
            return


def _points(subject: TestedCase) -> np.ndarray:
    """Return points of the domain: random ones, vertices, and some outside."""
    corners = [vertex for cell in subject.truth.regions[:20] for vertex in cell.cone.vertices]
    if not corners:
        return subject.generator.normal(size=(5, subject.dimension))
    vertices = np.array([[float(entry) for entry in vertex] for vertex in corners])
    weights = subject.generator.dirichlet(np.ones(len(vertices)), 6)
    picked = vertices[subject.generator.integers(0, len(vertices), 4)]
    middle = vertices.mean(0)
    return np.vstack([weights @ vertices, picked, middle + 3 * (picked - middle)])


def _is_near(subject: TestedCase, row: int, cone: cones.RationalCone, point: list[Fraction]) -> bool:
    """Whether a point lies in a region, or just outside it."""
    margin = Fraction(SHAPELY) ** 2 * subject.extent_squared(row)
    for half in cone.rows[1:]:
        value = cones.dot(half[:-1], point) + half[-1]
        if value < 0 and value * value > margin * cones.dot(half[:-1], half[:-1]):
            return False
    return True


def _check_boundary(subject: TestedCase, found: Any) -> None:
    """Compare total lengths, facets that are boundary counted once."""
    total = 0.0
    if _has_near_ties(subject):
        return
    for cell in subject.truth.regions:
        outputs = _compared_outputs(subject, cell)
        for i, first in enumerate(outputs):
            for j in range(i + 1, len(outputs)):
                tie = tuple(a - b for a, b in zip(first, outputs[j], strict=True))
                if not any(tie[:-1]):
                    continue
                row = cones.integers(tie)
                if cones.signs(cell.cone, row) != (True, True):
                    # Ties on facets depend on both sides: such a case is not compared.
                    if not cones.on(cell.cone, row).is_empty and cones.on(cell.cone, row).rank == subject.dimension:
                        return
                    continue
                part = cones.on(cell.cone, row)
                for k, other in enumerate(outputs):
                    if k not in (i, j):
                        lead = tuple(a - b for a, b in zip(first, other, strict=True))
                        if any(lead):
                            part = cones.above(part, cones.integers(lead))
                        elif k < j:
                            # Three equal outputs: the lowest two tie.
                            return
                ends = part.vertices
                if subject.dimension == 1:
                    total += len(ends)
                elif len(ends) == 2:
                    total += root(sum(((a - b) ** 2 for a, b in zip(*ends, strict=True)), Fraction(0)))
    value = float(found.length) if subject.dimension == 2 else float(len(found))
    if abs(value - total) > LENGTHS * (total + subject.diameter if subject.dimension == 2 else 1.0):
        subject.fail("boundary", f"{value} long, truth {total}")


def _compared_outputs(subject: TestedCase, cell: Cell) -> tuple[Form, ...]:
    """Return the outputs of a cell, with zero before a single one."""
    return cell.outputs if len(cell.outputs) > 1 else ((Fraction(0),) * (subject.dimension + 1), *cell.outputs)


def _has_near_ties(subject: TestedCase) -> bool:
    """Whether outputs differ at some vertex by less than what is known of them, which is a share of the largest."""
    gaps, largest = [], Fraction(0)
    for cell in subject.truth.regions:
        for vertex in cell.cone.vertices:
            values = [cones.dot(form[:-1], vertex) + form[-1] for form in _compared_outputs(subject, cell)]
            largest = max(largest, *map(abs, values))
            gaps += [abs(a - b) for i, a in enumerate(values) for b in values[:i] if a != b]
    return min(gaps, default=largest) < Fraction(SHAPELY) * largest
