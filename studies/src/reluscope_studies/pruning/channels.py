"""Channel pruning: the channel without which the loss is least is removed, and the rest of the network fine-tuned."""

from collections.abc import Callable, Iterator
from copy import deepcopy

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from reluscope.arguments import read_arguments, read_labels
from reluscope.errors import InputError, ShapeError, UnsupportedOperatorError
from reluscope.extending.analyses import Points, Progress, share_done
from reluscope_studies.pruning.pruning_curve import PruningCurve, as_tensor, measured_module, pruning_curve

# What may stand between two layers with weights, each channel by itself.
LAYERS_BETWEEN = (
    nn.ReLU, nn.LeakyReLU, nn.ReLU6, nn.Hardtanh, nn.PReLU, nn.Identity, nn.Dropout, nn.Dropout2d, nn.BatchNorm2d,
    nn.MaxPool2d, nn.AvgPool2d, nn.Flatten,
)  # fmt: skip
SAMPLES_AT_ONCE = 1_000


@read_arguments
def prune_channels(
    module: nn.Module,
    x: Points,
    labels: Points,
    *,
    fine_tune: Callable[[nn.Module], object],
    test_x: Points,
    test_labels: Points,
    least_accuracy: float = 0.0,
    progress: Progress = False,
) -> PruningCurve:
    """Take channel after channel away from the convolutions of a classifier, and measure what is left.

    Parameters
    ----------
    module : nn.Sequential
        Convolutions, then dense layers, with gates, batch norms and pooling between; it stays as it is.
    x : (s, *input_shape)
        Samples on which the loss without each channel is measured, the cross-entropy.
    labels : (s,) int
    fine_tune : callable
        Trains a module in place after every removal, for an epoch, say.
    test_x, test_labels : (s, *input_shape) and (s,) int
        Samples on which accuracies are measured.
    least_accuracy : float
        Pruning ends after the first step below it, or when every convolution has one channel left.
    progress : bool or callable
        Show the share of the channels that is gone, or a function that is told it, from 0 to 1.

    Returns
    -------
    PruningCurve
        The network itself as step 0, then one step per channel.

    Raises
    ------
    UnsupportedOperatorError
        If the module is no such chain.
    InputError, ShapeError
        If it has no convolutions, or there is not one label per sample.

    Notes
    -----
    A step costs one forward pass per channel, of the layers behind it, and one call of ``fine_tune``.

    References
    ----------
    .. [sattelberg2026] Section 3.4.5.

    Examples
    --------
    >>> module = nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(12, 2))
    >>> x, labels = torch.rand(8, 1, 4, 4), torch.arange(8) % 2
    >>> curve = prune_channels(module, x, labels, fine_tune=lambda module: None, test_x=x, test_labels=labels)
    >>> curve.findings.details["channels"].tolist()
    [[3], [2], [1]]
    """
    current = deepcopy(_chain(module)).eval()
    points = as_tensor(x)
    last = list(current)[-1]
    assert isinstance(last, nn.Linear)
    classes = max(2, last.out_features)
    targets = torch.from_numpy(read_labels(labels, num_samples=len(points), num_classes=classes))
    steps = [measured_module(deepcopy(current), test_x, test_labels)]
    expected = as_tensor(test_x).shape[1:]
    if points.shape[1:] != expected:
        raise ShapeError(f"x must have samples of shape {tuple(expected)} as test_x has, got {tuple(points.shape[1:])}")
    at_first = sum(steps[0].channels) - len(steps[0].channels)
    with share_done("pruning", progress) as report_progress:
        for number in range(at_first):
            losses = channel_losses(current, points, targets)
            layer, channel = min(((loss.min().item(), layer), int(loss.argmin())) for layer, loss in losses.items())
            current = without_channel(current, layer[1], channel)
            fine_tune(current)
            current.eval()
            steps.append(measured_module(deepcopy(current), test_x, test_labels))
            report_progress((number + 1) / at_first)
            if float(steps[-1].accuracy) < least_accuracy:
                break
    return pruning_curve(steps, test_x, "channels removed")


@torch.no_grad()
def channel_losses(chain: nn.Sequential, x: Tensor, labels: Tensor) -> dict[int, Float[Tensor, " c"]]:
    """Return the mean cross-entropy without each channel, by position of the convolution.

    For convolutions with more than one channel. The chain has to be in evaluation mode.
    """
    first = next(chain.parameters())
    totals = {
        place: first.new_zeros(part.out_channels, dtype=torch.float64)
        for place, part in enumerate(chain)
        if isinstance(part, nn.Conv2d) and part.out_channels > 1
    }
    for some, own in zip(x.split(SAMPLES_AT_ONCE), labels.split(SAMPLES_AT_ONCE), strict=True):
        value, targets = some.to(first), own.to(first.device, torch.int64)
        start = 0
        for place, end in _convolutions(chain):
            value = chain[start:end](value)
            start = end
            for channel in range(len(totals.get(place, ()))):
                without = value.clone()
                without[:, channel] = 0
                totals[place][channel] += cross_entropy(chain[end:](without), targets, reduction="sum").double()
    return {place: total / len(x) for place, total in totals.items()}


def without_channel(chain: nn.Sequential, place: int, channel: int) -> nn.Sequential:
    """Return a copy of a chain without an output channel of the convolution at a place."""
    found = deepcopy(chain)
    parts = list(found)
    convolution = parts[place]
    assert isinstance(convolution, nn.Conv2d)
    channels = convolution.out_channels
    stay = torch.arange(channels, device=convolution.weight.device) != channel
    convolution.out_channels -= 1
    _take(convolution, stay)
    for part in parts[place + 1 :]:
        if isinstance(part, nn.Conv2d):
            part.in_channels -= 1
            part.weight = nn.Parameter(part.weight.detach()[:, stay])
            break
        if isinstance(part, nn.Linear):
            # Flat inputs are the places of the first channel, then those of the second, ...
            weight = part.weight.detach().unflatten(1, (channels, -1))[:, stay].flatten(1)
            part.in_features, part.weight = weight.shape[1], nn.Parameter(weight)
            break
        if isinstance(part, nn.BatchNorm2d):
            part.num_features -= 1
            _take(part, stay)
        elif isinstance(part, nn.PReLU) and part.num_parameters > 1:
            # Behind a Flatten there is one for each place.
            places = part.num_parameters // channels
            part.num_parameters -= places
            _take(part, stay.repeat_interleave(places))
    return found


def _take(part: nn.Module, stay: Tensor) -> None:
    """Keep some channels of all parameters and buffers that have one entry per channel."""
    for name, old in part.named_parameters():
        setattr(part, name, nn.Parameter(old.detach()[stay]))
    for name, old in part.named_buffers():
        if old.ndim:
            setattr(part, name, old[stay])


def _convolutions(chain: nn.Sequential) -> Iterator[tuple[int, int]]:
    """Yield where each convolution is, and where the part begins that reads its channels."""
    for place, part in enumerate(chain):
        if isinstance(part, nn.Conv2d):
            readers = (nn.Conv2d, nn.Linear, nn.Flatten)
            yield place, next(end for end in range(place + 1, len(chain)) if isinstance(chain[end], readers))


def _chain(module: nn.Module) -> nn.Sequential:
    """Return the parts of nested chains as one chain, checked."""
    if not isinstance(module, nn.Sequential):
        raise UnsupportedOperatorError(
            f"expected an nn.Sequential to take channels from, got {type(module).__name__}: prune_by_magnitude takes "
            "any module"
        )
    parts = list(_flat(module))
    for part in parts:
        is_grouped = isinstance(part, nn.Conv2d) and part.groups != 1
        if is_grouped or not isinstance(part, (nn.Conv2d, nn.Linear, *LAYERS_BETWEEN)):
            raise UnsupportedOperatorError(
                f"expected Conv2d without groups, Linear, gates, BatchNorm2d, pooling and Flatten, got {part}"
            )
    if not any(isinstance(part, nn.Conv2d) for part in parts) or not isinstance(parts[-1], nn.Linear):
        raise InputError("expected convolutions and a last dense layer, got a module without")
    return nn.Sequential(*parts)


def _flat(module: nn.Sequential) -> Iterator[nn.Module]:
    for part in module:
        if isinstance(part, nn.Sequential):
            yield from _flat(part)
        else:
            yield part
