"""Architectures of the QONNX model zoo at reduced width, with its quantizers, for `brevitas_export.py`.

The zoo's TFC and CNV have 1-bit or 2-bit weights and activations with constant scales, MobileNet-v1 has 4-bit weights
per channel, and VGG10 has one-dimensional convolutions. Scales that the zoo learns are powers of two here, so that
float32 sums are exact.
"""

from brevitas import nn as qnn
from brevitas.core.restrict_val import RestrictValueType
from brevitas.core.scaling import ScalingImplType
from brevitas.inject import ExtendedInjector
from brevitas.inject.enum import BitWidthImplType, FloatToIntImplType, QuantType
from brevitas.core.zero_point import ZeroZeroPoint
from brevitas.quant import Int8ActPerTensorFixedPoint, Int8WeightPerChannelFixedPointMSE, Uint8ActPerTensorFixedPoint
from brevitas.quant.solver import ActQuantSolver, WeightQuantSolver
from torch import nn

# Number of batches on which ranges of activations are calibrated.
STEPS = 20


class Constant(ExtendedInjector):
    """Quantizers with constant scales."""

    bit_width_impl_type = BitWidthImplType.CONST
    scaling_impl_type = ScalingImplType.CONST
    restrict_scaling_type = RestrictValueType.FP
    zero_point_impl = ZeroZeroPoint
    float_to_int_impl_type = FloatToIntImplType.ROUND
    scaling_per_output_channel = False
    narrow_range = True
    signed = True


class Weight(Constant, WeightQuantSolver):
    scaling_const = 1.0


class Act(Constant, ActQuantSolver):
    min_val = -1.0
    max_val = 1.0


def type_of(bits):
    return QuantType.BINARY if bits == 1 else QuantType.INT


def act(bits):
    return qnn.QuantIdentity(act_quant=Act, quant_type=type_of(bits), bit_width=bits, return_quant_tensor=True)


def weights(bits):
    return dict(weight_quant=Weight, weight_quant_type=type_of(bits), weight_bit_width=bits, bias=False)


def tfc(wbits, abits):
    layers = [act(abits)]
    for inputs, outputs in [(64, 16), (16, 16), (16, 16)]:
        layers += [qnn.QuantLinear(inputs, outputs, **weights(wbits)), nn.BatchNorm1d(outputs), act(abits)]
    return nn.Sequential(*layers, qnn.QuantLinear(16, 10, **weights(wbits))), (1, 64)


def cnv(wbits, abits):
    layers, inputs = [act(8)], 3
    for outputs, pool in [(4, False), (4, True), (8, False), (8, True)]:
        layers += [qnn.QuantConv2d(inputs, outputs, 3, **weights(wbits)), nn.BatchNorm2d(outputs), act(abits)]
        layers += [nn.MaxPool2d(2)] if pool else []
        inputs = outputs
    layers += [nn.Flatten()]
    for inputs, outputs in [(8, 16), (16, 16)]:
        layers += [qnn.QuantLinear(inputs, outputs, **weights(wbits)), nn.BatchNorm1d(outputs), act(abits)]
    return nn.Sequential(*layers, qnn.QuantLinear(16, 10, **weights(wbits))), (1, 3, 18, 18)


def fixed(bits):
    return dict(weight_quant=Int8WeightPerChannelFixedPointMSE, weight_bit_width=bits, bias=False)


def relu(bits):
    return qnn.QuantReLU(act_quant=Uint8ActPerTensorFixedPoint, bit_width=bits, collect_stats_steps=STEPS, return_quant_tensor=True)


def codes(bits=8):
    return qnn.QuantIdentity(act_quant=Int8ActPerTensorFixedPoint, bit_width=bits, collect_stats_steps=STEPS, return_quant_tensor=True)


def mobilenet():
    layers = [codes(), qnn.QuantConv2d(3, 8, 3, stride=2, padding=1, **fixed(8)), nn.BatchNorm2d(8), relu(4)]
    inputs = 8
    for outputs, stride in [(12, 1), (16, 2)]:
        layers += [qnn.QuantConv2d(inputs, inputs, 3, stride=stride, padding=1, groups=inputs, **fixed(4)), nn.BatchNorm2d(inputs), relu(4)]
        layers += [qnn.QuantConv2d(inputs, outputs, 1, **fixed(4)), nn.BatchNorm2d(outputs), relu(4)]
        inputs = outputs
    layers += [nn.AvgPool2d(4), codes(4), nn.Flatten(), qnn.QuantLinear(16, 10, **fixed(4))]
    return nn.Sequential(*layers), (1, 3, 16, 16)


def vgg10():
    """Returns one-dimensional convolutions."""
    layers, inputs = [codes()], 2
    for _ in range(4):
        layers += [qnn.QuantConv1d(inputs, 8, 3, padding=1, **fixed(4)), nn.BatchNorm1d(8), relu(4), nn.MaxPool1d(2)]
        inputs = 8
    layers += [nn.Flatten(), qnn.QuantLinear(16, 12, **fixed(4)), nn.BatchNorm1d(12), relu(4)]
    return nn.Sequential(*layers, qnn.QuantLinear(12, 10, **fixed(4))), (1, 2, 32)


class Block(nn.Module):
    """Two convolutions and a shortcut, which share one quantizer before their sum."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.shared, self.out = codes(4), relu(4)
        self.first = nn.Sequential(qnn.QuantConv2d(inputs, outputs, 3, stride=stride, padding=1, **fixed(4)), nn.BatchNorm2d(outputs), relu(4))
        self.second = nn.Sequential(qnn.QuantConv2d(outputs, outputs, 3, padding=1, **fixed(4)), nn.BatchNorm2d(outputs))
        self.short = nn.Sequential(qnn.QuantConv2d(inputs, outputs, 1, stride=stride, **fixed(4)), nn.BatchNorm2d(outputs))

    def forward(self, x):
        return self.out(self.shared(self.second(self.first(x))) + self.shared(self.short(x)))


def resnet():
    layers = [codes(), qnn.QuantConv2d(3, 8, 3, padding=1, **fixed(8)), nn.BatchNorm2d(8), relu(4), Block(8, 8, 1), Block(8, 12, 2)]
    return nn.Sequential(*layers, nn.AvgPool2d(4), codes(4), nn.Flatten(), qnn.QuantLinear(12, 10, **fixed(4))), (1, 3, 8, 8)


def networks():
    yield "zoo_tfc_w1a1", lambda: tfc(1, 1), False
    yield "zoo_tfc_w1a2", lambda: tfc(1, 2), False
    yield "zoo_tfc_w2a2", lambda: tfc(2, 2), True
    yield "zoo_cnv_w1a1", lambda: cnv(1, 1), False
    yield "zoo_cnv_w2a2", lambda: cnv(2, 2), True
    yield "zoo_mobilenet_w4a4", mobilenet, True
    yield "zoo_vgg10_w4a4", vgg10, True
    yield "zoo_resnet_w4a4", resnet, True
