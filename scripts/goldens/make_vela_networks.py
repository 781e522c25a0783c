"""Writes hwmodels/tests/reference/vela_networks.csv: cycles that Arm's compiler for Ethos-U55 estimates for the layers
of whole networks.

    pip install -r scripts/requirements/vela.txt
    python scripts/goldens/make_vela_networks.py NETWORK.tflite ... [--out FILE]

A row is a convolution, depthwise convolution or fully connected layer, with its geometry. For 256 and 32 MACs it has
the values printed by `--verbose-performance`: cycles of the operation as a whole, of the NPU, and of its transfers from
and to the SRAM and from the flash. The system is Ethos_U55_High_End_Embedded, the memory mode Shared_Sram.

The committed file covers mobilenet_v2_1.0_224_quant.tflite (google-coral/test_data at 104342d), person_detect.tflite
(tensorflow/tflite-micro at 90b983c) and resnet8_cifar10_int8.tflite (mlcommons/tiny).
"""

import argparse
import contextlib
import csv
import io
import tempfile
from pathlib import Path

from ethosu.vela import vela
from ethosu.vela.tflite.BuiltinOperator import BuiltinOperator
from ethosu.vela.tflite.Conv2DOptions import Conv2DOptions
from ethosu.vela.tflite.DepthwiseConv2DOptions import DepthwiseConv2DOptions
from ethosu.vela.tflite.Model import Model

OUT = Path(__file__).resolve().parents[2] / "hwmodels" / "tests" / "reference" / "vela_networks.csv"
MACS = [256, 32]
COLUMNS = {"cycles": "Op Cycles", "npu": "NPU", "sram": "SRAM AC", "flash": "OffFlash AC"}
NAMES = {
    BuiltinOperator.CONV_2D: "Conv2D",
    BuiltinOperator.DEPTHWISE_CONV_2D: "DepthwiseConv2D",
    BuiltinOperator.FULLY_CONNECTED: "FullyConnected",
}


def performance(network, macs):
    """Returns the rows of layers that multiply, in order."""
    with tempfile.TemporaryDirectory() as out, contextlib.redirect_stdout(io.StringIO()):
        vela.main([
            str(network), f"--accelerator-config=ethos-u55-{macs}", "--system-config=Ethos_U55_High_End_Embedded",
            "--memory-mode=Shared_Sram", "--verbose-performance", f"--output-dir={out}",
        ])
        text = (Path(out) / f"{network.stem}_per-layer.csv").read_text()
    rows = csv.DictReader(io.StringIO(text))
    # Fused activations have their own rows. A depthwise convolution of one channel becomes another operation.
    kinds = set(NAMES.values())
    return [row for row in rows if {row["Original Operator"], row["NNG Operator"]} <= kinds]


def before(size, kernel, stride, out, same):
    """Returns the number of padding cells before the first one."""
    return max((out - 1) * stride + kernel - size, 0) // 2 if same else 0


def layers(network):
    """Returns the operation's name and the geometry of every layer that multiplies."""
    model = Model.GetRootAsModel(network.read_bytes(), 0)
    graph = model.Subgraphs(0)
    for index in range(graph.OperatorsLength()):
        operator = graph.Operators(index)
        code = model.OperatorCodes(operator.OpcodeIndex())
        kind = max(code.BuiltinCode(), code.DeprecatedBuiltinCode())
        if kind not in NAMES:
            continue
        shape = lambda tensor: [int(size) for size in graph.Tensors(tensor).ShapeAsNumpy()]
        x, w, y = shape(operator.Inputs(0)), shape(operator.Inputs(1)), shape(operator.Outputs(0))
        if kind == BuiltinOperator.FULLY_CONNECTED:
            yield NAMES[kind], [1, 1, w[1], 1, 1, w[0], 1, 1, 1, 1, 0, 0, 1]
            continue
        is_depthwise = kind == BuiltinOperator.DEPTHWISE_CONV_2D
        options = (DepthwiseConv2DOptions if is_depthwise else Conv2DOptions)()
        options.Init(operator.BuiltinOptions().Bytes, operator.BuiltinOptions().Pos)
        kernel, stride = w[1:3], [options.StrideH(), options.StrideW()]
        pads = [before(x[1 + i], kernel[i], stride[i], y[1 + i], options.Padding() == 0) for i in range(2)]
        yield NAMES[kind], x[1:] + y[1:] + kernel + stride + pads + [x[3] if is_depthwise else 1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("networks", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, default=OUT)
    args = parser.parse_args()
    geometry = "in_h in_w in_c out_h out_w out_c kernel_h kernel_w stride_h stride_w pad_top pad_left groups".split()
    figures = [f"u55_{macs}_{column}" for macs in MACS for column in COLUMNS]
    with args.out.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["network", "layer", "op", *geometry, *figures])
        for network in args.networks:
            found = [performance(network, macs) for macs in MACS]
            shapes = list(layers(network))
            for of in found:
                assert [row["Original Operator"] for row in of] == [name for name, _ in shapes], network
            for index, (name, shape) in enumerate(shapes):
                cells = [of[index][column] for of in found for column in COLUMNS.values()]
                writer.writerow([network.stem, index, name, *shape, *cells])


if __name__ == "__main__":
    main()
