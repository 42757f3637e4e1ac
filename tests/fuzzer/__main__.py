"""``python -m fuzzer --seconds 600 --seed 1``: random cases until the time is up, or ``--cases``."""

import argparse
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from multiprocessing import get_context

from fuzzer.fuzz_runs import CHECKS, KINDS, CaseOutcome, reproduction, run_case, shrink


def main(arguments: list[str] | None = None) -> int:
    """Run the fuzzer; return 1 if something failed."""
    options = _parser().parse_args(arguments)
    if options.case is not None:
        return _report([run_case(options.seed, options.case, options.kinds, options.checks)], options)
    return _report(_outcomes(options), options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m fuzzer", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long to draw new cases (default 60)")
    parser.add_argument("--cases", type=int, help="how many cases to draw, in place of seconds")
    parser.add_argument("--seed", type=int, default=0, help="which cases (default 0)")
    parser.add_argument(
        "--kinds", nargs="+", choices=KINDS, default=list(KINDS), help="kinds of domain or question (default all)"
    )
    parser.add_argument("--checks", nargs="+", choices=CHECKS, default=list(CHECKS), help="what to check (default all)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default 1)")
    parser.add_argument("--case", type=int, help="only this case of the seed")
    parser.add_argument("--shrink", type=float, default=60.0, help="seconds to shrink each new failure (default 60)")
    return parser


def _outcomes(options: argparse.Namespace) -> Iterator[CaseOutcome]:
    """Yield outcomes of one case after the other until the time is up, or there were enough."""
    deadline = time.monotonic() + options.seconds
    number = 0

    def is_over() -> bool:
        return time.monotonic() >= deadline if options.cases is None else number >= options.cases

    if options.jobs == 1:
        while not is_over():
            yield run_case(options.seed, number, options.kinds, options.checks)
            number += 1
        return
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as executor:
        running = set()
        while running or not is_over():
            while len(running) < 2 * options.jobs and not is_over():
                running.add(executor.submit(run_case, options.seed, number, options.kinds, options.checks))
                number += 1
            done, running = wait(running, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)


def _report(outcomes: Iterable[CaseOutcome], options: argparse.Namespace) -> int:
    tried: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    seen: dict[str, list[int]] = defaultdict(list)
    for outcome in outcomes:
        tried[outcome.kind] += 1
        skipped[outcome.kind] += outcome.is_skipped
        failed[outcome.kind] += bool(outcome.failures)
        for check, failure in outcome.failures:
            seen[failure.signature].append(outcome.number)
            if len(seen[failure.signature]) == 1:
                case, failure = shrink(outcome.case, check, failure, options.shrink)
                print(f"\n# kind {outcome.kind}, seed {options.seed}, case {outcome.number}")
                print(reproduction(case, failure), flush=True)
    print("\nkind                   tried  skipped   failed")
    for kind in options.kinds:
        print(f"{kind:20s} {tried[kind]:7d} {skipped[kind]:8d} {failed[kind]:8d}")
    print(f"{'all':20s} {sum(tried.values()):7d} {sum(skipped.values()):8d} {sum(failed.values()):8d}")
    for signature, numbers in sorted(seen.items(), key=lambda one: -len(one[1])):
        print(f"{len(numbers):6d} x {signature}: cases {', '.join(map(str, numbers[:20]))}")
    return 1 if seen else 0


if __name__ == "__main__":
    sys.exit(main())
