"""Commands about what is in one model or two: graph, codes of data, regions of samples, preimages, similarity."""

from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated

import typer

from reluscope.cli.reading.model_arguments import ModelArguments, ReadingOptions, check_data
from reluscope.cli.reading.parsing import read_box
from reluscope.cli.reading.shared_options import MODEL_HELP, Box, Data, Labels, Samples
from reluscope.cli.terminal.application import app
from reluscope.cli.terminal.common_options import Common, Force, JsonFile, command


@command(app, "Show what is in a model.", without=("seed", "device"))
@dataclass(frozen=True)
class InfoOptions:
    """Show what is in a model: its graph of affine steps and gates, and how the load was checked.

    A gate is a step at which the network bends. Each of its units is on one of several pieces.

    \b
    Examples:
      reluscope info net.onnx
      reluscope info models:make --weights net.safetensors --input-shape 1,28,28 --json
      reluscope info net.onnx --json | jq .num_units
    """  # noqa: D301

    _: KW_ONLY
    file: JsonFile
    model: ModelArguments
    common: Common

    def run(self) -> int:
        """Print a model's graph, and return the exit code."""
        self.model.check()

        from reluscope.cli.models.info import info

        return info(self)


@command(app, "Show which codes data have, and which units they use.", without=("seed",))
@dataclass(frozen=True)
class CodesOptions:
    """Show how many different codes data have, gate by gate, in all and by class, and which units they use.

    The code of a sample says on which piece every unit is (of a ReLU: off or on). Samples of equal codes lie in one
    linear region. Dead units have one constant output on all samples; units that are always on never bend there.

    \b
    Examples:
      reluscope codes net.onnx --data x.npy
      reluscope codes net.onnx --data x.npy --labels y.npy -o codes.parquet
      reluscope codes net.onnx --data digits:test --json | jq .total.dead.value
    """  # noqa: D301

    data: Data
    labels: Labels = None
    output: Annotated[
        tuple[Path, ...],
        typer.Option(
            "--output", "-o", metavar="FILE", help="Save the codes: .npz, .parquet or .csv; may be given several times."
        ),
    ] = ()
    samples: Samples = None
    force: Force = False
    _: KW_ONLY
    model: ModelArguments
    common: Common

    def run(self) -> int:
        """Print the codes' numbers, save the codes where that is asked for, and return the exit code."""
        self.model.check()
        check_data(self.data, self.labels)

        from reluscope.cli.models.codes_command import codes

        return codes(self)


@command(app, "Show the linear region of one sample.", without=("seed",))
@dataclass(frozen=True)
class RegionOptions:
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

    data: Data
    sample: Annotated[
        int,
        typer.Option(
            "--sample", min=0, metavar="I", help="Which sample of the data, counted from 0.", show_default=False
        ),
    ]
    labels: Labels = None
    box: Box = ()
    facets: Annotated[
        bool,
        typer.Option(
            "--facets", help="Facets, width and diameter also where that takes long; up to 128 inputs always."
        ),
    ] = False
    _: KW_ONLY
    file: JsonFile
    model: ModelArguments
    common: Common

    def run(self) -> int:
        """Print what is known of the region, and return the exit code."""
        self.model.check()
        check_data(self.data, self.labels)

        from reluscope.cli.models.region_command import region

        return region(self)


@command(app, "Show which inputs a layer cannot tell from samples.", without=("seed",))
@dataclass(frozen=True)
class PreimageOptions:
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

    data: Data
    gate: Annotated[
        str | None,
        typer.Option(
            "--gate",
            metavar="NAME",
            help="Which gate, by its name or counted from 0 (`reluscope info` lists them); by default the first.",
        ),
    ] = None
    sample: Annotated[
        int | None,
        typer.Option(
            "--sample", min=0, metavar="I", help="One sample, counted from 0, with what proves its kind; else all."
        ),
    ] = None
    box: Annotated[
        tuple[tuple[float, float], ...],
        typer.Option(
            "--box",
            metavar="LO,HI",
            help="What the layer reads lies between two values; once, or once for each value.",
            parser=read_box,
        ),
    ] = ()
    samples: Samples = None
    _: KW_ONLY
    file: JsonFile
    model: ModelArguments
    common: Common

    def run(self) -> int:
        """Print the kinds of preimages, and return the exit code."""
        if self.sample is not None and self.samples is not None:
            raise typer.BadParameter("--sample names one and --samples how many: leave one out", param_hint="--sample")
        self.model.check()
        check_data(self.data)

        from reluscope.cli.models.preimage import preimage

        return preimage(self)


@command(app, "Show how similar two models are on shared data.", without=("seed",))
@dataclass(frozen=True)
class CompareOptions:
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

    first: Annotated[str, typer.Argument(metavar="A", help=MODEL_HELP, show_default=False)]
    second: Annotated[str, typer.Argument(metavar="B", help="Another one, of the same inputs and outputs.")]
    data: Data
    labels: Labels = None
    test: Annotated[
        str | None,
        typer.Option(
            "--test", metavar="DATA", help="Data to compare on; maps of coefficients are then fitted to --data alone."
        ),
    ] = None
    test_labels: Annotated[
        Path | None,
        typer.Option("--test-labels", metavar="FILE", help="Class numbers of --test, if it has none."),
    ] = None
    metric: Annotated[
        tuple[str, ...],
        typer.Option("--metric", metavar="NAME", help="One of the names in brackets; may be given several times."),
    ] = ()
    ridge: Annotated[
        float, typer.Option("--ridge", min=0.0, metavar="WEIGHT", help="Keep maps of coefficients small.")
    ] = 0.0
    samples: Samples = None
    weights: Annotated[
        tuple[Path, ...],
        typer.Option("--weights", metavar="FILE", help="Weights for package.module:factory, of A and then of B."),
    ] = ()
    _: KW_ONLY
    file: JsonFile
    reading: ReadingOptions
    common: Common

    @property
    def models(self) -> tuple[ModelArguments, ModelArguments]:
        """Both models, with the weights of one for both, or with those of each."""
        given = self.weights or (None,)
        return self.reading.of(self.first, given[0]), self.reading.of(self.second, given[-1])

    def run(self) -> int:
        """Print how similar the models are, and return the exit code."""
        if self.test is None and self.test_labels is not None:
            raise typer.BadParameter("these are the labels of --test, which is missing", param_hint="--test-labels")
        if len(self.weights) > 2:
            raise typer.BadParameter("give it once for both models, or once for each", param_hint="--weights")
        for model in self.models:
            model.check()
        check_data(self.data, self.labels)
        check_data(self.test, self.test_labels)

        from reluscope.cli.models.compare import compare

        return compare(self)
