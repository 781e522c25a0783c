"""Float networks of one operator, without and with quantizers around it, and their results in ONNX Runtime."""

import pathlib

import numpy as np
import onnx
from onnx import helper, numpy_helper

from onnx_case import Net, run
from onnx_one_op import Random, real

F = np.float32


def ints(net, *values):
    return net.const(np.array(values, np.int64))


def weights(r, net, shape):
    """Returns constants: between quantizers they are codes too, otherwise the runtime would quantize them itself."""
    values = r.rng.normal(0, 0.5, shape)
    if not net.quantized:
        return net.const(values.astype(F))
    scale = F(np.abs(values).max() / 127)
    return net.dq(net.const(np.round(values / scale).astype(np.int8)), scale, np.int8(0))


def bias(r, net, count):
    return [net.const(r.rng.normal(0, 1, count).astype(F))] if r.int(0, 1) and not net.quantized else []


def op_slice(r, net, x, shape):
    axes = sorted(r.rng.choice(len(shape), r.int(1, len(shape)), replace=False).tolist())
    steps = [r.pick(1, 1, 2, -1, -2) for _ in axes]
    starts, ends = [], []
    for axis, step in zip(axes, steps):
        low, high = sorted(r.rng.choice(shape[axis] + 1, 2, replace=False).tolist())
        if step < 0:
            low, high = high - 1, low - 1
            high = high if high >= 0 else -(2**40)
        starts.append(low)
        ends.append(high)
    return net.op("Slice", [x, ints(net, *starts), ints(net, *ends), ints(net, *axes), ints(net, *steps)])


def op_split(r, net, x, shape):
    axis = r.pick(*[axis for axis in range(len(shape)) if shape[axis] > 1])
    cut = r.int(1, shape[axis] - 1)
    return net.op("Split", [x, ints(net, cut, shape[axis] - cut)], outputs=2, axis=axis)[r.int(0, 1)]


def op_gather(r, net, x, shape):
    axis = r.int(0, len(shape) - 1)
    indices = r.rng.integers(-shape[axis], shape[axis], r.pick((), (1,), (3,), (2, 2)))
    return net.op("Gather", [x, net.const(np.array(indices, np.int64))], axis=axis)


def op_resize(mode):
    def make(r, net, x, shape):
        rule = r.pick("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric")
        attributes = {"mode": mode, "coordinate_transformation_mode": rule}
        if mode == "nearest":
            attributes["nearest_mode"] = r.pick("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
        if r.int(0, 1):
            scales = np.array([1, 1, r.pick(2, 0.5, 1.5, 3), r.pick(2, 1, 0.7)], F)
            return net.op("Resize", [x, "", net.const(scales)], **attributes)
        return net.op("Resize", [x, "", "", ints(net, *shape[:2], r.int(1, 13), r.int(1, 13))], **attributes)

    return make


def op_reduce(op):
    def make(r, net, x, shape):
        axes = sorted(r.rng.choice(len(shape), r.int(1, len(shape) - 1), replace=False).tolist())
        return net.op(op, [x, ints(net, *axes)], keepdims=r.int(0, 1))

    return make


def op_transposed(r, net, x, shape):
    groups = r.pick(1, shape[1])
    kernel = [r.int(1, 4), r.int(1, 3)]
    each = r.int(1, 3)
    w = weights(r, net, (shape[1], each, *kernel))
    attributes = {"strides": [r.int(1, 3), r.int(1, 2)], "group": groups}
    if r.int(0, 3) == 0:
        attributes["dilations"] = [r.int(1, 2), r.int(1, 2)]
    attributes["pads"] = [r.int(0, k // 2) for k in kernel + kernel]
    attributes["output_padding"] = [r.int(0, s - 1) for s in attributes["strides"]]
    return net.op("ConvTranspose", [x, w, *bias(r, net, each * groups)], **attributes)


def op_conv(r, net, x, shape):
    groups = r.pick(1, 1, shape[1])
    axes = len(shape) - 2
    kernel = [r.int(1, 3) for _ in range(axes)]
    channels = groups * r.int(1, 3)
    inputs = [x, weights(r, net, (channels, shape[1] // groups, *kernel)), *bias(r, net, channels)]
    return net.op("Conv", inputs, group=groups, strides=[r.int(1, 2)] * axes, pads=[r.int(0, k - 1) for k in kernel * 2])


def op_pool(op):
    def make(r, net, x, shape):
        if op.startswith("Global"):
            return net.op(op, [x])
        kernel = [r.int(1, 3) for _ in shape[2:]]
        pads = [r.int(0, k - 1) for k in kernel * 2]
        return net.op(op, [x], kernel_shape=kernel, strides=[r.int(1, 2) for _ in kernel], pads=pads)

    return make


def op_pad(r, net, x, shape):
    mode = r.pick("constant", "reflect", "edge")
    pads = [r.int(0, min(2, n - 1)) for n in [*shape, *shape]]
    return net.op("Pad", [x, ints(net, *pads)], mode=mode)


def op_prelu(r, net, x, shape):
    slope = r.pick((1,), (shape[1], *[1] * (len(shape) - 2)))
    return net.op("PRelu", [x, net.const(r.rng.uniform(0, 1, slope).astype(F))])


def op_silu(r, net, x, shape):
    return net.op("Mul", [x, net.op("Sigmoid", [x])])


def op_blocks(r, net, x, shape):
    if r.int(0, 1):
        return net.op("SpaceToDepth", [x], blocksize=2)
    x = net.op("SpaceToDepth", [x], blocksize=2)
    return net.op("DepthToSpace", [x], blocksize=2, mode=r.pick("DCR", "CRD"))


def op_tile(r, net, x, shape):
    return net.op("Tile", [x, ints(net, *[r.int(1, 2) for _ in shape])])


def plain(op, **attributes):
    return lambda r, net, x, shape: net.op(op, [x], **attributes)


def three(op):
    return lambda r, net, x, shape: net.op(op, [x, net.const(r.rng.normal(0, 1, shape).astype(F)), net.const(F(0.5))])


IMAGE = lambda r: (r.int(1, 2), r.int(1, 4), r.int(3, 8), r.int(3, 8))
EVEN = lambda r: (1, 4, 2 * r.int(1, 4), 2 * r.int(1, 3))
LINE = lambda r: (r.int(1, 2), r.int(1, 4), r.int(4, 12))
ANY = lambda r: [IMAGE, LINE][r.int(0, 1)](r)

# Operator: constructor, shapes, networks, whether its results are exact.
MAKERS = {
    "Slice": (op_slice, ANY, 12, True),
    "Split": (op_split, ANY, 8, True),
    "Gather": (op_gather, ANY, 10, True),
    "Resize_nearest": (op_resize("nearest"), IMAGE, 24, True),
    "Resize_linear": (op_resize("linear"), IMAGE, 24, False),
    "ReduceMean": (op_reduce("ReduceMean"), ANY, 10, False),
    "ReduceSum": (op_reduce("ReduceSum"), ANY, 10, False),
    "ReduceMax": (op_reduce("ReduceMax"), ANY, 10, True),
    "ReduceMin": (op_reduce("ReduceMin"), ANY, 10, True),
    "ConvTranspose": (op_transposed, IMAGE, 24, False),
    "Conv_line": (op_conv, LINE, 12, False),
    "Conv": (op_conv, IMAGE, 12, False),
    "MaxPool_line": (op_pool("MaxPool"), LINE, 8, True),
    "AveragePool_line": (op_pool("AveragePool"), LINE, 8, False),
    "GlobalAveragePool_line": (op_pool("GlobalAveragePool"), LINE, 6, False),
    "GlobalMaxPool": (op_pool("GlobalMaxPool"), ANY, 8, True),
    "Pad": (op_pad, ANY, 12, True),
    "PRelu": (op_prelu, ANY, 8, True),
    "Silu": (op_silu, ANY, 6, False),
    "Mish": (plain("Mish"), ANY, 6, False),
    "HardSwish": (plain("HardSwish"), ANY, 4, False),
    "HardSigmoid": (plain("HardSigmoid", alpha=0.25), ANY, 4, False),
    "Selu": (plain("Selu"), ANY, 4, False),
    "Softsign": (plain("Softsign"), ANY, 4, False),
    "ThresholdedRelu": (plain("ThresholdedRelu", alpha=0.25), ANY, 4, True),
    "Sign": (plain("Sign"), ANY, 4, True),
    "Blocks": (op_blocks, EVEN, 8, True),
    "Tile": (op_tile, ANY, 6, True),
    "Squeeze": (lambda r, net, x, shape: net.op("Flatten", [net.op("Unsqueeze", [x, ints(net, 0)])], axis=2), ANY, 4, True),
    "Max": (three("Max"), ANY, 6, True),
    "Sum": (three("Sum"), ANY, 6, True),
}


def build(make, shapes, seed, quantized, exact):
    r = Random(seed)
    net = Net()
    net.quantized = quantized
    shape = shapes(r)
    if not quantized:
        x = net.input(r.rng.normal(0, 2, shape).astype(F))
        net.out(make(r, net, x, shape))
        return net
    dtype = r.dtype()
    s, z = F(0.01 * r.int(3, 9)), r.zero(dtype)
    x = net.dq(net.q(net.input(real(r, shape, s, z)), s, z), s, z)
    y = make(r, net, x, shape)
    if not exact:
        # No quotient is a tie, which the last bit of a sum would decide.
        s, z = F(r.rng.uniform(0.02, 0.2)), r.zero(dtype)
    elif r.int(0, 1):
        s, z = F(0.02 * r.int(3, 9)), r.zero(dtype)
    net.out(net.dq(net.q(y, s, z), s, z))
    return net


def add(cases):
    for op, (make, shapes, count, exact) in MAKERS.items():
        for index in range(count):
            seed = sum(map(ord, op)) * 1000 + index
            cases.net(f"{op}_{index}", build(make, shapes, seed, False, exact), op=f"{'exact' if exact else 'near'}_{op}")
            cases.net(f"qdq_{op}_{index}", build(make, shapes, seed + 500, True, exact), op=f"qdq_{op}")
    older(cases)


def older(cases):
    """Adds the opset 8 network of PyPI's `qonnx` on its own input and random ones, in ONNX Runtime."""
    import qonnx

    model = onnx.load(pathlib.Path(qonnx.__file__).parent / "data/onnx/mnist-conv/model.onnx")
    constants = {i.name for i in model.graph.initializer}
    (info,) = [i for i in model.graph.input if i.name not in constants]
    # Scores are several thousand; here they are about 1.
    model.graph.initializer.append(numpy_helper.from_array(np.array(2**-13, F), "part"))
    model.graph.node.append(helper.make_node("Mul", [model.graph.output[0].name, "part"], ["scores"]))
    del model.graph.output[:]
    model.graph.output.append(helper.make_tensor_value_info("scores", onnx.TensorProto.FLOAT, [1, 10]))
    for seed in range(4):
        x = np.random.default_rng(seed).uniform(0, 255, [1, 1, 28, 28]).astype(F)
        made = run(model, {info.name: x})
        kept = onnx.ModelProto()
        kept.CopyFrom(model)
        del kept.graph.input[:]
        kept.graph.input.append(info)
        cases.add(f"older_{seed}", kept, {info.name: x}, made, op="near_older_opset")
