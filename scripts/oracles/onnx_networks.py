"""Networks on scikit-learn's digits, quantized by ONNX Runtime's quantizer, and a transformer block."""

import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from sklearn.datasets import load_digits

from onnx_case import Net, run

IMAGES = 20


class Float:
    """Float network with seeded weights."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.net = Net()

    def weights(self, *shape):
        fan = np.prod(shape[1:]) if len(shape) > 1 else shape[0]
        return self.rng.normal(0, np.sqrt(2 / fan), shape).astype(np.float32)

    def conv(self, x, inputs, outputs, kernel, relu=True, group=1, **attributes):
        n = len(self.net.nodes)
        w = self.net.const(self.weights(outputs, inputs // group, kernel, kernel), f"w{n}")
        b = self.net.const(self.rng.normal(0, 0.1, outputs).astype(np.float32), f"b{n}")
        y = self.net.op("Conv", [x, w, b], kernel_shape=[kernel, kernel], group=group, **attributes)
        return self.net.op("Relu", [y]) if relu else y

    def gemm(self, x, inputs, outputs):
        n = len(self.net.nodes)
        w = self.net.const(self.weights(outputs, inputs), f"w{n}")
        b = self.net.const(self.rng.normal(0, 0.1, outputs).astype(np.float32), f"b{n}")
        return self.net.op("Gemm", [x, w, b], transB=1)


def images():
    return (load_digits().images / 16).astype(np.float32)


def cnn():
    f = Float(1)
    x = f.net.input(images()[:1, None], "image")
    x = f.conv(x, 1, 16, 3, pads=[1, 1, 1, 1])
    x = f.conv(x, 16, 24, 3, strides=[2, 2], pads=[0, 0, 1, 1])
    x = f.net.op("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2])
    x = f.net.op("Flatten", [x])
    f.net.out(f.gemm(x, 24 * 4, 10))
    return f.net


def residual():
    f = Float(2)
    x = f.net.input(images()[:1, None], "image")
    x = f.conv(x, 1, 8, 3, pads=[1, 1, 1, 1])
    for _ in range(2):
        y = f.conv(x, 8, 16, 1)
        y = f.conv(y, 16, 16, 3, group=16, pads=[1, 1, 1, 1])
        y = f.conv(y, 16, 8, 1, relu=False)
        x = f.net.op("Add", [x, y])
    x = f.conv(x, 8, 16, 3, strides=[2, 2], pads=[1, 1, 1, 1])
    x = f.net.op("GlobalAveragePool", [x])
    x = f.net.op("Flatten", [x])
    f.net.out(f.gemm(x, 16, 10))
    return f.net


def mlp():
    f = Float(3)
    x = f.net.input(images()[:1].reshape(1, 64), "image")
    x = f.net.op("Relu", [f.gemm(x, 64, 48)])
    x = f.net.op("Sigmoid", [f.gemm(x, 48, 32)])
    w = f.net.const(f.weights(32, 10), "last")
    f.net.out(f.net.op("MatMul", [x, w]))
    return f.net


def norm(f, x, width):
    scale = f.net.const((1 + f.rng.normal(0, 0.1, width)).astype(np.float32))
    return f.net.op("LayerNormalization", [x, scale, f.net.const(f.rng.normal(0, 0.1, width).astype(np.float32))], axis=-1)


def dense(f, x, i, o):
    y = f.net.op("MatMul", [x, f.net.const(f.weights(o, i).T.copy(), f"w{len(f.net.nodes)}")])
    return f.net.op("Add", [y, f.net.const(f.rng.normal(0, 0.1, o).astype(np.float32), f"b{len(f.net.nodes)}")])


def encoder(f, x, width, sizes, heads=4):
    """Adds attention and a multilayer perceptron, each with a residual and a layer normalization. `sizes` returns the
    shape of a
    tensor that is one sample with the number of tokens of another one and the given last axes."""
    net = f.net

    def split(x):
        return net.op("Transpose", [net.op("Reshape", [x, sizes(x, heads, width // heads)])], perm=[0, 2, 1, 3])

    h = norm(f, x, width)
    q, k, v = (split(dense(f, h, width, width)) for _ in range(3))
    scores = net.op("MatMul", [q, net.op("Transpose", [k], perm=[0, 1, 3, 2])])
    scores = net.op("Div", [scores, net.const(np.float32(np.sqrt(width // heads)))])
    y = net.op("MatMul", [net.op("Softmax", [scores], axis=-1), v])
    y = net.op("Reshape", [net.op("Transpose", [y], perm=[0, 2, 1, 3]), sizes(x, width)])
    x = net.op("Add", [x, dense(f, y, width, width)])
    h = dense(f, norm(f, x, width), width, 2 * width)
    h = net.op("Mul", [h, net.op("Mul", [net.op("Add", [net.op("Erf", [net.op("Div", [h, net.const(np.float32(np.sqrt(2)))])]), net.const(np.float32(1))]), net.const(np.float32(0.5))])])
    return net.op("Add", [x, dense(f, h, 2 * width, width)])


def block(length=8, computed=False):
    """Returns an encoder of a transformer, with 4 heads, on `length` tokens. The weights do not depend on their number. With
    `computed` shapes the network computes the sizes of its reshapes from its input, like a dynamic axis of torch.onnx,
    so that it
    runs on any number of tokens."""
    f = Float(4)
    net, width = f.net, 32
    tokens = f.rng.normal(0, 1, (1, 8, width)).astype(np.float32)
    x = net.input(np.resize(tokens, (1, length, width)), "tokens")
    ints = lambda *v: net.const(np.array(v, np.int64))

    def sizes(like, *rest):
        if not computed:
            return ints(1, length, *rest)
        shape = net.op("Shape", [like])
        first = [net.op("Unsqueeze", [net.op("Gather", [shape, net.const(np.array(i, np.int64))]), ints(0)]) for i in range(2)]
        return net.op("Concat", first + [ints(*rest)], axis=0)

    net.out(encoder(f, x, width, sizes))
    return net


def vit():
    """Returns a vision transformer: patches of 4 x 4 by a convolution, a class token, two encoders, ten classes."""
    f = Float(5)
    net, width, patches = f.net, 32, 16
    x = net.input(f.rng.normal(0, 1, (1, 3, 16, 16)).astype(np.float32), "picture")
    ints = lambda *v: net.const(np.array(v, np.int64))
    small = lambda *shape: net.const(f.rng.normal(0, 0.1, shape).astype(np.float32))
    y = net.op("Conv", [x, net.const(f.weights(width, 3, 4, 4)), small(width)], kernel_shape=[4, 4], strides=[4, 4])
    y = net.op("Transpose", [net.op("Reshape", [y, ints(1, width, patches)])], perm=[0, 2, 1])
    y = net.op("Add", [net.op("Concat", [small(1, 1, width), y], axis=1), small(1, patches + 1, width)])
    for _ in range(2):
        y = encoder(f, y, width, lambda _, *rest: ints(1, patches + 1, *rest))
    y = net.op("Gather", [norm(f, y, width), net.const(np.array(0, np.int64))], axis=1)
    net.out(net.op("Gemm", [y, net.const(f.weights(10, width)), small(10)], transB=1))
    return net


class Reader(CalibrationDataReader):
    def __init__(self, name, arrays):
        self.feeds = iter([{name: a} for a in arrays])

    def get_next(self):
        return next(self.feeds, None)


def samples(net):
    name = net.inputs[0].name
    shape = net.feeds[name].shape
    if name == "image":
        return name, [image.reshape(shape) for image in images()[:200]]
    rng = np.random.default_rng(9)
    return name, [rng.normal(0, 1, shape).astype(np.float32) for _ in range(40)]


def opened(model, names):
    """Returns the model with names instead of sizes, for the given axes of its input."""
    for axis, name in names.items():
        model.graph.input[0].type.tensor_type.shape.dim[axis].dim_param = name
    return model


def quantized(net, form, per_channel, activation, names={}, arrays=None):
    name = net.inputs[0].name
    arrays = samples(net)[1] if arrays is None else arrays
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "float.onnx"), Path(folder, "quantized.onnx")
        onnx.save(opened(net.model(domains=()), names), source)
        quantize_static(
            source,
            target,
            Reader(name, arrays[:40]),
            quant_format=form,
            per_channel=per_channel,
            activation_type=activation,
            weight_type=QuantType.QInt8,
        )
        return onnx.load(target)


def add(cases, networks=(("cnn", cnn), ("residual", residual), ("mlp", mlp)), count=IMAGES):
    forms = {"qdq": QuantFormat.QDQ, "qoperator": QuantFormat.QOperator}
    types = {"u8s8": QuantType.QUInt8, "s8s8": QuantType.QInt8}
    for label, make in networks:
        net = make()
        name, arrays = samples(net)
        for form_name, form in forms.items():
            for per_channel in [False, True]:
                for type_name, activation in types.items():
                    model = quantized(net, form, per_channel, activation)
                    of = f"{label}_{form_name}_{'channel' if per_channel else 'tensor'}_{type_name}"
                    for index, image in enumerate(arrays[-count:]):
                        feeds = {name: image}
                        outputs = run(model, feeds)
                        cases.add(f"{of}_{index}", model, feeds, outputs, network=of)
