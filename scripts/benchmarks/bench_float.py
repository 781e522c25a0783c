#!/usr/bin/env python3
"""Compares networks of FP8 codes with int8 networks of the same shapes; prints rows of a CSV table.

    bench_float.py [--rounds=N] [--samples=FEW,MANY] [--bits=BITS] [--nets=NAME,...] GUARDBIT

Makes small networks of convolutions with random weights, quantizes each to int8 and to e4m3 with `guardbit quantize`, and
runs both with `guardbit run` on one thread: int8 on `fpga-int14-os`, e4m3 on `hopper-wgmma-e4m3`. A figure is the CPU time
of the whole command for MANY samples minus that for FEW (12 and 2, of int8 20 times as many), per sample. Every round runs
everything once; figures are medians over the rounds (3). The last row of a network and a statistics level is the ratio of e4m3 to int8.

- conv: four convolutions of 3x3, 16 to 64 channels
- pointwise: convolutions of 1x1, 64 to 256 channels
- depthwise: pairs of a depthwise convolution of 3x3 and a pointwise one, 64 channels

Columns: tool, subject, setting, threads, figure, unit. Needs onnx and NumPy.
"""

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

from bench_command import cpu_seconds

CLASSES = 10
LEVELS = ("events", "full")
# Samples of a run per sample asked for. Differences of a few milliseconds drown in noise.
TIMES = {"int8": 20, "e4m3": 1}
# Per network: rows and columns of the images, their channels, and (size, stride, channels, groups) per convolution.
NETS = {
    "conv": (32, 3, [(3, 1, 16, 1), (3, 2, 32, 1), (3, 1, 32, 1), (3, 2, 64, 1), (3, 1, 64, 1)]),
    "pointwise": (12, 64, [(1, 1, 256, 1), (1, 1, 64, 1), (1, 1, 256, 1), (1, 1, 64, 1)]),
    "depthwise": (24, 16, [(1, 1, 64, 1), (3, 1, 64, 64), (1, 1, 64, 1), (3, 1, 64, 64), (1, 1, 64, 1)]),
}


def save(name, path):
    """Writes a float network and returns the shape of an image."""
    random = numpy.random.default_rng(1)
    side, inputs, convolutions = NETS[name]
    shape = (1, inputs, side, side)
    nodes, constants, x = [], [], "input"

    def constant(value):
        constants.append(numpy_helper.from_array(numpy.asarray(value, numpy.float32), f"c{len(constants)}"))
        return constants[-1].name

    for index, (size, stride, outputs, groups) in enumerate(convolutions):
        own = (outputs, inputs // groups, size, size)
        weights = random.normal(0, (2 / numpy.prod(own[1:])) ** 0.5, own)
        operands = [x, constant(weights), constant(random.normal(0, 0.1, outputs))]
        attributes = {"kernel_shape": [size] * 2, "strides": [stride] * 2, "pads": [size // 2] * 4, "group": groups}
        nodes.append(helper.make_node("Conv", operands, [f"conv{index}"], name=f"conv{index}", **attributes))
        nodes.append(helper.make_node("Relu", [f"conv{index}"], [f"relu{index}"], name=f"relu{index}"))
        x, inputs = f"relu{index}", outputs
    nodes.append(helper.make_node("GlobalAveragePool", [x], ["pool"], name="pool"))
    nodes.append(helper.make_node("Flatten", ["pool"], ["flat"], name="flat"))
    dense = constant(random.normal(0, inputs**-0.5, (inputs, CLASSES)))
    nodes.append(helper.make_node("MatMul", ["flat", dense], ["logits"], name="logits"))
    ends = [helper.make_tensor_value_info("input", TensorProto.FLOAT, shape)]
    ends += [helper.make_tensor_value_info("logits", TensorProto.FLOAT, (1, CLASSES))]
    graph = helper.make_graph(nodes, name, ends[:1], ends[1:], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return shape[1:]


def images(count, shape):
    """Returns noise with less power in high frequencies, as images have."""
    random = numpy.random.default_rng(2)
    noise = numpy.fft.rfft2(random.normal(0, 1, (count, *shape)))
    rows, columns = noise.shape[-2:]
    waves = numpy.hypot(numpy.minimum(numpy.arange(rows), rows - numpy.arange(rows))[:, None], numpy.arange(columns))
    smooth = numpy.fft.irfft2(noise / (1 + waves), shape[1:])
    return (smooth / smooth.std()).astype(numpy.float32)


def main():
    options = {"rounds": "3", "samples": "2,12", "bits": "14", "nets": ",".join(NETS)}
    arguments = sys.argv[1:]
    while arguments and arguments[0].startswith("--"):
        key, _, value = arguments.pop(0)[2:].partition("=")
        if key not in options or not value:
            sys.exit(__doc__)
        options[key] = value
    names, counts = options["nets"].split(","), [int(count) for count in options["samples"].split(",")]
    if len(arguments) != 1 or len(counts) != 2 or any(name not in NETS for name in names):
        sys.exit(__doc__)
    guardbit, seconds = arguments[0], {}
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        runs = []
        for name in names:
            shape = save(name, folder / f"{name}.onnx")
            for codes, times in TIMES.items():
                for count in counts:
                    numpy.save(folder / f"{name} {codes} {count}.npy", images(count * times, shape))
            for codes in TIMES:
                network = folder / f"{name} {codes}.onnx"
                command = [guardbit, "quantize", folder / f"{name}.onnx", "--weights", codes, "--activations", codes]
                command += ["--calibration", folder / f"{name} e4m3 {counts[1]}.npy", "-o", network]
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                hw = {"int8": ["fpga-int14-os", "--set", f"accumulation.acc.bits={options['bits']}"]}
                hw = hw.get(codes, ["hopper-wgmma-e4m3"])
                runs += [(name, codes, level, [guardbit, "run", network, "--hw", *hw, "--stats", level]) for level in LEVELS]
        for _ in range(int(options["rounds"])):
            for name, codes, level, command in runs:
                command = [*command, "--threads", "1", "--quiet", "--force"]
                files = [["--input", folder / f"{name} {codes} {count}.npy", "-o", folder / "out"] for count in counts]
                few, many = (cpu_seconds([*command, *file]) for file in files)
                samples = (counts[1] - counts[0]) * TIMES[codes]
                seconds.setdefault((name, level, codes), []).append((many - few) / samples)
    figures = {key: statistics.median(values) for key, values in seconds.items()}
    for (name, level, codes), figure in figures.items():
        print(f"guardbit,{name},whole command {codes} {level},1,{figure * 1e3:.3f},ms/inference")
        if codes == "e4m3":
            print(f"guardbit,{name},e4m3 to int8 {level},1,{figure / figures[name, level, 'int8']:.2f},times")


if __name__ == "__main__":
    main()
