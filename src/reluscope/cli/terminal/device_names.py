"""DEVICE on the command line: where the network's constants live and its float64 arithmetic runs."""

import torch

from reluscope.errors import InputError


def open_device(name: str) -> torch.device:
    """Return the device ``cpu``, ``cuda`` or ``cuda:N``; InputError if it is missing or lacks float64."""
    kind, mark, index = name.partition(":")
    if kind == "mps":
        raise InputError("--device mps has no float64, which every claim of reluscope rests on: use --device cpu")
    if kind not in ("cpu", "cuda") or (mark and not index.isdecimal()):
        raise InputError(f"--device must be cpu, cuda or cuda:N (the N-th GPU, from 0), got {name!r}")
    if kind == "cpu":
        return torch.device("cpu")
    if not torch.cuda.is_available():
        built = "finds no GPU" if torch.version.cuda else "was built without CUDA"
        raise InputError(f"--device {name} is not there: this PyTorch {built}; use --device cpu")
    number = torch.cuda.device_count()
    if index and int(index) >= number:
        there = ", ".join(f"cuda:{one}" for one in range(number))
        raise InputError(f"--device {name} is not there: this machine has {there}")
    return torch.device(name)
