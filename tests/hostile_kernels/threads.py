"""Rooms and searches that several threads ask at once, on kernels that check every access to memory.

``python -m hostile_kernels.threads --seconds 10 --seed 0``
"""

import argparse
import contextlib
import threading
import time

import numpy as np

from hostile_kernels.rows import Draw, frame, tree_arguments
from reluscope import _kernels

NUM_THREADS = 4


def calls(draw):
    """Return what threads may ask of one room, and of one search in another."""
    room, size, columns, slack = frame(draw)
    question = [draw.floats(size), 1e-12, draw.positive(slack), 1e-10]
    question += [draw.floats(2, size), draw.positive(2), draw.positive(2, slack), np.zeros(columns), np.zeros(size)]
    arguments = tree_arguments(draw)
    tree = _kernels.SignTree(*arguments)
    return [
        lambda: room.find_positive(*question),
        lambda: room.find_among_corners(*question),
        lambda: room.inner_point(*question, np.zeros(columns), 0.1),
        lambda: (room.out_y, room.out_z, room.multipliers, room.__getstate__()),
        lambda: (room.image(np.zeros(columns)), room.largest(np.zeros(size))),
        lambda: tree.take(arguments[0], 2, 10),
        lambda: (tree.is_done, tree.num_open, tree.counters, tree.__getstate__()),
    ]


def main():
    """Ask until the time is over."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    end, case = time.monotonic() + options.seconds, 0
    while time.monotonic() < end:
        shared = calls(Draw(np.random.default_rng([options.seed, case])))

        def ask(seed, shared=shared):
            generator = np.random.default_rng(seed)
            for _ in range(60):
                with contextlib.suppress(ValueError):
                    shared[int(generator.integers(len(shared)))]()

        threads = [threading.Thread(target=ask, args=([case, one],)) for one in range(NUM_THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        case += 1


if __name__ == "__main__":
    main()
