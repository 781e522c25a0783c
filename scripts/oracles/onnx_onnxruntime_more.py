"""Further tools of ONNX Runtime's quantizer: `quantize_static` with types per tensor, configurations for QNN,
`quant_pre_process`, dynamic quantization with its options, and operators that move codes.
"""

import logging
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnxruntime.quantization import QuantFormat, QuantType, quant_pre_process, quantize, quantize_dynamic, quantize_static
from onnxruntime.quantization.execution_providers.qnn import get_qnn_qdq_config

from onnx_case import run
from onnx_dynamic import perceptron
from onnx_networks import Float, Reader, cnn, images, mlp, samples

IMAGES = 2
S8, U8, S16, U16 = QuantType.QInt8, QuantType.QUInt8, QuantType.QInt16, QuantType.QUInt16


def movers():
    """Returns operators that move codes between layers: pads, slices, gathers, resizes, splits, transposed convolutions."""
    f = Float(31)
    net = f.net
    ints = lambda *v: net.const(np.array(v, np.int64))
    x = net.input(images()[:1, None], "image")
    x = f.conv(x, 1, 6, 3, pads=[1, 1, 1, 1])
    x = net.op("Pad", [x, ints(0, 0, 1, 1, 0, 0, 1, 1)], mode="constant")
    x = net.op("Slice", [x, ints(1, 1), ints(9, 9), ints(2, 3)])
    x = net.op("Gather", [x, ints(0, 2, 4, 5)], axis=1)
    w = net.const(f.rng.normal(0, 0.3, (4, 5, 2, 2)).astype(np.float32))
    x = net.op("Relu", [net.op("ConvTranspose", [x, w], strides=[2, 2], kernel_shape=[2, 2])])
    x = net.op("Resize", [x, "", net.const(np.array([1, 1, 0.5, 0.5], np.float32))], mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    x = net.op("Unsqueeze", [net.op("Squeeze", [f.conv(x, 5, 3, 3, strides=[2, 2]), ints(0)]), ints(0)])
    net.out(f.gemm(net.op("Flatten", [x]), 27, 10))
    return net


MOVERS_LAYERS = 4


def of(net, make):
    """Applies a tool to a network: `make` gets the float file and the file to write."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "float.onnx"), Path(folder, "quantized.onnx")
        onnx.save(net.model(opset=21, domains=()), source)
        make(source, target)
        return onnx.load(target)


def reader(net):
    name, arrays = samples(net)
    return Reader(name, arrays[:20])


def static(**options):
    return lambda net: of(net, lambda s, t: quantize_static(s, t, reader(net), **options))


def dynamic(**options):
    return lambda net: of(net, lambda s, t: quantize_dynamic(s, t, **options))


def qnn(**options):
    return lambda net: of(net, lambda s, t: quantize(s, t, get_qnn_qdq_config(s, reader(net), **options)))


def preprocessed(net):
    def make(source, target):
        quant_pre_process(source, target)
        quantize_static(target, target, reader(net), per_channel=True)

    return of(net, make)


OVERRIDDEN = static(
    quant_format=QuantFormat.QDQ,
    activation_type=U8,
    weight_type=S8,
    extra_options={"TensorQuantOverrides": {"t0_0": [{"quant_type": U16, "convert": {"quant_type": U8}}]}},
)
# Network, its number of layers, tool.
ROWS = {
    "movers_qdq": (movers, MOVERS_LAYERS, static(quant_format=QuantFormat.QDQ)),
    "movers_qdq_u8": (movers, MOVERS_LAYERS, static(quant_format=QuantFormat.QDQ, activation_type=U8, weight_type=U8)),
    "movers_qdq_channel": (movers, MOVERS_LAYERS, static(quant_format=QuantFormat.QDQ, per_channel=True)),
    # QOperator has no transposed convolution.
    "movers_qoperator": (movers, MOVERS_LAYERS - 1, static(quant_format=QuantFormat.QOperator)),
    "movers_qoperator_u8": (movers, MOVERS_LAYERS - 1, static(quant_format=QuantFormat.QOperator, activation_type=U8, weight_type=U8)),
    "cnn_preprocessed": (cnn, 3, preprocessed),
    "mlp_preprocessed": (mlp, 3, preprocessed),
    "cnn_qnn": (cnn, 3, qnn()),
    "cnn_qnn_u8": (cnn, 3, qnn(activation_type=U8, weight_type=U8)),
    "cnn_qnn_channel": (cnn, 3, qnn(per_channel=True)),
    "mlp_qnn": (mlp, 3, qnn()),
    "mlp_qnn_symmetric": (mlp, 3, qnn(activation_symmetric=True, weight_symmetric=True)),
    "cnn_overridden": (cnn, 3, OVERRIDDEN),
    "perceptron_dynamic": (perceptron, 3, dynamic()),
    "perceptron_dynamic_u8": (perceptron, 3, dynamic(weight_type=U8)),
    "perceptron_dynamic_channel": (perceptron, 3, dynamic(per_channel=True)),
    "perceptron_dynamic_reduced": (perceptron, 3, dynamic(reduce_range=True, per_channel=True)),
    "perceptron_dynamic_const": (perceptron, 3, dynamic(extra_options={"MatMulConstBOnly": True})),
    "perceptron_dynamic_any": (perceptron, 3, dynamic(extra_options={"MatMulConstBOnly": False})),
    "perceptron_dynamic_asymmetric": (perceptron, 3, dynamic(extra_options={"WeightSymmetric": False})),
}


def add(cases):
    logging.getLogger().setLevel(logging.ERROR)
    for label, (make, layers, tool) in ROWS.items():
        net = make()
        model = tool(net)
        name, arrays = samples(net)
        for index, image in enumerate(arrays[-IMAGES:]):
            cases.add(f"{label}_{index}", model, {name: image}, run(model, {name: image}), network=label, layers=layers)
