"""Networks written by ONNX Runtime's quantizer with each of its options, and their results in ONNX Runtime.

A row is a float network, the arguments of `quantize_static`, and its number of layers. `quantize_dynamic` has its own
(`onnx_dynamic.py`).
"""

import logging
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnxruntime.quantization import CalibrationMethod, QuantFormat, QuantType, quantize_static

from onnx_case import FLOAT32, run
from onnx_networks import Float, Reader, block, cnn, images, mlp, residual, samples

IMAGES = 2
S8, U8, S16, U16 = QuantType.QInt8, QuantType.QUInt8, QuantType.QInt16, QuantType.QUInt16
S4, U4 = QuantType.QInt4, QuantType.QUInt4


def branches():
    """Returns branches that meet in sums, products and concatenations, and operators that move codes."""
    f = Float(21)
    net = f.net
    ints = lambda *v: net.const(np.array(v, np.int64))
    x = net.input(images()[:1, None], "image")
    x = f.conv(x, 1, 8, 3, pads=[1, 1, 1, 1])
    a = f.conv(x, 8, 8, 1, relu=False)
    b = net.op("Clip", [f.conv(x, 8, 8, 3, pads=[1, 1, 1, 1], group=2, relu=False), net.const(np.float32(0)), net.const(np.float32(6))])
    c = net.op("AveragePool", [x], kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1)
    x = net.op("Concat", [net.op("Mul", [a, net.op("Sigmoid", [a])]), net.op("Add", [b, c])], axis=1)
    x = net.op("LeakyRelu", [f.conv(x, 16, 12, 3, dilations=[2, 2], pads=[2, 2, 2, 2], relu=False)], alpha=0.125)
    p, q = net.op("Split", [x, ints(6, 6)], outputs=2, axis=1)
    x = net.op("Concat", [net.op("MaxPool", [p], kernel_shape=[2, 2], strides=[2, 2]), net.op("MaxPool", [q], kernel_shape=[2, 2], strides=[2, 2])], axis=1)
    x = net.op("Transpose", [x], perm=[0, 2, 3, 1])
    x = net.op("Reshape", [x, ints(1, 16, 12)])
    x = net.op("MatMul", [x, net.const(f.weights(9, 12).T.copy(), "w_tokens")])
    x = net.op("Softmax", [x], axis=-1)
    x = net.op("ReduceMean", [x, ints(1)], keepdims=0)
    x = net.op("MatMul", [x, net.const(f.weights(10, 9).T.copy(), "w_last")])
    net.out(net.op("Add", [x, net.const(f.rng.normal(0, 0.1, 10).astype(np.float32), "b_last")]))
    return net


# Float networks with their number of layers: products with constant weights.
NETWORKS = {"cnn": (cnn, 3), "residual": (residual, 9), "mlp": (mlp, 3), "branches": (branches, 6), "block": (block, 6)}

CONFIGS = {
    "default": {},
    "u8u8": dict(activation_type=U8, weight_type=U8),
    "u8s8": dict(activation_type=U8, weight_type=S8),
    "s8s8_channel": dict(per_channel=True),
    "u8u8_channel": dict(activation_type=U8, weight_type=U8, per_channel=True),
    "u8s8_channel_reduced": dict(activation_type=U8, per_channel=True, reduce_range=True),
    "u8u8_reduced": dict(activation_type=U8, weight_type=U8, reduce_range=True),
    "symmetric": dict(ActivationSymmetric=True),
    "symmetric_channel": dict(ActivationSymmetric=True, per_channel=True),
    "u8_symmetric": dict(activation_type=U8, ActivationSymmetric=True),
    "restricted": dict(activation_type=U8, ActivationRestrictedAsymmetric=True),
    "asymmetric_weights": dict(WeightSymmetric=False),
    "asymmetric_weights_channel": dict(WeightSymmetric=False, per_channel=True),
    "asymmetric_u8_weights_channel": dict(activation_type=U8, weight_type=U8, WeightSymmetric=False, per_channel=True),
    "forced": dict(ForceQuantizeNoInputCheck=True),
    "const_b_only": dict(MatMulConstBOnly=True),
    "pair_on_weight": dict(AddQDQPairToWeight=True),
    "pair_on_weight_channel": dict(AddQDQPairToWeight=True, per_channel=True),
    "no_output": dict(OpTypesToExcludeOutputQuantization=["Conv", "Gemm", "MatMul"]),
    "no_output_add": dict(OpTypesToExcludeOutputQuantization=["Add", "Relu"]),
    "dedicated": dict(DedicatedQDQPair=True),
    "dedicated_pair_on_weight": dict(DedicatedQDQPair=True, AddQDQPairToWeight=True),
    "matmul_axis": dict(QDQOpTypePerChannelSupportToAxis={"MatMul": 1}, per_channel=True),
    "calibrated_symmetric": dict(CalibTensorRangeSymmetric=True),
    "moving_average": dict(CalibMovingAverage=True),
    "float_bias": dict(QuantizeBias=False),
    "float_bias_channel": dict(QuantizeBias=False, per_channel=True),
    "contrib": dict(UseQDQContribOps=True),
    "least_range": dict(MinimumRealRange=0.01),
    "kept_activations": dict(QDQKeepRemovableActivations=True),
    "kept_activations_symmetric": dict(QDQKeepRemovableActivations=True, ActivationSymmetric=True),
    "no_weight_adjust": dict(QDQDisableWeightAdjustForInt32Bias=True),
    "entropy": dict(calibrate_method=CalibrationMethod.Entropy),
    "percentile": dict(calibrate_method=CalibrationMethod.Percentile),
    "distribution": dict(calibrate_method=CalibrationMethod.Distribution),
    "u16u8": dict(activation_type=U16, weight_type=U8),
    "s16s8": dict(activation_type=S16, weight_type=S8),
    "s16s8_symmetric": dict(activation_type=S16, weight_type=S8, ActivationSymmetric=True),
    "u16s8_channel": dict(activation_type=U16, weight_type=S8, per_channel=True),
    "u16s8_contrib": dict(activation_type=U16, weight_type=S8, UseQDQContribOps=True),
    "s16s16": dict(activation_type=S16, weight_type=S16),
    "u8s4": dict(activation_type=U8, weight_type=S4),
    "u8s4_channel": dict(activation_type=U8, weight_type=S4, per_channel=True),
    "s8u4": dict(activation_type=S8, weight_type=U4),
    "u16s4_channel": dict(activation_type=U16, weight_type=S4, per_channel=True),
    "layers_only": dict(op_types_to_quantize=["Conv", "Gemm", "MatMul"]),
    "smooth": dict(SmoothQuantFolding=False),
}
ARGUMENTS = {"activation_type", "weight_type", "per_channel", "reduce_range", "calibrate_method", "op_types_to_quantize", "quant_format"}


def quantized(net, **config):
    name, arrays = samples(net)
    arguments = {key: value for key, value in config.items() if key in ARGUMENTS}
    extra = {key: value for key, value in config.items() if key not in ARGUMENTS}
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "float.onnx"), Path(folder, "quantized.onnx")
        onnx.save(net.model(domains=()), source)
        quantize_static(source, target, Reader(name, arrays[:20]), extra_options=extra, **arguments)
        return onnx.load(target)


# `quantize_static` refuses these as QOperator.
QDQ_ONLY = {S16, U16, S4, U4}
SIXTEEN = "ONNX Runtime computes layers of 16-bit codes in float32: a code near a tie can differ by one"


def add(cases):
    logging.getLogger().setLevel(logging.ERROR)
    for form_name, form in {"qdq": QuantFormat.QDQ, "qoperator": QuantFormat.QOperator}.items():
        for config_name, config in CONFIGS.items():
            types = {config.get("activation_type"), config.get("weight_type")}
            if form == QuantFormat.QOperator and types & QDQ_ONLY:
                continue
            for network, (make, layers) in NETWORKS.items():
                net = make()
                of = f"{network}_{form_name}_{config_name}"
                model = quantized(net, quant_format=form, **config)
                name, arrays = samples(net)
                for index, image in enumerate(arrays[-IMAGES:]):
                    if types & {S16, U16}:
                        cases.by_quantizer(f"{of}_{index}", model, {name: image}, FLOAT32, SIXTEEN, network=of, layers=layers)
                        continue
                    outputs = run(model, {name: image})
                    cases.add(f"{of}_{index}", model, {name: image}, outputs, network=of, layers=layers)
