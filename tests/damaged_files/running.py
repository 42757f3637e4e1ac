"""Read files that were damaged inside their seal: each reading has to end in an object or in one sentence, and soon.

``python -m damaged_files.running --cases 100 --seed 0 partition image`` damages two kinds of files, or by default all,
and prints as JSON what went wrong. It is a program of its own, because a wrong offset may end the process: then the
file named by ``--journal`` says in which case, and ``--case 17`` repeats it alone, with its traceback.
"""

import argparse
import contextlib
import faulthandler
import json
import os
import tempfile
import time
import traceback
import warnings
import zlib
from pathlib import Path

import numpy as np

from damaged_files.damage import damaged
from damaged_files.kinds import KINDS
from reluscope.errors import ReluscopeError

ROOM = 8 << 30  # bytes
LONGEST = 5.0  # seconds of processor time; what hangs is ended after so many times as much
PATIENCE = 12


def attempt(read):
    """Read a damaged file; return what is wrong with how it ends, or nothing."""
    began = time.process_time()
    faulthandler.dump_traceback_later(PATIENCE * LONGEST, exit=True)
    try:
        read()
    except ReluscopeError as error:
        if "\n" in str(error) or len(str(error)) > 2_100:
            return f"no sentence: {str(error)[:200]!r}"
    except BaseException as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {str(error)[:150]!r} at {Path(where.filename).name}:{where.lineno}"
    finally:
        faulthandler.cancel_dump_traceback_later()
    seconds = time.process_time() - began
    return f"took {seconds:.1f} s" if seconds > LONGEST else None


def main():
    """Read all damaged files, and print those that ended in another way as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=list(KINDS))
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--case", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--journal", default=os.devnull)
    options = parser.parse_args()
    with contextlib.suppress(ImportError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (ROOM, resource.getrlimit(resource.RLIMIT_AS)[1]))
    warnings.simplefilter("ignore")
    cases = range(options.cases) if options.case is None else [options.case]
    failed = []
    with open(options.journal, "wb", buffering=0) as journal:
        for name in options.names or KINDS:
            with tempfile.TemporaryDirectory() as folder:
                paths, read = KINDS[name](Path(folder))
                read()
                whole = {path: path.read_bytes() for path in paths}
                for case in cases:
                    label = f"{name} --seed {options.seed} --case {case}"
                    journal.seek(0)
                    journal.write(label.ljust(80).encode())
                    generator = np.random.default_rng([options.seed, case, zlib.crc32(name.encode())])
                    path = paths[case % len(paths)]
                    path.write_bytes(damaged(whole[path], generator))
                    wrong = attempt(read)
                    if wrong is not None:
                        failed.append(f"{label}: {wrong}")
                        if options.case is not None:
                            with contextlib.suppress(ReluscopeError):
                                read()
                    for one, content in whole.items():  # reading may have written, too
                        one.write_bytes(content)
    print(json.dumps({"tried": len(options.names or KINDS) * len(cases), "failed": failed}, indent=1))


if __name__ == "__main__":
    main()
