"""Writes graph/tests/golden/litert_ops.json: what LiteRT's reference kernels compute for one-op int8 models.

    pip install -r scripts/requirements-oracle.txt
    python scripts/make_litert_op_goldens.py [--per-op N] [--out FILE]

Each case is an op with its attributes in guardbit's words, its inputs and its output. All numbers are integers: a scale
(and softmax's beta) is written as the bits of its float32. Parameters and codes come from a fixed seed.
"""

import argparse
import json
from pathlib import Path

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, OpResolverType

OUT = Path(__file__).resolve().parent.parent / "graph" / "tests" / "golden" / "litert_ops.json"

ACTIVATIONS = {
    "none": schema.ActivationFunctionType.NONE,
    "relu": schema.ActivationFunctionType.RELU,
    "relu6": schema.ActivationFunctionType.RELU6,
    "relu_n1_to_1": schema.ActivationFunctionType.RELU_N1_TO_1,
}
DTYPES = {
    "int8": (schema.TensorType.INT8, np.int8),
    "uint8": (schema.TensorType.UINT8, np.uint8),
    "int32": (schema.TensorType.INT32, np.int32),
}


class Tensor:
    """A tensor with its quantization; `codes` of an output are filled in by `run`."""

    def __init__(self, codes=None, shape=None, dtype="int8", scales=None, zero_points=None, axis=None, constant=False):
        self.codes = None if codes is None else np.asarray(codes, DTYPES[dtype][1])
        self.shape = list(self.codes.shape if shape is None else shape)
        self.dtype = dtype
        self.scales = None if scales is None else np.atleast_1d(np.float32(scales))
        self.zero_points = None if scales is None else [int(z) for z in np.atleast_1d(zero_points)]
        self.axis = axis
        self.constant = constant

    def described(self):
        quantization = None
        if self.scales is not None:
            quantization = {
                "scale_bits": [float_bits(s) for s in self.scales],
                "zero_points": self.zero_points,
                "axis": self.axis,
            }
        return {
            "shape": self.shape,
            "dtype": self.dtype,
            "quantization": quantization,
            "constant": self.constant,
            "codes": self.codes.ravel().tolist(),
        }


def float_bits(value):
    return int(np.float32(value).view(np.uint32))


def build(builtin, options, inputs, output):
    """A model of one op, as bytes. `options` is an options object of the schema, or None."""
    model, graph, op = schema.ModelT(), schema.SubGraphT(), schema.OperatorT()
    model.version = 3
    code = schema.OperatorCodeT()
    code.builtinCode, code.deprecatedBuiltinCode, code.version = builtin, min(builtin, 127), 1
    model.operatorCodes = [code]
    model.buffers = [schema.BufferT()]
    graph.tensors = []
    for index, tensor in enumerate([*inputs, output]):
        flat = schema.TensorT()
        flat.name, flat.shape, flat.type, flat.buffer = f"t{index}", tensor.shape, DTYPES[tensor.dtype][0], 0
        if tensor.scales is not None:
            flat.quantization = schema.QuantizationParametersT()
            flat.quantization.scale = [float(s) for s in tensor.scales]
            flat.quantization.zeroPoint = tensor.zero_points
            flat.quantization.quantizedDimension = tensor.axis or 0
        if tensor.constant:
            data = schema.BufferT()
            data.data = np.frombuffer(tensor.codes.tobytes(), np.uint8)
            flat.buffer = len(model.buffers)
            model.buffers.append(data)
        graph.tensors.append(flat)
    op.opcodeIndex, op.inputs, op.outputs = 0, list(range(len(inputs))), [len(inputs)]
    if options is not None:
        name = type(options).__name__.removesuffix("T")
        op.builtinOptionsType, op.builtinOptions = getattr(schema.BuiltinOptions, name), options
    graph.operators = [op]
    graph.inputs = [i for i, tensor in enumerate(inputs) if not tensor.constant]
    graph.outputs = [len(inputs)]
    model.subgraphs = [graph]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def run(builtin, options, inputs, output):
    """Fills in the output's shape and codes."""
    interpreter = Interpreter(
        model_content=build(builtin, options, inputs, output),
        experimental_op_resolver_type=OpResolverType.BUILTIN_REF,
        num_threads=1,
    )
    interpreter.allocate_tensors()
    for tensor, details in zip([t for t in inputs if not t.constant], interpreter.get_input_details(), strict=True):
        interpreter.set_tensor(details["index"], tensor.codes)
    interpreter.invoke()
    output.codes = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    output.shape = list(output.codes.shape)


class Cases:
    """Collects cases; draws their parameters."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.list = []

    def add(self, op, attributes, builtin, options, inputs, output, extra=()):
        """`extra` are inputs of the runtime that are attributes here (shapes, axes, paddings)."""
        run(builtin, options, [*inputs, *extra], output)
        case = {"op": op, "attributes": attributes, "inputs": [t.described() for t in inputs]}
        self.list.append(case | {"output": output.described()})

    def pick(self, *choices):
        return choices[self.random.integers(len(choices))]

    def size(self, low, high):
        return int(self.random.integers(low, high + 1))

    def scale(self, low=0.005, high=0.5):
        return np.float32(np.exp(self.random.uniform(np.log(low), np.log(high))))

    def zero_point(self, dtype="int8"):
        info = np.iinfo(DTYPES[dtype][1])
        return int(self.random.integers(info.min, info.max + 1))

    def activations(self, *shape, dtype="int8", scale=None, zero_point=None):
        info = np.iinfo(DTYPES[dtype][1])
        codes = self.random.integers(info.min, info.max + 1, shape)
        scale = self.scale() if scale is None else scale
        zero_point = self.zero_point(dtype) if zero_point is None else zero_point
        return Tensor(codes, dtype=dtype, scales=scale, zero_points=zero_point)

    def output(self, scale=None, dtype="int8"):
        return Tensor(shape=[], dtype=dtype, scales=self.scale() if scale is None else scale, zero_points=self.zero_point(dtype))

    def like(self, tensor):
        return Tensor(shape=[], dtype=tensor.dtype, scales=tensor.scales, zero_points=tensor.zero_points)

    def weights(self, *shape, axis=None):
        codes = self.random.integers(-127, 128, shape)
        channels = 1 if axis is None else shape[axis]
        scales = [self.scale(0.001, 0.02) for _ in range(channels)]
        return Tensor(codes, scales=scales, zero_points=[0] * channels, axis=axis, constant=True)

    def bias(self, x, weights, channels):
        scales = np.float32(x.scales[0]) * weights.scales
        codes = self.random.integers(-3000, 3001, channels)
        axis = 0 if len(scales) > 1 else None
        return Tensor(codes, dtype="int32", scales=scales, zero_points=[0] * len(scales), axis=axis, constant=True)

    def activation(self):
        return self.pick(*ACTIVATIONS)


def indices(values):
    return Tensor(np.asarray(values), dtype="int32", constant=True)


def conv2d(cases):
    depth, channels = cases.size(1, 4), cases.size(1, 4)
    groups = cases.pick(1, 1, 2)
    x = cases.activations(cases.size(1, 2), cases.size(5, 7), cases.size(5, 7), depth * groups)
    w = cases.weights(channels * groups, cases.size(1, 3), cases.size(1, 3), depth, axis=0)
    options = schema.Conv2DOptionsT()
    attributes = window_attributes(cases, options, dilated=True) | fuse(cases, options)
    y = cases.output(scale=cases.scale(0.02, 0.2))
    inputs = [x, w, cases.bias(x, w, channels * groups)]
    cases.add("conv2d", attributes, schema.BuiltinOperator.CONV_2D, options, inputs, y)


def depthwise_conv2d(cases):
    depth, options = cases.size(1, 4), schema.DepthwiseConv2DOptionsT()
    options.depthMultiplier = cases.pick(1, 2, 3)
    x = cases.activations(cases.size(1, 2), cases.size(5, 7), cases.size(5, 7), depth)
    w = cases.weights(1, cases.size(1, 3), cases.size(1, 3), depth * options.depthMultiplier, axis=3)
    attributes = window_attributes(cases, options, dilated=True) | fuse(cases, options)
    y = cases.output(scale=cases.scale(0.01, 0.1))
    inputs = [x, w, cases.bias(x, w, depth * options.depthMultiplier)]
    cases.add("depthwise_conv2d", attributes, schema.BuiltinOperator.DEPTHWISE_CONV_2D, options, inputs, y)


def fully_connected(cases):
    axis = cases.pick(None, 0)
    terms, units = cases.size(3, 12), cases.size(2, 9)
    options = schema.FullyConnectedOptionsT()
    options.keepNumDims = bool(cases.pick(0, 1))
    attributes = fuse(cases, options) | {"keep_num_dims": options.keepNumDims}
    x = cases.activations(*([2] * cases.size(0, 2)), cases.size(1, 3), terms)
    w = cases.weights(units, terms, axis=axis)
    inputs = [x, w, cases.bias(x, w, units)]
    y = cases.output(scale=cases.scale(0.01, 0.1))
    name = "fully_connected_per_tensor" if axis is None else "fully_connected_per_channel"
    cases.add(name, attributes, schema.BuiltinOperator.FULLY_CONNECTED, options, inputs, y)


def pair(cases):
    """Two inputs: of one shape, or one of them repeated."""
    shape = [cases.size(1, 2), cases.size(2, 4), cases.size(2, 4), cases.size(2, 4)]
    other = cases.pick(shape, shape, [1, 1, 1, shape[3]], shape[3:], [shape[0], 1, shape[2], 1], [1])
    shapes = cases.pick([shape, other], [other, shape])
    dtype = cases.pick("int8", "int8", "uint8")
    return [cases.activations(*s, dtype=dtype) for s in shapes], dtype


def add(cases):
    options = schema.AddOptionsT()
    inputs, dtype = pair(cases)
    cases.add("add", fuse(cases, options), schema.BuiltinOperator.ADD, options, inputs, cases.output(dtype=dtype))


def mul(cases):
    options = schema.MulOptionsT()
    inputs, dtype = pair(cases)
    cases.add("mul", fuse(cases, options), schema.BuiltinOperator.MUL, options, inputs, cases.output(dtype=dtype))


def pool(name, builtin):
    def make(cases):
        dtype = cases.pick("int8", "int8", "uint8")
        x = cases.activations(cases.size(1, 2), cases.size(4, 7), cases.size(4, 7), cases.size(1, 3), dtype=dtype)
        options = schema.Pool2DOptionsT()
        options.filterHeight, options.filterWidth = cases.size(1, 4), cases.size(1, 4)
        attributes = window_attributes(cases, options) | fuse(cases, options)
        attributes["kernel"] = [options.filterHeight, options.filterWidth]
        cases.add(name, attributes, builtin, options, [x], cases.like(x))

    return make


def reduction(name, builtin):
    def make(cases):
        rank = cases.size(2, 4)
        shape = [cases.size(1, 5) for _ in range(rank)]
        axes = sorted(int(a) for a in cases.random.permutation(rank)[: cases.size(1, rank)])
        options = schema.ReducerOptionsT()
        options.keepDims = bool(cases.pick(0, 1))
        attributes = {"axes": axes, "keep_dims": options.keepDims}
        dtype = cases.pick("int8", "int8", "uint8")
        x = cases.activations(*shape, dtype=dtype)
        cases.add(name, attributes, builtin, options, [x], cases.output(dtype=dtype), [indices(axes)])

    return make


def rescaled(name, builtin, options=None, dtypes=(("int8", "int8"), ("uint8", "uint8"))):
    def make(cases):
        dtype, out_dtype = cases.pick(*dtypes)
        x = cases.activations(cases.size(40, 80), dtype=dtype)
        cases.add(name, {}, builtin, options and options(), [x], cases.output(dtype=out_dtype))

    return make


def softmax(cases):
    dtype = cases.pick("int8", "int8", "uint8")
    x = cases.activations(cases.size(1, 5), cases.size(2, 20), dtype=dtype, scale=cases.scale(0.001, 2.0))
    options = schema.SoftmaxOptionsT()
    options.beta = float(cases.pick(np.float32(1), np.float32(1), np.float32(0.3)))
    zero_point = -128 if dtype == "int8" else 0
    y = Tensor(shape=[], dtype=dtype, scales=1 / 256, zero_points=zero_point)
    cases.add("softmax", {"beta_bits": float_bits(options.beta)}, schema.BuiltinOperator.SOFTMAX, options, [x], y)


def reshape(cases):
    x = cases.activations(2, 3, 4)
    target = cases.pick([4, -1], [24], [1, 2, -1, 2], [-1])
    options = schema.ReshapeOptionsT()
    options.newShape = target
    attributes = {"shape": target}
    cases.add("reshape", attributes, schema.BuiltinOperator.RESHAPE, options, [x], cases.like(x), [indices(target)])


def concat(cases):
    rank = cases.size(1, 4)
    shape = [cases.size(1, 3) for _ in range(rank)]
    options = schema.ConcatenationOptionsT()
    options.axis = cases.size(0, rank - 1)
    first = cases.activations(*shape)
    inputs = [first]
    for _ in range(cases.size(1, 2)):
        shape[options.axis] = cases.size(1, 3)
        inputs.append(cases.activations(*shape, scale=first.scales, zero_point=first.zero_points))
    attributes = {"axis": options.axis}
    cases.add("concat", attributes, schema.BuiltinOperator.CONCATENATION, options, inputs, cases.like(first))


def pad(cases):
    x = cases.activations(*[cases.size(1, 3) for _ in range(4)])
    paddings = [[cases.size(0, 2), cases.size(0, 2)] for _ in range(4)]
    extra = [indices(paddings)]
    value, builtin, options = None, schema.BuiltinOperator.PAD, schema.PadOptionsT()
    if cases.pick(0, 1):
        value, builtin, options = cases.zero_point(), schema.BuiltinOperator.PADV2, schema.PadV2OptionsT()
        extra.append(Tensor([value], scales=x.scales, zero_points=x.zero_points, constant=True))
    cases.add("pad", {"paddings": paddings, "value": value}, builtin, options, [x], cases.like(x), extra)


def transpose(cases):
    rank = cases.size(2, 4)
    x = cases.activations(*[cases.size(1, 4) for _ in range(rank)])
    order = [int(a) for a in cases.random.permutation(rank)]
    options = schema.TransposeOptionsT()
    attributes = {"permutation": order}
    cases.add("transpose", attributes, schema.BuiltinOperator.TRANSPOSE, options, [x], cases.like(x), [indices(order)])


def window_attributes(cases, options, dilated=False):
    options.padding = cases.pick(schema.Padding.SAME, schema.Padding.VALID)
    dilation = [cases.pick(1, 1, 2), cases.pick(1, 1, 2)] if dilated else [1, 1]
    stride = [1, 1] if max(dilation) > 1 else [cases.size(1, 3)] * 2
    options.strideH, options.strideW = stride
    if dilated:
        options.dilationHFactor, options.dilationWFactor = dilation
    padding = "same" if options.padding == schema.Padding.SAME else "valid"
    return {"stride": stride, "dilation": dilation, "padding": padding}


def fuse(cases, options):
    name = cases.activation()
    options.fusedActivationFunction = ACTIVATIONS[name]
    return {"activation": name}


OPS = [
    conv2d,
    depthwise_conv2d,
    fully_connected,
    add,
    mul,
    pool("avg_pool2d", schema.BuiltinOperator.AVERAGE_POOL_2D),
    pool("max_pool2d", schema.BuiltinOperator.MAX_POOL_2D),
    reduction("mean", schema.BuiltinOperator.MEAN),
    reduction("sum", schema.BuiltinOperator.SUM),
    rescaled("relu", schema.BuiltinOperator.RELU),
    rescaled("relu6", schema.BuiltinOperator.RELU6),
    rescaled("quantize", schema.BuiltinOperator.QUANTIZE, schema.QuantizeOptionsT, dtypes=(("int8", "int8"), ("int8", "uint8"), ("uint8", "int8"))),
    softmax,
    reshape,
    concat,
    pad,
    transpose,
]


def main():
    parser = argparse.ArgumentParser(description="make goldens of single ops with LiteRT's reference kernels")
    parser.add_argument("--per-op", type=int, default=4)
    parser.add_argument("--seed", type=int, default=20260801)
    parser.add_argument("--out", type=Path, default=OUT)
    arguments = parser.parse_args()
    cases = Cases(arguments.seed)
    for op in OPS:
        for _ in range(arguments.per_op):
            op(cases)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases.list)
    arguments.out.write_text(f"[\n{lines}\n]\n")
    print(f"{arguments.out.name}: {len(cases.list)} cases, {arguments.out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
