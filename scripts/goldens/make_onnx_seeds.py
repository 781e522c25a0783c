"""Writes inputs of the fuzz target `onnx` for operators with sizes as attributes: `make_onnx_seeds.py fuzz/corpus/onnx`.

Run with the Python of scripts/requirements/onnx.txt.
"""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "oracles"))

from onnx_case import Net  # noqa: E402

folder = pathlib.Path(sys.argv[1])
IMAGE = np.zeros((1, 4, 4, 4), np.float32)


def seed(name, op, *operands, image=IMAGE, outputs=1, **attributes):
    """Returns a file of one operator on an input; absent operands have empty names."""
    net = Net()
    names = ["" if operand is None else net.const(np.asarray(operand)) for operand in operands]
    made = net.op(op, [net.input(image), *names], outputs=outputs, **attributes)
    for output in [made] if outputs == 1 else made:
        net.out(output)
    (folder / f"{name}.onnx").write_bytes(net.model().SerializeToString())


def sizes(*values):
    return np.array(values, np.int64)


def reals(*shape):
    return np.full(shape, 0.5, np.float32)


seed("resize_nearest", "Resize", None, None, sizes(1, 4, 7, 8), mode="nearest", nearest_mode="ceil")
seed("resize_linear", "Resize", None, np.array([1, 1, 1.5, 2], np.float32), mode="linear")
seed("average_pool_ceil", "AveragePool", kernel_shape=[3, 3], strides=[2, 2], pads=[0, 0, 1, 1], ceil_mode=1)
seed("max_pool_same", "MaxPool", kernel_shape=[2, 2], strides=[2, 2], auto_pad="SAME_UPPER")
seed("pad_edge", "Pad", sizes(0, 0, 1, 2, 0, 0, 2, 1), mode="edge")
seed("pad_reflect", "Pad", sizes(1, 1, 1, 1), None, sizes(2, 3), mode="reflect")
seed("conv_transpose", "ConvTranspose", reals(4, 2, 2, 2), reals(2), strides=[2, 2], dilations=[1, 1], output_padding=[1, 0], pads=[1, 0, 0, 1])
seed("conv_transpose_shape", "ConvTranspose", reals(4, 2, 2, 2), strides=[2, 2], output_shape=[9, 9])
seed("slice_steps", "Slice", sizes(0, -1), sizes(9, -9), sizes(2, 3), sizes(2, -1))
seed("depth_to_space", "DepthToSpace", blocksize=2, mode="CRD")
seed("split", "Split", sizes(1, 3), outputs=2, axis=1)
seed("tile", "Tile", sizes(1, 1, 2, 2))
seed("reduce", "ReduceSum", sizes(-1, 2), keepdims=0)
seed("layer_norm", "LayerNormalization", reals(4), reals(4), axis=-1)
codes = np.zeros((2, 4), np.uint8)
seed("matmul_integer", "MatMulInteger", np.ones((4, 3), np.int8), np.uint8(3), np.zeros(3, np.int8), image=codes)

net = Net()
shape = net.op("Concat", [net.const(sizes(2)), net.const(sizes(3))], axis=0)
made = net.op("Transpose", [net.op("ConstantOfShape", [shape])], perm=[1, 0])
chosen = net.op("Gather", [net.op("Flatten", [made], axis=1), net.const(sizes(0, 1))], axis=0)
net.out(net.op("Add", [net.input(np.zeros((1, 2), np.float32)), chosen]))
(folder / "constants.onnx").write_bytes(net.model().SerializeToString())
