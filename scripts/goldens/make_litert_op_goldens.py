"""Writes graph/tests/golden/litert_ops.json: results of LiteRT's reference kernels for int8 models of one operation.

    pip install -r scripts/requirements/oracle.txt
    python scripts/goldens/make_litert_op_goldens.py [--per-op N] [--out FILE]

Each case is an operation with its attributes in guardbit's terms, its rounding, its inputs and its output. All numbers
are integers: a scale (and softmax's beta) is stored as the bits of its float32. Parameters and codes come from a fixed
seed.

SUM is recorded for uint8 only: LiteRT 2.3.0's reference kernel reads int8 codes as uint8 and clamps to 0..255.
"""

import argparse
import json
from pathlib import Path

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, OpResolverType

OUT = Path(__file__).resolve().parents[2] / "graph" / "tests" / "golden" / "litert_ops.json"

ACTIVATIONS = {
    "none": schema.ActivationFunctionType.NONE,
    "relu": schema.ActivationFunctionType.RELU,
    "relu6": schema.ActivationFunctionType.RELU6,
    "relu_n1_to_1": schema.ActivationFunctionType.RELU_N1_TO_1,
}
DTYPES = {
    "int8": (schema.TensorType.INT8, np.int8),
    "uint8": (schema.TensorType.UINT8, np.uint8),
    "int16": (schema.TensorType.INT16, np.int16),
    "int32": (schema.TensorType.INT32, np.int32),
    "int64": (schema.TensorType.INT64, np.int64),
}

# Rounding of each operation, and the precision of its multiplier: (scheme, rule) in guardbit's terms.
DOUBLE, AWAY, Q48 = "double", "float64_away", "q48"
CONVOLUTION = {"int8": (DOUBLE, "float64"), "uint8": (DOUBLE, "product_in_float32"), "int16": (Q48, "float64")}


class Tensor:
    """Tensor with its quantization; `codes` of an output are filled in by `run`."""

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
            # The bias of 16-bit activations has 64 bits in the runtime; 32 bits suffice for the values used here.
            "dtype": "int32" if self.dtype == "int64" else self.dtype,
            "quantization": quantization,
            "constant": self.constant,
            "codes": self.codes.ravel().tolist(),
        }


def float_bits(value):
    return int(np.float32(value).view(np.uint32))


def build(builtin, options, inputs, output):
    """Returns a model of one operation, as bytes. `options` is an options object of the schema, or None."""
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
    """Collects cases and draws their parameters."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.list = []

    def add(self, op, attributes, builtin, options, inputs, output, extra=(), rounding=(DOUBLE, "float64")):
        """Adds a case. `extra` are inputs of the runtime that are attributes here (shapes, axes, paddings)."""
        run(builtin, options, [*inputs, *extra], output)
        case = {"op": op, "scheme": rounding[0], "rule": rounding[1], "attributes": attributes}
        self.list.append(case | {"inputs": [t.described() for t in inputs], "output": output.described()})

    def pick(self, *choices):
        return choices[self.random.integers(len(choices))]

    def size(self, low, high):
        return int(self.random.integers(low, high + 1))

    def scale(self, low=0.005, high=0.5):
        return np.float32(np.exp(self.random.uniform(np.log(low), np.log(high))))

    def zero_point(self, dtype):
        return 0 if dtype == "int16" else int(self.random.integers(*limits(dtype)))

    def activations(self, *shape, dtype="int8", scale=None, zero_point=None):
        codes = self.random.integers(*limits(dtype), shape)
        scale = self.scale() if scale is None else scale
        zero_point = self.zero_point(dtype) if zero_point is None else zero_point
        return Tensor(codes, dtype=dtype, scales=scale, zero_points=zero_point)

    def output(self, dtype="int8", scale=None):
        scale = self.scale() if scale is None else scale
        return Tensor(shape=[], dtype=dtype, scales=scale, zero_points=self.zero_point(dtype))

    def like(self, tensor):
        return Tensor(shape=[], dtype=tensor.dtype, scales=tensor.scales, zero_points=tensor.zero_points)

    def weights(self, *shape, axis, dtype):
        """Returns weights, per channel along `axis` if the activations are signed."""
        if dtype == "uint8":
            codes, zero_point = self.random.integers(0, 256, shape), self.zero_point("uint8")
            return Tensor(codes, dtype="uint8", scales=self.scale(0.001, 0.02), zero_points=zero_point, constant=True)
        channels = 1 if axis is None else shape[axis]
        scales = [self.scale(0.001, 0.02) for _ in range(channels)]
        codes = self.random.integers(-127, 128, shape)
        return Tensor(codes, scales=scales, zero_points=[0] * channels, axis=axis, constant=True)

    def bias(self, x, weights, channels):
        return bias(x, weights, self.random.integers(-3000, 3001, channels))


def limits(dtype):
    info = np.iinfo(DTYPES[dtype][1])
    return info.min, info.max + 1


def bias(x, weights, codes):
    scales = np.float32(x.scales[0]) * weights.scales
    axis = None if weights.axis is None else 0
    dtype = "int64" if x.dtype == "int16" else "int32"
    return Tensor(codes, dtype=dtype, scales=scales, zero_points=[0] * len(scales), axis=axis, constant=True)


def indices(values):
    return Tensor(np.asarray(values), dtype="int32", constant=True)


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
    name = cases.pick(*ACTIVATIONS)
    options.fusedActivationFunction = ACTIVATIONS[name]
    return {"activation": name}


def conv2d(cases, dtype):
    depth, channels, groups = cases.size(1, 4), cases.size(1, 3), cases.pick(1, 2) if dtype == "int8" else 1
    x = cases.activations(cases.size(1, 2), cases.size(5, 6), cases.size(5, 6), depth * groups, dtype=dtype)
    w = cases.weights(channels * groups, cases.size(1, 3), cases.size(1, 3), depth, axis=0, dtype=dtype)
    options = schema.Conv2DOptionsT()
    attributes = window_attributes(cases, options, dilated=True) | fuse(cases, options)
    inputs, y = [x, w, cases.bias(x, w, channels * groups)], cases.output(dtype, cases.scale(0.02, 0.2))
    cases.add("conv2d", attributes, Builtin.CONV_2D, options, inputs, y, rounding=CONVOLUTION[dtype])


def depthwise_conv2d(cases, dtype):
    depth, options = cases.size(1, 3), schema.DepthwiseConv2DOptionsT()
    options.depthMultiplier = cases.pick(1, 2, 3)
    x = cases.activations(cases.size(1, 2), cases.size(5, 6), cases.size(5, 6), depth, dtype=dtype)
    w = cases.weights(1, cases.size(1, 3), cases.size(1, 3), depth * options.depthMultiplier, axis=3, dtype=dtype)
    attributes = window_attributes(cases, options, dilated=True) | fuse(cases, options)
    inputs, y = [x, w, cases.bias(x, w, w.shape[3])], cases.output(dtype, cases.scale(0.01, 0.1))
    rounding = CONVOLUTION[dtype]
    cases.add("depthwise_conv2d", attributes, Builtin.DEPTHWISE_CONV_2D, options, inputs, y, rounding=rounding)


def fully_connected(cases, dtype):
    terms, units, options = cases.size(3, 12), cases.size(2, 9), schema.FullyConnectedOptionsT()
    options.keepNumDims = bool(cases.pick(0, 1))
    attributes = {"keep_num_dims": options.keepNumDims} | fuse(cases, options)
    x = cases.activations(*([2] * cases.size(0, 2)), cases.size(1, 3), terms, dtype=dtype)
    w = cases.weights(units, terms, axis=cases.pick(None, 0), dtype=dtype)
    inputs, y = [x, w, cases.bias(x, w, units)], cases.output(dtype, cases.scale(0.01, 0.1))
    rounding = (AWAY, "float64")
    cases.add("fully_connected", attributes, Builtin.FULLY_CONNECTED, options, inputs, y, rounding=rounding)


def near_ties(cases, op, builtin, options, attributes, shape, channel_axis, rounding):
    """Adds a MAC operation whose weights are 0, so that only the bias is requantized. The sums are ties, or lie between
    the ties
    of a multiplier in float64 and those of one in float32 or with 31 bits."""
    scales = [np.float32(s) for s in ((1, 0.5, 1), (1, 0.25, 1))]
    scales += [(cases.scale(), cases.scale(1e-5, 1e-4), cases.scale(1, 60)) for _ in range(3)]
    for sx, sw, sy in scales:
        real = np.float64(sx) * np.float64(sw) / np.float64(sy)
        fraction, exponent = np.frexp(real)
        cut = np.round(fraction * 2**31) * 2.0 ** (exponent - 31)
        others = [real, sx * sw / sy, np.float64(sx * sw) / np.float64(sy), cut]
        sums = []
        for other in map(np.float64, others):
            near = np.rint((np.arange(-100, 100) + 0.5) / ((real + other) / 2))
            apart = np.floor(near * real + 0.5) != np.floor(near * other + 0.5)
            near = near[(apart if other != real else np.arange(200) % 8 < 2) & (np.abs(near) < 2**31)]
            sums += [int(s) for s in near[:12]]
        channels = len(sums)
        w_shape = [channels if size is None else size for size in shape]
        zeros = np.zeros(w_shape)
        w = Tensor(zeros, scales=[sw] * channels, zero_points=[0] * channels, axis=channel_axis, constant=True)
        x = Tensor(np.zeros([1] * len(shape)), scales=sx, zero_points=0)
        y = Tensor(shape=[], scales=sy, zero_points=3)
        if op == "depthwise_conv2d":
            options.depthMultiplier = channels
        cases.add(op, attributes, builtin, options, [x, w, bias(x, w, sums)], y, rounding=rounding)


def near_ties_of_macs(cases):
    window = {"stride": [1, 1], "dilation": [1, 1], "padding": "valid", "activation": "none"}
    conv, depthwise, dense = schema.Conv2DOptionsT(), schema.DepthwiseConv2DOptionsT(), schema.FullyConnectedOptionsT()
    for options in (conv, depthwise):
        options.padding = schema.Padding.VALID
        options.strideH = options.strideW = options.dilationHFactor = options.dilationWFactor = 1
    double = (DOUBLE, "float64")
    near_ties(cases, "conv2d", Builtin.CONV_2D, conv, window, [None, 1, 1, 1], 0, double)
    near_ties(cases, "depthwise_conv2d", Builtin.DEPTHWISE_CONV_2D, depthwise, window, [1, 1, 1, None], 3, double)
    attributes = {"keep_num_dims": False, "activation": "none"}
    near_ties(cases, "fully_connected", Builtin.FULLY_CONNECTED, dense, attributes, [None, 1], 0, (AWAY, "float64"))


def pair(cases, dtype):
    """Returns two inputs: of equal shape, or one of them broadcast."""
    shape = [cases.size(1, 2), cases.size(2, 3), cases.size(2, 3), cases.size(2, 3)]
    other = cases.pick(shape, [1, 1, 1, shape[3]], shape[3:], [shape[0], 1, shape[2], 1], [1])
    return [cases.activations(*s, dtype=dtype) for s in cases.pick([shape, other], [other, shape])]


def add(cases, dtype):
    options = schema.AddOptionsT()
    options.potScaleInt16 = False
    cases.add("add", fuse(cases, options), Builtin.ADD, options, pair(cases, dtype), cases.output(dtype))


def mul(cases, dtype):
    options, y = schema.MulOptionsT(), cases.output(dtype, cases.scale(0.05, 5) if dtype == "int8" else None)
    cases.add("mul", fuse(cases, options), Builtin.MUL, options, pair(cases, dtype), y, rounding=(DOUBLE, "float32"))


def pool(name, builtin):
    def make(cases, dtype):
        x = cases.activations(cases.size(1, 2), cases.size(4, 6), cases.size(4, 6), cases.size(1, 3), dtype=dtype)
        options = schema.Pool2DOptionsT()
        options.filterHeight, options.filterWidth = cases.size(1, 4), cases.size(1, 4)
        attributes = window_attributes(cases, options) | fuse(cases, options)
        attributes["kernel"] = [options.filterHeight, options.filterWidth]
        cases.add(name, attributes, builtin, options, [x], cases.like(x))

    return make


def reduction(name, builtin):
    def make(cases, dtype):
        rank = cases.size(2, 4)
        axes = sorted(int(a) for a in cases.random.permutation(rank)[: cases.size(1, rank)])
        options = schema.ReducerOptionsT()
        options.keepDims = bool(cases.pick(0, 1))
        attributes = {"axes": axes, "keep_dims": options.keepDims}
        x = cases.activations(*[cases.size(1, 5) for _ in range(rank)], dtype=dtype)
        cases.add(name, attributes, builtin, options, [x], cases.output(dtype), [indices(axes)])

    return make


def rescaled(name, builtin, rule, options=None):
    def make(cases, dtype, out_dtype=None):
        x = cases.activations(cases.size(30, 50), dtype=dtype)
        y = cases.output(out_dtype or dtype)
        cases.add(name, {}, builtin, options and options(), [x], y, rounding=(DOUBLE, rule))

    return make


def near_ties_of_elements(cases, op, builtin, rule, options=None, attributes=None, extra=()):
    """Adds codes at ties, and codes for which multipliers in float64 and float32 give different results."""
    ties = [1, 3, 5, 6, 10]
    found = [(np.float32(0.5), np.float32(1), ties), (np.float32(0.25), np.float32(1), ties)]
    codes = np.arange(1, 90)
    while len(found) < 7:
        sx, sy = cases.scale(), cases.scale()
        double, single = np.float64(sx) / np.float64(sy), np.float64(sx / sy)
        differ = np.floor(codes * double + 0.5) != np.floor(codes * single + 0.5)
        differ &= (codes * double < 120) & (codes * sx < (5 if op == "relu6" else np.inf))
        if differ.any():
            found.append((sx, sy, codes[differ].tolist()))
    for sx, sy, codes_found in found:
        inputs = [Tensor([[*codes_found, *(-code for code in codes_found)]], scales=sx, zero_points=0)]
        if op == "mul":
            inputs.append(Tensor([1], scales=1, zero_points=0))
        y = Tensor(shape=[], scales=sy, zero_points=0)
        cases.add(op, attributes or {}, builtin, options, inputs, y, extra, rounding=(DOUBLE, rule))


def softmax(cases, dtype):
    x = cases.activations(cases.size(1, 5), cases.size(2, 20), dtype=dtype, scale=cases.scale(0.001, 2.0))
    options = schema.SoftmaxOptionsT()
    options.beta = float(cases.pick(np.float32(1), np.float32(1), np.float32(0.3)))
    y = Tensor(shape=[], dtype=dtype, scales=1 / 256, zero_points=limits(dtype)[0])
    cases.add("softmax", {"beta_bits": float_bits(options.beta)}, Builtin.SOFTMAX, options, [x], y)


def reshape(cases, dtype):
    x = cases.activations(2, 3, 4, dtype=dtype)
    options = schema.ReshapeOptionsT()
    options.newShape = cases.pick([4, -1], [24], [1, 2, -1, 2], [-1])
    attributes = {"shape": options.newShape}
    cases.add("reshape", attributes, Builtin.RESHAPE, options, [x], cases.like(x), [indices(options.newShape)])


def concat(cases, dtype):
    rank = cases.size(1, 4)
    shape = [cases.size(1, 3) for _ in range(rank)]
    options = schema.ConcatenationOptionsT()
    options.axis = cases.size(0, rank - 1)
    inputs = [cases.activations(*shape, dtype=dtype)]
    for _ in range(cases.size(1, 2)):
        shape[options.axis] = cases.size(1, 3)
        same = {"scale": inputs[0].scales, "zero_point": inputs[0].zero_points}
        inputs.append(cases.activations(*shape, dtype=dtype, **same))
    cases.add("concat", {"axis": options.axis}, Builtin.CONCATENATION, options, inputs, cases.like(inputs[0]))


def pad(cases, dtype):
    x = cases.activations(*[cases.size(1, 3) for _ in range(4)], dtype=dtype)
    paddings = [[cases.size(0, 1), cases.size(0, 2)] for _ in range(4)]
    value, builtin, options, extra = None, Builtin.PAD, schema.PadOptionsT(), [indices(paddings)]
    if cases.pick(0, 1):
        value, builtin, options = cases.zero_point(dtype), Builtin.PADV2, schema.PadV2OptionsT()
        extra.append(Tensor([value], dtype=dtype, scales=x.scales, zero_points=x.zero_points, constant=True))
    cases.add("pad", {"paddings": paddings, "value": value}, builtin, options, [x], cases.like(x), extra)


def transpose(cases, dtype):
    rank = cases.size(2, 4)
    x = cases.activations(*[cases.size(1, 4) for _ in range(rank)], dtype=dtype)
    order = [int(a) for a in cases.random.permutation(rank)]
    attributes, extra = {"permutation": order}, [indices(order)]
    cases.add("transpose", attributes, Builtin.TRANSPOSE, schema.TransposeOptionsT(), [x], cases.like(x), extra)


Builtin = schema.BuiltinOperator
quantize = rescaled("quantize", Builtin.QUANTIZE, "float64", schema.QuantizeOptionsT)

# Operations with the dtypes that their cases take in turn.
OPS = [
    (conv2d, ["int8", "int8", "uint8", "int16"]),
    (depthwise_conv2d, ["int8", "int8", "uint8", "int16"]),
    (fully_connected, ["int8", "int8", "uint8", "int16"]),
    (add, ["int8", "uint8", "int16", "int8"]),
    (mul, ["int8", "uint8", "int16", "int8"]),
    (pool("avg_pool2d", Builtin.AVERAGE_POOL_2D), ["int8", "int8", "uint8"]),
    (pool("max_pool2d", Builtin.MAX_POOL_2D), ["int8", "int8", "uint8"]),
    (reduction("mean", Builtin.MEAN), ["int8", "int8", "uint8", "int16"]),
    (reduction("sum", Builtin.SUM), ["uint8"]),
    (rescaled("relu", Builtin.RELU, "float32"), ["int8", "uint8", "int16"]),
    (rescaled("relu6", Builtin.RELU6, "float32"), ["int8", "uint8"]),
    (quantize, ["int8", "uint8", "int16"]),
    (lambda cases, dtype: quantize(cases, dtype, "int8" if dtype == "uint8" else "uint8"), ["int8", "uint8"]),
    (softmax, ["int8", "uint8"]),
    (reshape, ["int8"]),
    (concat, ["int8", "uint8"]),
    (pad, ["int8", "uint8"]),
    (transpose, ["int8"]),
]


def add_near_ties(cases):
    near_ties_of_macs(cases)
    reducer, product = schema.ReducerOptionsT(), schema.MulOptionsT()
    reducer.keepDims = False
    along = {"axes": [0], "keep_dims": False}
    near_ties_of_elements(cases, "mean", Builtin.MEAN, "float64", reducer, along, [indices([0])])
    near_ties_of_elements(cases, "quantize", Builtin.QUANTIZE, "float64", schema.QuantizeOptionsT())
    near_ties_of_elements(cases, "relu", Builtin.RELU, "float32")
    near_ties_of_elements(cases, "relu6", Builtin.RELU6, "float32")
    near_ties_of_elements(cases, "mul", Builtin.MUL, "float32", product, {"activation": "none"})


def main():
    parser = argparse.ArgumentParser(description="make goldens of single ops with LiteRT's reference kernels")
    parser.add_argument("--per-op", type=int, default=4)
    parser.add_argument("--seed", type=int, default=20260801)
    parser.add_argument("--out", type=Path, default=OUT)
    arguments = parser.parse_args()
    cases = Cases(arguments.seed)
    for op, dtypes in OPS:
        for index in range(arguments.per_op):
            op(cases, dtypes[index % len(dtypes)])
    add_near_ties(cases)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases.list)
    arguments.out.write_text(f"[\n{lines}\n]\n")
    print(f"{arguments.out.name}: {len(cases.list)} cases, {arguments.out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
