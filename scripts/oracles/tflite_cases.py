"""Networks of one operator, and of a few that compute its shape, drawn from a seed: shapes, paddings, strides, groups,
broadcasting, scales, zero points.

Every function draws one network of its operator on activations of one type. `CASES` lists them with the types that
they are drawn for.
"""

import numpy as np
from ai_edge_litert import schema_py_generated as schema
from tflite_models import BITS, DTYPES, Tensor

Builtin = schema.BuiltinOperator
FUSED = schema.ActivationFunctionType
EIGHT = ["int8", "uint8"]
ALL = ["int8", "uint8", "int16"]


def limits(dtype):
    """Returns the minimum code, and the maximum code plus 1."""
    if dtype in BITS:
        half = 1 << (BITS[dtype] - 1)
        return -half, half
    info = np.iinfo(DTYPES[dtype][1])
    return int(info.min), int(info.max) + 1


class Draw:
    """Generator of the parameters of a network."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)

    def pick(self, *choices):
        return choices[self.random.integers(len(choices))]

    def size(self, low, high):
        return int(self.random.integers(low, high + 1))

    def sizes(self, rank, low=1, high=5):
        return [self.size(low, high) for _ in range(rank)]

    def scale(self, low=0.005, high=0.5):
        return np.float32(np.exp(self.random.uniform(np.log(low), np.log(high))))

    def zero_point(self, dtype):
        if dtype in ("int16", "int32"):
            return 0
        low, end = limits(dtype)
        return self.pick(low, end - 1, (low + end) // 2, self.size(low, end - 1), self.size(low, end - 1))

    def codes(self, dtype, shape):
        """Returns codes of the whole range; its ends are more likely."""
        low, end = limits(dtype)
        codes = self.random.integers(low, end, shape)
        ends = self.random.random(shape)
        return np.where(ends < 0.05, low, np.where(ends > 0.95, end - 1, codes))

    def input(self, dtype, shape, scale=None, zero_point=None, **more):
        scale = self.scale() if scale is None else scale
        zero_point = self.zero_point(dtype) if zero_point is None else zero_point
        return Tensor(self.codes(dtype, shape), dtype=dtype, scales=scale, zero_points=zero_point, **more)

    def output(self, dtype, scale=None, zero_point=None):
        scale = self.scale() if scale is None else scale
        zero_point = self.zero_point(dtype) if zero_point is None else zero_point
        return Tensor(shape=[], dtype=dtype, scales=scale, zero_points=zero_point)

    def weights(self, dtype, shape, axis, activations):
        """Returns symmetric weights, per channel along `axis`; legacy uint8 networks have one scale and a zero point."""
        if activations == "uint8":
            return Tensor(self.codes("uint8", shape), dtype="uint8", scales=self.scale(0.001, 0.02),
                          zero_points=self.zero_point("uint8"), constant=True)
        channels = 1 if axis is None else shape[axis]
        low, end = limits(dtype)
        codes = np.maximum(self.codes(dtype, shape), low + 1)
        factor = 128 / end
        scales = [self.scale(0.001, 0.02) * np.float32(factor) for _ in range(channels)]
        return Tensor(codes, dtype=dtype, scales=scales, axis=axis, constant=True)

    def bias(self, x, weights, channels, dtype=None):
        scales = np.float32(x.scales[0]) * weights.scales
        axis = None if len(scales) == 1 else 0
        dtype = dtype or ("int64" if x.dtype == "int16" else "int32")
        codes = self.random.integers(-3000, 3001, channels)
        if dtype == "int64":
            codes = codes * self.pick(1, 1000)
        return Tensor(codes, dtype=dtype, scales=scales, axis=axis, constant=True)

    def fused(self):
        return self.pick(FUSED.NONE, FUSED.NONE, FUSED.RELU, FUSED.RELU6, FUSED.RELU_N1_TO_1)

    def spatial(self, dtype, low=2, high=7, channels=4):
        return self.input(dtype, [self.size(1, 2), self.size(low, high), self.size(low, high), self.size(1, channels)])


def like(tensor):
    return Tensor(shape=[], dtype=tensor.dtype, scales=tensor.scales, zero_points=tensor.zero_points, axis=tensor.axis)


def ints(values, dtype="int32"):
    return Tensor(np.asarray(values), dtype=dtype, constant=True)


def options(name, **fields):
    made = getattr(schema, name + "T")()
    for field, value in fields.items():
        assert hasattr(made, field), (name, field)
        setattr(made, field, value)
    return made


# ---- sums of products ----


def window(d, made, dilated):
    made.padding = d.pick(schema.Padding.SAME, schema.Padding.VALID)
    dilation = [d.pick(1, 1, 2), d.pick(1, 1, 2)] if dilated else [1, 1]
    made.strideH, made.strideW = [1, 1] if max(dilation) > 1 else [d.size(1, 3), d.size(1, 3)]
    if dilated:
        made.dilationHFactor, made.dilationWFactor = dilation


def conv2d(weights):
    def make(d, dtype):
        depth, channels, groups = d.size(1, 4), d.size(1, 3), d.pick(1, 2, 3) if dtype == "int8" and weights == "int8" else 1
        x = d.input(dtype, [d.size(1, 2), d.size(5, 9), d.size(5, 9), depth * groups])
        w = d.weights(weights, [channels * groups, d.size(1, 3), d.size(1, 3), depth], 0, dtype)
        made = options("Conv2DOptions", fusedActivationFunction=d.fused())
        window(d, made, True)
        bias = d.bias(x, w, channels * groups, d.pick("int64", "int64", "int32") if dtype == "int16" else None)
        if bias.dtype == "int32" and dtype == "int16":
            # LiteRT reads a 32-bit bias as a 64-bit one unless the type is stated.
            made.quantizedBiasType = schema.TensorType.INT32
        return Builtin.CONV_2D, made, [x, w, bias], [d.output(dtype, d.scale(0.02, 0.2))]

    return make


def depthwise(weights):
    def make(d, dtype):
        made = options("DepthwiseConv2DOptions", fusedActivationFunction=d.fused(), depthMultiplier=d.pick(1, 2, 3))
        window(d, made, True)
        made.strideW = made.strideH
        depth = d.size(1, 4)
        x = d.input(dtype, [d.size(1, 2), d.size(5, 9), d.size(5, 9), depth])
        w = d.weights(weights, [1, d.size(1, 3), d.size(1, 3), depth * made.depthMultiplier], 3, dtype)
        inputs = [x, w, d.bias(x, w, w.shape[3])]
        return Builtin.DEPTHWISE_CONV_2D, made, inputs, [d.output(dtype, d.scale(0.01, 0.1))]

    return make


def fully_connected(weights):
    def make(d, dtype):
        made = options("FullyConnectedOptions", fusedActivationFunction=d.fused(), keepNumDims=d.pick(False, True))
        terms, units = d.size(3, 16), d.size(1, 9)
        x = d.input(dtype, [*d.sizes(d.size(0, 2), 1, 3), d.size(1, 3), terms])
        w = d.weights(weights, [units, terms], None if weights != "int8" else d.pick(None, 0), dtype)
        bias = d.pick(d.bias(x, w, units), d.bias(x, w, units), None)
        inputs = [x, w, bias]
        return Builtin.FULLY_CONNECTED, made, inputs, [d.output(dtype, d.scale(0.01, 0.1))]

    return make


def transpose_conv(d, dtype):
    made = options("TransposeConvOptions", fusedActivationFunction=d.pick(FUSED.NONE, FUSED.RELU, FUSED.RELU6))
    made.padding = d.pick(schema.Padding.SAME, schema.Padding.VALID)
    made.strideH, made.strideW = d.size(1, 3), d.size(1, 3)
    batch, rows, cols, depth, channels = d.size(1, 2), d.size(1, 5), d.size(1, 5), d.size(1, 4), d.size(1, 4)
    x = d.input(dtype, [batch, rows, cols, depth])
    w = d.weights("int8", [channels, d.size(1, 4), d.size(1, 4), depth], 0, dtype)
    shape = [batch]
    for size, stride, kernel in ((rows, made.strideH, w.shape[1]), (cols, made.strideW, w.shape[2])):
        if made.padding == schema.Padding.SAME:
            shape.append(size * stride - d.size(0, stride - 1))
        else:
            shape.append((size - 1) * stride + kernel + d.size(0, stride - 1))
    inputs = [ints([*shape, channels]), w, x]
    if d.pick(True, False):
        inputs.append(d.bias(x, w, channels))
    return Builtin.TRANSPOSE_CONV, made, inputs, [d.output(dtype, d.scale(0.02, 0.2))]


def batch_matmul(d, dtype):
    made = options("BatchMatMulOptions", adjX=d.pick(False, True), adjY=d.pick(False, True))
    rows, terms, cols = d.sizes(3, 1, 6)
    front = d.sizes(d.size(0, 2), 1, 3)
    lhs = [terms, rows] if made.adjX else [rows, terms]
    rhs = [cols, terms] if made.adjY else [terms, cols]
    other = d.pick(front, [1] * len(front), front[1:], [])
    fronts = d.pick([front, other], [other, front])
    x = d.input(dtype, [*fronts[0], *lhs])
    y = d.input(dtype, [*fronts[1], *rhs], scale=d.scale(0.005, 0.05))
    y.constant = d.pick(True, False)
    return Builtin.BATCH_MATMUL, made, [x, y], [d.output(dtype, d.scale(0.02, 0.2))]


def matmul_weights(d, dtype):
    """Returns products with one constant matrix, which an accelerator can run."""
    made = options("BatchMatMulOptions", adjY=d.pick(False, True))
    rows, terms, cols = d.sizes(3, 1, 6)
    x = d.input(dtype, [*d.sizes(d.size(0, 2), 1, 3), rows, terms])
    y = d.input(dtype, [cols, terms] if made.adjY else [terms, cols], scale=d.scale(0.005, 0.05))
    y.constant = True
    return Builtin.BATCH_MATMUL, made, [x, y], [d.output(dtype, d.scale(0.02, 0.2))]


# ---- element by element ----


def one(name, with_options=None, dtype_out=None, scale_out=None, zero_out=None, scale_in=(0.005, 0.5)):
    def make(d, dtype):
        count = {"int16": 600}.get(dtype, 256)
        x = d.input(dtype, [d.size(1, 2), count], scale=d.scale(*scale_in))
        made = options(with_options) if with_options else None
        scale = scale_out(dtype) if scale_out else None
        zero = zero_out(dtype) if zero_out else None
        return getattr(Builtin, name), made, [x], [d.output(dtype_out or dtype, scale, zero)]

    return make


def moved(name, with_options=None):
    """Returns an output like the input, or with its own quantization."""

    def make(d, dtype):
        x = d.input(dtype, [d.size(1, 2), 200])
        made = options(with_options) if with_options else None
        return getattr(Builtin, name), made, [x], [d.pick(like(x), d.output(dtype), d.output(dtype))]

    return make


def neg(d, dtype):
    x = d.input(dtype, [2, 200], zero_point=0 if dtype == "int16" else d.size(-127, 127))
    y = Tensor(shape=[], dtype=dtype, scales=x.scales, zero_points=-x.zero_points[0])
    return Builtin.NEG, options("NegOptions"), [x], [y]


def leaky_relu(d, dtype):
    made = options("LeakyReluOptions", alpha=float(np.float32(d.pick(0.1, 0.3, 0.01, -0.2, 1.5, 0.0))))
    return Builtin.LEAKY_RELU, made, [d.input(dtype, [2, 120])], [d.output(dtype)]


def prelu(d, dtype):
    x = d.spatial(dtype)
    alpha = d.input("int8" if dtype == "int16" else dtype, d.pick([1, 1, x.shape[3]], [x.shape[3]], x.shape[1:], [1]))
    alpha.constant = True
    return Builtin.PRELU, None, [x, alpha], [d.output(dtype)]


def logistic(d, dtype):
    x = d.input(dtype, [2, 256 if dtype != "int16" else 800], scale=sixteen_bit_scale(d, 12) if dtype == "int16" else d.scale(0.001, 1.0))
    scale, zero = {"int8": (1 / 256, -128), "uint8": (1 / 256, 0), "int16": (1 / 32768, 0)}[dtype]
    return Builtin.LOGISTIC, None, [x], [d.output(dtype, scale, zero)]


def tanh(d, dtype):
    x = d.input(dtype, [2, 256 if dtype != "int16" else 800], scale=sixteen_bit_scale(d, 12) if dtype == "int16" else d.scale(0.001, 1.0))
    scale, zero = {"int8": (1 / 128, 0), "uint8": (1 / 128, 128), "int16": (1 / 32768, 0)}[dtype]
    return Builtin.TANH, None, [x], [d.output(dtype, scale, zero)]


def sixteen_bit_scale(d, fraction):
    return d.pick(2.0**-fraction, 2.0 ** -(fraction - 1), 2.0**-14, d.scale(0.00005, 0.001), d.scale(0.00005, 0.001), d.scale(0.00005, 0.01))


def binary_shapes(d):
    shape = [d.size(1, 2), *d.sizes(3, 2, 3)]
    other = d.pick(shape, [1, 1, 1, shape[3]], shape[3:], [shape[0], 1, shape[2], 1], [1])
    return d.pick([shape, other], [other, shape])


def binary(name, with_options, low=0.005, high=0.5):
    def make(d, dtype):
        made = options(with_options)
        if hasattr(made, "fusedActivationFunction"):
            made.fusedActivationFunction = d.fused()
        if hasattr(made, "potScaleInt16"):
            made.potScaleInt16 = False
        inputs = [d.input(dtype, shape) for shape in binary_shapes(d)]
        inputs[1].constant = d.pick(False, False, True)
        return getattr(Builtin, name), made, inputs, [d.output(dtype, d.scale(low, high))]

    return make


def extremum(name):
    def make(d, dtype):
        shapes = binary_shapes(d)
        x = d.input(dtype, shapes[0])
        y = d.input(dtype, shapes[1], scale=x.scales[0], zero_point=x.zero_points[0], constant=d.pick(False, True))
        return getattr(Builtin, name), options("MaximumMinimumOptions"), [x, y], [like(x)]

    return make


def quantize(d, dtype):
    out = d.pick(*{"int8": ["int8", "uint8", "int16"], "uint8": ["int8", "uint8"], "int16": ["int16", "int8", "int32"], "int32": ["int16", "int8"]}[dtype])
    x = d.input(dtype, [2, 200])
    y = d.output(out)
    if dtype == "int32":
        x.scales = np.atleast_1d(d.scale(1e-7, 1e-6))
    if {dtype, out} == {"int8", "uint8"} and d.pick(True, False):
        y = Tensor(shape=[], dtype=out, scales=x.scales, zero_points=x.zero_points[0] + (128 if out == "uint8" else -128))
    return Builtin.QUANTIZE, options("QuantizeOptions"), [x], [y]


def softmax(d, dtype):
    x = d.input(dtype, [d.size(1, 4), d.size(1, 20)], scale=d.scale(0.001, 1.0) if dtype != "int16" else d.scale(0.00002, 0.001))
    made = options("SoftmaxOptions", beta=float(np.float32(d.pick(1, 1, 0.3))))
    out = d.pick("int8", "int16") if dtype == "int8" else dtype
    scale, zero = {"int8": (1 / 256, -128), "uint8": (1 / 256, 0), "int16": (1 / 32768, 0)}[out]
    if (dtype, out) == ("int8", "int16"):
        scale, zero = 1 / 65536, -32768
    return Builtin.SOFTMAX, made, [x], [d.output(out, scale, zero)]


def l2_normalization(d, dtype):
    x = d.input(dtype, [d.size(1, 4), d.size(1, 12)])
    zero = 0 if dtype == "int8" else 128
    return Builtin.L2_NORMALIZATION, options("L2NormOptions"), [x], [d.output(dtype, 1 / 128, zero)]


def rsqrt(d, dtype):
    x = d.input(dtype, [2, 128], zero_point=limits(dtype)[0])
    x.codes = np.maximum(x.codes, x.zero_points[0] + 1).astype(x.codes.dtype)
    return Builtin.RSQRT, None, [x], [d.output(dtype, d.scale(0.01, 0.5))]


# ---- reductions ----


def reduction(name, same=False):
    def make(d, dtype):
        rank = d.size(2, 4)
        axes = sorted(int(a) for a in d.random.permutation(rank)[: d.size(1, rank)])
        axes = [axis - rank if d.pick(True, False) else axis for axis in axes]
        x = d.input(dtype, d.sizes(rank))
        made = options("ReducerOptions", keepDims=d.pick(False, True))
        return getattr(Builtin, name), made, [x, ints(axes)], [like(x) if same else d.output(dtype)]

    return make


def arg(name, with_options):
    def make(d, dtype):
        shape = d.sizes(d.size(1, 4), 1, 6)
        made = options(with_options, outputType=d.pick(schema.TensorType.INT32, schema.TensorType.INT64))
        out = "int32" if made.outputType == schema.TensorType.INT32 else "int64"
        axis = d.size(-len(shape), len(shape) - 1)
        return getattr(Builtin, name), made, [d.input(dtype, shape), ints(axis)], [Tensor(shape=[], dtype=out)]

    return make


def pool(name):
    def make(d, dtype):
        x = d.spatial(dtype, 4, 9)
        made = options("Pool2DOptions", filterHeight=d.size(1, 4), filterWidth=d.size(1, 4), fusedActivationFunction=d.fused())
        window(d, made, False)
        return getattr(Builtin, name), made, [x], [like(x)]

    return make


# ---- the same codes in another place ----


def slice_(d, dtype):
    shape = d.sizes(d.size(1, 4), 1, 6)
    begin = [d.size(0, size - 1) for size in shape]
    size = [d.pick(-1, d.size(1, full - first)) for full, first in zip(shape, begin)]
    x = d.input(dtype, shape)
    return Builtin.SLICE, options("SliceOptions"), [x, ints(begin), ints(size)], [like(x)]


def strided_slice(d, dtype):
    shape = d.sizes(d.size(1, 4), 2, 6)
    made = options("StridedSliceOptions", beginMask=0, endMask=0, ellipsisMask=0, newAxisMask=0, shrinkAxisMask=0)
    begin, end, strides, axis = [], [], [], 0
    # An ellipsis covers at least one axis here: LiteRT treats an empty one as an axis.
    ellipsis = d.pick(None, None, d.size(0, len(shape) - 1))
    new = d.pick(None, None, d.size(0, len(shape)))
    entries = [("axis", size) for size in shape]
    if ellipsis is not None:
        skipped = d.size(1, len(shape) - ellipsis)
        entries[ellipsis : ellipsis + skipped] = [("ellipsis", None)]
    if new is not None and new <= len(entries):
        entries.insert(new, ("new", None))
    for index, (kind, size) in enumerate(entries):
        if kind == "ellipsis":
            made.ellipsisMask |= 1 << index
        if kind == "new":
            made.newAxisMask |= 1 << index
        if kind != "axis":
            begin.append(0), end.append(0), strides.append(1)
            continue
        stride = d.pick(1, 1, 2, 3, -1, -2)
        first = d.size(0, size - 1)
        last = d.size(first + 1, size) if stride > 0 else d.size(-size - 1, first - 1 - size)
        if d.pick(False, False, False, True):
            made.shrinkAxisMask |= 1 << index
            stride, last = 1, first + 1
        else:
            made.beginMask |= d.pick(0, 0, 1) << index
            made.endMask |= d.pick(0, 0, 1) << index
        begin.append(first - size if d.pick(False, True) else first)
        end.append(last), strides.append(stride)
    x = d.input(dtype, shape)
    return Builtin.STRIDED_SLICE, made, [x, ints(begin), ints(end), ints(strides)], [like(x)]


def split(d, dtype):
    shape, count = d.sizes(d.size(1, 4), 1, 4), d.size(1, 4)
    axis = d.size(0, len(shape) - 1)
    shape[axis] *= count
    x = d.input(dtype, shape)
    given = axis - len(shape) if d.pick(True, False) else axis
    return Builtin.SPLIT, options("SplitOptions", numSplits=count), [ints(given), x], [like(x) for _ in range(count)]


def split_v(d, dtype):
    shape, parts = d.sizes(d.size(1, 4), 1, 4), d.sizes(d.size(1, 4), 1, 3)
    axis = d.size(0, len(shape) - 1)
    shape[axis] = sum(parts)
    x = d.input(dtype, shape)
    given = list(parts)
    if d.pick(True, False):
        given[d.size(0, len(parts) - 1)] = -1
    made = options("SplitVOptions", numSplits=len(parts))
    return Builtin.SPLIT_V, made, [x, ints(given), ints(axis)], [like(x) for _ in parts]


def pack(d, dtype):
    shape = d.sizes(d.size(0, 3), 1, 4)
    x = d.input(dtype, shape)
    others = [d.input(dtype, shape, scale=x.scales[0], zero_point=x.zero_points[0]) for _ in range(d.size(0, 2))]
    made = options("PackOptions", valuesCount=1 + len(others), axis=d.size(-len(shape) - 1, len(shape)))
    return Builtin.PACK, made, [x, *others], [like(x)]


def unpack(d, dtype):
    shape = d.sizes(d.size(1, 4), 1, 4)
    axis = d.size(-len(shape), len(shape) - 1)
    x = d.input(dtype, shape)
    return Builtin.UNPACK, options("UnpackOptions", num=shape[axis], axis=axis), [x], [like(x) for _ in range(shape[axis])]


def gather(d, dtype):
    shape = d.sizes(d.size(1, 4), 1, 5)
    axis = d.size(0, len(shape) - 1)
    batch = d.pick(0, 0, d.size(0, axis))
    count = [*shape[:batch], *d.sizes(d.size(0, 2), 1, 3)]
    made = options("GatherOptions", axis=axis - len(shape) if d.pick(True, False) else axis, batchDims=batch)
    x = d.input(dtype, shape)
    indices = ints(d.random.integers(0, shape[axis], count), d.pick("int32", "int64"))
    return Builtin.GATHER, made, [x, indices], [like(x)]


def concatenation(d, dtype):
    shape = d.sizes(d.size(1, 4), 1, 3)
    made = options("ConcatenationOptions", axis=d.size(-len(shape), len(shape) - 1), fusedActivationFunction=FUSED.NONE)
    first = d.input(dtype, shape)
    inputs = [first]
    for _ in range(d.size(0, 3)):
        shape = list(shape)
        shape[made.axis] = d.size(1, 3)
        inputs.append(d.input(dtype, shape, scale=first.scales[0], zero_point=first.zero_points[0]))
    return Builtin.CONCATENATION, made, inputs, [like(first)]


def concatenation_scaled(d, dtype):
    """Returns inputs with their own scales and zero points: LiteRT converts uint8 codes to those of the output."""
    rest, axis = d.size(1, 3), d.pick(0, 1)
    y = d.output(dtype)
    inputs = []
    for _ in range(d.size(1, 4)):
        shape = [rest, rest]
        shape[axis] = d.size(60, 120)
        scale = d.pick(None, None, y.scales[0], y.scales[0] * np.float32(d.pick(0.5, 2, 1.5)))
        inputs.append(d.input(dtype, shape, scale=scale, zero_point=d.pick(None, y.zero_points[0])))
        inputs[-1].constant = len(inputs) > 1 and d.pick(False, False, True)
    made = options("ConcatenationOptions", axis=d.pick(axis, axis - 2), fusedActivationFunction=FUSED.NONE)
    return Builtin.CONCATENATION, made, inputs, [y]


def reshape(d, dtype):
    x = d.input(dtype, [2, 3, 4])
    shape = d.pick([4, -1], [24], [1, 2, -1, 2], [-1])
    return Builtin.RESHAPE, options("ReshapeOptions", newShape=shape), [x, ints(shape)], [like(x)]


def computed_shape(d, dtype):
    """Returns a RESHAPE to sizes that are computed from those of its input."""
    sizes = d.sizes(4, 1, 4)
    x, kind = d.input(dtype, sizes), d.pick("int32", "int64")
    number = getattr(schema.TensorType, kind.upper())
    shape = Tensor(shape=[4], dtype=kind, source=(Builtin.SHAPE, options("ShapeOptions", outType=number), [x]))

    def of(builtin, name, inputs, result, **fields):
        return Tensor(shape=result, dtype=kind, source=(builtin, options(name, **fields), inputs))

    def element(index):
        masks = {"beginMask": 0, "endMask": 0, "ellipsisMask": 0, "newAxisMask": 0, "shrinkAxisMask": 1}
        return of(Builtin.STRIDED_SLICE, "StridedSliceOptions", [shape, ints([index]), ints([index + 1]), ints([1])], [], **masks)

    def gathered(*indices):
        return of(Builtin.GATHER, "GatherOptions", [shape, ints(indices)], [len(indices)], axis=0, batchDims=0)

    def product(of_list):
        return of(Builtin.REDUCE_PROD, "ReducerOptions", [of_list, ints([0])], [], keepDims=False)

    def packed(*values):
        return of(Builtin.PACK, "PackOptions", list(values), [len(values)], valuesCount=len(values), axis=0)

    def pair(name, x, y):
        return of(getattr(Builtin, name.upper()), f"{name}Options", [x, y], [])

    def wide(value):
        return ints(value, kind)

    last = sizes[3]
    target = d.pick(
        # Keras' Flatten.
        lambda: packed(element(0), wide(-1)),
        lambda: packed(element(0), wide(sizes[1] * sizes[2] * last)),
        # A dense layer on several axes.
        lambda: packed(product(gathered(0, 1, 2)), wide(last)),
        lambda: of(Builtin.CONCATENATION, "ConcatenationOptions", [gathered(0, 2, 1), wide([last])], [4], axis=0),
        # Sums and products of sizes.
        lambda: packed(pair("Mul", element(1), element(2)), pair("Add", pair("Sub", element(0), wide(1)), wide(1)), wide(-1)),
    )()
    if kind == "int64":
        # LiteRT reads only 32-bit shapes.
        cast = options("CastOptions", inDataType=number, outDataType=schema.TensorType.INT32)
        target = Tensor(shape=target.shape, dtype="int32", source=(Builtin.CAST, cast, [target]))
    return Builtin.RESHAPE, options("ReshapeOptions", newShape=[]), [x, target], [like(x)]


def squeeze(d, dtype):
    x = d.input(dtype, [1, d.size(1, 3), 1, d.size(2, 3)])
    made = options("SqueezeOptions", squeezeDims=d.pick([], [0], [2], [0, 2], [-2]))
    return Builtin.SQUEEZE, made, [x], [like(x)]


def expand_dims(d, dtype):
    shape = d.sizes(d.size(1, 3))
    x = d.input(dtype, shape)
    return Builtin.EXPAND_DIMS, options("ExpandDimsOptions"), [x, ints([d.size(-len(shape) - 1, len(shape))])], [like(x)]


def transpose(d, dtype):
    shape = d.sizes(d.size(2, 5), 1, 4)
    x = d.input(dtype, shape)
    order = ints([int(a) for a in d.random.permutation(len(shape))])
    return Builtin.TRANSPOSE, options("TransposeOptions"), [x, order], [like(x)]


def pad(d, dtype):
    shape = d.sizes(d.size(1, 4), 1, 4)
    x = d.input(dtype, shape)
    return Builtin.PAD, options("PadOptions"), [x, ints([[d.size(0, 2), d.size(0, 2)] for _ in shape])], [like(x)]


def padv2(d, dtype):
    builtin, _, inputs, outputs = pad(d, dtype)
    x = inputs[0]
    value = Tensor([d.zero_point(dtype) if dtype != "int16" else 77], dtype=dtype, scales=x.scales, zero_points=x.zero_points, constant=True)
    return Builtin.PADV2, options("PadV2Options"), [*inputs, value], outputs


def mirror_pad(d, dtype):
    shape, mode = d.sizes(d.size(1, 4), 2, 4), d.pick(0, 1)
    most = [size - 1 if mode == 0 else size for size in shape]
    x = d.input(dtype, shape)
    paddings = ints([[d.size(0, size), d.size(0, size)] for size in most], d.pick("int32", "int64"))
    return Builtin.MIRROR_PAD, options("MirrorPadOptions", mode=mode), [x, paddings], [like(x)]


def space_to_depth(d, dtype):
    block = d.size(2, 3)
    x = d.input(dtype, [d.size(1, 2), d.size(1, 3) * block, d.size(1, 3) * block, d.size(1, 3)])
    return Builtin.SPACE_TO_DEPTH, options("SpaceToDepthOptions", blockSize=block), [x], [like(x)]


def depth_to_space(d, dtype):
    block = d.size(2, 3)
    x = d.input(dtype, [d.size(1, 2), d.size(1, 3), d.size(1, 3), d.size(1, 3) * block * block])
    return Builtin.DEPTH_TO_SPACE, options("DepthToSpaceOptions", blockSize=block), [x], [like(x)]


def space_to_batch(d, dtype):
    block, crops = [d.size(1, 3), d.size(1, 3)], [[d.size(0, 2), d.size(0, 2)] for _ in range(2)]
    sizes = []
    for (before, after), factor in zip(crops, block):
        size = d.size(1, 5)
        sizes.append(size + -(size + before + after) % factor)
    x = d.input(dtype, [d.size(1, 2), *sizes, d.size(1, 3)])
    return Builtin.SPACE_TO_BATCH_ND, options("SpaceToBatchNDOptions"), [x, ints(block), ints(crops)], [like(x)]


def batch_to_space(d, dtype):
    block = [d.size(1, 3), d.size(1, 3)]
    sizes = [d.size(2, 4), d.size(2, 4)]
    crops = [[d.size(0, 1), d.size(0, size * factor - 2 if size * factor < 4 else 1)] for size, factor in zip(sizes, block)]
    x = d.input(dtype, [d.size(1, 2) * block[0] * block[1], *sizes, d.size(1, 3)])
    return Builtin.BATCH_TO_SPACE_ND, options("BatchToSpaceNDOptions"), [x, ints(block), ints(crops)], [like(x)]


def tile(d, dtype):
    shape = d.sizes(d.size(1, 3), 1, 3)
    x = d.input(dtype, shape)
    return Builtin.TILE, options("TileOptions"), [x, ints(d.sizes(len(shape), 1, 3))], [like(x)]


def reverse(d, dtype):
    shape = d.sizes(d.size(1, 4), 1, 4)
    x = d.input(dtype, shape)
    return Builtin.REVERSE_V2, options("ReverseV2Options"), [x, ints([d.size(0, len(shape) - 1)])], [like(x)]


def resize(name, with_options):
    def make(d, dtype):
        x = d.input(dtype, [d.size(1, 2), *d.sizes(2, 1, 7), d.size(1, 3)])
        align, centers = d.pick((False, False), (True, False), (False, True))
        made = options(with_options, alignCorners=align, halfPixelCenters=centers)
        return getattr(Builtin, name), made, [x, ints(d.sizes(2, 1, 12))], [like(x)]

    return make


def cast(d, dtype):
    out = d.pick("int8", "uint8", "int16", "int32")
    x = Tensor(d.codes(dtype, [2, 40]), dtype=dtype)
    made = options("CastOptions", inDataType=DTYPES[dtype][0], outDataType=DTYPES[out][0])
    return Builtin.CAST, made, [x], [Tensor(shape=[], dtype=out)]


# ---- real values, and integers that stand for themselves ----


def reals(d, shape):
    """Returns values of all sizes, without subnormal ones, which some runtimes flush."""
    return (d.random.standard_normal(shape) * np.exp(d.random.uniform(-6, 6, shape))).astype(np.float32)


def quantize_reals(d, dtype):
    y = d.output(dtype)
    steps = d.random.integers(-40000 if dtype == "int16" else -400, 40000 if dtype == "int16" else 400, [2, 200])
    # Whole steps, halves, and arbitrary values.
    x = np.float32(y.scales[0]) * np.float32(steps + d.pick(0, 0.5, d.random.random([2, 200])))
    return Builtin.QUANTIZE, options("QuantizeOptions"), [Tensor(x, dtype="float32")], [y]


def dequantize(d, dtype):
    return Builtin.DEQUANTIZE, options("DequantizeOptions"), [d.input(dtype, [2, 200])], [Tensor(shape=[], dtype="float32")]


def cast_to_reals(d, dtype):
    x = Tensor(d.codes(dtype, [2, 40]), dtype=dtype)
    made = options("CastOptions", inDataType=DTYPES[dtype][0], outDataType=schema.TensorType.FLOAT32)
    return Builtin.CAST, made, [x], [Tensor(shape=[], dtype="float32")]


def real_function(name):
    def make(d, dtype):
        x = np.abs(reals(d, [2, 60])) if name == "SQRT" else reals(d, [2, 60])
        return getattr(Builtin, name), None, [Tensor(x, dtype="float32")], [Tensor(shape=[], dtype="float32")]

    return make


def real_pair(name, with_options):
    def make(d, dtype):
        inputs = [Tensor(reals(d, shape), dtype="float32") for shape in binary_shapes(d)]
        inputs[1].constant = d.pick(False, True)
        made = options(with_options, fusedActivationFunction=FUSED.NONE)
        return getattr(Builtin, name), made, inputs, [Tensor(shape=[], dtype="float32")]

    return make


def integer_pair(name, with_options):
    def make(d, dtype):
        inputs = [Tensor(d.random.integers(-46000, 46000, shape), dtype="int32") for shape in binary_shapes(d)]
        if name == "FLOOR_DIV":
            inputs[1].codes = np.where(inputs[1].codes == 0, 1, inputs[1].codes // d.pick(1, 1000)).astype(np.int32)
            inputs[1].codes[inputs[1].codes == 0] = -3
        inputs[1].constant = name == "FLOOR_DIV" or d.pick(False, True)
        return getattr(Builtin, name), options(with_options), inputs, [Tensor(shape=[], dtype="int32")]

    return make


def gather_nd(d, dtype):
    shape = d.sizes(d.size(1, 4), 1, 4)
    named = d.size(1, len(shape))
    places = d.sizes(d.size(0, 2), 1, 4)
    indices = np.stack([d.random.integers(0, size, places) for size in shape[:named]], axis=-1)
    x = Tensor(reals(d, shape), dtype="float32") if dtype == "float32" else d.input(dtype, shape)
    y = Tensor(shape=[], dtype="float32") if dtype == "float32" else like(x)
    return Builtin.GATHER_ND, options("GatherNdOptions"), [x, Tensor(indices, dtype="int32")], [y]


# Name, function, types, networks per type.
CASES = [
    ("conv_2d", conv2d("int8"), ALL, 8),
    ("conv_2d_int4", conv2d("int4"), ["int8"], 6),
    ("depthwise_conv_2d", depthwise("int8"), ALL, 8),
    ("depthwise_conv_2d_int4", depthwise("int4"), ["int8"], 6),
    ("fully_connected", fully_connected("int8"), ALL, 8),
    ("fully_connected_int4", fully_connected("int4"), ["int8", "int16"], 5),
    ("transpose_conv", transpose_conv, ALL, 8),
    ("batch_matmul", batch_matmul, ["int8", "int16"], 10),
    ("matmul_weights", matmul_weights, ["int8", "int16"], 10),
    ("average_pool_2d", pool("AVERAGE_POOL_2D"), ALL, 4),
    ("max_pool_2d", pool("MAX_POOL_2D"), ALL, 4),
    ("add", binary("ADD", "AddOptions"), ALL, 6),
    ("sub", binary("SUB", "SubOptions"), ALL, 8),
    ("mul", binary("MUL", "MulOptions"), ALL, 6),
    ("squared_difference", binary("SQUARED_DIFFERENCE", "SquaredDifferenceOptions"), ["int8"], 8),
    ("maximum", extremum("MAXIMUM"), ALL, 4),
    ("minimum", extremum("MINIMUM"), ALL, 4),
    ("relu", moved("RELU"), ALL, 5),
    ("relu6", moved("RELU6"), ALL, 5),
    ("relu_n1_to_1", moved("RELU_N1_TO_1"), EIGHT, 5),
    ("relu_0_to_1", moved("RELU_0_TO_1"), EIGHT, 5),
    ("leaky_relu", leaky_relu, ALL, 8),
    ("prelu", prelu, ALL, 6),
    ("hard_swish", moved("HARD_SWISH", "HardSwishOptions"), EIGHT, 8),
    ("logistic", logistic, ALL, 8),
    ("tanh", tanh, ALL, 8),
    ("abs", moved("ABS", "AbsOptions"), ["int8", "int16"], 5),
    ("neg", neg, ["int8", "int16"], 3),
    ("exp", one("EXP", "ExpOptions"), ["int8", "int16"], 5),
    ("rsqrt", rsqrt, ["int8"], 5),
    ("softmax", softmax, ALL, 8),
    ("l2_normalization", l2_normalization, EIGHT, 6),
    ("quantize", quantize, [*ALL, "int32"], 8),
    ("mean", reduction("MEAN"), ALL, 6),
    ("sum", reduction("SUM"), ALL, 6),
    ("reduce_max", reduction("REDUCE_MAX", True), ALL, 4),
    ("reduce_min", reduction("REDUCE_MIN", True), ALL, 4),
    ("arg_max", arg("ARG_MAX", "ArgMaxOptions"), EIGHT, 7),
    ("arg_min", arg("ARG_MIN", "ArgMinOptions"), EIGHT, 7),
    ("slice", slice_, ALL, 4),
    ("strided_slice", strided_slice, ALL, 12),
    ("split", split, ALL, 4),
    ("split_v", split_v, ALL, 4),
    ("pack", pack, ALL, 4),
    ("unpack", unpack, ALL, 4),
    ("gather", gather, ALL, 6),
    ("concatenation", concatenation, ALL, 4),
    ("concatenation_scaled", concatenation_scaled, ["uint8"], 12),
    ("reshape", reshape, ALL, 2),
    ("computed_shape", computed_shape, ALL, 8),
    ("squeeze", squeeze, ALL, 2),
    ("expand_dims", expand_dims, ALL, 3),
    ("transpose", transpose, ALL, 3),
    ("pad", pad, ALL, 4),
    ("padv2", padv2, ALL, 4),
    ("mirror_pad", mirror_pad, ALL, 4),
    ("space_to_depth", space_to_depth, EIGHT, 3),
    ("depth_to_space", depth_to_space, EIGHT, 3),
    ("space_to_batch_nd", space_to_batch, ALL, 4),
    ("batch_to_space_nd", batch_to_space, ALL, 4),
    ("tile", tile, ALL, 3),
    ("reverse_v2", reverse, ALL, 2),
    ("resize_bilinear", resize("RESIZE_BILINEAR", "ResizeBilinearOptions"), ALL, 8),
    ("resize_nearest_neighbor", resize("RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighborOptions"), ALL, 6),
    ("quantize_reals", quantize_reals, ALL, 6),
    ("dequantize", dequantize, ALL, 3),
    ("cast_to_reals", cast_to_reals, ["int8", "uint8", "int16", "int32"], 2),
    ("sqrt", real_function("SQRT"), ["float32"], 3),
    ("floor", real_function("FLOOR"), ["float32"], 3),
    ("add_reals", real_pair("ADD", "AddOptions"), ["float32"], 4),
    ("sub_reals", real_pair("SUB", "SubOptions"), ["float32"], 4),
    ("mul_reals", real_pair("MUL", "MulOptions"), ["float32"], 4),
    ("div", real_pair("DIV", "DivOptions"), ["float32"], 4),
    ("add_integers", integer_pair("ADD", "AddOptions"), ["int32"], 4),
    ("sub_integers", integer_pair("SUB", "SubOptions"), ["int32"], 4),
    ("mul_integers", integer_pair("MUL", "MulOptions"), ["int32"], 4),
    ("floor_div", integer_pair("FLOOR_DIV", "FloorDivOptions"), ["int32"], 6),
    ("gather_nd", gather_nd, [*EIGHT, "int16", "float32"], 5),
    ("cast", cast, ["int8", "uint8", "int16", "int32"], 5),
]
