"""``reluscope reach``: the states of a network in closed loop with a linear plant, step by step."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from reluscope import plots
from reluscope.analyses.reachability import Plant, ReachableSets
from reluscope.analyses.reachability.closed_loop import check_fits
from reluscope.analyses.reachability.reachable_sets import reach as find
from reluscope.arguments import read_axes
from reluscope.cli.properties.kept_sets import kinds_of, write_kept
from reluscope.cli.properties.verifying import ReachOptions, budget_of
from reluscope.cli.reading.box_options import box_of
from reluscope.cli.reading.opened_models import describe_model, open_model
from reluscope.cli.terminal.ctrl_c import keeping_results
from reluscope.cli.terminal.device_names import open_device
from reluscope.cli.terminal.failures import about, interrupted
from reluscope.cli.terminal.outputs import PICTURES, plan_outputs, print_results, said_of
from reluscope.cli.terminal.printed_results import add_row, make_table, open_console, say
from reluscope.cli.terminal.progress_bar import show_progress
from reluscope.errors import InputError
from reluscope.geometry.polyhedra.domains import Box
from reluscope.stopping import is_interrupted

FORMAT = "reluscope reach 1"
KINDS = kinds_of("step", "rs.reachability.ReachableSets.load")
# Exit codes: all states stay within, some surely leave, and neither is known.
WITHIN, LEFT, OPEN = 0, 3, 4
IN_WORDS = {True: "yes", False: "no", None: "not known"}
# States whose ends are printed.
MAX_SHOWN = 4


def reach(given: ReachOptions) -> int:
    """Find the states, print them step by step, write what is asked for, and return the exit code."""
    model, plant, common = given.model, given.plant, given.common
    planned = plan_outputs(given.output, KINDS, force=given.force)
    moved = read_plant(plant)
    number = len(moved.A)
    start = box_of(given.box, number, every="all states")
    safe = box_of(given.within, number, every="all states", option="--within") if given.within else None
    if planned.of(*PICTURES) and start.dim > 1:  # one state is drawn over the steps
        read_axes(given.axes, "states", start.dim)
    device = open_device(common.device)
    with show_progress(hidden=common.quiet) as bar:
        network = open_model(model, device, bar)
        with about(plant):
            check_fits(network, moved)
        tell = bar.telling("Following all states")
        with keeping_results():
            budget = budget_of(given.regions, given.seconds)
            found = find(network, moved, start, given.steps, budget=budget, progress=tell)
    kept: list[bool | None] = [None] * len(found) if safe is None else found.within(safe.polyhedron)
    plain = {
        "format": FORMAT,
        "model": describe_model(network, model.name),
        "plant": {"name": plant.name, "states": len(moved.A), "controls": moved.B.shape[1]},
        "start": start.describe(),
        "within": None if safe is None else safe.describe(),
        "steps": _steps(found, kept),
        "stopped": found.stopped,
    }
    written = write_kept(
        planned, found, plain, lambda: plots.reach(found, states=given.axes), "reach", hidden=common.quiet
    )
    print_results(plain, common, lambda: _print(found, kept, f"{model.name} and {plant.name}", safe))
    if is_interrupted(found.stop) or len(written) < len(planned.paths):
        return interrupted(f"{'later steps are missing; ' * is_interrupted(found.stop)}{said_of(written)}")
    if safe is None:
        return 0
    return LEFT if False in kept else OPEN if None in kept else WITHIN


def read_plant(path: Path) -> Plant:
    """Return the plant of a JSON file with the matrices "A" and "B", and maybe the vector "c"."""
    said = f"{path} must be a JSON file with the matrices A and B of a plant, and perhaps c, as lists of rows"
    try:
        plain = json.loads(path.read_text(encoding="utf-8-sig"), parse_int=float)
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}): name the file of a plant") from None
    except UnicodeDecodeError:
        raise InputError(f"{said}, got bytes that are no text") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{said}: {str(error).splitlines()[0]}") from None
    if not isinstance(plain, dict) or not {"A", "B"} <= plain.keys() <= {"A", "B", "c"}:
        keys = ", ".join(map(str, plain))[:60] if isinstance(plain, dict) else type(plain).__name__
        raise InputError(f"{said}, got {keys or 'nothing'}")
    tables = {}
    for name, entry in plain.items():
        try:
            tables[name] = np.array(entry)
        except ValueError:
            raise InputError(f"{said}: the rows of {name} differ in length") from None
        if tables[name].dtype != np.float64:
            raise InputError(f"{said}: {name} has entries that are no numbers")
        if tables[name].ndim != (1 if name == "c" else 2):
            raise InputError(f"{said}: {name} has {tables[name].ndim} dimensions")
    with about(path):
        return Plant(**tables)


def _steps(found: ReachableSets, kept: list[bool | None]) -> list[dict[str, Any]]:
    return [
        {
            "step": step,
            "claim": str(one.claim),
            "pieces": len(one),
            "lower": one.ends[0].tolist(),
            "upper": one.ends[1].tolist(),
            "within": inside,
        }
        for step, (one, inside) in enumerate(zip(found.sets, kept, strict=True))
    ]


def _print(found: ReachableSets, kept: list[bool | None], what: str, safe: Box | None) -> None:
    console = open_console()
    say(console, what, style="bold")
    names = [f"state {axis}" for axis in range(min(MAX_SHOWN, found.ends.shape[2]))]
    table = make_table("step", "claim", "pieces", *names, *(["within"] if safe else []), right=("step", "pieces"))
    for step, (one, inside) in enumerate(zip(found.sets, kept, strict=True)):
        ends = [f"{low:.6g} to {high:.6g}" for low, high in one.ends.T[: len(names)]]
        add_row(table, step, one.claim, len(one), *ends, *([IN_WORDS[inside]] if safe else []))
    console.print(table)
    if found.num_exact < len(found):
        say(console, f"From step {found.num_exact} boxes hold all states, and maybe others ({found.stopped}).")
    if safe is None:
        return
    target = safe.describe()
    if False in kept:
        step = kept.index(False)
        when = f"After {step} {'step' if step == 1 else 'steps'} some states" if step else "Some first states"
        say(console, f"{when} are surely outside the {target}.")
    elif None in kept:
        say(console, f"Whether all states stay within the {target} is not known from step {kept.index(None)}.")
    else:
        say(console, f"All states stay within the {target}, after every step.")
