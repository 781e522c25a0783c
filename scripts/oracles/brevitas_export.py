"""Exports low-bit networks with Brevitas: `brevitas_export.py FOLDER`.

Needs scripts/requirements/brevitas.txt. Writes FOLDER/NAME.onnx (QONNX), FOLDER/NAME_qcdq.onnx (QCDQ, if the widths
allow it), and FOLDER/NAME.npy with inputs. The expected results come from QONNX's executor and ONNX Runtime
(`onnx_brevitas.py`). Weights are seeded and activations are calibrated on seeded samples: equal codes need no training.
"""

import json
import pathlib
import sys

import brevitas_zoo
import numpy as np
import onnx
import torch
from brevitas import nn as qnn
from brevitas.export import export_onnx_qcdq, export_qonnx
from brevitas.quant import Int8ActPerTensorFixedPoint, Int8WeightPerChannelFixedPointMSE, Int8WeightPerTensorFixedPoint
from brevitas.quant import SignedBinaryActPerTensorConst, SignedBinaryWeightPerTensorConst, Uint8ActPerTensorFixedPoint
from brevitas.quant import Int8ActPerTensorFloat, Int32Bias, Int8WeightPerTensorFloat, Uint8ActPerTensorFloat
from torch import nn

SAMPLES = 6
LAYERS = (qnn.QuantConv1d, qnn.QuantConv2d, qnn.QuantLinear)
DIGITS = pathlib.Path(__file__).resolve().parents[2] / "examples/digits"
FIXED = {
    "weights": Int8WeightPerTensorFixedPoint,
    "channels": Int8WeightPerChannelFixedPointMSE,
    "input": Int8ActPerTensorFixedPoint,
    "relu": Uint8ActPerTensorFixedPoint,
}
FLOAT = {
    "weights": Int8WeightPerTensorFloat,
    "channels": Int8WeightPerTensorFloat,
    "input": Int8ActPerTensorFloat,
    "relu": Uint8ActPerTensorFloat,
}


def cnn(bits, quant, weights="weights"):
    """Returns convolutions with batch normalizations, a maximum and a dense layer."""
    weight = dict(weight_quant=quant[weights], weight_bit_width=bits)
    relu = lambda: qnn.QuantReLU(act_quant=quant["relu"], bit_width=bits, return_quant_tensor=True)
    return nn.Sequential(
        qnn.QuantIdentity(act_quant=quant["input"], bit_width=8, return_quant_tensor=True),
        qnn.QuantConv2d(1, 8, 3, padding=1, bias=False, **weight),
        nn.BatchNorm2d(8),
        relu(),
        qnn.QuantConv2d(8, 8, 3, padding=1, groups=8, bias=False, **weight),
        nn.BatchNorm2d(8),
        relu(),
        nn.MaxPool2d(2),
        qnn.QuantConv2d(8, 12, 3, stride=2, padding=1, bias=False, **weight),
        nn.BatchNorm2d(12),
        relu(),
        nn.Flatten(),
        qnn.QuantLinear(12 * 4, 10, bias=True, **weight),
    ), (1, 1, 8, 8)


def mlp(bits, quant):
    weight = dict(weight_quant=quant["weights"], weight_bit_width=bits)
    layers = [qnn.QuantIdentity(act_quant=quant["input"], bit_width=8, return_quant_tensor=True)]
    for inputs, outputs in [(64, 40), (40, 32)]:
        layers += [qnn.QuantLinear(inputs, outputs, bias=False, **weight), nn.BatchNorm1d(outputs)]
        layers += [qnn.QuantReLU(act_quant=quant["relu"], bit_width=bits, return_quant_tensor=True)]
    layers += [qnn.QuantLinear(32, 10, bias=False, **weight)]
    return nn.Sequential(*layers), (1, 64)


class BinaryWeight(SignedBinaryWeightPerTensorConst):
    scaling_const = 0.125


class BinaryAct(SignedBinaryActPerTensorConst):
    min_val = -0.5
    max_val = 0.5


def bipolar():
    """Returns a network with 1-bit weights and activations."""
    sign = lambda: qnn.QuantIdentity(act_quant=BinaryAct, return_quant_tensor=True)
    weight = dict(weight_quant=BinaryWeight, bias=False)
    layers = [sign()]
    for inputs, outputs in [(64, 48), (48, 32)]:
        layers += [qnn.QuantLinear(inputs, outputs, **weight), nn.BatchNorm1d(outputs), sign()]
    return nn.Sequential(*layers, qnn.QuantLinear(32, 10, **weight)), (1, 64)


def digits(bits):
    """Returns the network of examples/digits with its weights, quantized after training, with pixels as inputs."""
    weights = {i.name: onnx.numpy_helper.to_array(i) for i in onnx.load(DIGITS / "digits_float.onnx").graph.initializer}
    quant = dict(weight_quant=FIXED["channels"], weight_bit_width=bits, bias_quant=Int32Bias, return_quant_tensor=True)
    relu = lambda: qnn.QuantReLU(act_quant=FIXED["relu"], bit_width=bits, return_quant_tensor=True)
    codes = lambda: qnn.QuantIdentity(act_quant=FIXED["input"], bit_width=8, return_quant_tensor=True)
    layers = {
        "conv": qnn.QuantConv2d(1, 16, 3, padding=1, **quant),
        "depthwise": qnn.QuantConv2d(16, 16, 3, groups=16, **quant),
        "pointwise": qnn.QuantConv2d(16, 32, 1, **quant),
        "dense": qnn.QuantLinear(288, 10, bias=True, **{**quant, "weight_quant": FIXED["weights"], "return_quant_tensor": False}),
    }
    for name, layer in layers.items():
        weight = torch.tensor(weights[f"{name}/weight"])
        if name == "dense":
            # The order of pixels and channels differs before this layer.
            weight = weight.reshape(10, 3, 3, 32).permute(0, 3, 1, 2).reshape(10, 288)
        layer.weight.data = weight
        layer.bias.data = torch.tensor(weights[f"{name}/bias"])
    conv, depthwise, pointwise, dense = layers.values()
    pool = [nn.AvgPool2d(2), codes(), nn.Flatten()]
    return nn.Sequential(codes(), conv, relu(), depthwise, relu(), pointwise, relu(), *pool, dense), (1, 1, 8, 8)


def samples_of(name, shape):
    """Returns the samples for calibrating activations, and the samples to run."""
    if not name.startswith("digits"):
        return lambda: torch.randn(8, *shape[1:]), torch.randn(SAMPLES, *shape[1:])
    images = lambda file: torch.tensor(np.load(DIGITS / f"{file}.npy")).permute(0, 3, 1, 2).contiguous()
    calibration = images("calibration")
    return lambda: calibration, images("test_images_float")[:4 * SAMPLES]


def networks():
    for bits in [2, 3, 4]:
        yield f"cnn_w{bits}a{bits}", lambda bits=bits: cnn(bits, FIXED), True
        yield f"mlp_w{bits}a{bits}", lambda bits=bits: mlp(bits, FIXED), True
        yield f"channels_w{bits}a{bits}", lambda bits=bits: cnn(bits, FIXED, "channels"), True
        yield f"near_cnn_w{bits}a{bits}", lambda bits=bits: cnn(bits, FLOAT), True
    for bits in [4, 8]:
        yield f"digits_w{bits}a{bits}", lambda bits=bits: digits(bits), True
    yield "bipolar", bipolar, False
    yield from brevitas_zoo.networks()


def powers_of_two(model):
    """Changes batch normalizations to factors and terms with few significant bits, so that float32 computes them exactly."""
    for layer in model.modules():
        if isinstance(layer, (nn.BatchNorm1d, nn.BatchNorm2d)):
            count = layer.num_features
            layer.running_mean = torch.randint(-8, 9, (count,)) / 8
            layer.running_var = 4.0 ** torch.randint(-1, 2, (count,)) - layer.eps
            layer.weight.data = torch.randint(1, 5, (count,)) / 4
            layer.bias.data = torch.randint(-4, 5, (count,)) / 8


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    layers = {}
    for name, make, qcdq in networks():
        torch.manual_seed(len(name))
        model, shape = make()
        powers_of_two(model)
        layers[name] = sum(isinstance(module, LAYERS) for module in model.modules())
        model.train()
        for layer in model.modules():
            if isinstance(layer, (nn.BatchNorm1d, nn.BatchNorm2d)):
                layer.eval()
        with torch.no_grad():
            # Scales of activations follow from statistics of the first steps.
            calibration, inputs = samples_of(name, shape)
            for _ in range(brevitas_zoo.STEPS + 2 if name.startswith("zoo_") else 400):
                model(calibration())
        model.eval()
        inputs = inputs[: 2 if name.startswith("zoo_") else None].numpy().astype(np.float32)
        np.save(folder / f"{name}.npy", inputs)
        sample = torch.from_numpy(inputs[:1])
        export_qonnx(model, args=sample, export_path=str(folder / f"{name}.onnx"), opset_version=13)
        if qcdq:
            export_onnx_qcdq(model, args=sample, export_path=str(folder / f"{name}_qcdq.onnx"), opset_version=13)
    (folder / "layers.json").write_text(json.dumps(layers))


main(pathlib.Path(sys.argv[1]))
