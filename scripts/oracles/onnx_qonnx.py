"""Low-bit networks as QONNX writes them, node by node, and their results in PyPI's `qonnx`.

Scales are powers of two, as in FINN, so that the executor's float32 sums are exact.
"""

import numpy as np
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx
from qonnx.transformation.infer_shapes import InferShapes

from onnx_case import Net

QONNX = "qonnx.custom_op.general"
F = np.float32


class Few:
    """Network of low-bit quantizers."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.net = Net()

    def quant(self, x, bits, scale, signed=1, narrow=0, zero=0.0, mode="ROUND"):
        inputs = [x, self.net.const(F(scale)), self.net.const(F(zero)), self.net.const(F(bits))]
        return self.net.op("Quant", inputs, QONNX, signed=signed, narrow=narrow, rounding_mode=mode)

    def bipolar(self, x, scale):
        return self.net.op("BipolarQuant", [x, self.net.const(F(scale))], QONNX)

    def weights(self, shape, bits, per_channel=False):
        w = self.net.const(self.rng.normal(0, 0.5, shape).astype(F))
        if bits == 1:
            return self.bipolar(w, 0.25)
        scale = 2.0 ** (1 - bits)
        if per_channel:
            scales = (scale * 2.0 ** self.rng.integers(-1, 2, shape[0])).astype(F)
            scale = scales.reshape(-1, *[1] * (len(shape) - 1))
        return self.quant(w, bits, scale, narrow=1)

    def act(self, x, bits, scale, relu=True):
        if bits == 1:
            return self.bipolar(x, scale)
        return self.quant(self.net.op("Relu", [x]) if relu else x, bits, scale, signed=int(not relu))

    def norm(self, x, channels):
        r = self.rng
        parts = [r.uniform(0.5, 2, channels), r.normal(0, 0.3, channels), r.normal(0, 0.3, channels), r.uniform(0.3, 2, channels)]
        return self.net.op("BatchNormalization", [x] + [self.net.const(p.astype(F)) for p in parts])


def cnn(seed, wbits, abits, norm=False, per_channel=False, mode="ROUND"):
    f = Few(seed)
    net = f.net
    x = net.input(f.rng.uniform(0, 1, (1, 1, 8, 8)).astype(F), "image")
    x = f.quant(x, 8, 1 / 256, signed=0)
    x = net.op("Conv", [x, f.weights((8, 1, 3, 3), wbits, per_channel)], pads=[1, 1, 1, 1])
    x = f.norm(x, 8) if norm else x
    x = f.act(x, abits, 0.25)
    x = net.op("Conv", [x, f.weights((8, 1, 3, 3), wbits)], group=8)
    x = f.act(x, abits, 0.25)
    x = net.op("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2])
    x = net.op("Conv", [x, f.weights((12, 8, 1, 1), wbits, per_channel)])
    x = f.quant(x, 5, 0.125, mode=mode)
    x = net.op("Reshape", [x, net.const(np.array([1, -1], np.int64))])
    x = net.op("MatMul", [x, f.weights((12 * 9, 10), wbits)])
    net.real_out(x, [1, 10])
    return net


def mlp(seed, wbits, abits, norm=False):
    f = Few(seed)
    net = f.net
    x = net.input(f.rng.uniform(-1, 1, (1, 64)).astype(F), "image")
    x = f.quant(x, 6, 1 / 32, zero=0.0)
    for i, o in [(64, 32), (32, 24)]:
        x = net.op("MatMul", [x, f.weights((i, o), wbits)])
        x = f.norm(x, o) if norm else x
        x = f.act(x, abits, 0.5)
    x = net.op("Gemm", [x, f.weights((10, 24), wbits), net.const(f.rng.integers(-20, 20, 10).astype(F) / 8)], transB=1)
    net.real_out(f.quant(x, 7, 0.25), [1, 10])
    return net


def truncated(seed):
    f = Few(seed)
    net = f.net
    x = f.quant(net.input(f.rng.uniform(0, 4, (1, 4, 4, 4)).astype(F), "image"), 8, 1 / 32, signed=0)
    x = net.op("GlobalAveragePool", [x])
    x = net.op("Mul", [x, net.const(F(16))])
    inputs = [x] + [net.const(F(v)) for v in (1 / 32, 0, 12, 8)]
    net.real_out(net.op("Trunc", inputs, QONNX, rounding_mode="FLOOR"), [1, 4, 1, 1])
    return net


def deep(seed):
    """Returns weights that are moved after their quantizer, layers after a Trunc, and widths and zero points as integers."""
    f = Few(seed)
    net, integer = f.net, [np.int32, np.int64][seed % 2]

    def quant(x, bits, scale, signed=1):
        inputs = [x, net.const(F(scale)), net.const(integer(0)), net.const(integer(bits))]
        return net.op("Quant", inputs, QONNX, signed=signed, narrow=signed, rounding_mode="ROUND")

    def weights(*shape):
        return quant(net.const(f.rng.normal(0, 0.5, shape).astype(F)), 4, 0.125)

    x = quant(net.input(f.rng.uniform(0, 2, (2, 1, 5, 5)).astype(F), "image"), 8, 1 / 64)
    x = net.op("Conv", [x, net.op("Transpose", [weights(2, 2, 4, 1)], perm=[2, 3, 0, 1])])
    x = quant(net.op("Relu", [x]), 8, 1 / 32, signed=0)
    x = net.op("AveragePool", [x], kernel_shape=[2, 2], strides=[2, 2])
    x = net.op("Trunc", [x] + [net.const(F(v)) for v in (1 / 128, 0, 10, 8)], QONNX, rounding_mode="FLOOR")
    x = net.op("Conv", [x, net.op("Reshape", [weights(3, 4), net.const(np.array([3, 4, 1, 1], np.int64))])])
    x = net.op("Flatten", [quant(x, 7, 0.0625)])
    x = net.op("MatMul", [x, net.op("Transpose", [weights(5, 12)], perm=[1, 0])])
    net.real_out(x, [2, 5])
    net.layers = 3
    return net


NETWORKS = {
    "deep": deep,
    "cnn_w2a2": lambda s: cnn(s, 2, 2),
    "cnn_w3a3": lambda s: cnn(s, 3, 3),
    "cnn_w4a4": lambda s: cnn(s, 4, 4, per_channel=True),
    "cnn_w8a5": lambda s: cnn(s, 8, 5, mode="FLOOR"),
    "cnn_w5a7_half_up": lambda s: cnn(s, 5, 7, mode="HALF_UP"),
    "cnn_w11a13": lambda s: cnn(s, 11, 13),
    "cnn_w4a4_norm": lambda s: cnn(s, 4, 4, norm=True),
    "cnn_bipolar": lambda s: cnn(s, 1, 1),
    "mlp_w2a2": lambda s: mlp(s, 2, 2),
    "mlp_w3a3_norm": lambda s: mlp(s, 3, 3, norm=True),
    "mlp_w4a4": lambda s: mlp(s, 4, 4),
    "mlp_bipolar": lambda s: mlp(s, 1, 1),
    "trunc": truncated,
}


def add(cases):
    for label, make in NETWORKS.items():
        for seed in range(4):
            net = make(seed)
            model = net.model(opset=16, domains=(QONNX,))
            wrapper = ModelWrapper(model).transform(InferShapes())
            made = execute_onnx(wrapper, dict(net.feeds))
            outputs = [made[o.name] for o in model.graph.output]
            cases.add(f"{label}_{seed}", model, net.feeds, outputs, network=label, layers=net.layers)
