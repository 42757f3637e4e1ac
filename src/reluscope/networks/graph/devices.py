"""Reading of the names of devices."""

import torch

from reluscope.errors import InputError


def read_device(device: torch.device | str) -> torch.device:
    """Return an available device by its name.

    Raises InputError if there is none of this name.
    """
    try:
        return torch.empty(0, device=device).device
    except (RuntimeError, AssertionError, NotImplementedError) as error:  # a build without CUDA asserts
        reason = str(error).strip().splitlines()[0][:200]
        raise InputError(f"expected a device that is there, got {str(device)!r} ({reason}): stay on 'cpu'") from error
