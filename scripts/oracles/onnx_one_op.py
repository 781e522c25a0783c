"""Networks of one operator with odd shapes, paddings, zero points and scales, and their results in ONNX Runtime."""

import numpy as np
from onnx import helper

from onnx_case import MS, OPSET, Net

F = np.float32


class Random:
    """Seeded choices."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def int(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def pick(self, *values):
        return values[self.int(0, len(values) - 1)]

    def dtype(self):
        return self.pick(np.int8, np.uint8)

    def scale(self):
        """Returns scales: sometimes multiples of each other, so that quotients are ties; sometimes far apart."""
        kind = self.int(0, 9)
        if kind < 5:
            return F(0.1 * self.int(1, 8) * 2.0 ** self.int(-4, 1))
        return F(np.exp(self.rng.uniform(-9, 3) if kind == 9 else self.rng.uniform(-5, 0)))

    def zero(self, dtype):
        info = np.iinfo(dtype)
        return dtype(self.pick(info.min, info.max, 0 if info.min < 0 else 128, self.int(info.min, info.max)))

    def codes(self, shape, dtype):
        info = np.iinfo(dtype)
        codes = self.rng.integers(info.min, info.max + 1, shape)
        return codes.astype(dtype)


def q(net, r, dtype, count=1):
    """Adds a scale and a zero point; returns their names."""
    if count == 1:
        return net.const(r.scale()), net.const(r.zero(dtype))
    scales = np.array([r.scale() for _ in range(count)], F)
    return net.const(scales), net.const(np.array([r.zero(dtype) for _ in range(count)], dtype))


def window(r, with_dilation=True):
    kernel = [r.int(1, 3), r.int(1, 4)]
    attributes = {"kernel_shape": kernel, "strides": [r.int(1, 3), r.int(1, 2)]}
    if with_dilation and r.int(0, 2) == 0:
        attributes["dilations"] = [r.int(1, 2), r.int(1, 3)]
    if r.int(0, 3) == 0:
        attributes["auto_pad"] = r.pick("SAME_UPPER", "SAME_LOWER", "VALID")
        attributes.pop("dilations", None)
    else:
        attributes["pads"] = [r.int(0, k - 1) for k in kernel + kernel]
    return attributes, kernel


def conv_parts(r):
    groups = r.pick(1, 1, 2, 3)
    depthwise = r.int(0, 3) == 0
    c = groups * r.int(1, 3)
    o = groups * r.int(1, 4)
    if depthwise:
        c = r.int(2, 5)
        groups, o = c, c * r.int(1, 2)
    attributes, kernel = window(r)
    x = (r.int(1, 2), c, r.int(6, 11), r.int(8, 12))
    return x, (o, c // groups, *kernel), o, {**attributes, "group": groups}


def accumulated(r, w, dtype_w):
    """Returns output scales that keep some codes within the range."""
    return F(np.exp(r.rng.uniform(-3, 1)))


def qlinear_conv(r):
    net = Net()
    x_shape, w_shape, o, attributes = conv_parts(r)
    dx = r.dtype()
    dw = r.pick(np.int8, np.int8, np.uint8) if dx == np.uint8 else np.int8
    per_channel = dw == np.int8 and r.int(0, 1) == 1
    x = net.input(r.codes(x_shape, dx))
    sx = r.scale()
    w = net.const(r.codes(w_shape, dw))
    count = o if per_channel else 1
    sw = np.array([r.scale() for _ in range(count)], F)
    zw = np.zeros(count, dw) if per_channel or dw == np.int8 else np.array([r.zero(dw)], dw)
    terms = np.prod(w_shape[1:])
    sy = F(sx * sw.max() * np.sqrt(terms) * r.pick(32, 40, 100))
    inputs = [x, net.const(sx), net.const(r.zero(dx)), w]
    inputs += [net.const(sw if per_channel else sw[0]), net.const(zw if per_channel else zw[0])]
    inputs += [net.const(sy), net.const(r.zero(dx))]
    if r.int(0, 1):
        inputs.append(net.const(r.rng.integers(-20000, 20000, o).astype(np.int32)))
    net.out(net.op("QLinearConv", inputs, **attributes))
    return net


def qlinear_matmul(r):
    net = Net()
    k, n = r.int(1, 40), r.int(1, 20)
    da = r.dtype()
    db = r.pick(np.int8, np.uint8) if da == np.uint8 else np.int8
    a = net.input(r.codes(r.pick((3, k), (2, 3, k), (1, k)), da))
    sa, sb = r.scale(), r.scale()
    per_column = r.int(0, 2) == 0
    count = n if per_column else 1
    sbs = np.array([r.scale() for _ in range(count)], F)
    zb = np.array([r.zero(db)] * count, db)
    sy = F(sa * sbs.max() * np.sqrt(k) * r.pick(32, 40, 100))
    inputs = [a, net.const(sa), net.const(r.zero(da)), net.const(r.codes((k, n), db))]
    inputs += [net.const(sbs if per_column else sbs[0]), net.const(zb if per_column else zb[0])]
    inputs += [net.const(sy), net.const(r.zero(da))]
    net.out(net.op("QLinearMatMul", inputs))
    return net


def conv_integer(r):
    net = Net()
    x_shape, w_shape, o, attributes = conv_parts(r)
    dx = np.uint8
    inputs = [net.input(r.codes(x_shape, dx)), net.const(r.codes(w_shape, np.uint8))]
    if r.int(0, 1):
        inputs += [net.const(r.zero(dx)), net.const(r.zero(np.uint8))]
    net.out(net.op("ConvInteger", inputs, **attributes))
    return net


def matmul_integer(r):
    net = Net()
    k, n = r.int(1, 40), r.int(1, 20)
    da = r.dtype()
    db = r.pick(np.int8, np.uint8) if da == np.uint8 else np.int8
    inputs = [net.input(r.codes(r.pick((3, k), (2, 3, k)), da)), net.const(r.codes((k, n), db))]
    if r.int(0, 1):
        inputs += [net.const(r.zero(da)), net.const(r.zero(db))]
    net.out(net.op("MatMulInteger", inputs))
    return net


def shapes_of_pair(r):
    full = [r.int(1, 2), r.int(1, 5), r.int(1, 6), r.int(1, 7)][r.int(0, 3):]
    other = [r.pick(1, n, n) for n in full][r.int(0, len(full) - 1):]
    return (tuple(full), tuple(other)) if r.int(0, 1) else (tuple(other), tuple(full))


def qlinear_pair(op):
    def make(r):
        net = Net()
        dtype = r.dtype()
        a, b = shapes_of_pair(r)
        b_const = r.int(0, 1) == 1
        first = [net.input(r.codes(a, dtype)), *q(net, r, dtype)]
        codes = r.codes(b, dtype)
        second = [net.const(codes) if b_const else net.input(codes), *q(net, r, dtype)]
        net.out(net.op(op, first + second + [*q(net, r, dtype)], MS))
        return net

    return make


def qlinear_global_average_pool(r):
    net = Net()
    dtype = r.dtype()
    x = net.input(r.codes((r.int(1, 2), r.int(1, 20), r.int(1, 9), r.int(1, 9)), dtype))
    net.out(net.op("QLinearGlobalAveragePool", [x, *q(net, r, dtype), *q(net, r, dtype)], MS))
    return net


def qlinear_average_pool(r):
    net = Net()
    dtype = r.dtype()
    attributes, _ = window(r, with_dilation=False)
    attributes["count_include_pad"] = r.int(0, 1)
    x = net.input(r.codes((1, r.int(1, 4), r.int(4, 9), r.int(4, 9)), dtype))
    net.out(net.op("QLinearAveragePool", [x, *q(net, r, dtype), *q(net, r, dtype)], MS, **attributes))
    return net


def qlinear_concat(r):
    net = Net()
    dtype = r.dtype()
    inputs = [*q(net, r, dtype)]
    rows = r.int(1, 4)
    for _ in range(r.int(1, 3)):
        inputs += [net.input(r.codes((1, r.int(1, 4), rows, 5), dtype)), *q(net, r, dtype)]
    net.out(net.op("QLinearConcat", inputs, MS, axis=1))
    return net


def qlinear_function(op, **attributes):
    def make(r):
        net = Net()
        dtype = r.dtype()
        info = np.iinfo(dtype)
        x = net.input(np.arange(info.min, info.max + 1).astype(dtype).reshape(4, 64))
        net.out(net.op(op, [x, *q(net, r, dtype), *q(net, r, dtype)], MS, **attributes))
        return net

    return make


def qlinear_softmax(r):
    net = Net()
    dtype = r.dtype()
    # The sum of many elements shows how its terms are rounded.
    shape = (1, r.int(4000, 60000)) if r.int(0, 4) == 0 else (r.int(1, 4), r.int(1, 40))
    info = np.iinfo(dtype)
    x = r.codes(shape, dtype)
    if r.int(0, 1):
        x = np.clip(r.rng.normal(0 if info.min < 0 else 128, 25, shape), info.min, info.max).astype(dtype)
    x = net.input(x)
    # Signed codes out of range are clamped; unsigned ones wrap modulo 256 at scales below 1/256.
    scale = r.pick(1 / 256, 1 / 255, 0.01, *([1 / 512, 1 / 4096] if info.min < 0 else []))
    zero = dtype(r.pick(info.min, info.min + 3, 0))
    output = [net.const(F(scale)), net.const(zero)]
    net.out(net.op("QLinearSoftmax", [x, *q(net, r, dtype), *output], MS, axis=-1, opset=13))
    return net


def qgemm(r):
    net = Net()
    m, k, n = r.int(1, 3), r.int(1, 40), r.int(1, 20)
    da, db = r.dtype(), np.int8
    transposed = r.int(0, 1)
    sa, sb = r.scale(), r.scale()
    sy = F(sa * sb * np.sqrt(k) * r.pick(32, 40, 100))
    b = net.const(r.codes((n, k) if transposed else (k, n), db))
    inputs = [net.input(r.codes((m, k), da)), net.const(sa), net.const(r.zero(da)), b, net.const(sb), net.const(np.int8(0))]
    inputs += [net.const(r.rng.integers(-9000, 9000, n).astype(np.int32)), net.const(sy), net.const(r.zero(da))]
    net.out(net.op("QGemm", inputs, MS, transB=transposed))
    return net


def qdq_conv(r):
    net = Net()
    x_shape, w_shape, o, attributes = conv_parts(r)
    dx = r.dtype()
    sx, zx = r.scale(), r.zero(dx)
    x = net.dq(net.q(net.input(real(r, x_shape, sx, zx)), sx, zx), sx, zx)
    per_channel = r.int(0, 1)
    sw = np.array([r.scale() for _ in range(o if per_channel else 1)], F)
    zero = np.zeros(len(sw), np.int8)
    attributes_w = {"axis": 0} if per_channel else {}
    w = net.op(
        "DequantizeLinear",
        [net.const(r.codes(w_shape, np.int8)), net.const(sw if per_channel else sw[0]), net.const(zero if per_channel else zero[0])],
        **attributes_w,
    )
    inputs = [x, w]
    bias = r.int(0, 2)
    if bias == 2:
        inputs.append(net.const((r.rng.uniform(-20000, 20000, o) * sx * sw).astype(F)))
    if bias == 1:
        codes = r.rng.integers(-20000, 20000, o).astype(np.int32)
        sb = (sx * sw).astype(F)
        inputs.append(
            net.op(
                "DequantizeLinear",
                [net.const(codes), net.const(sb if per_channel else sb[0]), net.const(np.zeros(o, np.int32) if per_channel else np.int32(0))],
                **attributes_w,
            )
        )
    y = net.op("Conv", inputs, **attributes)
    zy = r.zero(dx)
    if r.int(0, 1):
        y = net.op("Relu", [y])
        # Only then does the runtime leave the rectifier to the quantizer.
        zy = dx(np.iinfo(dx).min)
    sy = F(sx * sw.max() * np.sqrt(np.prod(w_shape[1:])) * r.pick(32, 40, 100))
    net.out(net.dq(net.q(y, sy, zy), sy, zy))
    return net


def real(r, shape, scale, zero):
    """Returns real values that quantize to any code, including ties."""
    dtype = type(zero)
    codes = r.codes(shape, dtype).astype(np.int32) - int(zero)
    return (codes * scale).astype(F)


def qdq_gemm(r):
    net = Net()
    m, k, n = r.int(1, 3), r.int(1, 40), r.int(1, 20)
    dx = r.dtype()
    sx, zx, sw = r.scale(), r.zero(dx), r.scale()
    x = net.dq(net.q(net.input(real(r, (m, k), sx, zx)), sx, zx), sx, zx)
    gemm = r.int(0, 1)
    w = net.dq(net.const(r.codes((n, k) if gemm else (k, n), np.int8)), sw, np.int8(0))
    if gemm:
        b = net.dq(net.const(r.rng.integers(-9000, 9000, n).astype(np.int32)), F(sx * sw), np.int32(0))
        y = net.op("Gemm", [x, w, b], transB=1)
    else:
        y = net.op("MatMul", [x, w])
    sy, zy = F(sx * sw * np.sqrt(k) * r.pick(32, 40, 100)), r.zero(dx)
    net.out(net.dq(net.q(y, sy, zy), sy, zy))
    return net


def qdq_pair(op):
    def make(r):
        net = Net()
        dtype = r.dtype()
        ends = []
        for shape in shapes_of_pair(r):
            s, z = r.scale(), r.zero(dtype)
            ends.append(net.dq(net.q(net.input(real(r, shape, s, z)), s, z), s, z))
        s, z = r.scale(), r.zero(dtype)
        net.out(net.dq(net.q(net.op(op, ends), s, z), s, z))
        return net

    return make


def qdq_function(op, **attributes):
    def make(r):
        net = Net()
        dtype = r.pick(np.int8, np.uint8, np.int16)
        s, z = r.scale(), r.zero(dtype)
        x = net.dq(net.q(net.input(real(r, (3, 50), s, z)), s, z), s, z)
        y = net.op(op, [x], **attributes)
        s, z = r.scale(), r.zero(dtype)
        if op == "Softmax":
            # With less, the runtime's results on uint8 leave the range and wrap.
            s = max(s, F(1 / 256))
        net.out(net.dq(net.q(y, s, z), s, z))
        return net

    return make


def qdq_pool(op):
    def make(r):
        net = Net()
        dtype = r.dtype()
        s, z = r.scale(), r.zero(dtype)
        shape = (1, r.int(1, 4), r.int(4, 9), r.int(4, 9))
        x = net.dq(net.q(net.input(real(r, shape, s, z)), s, z), s, z)
        attributes = {} if op.startswith("Global") else window(r, with_dilation=False)[0]
        if op == "MaxPool" and "auto_pad" not in attributes:
            attributes["ceil_mode"] = r.int(0, 1)
        y = net.op(op, [x], **attributes)
        if op != "MaxPool":
            s, z = r.scale(), r.zero(dtype)
        net.out(net.dq(net.q(y, s, z), s, z))
        return net

    return make


def qdq_concat(r):
    net = Net()
    dtype = r.dtype()
    ends = []
    for _ in range(r.int(1, 3)):
        s, z = r.scale(), r.zero(dtype)
        ends.append(net.dq(net.q(net.input(real(r, (2, r.int(1, 4), 3), s, z)), s, z), s, z))
    s, z = r.scale(), r.zero(dtype)
    net.out(net.dq(net.q(net.op("Concat", ends, axis=1), s, z), s, z))
    return net


def qdq_moves(r):
    net = Net()
    dtype = r.dtype()
    s, z = r.scale(), r.zero(dtype)
    x = net.dq(net.q(net.input(real(r, (2, 3, 4, 5), s, z)), s, z), s, z)
    kind = r.int(0, 4)
    if kind == 0:
        y = net.op("Transpose", [x], perm=list(map(int, r.rng.permutation(4))))
    elif kind == 1:
        y = net.op("Reshape", [x, net.const(np.array([0, -1, 5], np.int64))])
    elif kind == 2:
        y = net.op("Flatten", [x], axis=r.int(0, 4))
    elif kind == 3:
        y = net.op("Pad", [x, net.const(np.array([0, 1, 2, 0, 1, 0, 0, 3], np.int64))])
    else:
        y = net.op("Unsqueeze", [x, net.const(np.array([1, -1], np.int64))])
    if r.int(0, 1):
        s, z = r.scale(), r.zero(dtype)
    net.out(net.dq(net.q(y, s, z), s, z))
    return net


def clip(net, r, codes, dtype):
    """Clips codes, at one end or both."""
    info = np.iinfo(dtype)
    low, high = np.sort(r.rng.integers(info.min, info.max + 1, 2)).astype(dtype)
    limits = r.pick((net.const(low), net.const(high)), (net.const(low),), ("", net.const(high)))
    return net.op("Clip", [codes, *limits])


def qlinear_clip(r):
    """Returns a clip of codes that no quantizer produces."""
    net = Net()
    dtype = r.dtype()
    x = net.input(r.codes((3, 40), dtype))
    y = net.op("QLinearLeakyRelu", [x, *q(net, r, dtype), *q(net, r, dtype)], domain="com.microsoft", alpha=0.3)
    net.out(clip(net, r, y, dtype))
    return net


def qcdq_gemm(r):
    """Returns a layer with codes of reduced range before and after it, including constants (Brevitas' QCDQ)."""
    net = Net()
    dtype = r.pick(np.int8, np.uint8)
    s, z = r.scale(), r.zero(dtype)
    n, k, m = r.int(1, 4), r.int(1, 30), r.int(1, 12)
    x = net.dq(clip(net, r, net.q(net.input(real(r, (n, k), s, z)), s, z), dtype), s, z)
    sw = r.scale()
    w = net.dq(clip(net, r, net.const(r.codes((k, m), np.int8)), np.int8), sw, np.int8(0))
    s, z = F(s * sw * np.sqrt(k) * r.pick(32, 40, 100)), r.zero(dtype)
    y = net.op("MatMul", [x, w])
    if r.int(0, 1):
        y = net.op("Relu", [y])
    net.out(net.dq(clip(net, r, net.q(y, s, z), dtype), s, z))
    return net


def qdq_own_bias(r):
    """Returns a layer whose bias has its own scale. All scales are powers of two, so that float32 is exact."""
    net = Net()
    net.layers = 1
    dx = r.dtype()
    power = lambda low, high: F(2.0 ** r.int(low, high))
    sx, zx, sw = power(-6, -2), r.zero(dx), power(-7, -3)
    conv = r.int(0, 1)
    n, depth = r.int(1, 6), r.int(1, 5)
    shape, weights = ((2, depth, 4, 3), (n, depth, 2, 2)) if conv else ((3, depth), (depth, n))
    x = net.dq(net.q(net.input(real(r, shape, sx, zx)), sx, zx), sx, zx)
    w = net.dq(net.const(r.codes(weights, np.int8)), sw, np.int8(0))
    # Steps of the sums times 2^-4 to 2^4: below 1 they cannot represent every bias.
    sb = F(sx * sw * 2.0 ** r.int(-4, 4))
    db, count = r.pick(np.int8, np.int8, np.int32), n if conv else r.pick(1, n)
    codes = r.rng.integers(-127, 128, count).astype(db) if db == np.int8 else r.rng.integers(-5000, 5000, count).astype(db)
    if db == np.int8 and r.int(0, 1):
        scales = (sb * 2.0 ** r.rng.integers(-2, 3, count)).astype(F)
        b = net.op("DequantizeLinear", [net.const(codes), net.const(scales), net.const(np.zeros(count, db))], axis=0)
    else:
        b = net.dq(net.const(codes), sb, db(r.pick(0, 0, 3) if db == np.int8 else 0))
    y = net.op("Conv", [x, w, b]) if conv else net.op("Gemm", [x, w, b])
    # ONNX Runtime's fused QGemm ignores the scale of an int32 bias.
    net.fused = conv or db != np.int32
    sy, zy = F(sx * sw * 2.0 ** r.int(4, 8)), r.zero(dx)
    net.out(net.dq(net.q(y, sy, zy), sy, zy))
    return net


def qdq_made_weights(r):
    """Returns a layer whose weights are float constants between quantizers, or codes that are moved. It reads codes
    through a Relu,
    or with another scale than they were quantized with. All scales are powers of two, so that float32 is exact."""
    net = Net()
    net.layers = 1
    dx, conv, per_channel = r.dtype(), r.int(0, 1), r.int(0, 1)
    sx, zx, n, depth = F(2.0 ** r.int(-6, -2)), r.zero(dx), r.int(2, 6), r.int(2, 5)
    shape, weights = ((2, depth, 4, 3), (n, depth, 2, 2)) if conv else ((3, depth), (depth, n))
    codes = net.q(net.input(real(r, shape, sx, zx)), sx, zx)
    x = net.dq(codes, sx if r.int(0, 2) else F(sx * 2), zx)
    if r.int(0, 1):
        x = net.op("Relu", [x])
    axis = 0 if conv else 1
    scales = (2.0 ** r.rng.integers(-7, -3, n if per_channel else ())).astype(F)
    zeros = np.zeros(scales.shape, np.int8)
    w, move = r.codes(weights, np.int8), r.int(0, 3)
    if move == 0:
        along = {"axis": axis} if per_channel else {}
        values = net.const((w.astype(F) + r.rng.uniform(-0.4, 0.4, w.shape).astype(F)) * F(0.03))
        quantizer = [net.const(scales), net.const(zeros)]
        codes = net.op("QuantizeLinear", [values, *quantizer], **along)
        w = net.op("DequantizeLinear", [codes, *quantizer], **along)
    else:
        # Codes in another shape or order, and the operation that restores them.
        perm = [1, 0] if not conv else r.pick([1, 0, 2, 3], [2, 3, 1, 0])
        if move == 1:
            made, at = w.transpose(perm), perm.index(axis)
        else:
            made = w.reshape((1, *w.shape) if move == 2 else (*w.shape[:2], 1, *w.shape[2:]))
            at = axis + 1 if move == 2 else axis
        along = {"axis": at} if per_channel else {}
        w = net.op("DequantizeLinear", [net.const(np.ascontiguousarray(made)), net.const(scales), net.const(zeros)], **along)
        if move == 1:
            w = net.op("Transpose", [w], perm=list(map(int, np.argsort(perm))))
        elif move == 2:
            w = net.op("Squeeze", [w, net.const(np.array([0], np.int64))])
        else:
            w = net.op("Reshape", [w, net.const(np.array(weights, np.int64))])
    y = net.op("Conv", [x, w]) if conv else net.op("MatMul", [x, w])
    sy, zy = F(sx * scales.max() * 2.0 ** r.int(4, 8)), r.zero(dx)
    net.out(net.dq(net.q(y, sy, zy), sy, zy))
    return net


def moved_pair(r):
    """Returns a pair of a tensor of any rank whose channels the reader may have moved, and a constant of at most that
    rank."""
    net = Net()
    n, c, h, w = r.int(1, 2), r.int(2, 4), r.int(1, 3), r.int(2, 4)
    quantized, dtype = r.int(0, 1), r.dtype()
    kernel = r.rng.integers(-3, 4, (c, 2, h if r.int(0, 1) else 1, 1)).astype(F)
    x = net.op("Conv", [net.input(r.rng.integers(-9, 10, (n, 2, h, w)).astype(F)), net.const(kernel)])
    shape = [n, c, h - kernel.shape[2] + 1, w]
    move = r.int(0, 3)
    if move == 1 and shape[2] == 1:
        x, shape = net.op("Squeeze", [x, net.const(np.array([2], np.int64))]), [n, c, w]
    elif move:
        x, shape = net.op("Reshape", [x, net.const(np.array([n, c, -1], np.int64))]), [n, c, shape[2] * w]
    if r.int(0, 1):
        perm = r.pick([0, 2, 1], [0, 2, 1], [1, 0, 2]) if len(shape) == 3 else r.pick([0, 2, 3, 1], [0, 3, 1, 2])
        x, shape = net.op("Transpose", [x], perm=perm), [shape[axis] for axis in perm]
    rank = r.int(0, len(shape))
    other = [size if r.int(0, 3) else 1 for size in shape[len(shape) - rank :]]
    values = r.rng.integers(-9, 10, other)
    op = r.pick("Add", "Mul", "Sub", "Max", "PRelu")
    if quantized and op in ("Add", "Mul"):
        s, z = F(0.5), r.zero(dtype)
        x = net.dq(net.q(x, s, z), s, z)
        y = net.dq(net.const(values.astype(dtype)), F(0.25), dtype(0))
        net.out(net.dq(net.q(net.op(op, [x, y]), s, z), s, z))
    else:
        net.out(net.op(op, [x, net.const(values.astype(F))]))
    return net


def power(r):
    """Returns a scale whose products and sums are exact in float32."""
    return F(2.0 ** r.int(-6, 0))


def conv_transpose(r):
    """Returns a transposed convolution; the runtime computes it in float32, here without rounding."""
    net = Net()
    groups = r.pick(1, 1, 2)
    c, o = groups * r.int(1, 3), groups * r.int(1, 3)
    kernel = [r.int(1, 4), r.int(1, 3)]
    attributes = {"group": groups, "strides": [r.int(1, 3), r.int(1, 2)]}
    if r.int(0, 2) == 0:
        attributes["dilations"] = [r.int(1, 2), r.int(1, 2)]
    if r.int(0, 1):
        attributes["pads"] = [r.int(0, k - 1) for k in kernel + kernel]
    if r.int(0, 2) == 0:
        attributes["output_padding"] = [r.int(0, s - 1) for s in attributes["strides"]]
    dx = r.dtype()
    sx, zx = power(r), r.zero(dx)
    shape = (1, c, r.int(2, 5), r.int(2, 5))
    x = net.dq(net.q(net.input(real(r, shape, sx, zx)), sx, zx), sx, zx)
    codes = net.const(r.codes((c, o // groups, *kernel), np.int8))
    if groups == 1 and r.int(0, 1):
        scales = np.array([power(r) for _ in range(o)], F)
        w = net.op("DequantizeLinear", [codes, net.const(scales), net.const(np.zeros(o, np.int8))], axis=1)
    else:
        scales = np.full(o, power(r), F)
        w = net.dq(codes, scales[0], np.int8(0))
    inputs = [x, w]
    if r.int(0, 1):
        inputs.append(net.const((r.rng.integers(-2000, 2000, o) * sx * scales).astype(F)))
    sy, zy = F(2.0 ** np.ceil(np.log2(sx * scales.max() * np.sqrt(c * np.prod(kernel)) * 64))), r.zero(dx)
    net.out(net.dq(net.q(net.op("ConvTranspose", inputs, **attributes), sy, zy), sy, zy))
    net.layers = 1
    return net


def dense(net, r, x, k, n):
    """Adds an integer layer after the codes `x`; returns its output with scale and zero point."""
    w = net.dq(net.const(r.codes((k, n), np.int8)), r.scale(), np.int8(0))
    sy, zy = F(r.scale() * 200), r.zero(np.int8)
    return net.dq(net.q(net.op("MatMul", [x, w]), sy, zy), sy, zy), sy, zy


def unusual_form(r):
    """Returns a layer in a file of unusual form: nodes in another order, a local function, negative pads, computed
    shapes."""
    net, kind = Net(), r.int(0, 3)
    k, n = 2 * r.int(2, 6), r.int(1, 8)
    sx, zx = r.scale(), r.zero(np.int8)
    if kind == 2:
        shape, pads = (1, k + 2), [0, -1, 0, -1]
    else:
        shape, pads = (2, k), None
    x = net.dq(net.q(net.input(real(r, shape, sx, zx)), sx, zx), sx, zx)
    if kind == 1:
        body = [
            helper.make_node("MatMul", ["a", "b"], ["product"]),
            helper.make_node("QuantizeLinear", ["product", "scale", "zero"], ["codes"]),
            helper.make_node("DequantizeLinear", ["codes", "scale", "zero"], ["y"]),
        ]
        inputs = ["a", "b", "scale", "zero"]
        net.functions.append(helper.make_function("local", "Layer", inputs, ["y"], body, [helper.make_opsetid("", OPSET)]))
        w = net.dq(net.const(r.codes((k, n), np.int8)), r.scale(), np.int8(0))
        net.out(net.op("Layer", [x, w, net.const(F(r.scale() * 200)), net.const(r.zero(np.int8))], domain="local"))
    else:
        if pads:
            x = net.op("Pad", [x, net.const(np.array(pads, np.int64))])
        if kind == 3:
            # torch.onnx writes a reshape in this way if some sizes are -1 or not given.
            i64 = lambda *values: np.array(values, np.int64)
            rows = net.op("Gather", [net.op("Shape", [x]), net.const(i64(0))], axis=0)
            half = net.op("Div", [net.const(i64(k)), net.op("Mod", [net.const(i64(7)), net.const(i64(5))])])
            none = net.op("Slice", [net.op("Shape", [x]), net.const(i64(0)), net.const(i64(0))])
            sizes = net.op("Concat", [none, rows, net.const(i64(-1)), half], axis=0)
            sizes = net.op("Where", [net.op("Equal", [sizes, net.const(i64(-1))]), net.const(i64(2, 2, 2)), sizes])
            x = net.op("Reshape", [x, sizes])
            order = net.op("Range", [net.const(np.int64(1)), net.const(np.int64(-1)), net.const(np.int64(-1))])
            x = net.op("Gather", [x, order], axis=1)
            x = net.op("Reshape", [x, net.const(i64(2, k))])
        net.out(dense(net, r, x, k, n)[0])
        if kind == 0:
            r.rng.shuffle(net.nodes)
    net.layers = 1
    return net


def wide_sums(r):
    """Returns a 16 x 16-bit product without a quantizer after it: its sums may exceed 32 bits, so it stays in float."""
    net = Net()
    net.fused = False
    k, n = r.int(20, 200), r.int(1, 6)
    sx, zx, sw = F(2.0**-8), np.int16(0), F(2.0**-10)
    codes = r.codes((1, k), np.int16)
    x = net.dq(net.q(net.input((codes * sx).astype(F)), sx, zx), sx, zx)
    large = r.int(0, 1)
    values = r.rng.integers(20000, 32767, (k, n)).astype(np.int16) if large else r.rng.integers(-2, 3, (k, n)).astype(np.int16)
    y = net.op("MatMul", [x, net.dq(net.const(values), sw, np.int16(0))])
    # Codes of sums that float32 represents closely enough.
    sy = F(2.0**14 if large else 2.0**-3)
    y = net.op("Mul", [y, net.const(F(0.5))])
    net.out(net.dq(net.q(y, sy, np.int16(0)), sy, np.int16(0)))
    net.layers = 0 if large else 1
    return net


MAKERS = {
    "conv_transpose": (conv_transpose, 60),
    "unusual_form": (unusual_form, 40),
    "wide_sums": (wide_sums, 10),
    "qdq_own_bias": (qdq_own_bias, 40),
    "qdq_made_weights": (qdq_made_weights, 60),
    "moved_pair": (moved_pair, 60),
    "QLinearConv": (qlinear_conv, 60),
    "QLinearMatMul": (qlinear_matmul, 40),
    "ConvInteger": (conv_integer, 20),
    "MatMulInteger": (matmul_integer, 20),
    "QLinearAdd": (qlinear_pair("QLinearAdd"), 40),
    "QLinearMul": (qlinear_pair("QLinearMul"), 40),
    "QLinearGlobalAveragePool": (qlinear_global_average_pool, 20),
    "QLinearAveragePool": (qlinear_average_pool, 30),
    "QLinearConcat": (qlinear_concat, 20),
    "QLinearLeakyRelu": (qlinear_function("QLinearLeakyRelu", alpha=0.1), 20),
    "QLinearSigmoid": (qlinear_function("QLinearSigmoid"), 20),
    "QLinearSoftmax": (qlinear_softmax, 40),
    "QGemm": (qgemm, 30),
    "qdq_Conv": (qdq_conv, 60),
    "qdq_Gemm": (qdq_gemm, 40),
    "qdq_Add": (qdq_pair("Add"), 20),
    "qdq_Mul": (qdq_pair("Mul"), 20),
    "qdq_Sub": (qdq_pair("Sub"), 10),
    "qdq_Div": (qdq_pair("Div"), 10),
    "qdq_MaxPool": (qdq_pool("MaxPool"), 40),
    "qdq_AveragePool": (qdq_pool("AveragePool"), 20),
    "qdq_GlobalAveragePool": (qdq_pool("GlobalAveragePool"), 15),
    "qdq_Concat": (qdq_concat, 15),
    "qdq_moves": (qdq_moves, 25),
    "qdq_Relu": (qdq_function("Relu"), 10),
    "qdq_LeakyRelu": (qdq_function("LeakyRelu", alpha=0.2), 10),
    "qdq_Sigmoid": (qdq_function("Sigmoid"), 10),
    "qdq_Tanh": (qdq_function("Tanh"), 10),
    "qdq_HardSwish": (qdq_function("HardSwish"), 10),
    "qdq_HardSigmoid": (qdq_function("HardSigmoid"), 5),
    "qdq_Erf": (qdq_function("Erf"), 10),
    "qdq_Gelu": (qdq_function("Gelu"), 10),
    "qdq_Elu": (qdq_function("Elu"), 5),
    "qdq_Exp": (qdq_function("Exp"), 5),
    "qdq_Sqrt": (qdq_function("Abs"), 5),
    "QLinear_Clip": (qlinear_clip, 20),
    "qcdq_MatMul": (qcdq_gemm, 40),
    "qdq_Softmax": (qdq_function("Softmax", axis=-1), 15),
}


def add(cases):
    for op, (make, count) in MAKERS.items():
        for index in range(count):
            seed = sum(map(ord, op)) * 1000 + index
            cases.net(f"{op}_{index}", make(Random(seed)), op=op)
