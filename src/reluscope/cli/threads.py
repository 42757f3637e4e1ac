"""The number of threads of linear algebra, set before the libraries are imported and read it."""

import os
import sys

VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def limit_threads(number: int | None) -> None:
    """Let torch and NumPy's linear algebra use so many threads, which sleep while they wait.

    Threads that spin instead hold each other up as soon as another process has one of the cores: small programs then
    take up to fifty times as long.

    Parameters
    ----------
    number : int or None
        At least 1; with None their own defaults stay.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    if number is None:
        return
    for name in VARIABLES:
        os.environ[name] = str(number)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(number)
