"""Call kernels with arguments that are not as they should be: each call has to end in a result or an exception.

``python -m hostile_kernels.running --cases 100 --seed 0 dot walk`` calls two kernels, or by default all, and prints as
JSON what went wrong; with ``--company`` another thread writes to the arrays meanwhile. It is a program of its own,
because a kernel that reads outside its arrays may end the process: then the file named by ``--journal`` says in which
case, and ``--case 17`` repeats it alone. Memory is limited where that is possible, so that nothing may ask for all
there is.
"""

import argparse
import contextlib
import faulthandler
import json
import os
import sys
import threading
import time
import warnings
import zlib

import numpy as np

from hostile_kernels.rows import ROWS, Draw
from hostile_kernels.spoiling import IS_SANITIZED, spoiled

ROOM = 4 << 30  # bytes
LONGEST = 1.0  # seconds of processor time; what hangs is ended after so many times as much
PATIENCE = 60
CALLS = 50  # while another thread writes
EXCEPTIONS = (TypeError, ValueError, MemoryError, OverflowError)


@contextlib.contextmanager
def written_to(arguments, generator):
    """Have another thread write other places into arrays of whole numbers, again and again, while they are used."""
    arrays = [one for one in arguments if isinstance(one, np.ndarray) and one.size and one.dtype.kind in "iu"]
    whole = [one.copy() for one in arrays]
    others = [np.where(generator.random(one.shape) < 0.3, np.iinfo(one.dtype).max // 2, one) for one in arrays]
    is_over = threading.Event()

    def write():
        while not is_over.is_set():
            for one, other, own in zip(arrays, others, whole, strict=True):
                np.copyto(one, other)
                np.copyto(one, own)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def attempt_with_company(name, case, seed):
    """Call a kernel some times while its places change: it refuses, or gives anything, and lives."""
    generator = np.random.default_rng([seed, case, zlib.crc32(name.encode())])
    kernel, arguments = ROWS[name](Draw(generator))
    arguments = [np.array(one) if isinstance(one, np.ndarray) else one for one in arguments]
    with warnings.catch_warnings(), written_to(arguments, generator):
        warnings.simplefilter("ignore")
        for _ in range(CALLS):
            with contextlib.suppress(*EXCEPTIONS):
                kernel(*arguments)


def attempt(name, case, seed):
    """Make one call; return what is wrong with how it ends, or nothing. Every eighth is as it should be."""
    generator = np.random.default_rng([seed, case, zlib.crc32(name.encode())])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kernel, arguments = ROWS[name](Draw(generator))
        is_valid = case % 8 == 0
        if not is_valid:
            arguments = spoiled(arguments, generator)
        began = time.process_time()
        faulthandler.dump_traceback_later(PATIENCE * LONGEST, exit=True)
        try:
            kernel(*arguments)
        except Exception as error:
            if is_valid or not isinstance(error, EXCEPTIONS):
                return f"{type(error).__name__}: {error}"
        finally:
            faulthandler.cancel_dump_traceback_later()
    seconds = time.process_time() - began
    return f"took {seconds:.1f} s" if seconds > LONGEST and not IS_SANITIZED else None


def main():
    """Make all calls, and print those that ended in another way as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=list(ROWS))
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--case", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--journal", default=os.devnull)
    parser.add_argument("--company", action="store_true", help="another thread writes to the arrays meanwhile")
    options = parser.parse_args()
    # Sanitizers keep a shadow of all addresses.
    if not IS_SANITIZED:
        with contextlib.suppress(ImportError):
            import resource

            resource.setrlimit(resource.RLIMIT_AS, (ROOM, resource.getrlimit(resource.RLIMIT_AS)[1]))
    cases = range(options.cases) if options.case is None else [options.case]
    asked = attempt_with_company if options.company else attempt
    sys.setswitchinterval(1e-5)
    failed = []
    with open(options.journal, "wb", buffering=0) as journal:
        for name in options.names or ROWS:
            for case in cases:
                journal.seek(0)
                journal.write(f"{name} --seed {options.seed} --case {case}".ljust(80).encode())
                wrong = asked(name, case, options.seed)
                if wrong is not None:
                    failed.append(f"{name} --seed {options.seed} --case {case}: {wrong}")
    print(json.dumps({"tried": len(options.names or ROWS) * len(cases), "failed": failed}))


if __name__ == "__main__":
    main()
