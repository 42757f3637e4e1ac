"""``reluscope surface``: where an output equals a level, as a mesh, a picture and numbers."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from matplotlib.figure import Figure

from reluscope import plots
from reluscope.analyses.classification.class_predictions import predicted_classes
from reluscope.budget import Budget
from reluscope.cli.reading.opened_domains import OpenedDomain, open_domain
from reluscope.cli.reading.opened_models import describe_model
from reluscope.cli.regions.surfaces import SurfaceOptions
from reluscope.cli.terminal.ctrl_c import keeping_results
from reluscope.cli.terminal.executors import open_executor
from reluscope.cli.terminal.failures import interrupted, warn
from reluscope.cli.terminal.outputs import (
    PICTURES,
    Outputs,
    plan_outputs,
    print_results,
    said_of,
    write_all,
    write_each,
)
from reluscope.cli.terminal.picture_files import picture_file
from reluscope.cli.terminal.printed_results import open_console, print_numbers, say, several, to_json
from reluscope.cli.terminal.progress_bar import is_watched
from reluscope.errors import InputError
from reluscope.files.mesh_files import KINDS as MESHES
from reluscope.geometry.polyhedra.domains import Box, Slice
from reluscope.networks.network import Network
from reluscope.partitions.levels.level_sets import LevelSet
from reluscope.partitions.levels.level_walk import level_set
from reluscope.stopping import is_interrupted

FORMAT = "reluscope surface 1"
KINDS = {
    **MESHES,
    **dict.fromkeys(PICTURES, "a picture"),
    ".arrow": "all of it, for rs.LevelSet.load",
    ".json": "what --json prints",
}

Color = Literal["region", "normal", "class"]


def surface(given: SurfaceOptions) -> int:
    """Find the level set, print its numbers, write what is asked for, and return the exit code."""
    name, level, color, common = given.model.name, given.level, given.color, given.common
    outputs = plan_outputs(given.output, KINDS, force=given.force)
    _check_materials(outputs, color, force=given.force)
    network, where = open_domain(given.where, given.model, common)
    _check_dimensions(outputs, where)
    with keeping_results(), open_executor(given.workers) as executor, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # interruption is told by the note, and said at the end
        found = level_set(
            network,
            where.domain,
            level=level,
            output=given.outputs,
            plateaus=given.plateaus,
            budget=Budget(regions=given.regions, seconds=given.seconds),
            executor=executor,
            progress=is_watched(common),
            checkpoint=given.checkpoint,
        )
    plain = {**describe(found, network, where, name, outputs), "level": level}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        written = write_each(outputs, lambda path: _write(path, found, network, color, plain), hidden=common.quiet)
    shown = found.outputs if network.left_off is None else _listed(given.outputs)
    title = f"{name}: {' - '.join(f'output {one}' for one in shown)} = {level:g} on {where.words}"
    plain["files"] = [str(path) for path in written]
    print_results(plain, common, lambda: _print(title, found, written))
    for one in said:
        if issubclass(one.category, UserWarning):
            warn(str(one.message))
    if is_interrupted(found.stop) or len(written) < len(outputs.paths):
        return interrupted(said_of(written), found.num_open)
    return 0


def describe(found: LevelSet, network: Network, where: OpenedDomain, model: str, files: Outputs) -> dict[str, Any]:
    """Return what `surface` found, as plain types."""
    window = where.domain.window if isinstance(where.domain, Slice) else where.domain
    assert isinstance(window, Box)
    table = found.findings()
    return {
        "format": FORMAT,
        "model": describe_model(network, model),
        "domain": {
            "kind": where.kind,
            "description": where.words,
            "dimensions": found.dim,
            "low": window.lo.tolist(),
            "high": window.hi.tolist(),
            "samples": list(where.rows),
        },
        "output": list(found.outputs),
        "level": found.level,
        "plateaus": found.plateaus,
        "findings": [table.finding(name).to_dict() for name in table],
        "is_closed": found.is_closed,
        "is_manifold": found.is_manifold,
        "stopped": found.note,
        "num_open": found.num_open,
        "files": [str(path) for path in files.paths],
    }


def _check_materials(files: Outputs, color: Color | None, *, force: bool) -> None:
    """Raise InputError if the colours of an OBJ file would replace a file that nobody named."""
    for path in files.of(".obj"):
        beside = path.with_suffix(".mtl")
        if color is not None and beside.exists() and not force:
            raise InputError(f"{beside} is there already, where the colours of {path} go: add --force to replace it")


def _check_dimensions(files: Outputs, where: OpenedDomain) -> None:
    """Raise InputError, before any work, unless there is a surface or a curve, and a surface for a mesh."""
    dim = where.domain.dim
    if dim not in (2, 3):
        raise InputError(
            f"a level is found in two or three dimensions, got {dim} of {where.words}: name inputs, as in "
            "--inputs 0,1,2"
        )
    if dim == 2 and (meshes := files.of(*MESHES)):
        raise InputError(
            f"{meshes[0]} would be a mesh, which needs three dimensions, got {where.words}: a curve goes to .svg, "
            ".png, .pdf or .arrow"
        )


def _classes(found: LevelSet, network: Network) -> np.ndarray:
    """Return the class inside the region that each piece bounds where f is larger."""
    if not len(found):
        return np.zeros(0, dtype=np.int64)
    points = found.domain.lift(found.witnesses) if isinstance(found.domain, Slice) else found.witnesses
    return predicted_classes(network, points)


def _write(path: Path, found: LevelSet, network: Network, color: Color | None, plain: dict[str, Any]) -> None:
    suffix = path.suffix.lower()
    if suffix in MESHES:
        found.write(path, color=_classes(found, network) if color == "class" else color)
    elif suffix == ".arrow":
        found.save(path)
    elif suffix == ".json":
        write_all({path: to_json(plain) + "\n"})
    else:
        write_all({path: picture_file(_drawn(found, network, color), suffix, "surface")})


def _drawn(found: LevelSet, network: Network, color: Color | None) -> Figure:
    if color == "class" and found.dim == 3:
        return plots.level_set(found, color=_classes(found, network), label="class")
    return plots.level_set(found, color=None if color == "class" else color)


def _listed(output: int | tuple[int, int]) -> tuple[int, ...]:
    return output if isinstance(output, tuple) else (output,)


def _print(title: str, found: LevelSet, written: Sequence[Path]) -> None:
    """Print the numbers, and what the reader has to know of them."""
    console = open_console()
    say(console, title, style="bold")
    table = found.findings()
    print_numbers(console, [table.finding(name) for name in table])
    if not len(found) and not found.num_open:
        say(console, "The level is not crossed there.")
    elif found.is_closed:
        say(console, "The surface is closed." if found.dim == 3 else "The curve is closed.")
    elif not found.num_open:
        say(console, "The sides of the domain cut it open: a larger --box may close it.")
    if found.num_open:
        say(
            console,
            f"The work stopped early ({found.note}) with {several(found.num_open, 'cell')} unfinished, so this is a "
            "part of it: raise --regions or --seconds to see more.",
        )
    if found.num_undecided:
        say(console, f"Too close to zero to decide in float64: {several(found.num_undecided, 'sign')}.")
    seconds = f"{found.work.get('seconds', 0.0):.2f} s"
    listed = ", ".join(map(str, written))
    say(console, f"{seconds}; written: {listed}." if written else f"{seconds}; to keep it, add -o surface.ply.")
