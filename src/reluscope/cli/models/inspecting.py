"""Commands about what is in one model or two: graph, codes of data, regions of samples, preimages, similarity."""

from pathlib import Path
from typing import Annotated

import typer

from reluscope.cli.reading.loading_options import LoadingOptions, ReadingOptions
from reluscope.cli.reading.model_arguments import check_data
from reluscope.cli.reading.parsing import read_box
from reluscope.cli.reading.shared_options import (
    MODEL_HELP,
    Box,
    Data,
    Force,
    JsonFile,
    Labels,
    Model,
    Samples,
    path_of,
)
from reluscope.cli.terminal.application import app
from reluscope.cli.terminal.common_options import Common, command


@command(app, "Show what is in a model.", without=("seed", "device"))
def info(
    model: Model,
    output: JsonFile = None,
    force: Force = False,
    *,
    loading: LoadingOptions,
    common: Common,
) -> int:
    """Show what is in a model: its graph of affine steps and gates, and how the load was checked.

    A gate is a step at which the network bends. Each of its units is on one of several pieces.

    \b
    Examples:
      reluscope info net.onnx
      reluscope info models:make --weights net.safetensors --input-shape 1,28,28 --json
      reluscope info net.onnx --json | jq .num_units
    """  # noqa: D301
    given = loading.read(model)

    from reluscope.cli.models.info import info as run

    return run(given, output=path_of(output), force=force, common=common)


@command(app, "Show which codes data have, and which units they use.", without=("seed",))
def codes(
    model: Model,
    data: Data,
    labels: Labels = None,
    output: Annotated[
        list[str] | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Save the codes: .npz, .parquet or .csv; may be given several times."
        ),
    ] = None,
    samples: Samples = None,
    force: Force = False,
    *,
    loading: LoadingOptions,
    common: Common,
) -> int:
    """Show how many different codes data have, gate by gate, in all and by class, and which units they use.

    The code of a sample says on which piece every unit is (of a ReLU: off or on). Samples of equal codes lie in one
    linear region. Dead units have one constant output on all samples; units that are always on never bend there.

    \b
    Examples:
      reluscope codes net.onnx --data x.npy
      reluscope codes net.onnx --data x.npy --labels y.npy -o codes.parquet
      reluscope codes net.onnx --data digits:test --json | jq .total.dead.value
    """  # noqa: D301
    given = loading.read(model)
    check_data(data, labels)

    from reluscope.cli.models.codes_command import codes as run

    return run(
        given,
        data,
        labels=path_of(labels),
        samples=samples,
        output=[Path(one) for one in output or ()],
        force=force,
        common=common,
    )


@command(app, "Show the linear region of one sample.", without=("seed",))
def region(
    model: Model,
    data: Data,
    sample: Annotated[
        int,
        typer.Option(
            "--sample", min=0, metavar="I", help="Which sample of the data, counted from 0.", show_default=False
        ),
    ],
    labels: Labels = None,
    box: Box = None,
    facets: Annotated[
        bool,
        typer.Option(
            "--facets", help="Facets, width and diameter also where that takes long; up to 128 inputs always."
        ),
    ] = False,
    output: JsonFile = None,
    force: Force = False,
    *,
    loading: LoadingOptions,
    common: Common,
) -> int:
    """Show the linear region of one sample: what bounds it, how large it is, and which classes live in it.

    On the region the network is one affine map. Each unit gives half-spaces; those that touch the region are its
    facets. The nearest one is how far the sample may move, in every direction, before a unit bends; the inscribed ball
    is the largest anywhere in the region. The width is the least distance of two parallel hyperplanes with the region
    between them, the diameter the largest distance of two of its points. A class lives in the region if some point of
    it has the class. All but the nearest facet is meant within a box: the range of the data, or --box.

    \b
    Examples:
      reluscope region net.onnx --data x.npy --sample 7
      reluscope region net.onnx --data digits:test --sample 7 --box 0,1
      reluscope region net.onnx --data mnist:data/mnist --sample 0 --facets
      reluscope region net.onnx --data x.npy --sample 7 --json | jq '.findings[] | {name, value, claim}'
    """  # noqa: D301
    boxes = tuple(read_box(one) for one in box or ())

    given = loading.read(model)
    check_data(data, labels)

    from reluscope.cli.models.region_command import region as run

    return run(
        given,
        data,
        sample=sample,
        labels=path_of(labels),
        box=boxes,
        facets=facets,
        output=path_of(output),
        force=force,
        common=common,
    )


@command(app, "Show which inputs a layer cannot tell from samples.", without=("seed",))
def preimage(
    model: Model,
    data: Data,
    gate: Annotated[
        str | None,
        typer.Option(
            "--gate",
            metavar="NAME",
            help="Which gate, by its name or counted from 0 (`reluscope info` lists them); by default the first.",
        ),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(
            "--sample", min=0, metavar="I", help="One sample, counted from 0, with what proves its kind; else all."
        ),
    ] = None,
    box: Annotated[
        list[str] | None,
        typer.Option(
            "--box", metavar="LO,HI", help="What the layer reads lies between two values; once, or once for each value."
        ),
    ] = None,
    samples: Samples = None,
    output: JsonFile = None,
    force: Force = False,
    *,
    loading: LoadingOptions,
    common: Common,
) -> int:
    """Show which inputs a layer cannot tell from samples: what else gives the same output of one gate.

    That set is a point, if the layer sees everything of the sample; or bounded, or unbounded: then it is blind to some
    changes, however large. A unit with a positive output is an equation on what the layer reads, one with the output
    zero an inequality. Every kind comes with what proves it: equations of full rank, positive weights of inequalities,
    a direction that leads to infinity, or a second point. Deeper down the inputs are those of the gate's layer, whether
    the layers before it reach them or not.

    \b
    Examples:
      reluscope preimage net.onnx --data x.npy
      reluscope preimage net.onnx --gate relu2 --data x.npy --samples 100
      reluscope preimage net.onnx --data mnist:data/mnist --box 0,1     pixels between 0 and 1
      reluscope preimage net.onnx --data x.npy --sample 7               and why
      reluscope preimage net.onnx --data x.npy --json | jq '.findings[] | {name, value, claim}'
    """  # noqa: D301
    boxes = tuple(read_box(one) for one in box or ())
    if sample is not None and samples is not None:
        raise typer.BadParameter("--sample names one and --samples how many: leave one out", param_hint="--sample")

    given = loading.read(model)
    check_data(data)

    from reluscope.cli.models.preimage import preimage as run

    return run(
        given,
        data,
        gate=gate,
        sample=sample,
        samples=samples,
        box=boxes,
        output=path_of(output),
        force=force,
        common=common,
    )


@command(app, "Show how similar two models are on shared data.", without=("seed",))
def compare(
    first: Annotated[str, typer.Argument(metavar="A", help=MODEL_HELP, show_default=False)],
    second: Annotated[str, typer.Argument(metavar="B", help="Another one, of the same inputs and outputs.")],
    data: Data,
    labels: Labels = None,
    test: Annotated[
        str | None,
        typer.Option(
            "--test", metavar="DATA", help="Data to compare on; maps of coefficients are then fitted to --data alone."
        ),
    ] = None,
    test_labels: Annotated[
        str | None, typer.Option("--test-labels", metavar="FILE", help="Class numbers of --test, if it has none.")
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", metavar="NAME", help="One of the names in brackets; may be given several times."),
    ] = None,
    ridge: Annotated[
        float, typer.Option("--ridge", min=0.0, metavar="WEIGHT", help="Keep maps of coefficients small.")
    ] = 0.0,
    samples: Samples = None,
    weights: Annotated[
        list[str] | None,
        typer.Option("--weights", metavar="FILE", help="Weights for package.module:factory, of A and then of B."),
    ] = None,
    output: JsonFile = None,
    force: Force = False,
    *,
    reading: ReadingOptions,
    common: Common,
) -> int:
    """Show how similar two models are on shared data: by the affine maps they use there, and by what they say.

    On the region of a sample a network is one affine map. Its gradients and constants are the coefficients: how well a
    linear map takes those of one network to those of the other, and whether the mapped network still classifies; their
    centred kernel alignment, Procrustes distance and squared distance. Beside that the cross-entropy of the outputs,
    the share of equal predictions, and how differently codes group the samples.

    \b
    Examples:
      reluscope compare a.onnx b.onnx --data x.npy --labels y.npy
      reluscope compare a.onnx b.onnx --data mnist-train:data/mnist --test mnist:data/mnist --samples 2000
      reluscope compare models:make models:make --weights a.safetensors --weights b.safetensors --data x.npz
      reluscope compare a.onnx b.onnx --data x.npy --metric cka --metric agreement
      reluscope compare a.onnx b.onnx --data x.npy --json | jq '.comparisons[] | {name, first_to_second}'
    """  # noqa: D301
    if test is None and test_labels is not None:
        raise typer.BadParameter("these are the labels of --test, which is missing", param_hint="--test-labels")
    given = weights or [None]
    if len(given) > 2:
        raise typer.BadParameter("give it once for both models, or once for each", param_hint="--weights")
    models = reading.of(first, given[0]), reading.of(second, given[-1])
    check_data(data, labels)
    check_data(test, test_labels)

    from reluscope.cli.models.compare import compare as run

    return run(
        models,
        data,
        labels=path_of(labels),
        test=test,
        test_labels=path_of(test_labels),
        samples=samples,
        metrics=metric or (),
        ridge=ridge,
        output=path_of(output),
        force=force,
        common=common,
    )
