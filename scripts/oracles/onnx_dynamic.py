"""Networks with dynamically quantized activations: DynamicQuantizeLinear alone, and ONNX Runtime's `quantize_dynamic`.

Every network of `quantize_dynamic` is run twice: without fusion, and with ONNX Runtime's fused kernels. A name that
begins with `near_` marks a network with float operators whose last bits differ between runtimes.
"""

import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnxruntime.quantization import QuantType, quantize_dynamic

from onnx_case import Net
from onnx_exact import exact
from onnx_networks import Float, block, cnn, images, mlp, residual, samples

IMAGES = 8
WEIGHTS = {"s8": QuantType.QInt8, "u8": QuantType.QUInt8}


def session(model, level):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    options.graph_optimization_level = level
    return onnxruntime.InferenceSession(exact(model).SerializeToString(), options, providers=["CPUExecutionProvider"])


LEVELS = {
    "fused": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL,
    "as_it_is": onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL,
}


def perceptron():
    """Returns a network of only products and rectifiers."""
    f = Float(13)
    x = f.net.input(images()[:1].reshape(1, 64), "image")
    for inputs, outputs in [(64, 48), (48, 33)]:
        x = f.net.op("Relu", [f.gemm(x, inputs, outputs)])
    w = f.net.const(f.weights(33, 10), "last")
    f.net.out(f.net.op("MatMul", [x, w]))
    return f.net


def convolutional():
    """Returns convolutions with strides, dilations and groups, a sum and a maximum."""
    f = Float(14)
    x = f.net.input(images()[:1, None], "image")
    x = f.conv(x, 1, 12, 3, pads=[1, 1, 1, 1])
    y = f.conv(x, 12, 12, 3, group=12, pads=[1, 1, 1, 1])
    y = f.conv(y, 12, 12, 3, group=3, dilations=[2, 2], pads=[2, 2, 2, 2], relu=False)
    x = f.net.op("Relu", [f.net.op("Add", [x, y])])
    x = f.net.op("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2])
    x = f.net.op("Flatten", [f.conv(x, 12, 7, 2, strides=[2, 2])])
    f.net.out(f.gemm(x, 28, 10))
    return f.net


NETWORKS = {
    "perceptron": perceptron,
    "convolutional": convolutional,
    "cnn": cnn,
    "near_residual": residual,
    "near_mlp": mlp,
    "near_transformer": block,
}


def quantized(net, weights, per_channel):
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "float.onnx"), Path(folder, "quantized.onnx")
        onnx.save(net.model(opset=17, domains=()), source)
        quantize_dynamic(source, target, weight_type=weights, per_channel=per_channel)
        return onnx.load(target)


def networks(cases):
    for label, make in NETWORKS.items():
        net = make()
        name, arrays = samples(net)
        # ONNX Runtime has no ConvInteger with several zero points or scales.
        convolves = any(node.op_type == "Conv" for node in net.nodes)
        for weights, kind in WEIGHTS.items():
            for per_channel in [False] if convolves else [False, True]:
                model = quantized(net, kind, per_channel)
                for how, level in LEVELS.items():
                    of = f"{label}_{weights}_{'channel' if per_channel else 'tensor'}_{how}"
                    runtime = session(model, level)
                    for index, image in enumerate(arrays[-IMAGES:]):
                        outputs = runtime.run(None, {name: image})
                        cases.add(f"{of}_{index}", model, {name: image}, outputs, network=of)


def values(rng, shape):
    """Returns real values of some distribution: all of one sign, constant, of few magnitudes, at ties."""
    kind = rng.integers(6)
    x = rng.normal(0, 10.0 ** rng.integers(-6, 6), shape)
    if kind == 0:
        x = np.abs(x)
    elif kind == 1:
        x = -np.abs(x)
    elif kind == 2:
        x = np.full(shape, rng.choice([0.0, 1.0, -3.5]))
    elif kind == 3:
        x = rng.integers(-255, 256, shape) / 2
    return x.astype(np.float32)


def one_op(cases):
    for seed in range(240):
        rng = np.random.default_rng(seed)
        kind = ["codes", "matmul", "conv", "real", "again"][seed % 5]
        net = Net()
        long = kind == "matmul" and rng.integers(3) == 0
        if kind == "conv":
            channels, kernel = int(rng.integers(1, 5)), int(rng.integers(1, 4))
            shape = (1, channels, int(rng.integers(kernel, 9)), int(rng.integers(kernel, 9)))
        else:
            shape = tuple(int(n) for n in rng.integers(1, 9, 2 if kind == "matmul" else rng.integers(1, 5)))
        if long:
            # Sums beyond the range of float32.
            shape = (1, 3001)
        x = net.input(values(rng, shape))
        codes, scale, zero = net.op("DynamicQuantizeLinear", [x], outputs=3)
        dtype = rng.choice([np.int8, np.uint8])
        info = np.iinfo(dtype)
        draw = lambda size: rng.integers(info.min, info.max + 1, size).astype(dtype)
        if kind == "codes":
            for name in [codes, scale, zero]:
                net.out(name)
        elif kind == "matmul":
            w = net.const(np.full((shape[1], 2), info.max, dtype) if long else draw((shape[1], int(rng.integers(1, 7)))))
            net.out(net.op("MatMulInteger", [codes, w, zero, net.const(draw(()))]))
        elif kind == "conv":
            w = net.const(draw((int(rng.integers(1, 6)), channels, kernel, kernel)))
            pads = [int(p) for p in rng.integers(0, kernel, 4)]
            net.out(net.op("ConvInteger", [codes, w, zero, net.const(draw(()))], pads=pads))
        elif kind == "real":
            net.out(net.op("DequantizeLinear", [codes, scale, zero]))
        else:
            # Other values in the scale of the first ones.
            y = net.op("Mul", [x, net.const(np.float32(rng.choice([0.5, -1.25, 3.0])))])
            net.out(net.op("QuantizeLinear", [y, scale, zero]))
        cases.net(f"one_{kind}_{seed}", net, network=f"one_{kind}")


def add(cases):
    one_op(cases)
    networks(cases)
