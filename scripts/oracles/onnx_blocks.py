"""Products with a weight scale per block of the contracted axis, and their results in ONNX Runtime.

Each case has the exact result and the allowed errors of guardbit and of ONNX Runtime. u = 2^-24 bounds the error of one
rounding in float32, and m is the sum of the products' magnitudes. ONNX Runtime rounds operands, products and their sum:
at most (K + 3) u m. guardbit rounds the scale of a block, its scaled sum, a sum beyond 24 bits, and the sum of the
blocks once: at most 4 u m. A bias is one more addition. A code after a quantizer may differ by one if the real value is
within these bounds of a tie.

Networks run without fusion: for int8 weights with a block size and dequantized activations, ONNX Runtime 1.31.1 fuses a
MatMulIntegerToFloat that its own kernel refuses.
"""

import numpy as np
from onnx import TensorProto, helper

from onnx_case import MS, Net, run
from onnx_one_op import F, Random

U = 2.0**-24
WEIGHTS = {
    TensorProto.INT4: (-8, 7),
    TensorProto.UINT4: (0, 15),
    TensorProto.INT8: (-128, 127),
    TensorProto.UINT8: (0, 255),
}


class Product:
    """Codes `[rows, K]` and a matrix `[N, K]` with blocks of `size` along K."""

    def __init__(self, r, low, high, k, size, zeros, rows=None):
        self.net, self.k, self.n, self.size = Net(), k, r.int(1, 9), size
        self.net.fused = False
        self.rows = rows or r.int(1, 5)
        self.blocks = -(-k // size)
        self.dtype = r.dtype()
        self.zx = self.dtype(r.pick(0, 3, 128 if self.dtype == np.uint8 else -128))
        # Powers of two within a small range: every float32 operation is exact.
        self.powers = r.int(0, 2) == 0
        scales = 2.0 ** -r.rng.integers(3, 5, (self.n, self.blocks)) if self.powers else np.exp(r.rng.uniform(-5, -1, (self.n, self.blocks)))
        self.sx = F(2.0**-5) if self.powers else F(r.rng.uniform(0.01, 0.1))
        self.scales = scales.astype(F)
        # Scales as in ONNX Runtime's symmetric block quantizer.
        if r.int(0, 3) == 0:
            self.scales *= r.pick(F(-1), F(1)) * np.where(r.rng.integers(0, 2, self.scales.shape), F(1), F(-1))
        if r.int(0, 5) == 0:
            self.scales[r.int(0, self.n - 1), r.int(0, self.blocks - 1)] = 0
            self.scales[0, 0] = F(0.125)
        self.w = r.rng.integers(low, high + 1, (self.n, self.k))
        if zeros == "each":
            self.zeros = r.rng.integers(low, high + 1, self.scales.shape)
        else:
            self.zeros = np.full(self.scales.shape, (low + high + 1) // 2 if zeros == "middle" else 0)
        self.codes = r.codes((self.rows, k), self.dtype)

    def steps(self):
        """Returns the weights minus their zero points, and the scale of each."""
        spread = lambda values: np.repeat(values, self.size, 1)[:, : self.k]
        return self.w - spread(self.zeros), spread(self.scales).astype(np.float64)

    def sums(self):
        """Returns the integer sum of each block: `[rows, blocks, N]`."""
        w, _ = self.steps()
        x = self.codes.astype(np.int64) - int(self.zx)
        cuts = range(0, self.k, self.size)
        return np.stack([x[:, at : at + self.size] @ w[:, at : at + self.size].T for at in cuts], 1)

    def exact(self):
        """Returns the product `[rows, N]` in float64, and the sum of its products' magnitudes."""
        w, scales = self.steps()
        x = (self.codes.astype(np.float64) - int(self.zx)) * float(self.sx)
        return x @ (w * scales).T, np.abs(x) @ np.abs(w * scales).T

    def add(self, cases, name, op, y, turned=False, bias=None, layers=1, quantizer=False, sums=True, r=None):
        """Adds the network whose output `y` is this product."""
        net = self.net
        exact, magnitude = self.exact()
        if bias is not None:
            exact, magnitude = exact + bias, magnitude + np.abs(bias)
        own, theirs = (0 if self.powers else 4) * U * magnitude, (0 if self.powers else self.k + 3) * U * magnitude
        if bias is not None and not self.powers:
            own, theirs = own + U * magnitude, theirs + U * magnitude
        # A product in float rounds each operand and each product, and the sum once.
        if layers == 0:
            own = own if self.powers else 5 * U * magnitude
        if quantizer:
            sy, zy = F(2.0 ** np.ceil(np.log2(np.abs(exact).max() / 100 + 1e-3))), np.int8(r.int(-9, 9))
            y = net.q(y, sy, zy)
            steps = exact / float(sy)
            near = lambda bound: np.abs(np.abs(steps - np.floor(steps)) - 0.5) <= (bound / float(sy) + (0 if self.powers else U * np.abs(steps)))
            own, theirs = near(own).astype(float), near(own + theirs).astype(float)
            exact = np.clip(np.round(steps) + int(zy), -128, 127)
            if self.powers:
                own, theirs = own * 0, theirs * 0
        net.out(y)
        if turned:
            exact, own, theirs = exact.T, own.T, theirs.T
        model = net.model()
        outputs = run(model, net.feeds, net.fused)
        data = lambda values: np.asarray(values, np.float64).ravel().tolist()
        more = dict(exact=data(exact), near_exact=data(own), near_runtime=data(own + theirs if not quantizer else theirs))
        if sums and layers:
            more["sums"] = self.sums().ravel().tolist()
        cases.add(name, model, net.feeds, outputs, layers=layers, op=op, **more)

    def activations(self, shape=None):
        net, codes = self.net, self.codes.reshape(shape or self.codes.shape)
        return net.dq(net.input(codes), self.sx, self.zx)

    def matrix(self, element, axis, permutation=None, with_zeros=True):
        """Adds the weights through a DequantizeLinear, with blocks along `axis` of two."""
        net = self.net
        lay = (lambda values: values) if axis == 1 else np.transpose
        w, scales, zeros = lay(self.w), lay(self.scales), lay(self.zeros)
        tensor = lambda name, values: net.raw(helper.make_tensor(name, element, values.shape, values.ravel().tolist()))
        inputs = [tensor("w", w), net.const(np.ascontiguousarray(scales))] + ([tensor("z", zeros)] if with_zeros else [])
        w = net.op("DequantizeLinear", inputs, axis=axis, block_size=self.size)
        return net.op("Transpose", [w], perm=[1, 0]) if permutation else w


def sizes(r, bits, least=1):
    """Returns K and a block size, which divides it or not, or is larger."""
    size = r.pick(*[size for size in (1, 2, 3, 4, 8, 16, 32) if size >= least])
    most = 60 if bits == 8 else 140
    k = r.pick(size * r.int(1, max(1, most // size)), r.int(1, most), r.int(size, most))
    return k, size


def dequantized(cases, r, name, op):
    """Adds DequantizeLinear with a block size before MatMul or Gemm, on either side."""
    element = r.pick(*WEIGHTS)
    low, high = WEIGHTS[element]
    bits = 4 if high - low < 16 else 8
    k, size = sizes(r, bits)
    zeros = r.pick("none", "none", "middle", "each") if low < 0 else r.pick("middle", "each")
    p = Product(r, low, high, k, size, zeros)
    given, net = zeros != "none", p.net
    quantizer, layers, bias, turned = r.int(0, 3) == 0, 1, None, False
    if op == "MatMul":
        x = p.activations((1, p.rows, k) if r.int(0, 2) == 0 else None)
        by_transpose = r.int(0, 2) == 0
        y = net.op("MatMul", [x, p.matrix(element, 1 if by_transpose else 0, by_transpose, given)])
    elif op == "MatMul_left":
        # y = W * x', with the rows of x as columns.
        x = net.op("Transpose", [p.activations()], perm=[1, 0])
        y, turned = net.op("MatMul", [p.matrix(element, 1, None, given), x]), True
    elif op == "Gemm":
        trans_a, trans_b = r.int(0, 1), r.int(0, 1)
        x = p.activations()
        if trans_a:
            x = net.op("Transpose", [x], perm=[1, 0])
        inputs = [x, p.matrix(element, trans_b, None, given)]
        if r.int(0, 1):
            bias = (np.round(r.rng.uniform(-50, 50, p.n)) * 2.0**-9).astype(F)
            inputs.append(net.const(bias))
        y = net.op("Gemm", inputs, transA=trans_a, transB=trans_b)
    else:
        assert op == "Relu"
        p.zx = p.dtype(3)
        x = net.op("Relu", [p.activations()])
        p.codes = np.maximum(p.codes, 3)
        y = net.op("MatMul", [x, p.matrix(element, 0, None, given)])
    p.add(cases, name, op, y, turned, bias, layers, quantizer, r=r)


def convolved(cases, r, name, op):
    """Adds a 1x1 Conv with blocks of its input channels, a stride and padding."""
    element = r.pick(*WEIGHTS)
    low, high = WEIGHTS[element]
    k, size = sizes(r, 8 if high - low > 16 else 4)
    p = Product(r, low, high, k, size, "each" if low == 0 else "none", rows=6)
    net = p.net
    images = np.ascontiguousarray(p.codes.reshape(1, 2, 3, k).transpose(0, 3, 1, 2))
    x = net.dq(net.input(images), p.sx, p.zx)
    cell = lambda values: np.asarray(values)[:, :, None, None]
    tensor = lambda name, values: net.raw(helper.make_tensor(name, element, cell(values).shape, np.ravel(values).tolist()))
    inputs = [tensor("w", p.w), net.const(cell(p.scales))] + ([tensor("z", p.zeros)] if low == 0 else [])
    w = net.op("DequantizeLinear", inputs, axis=1, block_size=size)
    inputs, bias = [x, w], None
    if r.int(0, 1):
        bias = (np.round(r.rng.uniform(-50, 50, p.n)) * 2.0**-9).astype(F)
        inputs.append(net.const(bias))
    p.add(cases, name, op, net.op("Conv", inputs), True, bias, r=r)


def packed(codes, bits):
    """Packs codes along the last axis into bytes, the first one in the low bits."""
    per = 8 // bits
    codes = np.concatenate([codes, np.zeros(codes.shape[:-1] + (-codes.shape[-1] % per,), int)], -1)
    parts = codes.reshape(codes.shape[:-1] + (-1, per)) << (bits * np.arange(per))
    return parts.sum(-1).astype(np.uint8)


def of_bits(cases, r, name, op):
    """Adds MatMulNBits with dequantized activations, with and without optional inputs."""
    bits = r.pick(2, 4, 4, 8)
    k, size = sizes(r, bits, 16)
    zeros = r.pick("middle", "packed", "float") if bits < 8 else r.pick("middle", "packed")
    p = Product(r, 0, 2**bits - 1, k, size, "middle" if zeros == "middle" else "each")
    net, quantizer = p.net, r.int(0, 3) == 0
    whole = np.concatenate([p.w, r.rng.integers(0, 2**bits, (p.n, p.blocks * size - k))], 1)
    inputs = [p.activations(), net.const(packed(whole, bits).reshape(p.n, p.blocks, -1))]
    inputs.append(net.const(p.scales if r.int(0, 1) else p.scales.ravel()))
    inputs.append(net.const(packed(p.zeros, bits)) if zeros == "packed" else net.const(p.zeros.astype(F)) if zeros == "float" else "")
    # With `g_idx`, ONNX Runtime 1.31.1 uses 8 for every zero point, whatever the file states.
    trivial = r.int(0, 3) == 0 and bits == 4 and zeros == "middle"
    inputs.append(net.const((np.arange(k) // size).astype(np.int32)) if trivial else "")
    bias = None
    if r.int(0, 2) == 0:
        bias = (np.round(r.rng.uniform(-50, 50, p.n)) * 2.0**-9).astype(F)
        inputs.append(net.const(bias))
    while not inputs[-1]:
        inputs.pop()
    y = net.op("MatMulNBits", inputs, domain=MS, K=k, N=p.n, bits=bits, block_size=size)
    p.add(cases, name, op, y, False, bias, 1, quantizer, r=r)


def in_float(cases, r, name, op):
    """Adds forms that no integer layer accepts: they are products in float, 0 layers."""
    kind = op.removeprefix("float_")
    if kind == "axis":
        # Blocks of output channels: one scale for several rows.
        p = Product(r, -8, 7, r.int(2, 20), 1, "none")
        net, size = p.net, 2
        lines = 2.0 ** -r.rng.integers(3, 5, (-(-p.n // size), p.k))
        p.scales, p.zeros = np.repeat(lines, size, 0)[: p.n].astype(F), np.zeros((p.n, p.k), int)
        w = net.raw(helper.make_tensor("w", TensorProto.INT4, p.w.T.shape, p.w.T.ravel().tolist()))
        w = net.op("DequantizeLinear", [w, net.const(np.ascontiguousarray(lines.T.astype(F)))], axis=1, block_size=size)
        y = net.op("MatMul", [p.activations(), w])
        return p.add(cases, name, op, y, layers=0)
    k, size = sizes(r, 4, 16)
    p = Product(r, 0, 15, k, size, "middle" if kind == "order" else "each")
    net = p.net
    whole = np.concatenate([p.w, np.zeros((p.n, p.blocks * size - k), int)], 1)
    weights, zeros, x = net.const(packed(whole, 4).reshape(p.n, p.blocks, -1)), packed(p.zeros, 4), None
    if kind == "zero_points":
        p.zeros = p.zeros + 0.5
        zeros = p.zeros.astype(F)
    inputs = [weights, net.const(p.scales), "" if kind == "order" else net.const(zeros)]
    if kind == "order":
        order = np.roll(np.arange(k) // size, 1)
        p.steps = lambda: (p.w - p.zeros[:, order], p.scales[:, order].astype(np.float64))
        inputs.append(net.const(order.astype(np.int32)))
    if kind == "activations":
        x = net.input(((p.codes.astype(F) - F(p.zx)) * p.sx).astype(F))
    x = x or p.activations()
    y = net.op("MatMulNBits", [x, *inputs], domain=MS, K=k, N=p.n, bits=4, block_size=size)
    is_layer = kind == "order" and p.blocks == 1
    p.add(cases, name, op, y, layers=int(is_layer), sums=False)


MAKERS = {
    "MatMul": (dequantized, 100),
    "MatMul_left": (dequantized, 40),
    "Gemm": (dequantized, 60),
    "Relu": (dequantized, 20),
    "Conv": (convolved, 40),
    "MatMulNBits": (of_bits, 100),
    "float_axis": (in_float, 10),
    "float_zero_points": (in_float, 10),
    "float_order": (in_float, 10),
    "float_activations": (in_float, 10),
}


def add(cases):
    for op, (make, count) in MAKERS.items():
        for index in range(count):
            make(cases, Random(sum(map(ord, op)) * 1000 + index), f"{op}_{index}", op)
