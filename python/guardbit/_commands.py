"""The commands as functions. Generated from the table in study/src/arguments/table.rs: scripts/renew renews it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from . import _calls
from ._arguments import taken
from ._calibration import Method
from ._inputs import Hw, Model, Samples, Sets
from ._progress import Progress
from ._results import Bundle, Discrimination, Exploration, Quantized, Run, Size, Sweep
from ._statistics import Statistic


@taken
def run(
    model: Model,
    hw: Hw,
    x: Samples | None = None,
    y: Samples | None = None,
    *,
    layer: str | int | None = None,
    random: int | None = None,
    samples: int | None = None,
    seed: int | None = None,
    task: Literal["classify", "regress", "detect"] | None = None,
    output: str | None = None,
    mode: Literal["propagated", "isolated"] | None = None,
    set: Sets | None = None,
    stats: Literal["none", "events", "values", "full"] | None = None,
    requantize: str | None = None,
    profile: Literal["litert-ref", "tflm", "tflite-single", "xnnpack"] | None = None,
    from_: str | Sequence[str] = (),
    to: str | Sequence[str] = (),
    dim: Mapping[str, int] | None = None,
    events: int = 1000,
    cost: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    format: Literal["csv", "parquet"] = "csv",
    tensors: bool = False,
    histograms: bool = False,
    sums: str | int | Sequence[str | int] = (),
    trace: str | os.PathLike[str] | None = None,
    plot_style: Literal["screen", "paper", "slides"] = "screen",
    plot_size: str | None = None,
    plot_font: str | None = None,
    plot_title: Literal["on", "off"] | None = None,
    plots: bool = True,
    report: bool = True,
    out: str | os.PathLike[str] | None = None,
    statistic: Statistic | Mapping[str, Statistic] | None = None,
    force: bool = False,
    threads: int | None = None,
    progress: bool | Progress | None = None,
) -> Run:
    """Runs a network on an accelerator, as `guardbit run` does.

    `x` holds samples along the first axis: codes in the input's dtype, or real values, which become float32; a mapping for
    several inputs. `statistic` is called with the exact codes that every accelerated layer produces for every sample, and with
    those of the hardware: `(exact, simulated)`, arrays of the layer's output, and with `sums` and `events` if it has parameters
    with these names. It returns a number, an array or several of these by name, which are stored in `.statistics`. `plots=False,
    report=False` writes only tables, which is fastest.

    Args:
        model: The network: .tflite, .onnx or graph .yaml
        hw: The accelerator: a preset's name (see `guardbit hw list`) or a YAML file
        x: Samples: .npy (or .npz by input name) of codes in the input's dtype, or of float32 real values; or a folder of PNG
            files with a pictures.yaml, e.g. {layout: nchw, scale: 1/255}
        y: Labels, one per sample: a .npy file of classes (integers), for a detector of 1 (anomaly) and 0, for a regressor of
            float32 values. Without labels, guardbit reports top-1 agreement for an output of class scores: one that `output`
            names, or a vector whose length no input has
        layer: Run only this layer, by the name or index that `guardbit inspect` prints; `x` then holds the inputs of the
            layer
        random: Run N samples of uniformly random codes; an input of real values gets values from -1 to 1 [default without
            `x`: 16]
        samples: Use only N samples of `x`: the first N, or N distinct ones drawn with `seed` [default: all]
        seed: Seed of the random codes [default: 0], or for drawing `samples`
        task: How to score the output: classify (accuracy), regress (mean squared error against labels), detect (area under
            the ROC curve of the distance between output and input) [default: inferred from labels and shapes if unambiguous]
        output: The output to score, of a network that has several
        mode: What each layer reads: propagated (what the hardware produced before it), isolated (exact activations) [default:
            propagated]
        set: Override a key of the accelerator, e.g. accumulation.acc.bits=12. May be repeated
        stats: How much to count: none, events, values (all but events), full [default: full]
        requantize: Requantization scheme to use instead of the model's own: double, single, away, even, float32_upward,
            float64_upward, float64_away, tosa_double, tosa_scale16, q48, float32_nearest, float64_nearest
        profile: Runtime whose results a TFLite network reproduces: litert-ref, tflm, tflite-single, xnnpack [default:
            litert-ref]
        from_: Make this tensor an input of the network and leave out the operations that only compute it: a name in the file,
            or as `guardbit inspect` prints it. May be repeated
        to: Make this tensor the output of the network and leave out later operations, supported or not. May be repeated
        dim: Length of an axis that an ONNX file leaves open: by its name, e.g. tokens=128, or as INPUT:PLACE, e.g. x:1=128.
            May be repeated
        events: Number of events per layer in events.csv: the first N [default: 1000]
        cost: Estimate energy and area with a cost model: a name (see `guardbit hw costs`), or a YAML file; append @16nm to
            scale it to 16 nm. May be repeated
        format: Table format: csv, parquet (in addition to CSV) [default: csv]
        tensors: Write every tensor to tensors.npz
        histograms: Count how the sums of every layer, level and channel are distributed: sum_histograms.csv, .npz and a plot
        sums: Write every exact and delivered sum of these layers, by name or index, to sums.npz
        trace: Write a timeline of one inference as Chrome trace JSON, which Perfetto opens; an existing trace is kept unless
            `force` is given
        plot_style: Style of plots in files; a report always has plots for a screen: screen (960 pixels wide), paper (85 mm
            wide, letters of 8 pt, no title, and PDF files in addition), slides (240 mm wide, letters of 16 pt) [default: screen]
        plot_size: Width of plots, or WIDTHxHEIGHT, e.g. 85mm, 3.3in or 85x60mm [default: by `plot_style`]
        plot_font: Size of the letters along the axes of plots, e.g. 8pt; other letters are in proportion [default: by
            `plot_style`]
        plot_title: Whether plots have a title and a line below it: on, off [default: by `plot_style`]
        plots: Write plots
        report: Write report.html
        out: Output folder; created only when all results are complete. Without it no file is kept
        force: Replace an output folder if guardbit wrote all of its files and none changed
        threads: Number of threads; results do not depend on it
        progress: Whether to show progress, or an object with start, advance and note
    """
    return _calls.run(locals())


@taken
def sweep(
    model: Model | Sequence[Model],
    hw: Hw | Sequence[Hw],
    x: Samples | None = None,
    y: Samples | None = None,
    *,
    bits: str | int | Sequence[int] | None = None,
    overflow: str | Sequence[str] = (),
    level: str | None = None,
    axes: Mapping[str, Any] | None = None,
    zip: Sequence[str] | Sequence[Sequence[str]] = (),
    where: str | Sequence[str] = (),
    shard: str | tuple[int, int] | None = None,
    random: int | None = None,
    samples: int | None = None,
    seed: int | None = None,
    task: Literal["classify", "regress", "detect"] | None = None,
    output: str | None = None,
    mode: Literal["propagated", "isolated"] | None = None,
    set: Sets | None = None,
    stats: Literal["none", "events", "values", "full"] | None = None,
    requantize: str | None = None,
    profile: Literal["litert-ref", "tflm", "tflite-single", "xnnpack"] | None = None,
    from_: str | Sequence[str] = (),
    to: str | Sequence[str] = (),
    dim: Mapping[str, int] | None = None,
    format: Literal["csv", "parquet"] = "csv",
    cache: str | os.PathLike[str] | None = None,
    plot_style: Literal["screen", "paper", "slides"] = "screen",
    plot_size: str | None = None,
    plot_font: str | None = None,
    plot_title: Literal["on", "off"] | None = None,
    plots: bool = True,
    report: bool = True,
    out: str | os.PathLike[str] | None = None,
    statistic: Statistic | Mapping[str, Statistic] | None = None,
    force: bool = False,
    threads: int | None = None,
    progress: bool | Progress | None = None,
) -> Sweep:
    """Runs a network at many settings, as `guardbit sweep` does.

    `axes` gives values by key, as one value, a list, a range or a text ('12..=16'): keys of the accelerator, or arguments of a
    run (model, hw, mode, seed, input, ...). An interrupted sweep with `out` continues when it is called again. `shard` is (I, N):
    only part I of N, for `merge`. `statistic` is as for `run`, and is called for every point: all points are then run, and the
    first column of `.statistics` is the point, the row of the table.

    Args:
        model: A study file, or with `hw` the network
        hw: The accelerator: a preset's name (see `guardbit hw list`) or a YAML file
        x: Samples: .npy (or .npz by input name) of codes in the input's dtype, or of float32 real values; or a folder of PNG
            files with a pictures.yaml, e.g. {layout: nchw, scale: 1/255}
        y: Labels, one per sample: a .npy file of classes (integers), for a detector of 1 (anomaly) and 0, for a regressor of
            float32 values. Without labels, guardbit reports top-1 agreement for an output of class scores: one that `output`
            names, or a vector whose length no input has
        bits: Widths of the swept level: 10..=24 (both included), or 8,12,16. Widths that the accelerator sets in `layers`
            stay as they are
        overflow: Overflow modes of the swept level: wrap, saturate, saturate_symmetric, saturate_zero, sticky, observe, trap
            [default: its own]
        level: The swept level [default: the only one with a width]
        axes: Vary anything else: a key of the accelerator (as for `set`), or model, hw, input, random, samples, seed, labels,
            task, output, mode, requantize, profile, dim:AXIS, quantize:SETTING. `dim:AXIS` is a length as for `dim`,
            `quantize:SETTING` an option of `guardbit quantize` for a float network. Values are 12..=16 or a,b,c; each further
            axis multiplies the points
        zip: Vary these axes together, value by value
        where: Keep only points that satisfy CONDITION: comparisons (==, !=, <, <=, >, >=) of axes and values, joined by and,
            or, not and parentheses
        shard: Run only part I of N of the points, for `guardbit merge`; `slurm` takes I and N from SLURM_ARRAY_TASK_ID and
            SLURM_ARRAY_TASK_COUNT, which a job array sets
        random: Run N samples of uniformly random codes; an input of real values gets values from -1 to 1 [default without
            `x`: 16]
        samples: Use only N samples of `x`: the first N, or N distinct ones drawn with `seed` [default: all]
        seed: Seed of the random codes [default: 0], or for drawing `samples`
        task: How to score the output: classify (accuracy), regress (mean squared error against labels), detect (area under
            the ROC curve of the distance between output and input) [default: inferred from labels and shapes if unambiguous]
        output: The output to score, of a network that has several
        mode: What each layer reads: propagated (what the hardware produced before it), isolated (exact activations) [default:
            propagated]
        set: Override a key of the accelerator, e.g. accumulation.acc.bits=12. May be repeated
        stats: How much to count: none, events, values (all but events), full [default: events in propagated mode, full in
            isolated mode]
        requantize: Requantization scheme to use instead of the model's own: double, single, away, even, float32_upward,
            float64_upward, float64_away, tosa_double, tosa_scale16, q48, float32_nearest, float64_nearest
        profile: Runtime whose results a TFLite network reproduces: litert-ref, tflm, tflite-single, xnnpack [default:
            litert-ref]
        from_: Make this tensor an input of the network and leave out the operations that only compute it: a name in the file,
            or as `guardbit inspect` prints it. May be repeated
        to: Make this tensor the output of the network and leave out later operations, supported or not. May be repeated
        dim: Length of an axis that an ONNX file leaves open: by its name, e.g. tokens=128, or as INPUT:PLACE, e.g. x:1=128.
            May be repeated
        format: Table format: csv, parquet (in addition to CSV) [default: csv]
        cache: Share points with other sweeps in this folder: points in the folder are not run again; results stay byte-equal
        plot_style: Style of plots in files; a report always has plots for a screen: screen (960 pixels wide), paper (85 mm
            wide, letters of 8 pt, no title, and PDF files in addition), slides (240 mm wide, letters of 16 pt) [default: screen]
        plot_size: Width of plots, or WIDTHxHEIGHT, e.g. 85mm, 3.3in or 85x60mm [default: by `plot_style`]
        plot_font: Size of the letters along the axes of plots, e.g. 8pt; other letters are in proportion [default: by
            `plot_style`]
        plot_title: Whether plots have a title and a line below it: on, off [default: by `plot_style`]
        plots: Write plots
        report: Write report.html
        out: Output folder; an interrupted sweep continues. Without it no file is kept
        force: Replace an output folder if guardbit wrote all of its files and none changed
        threads: Number of threads; results do not depend on it
        progress: Whether to show progress, or an object with start, advance and note
    """
    return _calls.sweep(locals())


@taken
def size(
    model: Model,
    hw: Hw,
    x: Samples | None = None,
    y: Samples | None = None,
    *,
    budget: str | None = None,
    area: str | None = None,
    grid: Literal["none", "coarse", "full"] = "full",
    random: int | None = None,
    samples: int | None = None,
    seed: int | None = None,
    task: Literal["classify", "regress", "detect"] | None = None,
    output: str | None = None,
    mode: Literal["propagated", "isolated"] | None = None,
    set: Sets | None = None,
    requantize: str | None = None,
    profile: Literal["litert-ref", "tflm", "tflite-single", "xnnpack"] | None = None,
    from_: str | Sequence[str] = (),
    to: str | Sequence[str] = (),
    dim: Mapping[str, int] | None = None,
    format: Literal["csv", "parquet"] = "csv",
    plot_style: Literal["screen", "paper", "slides"] = "screen",
    plot_size: str | None = None,
    plot_font: str | None = None,
    plot_title: Literal["on", "off"] | None = None,
    plots: bool = True,
    report: bool = True,
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    threads: int | None = None,
    progress: bool | Progress | None = None,
) -> Size:
    """Finds the width that every accumulator requires, as `guardbit size` does.

    Args:
        model: The network: .tflite, .onnx or graph .yaml
        hw: The accelerator: a preset's name (see `guardbit hw list`) or a YAML file
        x: Samples: .npy (or .npz by input name) of codes in the input's dtype, or of float32 real values; or a folder of PNG
            files with a pictures.yaml, e.g. {layout: nchw, scale: 1/255}
        y: Labels, one per sample: a .npy file of classes (integers), for a detector of 1 (anomaly) and 0, for a regressor of
            float32 values. Without labels, guardbit reports top-1 agreement for an output of class scores: one that `output`
            names, or a vector whose length no input has
        budget: Allowed error: accuracy=1% (loss of top-1 accuracy in percentage points, with `y`), agreement=1% (samples that
            may get another class) or mismatch=0.1% (output codes that may differ)
        area: Synthesize the accumulators with this tool for their LUTs and flip-flops: yosys
        grid: How finely to try two levels of accumulators: none, coarse (every second length of run, a quarter of the dot
            products, fewer widths), full [default: full]
        random: Run N samples of uniformly random codes; an input of real values gets values from -1 to 1 [default without
            `x`: 16]
        samples: Use only N samples of `x`: the first N, or N distinct ones drawn with `seed` [default: all]
        seed: Seed of the random codes [default: 0], or for drawing `samples`
        task: How to score the output: classify (accuracy), regress (mean squared error against labels), detect (area under
            the ROC curve of the distance between output and input) [default: inferred from labels and shapes if unambiguous]
        output: The output to score, of a network that has several
        mode: What each layer reads: propagated (what the hardware produced before it), isolated (exact activations) [default:
            propagated]
        set: Override a key of the accelerator, e.g. accumulation.acc.bits=12. May be repeated
        requantize: Requantization scheme to use instead of the model's own: double, single, away, even, float32_upward,
            float64_upward, float64_away, tosa_double, tosa_scale16, q48, float32_nearest, float64_nearest
        profile: Runtime whose results a TFLite network reproduces: litert-ref, tflm, tflite-single, xnnpack [default:
            litert-ref]
        from_: Make this tensor an input of the network and leave out the operations that only compute it: a name in the file,
            or as `guardbit inspect` prints it. May be repeated
        to: Make this tensor the output of the network and leave out later operations, supported or not. May be repeated
        dim: Length of an axis that an ONNX file leaves open: by its name, e.g. tokens=128, or as INPUT:PLACE, e.g. x:1=128.
            May be repeated
        format: Table format: csv, parquet (in addition to CSV) [default: csv]
        plot_style: Style of plots in files; a report always has plots for a screen: screen (960 pixels wide), paper (85 mm
            wide, letters of 8 pt, no title, and PDF files in addition), slides (240 mm wide, letters of 16 pt) [default: screen]
        plot_size: Width of plots, or WIDTHxHEIGHT, e.g. 85mm, 3.3in or 85x60mm [default: by `plot_style`]
        plot_font: Size of the letters along the axes of plots, e.g. 8pt; other letters are in proportion [default: by
            `plot_style`]
        plot_title: Whether plots have a title and a line below it: on, off [default: by `plot_style`]
        plots: Write plots
        report: Write report.html
        out: Output folder; created only when all results are complete. Without it no file is kept
        force: Replace an output folder if guardbit wrote all of its files and none changed
        threads: Number of threads; results do not depend on it
        progress: Whether to show progress, or an object with start, advance and note
    """
    return _calls.size(locals())


@taken
def explore(
    model: Model,
    hw: Hw,
    x: Samples | None = None,
    y: Samples | None = None,
    *,
    axes: Mapping[str, Any] | None = None,
    zip: Sequence[str] | Sequence[Sequence[str]] = (),
    where: str | Sequence[str] = (),
    budget: str | None = None,
    objective: str | Sequence[str] = (),
    random: int | None = None,
    samples: int | None = None,
    seed: int | None = None,
    task: Literal["classify", "regress", "detect"] | None = None,
    output: str | None = None,
    mode: Literal["propagated", "isolated"] | None = None,
    set: Sets | None = None,
    stats: Literal["none", "events", "values", "full"] | None = None,
    requantize: str | None = None,
    profile: Literal["litert-ref", "tflm", "tflite-single", "xnnpack"] | None = None,
    from_: str | Sequence[str] = (),
    to: str | Sequence[str] = (),
    dim: Mapping[str, int] | None = None,
    cost: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    plot_style: Literal["screen", "paper", "slides"] = "screen",
    plot_size: str | None = None,
    plot_font: str | None = None,
    plot_title: Literal["on", "off"] | None = None,
    plots: bool = True,
    report: bool = True,
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    threads: int | None = None,
    progress: bool | Progress | None = None,
) -> Exploration:
    """Explores designs of an accelerator and finds their Pareto front, as `guardbit explore` does.

    An interrupted exploration with `out` continues when it is called again.

    Args:
        model: The network: .tflite, .onnx or graph .yaml
        hw: The accelerator: a preset's name (see `guardbit hw list`) or a YAML file
        x: Samples: .npy (or .npz by input name) of codes in the input's dtype, or of float32 real values; or a folder of PNG
            files with a pictures.yaml, e.g. {layout: nchw, scale: 1/255}
        y: Labels, one per sample: a .npy file of classes (integers), for a detector of 1 (anomaly) and 0, for a regressor of
            float32 values. Without labels, guardbit reports top-1 agreement for an output of class scores: one that `output`
            names, or a vector whose length no input has
        axes: Vary a key of the accelerator (as for `set`), hw, or requantize. Values are 12..=16 or a,b,c; each further axis
            multiplies the points
        zip: Vary these axes together, value by value
        where: Keep only points that satisfy CONDITION: comparisons (==, !=, <, <=, >, >=) of axes and values, joined by and,
            or, not and parentheses
        budget: Allowed error: accuracy=1% (loss of top-1 accuracy in percentage points, with `y`), agreement=1% (samples that
            may get another class) or mismatch=0.1% (output codes that may differ). Widths are searched within it
        objective: What to minimize, the most important first: cycles, latency, area, energy [default: cycles, and what the
            cost models provide]
        random: Run N samples of uniformly random codes; an input of real values gets values from -1 to 1 [default without
            `x`: 16]
        samples: Use only N samples of `x`: the first N, or N distinct ones drawn with `seed` [default: all]
        seed: Seed of the random codes [default: 0], or for drawing `samples`
        task: How to score the output: classify (accuracy), regress (mean squared error against labels), detect (area under
            the ROC curve of the distance between output and input) [default: inferred from labels and shapes if unambiguous]
        output: The output to score, of a network that has several
        mode: What each layer reads: propagated (what the hardware produced before it) [default: propagated]
        set: Override a key of the accelerator, e.g. accumulation.acc.bits=12. May be repeated
        stats: How much to count: none, events, values (all but events), full [default: none]
        requantize: Requantization scheme to use instead of the model's own: double, single, away, even, float32_upward,
            float64_upward, float64_away, tosa_double, tosa_scale16, q48, float32_nearest, float64_nearest
        profile: Runtime whose results a TFLite network reproduces: litert-ref, tflm, tflite-single, xnnpack [default:
            litert-ref]
        from_: Make this tensor an input of the network and leave out the operations that only compute it: a name in the file,
            or as `guardbit inspect` prints it. May be repeated
        to: Make this tensor the output of the network and leave out later operations, supported or not. May be repeated
        dim: Length of an axis that an ONNX file leaves open: by its name, e.g. tokens=128, or as INPUT:PLACE, e.g. x:1=128.
            May be repeated
        cost: Cost model: a name (see `guardbit hw costs`), or a YAML file; append @16nm to scale it to 16 nm. If repeated,
            the first one with energies and the first one with areas count [default: aladdin-40nm]
        plot_style: Style of plots in files; a report always has plots for a screen: screen (960 pixels wide), paper (85 mm
            wide, letters of 8 pt, no title, and PDF files in addition), slides (240 mm wide, letters of 16 pt) [default: screen]
        plot_size: Width of plots, or WIDTHxHEIGHT, e.g. 85mm, 3.3in or 85x60mm [default: by `plot_style`]
        plot_font: Size of the letters along the axes of plots, e.g. 8pt; other letters are in proportion [default: by
            `plot_style`]
        plot_title: Whether plots have a title and a line below it: on, off [default: by `plot_style`]
        plots: Write plots
        report: Write report.html
        out: Output folder; an interrupted exploration continues. Without it no file is kept
        force: Replace an output folder if guardbit wrote all of its files and none changed
        threads: Number of threads; results do not depend on it
        progress: Whether to show progress, or an object with start, advance and note
    """
    return _calls.explore(locals())


@taken
def vectors(
    model: Model,
    hw: Hw,
    layer: str | int,
    x: Samples | None = None,
    *,
    cases: int = 32,
    formats: str | Sequence[str] = ("dec",),
    waves: str | Sequence[str] = (),
    byte_slots: bool = False,
    whole: bool = False,
    sample: int | None = None,
    image_order: str | None = None,
    random: int | None = None,
    samples: int | None = None,
    seed: int | None = None,
    mode: Literal["propagated", "isolated"] | None = None,
    set: Sets | None = None,
    requantize: str | None = None,
    profile: Literal["litert-ref", "tflm", "tflite-single", "xnnpack"] | None = None,
    from_: str | Sequence[str] = (),
    to: str | Sequence[str] = (),
    dim: Mapping[str, int] | None = None,
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    threads: int | None = None,
    progress: bool | Progress | None = None,
) -> Bundle:
    """Exports a layer as test vectors for RTL, as `guardbit vectors` does. With `whole`, the result is a `Whole`: memory images of
    whole layers, for `diff_layer`.

    Args:
        model: The network: .tflite, .onnx or graph .yaml
        hw: The accelerator: a preset's name (see `guardbit hw list`) or a YAML file
        layer: The layer, by the name or index that `guardbit inspect` prints
        x: Samples: .npy (or .npz by input name) of codes in the input's dtype, or of float32 real values; or a folder of PNG
            files with a pictures.yaml, e.g. {layout: nchw, scale: 1/255}
        cases: Number of dot products from the layer's real activations; corner cases are added [default: 32]
        formats: Data formats in addition to .mem: dec, npy, bin (little-endian, whole bytes per value), mif, coe, axis
            [default: dec]
        waves: Waveforms of accumulators and exact sums: vcd, fst
        byte_slots: Pad each lane to whole bytes, sign-extended; without it, lanes are packed without gaps
        whole: Export memory images of the whole layer for one sample, with its schedule and a bench, instead of single dot
            products; `layer` may be `all`
        sample: With `whole`: index of the sample, from 0 on [default: 0]
        image_order: With `whole`: order of the codes in images; blocked:N packs N channels into a word [default: nhwc]
        random: Run N samples of uniformly random codes; an input of real values gets values from -1 to 1 [default without
            `x`: 16]
        samples: Use only N samples of `x`: the first N, or N distinct ones drawn with `seed` [default: all]
        seed: Seed of the random codes [default: 0], for drawing `samples`, and for drawing the dot products
        mode: What each layer reads: propagated (what the hardware produced before it), isolated (exact activations) [default:
            propagated]
        set: Override a key of the accelerator, e.g. accumulation.acc.bits=12. May be repeated
        requantize: Requantization scheme to use instead of the model's own: double, single, away, even, float32_upward,
            float64_upward, float64_away, tosa_double, tosa_scale16, q48, float32_nearest, float64_nearest
        profile: Runtime whose results a TFLite network reproduces: litert-ref, tflm, tflite-single, xnnpack [default:
            litert-ref]
        from_: Make this tensor an input of the network and leave out the operations that only compute it: a name in the file,
            or as `guardbit inspect` prints it. May be repeated
        to: Make this tensor the output of the network and leave out later operations, supported or not. May be repeated
        dim: Length of an axis that an ONNX file leaves open: by its name, e.g. tokens=128, or as INPUT:PLACE, e.g. x:1=128.
            May be repeated
        out: Output folder; created only when all results are complete
        force: Replace an output folder if guardbit wrote all of its files and none changed
        threads: Number of threads; results do not depend on it
        progress: Whether to show progress, or an object with start, advance and note
    """
    return _calls.vectors(locals())


@taken
def discriminate(
    hw: Hw | Sequence[Hw],
    *,
    axes: Mapping[str, Any] | None = None,
    seed: int | None = None,
    set: Sets | None = None,
    out: str | os.PathLike[str] | None = None,
    any: str | Sequence[str] = (),
    terms: int = 256,
    activation: str = "int8:0",
    weight: str = "int8:0",
    bias_bits: int = 32,
    force: bool = False,
    threads: int | None = None,
    progress: bool | Progress | None = None,
) -> Discrimination:
    """Finds short dot products whose sums differ between accelerators, as `guardbit discriminate` does.

    `hw` is a list of accelerators, or one whose settings vary by `any` and `axes`. `.matching(sums)` of the result returns the
    accelerators that a device may be.

    Args:
        hw: An accelerator: a preset's name (see `guardbit hw list`) or a YAML file; repeat for several
        axes: Vary a key of the accelerator (as for `set`). Values are 12..=16 or a,b,c; each further axis multiplies the
            candidates
        seed: Seed of the random inputs, which are tried last [default: 0]
        set: Override a key of the accelerator, e.g. accumulation.acc.bits=12. May be repeated
        out: Output folder; created only when all results are complete. Without it no file is kept
        any: Vary settings of one accelerator; each further setting multiplies the candidates: bits (widths of every level, 8
            to 32), overflow (overflow modes of every level: wrap, saturate, saturate_symmetric, saturate_zero, sticky), order
            (order of the products: forward, reverse, sorted, sign_paired, greedy), check (where every level checks for overflow:
            each_add, hand_over), bias (place of the bias: post, preload), zero_point (treatment of zero points: subtract, fold)
        terms: Number of products of an input; of a shorter one, the remaining weights are 0 [default: 256]
        activation: Type of the activations' codes, and their zero point, e.g. uint8:128 [default: int8:0]
        weight: Type of the weights' codes, and their zero point [default: int8:0]
        bias_bits: Width of the bias that an input may have; 0 if the device has none [default: 32]
        force: Replace an output folder if guardbit wrote all of its files and none changed
        threads: Number of threads; results do not depend on it
        progress: Whether to show progress, or an object with start, advance and note
    """
    return _calls.discriminate(locals())


@taken
def quantize(
    model: str | os.PathLike[str],
    calibration: Samples,
    hw: Hw | None = None,
    *,
    samples: int | None = None,
    seed: int | None = None,
    x: Samples | None = None,
    y: Samples | None = None,
    output: str | None = None,
    mode: Literal["propagated", "isolated"] | None = None,
    set: Sets | None = None,
    from_: str | Sequence[str] = (),
    to: str | Sequence[str] = (),
    dim: Mapping[str, int] | None = None,
    method: str | Method = "min-max",
    weight_method: str | Method = "min-max",
    weights: str = "int8",
    activations: str = "uint8",
    per_tensor: bool = False,
    symmetric: bool = False,
    asymmetric_weights: bool = False,
    full_range: bool = False,
    power_of_two: bool = False,
    layers: str | Sequence[str] = (),
    mixed: str | None = None,
    equalize: bool = False,
    inline_functions: bool = False,
    correct_bias: bool = False,
    least_sqnr: float | None = None,
    dynamic: bool = False,
    cache: str | os.PathLike[str] | None = None,
    report: str | os.PathLike[str] | None = None,
    plot_style: Literal["screen", "paper", "slides"] = "screen",
    plot_size: str | None = None,
    plot_font: str | None = None,
    plot_title: Literal["on", "off"] | None = None,
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    threads: int | None = None,
    progress: bool | Progress | None = None,
) -> Quantized:
    """Quantizes a float ONNX network, as `guardbit quantize` does. `out` is the ONNX file, `report` the folder of its tables.

    A method is a name, or a function that receives what was `Observed` of a tensor and returns the least and the greatest real
    value that its codes cover.

    Args:
        model: The float network, an .onnx file
        calibration: Calibration samples: .npy (or .npz by input name) of float32 real values, or a folder of PNG files with a
            pictures.yaml, e.g. {layout: nchw, scale: 1/255}; no labels are needed
        hw: The accelerator that the network is for: a preset's name (see `guardbit hw list`) or a YAML file
        samples: Use only N samples of `calibration`: the first N, or N distinct ones drawn with `seed` [default: all]
        seed: Seed for drawing `samples`
        x: Samples on which accuracy and overflows are measured [default: those of `calibration`]
        y: One class per sample of `x`, or of `calibration` without it
        output: The output to score, of a network that has several
        mode: Where to observe activations: propagated (behind the quantized layers before them), isolated (in the float
            network) [default: propagated]
        set: Override a key of the accelerator, e.g. accumulation.acc.bits=12. May be repeated
        from_: Make this tensor an input of the network and leave out the operations that only compute it: a name in the file,
            or as `guardbit inspect` prints it. May be repeated
        to: Make this tensor the output of the network and leave out later operations, supported or not. May be repeated
        dim: Length of an axis that an ONNX file leaves open: by its name, e.g. tokens=128, or as INPUT:PLACE, e.g. x:1=128.
            May be repeated
        method: Method that chooses ranges: min-max, moving-average, average, percentile, kl, kl-tensorrt, kl-tvm, mse,
            overflow-aware (for layers on the accelerator of `hw`), guaranteed (for layers on the accelerator of `hw`) [default:
            min-max]
        weight_method: Method that chooses ranges of weights: min-max, moving-average, average, percentile, kl, kl-tensorrt,
            kl-tvm, mse [default: min-max]
        weights: Codes of weights: int2 to int8 or uint2 to uint8; or e4m3, e5m2, e4m3fnuz, e5m2fnuz, e2m1, bfloat16, mxfp8,
            mxfp8-e5m2, mxfp4, nvfp4 for all weights and activations [default: int8]
        activations: Codes of activations: int2 to int16 or uint2 to uint16; or e4m3, e5m2, e4m3fnuz, e5m2fnuz, e2m1,
            bfloat16, mxfp8, mxfp8-e5m2, mxfp4, nvfp4 for all weights and activations [default: uint8]
        per_tensor: Use one scale for all weights of a layer
        symmetric: Put real 0 of activations in the middle of the codes
        asymmetric_weights: Allow any zero point of weights
        full_range: Use all codes of signed weights, from -128 on; without it from -127 on
        power_of_two: Use scales that are powers of two
        layers: Settings for one layer by its name, or for a class of layers (conv, pointwise, depthwise, grouped, dense,
            matmul), e.g. depthwise:weights=int6, NAME:float or NAME:per-tensor,activations=uint8. May be repeated
        mixed: Choose the widths of weights and activations layer by layer, from 8x16 down to 4x4 bits, within a budget:
            agreement=1% (calibration samples that may get another class), sqnr=30 (dB), bytes=20000 or bits=16 (accumulator that
            cannot overflow)
        equalize: Balance the ranges of weights between convolutions that follow each other (cross-layer equalization)
        inline_functions: Split hard-swish into a hard-sigmoid and a product, each with its own codes, as ONNX Runtime's
            quantizer does, instead of one table
        correct_bias: Add the mean error of every layer's sums over the calibration samples to its bias
        least_sqnr: Leave a layer in float if its own quantization has a lower signal to noise ratio
        dynamic: Quantize dynamically: weights get codes now, activations get a scale and a zero point from each input at run
            time. `calibration` then only provides the samples on which the network is measured
        cache: Reuse finished layers and networks of a search from this folder, and add new ones: an interrupted search
            continues. Several commands may use it at once
        report: Folder for tables, plots and a page; created only when all are complete
        plot_style: Style of plots in files; a report always has plots for a screen: screen (960 pixels wide), paper (85 mm
            wide, letters of 8 pt, no title, and PDF files in addition), slides (240 mm wide, letters of 16 pt) [default: screen]
        plot_size: Width of plots, or WIDTHxHEIGHT, e.g. 85mm, 3.3in or 85x60mm [default: by `plot_style`]
        plot_font: Size of the letters along the axes of plots, e.g. 8pt; other letters are in proportion [default: by
            `plot_style`]
        plot_title: Whether plots have a title and a line below it: on, off [default: by `plot_style`]
        out: The quantized network; an existing file is kept unless `force` is given
        force: Replace an output folder if guardbit wrote all of its files and none changed
        threads: Number of threads; results do not depend on it
        progress: Whether to show progress, or an object with start, advance and note
    """
    return _calls.quantize(locals())
